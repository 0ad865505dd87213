package datasets

import (
	"bufio"
	"crypto/sha256"
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
	M, N   int    // of the matrix; without one, N terms
	Trans  bool   // op(A) is the transpose: x has M elements and y has N

	A, X, Y Numbers // A by columns: element (i, j) is number j*M + i

	Source string       // where the definition or the data come from
	Known  *exact.Value // the exact sum where the definition gives it without summing, else nil
	Notes  []string     // what the generator has to say of these numbers, such as the condition number it reached

	fromFile bool
}

// Numbers is one array; the zero value is none.
//
// SHA256 is, in hexadecimal, the hash of the numbers in order: of float64 of the 64-bit patterns, little-endian; of
// generated wider ones of the lines "0x.8ap+3\n" (big.Float's format 'p'); of decimals of the lines
// "numerator/denominator\n", in lowest terms and lower-case hexadecimal.
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
	if d.A.Source != nil {
		args = append(args, Arg{"m", strconv.Itoa(d.M)})
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
	p := &op.Problem{Op: o, Trans: d.Trans}
	if d.A.Source != nil {
		p.A = numbers.Array{Source: d.A.Source, Layout: numbers.ColMajor(d.M, d.N, max(1, d.M))}
	}
	if d.X.Source != nil {
		p.X = numbers.Vector(d.X.Source)
	}
	if d.Y.Source != nil {
		p.Y = numbers.Vector(d.Y.Source)
	}
	return p
}

// hashFloat64 hashes the bit patterns of xs, little-endian.
func hashFloat64(xs []float64) string {
	h := sha256.New()
	addToHash(h, xs)
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
