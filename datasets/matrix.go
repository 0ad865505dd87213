package datasets

import (
	"cmp"
	"math"
	"math/big"
	"slices"
	"strconv"

	"mpbench/pkg/numbers"
)

// Limits of the parameters of matrices.
const (
	maxMatrixSize = 1 << 20
	maxMatrixBits = 1 << 16
)

func matrixSets() []*Set {
	return withParams(1000, slices.Concat(randomMatrixSets(), classicMatrixSets(), genGemvSets()), rowsParam)
}

// productSets are the sets of matrices that have several columns x and y.
func productSets() []*Set { return withParams(100, randomMatrixSets(), rowsParam, columnsParam) }

var (
	rowsParam = Param{
		Name: "m", Meaning: "rows; 0 is as many as columns", Default: "0", Kind: Int, Max: maxMatrixSize,
	}
	columnsParam = Param{
		Name: "k", Meaning: "columns of the product; 0 is as many as its rows", Default: "0", Kind: Int, Max: maxMatrixSize,
	}
)

func withParams(n int, sets []*Set, params ...Param) []*Set {
	for _, s := range sets {
		s.DefaultN, s.Params = n, append(s.Params, params...)
	}
	return sets
}

// bitsParam is the parameter of sets that exist at any precision.
func bitsParam() Param {
	return Param{Name: "bits", Meaning: "bits of the numbers; 0 is float64", Default: "0", Kind: Int, Max: maxMatrixBits}
}

// matrixJob is one generation: the resolved parameters, and what the generator makes of them.
type matrixJob struct {
	job
	m           int
	rows, terms int // of op(A)
	columns     int // of op(x) and y
	trans       bool
	transX      bool
	bits        int

	a, x, y             []float64
	wideA, wideX, wideY []*big.Float // instead, where bits > 0
}

// newMatrixJob resolves the parameters and checks that there is memory.
func newMatrixJob(spec Spec, opt Options) (*matrixJob, error) {
	j := &matrixJob{job: newJob(spec, opt, 0), trans: opt.Trans, transX: opt.TransX, columns: 1}
	if err := j.shape(opt); err != nil {
		return nil, err
	}
	j.rows, j.terms = j.m, j.n
	if opt.Trans {
		j.rows, j.terms = j.n, j.m
	}
	if j.isProduct() {
		if j.columns = cmp.Or(j.int("k"), opt.K, j.rows); j.columns < 1 || j.columns > maxMatrixSize {
			return nil, usagef("%s: k=%d: want an integer from 1 to %d", spec.set.Name, j.columns, maxMatrixSize)
		}
	}
	if spec.set.param("bits") >= 0 {
		if j.bits = j.int("bits"); j.bits == 0 {
			j.bits = opt.Bits
		}
		if j.bits < 0 || j.bits > maxMatrixBits {
			return nil, usagef("%s: bits=%d: want an integer from 0 to %d", spec.set.Name, j.bits, maxMatrixBits)
		}
	}
	count := int64(j.m)*int64(j.n) + int64(j.rows+j.terms)*int64(j.columns)
	if err := CheckMemory(count * int64(j.numberBytes())); err != nil {
		return nil, usagef("%s: m=%d, n=%d: %s", spec.set.Name, j.m, j.n, err)
	}
	return j, nil
}

// numberBytes is how much memory a number takes.
func (j *matrixJob) numberBytes() int {
	if j.bits == 0 {
		return 8
	}
	return 56 + (j.bits+63)/64*8 // pointer, header, words
}

func generateMatrix(spec Spec, opt Options) (*Data, error) {
	j, err := newMatrixJob(spec, opt)
	if err != nil {
		return nil, err
	}
	j.allocate()
	if err := spec.set.matrix(j); err != nil {
		return nil, usagef("%s: %s", spec.set.Name, err)
	}
	d := j.data()
	d.Params, d.Extents = j.matrixArgs(), j.extents()
	d.A, d.X, d.Y = j.numbers(j.a, j.wideA), j.numbers(j.x, j.wideX), j.numbers(j.y, j.wideY)
	return d, nil
}

// isProduct tells whether x and y are matrices.
func (j *matrixJob) isProduct() bool { return j.spec.set.param("k") >= 0 }

func (j *matrixJob) extents() Extents {
	e := Extents{M: j.m, N: j.n, Trans: j.trans}
	if j.isProduct() {
		e.K, e.TransX = j.columns, j.transX
	}
	return e
}

// numbers returns one array of the job.
func (j *matrixJob) numbers(x []float64, wide []*big.Float) Numbers {
	if j.bits == 0 {
		return float64s(x)
	}
	return Numbers{numbers.Bigs(wide), hashBigs(wide)}
}

// shape resolves the numbers of rows and columns of A.
func (j *matrixJob) shape(opt Options) error {
	name := j.spec.set.Name
	if j.n = cmp.Or(j.spec.n, opt.N, j.spec.set.DefaultN); j.n < 1 || j.n > maxMatrixSize {
		return usagef("%s: n=%d: want an integer from 1 to %d", name, j.n, maxMatrixSize)
	}
	if j.m = cmp.Or(j.int("m"), opt.M, j.n); j.m < 1 || j.m > maxMatrixSize {
		return usagef("%s: m=%d: want an integer from 1 to %d", name, j.m, maxMatrixSize)
	}
	return nil
}

