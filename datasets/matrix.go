package datasets

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"math/big"
	"slices"
	"strconv"
)

// Matrix is the data of a matrix-vector product y = alpha*op(A)*x + beta*y, generated or read from a file. A is M x N, stored by
// columns: element (i, j) is number j*M + i. x and y are nil for a file.
//
// The numbers are float64 or, where the parameter bits asks for it, of that many bits.
type Matrix struct {
	Name   string // of the set, or the base name of the file
	Params []Arg  // all parameters but m and n, in the registry's order, in canonical form
	M, N   int
	Trans  bool // op(A) is the transpose: x has M elements and y has N

	A, X, Y             []float64
	WideA, WideX, WideY []*big.Float // instead, where bits > 0

	// SHA256A, SHA256X and SHA256Y are the hashes, in hexadecimal, of the numbers in order: of float64 of the 64-bit
	// patterns, little-endian, of wide ones of the lines "0x.8ap+3\n" (big.Float's format 'p').
	SHA256A, SHA256X, SHA256Y string
	Source                    string
	Notes                     []string

	fromFile bool
}

// Spec returns the spec that makes this data again, with all parameters; for a file the file's name.
func (d *Matrix) Spec() string {
	if d.fromFile {
		return d.Name
	}
	return joinSpec(d.Name, append(slices.Clone(d.Params), Arg{"m", strconv.Itoa(d.M)}, Arg{"n", strconv.Itoa(d.N)}))
}

// MatrixOptions are the general parameters of matrices, which apply where a spec does not give its own.
type MatrixOptions struct {
	M, N  int // 0 leaves each set its default: 1000 columns, as many rows as columns
	Seed  uint64
	Trans bool // the transpose is multiplied: x has M elements and the property of a set is that of the transpose's rows
	Bits  int  // of the numbers, for sets that have the parameter bits; 0 is float64
}

// Limits of the parameters of matrices.
const (
	maxMatrixSize = 1 << 20
	maxMatrixBits = 1 << 16
)

// matrixRegistry holds the sets of matrices, by name.
var matrixRegistry = func() []*Set {
	all := slices.Concat(randomMatrixSets(), classicMatrixSets(), genGemvSets())
	for _, s := range all {
		s.DefaultN = 1000
		s.Params = append(s.Params, Param{Name: "m", Meaning: "rows; 0 is as many as columns", Default: "0", Kind: Int, Max: maxMatrixSize})
	}
	slices.SortStableFunc(all, func(a, b *Set) int { return cmp.Compare(a.Name, b.Name) })
	return all
}()

// MatrixSets lists the sets of matrices. The rows must not be modified.
func MatrixSets() []*Set { return slices.Clone(matrixRegistry) }

// MatrixNames lists the names of the sets of matrices, in the order of MatrixSets.
func MatrixNames() []string { return namesOf(matrixRegistry) }

// ParseMatrix reads "name" or "name:key=value,..." and checks it against the sets of matrices; the parameter n is the number of
// columns, m that of rows.
func ParseMatrix(text string) (Spec, error) {
	return parse(text, func(name string) (*Set, error) { return find(matrixRegistry, "matrix", name) })
}

// bitsParam is the parameter of sets that exist at any precision.
func bitsParam() Param {
	return Param{Name: "bits", Meaning: "bits of the numbers; 0 is float64", Default: "0", Kind: Int, Max: maxMatrixBits}
}

// matrixJob is one generation: the resolved parameters, and what the generator makes of them.
type matrixJob struct {
	job
	rows, terms int // of op(A)
	trans       bool
	bits        int
	data        *Matrix
}

// GenerateMatrix makes the data of a spec from ParseMatrix.
func GenerateMatrix(spec Spec, opt MatrixOptions) (*Matrix, error) {
	j := &matrixJob{job: job{spec: spec, seed: opt.Seed}, trans: opt.Trans}
	if spec.seed != nil {
		j.seed = *spec.seed
	}
	m, n, err := j.shape(opt)
	if err != nil {
		return nil, err
	}
	j.rows, j.terms = m, n
	if opt.Trans {
		j.rows, j.terms = n, m
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
	if err := checkMemory(int64(m) * int64(n) * numberBytes); err != nil {
		return nil, usagef("%s: m=%d, n=%d: %s", spec.set.Name, m, n, err)
	}
	j.data = &Matrix{Name: spec.set.Name, M: m, N: n, Trans: opt.Trans, Source: spec.set.Source}
	j.allocate()
	if err := spec.set.matrix(j); err != nil {
		return nil, usagef("%s: %s", spec.set.Name, err)
	}
	j.data.Params, j.data.Notes = j.matrixArgs(), j.notes
	j.data.hash()
	return j.data, nil
}

// shape resolves the numbers of rows and columns of A.
func (j *matrixJob) shape(opt MatrixOptions) (m, n int, err error) {
	name := j.spec.set.Name
	if n = cmp.Or(j.spec.n, opt.N, j.spec.set.DefaultN); n < 1 || n > maxMatrixSize {
		return 0, 0, usagef("%s: n=%d: want an integer from 1 to %d", name, n, maxMatrixSize)
	}
	if m = cmp.Or(j.int("m"), opt.M, n); m < 1 || m > maxMatrixSize {
		return 0, 0, usagef("%s: m=%d: want an integer from 1 to %d", name, m, maxMatrixSize)
	}
	return m, n, nil
}

func (j *matrixJob) allocate() {
	d := j.data
	if j.bits > 0 {
		d.WideA, d.WideX, d.WideY = make([]*big.Float, d.M*d.N), make([]*big.Float, j.terms), make([]*big.Float, j.rows)
		for i := range d.WideY {
			d.WideY[i] = j.wide()
		}
		return
	}
	d.A, d.X, d.Y = make([]float64, d.M*d.N), make([]float64, j.terms), make([]float64, j.rows)
}

// wide returns the number 0 at the precision of the job.
func (j *matrixJob) wide() *big.Float { return new(big.Float).SetPrec(uint(j.bits)) }

// place returns the index in A of element (i, k) of op(A).
func (j *matrixJob) place(i, k int) int {
	if j.trans {
		return i*j.data.M + k
	}
	return k*j.data.M + i
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

func (d *Matrix) hash() {
	d.SHA256A, d.SHA256X, d.SHA256Y = hashNumbers(d.A, d.WideA), hashNumbers(d.X, d.WideX), hashNumbers(d.Y, d.WideY)
}

func hashNumbers(xs []float64, wide []*big.Float) string {
	if wide == nil {
		return hashFloat64(xs)
	}
	h := sha256.New()
	var line []byte
	for _, x := range wide {
		line = append(x.Append(line[:0], 'p', 0), '\n')
		h.Write(line)
	}
	return hex.EncodeToString(h.Sum(nil))
}
