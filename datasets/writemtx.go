package datasets

import (
	"bufio"
	"fmt"
	"io"
	"strconv"

	"mpbench/pkg/numbers"
)

// WriteMatrixMarket writes a matrix in the Matrix Market format, real and general: a sparse one as coordinates, row by
// row, a full one as an array. Binary64 numbers have as many digits as it takes to read the same number again; others
// all of theirs, to be read exactly ([Exact]), and one that has no end, such as 1/3, is an error.
func WriteMatrixMarket(w io.Writer, a numbers.Array) error {
	b := bufio.NewWriter(w)
	kind, size := "array", fmt.Sprintf("%d %d", a.Rows, a.Cols)
	if a.Pattern != nil {
		kind, size = "coordinate", fmt.Sprintf("%s %d", size, a.Len())
	}
	fmt.Fprintf(b, "%%%%MatrixMarket matrix %s real general\n%s\n", kind, size) // b keeps the first error for Flush
	for i := range a.Rows {
		if a.Pattern == nil {
			break
		}
		row := a.Row(i)
		for k, j := range a.Pattern.Row(i) {
			text, err := decimalText(row, k, 0)
			if err != nil {
				return err
			}
			fmt.Fprintf(b, "%d %d %s\n", i+1, j+1, text)
		}
	}
	for j := 0; j < a.Cols && a.Pattern == nil; j++ {
		for i := range a.Rows {
			text, err := decimalText(a, i, j)
			if err != nil {
				return err
			}
			fmt.Fprintln(b, text)
		}
	}
	return b.Flush()
}

// decimalText writes element (i, j) of a full matrix.
func decimalText(a numbers.Array, i, j int) (string, error) {
	v := numbers.At(a.Source, a.Index(i, j))
	if a.Binary64() || !v.IsFinite() {
		return strconv.FormatFloat(v.Float64(), 'g', -1, 64), nil
	}
	digits, ends := v.Number().FloatPrec()
	if !ends {
		return "", inputf("%s is no decimal number with an end, which the Matrix Market format has alone", v.Number())
	}
	return v.Number().FloatString(digits), nil
}
