package deferredgpu_test

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"mpbench/pkg/gpu"
	"mpbench/pkg/gpu/gputest"
	"mpbench/pkg/numbers"
	"mpbench/pkg/rns/deferred"
	"mpbench/pkg/rns/deferred/deferredgpu"
)

// hostProblem is a product with the matrix in host memory.
type hostProblem struct {
	problem
	host   deferredgpu.Host
	trans  bool
	floats []float64 // x, nil if it is packed
}

// newHostProblem takes over the columns of a, packed or float64.
func newHostProblem(t *testing.T, host deferredgpu.Host, trans bool, x []float64, incX int) *hostProblem {
	t.Helper()
	p := &hostProblem{host: host, trans: trans, floats: x}
	p.a = numbers.Float64s(host.Float64)
	if host.Packed != nil {
		p.a = host.Packed
	}
	p.layout = numbers.ColMajor(host.Rows, host.Columns, host.LD)
	if trans {
		p.layout = numbers.RowMajor(host.Columns, host.Rows, host.LD)
	}
	p.x, p.xLayout = numbers.Float64s(x), numbers.Strided(p.layout.Cols, incX)
	p.prec, p.alpha, p.beta = 106, big.NewFloat(1), new(big.Float)
	return p
}

// prepare makes the product on the device.
func (p *hostProblem) prepare(d *gpu.Device, cut deferredgpu.PanelOptions) (*deferredgpu.HostProduct, func(), error) {
	extent, err := deferred.Measure(p.x, p.xLayout)
	if err != nil {
		return nil, nil, err
	}
	x, err := upload(d, p.x, p.floats)
	if err != nil {
		return nil, nil, err
	}
	o := deferredgpu.Options{Precision: p.prec, Alpha: p.alpha, Beta: p.beta}
	if p.beta.Sign() != 0 {
		if o.Y, err = deferred.Pack(p.y, numbers.Strided(p.layout.Rows, 1), 0); err != nil {
			return nil, nil, err
		}
	}
	h, err := deferredgpu.NewHostProduct(d, p.host, p.trans, deferredgpu.HostVector{Numbers: x, Host: p.x,
		Layout: p.xLayout, Extent: extent}, o, cut)
	if err != nil {
		x.Free()
		return nil, nil, err
	}
	return h, func() { h.Free(); x.Free() }, nil
}

// check compares the bits of two runs with those of the CPU; passes is how many the first one takes, 0 for any number.
func (p *hostProblem) check(t *testing.T, d *gpu.Device, name string, cut deferredgpu.PanelOptions, passes int) {
	t.Helper()
	want := p.reference(t)
	err := d.Do(func() error {
		before := d.Memory().Current
		h, free, err := p.prepare(d, cut)
		if err != nil {
			return err
		}
		for run := range 2 {
			if err := h.Run(); err != nil {
				return err
			}
			y := make([]*big.Float, len(want))
			if err := h.Results(y); err != nil {
				return err
			}
			for i := range y {
				if y[i].Cmp(want[i]) != 0 || y[i].Sign() == 0 && y[i].Signbit() {
					t.Fatalf("%s, %+v, run %d, row %d:\n got %s\nwant %s", name, cut, run, i, y[i].Text('p', 0), want[i].Text('p', 0))
				}
			}
			panels, got := h.Panels()
			if c := max(1, p.host.Columns); cut.Columns > 0 && panels != (c+min(cut.Columns, c)-1)/min(cut.Columns, c) {
				t.Errorf("%s, %+v: %d panels", name, cut, panels)
			}
			if run == 0 && passes > 0 && got != passes || run == 1 && got != 1 {
				t.Errorf("%s, %+v: run %d took %d passes, want %d", name, cut, run, got, passes)
			}
			if _, err := h.Kernels(); err != nil {
				return err
			}
		}
		free()
		if after := d.Memory().Current; after > before+1<<20 { // tables are kept
			t.Errorf("%s: %d bytes of device memory are left", name, after-before)
		}
		return nil
	})
	if err != nil {
		t.Fatalf("%s, %+v: %v", name, cut, err)
	}
}

