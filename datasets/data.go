package datasets

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"math/big"
	"slices"
	"strconv"

	"mpbench/pkg/exact"
)

// Data is a set of terms to be summed, generated or read from a file. Exactly one of Float64 and Wide is used.
type Data struct {
	Name   string // of the set, or the base name of the file
	Params []Arg  // all parameters but n, in the registry's order, in canonical form; with the seed where it matters
	N      int    // number of terms

	Float64 []float64
	Wide    []*big.Rat // at least one term is no float64, and none is infinite or NaN

	// SHA256 is, in hexadecimal, the hash of the terms in order: for Float64 of the 64-bit patterns, little-endian; for
	// Wide of the lines "numerator/denominator\n", in lowest terms and lower-case hexadecimal.
	SHA256 string
	Source string // where the definition or the data come from

	Known *exact.Value // the exact sum where the definition gives it without summing, else nil
	Notes []string     // what the generator has to say of these terms, such as the condition number it reached

	fromFile bool
}

// Spec returns the spec that makes these terms again, with all parameters: "zhuhayes3:delta=2000,seed=1,n=1000". For a
// file it is the file's name.
func (d *Data) Spec() string {
	if d.fromFile {
		return d.Name
	}
	return joinSpec(d.Name, append(slices.Clone(d.Params), Arg{"n", strconv.Itoa(d.N)}))
}

// Summary returns the exact sum of the terms and of their magnitudes.
func (d *Data) Summary() exact.Summary {
	if d.Wide != nil {
		return exact.SumOfRats(d.Wide)
	}
	return exact.SumOf(d.Float64)
}

// hashFloat64 hashes the bit patterns of xs, little-endian.
func hashFloat64(xs []float64) string {
	h := NewHash()
	h.Add(xs)
	return h.SHA256()
}

// hashWide hashes the text form of xs.
func hashWide(xs []*big.Rat) string {
	h := sha256.New()
	w := bufio.NewWriter(h) // a hash never fails to write
	var line []byte
	for _, x := range xs {
		line = x.Num().Append(line[:0], 16)
		line = append(line, '/')
		line = x.Denom().Append(line, 16)
		w.Write(append(line, '\n'))
	}
	w.Flush()
	return hex.EncodeToString(h.Sum(nil))
}
