package deferredgpu_test

import (
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

// recomputed computes the product on the device, compares the bits with the reference and returns how many rows were
// computed again, and how many of them on the host. It launches twice, because the second recomputation uses what the
// first left.
func (p *problem) recomputed(t *testing.T, d *gpu.Device, name string, aFloats, xFloats []float64) (rows, onHost int) {
	t.Helper()
	want := p.reference(t)
	err := d.Do(func() error {
		product, free, err := p.prepare(d, aFloats, xFloats)
		if err != nil {
			return err
		}
		defer free()
		y := make([]*big.Float, len(want))
		for launch := range 2 {
			if err := product.Launch(nil); err != nil {
				return err
			}
			if err := product.Results(y); err != nil {
				return err
			}
			for i := range y {
				if y[i].Cmp(want[i]) != 0 || y[i].Sign() == 0 && y[i].Signbit() {
					t.Fatalf("%s, launch %d, row %d:\n got %s\nwant %s", name, launch, i, y[i].Text('p', 0), want[i].Text('p', 0))
				}
			}
			n, m := product.Recomputed()
			if launch > 0 && (n != rows || m != onHost) {
				t.Fatalf("%s: %d rows recomputed, %d on the host; before %d and %d", name, n, m, rows, onHost)
			}
			rows, onHost = n, m
		}
		return nil
	})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return rows, onHost
}

// wholeRange returns float64 numbers of every exponent, subnormal ones included.
func wholeRange(r *rand.Rand, n int) []float64 {
	list := make([]float64, n)
	for i := range list {
		for list[i] == 0 || math.IsNaN(list[i]) || math.IsInf(list[i], 0) {
			list[i] = math.Float64frombits(r.Uint64())
		}
	}
	return list
}

// TestTruncated compares products of truncated factors with exact ones, for numbers of all widths and precisions.
func TestTruncated(t *testing.T) {
	gputest.Sanitize(t)
	d := gputest.Device(t)
	for i, prec := range []int{24, 53, 106, 424, 1696, 4096} {
		for turn := range 4 {
			t.Run(fmt.Sprint(prec, "/", turn), func(t *testing.T) {
				t.Parallel()
				r := rand.New(rand.NewPCG(uint64(prec), uint64(turn)))
				rows, cols := 1+r.IntN(12), 1+r.IntN(40)
				if prec > 1000 {
					rows, cols = 1+r.IntN(4), 1+r.IntN(12)
				}
				p := &problem{prec: prec, layout: numbers.ColMajor(rows, cols, rows+turn%2), xLayout: numbers.Strided(cols, 1)}
				p.opt.KeepBits = prec + []int{0, 8, 64, 500}[(turn+i)%4]
				var a, x []float64
				if turn == 0 {
					a, x = wholeRange(r, (rows+1)*cols), wholeRange(r, cols)
					p.a, p.x = numbers.Float64s(a), numbers.Float64s(x)
					p.opt.KeepBits = 24 + r.IntN(200)
				} else {
					p.a, p.x = randomBigs(r, (rows+1)*cols, prec, 900), randomBigs(r, cols, prec, []int{0, 900, 900}[turn-1])
				}
				p.y = randomBigs(r, rows, prec, 2000)
				p.alpha, p.beta = randomBig(r, prec, 500), randomBig(r, prec, 500)
				if turn == 1 {
					p.alpha, p.beta = big.NewFloat(-0.25), new(big.Float)
				}
				n, _ := p.recomputed(t, d, fmt.Sprintf("%d x %d, p = %d, %d bits kept", rows, cols, prec, p.opt.KeepBits), a, x)
				t.Logf("%d x %d: %d rows recomputed", rows, cols, n)
			})
		}
	}
}

// TestProductTops compares the ends of products with those of the elements.
func TestProductTops(t *testing.T) {
	d := gputest.Device(t)
	r := rand.New(rand.NewPCG(29, 30))
	for turn := range 12 {
		rows, cols := 1+r.IntN(70), 1+r.IntN(90)
		l := numbers.RowMajor(rows, cols, cols+turn%3)
		if turn%2 == 0 {
			l = numbers.ColMajor(rows, cols, rows+turn%3)
		}
		a, x := wholeRange(r, 100*100), wholeRange(r, cols)
		for range 4000 {
			a[r.IntN(len(a))] = []float64{0, math.Inf(1), math.NaN()}[r.IntN(3)]
		}
		x[r.IntN(cols)] = 0
		ends := deferred.VectorTops(numbers.Float64s(x), numbers.Strided(cols, 1))
		var got []int
		err := d.Do(func() error {
			n, err := deferredgpu.UploadFloat64(d, a)
			if err != nil {
				return err
			}
			defer n.Free()
			got, err = n.ProductTops(l, ends)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		for i := range rows {
			want := deferred.NoTop
			for j := range cols {
				v := a[l.Offset+i*l.RowStride+j*l.ColStride]
				if v == 0 || x[j] == 0 || math.IsInf(v, 0) || math.IsNaN(v) {
					continue
				}
				_, e := math.Frexp(v)
				_, f := math.Frexp(x[j])
				want = max(want, e+f)
			}
			if got[i] != want {
				t.Fatalf("%d x %d, row %d: %d, want %d", rows, cols, i, got[i], want)
			}
		}
	}
}

// power returns 2^e.
func power(e int) *big.Float { return new(big.Float).SetMantExp(big.NewFloat(1), e) }

func negative(x *big.Float) *big.Float { return new(big.Float).Neg(x) }

// row is a row of A that meets a vector of ones, and whether it has to be computed again.
type row struct {
	name          string
	terms         []*big.Float
	recomputation bool
}

// hardRows are sums of p bits at and beside zeros and ties that only terms of 2^-e decide.
func hardRows(p, e int) []row {
	one, tiny := power(0), power(-e)
	return []row{
		{"zero", []*big.Float{one, negative(one), tiny, negative(tiny)}, true},
		{"tiny", []*big.Float{one, negative(one), tiny}, true},
		{"negative tiny", []*big.Float{one, negative(tiny), negative(one)}, true},
		{"tie", []*big.Float{power(p), one, tiny, negative(tiny)}, true},
		{"above a tie", []*big.Float{power(p), one, tiny}, true},
		{"below a tie", []*big.Float{power(p), one, negative(tiny)}, true},
		{"below a tie that rounds up", []*big.Float{power(p), power(1), one, negative(tiny)}, true},
		{"negative tie", []*big.Float{negative(power(p)), negative(one), tiny, negative(tiny)}, true},
		{"below a power of two", []*big.Float{power(p), negative(tiny)}, false},
		{"above a power of two", []*big.Float{power(p), tiny}, false},
		{"ordinary", []*big.Float{big.NewFloat(1.3), big.NewFloat(-0.7), tiny}, false},
		{"exact", []*big.Float{big.NewFloat(1), big.NewFloat(-1)}, false},
		{"exact tie", []*big.Float{power(p), one}, false},
		{"zeros", nil, false},
	}
}

// problemOf makes the rows a matrix, and a vector of ones, of which the first two have further companions that make
// the vector's extent longer if spread is positive.
func problemOf(rows []row, prec, spread int) *problem {
	const cols = 6
	a, x := make([]*big.Float, len(rows)*cols), make([]*big.Float, cols)
	for i := range a {
		a[i] = new(big.Float)
		if i/cols < len(rows) && i%cols < len(rows[i/cols].terms) {
			a[i] = rows[i/cols].terms[i%cols]
		}
	}
	for j := range x {
		x[j] = power(0)
	}
	x[cols-1] = power(-spread) // meets zeros
	return &problem{
		a: numbers.Bigs(a), x: numbers.Bigs(x), layout: numbers.RowMajor(len(rows), cols, cols),
		xLayout: numbers.Strided(cols, 1),
		alpha:   big.NewFloat(1), beta: new(big.Float), prec: prec, opt: deferred.Options{KeepBits: prec + 64},
	}
}

// TestRecomputing counts the rows that are computed again: those that truncation leaves open, and no others.
func TestRecomputing(t *testing.T) {
	gputest.Sanitize(t)
	d := gputest.Device(t)
	for _, prec := range []int{24, 53, 106, 424, 1696, 4096} {
		rows := hardRows(prec, prec+3000)
		want := 0
		for _, r := range rows {
			if r.recomputation {
				want++
			}
		}
		p := problemOf(rows, prec, 0)
		if got, onHost := p.recomputed(t, d, fmt.Sprint("p = ", prec), nil, nil); got != want || onHost != 0 {
			t.Errorf("p = %d: %d rows recomputed, %d of them on the host; want %d", prec, got, onHost, want)
		}
		for _, r := range rows { // each alone
			want := 0
			if r.recomputation {
				want = 1
			}
			p := problemOf([]row{r}, prec, 0)
			if got, _ := p.recomputed(t, d, r.name, nil, nil); got != want {
				t.Errorf("p = %d, %s: %d rows recomputed, want %d", prec, r.name, got, want)
			}
			p.a, p.x = p.x, p.a // the row as a vector: it is that which is truncated
			if got, _ := p.recomputed(t, d, r.name+" in x", nil, nil); got != want {
				t.Errorf("p = %d, %s in x: %d rows recomputed, want %d", prec, r.name, got, want)
			}
		}
		// A vector that is truncated: the bound is for any elements, so that exact rows are open as well.
		p = problemOf(rows, prec, prec+3000)
		if got, _ := p.recomputed(t, d, fmt.Sprint("long x, p = ", prec), nil, nil); got < want || got > want+2 {
			t.Errorf("p = %d, x truncated: %d rows recomputed, want %d to %d", prec, got, want, want+2)
		}
	}
}

// TestRecomputingScaled has alpha and beta of p bits and a y that takes alpha*S away, up to the part that was
// truncated.
func TestRecomputingScaled(t *testing.T) {
	gputest.Sanitize(t)
	d := gputest.Device(t)
	for _, prec := range []int{24, 53, 212} {
		r := rand.New(rand.NewPCG(17, uint64(prec)))
		tiny := power(-3000 - prec)
		terms := [][]*big.Float{{power(0), tiny}, {power(0), negative(tiny)}, {power(2), tiny}, {big.NewFloat(0.3)},
			{power(0), tiny}}
		var rows []row
		for _, list := range terms {
			rows = append(rows, row{terms: list})
		}
		p := problemOf(rows, prec, 0)
		p.alpha, p.beta = randomBig(r, prec, 40), randomBig(r, prec, 40)
		for p.alpha.Sign() == 0 || p.beta.Sign() == 0 {
			p.alpha, p.beta = randomBig(r, prec, 40), randomBig(r, prec, 40)
		}
		p.y = numbers.Bigs([]*big.Float{negative(p.alpha), negative(p.alpha), negative(p.alpha), new(big.Float),
			new(big.Float).SetMantExp(p.alpha, prec+1)})
		// beta*y = -alpha*beta: bring alpha*S = alpha*beta about by scaling the rows.
		scaled := make([]*big.Float, p.a.Len())
		var z numbers.Number
		for i := range scaled {
			p.a.Read(&z, i)
			scaled[i] = new(big.Float).SetPrec(uint(2*prec)+64).Mul(floatOf(&z), p.beta)
		}
		p.a = numbers.Bigs(scaled)
		p.opt.KeepBits = 2*prec + 70
		// the last is a tie only by chance
		if got, _ := p.recomputed(t, d, fmt.Sprint("p = ", prec), nil, nil); got != 2 && got != 3 {
			t.Errorf("p = %d: %d rows recomputed, want the two that y takes away", prec, got)
		}
		p.beta = new(big.Float)
		if got, _ := p.recomputed(t, d, fmt.Sprint("beta = 0, p = ", prec), nil, nil); got != 0 {
			t.Errorf("p = %d, beta = 0: %d rows recomputed", prec, got)
		}
	}
}

// TestBeyondModuli has exponents so far apart that all moduli do not suffice: the host computes what they leave open.
func TestBeyondModuli(t *testing.T) {
	d := gputest.Device(t)
	for _, prec := range []int{53, 424} {
		r := rand.New(rand.NewPCG(23, uint64(prec)))
		rows := hardRows(prec, 1<<17)[:3]
		rows = append(rows, row{terms: []*big.Float{power(0), negative(power(0)), power(-9000)}},
			row{terms: []*big.Float{power(0), power(-1 << 17)}})
		p := problemOf(rows, prec, 0)
		got, onHost := p.recomputed(t, d, fmt.Sprint("p = ", prec), nil, nil)
		if got != 4 || onHost != 3 {
			t.Errorf("p = %d: %d rows recomputed, %d of them on the host; want 4 and 3", prec, got, onHost)
		}
		const m, n = 3, 5
		p = &problem{
			a: randomBigs(r, m*n, prec, 1<<16), x: randomBigs(r, n, prec, 1<<16), y: randomBigs(r, m, prec, 1<<17),
			layout: numbers.ColMajor(m, n, m), xLayout: numbers.Strided(n, 1), alpha: big.NewFloat(-1), beta: randomBig(r, prec,
				100), prec: prec,
		}
		p.opt.KeepBits = prec + 64
		got, onHost = p.recomputed(t, d, fmt.Sprint("random, p = ", prec), nil, nil)
		t.Logf("p = %d: %d of %d random rows recomputed, %d of them on the host", prec, got, m, onHost)
	}
}

// TestRecomputingMemory leaves too little memory for all open rows at once, and then for any. The second product fits
// what the first gave back.
func TestRecomputingMemory(t *testing.T) {
	gputest.Sanitize(t)
	d := gputest.Device(t)
	if !gputest.Emulated() {
		t.Skip("fills the memory of the emulator, which is small")
	}
	var rows []row
	for i := range 150 {
		rows = append(rows, row{terms: []*big.Float{power(i), negative(power(i)), power(-4000)}},
			row{terms: []*big.Float{power(0), power(-4000)}})
	}
	p := problemOf(rows, 53, 0)
	want := p.reference(t)
	var hogs []*gpu.Buffer[uint8]
	for _, c := range []struct{ left, onHost int }{{2 << 20, 0}, {1 << 10, 150}} {
		err := d.Do(func() error {
			product, free, err := p.prepare(d, nil, nil)
			if err != nil {
				return err
			}
			defer free()
			available, err := d.Free()
			if err != nil {
				return err
			}
			hog, err := gpu.Alloc[uint8](d, int(available)-c.left)
			if err != nil {
				return err
			}
			hogs = append(hogs, hog)
			y := make([]*big.Float, len(want))
			for range 2 {
				if err := product.Launch(nil); err != nil {
					return err
				}
				if err := product.Results(y); err != nil {
					return err
				}
				for i := range y {
					if y[i].Cmp(want[i]) != 0 {
						t.Errorf("%d bytes left, row %d: got %v, want %v", c.left, i, y[i], want[i])
					}
				}
				if n, onHost := product.Recomputed(); n != 150 || onHost != c.onHost {
					t.Errorf("%d bytes left: %d rows recomputed, %d of them on the host; want 150 and %d", c.left, n, onHost,
						c.onHost)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	d.Do(func() error {
		for _, hog := range hogs {
			hog.Free()
		}
		return nil
	})
}
