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

// problem is a product in float64 or in p-bit numbers, with the layout of op(A).
type problem struct {
	a, x, y     numbers.Source
	layout      numbers.Layout
	xLayout     numbers.Layout
	alpha, beta *big.Float
	prec        int
	opt         deferred.Options // for the device; the reference is exact if the moduli suffice
	residues    bool             // also where limbs are better
	inPlace     bool             // where the matrix can be multiplied in place
	limbs       int              // of products in place
	truncate    bool             // as deferred.NewPlanFor chooses
}

// reference is what the CPU engine computes.
func (p *problem) reference(t *testing.T) []*big.Float {
	t.Helper()
	extent, err := deferred.Measure(p.x, p.xLayout)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := deferred.NewPlan(p.a, p.layout, deferred.NoTrans, extent, deferred.Options{})
	if err != nil {
		t.Fatal(err)
	}
	a := plan.Matrix()
	x, err := a.NewVector(p.x, p.xLayout)
	if err != nil {
		t.Fatal(err)
	}
	y := p.addends()
	a.NewAccumulator(deferred.NoTrans).Gemv(y, p.alpha, a, x, p.beta, uint(p.prec), 0)
	return y
}

func (p *problem) addends() []*big.Float {
	y := make([]*big.Float, p.layout.Rows)
	var z numbers.Number
	for i := range y {
		y[i] = new(big.Float)
		if p.y != nil {
			p.y.Read(&z, i)
			y[i] = floatOf(&z)
		}
	}
	return y
}

func floatOf(z *numbers.Number) *big.Float {
	f := new(big.Float)
	if z.Class != numbers.Finite {
		return f
	}
	x := new(big.Int)
	for i := len(z.Words) - 1; i >= 0; i-- {
		x.Lsh(x, 64).Or(x, new(big.Int).SetUint64(z.Words[i]))
	}
	f.SetInt(x)
	f.SetMantExp(f, z.Exp)
	if z.Neg {
		f.Neg(f)
	}
	return f
}

// upload copies numbers to the device as what they are.
func upload(d *gpu.Device, x numbers.Source, floats []float64) (*deferredgpu.Numbers, error) {
	if floats != nil {
		return deferredgpu.UploadFloat64(d, floats)
	}
	p, err := deferred.Pack(x, numbers.Strided(x.Len(), 1), 0)
	if err != nil {
		return nil, err
	}
	return deferredgpu.UploadPacked(d, p)
}

