package datasets

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mpbench/internal/unprivileged"
)

// write puts a file into the test's own folder and returns its path.
func write(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestLoadErrors(t *testing.T) {
	dir := t.TempDir()
	for path, want := range map[string]string{
		dir:                              ": is a directory (want a file: .npy, .npz, .txt, .csv, .mtx, .parquet)",
		filepath.Join(dir, "none.npy"):   ": no such file",
		filepath.Join(dir, "none.xyz"):   ": no such file",
		write(t, "data.zip", "PK"):       `: unknown file format ".zip" (want .npy, .npz, .txt, .csv, .mtx, .parquet)`,
		write(t, "data", "1"):            `: unknown file format "" (want .npy, .npz, .txt, .csv, .mtx, .parquet)`,
		write(t, "empty.npy", ""):        ": is empty",
		write(t, "empty.txt", ""):        ": is empty",
		write(t, "comment.txt", "# 1\n"): ": holds no numbers",
		write(t, "header.csv", "x\n"):    ": holds no numbers",
		filepath.Join(write(t, "file.txt", "1"), "below.txt"): ": not a directory",
	} {
		_, err := Load(path, Double)
		checkError(t, err, ErrInput, path+want)
	}
}

func TestLoadUnreadable(t *testing.T) {
	path := write(t, "secret.txt", "1")
	if err := os.Chmod(path, 0); err != nil {
		t.Fatal(err)
	}
	unprivileged.Run(t, func() {
		_, err := Load(path, Double)
		checkError(t, err, ErrInput, path+": permission denied")
	})
}

// TestLoadData checks what Load says beside the numbers.
func TestLoadData(t *testing.T) {
	path := write(t, "Data.TXT", "1 0.1\n")
	d, err := Load(path, Double)
	if err != nil {
		t.Fatal(err)
	}
	if d.Name != "Data.TXT" || d.Spec() != "Data.TXT" || d.N != 2 || len(d.Params) != 0 || !strings.Contains(d.Source,
		path) ||
		d.X.SHA256 != hashFloat64([]float64{1, 0.1}) {
		t.Errorf("%+v", d)
	}
	d, err = Load(path, Exact)
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Params) != 1 || d.Params[0] != (Arg{"reading", "exact"}) || floats(d.X) != nil || d.N != 2 ||
		d.X.SHA256 != hashRationals(rationals(d.X)) {
		t.Errorf("%+v", d)
	}
	if got := summaryOf(d).Sum.Text(30); got != "1.10000000000000000000000000000e+00" {
		t.Errorf("1 + 0.1 read exactly: %s", got)
	}
}

func TestParseReading(t *testing.T) {
	for _, r := range []Reading{Double, Exact} {
		if got, err := ParseReading(r.String()); err != nil || got != r {
			t.Errorf("%v: %v, %v", r, got, err)
		}
	}
	_, err := ParseReading("exat")
	checkError(t, err, ErrUsage, `unknown reading "exat" (did you mean exact?)`)
}
