package superacc

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"testing"
	"testing/iotest"
)

// encode writes x in the encoding.
func encode(x []float64, e Encoding) []byte {
	var raw []byte
	for _, v := range x {
		switch e {
		case Float64LittleEndian:
			raw = binary.LittleEndian.AppendUint64(raw, math.Float64bits(v))
		case Float64BigEndian:
			raw = binary.BigEndian.AppendUint64(raw, math.Float64bits(v))
		case Float32LittleEndian:
			raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(float32(v)))
		case Float32BigEndian:
			raw = binary.BigEndian.AppendUint32(raw, math.Float32bits(float32(v)))
		}
	}
	return raw
}

var encodings = []Encoding{Float64LittleEndian, Float64BigEndian, Float32LittleEndian, Float32BigEndian}

// TestAddFrom reads streams of every encoding at lengths around the buffer's, in one piece and in odd pieces.
func TestAddFrom(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	for _, e := range encodings {
		for _, n := range []int{0, 1, 1000, streamTerms - 1, streamTerms, streamTerms + 1, 2*streamTerms + 100} {
			x := randomTerms(rng, n, 1)
			if e.Size() == 4 {
				x = randomTerms(rng, n, 12)
				for i, v := range x {
					x[i] = float64(float32(v))
				}
			}
			raw := encode(x, e)
			want := Sum(x, 1)
			readers := []io.Reader{bytes.NewReader(raw)}
			if n <= 1000 {
				readers = append(readers, iotest.OneByteReader(bytes.NewReader(raw)), iotest.DataErrReader(bytes.NewReader(raw)))
			}
			for _, r := range readers {
				var a Accumulator
				count, err := a.AddFrom(r, e)
				if err != nil || count != int64(n) || !same(a.Float64(), want) {
					t.Fatalf("%v, n = %d: %g of %d terms, error %v, want %g", e, n, a.Float64(), count, err, want)
				}
			}
			if got, err := SumReader(bytes.NewReader(raw), e); err != nil || !same(got, want) {
				t.Fatalf("%v, n = %d: %g, error %v, want %g", e, n, got, err, want)
			}
		}
	}
}

func TestAddFromErrors(t *testing.T) {
	broken := errors.New("broken")
	for _, e := range encodings {
		raw := encode([]float64{1, 2, 4}, e)
		var a Accumulator
		n, err := a.AddFrom(bytes.NewReader(raw[:len(raw)-1]), e)
		if n != 2 || !errors.Is(err, io.ErrUnexpectedEOF) || a.Float64() != 3 {
			t.Errorf("%v, truncated: %d terms, sum %g, error %v", e, n, a.Float64(), err)
		}
		a.Reset()
		n, err = a.AddFrom(io.MultiReader(bytes.NewReader(raw[:len(raw)-1]), iotest.ErrReader(broken)), e)
		if n != 2 || !errors.Is(err, broken) || a.Float64() != 3 {
			t.Errorf("%v, broken: %d terms, sum %g, error %v", e, n, a.Float64(), err)
		}
	}
	if _, err := SumReader(bytes.NewReader(nil), 17); err == nil {
		t.Error("no error for an unknown encoding")
	}
	if _, err := SumReader(iotest.ErrReader(broken), Float64LittleEndian); !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
}

// endless delivers the same block of bytes again and again.
type endless struct {
	block []byte
	next  int
}

func (e *endless) Read(p []byte) (int, error) {
	n := copy(p, e.block[e.next:])
	e.next = (e.next + n) % len(e.block)
	return n, nil
}

// TestAddFromConstantMemory counts the allocations of streams of different lengths.
func TestAddFromConstantMemory(t *testing.T) {
	source := &endless{block: encode(randomTerms(rand.New(rand.NewPCG(1, 2)), 1000, 0), Float64LittleEndian)}
	var a Accumulator
	allocations := func(n int64) float64 {
		return testing.AllocsPerRun(3, func() {
			if _, err := a.AddFrom(io.LimitReader(source, 8*n), Float64LittleEndian); err != nil {
				t.Fatal(err)
			}
		})
	}
	few, many := allocations(streamTerms), allocations(30*streamTerms)
	if few != many || many > 4 {
		t.Errorf("%g allocations for a short stream, %g for a long one", few, many)
	}
}
