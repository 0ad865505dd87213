package report

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"html"
	"image"
	"image/png"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"mpbench/pkg/record"
)

// A browser is a Chromium without a window.
type browser struct{ path string }

// findBrowser skips the test, with the reason, where there is no Chromium.
func findBrowser(t *testing.T) browser {
	t.Helper()
	if testing.Short() {
		t.Skip("the page is not tried in a browser: -short is given")
	}
	names := []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome-headless-shell"}
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return browser{path}
		}
	}
	t.Skipf("the page is not tried in a browser: none of %s is installed (Debian: apt-get install chromium)",
		strings.Join(names, ", "))
	return browser{}
}

// arguments are what the browser always gets.
func (b browser) arguments(t *testing.T) []string {
	list := []string{"--headless", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--hide-scrollbars",
		"--user-data-dir=" + t.TempDir()}
	if os.Geteuid() == 0 {
		list = append(list, "--no-sandbox") // Chromium refuses to run as root with it
	}
	return list
}

// run starts the browser with more arguments and returns what it prints.
func (b browser) run(t *testing.T, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, b.path, append(b.arguments(t), args...)...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v\n%s", b.path, err, stderr.String())
	}
	return stdout.String()
}

// serve offers pages by their path.
func serve(t *testing.T, pages map[string]string) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, ok := pages[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = fmt.Fprint(w, text)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// tester is a page that holds the report in a frame, does with it what a reader does, and writes down what is seen as
// JSON. Its function sorted clicks the n-th heading of the last table of results and returns the rows' names.
const tester = `<!DOCTYPE html><iframe id="frame" src="/report.html" width="1280" height="900"></iframe>
<pre id="result">not done</pre>
<script>
var frame = document.getElementById('frame');
frame.onload = function () {
  var seen = {}, d = frame.contentDocument, w = frame.contentWindow;
  try {
    var tables = d.querySelectorAll('section[aria-labelledby=results] table'), table = tables[tables.length - 1];
    var heads = Array.from(table.tHead.rows[0].cells);
    function names() { return Array.from(table.tBodies[0].rows).map(function (r) { return r.cells[0].textContent; }); }
    function sorted(heading) {
      var th = heads.find(function (h) { return h.textContent.trim() === heading; });
      th.firstChild.click();
      var others = heads.filter(function (h) { return h !== th && h.hasAttribute('aria-sort'); });
      return { rows: names(), aria: th.getAttribute('aria-sort'), others: others.length };
    }
    seen.original = { rows: names() };
    HEADINGS.forEach(function (h, i) { seen[h + ' ' + i] = sorted(h); });
    seen.buttons = heads.every(function (h) {
      return h.children.length === 1 && h.firstChild.tagName === 'BUTTON' && h.scope === 'col';
    });
    heads[0].firstChild.focus();
    seen.focus = d.activeElement === heads[0].firstChild && heads[0].firstChild.tabIndex === 0;
    seen.rowHeads = Array.from(d.querySelectorAll('tbody tr')).every(function (r) {
      return r.cells[0].tagName === 'TH' && r.cells[0].scope === 'row';
    });
    seen.captions = Array.from(d.querySelectorAll('table')).every(function (t) {
      return t.caption && t.caption.textContent.trim() !== '';
    });
    seen.hacked = w.hacked === undefined && window.hacked === undefined ? 'no' : 'yes';
    seen.scripts = d.querySelectorAll('script').length;
    seen.images = d.querySelectorAll('svg[role=img] > title').length;
    seen.wide = [1280, 400].map(function (width) {
      frame.width = width;
      return d.documentElement.scrollWidth - d.documentElement.clientWidth;
    });
  } catch (e) { seen.failed = String(e.stack || e); }
  document.getElementById('result').textContent = JSON.stringify(seen);
};
</script>`

// sight is what the tester saw after a click.
type sight struct {
	Rows   []string
	Aria   string
	Others int
}

// look runs the tester on a report and returns what it saw.
func look(t *testing.T, b browser, run *record.Run, headings ...string) map[string]json.RawMessage {
	t.Helper()
	list, err := json.Marshal(append([]string{}, headings...))
	if err != nil {
		t.Fatal(err)
	}
	return b.load(t, run, strings.Replace(tester, "HEADINGS", string(list), 1))
}

// load opens a page beside the report of a run and returns what it wrote down.
func (b browser) load(t *testing.T, run *record.Run, page string) map[string]json.RawMessage {
	t.Helper()
	url := serve(t, map[string]string{"/report.html": htmlOf(t, run, Options{}), "/": page})
	dom := b.run(t, "--virtual-time-budget=20000", "--dump-dom", url+"/")
	m := regexp.MustCompile(`(?s)<pre id="result">(.*?)</pre>`).FindStringSubmatch(dom)
	var seen map[string]json.RawMessage
	if m == nil || json.Unmarshal([]byte(html.UnescapeString(m[1])), &seen) != nil {
		t.Fatalf("the browser shows %.2000s", dom)
	}
	if failed, ok := seen["failed"]; ok {
		t.Fatalf("the page's test failed: %s", failed)
	}
	return seen
}

func get[T any](t *testing.T, seen map[string]json.RawMessage, name string) T {
	t.Helper()
	var v T
	if err := json.Unmarshal(seen[name], &v); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return v
}

// sortingRun has numbers that float64 does not hold: their names say where they come in increasing order of error.
func sortingRun() *record.Run {
	run := &record.Run{}
	for _, c := range []struct{ method, value, relative string }{
		{"m10", "1e400", "1e-16"}, {"m2", "-1e-400", "1e-5000"}, {"m7", "NaN", "NaN"}, {"m1", "0", "0"},
		{"m3", "-3", "9e-5000"},
		{"m4", "2.50e0", "1e-4999"}, {"m5", "1e-400", "2.0000000000000000000001"}, {"m6", "+Inf", "+Inf"},
		{"m8", "-1e400", "2"}, {"m9", "-Inf", "3e8000"},
	} {
		r := caseOf(c.method, 53, 53, c.value, c.relative, "", 1, true, 100)
		r.WithinBound = nil
		run.Records = append(run.Records, on(record.Dataset{Name: "numbers", N: 3}, "1e5000", "1", r)...)
	}
	return run
}

// TestBrowserSorts clicks headings. Numbers are sorted as numbers, whatever their size; a second click turns the order
// round, a third brings the first one back; what is no number stays last.
func TestBrowserSorts(t *testing.T) {
	t.Parallel()
	seen := look(t, findBrowser(t), sortingRun(), "rel. error", "rel. error", "rel. error", "value", "method")
	original := []string{"m10", "m2", "m7", "m1", "m3", "m4", "m5", "m6", "m8", "m9"}
	for _, c := range []struct {
		name string
		rows []string
		aria string
	}{
		{"original", original, ""},
		{"rel. error 0", []string{"m1", "m2", "m3", "m4", "m10", "m8", "m5", "m9", "m6", "m7"}, "ascending"},
		{"rel. error 1", []string{"m6", "m9", "m5", "m8", "m10", "m4", "m3", "m2", "m1", "m7"}, "descending"},
		{"rel. error 2", original, ""},
		{"value 3", []string{"m9", "m8", "m3", "m2", "m1", "m5", "m4", "m10", "m6", "m7"}, "ascending"},
		{"method 4", []string{"m1", "m2", "m3", "m4", "m5", "m6", "m7", "m8", "m9", "m10"}, "ascending"},
	} {
		got := get[sight](t, seen, c.name)
		if !slices.Equal(got.Rows, c.rows) || got.Aria != c.aria || got.Others != 0 {
			t.Errorf("%s: %v, aria-sort %q on it and on %d others; want %v, %q", c.name, got.Rows, got.Aria, got.Others, c.rows,
				c.aria)
		}
	}
}

// TestBrowserShows: headings are buttons that take the focus, tables have captions and headed rows, the page is no
// wider than the window, and nothing that hostile records hold runs.
func TestBrowserShows(t *testing.T) {
	t.Parallel()
	b := findBrowser(t)
	for name, run := range map[string]*record.Run{"usual": testRun(), "hostile": hostileRun()} {
		seen := look(t, b, run)
		for _, is := range []string{"buttons", "focus", "rowHeads", "captions"} {
			if !get[bool](t, seen, is) {
				t.Errorf("%s: %s: no", name, is)
			}
		}
		if hacked := get[string](t, seen, "hacked"); hacked != "no" || get[int](t, seen, "scripts") != 1 {
			t.Errorf("%s: a record's script ran: %s", name, hacked)
		}
		if wide := get[[]int](t, seen, "wide"); wide[0] > 0 || wide[1] > 0 {
			t.Errorf("%s: %d and %d pixels wider than the window", name, wide[0], wide[1])
		}
		if n := get[int](t, seen, "images"); n == 0 {
			t.Errorf("%s: no picture", name)
		}
	}
}

// noScripts holds the report in a frame where no script runs.
const noScripts = `<!DOCTYPE html><iframe id="frame" src="/report.html" sandbox="allow-same-origin"></iframe>
<pre id="result">not done</pre>
<script>
var frame = document.getElementById('frame');
frame.onload = function () {
  var d = frame.contentDocument;
  function texts(which) { return Array.from(d.querySelectorAll(which)).map(function (c) { return c.textContent; }); }
  document.getElementById('result').textContent = JSON.stringify({
    rows: texts('section[aria-labelledby=results] tbody th'),
    heads: texts('section[aria-labelledby=results] thead th'),
    buttons: d.querySelectorAll('button').length
  });
};
</script>`

// TestBrowserWithoutScripts: the tables are complete, and their headings are no buttons.
func TestBrowserWithoutScripts(t *testing.T) {
	t.Parallel()
	seen := findBrowser(t).load(t, plainRun(), noScripts)
	if rows := get[[]string](t, seen, "rows"); !slices.Equal(rows, []string{"float64", "kahan", "reduce1", "reduce2"}) {
		t.Errorf("rows %q", rows)
	}
	if heads := get[[]string](t, seen, "heads"); len(heads) < 8 || heads[0] != "method" ||
		get[int](t, seen, "buttons") != 0 {
		t.Errorf("headings %q", heads)
	}
}

// TestBrowserScreenshot: the page fills windows of a desk and of a phone with something. MPBENCH_SCREENSHOTS names a
// folder to keep the pictures in.
func TestBrowserScreenshot(t *testing.T) {
	t.Parallel()
	d := findBrowser(t).open(t, serve(t, map[string]string{"/": htmlOf(t, testRun(), Options{})}))
	d.wait(`document.readyState === 'complete' && document.querySelectorAll('th button').length > 0`)
	for _, width := range []int{1280, 400} {
		d.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": 1600, "deviceScaleFactor": 1,
			"mobile": width < 500}, nil)
		var shot struct{ Data []byte }
		d.call("Page.captureScreenshot", map[string]any{"format": "png"}, &shot)
		if folder := os.Getenv("MPBENCH_SCREENSHOTS"); folder != "" {
			if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("report-%d.png", width)), shot.Data, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		img, err := png.Decode(bytes.NewReader(shot.Data))
		if err != nil {
			t.Fatal(err)
		}
		if img.Bounds().Dx() != width {
			t.Errorf("%d pixels wide, want %d", img.Bounds().Dx(), width)
		}
		if used := inked(img); used < 0.02 || used > 0.6 {
			t.Errorf("%d pixels wide: %.1f %% of the page is not paper", width, 100*used)
		}
	}
}

// inked returns the share of pixels that differ from the first one.
func inked(img image.Image) float64 {
	r0, g0, b0, _ := img.At(0, 0).RGBA()
	n := 0
	for y := range img.Bounds().Dy() {
		for x := range img.Bounds().Dx() {
			if r, g, b, _ := img.At(x, y).RGBA(); r != r0 || g != g0 || b != b0 {
				n++
			}
		}
	}
	return float64(n) / float64(img.Bounds().Dx()*img.Bounds().Dy())
}
