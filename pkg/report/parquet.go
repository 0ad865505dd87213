package report

import (
	"errors"
	"io"
	"maps"
	"math"
	"reflect"
	"strconv"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"

	"mpbench/pkg/record"
)

// Parquet writes the columns of CSV with their types, one row a record, or a sample if opts has it so; what is not
// known is null. Numbers of any size become float64: those that are too small for it its least number, never 0, those
// that are too large infinite. Values and exact results stay texts.
func Parquet(w io.Writer, run *record.Run, opts Options) error {
	types := maps.Clone(fieldTypes)
	types[kindDecimal] = types[kindNumber]
	of, rows := flatten(run, dataFields(run), opts.Samples).structs("parquet", types)
	out := parquet.NewWriter(w, parquet.SchemaOf(reflect.Zero(of).Interface()),
		parquet.Compression(&zstd.Codec{}), parquet.CreatedBy("mpbench", "", ""))
	for _, row := range rows {
		if err := out.Write(row); err != nil {
			return err
		}
	}
	return out.Close()
}

// nearest reads a number of any size as a float64, of which only 0 is 0.
func nearest(s string) (float64, error) {
	x, err := strconv.ParseFloat(s, 64)
	if errors.Is(err, strconv.ErrRange) {
		err = nil // x is infinite
	}
	d, err2 := record.ParseDecimal(s)
	if x == 0 && err2 == nil && !d.IsZero() {
		x = math.SmallestNonzeroFloat64
		if d.Neg {
			x = -x
		}
	}
	return x, errors.Join(err, err2)
}