// onDevice computes the product with every shape of kernel and compares the bits.
func (p *problem) check(
	t *testing.T, d *gpu.Device, name string, aFloats, xFloats []float64, shapes []deferredgpu.Shape,
) {
	t.Helper()
	want := p.reference(t)
	err := d.Do(func() error {
		product, free, err := p.prepare(d, aFloats, xFloats)
		if err != nil {
			return err
		}
		y := make([]*big.Float, len(want))
		for _, shape := range shapes {
			if shape != (deferredgpu.Shape{}) {
				if err := product.SetShape(shape); err != nil {
					return err
				}
			}
			for range 2 { // twice: sums must be left as they are needed
				if err := product.Launch(nil); err != nil {
					return err
				}
				if err := product.Results(y); err != nil {
					return err
				}
				for i := range y {
					if y[i].Cmp(want[i]) != 0 || y[i].Sign() == 0 && y[i].Signbit() {
						t.Fatalf("%s, %+v, row %d:\n got %s\nwant %s", name, product.Shape(), i, y[i].Text('p', 0), want[i].Text('p', 0))
					}
				}
			}
		}
		free()
		return nil
	})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

// plan is the device's.
func (p *problem) plan(x numbers.Extent) (*deferred.Plan, error) {
	if p.truncate {
		return deferred.NewPlanFor(p.a, p.layout, deferred.NoTrans, p.x, p.xLayout, p.prec, p.opt)
	}
	return deferred.NewPlan(p.a, p.layout, deferred.NoTrans, x, p.opt)
}

func (p *problem) prepare(d *gpu.Device, aFloats, xFloats []float64) (*deferredgpu.Product, func(), error) {
	extent, err := deferred.Measure(p.x, p.xLayout)
	if err != nil {
		return nil, nil, err
	}
	plan, err := p.plan(extent)
	if err != nil {
		return nil, nil, err
	}
	an, err := upload(d, p.a, aFloats)
	if err != nil {
		return nil, nil, err
	}
	newMatrix := deferredgpu.NewMatrix
	switch {
	case p.residues:
		newMatrix = deferredgpu.NewResidueMatrix
	case p.inPlace && deferredgpu.InPlace(plan, an, p.layout):
		newMatrix = deferredgpu.NewMatrixInPlace
		p.limbs = max(1, (max(plan.ABits(), plan.XBits())+27)/28)
	}
	a, err := newMatrix(d, plan, an, p.layout)
	if err != nil {
		return nil, nil, err
	}
	xn, err := upload(d, p.x, xFloats)
	if err != nil {
		return nil, nil, err
	}
	x, err := a.NewVector(xn, p.xLayout, extent)
	if err != nil {
		return nil, nil, err
	}
	o := deferredgpu.Options{Precision: p.prec, Alpha: p.alpha, Beta: p.beta}
	if p.beta.Sign() != 0 {
		if o.Y, err = deferred.Pack(p.y, numbers.Strided(p.layout.Rows, 1), 0); err != nil {
			return nil, nil, err
		}
	}
	product, err := deferredgpu.NewProduct(a, x, o)
	if err != nil {
		return nil, nil, err
	}
	free := func() { product.Free(); x.Free(); a.Free(); an.Free(); xn.Free() }
	if !product.Truncated() && !p.inPlace { // the numbers are not needed
		an.Free()
		xn.Free()
	}
	return product, free, nil
}

// randomBig returns a number of at most bits bits with an exponent within spread.
func randomBig(r *rand.Rand, bits, spread int) *big.Float {
	x := new(big.Int)
	for range (bits + 63) / 64 {
		x.Lsh(x, 64).Or(x, new(big.Int).SetUint64(r.Uint64()))
	}
	x.Rsh(x, uint(x.BitLen()-min(bits, max(x.BitLen(), 1)))%64)
	for x.BitLen() > bits {
		x.Rsh(x, 1)
	}
	f := new(big.Float).SetPrec(uint(max(bits, 1))).SetInt(x)
	f.SetMantExp(f, r.IntN(2*spread+1)-spread)
	if r.IntN(2) == 0 {
		f.Neg(f)
	}
	return f
}

func randomBigs(r *rand.Rand, n, bits, spread int) numbers.Source {
	list := make([]*big.Float, n)
	for i := range list {
		switch r.IntN(12) {
		case 0:
			list[i] = new(big.Float)
		case 1:
			list[i] = randomBig(r, 1, spread)
		default:
			list[i] = randomBig(r, bits, spread)
		}
	}
	return numbers.Bigs(list)
}

func randomFloats(r *rand.Rand, n, spread int) []float64 {
	list := make([]float64, n)
	for i := range list {
		if r.IntN(16) == 0 {
			continue
		}
		list[i] = math.Ldexp(2*r.Float64()-1, r.IntN(2*spread+1)-spread)
	}
	return list
}

func allShapes() []deferredgpu.Shape {
	return []deferredgpu.Shape{
		{}, // the default one
		{RowWarps: 1}, {RowWarps: 2, PartColumns: 48, Early: true}, {RowWarps: 4}, {RowWarps: 8, PartColumns: 16},
		{BlockRows: 1}, {BlockRows: 3, Together: 2, Early: true}, {BlockRows: 64, Early: true},
		{BlockRows: 1, PartColumns: 16}, {BlockRows: 1, PartColumns: 4096, Together: 4},
	}
}

// randomProblem draws everything that matters: shape, layout, precision, spread of exponents, scalars.
func randomProblem(r *rand.Rand, most int) (p *problem, a, x []float64, name string) {
	rows, cols := r.IntN(most), r.IntN(most)
	if r.IntN(4) == 0 {
		rows, cols = 1+r.IntN(3), r.IntN(8*most)
	}
	precisions := []int{24, 53, 64, 96, 106, 128, 212, 240}
	p = &problem{prec: precisions[r.IntN(len(precisions))]}
	ld := max(rows, cols) + r.IntN(3)
	if r.IntN(2) == 0 {
		p.layout = numbers.ColMajor(rows, cols, ld)
	} else {
		p.layout = numbers.RowMajor(rows, cols, ld)
	}
	p.xLayout = numbers.Strided(cols, []int{1, 2, -1}[r.IntN(3)])
	spread := []int{0, 3, 60}[r.IntN(3)]
	nx := max(1, 2*cols)
	if r.IntN(2) == 0 {
		a, x = randomFloats(r, ld*ld, spread), randomFloats(r, nx, spread)
		p.a, p.x = numbers.Float64s(a), numbers.Float64s(x)
	} else {
		bits := 1 + r.IntN(p.prec)
		p.a, p.x = randomBigs(r, ld*ld, bits, spread), randomBigs(r, nx, bits, spread)
	}
	p.y = randomBigs(r, max(rows, 1), p.prec, []int{0, 100, 5000}[r.IntN(3)])
	scalars := []*big.Float{big.NewFloat(1), big.NewFloat(-1), big.NewFloat(0.5), randomBig(r, p.prec, 3),
		randomBig(r, 10, 400)}
	p.alpha = scalars[r.IntN(len(scalars))]
	if p.alpha.Sign() == 0 {
		p.alpha = big.NewFloat(3)
	}
	p.beta = append(scalars, new(big.Float))[r.IntN(len(scalars)+1)]
	if r.IntN(3) == 0 {
		p.opt.KeepBits = p.prec + r.IntN(100)
	}
	return p, a, x, fmt.Sprintf("%d x %d, p = %d, spread %d, alpha %v, beta %v, %+v", rows, cols, p.prec, spread, p.alpha,
		p.beta, p.opt)
}

// TestGemv compares products with those of the CPU, bit for bit: 10,000 random ones on a GPU, fewer on the emulator or
// with -short.
func TestGemv(t *testing.T) {
	gputest.Sanitize(t)
	d := gputest.Device(t)
	count, most := 60, 40
	switch {
	case testing.Short():
		count = 20
	case !gputest.Emulated():
		count, most = 10000, 120
	}
	shapes := allShapes()
	for i := range count {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel() // the references take longer than the device
			r := rand.New(rand.NewPCG(4, uint64(i)))
			p, a, x, name := randomProblem(r, most)
			use := shapes
			if i%8 != 0 {
				use = []deferredgpu.Shape{{}, shapes[1+i%(len(shapes)-1)]}
			}
			p.check(t, d, name, a, x, use)
			if i%2 == 0 {
				p.residues = true
				p.check(t, d, name+", residues", a, x, use)
			} else {
				p.inPlace = true
				p.check(t, d, name+", in place", a, x, use)
			}
		})
	}
}

