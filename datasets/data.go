package datasets

import (
	"bufio"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"mpbench/pkg/exact"
	"mpbench/pkg/numbers"
	"mpbench/pkg/op"
	"mpbench/pkg/record"
)

// Data is arrays of numbers, generated or read from files.
type Data struct {
	Name   string // of the set, or the base name of the file
	Params []Arg  // all but n and m, in the registry's order, in canonical form; with the seed where it matters
	Extents
	Lower bool // of a symmetric or triangular matrix the lower triangle is read
	Unit  bool // the diagonal of a triangular matrix is ones

	A, X, Y Numbers          // matrices by columns: element (i, j) of A is number j*M + i
	Pattern *numbers.Pattern // of a sparse A: its stored elements, row by row

	Source string       // where the definition or the data come from
	Known  *exact.Value // the exact sum where the definition gives it without summing, else nil
	Notes  []string     // what the generator has to say of these numbers, such as the condition number it reached

	Skipped []string // lines of files that were skipped as headers: `x.csv: "price"`

	fromFile bool
}

// Extents is how large the arrays are.
type Extents struct {
	M, N   int  // of the matrix; without one, N terms
	Trans  bool // op(A) is the transpose: x has M elements and y has N
	K      int  // columns of op(x) and of y where they are matrices, 0 for vectors
	TransX bool // op(x) is the transpose of x
}

// Product returns the numbers of rows of op(A), and of the terms of each.
func (e Extents) Product() (rows, terms int) {
	if e.Trans {
		return e.N, e.M
	}
	return e.M, e.N
}

// Layout returns that of an array of an operation on matrices: of a vector with an increment, of a matrix by columns
// with a leading dimension, 0 for its rows.
func (e Extents) Layout(a op.Operand, stride int) numbers.Layout {
	rows, terms := e.Product()
	m, n := terms, max(1, e.K)
	switch {
	case a.Name == "a":
		m, n = e.M, e.N
	case a.Name == "y" || a.Name == "c":
		m = rows
	case e.TransX:
		m, n = n, m
	}
	if a.Kind == op.Vector {
		return numbers.Strided(m, stride)
	}
	return numbers.ColMajor(m, n, cmp.Or(stride, max(1, m)))
}

// Numbers is one array; the zero value is none.
//
// SHA256 is, in hexadecimal, the hash of the numbers in order: of float64 of the 64-bit patterns, little-endian; of
// generated wider ones of the lines "0x.8ap+3\n" (big.Float's format 'p'); of decimals of the lines
// "numerator/denominator\n", in lowest terms and lower-case hexadecimal. Of a sparse matrix it is the hash of the row
// pointers (64 bits) and columns (32 bits), little-endian, and of that of the numbers, in hexadecimal.
type Numbers struct {
	numbers.Source
	SHA256 string
}

func float64s(x []float64) Numbers { return Numbers{numbers.Float64s(x), hashFloat64(x)} }

// Float64 returns the numbers if all of them are float64.
func (x Numbers) Float64() ([]float64, bool) {
	list, ok := x.Source.(numbers.Float64s)
	return list, ok
}

// Spec returns the spec that makes these numbers again, with all parameters: "zhuhayes3:delta=2000,seed=1,n=1000". For
// a file it is the file's name.
func (d *Data) Spec() string {
	if d.fromFile {
		return d.Name
	}
	args := slices.Clone(d.Params)
	if d.A.Source != nil && d.Pattern == nil {
		args = append(args, Arg{"m", strconv.Itoa(d.M)})
	}
	if d.K != 0 {
		args = append(args, Arg{"k", strconv.Itoa(d.K)})
	}
	return joinSpec(d.Name, append(args, Arg{"n", strconv.Itoa(d.N)}))
}

// Record describes the data for records; hashes of several arrays are separated by commas, "" where there is none.
func (d *Data) Record() record.Dataset {
	params := map[string]string{}
	for _, a := range d.Params {
		params[a.Name] = a.Value
	}
	arrays := []Numbers{d.X}
	if d.A.Source != nil {
		arrays = []Numbers{d.A, d.X, d.Y}
	} else if d.Y.Source != nil {
		arrays = append(arrays, d.Y)
	}
	var hashes []string
	for _, x := range arrays {
		hashes = append(hashes, x.SHA256)
	}
	return record.Dataset{Name: d.Name, N: d.N, Params: params, SHA256: strings.Join(hashes, ",")}
}

// Problem returns the problem of an operation on the arrays.
func (d *Data) Problem(o *op.Operation) *op.Problem {
	p := d.Arrays(o)
	p.Store(!d.Lower, d.Unit)
	return p
}

// Arrays returns the problem with the matrix as it is, before it is taken for a symmetric or triangular one.
func (d *Data) Arrays(o *op.Operation) *op.Problem {
	p := &op.Problem{Op: o, Trans: d.Trans, TransX: d.TransX}
	for _, a := range o.Arrays() {
		x := map[string]Numbers{"a": d.A, "x": d.X, "b": d.X, "y": d.Y, "c": d.Y}[a.Name]
		switch {
		case x.Source == nil:
		case a.Kind == op.Vector:
			*p.Operand(a.Name) = numbers.Vector(x.Source)
		case d.Pattern != nil:
			*p.Operand(a.Name) = numbers.Sparse(x.Source, d.N, d.Pattern)
		default:
			*p.Operand(a.Name) = numbers.Array{Source: x.Source, Layout: d.Layout(a, 0)}
		}
	}
	return p
}

// hashFloat64 hashes the bit patterns of xs, little-endian.
func hashFloat64(xs []float64) string {
	h := sha256.New()
	addToHash(h, xs)
	return hex.EncodeToString(h.Sum(nil))
}

// hashPattern returns the hash of a sparse matrix from that of its numbers.
func hashPattern(p *numbers.Pattern, values string) string {
	h := sha256.New()
	w := bufio.NewWriter(h) // a hash never fails to write
	var b [8]byte
	for _, s := range p.Start {
		w.Write(binary.LittleEndian.AppendUint64(b[:0], uint64(s)))
	}
	for _, c := range p.Column {
		w.Write(binary.LittleEndian.AppendUint32(b[:0], uint32(c)))
	}
	w.WriteString(values)
	w.Flush()
	return hex.EncodeToString(h.Sum(nil))
}

func hashRationals(xs []*big.Rat) string {
	return hashLines(xs, func(b []byte, x *big.Rat) []byte {
		return x.Denom().Append(append(x.Num().Append(b, 16), '/'), 16)
	})
}

func hashBigs(xs []*big.Float) string {
	return hashLines(xs, func(b []byte, x *big.Float) []byte { return x.Append(b, 'p', 0) })
}

// hashLines hashes a line for each number, which appendText writes.
func hashLines[T any](xs []T, appendText func([]byte, T) []byte) string {
	h := sha256.New()
	w := bufio.NewWriter(h) // a hash never fails to write
	var line []byte
	for _, x := range xs {
		line = append(appendText(line[:0], x), '\n')
		w.Write(line)
	}
	w.Flush()
	return hex.EncodeToString(h.Sum(nil))
}
