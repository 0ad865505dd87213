package plot

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"image/color"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mpbench/pkg/record"
)

var update = flag.Bool("update", false, "write the golden files anew")

// pictures are what the golden files show; each was looked at.
var pictures = []struct {
	name string
	run  func() *record.Run
	Options
}{
	{"front", frontRun, Options{}},
	{"mixed", mixedRun, Options{Kind: "front"}},
	{"error", errorRun, Options{Kind: "error"}},
	{"extremes", extremeRun, Options{Kind: "error"}},
	{"exact-only", exactRun, Options{Kind: "error"}},
	{"bits", bitsRun, Options{Kind: "bits"}},
	{"time-n", sizesRun, Options{Kind: "time-n"}},
	{"time-precision-floor", floorRun, Options{Kind: "time-precision", Bandwidth: 4.3e12}},
	{"phases", phasesRun, Options{Kind: "phases"}},
	{"figure6-made-up", figure6Run, Options{Kind: "mpres2018-fig6"}},
	{"figure7-made-up", figure7Run, Options{Kind: "mpres2018-fig7"}},
	{"tripleblas-made-up", relativeRun, Options{Kind: "tripleblas-axpy"}},
	{"single-point", func() *record.Run { return madeRun(exactRun().Records[0]) }, Options{}},
	{"narrow", errorRun, Options{Width: 360,
		Title: "A title of one's own, which is too long for the picture and is cut"}},
	{"empty", func() *record.Run { return &record.Run{} }, Options{}},
}