// TestInPlace: binary64 matrices that are not converted, of every number of limbs, with numbers at both ends of the
// range of exponents, and rows that are not aligned.
func TestInPlace(t *testing.T) {
	gputest.Sanitize(t)
	d := gputest.Device(t)
	count := 40
	if !gputest.Emulated() {
		count = 1000
	}
	r := rand.New(rand.NewPCG(9, 9))
	met := map[int]bool{}
	for i := range count {
		rows, cols, spread, digits := 1+r.IntN(9), r.IntN(900), r.IntN(59), 1+r.IntN(53)
		middle := []int{0, 1024 - spread, -1074 + 53, -1022, r.IntN(1900) - 1000}[r.IntN(5)]
		list := func(n int) []float64 {
			x := make([]float64, n)
			for j := range x {
				if r.IntN(9) > 0 {
					x[j] = math.Ldexp(math.Round(math.Ldexp(r.Float64()-0.5, digits)), middle-digits+r.IntN(spread+1))
				}
			}
			return x
		}
		a, x := list(3+rows*(cols+1)), list(cols)
		p := &problem{
			a: numbers.Float64s(a), x: numbers.Float64s(x), xLayout: numbers.Strided(cols, 1), prec: 24 + r.IntN(200),
			layout: numbers.RowMajor(rows, cols, cols+1), alpha: big.NewFloat(1), beta: new(big.Float), inPlace: true,
			y: randomBigs(r, rows, 24, 3),
		}
		p.layout.Offset = r.IntN(4)
		extent, err := deferred.Measure(p.x, p.xLayout)
		if err != nil {
			t.Fatal(err)
		}
		plan, err := p.plan(extent)
		if err != nil {
			t.Fatal(err)
		}
		p.check(t, d, fmt.Sprintf("%d: %d x %d, %d bits about 2^%d", i, rows, cols, plan.ABits(), middle), a, x,
			[]deferredgpu.Shape{{}, {RowWarps: 1}, {RowWarps: 4, PartColumns: 48, Early: true}, {RowWarps: 8}})
		met[p.limbs] = true
	}
	if len(met) < 4 || !met[4] {
		t.Errorf("products in place of %v limbs", met)
	}
}