// TestHostProduct compares products of matrices in host memory with the CPU's, bit for bit: both operations, float64
// and packed numbers, leading dimensions, increments, factors, panels of every kind of size.
func TestHostProduct(t *testing.T) {
	gputest.Sanitize(t)
	d := gputest.Device(t)
	count, most := 50, 20
	switch {
	case testing.Short():
		count = 20
	case !gputest.Emulated():
		count, most = 3000, 100
	}
	for from := 0; from < count; from += 500 {
		t.Run(fmt.Sprint(from), func(t *testing.T) {
			for i := from; i < min(from+500, count); i++ {
				r := rand.New(rand.NewPCG(21, uint64(i)))
				p, cut := randomHostProblem(t, r, most)
				p.check(t, d, fmt.Sprintf("problem %d, %d x %d, LD %d, transpose %v, packed %v", i, p.host.Rows,
					p.host.Columns, p.host.LD, p.trans, p.host.Packed != nil), cut, 0)
			}
		})
	}
}

func randomHostProblem(t *testing.T, r *rand.Rand, most int) (*hostProblem, deferredgpu.PanelOptions) {
	rows, columns := r.IntN(most), r.IntN(most)
	if r.IntN(5) == 0 {
		rows, columns = 1+r.IntN(2), r.IntN(30*most)
	}
	host := deferredgpu.Host{Rows: rows, Columns: columns, LD: max(1, rows) + r.IntN(3)}
	spread := []int{0, 3, 60, 900}[r.IntN(4)]
	trans, inc := r.IntN(2) == 0, []int{1, 2, -1}[r.IntN(3)]
	terms := columns
	if trans {
		terms = rows
	}
	p := newHostProblem(t, host, trans, randomFloats(r, 2*max(1, terms), 5), inc)
	p.prec = []int{24, 53, 106, 212}[r.IntN(4)]
	if r.IntN(3) == 0 {
		packed, err := deferred.Pack(randomBigs(r, host.LD*columns, 1+r.IntN(2*p.prec), min(spread, 60)),
			numbers.Strided(host.LD*columns, 1), 0)
		if err != nil {
			t.Fatal(err)
		}
		host.Packed, p.a = packed, packed
		if r.IntN(2) == 0 {
			p.x, p.floats = randomBigs(r, 2*max(1, terms), p.prec, 5), nil
		}
	} else {
		host.Float64 = randomFloats(r, host.LD*columns, spread)
		p.a = numbers.Float64s(host.Float64)
	}
	p.host = host
	p.y = randomBigs(r, max(1, p.layout.Rows), p.prec, 100)
	p.alpha = []*big.Float{big.NewFloat(1), big.NewFloat(-0.5), randomBig(r, p.prec, 3), big.NewFloat(3)}[r.IntN(4)]
	if p.alpha.Sign() == 0 {
		p.alpha = big.NewFloat(7)
	}
	p.beta = []*big.Float{new(big.Float), big.NewFloat(1), randomBig(r, p.prec, 30)}[r.IntN(3)]
	return p, deferredgpu.PanelOptions{Columns: []int{0, 1, 2, 3, 7, 16, 17, columns + 1}[r.IntN(8)],
		Chunk: []int{0, 8, 24, 800}[r.IntN(4)], Staged: r.IntN(2) == 0}
}

// TestHostProductAssumption: matrices whose later panels do not keep to what the sample promises take a second pass,
// and results are the same; others take one.
func TestHostProductAssumption(t *testing.T) {
	gputest.Sanitize(t)
	d := gputest.Device(t)
	const rows, columns = 21, 40
	tame := func(r *rand.Rand) []float64 {
		a := make([]float64, rows*columns)
		for i := range a {
			a[i] = 2*r.Float64() - 1
		}
		return a
	}
	wild := map[string]struct {
		value  float64
		passes int
	}{
		"as the others": {0.3, 1}, "zero": {0, 1}, "a little larger": {100, 1}, "a little smaller": {1e-4, 1},
		"larger": {1e30, 2}, "the largest": {math.MaxFloat64, 2}, "smaller": {1e-40, 2},
		"subnormal": {3 * math.SmallestNonzeroFloat64, 2},
		"infinite":  {math.Inf(-1), 1}, "NaN": {math.NaN(), 1},
	}
	for name, w := range wild {
		for _, trans := range []bool{false, true} {
			for _, columnsOfPanel := range []int{7, columns} {
				r := rand.New(rand.NewPCG(22, uint64(columnsOfPanel)))
				a := tame(r)
				a[35*rows+11] = w.value // no number of the sample
				terms := columns
				if trans {
					terms = rows
				}
				p := newHostProblem(t, deferredgpu.Host{Float64: a, Rows: rows, Columns: columns, LD: rows}, trans,
					randomFloats(r, terms, 2), 1)
				if w.value-w.value != 0 { // the CPU's other ways with them are not asked for here: they count as 0
					zero := append([]float64(nil), a...)
					zero[35*rows+11] = 0
					p.a = numbers.Float64s(zero)
				}
				p.check(t, d, fmt.Sprintf("%s, transpose %v", name, trans), deferredgpu.PanelOptions{Columns: columnsOfPanel},
					w.passes)
			}
		}
	}
}

