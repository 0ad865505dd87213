package gemv

import (
	"errors"
	"strings"
	"testing"
)

// TestMaxBytes: a limit below what the matrix takes is an error that names the number, in every method that converts it.
func TestMaxBytes(t *testing.T) {
	p := Problem{
		M: 20, N: 20, LDA: 20, IncX: 1, IncY: 1, Alpha: Number(1),
		A: Numbers{Float64: make([]float64, 400)}, X: Numbers{Float64: make([]float64, 20)}, Y: Numbers{Float64: make([]float64, 20)},
	}
	for i := range p.A.Float64 {
		p.A.Float64[i] = float64(i) / 3
	}
	for _, name := range []string{"bigfloat", "rns-basic", "rns-split", "deferred"} {
		m, _ := Lookup(name)
		e, err := m.New(Options{Precision: 106, MaxBytes: 1000})
		if err != nil {
			t.Fatal(err)
		}
		var memory *MemoryError
		if err := e.Load(p); !errors.As(err, &memory) || memory.Need <= 1000 || !strings.Contains(err.Error(), "for a 20 x 20 matrix") {
			t.Errorf("%s: %v", name, err)
		}
		if e, err = m.New(Options{Precision: 106, MaxBytes: 2 * memory.Need}); err != nil || e.Load(p) != nil {
			t.Errorf("%s does not fit in twice what it needs", name)
		}
	}
}