// TestLimbExtremes: factors with all bits set, of every number of limbs, in rows so long that words are carried many
// times, and sums that cancel but for one unit.
func TestLimbExtremes(t *testing.T) {
	gputest.Sanitize(t)
	d := gputest.Device(t)
	cols := 3000
	if !gputest.Emulated() && !testing.Short() {
		cols = 300_000
	}
	for limbs := 1; limbs <= 5; limbs++ { // with five there are residues
		bits := 28 * limbs
		most := new(big.Float).SetPrec(uint(bits)).SetInt(new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), uint(bits)),
			big.NewInt(1)))
		const rows = 4
		a, x := make([]*big.Float, rows*cols), make([]*big.Float, cols)
		for j := range cols {
			x[j] = most
			a[j], a[cols+j], a[2*cols+j] = most, negative(most), most
			if j%2 == 1 {
				a[2*cols+j] = negative(most)
			}
			a[3*cols+j] = new(big.Float)
		}
		a[2*cols] = new(big.Float).SetPrec(uint(bits)).Sub(most, big.NewFloat(1)) // the sum is -most
		p := &problem{
			a: numbers.Bigs(a), x: numbers.Bigs(x), layout: numbers.RowMajor(rows, cols, cols), xLayout: numbers.Strided(cols,
				1),
			alpha: big.NewFloat(1), beta: new(big.Float), prec: 2*bits + 24, y: randomBigs(rand.New(rand.NewPCG(1, 1)), rows,
				24, 3),
		}
		extent, err := deferred.Measure(p.x, p.xLayout)
		if err != nil {
			t.Fatal(err)
		}
		plan, err := p.plan(extent)
		if err != nil {
			t.Fatal(err)
		}
		if words, isLimbs := deferredgpu.PlanesOf(plan); isLimbs != (limbs <= 4) || isLimbs && words != limbs {
			t.Errorf("%d bits: %d words, limbs %v", bits, words, isLimbs)
		}
		p.check(t, d, fmt.Sprintf("%d limbs", limbs), nil, nil, []deferredgpu.Shape{{}, {RowWarps: 1, BlockRows: 1},
			{RowWarps: 8, PartColumns: 1024, BlockRows: 1}})
	}
}
