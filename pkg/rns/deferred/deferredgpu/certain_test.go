package deferredgpu_test

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"mpbench/cuda/testkernels"
	"mpbench/pkg/gpu"
	"mpbench/pkg/gpu/gputest"
)

const windowLimbs = 12

// window is a case of Ziv's test: an integer, a precision and log2 of the bound on its error.
type window struct {
	value     *big.Int
	precision uint
	error     int
}

// randomWindow draws a window; most are a tie or a neighbour of one in many bits, and about as many of them pass the
// test as do not.
func randomWindow(r *rand.Rand) window {
	bits := uint(1 + r.IntN(28*windowLimbs))
	w := window{new(big.Int), uint(24 + r.IntN(100)), r.IntN(28*windowLimbs) - 40}
	for range 6 {
		w.value.Lsh(w.value, 64).Or(w.value, new(big.Int).SetUint64(r.Uint64()))
	}
	w.value.Rsh(w.value, 6*64-bits)
	switch r.IntN(8) {
	case 0: // the binade's ends
		w.value.SetInt64(0).SetBit(w.value, int(bits), 1)
		w.value.Add(w.value, big.NewInt(int64(r.IntN(3)-1)))
	case 1:
		return w
	}
	if bits > w.precision+4 {
		shift := bits - w.precision
		if r.IntN(3) > 0 { // near the bit that decides
			w.error = int(shift) - r.IntN(12)
		}
		tie := new(big.Int).Rsh(w.value, shift)
		tie.Lsh(tie, 1).SetBit(tie, 0, 1).Lsh(tie, shift-1)
		off := new(big.Int).Lsh(big.NewInt(1), uint(r.IntN(int(shift-1))))
		off.Add(off, big.NewInt(int64(r.IntN(3)-1)))
		if r.IntN(2) == 0 {
			off.Neg(off)
		}
		w.value.Add(tie, off)
	}
	if w.value.BitLen() > 28*windowLimbs || w.value.Sign() < 0 {
		w.value.SetInt64(0)
	}
	return w
}

// ends returns twice the ends of the interval of true values: integers less than 2^error + 2^28 from the window's, and
// one half more than them.
func (w *window) ends() (low, high *big.Int) {
	e := big.NewInt(1 << 28)
	if w.error >= 0 {
		e.Add(e, new(big.Int).Lsh(big.NewInt(1), uint(w.error)))
	}
	e.Lsh(e, 1).Sub(e, big.NewInt(1))
	twice := new(big.Int).Lsh(w.value, 1)
	return new(big.Int).Sub(twice, e), new(big.Int).Add(twice, e)
}

func rounded(x *big.Int, precision uint) *big.Float {
	return new(big.Float).SetPrec(precision).SetInt(x)
}

// far reports whether the window is at least four times the error from every tie and from zero, where the test must
// not fail.
func (w *window) far() bool {
	shift := w.value.BitLen() - int(w.precision)
	e := max(w.error, 28) + 1
	if e > shift-3 {
		return false
	}
	distance := new(big.Int).Mod(w.value, new(big.Int).Lsh(big.NewInt(1), uint(shift)))
	distance.Sub(distance, new(big.Int).Lsh(big.NewInt(1), uint(shift-1)))
	return distance.CmpAbs(new(big.Int).Lsh(big.NewInt(1), uint(e+1))) >= 0
}

// TestCertainRounding compares Ziv's test with intervals of integers: it must see every window whose interval has two
// roundings, and pass those far from ties.
func TestCertainRounding(t *testing.T) {
	gputest.Sanitize(t)
	d := gputest.Device(t)
	const count = 10000
	r := rand.New(rand.NewPCG(11, 12))
	windows := make([]window, count)
	limbs, precision, errors := make([]uint32, 0, count*windowLimbs), make([]uint32, count), make([]int64, count)
	mask := big.NewInt(1<<28 - 1)
	for i := range windows {
		windows[i] = randomWindow(r)
		w := &windows[i]
		precision[i], errors[i] = uint32(w.precision), int64(w.error)
		for k := range windowLimbs {
			limb := new(big.Int).Rsh(w.value, uint(28*k))
			limbs = append(limbs, uint32(limb.And(limb, mask).Uint64()))
		}
	}
	certain := make([]uint32, count)
	err := d.Do(func() error {
		m, err := d.ModuleOf(testkernels.Kernels, "selftest")
		if err != nil {
			return err
		}
		k, err := gpu.Function[testkernels.CertainRoundingsArgs](m, "certainRoundings")
		if err != nil {
			return err
		}
		values, err := gpu.Upload(d, limbs)
		if err != nil {
			return err
		}
		defer values.Free()
		precisions, err := gpu.Upload(d, precision)
		if err != nil {
			return err
		}
		defer precisions.Free()
		bounds, err := gpu.Upload(d, errors)
		if err != nil {
			return err
		}
		defer bounds.Free()
		out, err := gpu.Alloc[uint32](d, count)
		if err != nil {
			return err
		}
		defer out.Free()
		p := testkernels.Roundings{
			Windows: values.Pointer(), Precision: precisions.Pointer(), Error: bounds.Pointer(),
			Certain: out.Pointer(), N: windowLimbs,
		}
		if err := k.Launch(gpu.Launch{Grid: gpu.Dim{X: count}, Block: gpu.Dim{X: 32}},
			testkernels.CertainRoundingsArgs{R: p}); err != nil {
			return err
		}
		return out.Download(certain)
	})
	if err != nil {
		t.Fatal(err)
	}
	var passed, open, far int
	for i := range windows {
		w := &windows[i]
		low, high := w.ends()
		same := low.Sign() == high.Sign() && rounded(low, w.precision).Cmp(rounded(high, w.precision)) == 0
		switch {
		case certain[i] != 0 && !same:
			t.Fatalf("%x to %d bits with an error of 2^%d: certain, but it is not", w.value, w.precision, w.error)
		case certain[i] == 0 && w.far():
			t.Fatalf("%x to %d bits with an error of 2^%d: not certain, but far from ties", w.value, w.precision, w.error)
		}
		if certain[i] != 0 {
			passed++
		}
		if !same {
			open++
		}
		if w.far() {
			far++
		}
	}
	t.Logf("%d certain, %d with two roundings, %d far from ties", passed, open, far)
	if passed < count/10 || open < count/10 || far < count/10 {
		t.Errorf("of %d windows %d are certain, %d have two roundings, %d are far from ties", count, passed, open, far)
	}
}