// TestHostProductZeros: nothing but zeros, and empty matrices.
func TestHostProductZeros(t *testing.T) {
	gputest.Sanitize(t)
	d := gputest.Device(t)
	for _, shape := range [][2]int{{0, 0}, {0, 5}, {5, 0}, {1, 1}, {9, 5}} {
		for _, trans := range []bool{false, true} {
			rows, columns := shape[0], shape[1]
			p := newHostProblem(t, deferredgpu.Host{Float64: make([]float64, rows*columns), Rows: rows, Columns: columns,
				LD: max(1, rows)}, trans, make([]float64, 20), 1)
			p.beta, p.alpha = big.NewFloat(3), big.NewFloat(5)
			p.y = randomBigs(rand.New(rand.NewPCG(1, 1)), 20, 50, 3)
			p.check(t, d, fmt.Sprintf("zeros, %d x %d, transpose %v", rows, columns, trans),
				deferredgpu.PanelOptions{Columns: 2}, 1)
		}
	}
}

// TestHostProductTruncated: numbers so far apart that no moduli hold their exact sums; cancellation leaves the
// rounding of some rows open.
func TestHostProductTruncated(t *testing.T) {
	gputest.Sanitize(t)
	d := gputest.Device(t)
	const rows, columns = 3, 4
	a := make([]*big.Float, rows*columns)
	r := rand.New(rand.NewPCG(24, 24))
	for i := range a {
		a[i] = randomBig(r, 100, 3)
		a[i].SetMantExp(a[i], []int{0, 0, -50000, 3}[i/rows])
	}
	// of row 0 the small term is left
	a[0], a[3] = new(big.Float).SetPrec(100).SetInt64(5), new(big.Float).SetPrec(100).SetInt64(-5)
	x := []float64{1, 1, 1, 1}
	a[9] = new(big.Float)
	packed, err := deferred.Pack(numbers.Bigs(a), numbers.Strided(len(a), 1), 0)
	if err != nil {
		t.Fatal(err)
	}
	p := newHostProblem(t, deferredgpu.Host{Packed: packed, Rows: rows, Columns: columns, LD: rows}, false, x, 1)
	p.x = numbers.Bigs([]*big.Float{big.NewFloat(1), big.NewFloat(1), new(big.Float).SetMantExp(big.NewFloat(3), -12000),
		big.NewFloat(1)})
	p.floats = nil
	if err := d.Do(func() error { // the tables of so many moduli stay
		_, free, err := p.prepare(d, deferredgpu.PanelOptions{})
		if err == nil {
			free()
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	p.check(t, d, "truncated", deferredgpu.PanelOptions{Columns: 3}, 1)
}

// TestHostProductSpecial: infinities and NaN anywhere are noticed, and only they.
func TestHostProductSpecial(t *testing.T) {
	gputest.Sanitize(t)
	d := gputest.Device(t)
	for at := 0; at < 3*40; at += 5 {
		for _, value := range []float64{math.NaN(), math.Inf(1), 1} {
			if at%3 > 0 && value == 1 {
				continue
			}
			a := make([]float64, 3*40)
			a[at] = value
			p := newHostProblem(t, deferredgpu.Host{Float64: a, Rows: 3, Columns: 40, LD: 3}, at%2 == 0, make([]float64, 40), 1)
			if at == 35 { // no moduli hold exact sums with such an x, whatever is assumed
				x := make([]*big.Float, 40)
				for i := range x {
					x[i] = new(big.Float).SetMantExp(big.NewFloat(1), -i%2*57330)
				}
				p.x, p.floats = numbers.Bigs(x), nil
			}
			if err := d.Do(func() error {
				h, free, err := p.prepare(d, deferredgpu.PanelOptions{Columns: 11})
				if err != nil {
					return err
				}
				defer free()
				if err := h.Run(); err != nil {
					return err
				}
				if _, passes := h.Panels(); passes != 1 {
					t.Errorf("%d passes", passes)
				}
				if h.Special() != (value != 1) {
					t.Errorf("number %d is %v: special %v", at, value, h.Special())
				}
				return nil
			}); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestHostProductMemory: what free memory there is decides the panels, down to one column, and below that a product is
// refused.
func TestHostProductMemory(t *testing.T) {
	gputest.Sanitize(t)
	if !gputest.Emulated() {
		t.Skip("fills the memory of the emulator only")
	}
	d := gputest.Device(t)
	const rows, columns = 90, 60
	r := rand.New(rand.NewPCG(23, 23))
	for _, trans := range []bool{false, true} {
		a := randomFloats(r, rows*columns, 3)
		p := newHostProblem(t, deferredgpu.Host{Float64: a, Rows: rows, Columns: columns, LD: rows}, trans,
			randomFloats(r, rows, 3), 1)
		p.check(t, d, "much memory", deferredgpu.PanelOptions{}, 1)
		seen := map[int]bool{}
		for leave := int64(600 << 10); ; leave = leave * 3 / 4 {
			t.Setenv("MPBENCH_EMULATOR_MEMORY", fmt.Sprint(memoryInUse(d)+leave))
			panels, err := p.panels(d)
			if err != nil {
				var small *deferredgpu.TooSmallError
				if !errors.As(err, &small) && !errors.Is(err, gpu.ErrOutOfMemory) {
					t.Fatal(err)
				}
				if errors.As(err, &small) && small.Need <= small.Free-small.Free/16 {
					t.Errorf("%v, but that suffices", small)
				}
				break
			}
			seen[panels] = true
		}
		if !seen[1] || len(seen) < 4 {
			t.Errorf("transpose %v: numbers of panels %v", trans, seen)
		}
		p.checkSecondPass(t, d)
	}
}

// checkSecondPass takes memory away until the first pass has enough and the second, with many more moduli, has not:
// that is an error of the run.
func (p *hostProblem) checkSecondPass(t *testing.T, d *gpu.Device) {
	t.Helper()
	p.host.Float64[17*p.host.LD+33], p.host.Float64[31*p.host.LD+33] = 1e300, 1e-300
	for leave := int64(600 << 10); ; leave = leave * 7 / 8 {
		t.Setenv("MPBENCH_EMULATOR_MEMORY", fmt.Sprint(memoryInUse(d)+leave))
		prepared := false
		err := d.Do(func() error {
			h, free, err := p.prepare(d, deferredgpu.PanelOptions{})
			if err != nil {
				return err
			}
			defer free()
			prepared = true
			err = h.Run()
			if panels, _ := h.Panels(); err != nil && (panels != 0 || h.Bytes() != 0) {
				t.Errorf("%d panels of %d bytes after %v", panels, h.Bytes(), err)
			}
			return err
		})
		if err != nil {
			if small := new(deferredgpu.TooSmallError); !prepared || !errors.As(err, &small) {
				t.Errorf("%d bytes, prepared %v: %v", leave, prepared, err)
			}
			return
		}
	}
}

func memoryInUse(d *gpu.Device) (bytes int64) {
	_ = d.Do(func() error { bytes = d.Memory().Current; return nil })
	return bytes
}

// panels runs the product and returns how many panels that took.
func (p *hostProblem) panels(d *gpu.Device) (panels int, err error) {
	err = d.Do(func() error {
		h, free, err := p.prepare(d, deferredgpu.PanelOptions{})
		if err != nil {
			return err
		}
		defer free()
		panels, _ = h.Panels()
		return h.Run()
	})
	return panels, err
}
