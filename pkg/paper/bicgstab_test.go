package paper

import (
	"os"
	"path/filepath"
	"testing"

	"mpbench/pkg/device"
	"mpbench/pkg/methods"
)

// TestBiCGStab: matrices that are not at hand are listed; of others, sizes have to be those of the slides.
func TestBiCGStab(t *testing.T) {
	l := lab()
	l.Solvers, l.Devices = methods.Solvers(), []device.Set{{}}
	r := run(t, "bicgstab-quad", l)
	if len(r.Groups) != 1 || r.Count(Missing) != 5*len(matricesOfSlides) {
		t.Errorf("%d groups, %d figures are missing", len(r.Groups), r.Count(Missing))
	}
	l.Matrices = t.TempDir()
	for _, name := range []string{"add20", "Pd"} {
		text := "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n2 2 2\n"
		if err := os.WriteFile(filepath.Join(l.Matrices, name+".mtx"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	r = run(t, "bicgstab-quad", l)
	if len(r.Groups) != 5 || r.Count(Missing) != 5*len(matricesOfSlides)-10 ||
		r.Count(Differs) != 4 || r.Count(Fails) != 2 {
		t.Errorf("%d groups, %d figures are missing, %d differ, %d statements fail", len(r.Groups), r.Count(Missing),
			r.Count(Differs), r.Count(Fails))
	}
	if err := os.WriteFile(filepath.Join(l.Matrices, "dc2.mtx"), []byte("no matrix"), 0o644); err != nil {
		t.Fatal(err)
	}
	e, _ := Lookup("bicgstab-quad")
	if _, err := e.Run(t.Context(), l); err == nil {
		t.Error("a broken file is no error")
	}
}