func svg(t *testing.T, run *record.Run, o Options) []byte {
	t.Helper()
	f, err := New(run, o)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := f.WriteSVG(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestGolden(t *testing.T) {
	for _, p := range pictures {
		t.Run(p.name, func(t *testing.T) {
			got := svg(t, p.run(), p.Options)
			path := filepath.Join("testdata", p.name+".svg")
			if *update {
				if err := os.WriteFile(path, got, 0o666); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("%s differs; go test -update writes it anew", path)
			}
			checkXML(t, got)
		})
	}
}

// checkXML fails unless the document is well-formed, with one title and numbers for coordinates.
func checkXML(t *testing.T, document []byte) {
	t.Helper()
	titles := 0
	for in := xml.NewDecoder(bytes.NewReader(document)); ; {
		token, err := in.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		start, _ := token.(xml.StartElement)
		if start.Name.Local == "title" {
			titles++
		}
		for _, a := range start.Attr {
			if strings.Contains(a.Value, "NaN") || strings.Contains(a.Value, "Inf") {
				t.Errorf("<%s %s=%q>", start.Name.Local, a.Name.Local, a.Value)
			}
		}
	}
	if titles != 1 {
		t.Errorf("%d titles", titles)
	}
}

// TestPNG: the pixels show something, twice as many as the figure has points, and are the same each time.
func TestPNG(t *testing.T) {
	for _, p := range pictures[:3] {
		f, err := New(p.run(), p.Options)
		if err != nil {
			t.Fatal(err)
		}
		var a, b bytes.Buffer
		if err := f.WritePNG(&a); err != nil {
			t.Fatal(err)
		}
		again, _ := New(p.run(), p.Options)
		if err := again.WritePNG(&b); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(a.Bytes(), b.Bytes()) {
			t.Errorf("%s: two PNGs differ", p.name)
		}
		img, err := png.Decode(&a)
		if err != nil {
			t.Fatal(err)
		}
		if img.Bounds().Dx() != 2*defaultWidth {
			t.Errorf("%s: %v", p.name, img.Bounds())
		}
		white, dark := 0, 0
		for y := range img.Bounds().Dy() {
			for x := range img.Bounds().Dx() {
				switch g := color.GrayModel.Convert(img.At(x, y)).(color.Gray).Y; {
				case g > 250:
					white++
				case g < 128:
					dark++
				}
			}
		}
		if all := img.Bounds().Dx() * img.Bounds().Dy(); white < all/2 || dark < 2000 {
			t.Errorf("%s: %d white and %d dark of %d pixels", p.name, white, dark, all)
		}
	}
}

// TestEveryKind: no kind panics on any run; what it cannot draw it says, with a *NoDataError.
func TestEveryKind(t *testing.T) {
	runs := []func() *record.Run{extremeRun, exactRun, bitsRun, sizesRun, floorRun, phasesRun, crowdRun}
	for i, run := range runs {
		for _, kind := range KindNames() {
			f, err := New(run(), Options{Kind: kind, Bandwidth: 1e9})
			var none *NoDataError
			if err != nil && !errors.As(err, &none) {
				t.Errorf("run %d, %s: %v", i, kind, err)
			}
			if err == nil {
				var b bytes.Buffer
				if err := f.WriteSVG(&b); err != nil {
					t.Fatal(err)
				}
				checkXML(t, b.Bytes())
			}
		}
	}
}

// TestChoose: the picture shows what differs between the records.
func TestChoose(t *testing.T) {
	for _, c := range []struct {
		name string
		run  *record.Run
		want string
	}{
		{"conditions", errorRun(), "error"},
		{"sizes", sizesRun(), "time-n"},
		{"precisions of sums", bitsRun(), "bits"},
		{"precisions of products", floorRun(), "time-precision"},
		{"one result", madeRun(errorRun().Records[0]), "error"},
		{"phases alone", phasesRun(), "phases"},
	} {
		if got := choose(pointers(c.run)); got == nil || got.Name != c.want {
			t.Errorf("%s: %v, want %s", c.name, got, c.want)
		}
	}
	if got := choose(nil); got != nil {
		t.Errorf("no records: %v", got)
	}
}

func TestFitting(t *testing.T) {
	for _, c := range []struct {
		run  *record.Run
		want string
	}{
		{errorRun(), "error"},
		{figure6Run(), "time-precision mpres2018-fig6"},
		{figure7Run(), "time-precision mpres2018-fig7"},
		{relativeRun(), "time-n tripleblas-axpy"},
		{phasesRun(), "phases"},
		{&record.Run{}, ""},
	} {
		var names []string
		for _, k := range Fitting(c.run) {
			names = append(names, k.Name)
		}
		if got := strings.Join(names, " "); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
}

// TestFigure7StandIn: without results of a GPU the CPU's are drawn, and the picture says so.
func TestFigure7StandIn(t *testing.T) {
	text := string(svg(t, figure6Run(), Options{Kind: "mpres2018-fig7"}))
	for _, want := range []string{">reduce1</text>", ">reduce2</text>", "stand in for them"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s", want)
		}
	}
	if strings.Contains(text, "reduce3") {
		t.Error("reduce3 is no method of Figure 7")
	}
}

// TestFloor: the memory floor is the least bytes of a precision over the bandwidth.
func TestFloor(t *testing.T) {
	c := drawTimePrecision(pointers(floorRun()), Options{Bandwidth: 4e12})
	if len(c.panels) != 1 || len(c.panels[0].guides) != 1 {
		t.Fatalf("%d panels", len(c.panels))
	}
	want := []xy{{log10(53), log10(2e3)}, {log10(106), log10(9e3)}, {log10(212), log10(18e3)}, {log10(424), log10(36e3)},
		{log10(848), log10(72e3)}, {log10(1696), log10(144e3)}}
	if got := c.panels[0].guides[0]; !slices.EqualFunc(got, want, func(a, b xy) bool {
		return near(a.x, b.x) &&
			near(a.y, b.y)
	}) {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestEmulated: times of emulated kernels are in no picture, their errors are.
func TestEmulated(t *testing.T) {
	run := bitsRun()
	for i := range run.Records {
		r := &run.Records[i]
		*r = withTime(*r, 100)
		r.Phases = record.Phases{record.PhaseConvert: 5, record.PhaseKernel: 100}
		r.Device = emulated
	}
	var names []string
	for _, k := range Fitting(run) {
		names = append(names, k.Name)
	}
	if !slices.Equal(names, []string{"bits"}) {
		t.Errorf("%q", names)
	}
}

// TestLeftOut: a picture that cannot hold everything says what it leaves out.
func TestLeftOut(t *testing.T) {
	c := drawBits(pointers(crowdRun()), Options{})
	if len(c.panels) != maxPanels || len(c.styles) != maxSeries {
		t.Errorf("%d panels, %d series", len(c.panels), len(c.styles))
	}
	want := []string{"3 more data sets are not shown: a picture holds 12",
		"4 more series are not shown: a picture holds 36"}
	if !slices.Equal(c.notes, want) {
		t.Errorf("%q", c.notes)
	}
}

// TestHostileNames: what records call themselves is text, not markup, and no character breaks the document.
func TestHostileNames(t *testing.T) {
	const evil = "</text><script>alert(1)</script>&\"'\x00\x01\x1b\n\u2028\ufffe"
	run := errorRun()
	run.Environments[0].CPU.Brand = evil
	for i := range run.Records {
		run.Records[i].Method += evil
		run.Records[i].Dataset.Name = evil
		run.Records[i].Phases = record.Phases{evil: 5, "kernel": 9, "convert": 2}
	}
	for _, kind := range []string{"error", "phases"} {
		for _, inline := range []bool{false, true} {
			text := svg(t, run, Options{Kind: kind, Title: evil, Inline: inline})
			checkXML(t, text)
			if bytes.Contains(text, []byte("<script")) {
				t.Errorf("%s: a script", kind)
			}
		}
	}
}

func TestErrors(t *testing.T) {
	var unknown *UnknownKindError
	if _, err := New(errorRun(), Options{Kind: "phase"}); !errors.As(err, &unknown) ||
		err.Error() != `unknown kind of plot "phase" (did you mean phases?)` {
		t.Errorf("%v", err)
	}
	var none *NoDataError
	for _, kind := range []string{"time-n", "bits", "residuals", "tripleblas-gemm"} {
		_, err := New(phasesRun(), Options{Kind: kind})
		if !errors.As(err, &none) || !strings.HasPrefix(err.Error(), "nothing to draw for "+kind) ||
			!strings.Contains(err.Error(), none.Kind.Needs) {
			t.Errorf("%s: %v", kind, err)
		}
	}
}

// TestTimes: one-shot times are those of runs, later by what comes before and after, beside them or in their place.
func TestTimes(t *testing.T) {
	run := func() *record.Run {
		r := withTime(made("gemv", "deferred", 106, "a", 100), 1000)
		r.Phases[record.PhaseConvert], r.Phases[record.PhaseH2D] = 8000, 1000
		return madeRun(r)
	}
	original := pointers(run())
	for _, c := range []struct {
		times string
		want  []string
	}{
		{"", []string{"deferred 970 1000 1080"}},
		{RunTimes, []string{"deferred 970 1000 1080"}},
		{OneShotTimes, []string{"deferred 9970 10000 10080"}},
		{BothTimes, []string{"deferred 970 1000 1080", "deferred, one-shot 9970 10000 10080"}},
	} {
		var got []string
		for _, r := range withTimes(original, c.times) {
			got = append(got, fmt.Sprint(r.Method, " ", r.Time.Lo, " ", r.Time.Median, " ", r.Time.Hi))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, want %q", c.times, got, c.want)
		}
	}
	f, err := New(run(), Options{Kind: "time-precision", Times: BothTimes})
	var none *NoDataError
	if !errors.As(err, &none) { // one precision is no curve
		t.Errorf("%v, %v", f, err)
	}
	var times *TimesError
	if _, err := New(phasesRun(), Options{Kind: "phases", Times: BothTimes}); !errors.As(err, &times) {
		t.Errorf("phases: %v", err)
	}
	if err := CheckTimes("twice", ""); !errors.As(err, &times) {
		t.Errorf("%v", err)
	}
}