func (j *matrixJob) allocate() {
	m, x, y := j.m*j.n, j.terms*j.columns, j.rows*j.columns
	if j.bits == 0 {
		j.a, j.x, j.y = make([]float64, m), make([]float64, x), make([]float64, y)
		return
	}
	j.wideA, j.wideX, j.wideY = make([]*big.Float, m), make([]*big.Float, x), make([]*big.Float, y)
	for i := range j.wideY {
		j.wideY[i] = j.wide()
	}
}

// wide returns the number 0 at the precision of the job.
func (j *matrixJob) wide() *big.Float { return new(big.Float).SetPrec(uint(j.bits)) }

// place returns the index in A of element (i, k) of op(A).
func (j *matrixJob) place(i, k int) int {
	if j.trans {
		return i*j.m + k
	}
	return k*j.m + i
}

// placeX returns the index in x of element (k, c) of op(x).
func (j *matrixJob) placeX(k, c int) int {
	if j.transX {
		return k*j.columns + c
	}
	return c*j.terms + k
}

// matrixArgs lists all parameters but m, n and k, in the registry's order; bits as it was resolved.
func (j *matrixJob) matrixArgs() []Arg {
	args := slices.DeleteFunc(j.args(), func(a Arg) bool { return a.Name == "m" || a.Name == "k" })
	for i, a := range args {
		if a.Name == "bits" {
			args[i].Value = strconv.Itoa(j.bits)
		}
	}
	return args
}

func randomMatrixSets() []*Set {
	return []*Set{
		{
			Name: "uniform11",
			Summary: "A, x, y uniform in [-1, 1): multiples of 2^-52, or with bits=p full p-bit significands, a random " +
				"p-bit integer times such a multiple times 2^-p, rounded to nearest even",
			Source: "timing data of Isupov and Knyazkov (2020), doi:10.25209/2079-3316-2020-11-3-61-84",
			Params: []Param{bitsParam()},
			Seeded: true,
			matrix: func(j *matrixJob) error {
				r := j.random(0)
				if j.bits == 0 {
					j.each(r.symmetric)
					return nil
				}
				for _, numbers := range [][]*big.Float{j.wideA, j.wideX, j.wideY} {
					for i := range numbers {
						numbers[i] = r.wide(j.bits)
					}
				}
				return nil
			},
		},
		{
			Name:    "wide",
			Summary: "A, x, y = +-f*2^e with f uniform in [1, 2) and e a uniform integer in [-range, range]",
			Source:  "range of exponents of tests of " + zhuHayes2010,
			Params:  []Param{exponentRange},
			Seeded:  true,
			matrix: func(j *matrixJob) error {
				r, largest := j.random(0), j.int("range")
				j.each(func() float64 { return r.spread(largest) })
				return nil
			},
		},
		{
			Name: "blockcancel",
			Summary: "op(A) = [B, -B + E], x = [v, v], B and v uniform in [-1, 1), E = B times uniform numbers in [-1, 1) " +
				"times 2^-drop, so that all but E*v cancels; an odd number of terms ends with a column of zeros; y = 0",
			Source: "own; cancellation of blocks as in Higham, Accuracy and Stability, 2nd ed., section 1.8",
			Params: []Param{{Name: "drop", Meaning: "how many bits E lies below B", Default: "40", Kind: Int, Max: 1000}},
			Seeded: true, matrix: blockCancel,
		},
	}
}

// each sets the numbers of A, x and y, in this order.
func (j *matrixJob) each(next func() float64) {
	for _, xs := range [][]float64{j.a, j.x, j.y} {
		each(xs, next)
	}
}

// wide returns a number of [-1, 1) with a significand of p random bits.
func (s *source) wide(p int) *big.Float {
	words := make([]big.Word, 0, p/32+2)
	n := new(big.Int)
	for bits := 0; bits < p; bits += 64 {
		w := s.uint64()
		if rest := p - bits; rest < 64 {
			w >>= 64 - rest
		}
		if math.MaxUint > math.MaxUint32 {
			words = append(words, big.Word(w))
		} else {
			words = append(words, big.Word(uint32(w)), big.Word(w>>32))
		}
	}
	n.SetBits(words)
	x := new(big.Float).SetPrec(uint(p)).SetInt(n)
	x.Mul(x, new(big.Float).SetFloat64(s.symmetric()))
	return x.SetMantExp(x, -p)
}

// spread returns a number of random sign, with an exponent in [-largest, largest].
func (s *source) spread(largest int) float64 {
	f := 2 * s.halfToOne()
	return math.Ldexp(f, s.below(2*largest+1)-largest)
}

func blockCancel(j *matrixJob) error {
	r, drop := j.random(0), j.int("drop")
	half := j.terms / 2
	if half < 1 {
		return usagef("%d terms: want at least 2", j.terms)
	}
	for c := range j.columns {
		for k := range half {
			v := r.symmetric()
			j.x[j.placeX(k, c)], j.x[j.placeX(half+k, c)] = v, v
		}
	}
	for i := range j.rows {
		for k := range half {
			b := r.symmetric()
			e := math.Ldexp(float64(b*r.symmetric()), -drop)
			j.a[j.place(i, k)], j.a[j.place(i, half+k)] = b, e-b
		}
	}
	return nil
}
