package datasets

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"mpbench/pkg/numbers"
	"mpbench/pkg/record"
)

var update = flag.Bool("update", false, "write testdata/sha256.txt anew")

// generate makes the terms of a spec with seed 1 unless the spec says otherwise.
func generate(t testing.TB, text string) *Data {
	t.Helper()
	s, err := Vectors.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	d, err := Generate(s, Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// sampleSpecs is every set at its default parameters, and each choice of each choice parameter, with few terms.
func sampleSpecs() []string {
	var specs []string
	for _, s := range Vectors.Sets() {
		small := func(args string) string {
			n := 1000
			spec, _ := Vectors.Parse(s.Name + args)
			if s.FixedN != nil && s.FixedN(spec.value) != 0 {
				n = s.FixedN(spec.value)
			}
			sep := ":"
			if args != "" {
				sep = ","
			}
			return fmt.Sprintf("%s%s%sn=%d", s.Name, args, sep, n)
		}
		specs = append(specs, small(""))
		for _, p := range s.Params {
			for _, c := range p.Choices {
				if c != p.Default {
					specs = append(specs, small(":"+p.Name+"="+c))
				}
			}
		}
	}
	return specs
}

// TestChecksums compares every set with the committed table: the bits must be the same on every platform, with every
// compiler setting and in every version.
func TestChecksums(t *testing.T) {
	const path = "testdata/sha256.txt"
	if *update {
		var b strings.Builder
		for _, spec := range sampleSpecs() {
			d := generate(t, spec)
			fmt.Fprintf(&b, "%s  %s\n", d.X.SHA256, d.Spec())
		}
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	table := map[string]string{}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		hash, spec, _ := strings.Cut(lines.Text(), "  ")
		table[spec] = hash
	}
	for _, spec := range sampleSpecs() {
		d := generate(t, spec)
		if want, ok := table[d.Spec()]; !ok {
			t.Errorf("%s is not in %s (go test -update adds it)", d.Spec(), path)
		} else if d.X.SHA256 != want {
			t.Errorf("%s: SHA-256 %s, want %s", d.Spec(), d.X.SHA256, want)
		}
		delete(table, d.Spec())
	}
	for spec := range table {
		t.Errorf("%s in %s belongs to no set", spec, path)
	}
}

// TestEverySet checks what holds for all sets: the number of terms, the known sum, the spec that Data gives back, and
// that seeds matter where they should.
func TestEverySet(t *testing.T) {
	for _, text := range sampleSpecs() {
		d := generate(t, text)
		if len(floats(d.X)) != d.N || rationals(d.X) != nil || d.N == 0 {
			t.Errorf("%s: %d terms, N = %d", text, len(floats(d.X)), d.N)
		}
		if d.Source == "" {
			t.Errorf("%s: no source", text)
		}
		if d.Known != nil {
			if sum := summaryOf(d).Sum; !sum.Equal(*d.Known) {
				t.Errorf("%s: known sum %v, exact sum %v", text, d.Known, sum)
			}
		}
		if again := generate(t, d.Spec()); again.X.SHA256 != d.X.SHA256 || again.Spec() != d.Spec() {
			t.Errorf("%s: its own spec %s gives other terms", text, d.Spec())
		}
		spec, _ := Vectors.Parse(text)
		other, err := Generate(spec, Options{Seed: 2})
		if err != nil {
			t.Fatal(err)
		}
		if !spec.Set().Seeded && other.X.SHA256 != d.X.SHA256 {
			t.Errorf("%s: declared as not seeded but the seed matters", text)
		}
	}
}

// TestSeeds checks that seed and set choose the random numbers, and that n does not: a longer set continues a shorter
// one where no shuffling is involved.
func TestSeeds(t *testing.T) {
	a := generate(t, "uniform01:n=100,seed=1")
	if b := generate(t, "uniform01:n=100,seed=2"); slices.Equal(floats(a.X), floats(b.X)) {
		t.Error("seeds 1 and 2 give the same terms")
	}
	if b := generate(t, "uniform01:n=200,seed=1"); !slices.Equal(floats(a.X), floats(b.X)[:100]) {
		t.Error("200 terms do not begin with the 100 terms of the same seed")
	}
	b := generate(t, "uniform11:n=100,seed=1")
	for i := range floats(a.X) {
		if float64(2*floats(a.X)[i])-1 == floats(b.X)[i] {
			t.Fatal("two sets are made of the same random numbers")
		}
	}
}

// TestRegistry checks the declarations.
func TestRegistry(t *testing.T) {
	names := Vectors.Names()
	if !slices.Equal(names[:3], []string{"mcnamee1", "mcnamee2", "mcnamee3"}) {
		t.Errorf("the paper's sets are not first: %v", names)
	}
	seen := map[string]bool{}
	for _, s := range Vectors.Sets() {
		if seen[s.Name] {
			t.Errorf("%s occurs twice", s.Name)
		}
		seen[s.Name] = true
		if s.Summary == "" || s.Source == "" || s.DefaultN < max(1, s.MinN) {
			t.Errorf("%s: incomplete: %+v", s.Name, s)
		}
		for _, p := range s.Params {
			if c, err := p.canonical(p.Default); err != nil || c != p.Default {
				t.Errorf("%s: the default %s=%s is not in canonical form: %s %v", s.Name, p.Name, p.Default, c, err)
			}
			if p.Meaning == "" || p.Range() == "" || p.Name == "n" || p.Name == "seed" {
				t.Errorf("%s: bad parameter %+v", s.Name, p)
			}
		}
	}
}

func TestSize(t *testing.T) {
	for name, want := range map[string]string{
		"mcnamee1": "4096 (fixed)", "uniform01": "1000000", "gensum": "1000, at least 8",
		"extremes": "1000, fixed for some parameters",
	} {
		s, err := Vectors.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Size(); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// TestSmallestN generates every set of free size at its least number of terms and at odd numbers.
func TestSmallestN(t *testing.T) {
	for _, text := range sampleSpecs() {
		spec, _ := Vectors.Parse(strings.TrimRight(strings.TrimSuffix(text, "n=1000"), ":,"))
		if s := spec.Set(); s.FixedN != nil && s.FixedN(spec.value) != 0 {
			continue
		}
		least := max(1, spec.Set().MinN)
		for _, n := range []int{least, least + 1, least + 2, 63} {
			if spec.Set().Name == "gensum" && n < 20 {
				continue // too few terms for the default condition number to be certain
			}
			d, err := Generate(spec, Options{N: n, Seed: 5})
			if err != nil {
				t.Errorf("%s with n=%d: %v", spec, n, err)
				continue
			}
			if d.Known != nil && !d.Known.Equal(summaryOf(d).Sum) {
				t.Errorf("%s with n=%d: known sum %v, exact sum %v", spec, n, d.Known, summaryOf(d).Sum)
			}
		}
	}
}

func TestGenerateErrors(t *testing.T) {
	for _, c := range []struct {
		spec string
		n    int
		want string
	}{
		{"mcnamee1", 1000, "mcnamee1: n=1000: this set has 4096 terms by definition"},
		{"mcnamee3:n=65", 0, "mcnamee3:n=65: n=65: this set has 64 terms by definition"},
		{"extremes:kind=powers", 5, "extremes:kind=powers: n=5: this set has 2098 terms by definition"},
		{"uniform01", -4, "n=-4: want an integer from 1 to 2^40"},
		{"gensum", 7, "gensum: n=7: want at least 8 terms"},
		{"gensum:cond=1e300", 8, "gensum: cond=1e+300 was not reached with 8 terms"},
		{"exblas-fpuniform:range=2000,emax=0", 8, "exblas-fpuniform: emax - range = -2000: want at least -1022"},
		{"uniform01:n=2^40", 0, "uniform01: n=1099511627776: 8.8 TB of numbers do not fit in this machine's memory of"},
	} {
		s, err := Vectors.Parse(c.spec)
		if err != nil {
			t.Fatal(err)
		}
		_, err = Generate(s, Options{N: c.n, Seed: 1})
		if strings.Contains(c.want, "memory") && memoryBytes() == 0 {
			continue
		}
		checkError(t, err, ErrUsage, c.want)
	}
	if d, err := Generate(mustParse(t, "mcnamee1"), Options{N: 4096}); err != nil || d.N != 4096 {
		t.Errorf("mcnamee1 with its own n: %v", err)
	}
}

func mustParse(t testing.TB, text string) Spec {
	t.Helper()
	s, err := Vectors.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// checkError checks the class of an error, that it is one line, and how it begins.
func checkError(t testing.TB, err, kind error, want string) {
	t.Helper()
	switch {
	case err == nil:
		t.Errorf("no error, want %q", want)
	case !errors.Is(err, kind):
		t.Errorf("%q is no %v", err, kind)
	case !strings.HasPrefix(err.Error(), want):
		t.Errorf("error %q, want %q", err, want)
	case strings.ContainsAny(err.Error(), "\n\r"):
		t.Errorf("error %q is more than a line", err)
	}
}

func TestMemory(t *testing.T) {
	if got := memTotal("MemTotal:       16384 kB\nMemFree: 1 kB\n"); got != 16384*1024 {
		t.Errorf("16384 kB: %d bytes", got)
	}
	for _, text := range []string{"", "MemFree: 1 kB\n", "MemTotal: x kB"} {
		if got := memTotal(text); got != 0 {
			t.Errorf("%q: %d bytes, want 0 for unknown", text, got)
		}
	}
	for n, want := range map[int64]string{0: "0 bytes", 999: "999 bytes", 8_000_000: "8.0 MB", math.MaxInt64: "9.2 EB"} {
		if got := record.Bytes(n); got != want {
			t.Errorf("record.Bytes(%d) = %s, want %s", n, got, want)
		}
	}
}

// TestOutline: an outline has the arrays that Generate makes.
func TestOutline(t *testing.T) {
	for _, c := range []struct {
		family *Family
		text   string
		bytes  int // of a number
	}{
		{Vectors, "uniform01", 8}, {Vectors, "mcnamee1", 8}, {Pairs, "uniform11:n=7", 8}, {Matrices, "wide:m=5", 8},
		{Matrices, "uniform11:bits=100", 72}, {Products, "uniform11:m=3,k=5", 8},
	} {
		s, err := c.family.Parse(c.text)
		if err != nil {
			t.Fatal(err)
		}
		options := Options{Seed: 1, Trans: true}
		if !s.Fixed() && !s.Gives("n") {
			options.N = 30
		}
		outline, err := s.Outline(options)
		if err != nil {
			t.Fatal(err)
		}
		made, err := Generate(s, options)
		if err != nil {
			t.Fatal(err)
		}
		if outline.Extents != made.Extents {
			t.Errorf("%s: %+v, want %+v", c.text, outline.Extents, made.Extents)
		}
		for i, x := range []Numbers{made.A, made.X, made.Y} {
			o := []Numbers{outline.A, outline.X, outline.Y}[i].Source
			want := any(nil)
			if x.Source != nil {
				want = numbers.Outline{Count: x.Len(), Bytes: c.bytes}
			}
			if o != want {
				t.Errorf("%s: array %d is %v, want %v", c.text, i, o, want)
			}
		}
	}
	sparse, err := Sparses.Parse("tridiagonal")
	if err != nil {
		t.Fatal(err)
	}
	if d, err := sparse.Outline(Options{N: 10}); err != nil || d.N != 10 || d.X.Source != nil {
		t.Errorf("a sparse matrix: %+v, %v", d, err)
	}
}

func BenchmarkGenerate(b *testing.B) {
	for _, text := range []string{"uniform01", "gensum", "repro:fill=normal", "zhuhayes3", "exblas-lognormal"} {
		b.Run(text, func(b *testing.B) {
			s := mustParse(b, text)
			n := 100_000
			for b.Loop() {
				if _, err := Generate(s, Options{N: n, Seed: 1}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/term")
		})
	}
}
