package datasets

import (
	"cmp"
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

// matrixSets lists the sets of matrices.
func matrixSets() []*Set {
	all := slices.Concat(randomMatrixSets(), classicMatrixSets(), genGemvSets())
	rows := Param{Name: "m", Meaning: "rows; 0 is as many as columns", Default: "0", Kind: Int, Max: maxMatrixSize}
	for _, s := range all {
		s.DefaultN = 1000
		s.Params = append(s.Params, rows)
	}
	return all
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
	trans       bool
	bits        int

	a, x, y             []float64
	wideA, wideX, wideY []*big.Float // instead, where bits > 0
}

func generateMatrix(spec Spec, opt Options) (*Data, error) {
	j := &matrixJob{job: newJob(spec, opt, 0), trans: opt.Trans}
	if err := j.shape(opt); err != nil {
		return nil, err
	}
	j.rows, j.terms = j.m, j.n
	if opt.Trans {
		j.rows, j.terms = j.n, j.m
	}
	if spec.set.param("bits") >= 0 {
		if j.bits = j.int("bits"); j.bits == 0 {
			j.bits = opt.Bits
		}
		if j.bits < 0 || j.bits > maxMatrixBits {
			return nil, usagef("%s: bits=%d: want an integer from 0 to %d", spec.set.Name, j.bits, maxMatrixBits)
		}
	}
	numberBytes := int64(8)
	if j.bits > 0 {
		numberBytes = 56 + int64(j.bits+63)/64*8 // pointer, header, words
	}
	if err := checkMemory(int64(j.m) * int64(j.n) * numberBytes); err != nil {
		return nil, usagef("%s: m=%d, n=%d: %s", spec.set.Name, j.m, j.n, err)
	}
	j.allocate()
	if err := spec.set.matrix(j); err != nil {
		return nil, usagef("%s: %s", spec.set.Name, err)
	}
	d := j.data()
	d.Params, d.M, d.Trans = j.matrixArgs(), j.m, j.trans
	d.A, d.X, d.Y = j.numbers(j.a, j.wideA), j.numbers(j.x, j.wideX), j.numbers(j.y, j.wideY)
	return d, nil
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
	if j.bits == 0 {
		j.a, j.x, j.y = make([]float64, j.m*j.n), make([]float64, j.terms), make([]float64, j.rows)
		return
	}
	j.wideA, j.wideX = make([]*big.Float, j.m*j.n), make([]*big.Float, j.terms)
	j.wideY = make([]*big.Float, j.rows)
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

// matrixArgs lists all parameters but m and n, in the registry's order; bits as it was resolved.
func (j *matrixJob) matrixArgs() []Arg {
	args := slices.DeleteFunc(j.args(), func(a Arg) bool { return a.Name == "m" })
	for i, a := range args {
		if a.Name == "bits" {
			args[i].Value = strconv.Itoa(j.bits)
		}
	}
	return args
}
