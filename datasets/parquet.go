package datasets

import (
	"errors"
	"io"
	"strings"

	"github.com/parquet-go/parquet-go"
	parquetformat "github.com/parquet-go/parquet-go/format"

	"mpbench/internal/suggest"
)

// readParquet reads the column of a Parquet file that its part names, or the only one.
func readParquet(f *file) (content, error) {
	s, n, err := openParquet(f, f.Reader.(io.ReaderAt), io.NopCloser(nil))
	if err != nil {
		return content{}, err
	}
	defer s.Close()
	if err := CheckMemory(8 * int64(n)); err != nil {
		return content{}, f.errorf("%s", err)
	}
	c := content{float64s: make([]float64, n), description: "Parquet column " + f.part}
	return c, s.readRun(c.float64s, 0)
}

// openParquet opens a column of a Parquet file, of which the pages are decoded as they are read.
func openParquet(f *file, in io.ReaderAt, closer io.Closer) (s *sequential, n int, err error) {
	defer f.recovered(&err)
	opened, err := parquet.OpenFile(in, f.size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return nil, 0, f.errorf("is no Parquet file: %s", plainError(err))
	}
	column, err := f.column(opened.Root())
	if err != nil {
		return nil, 0, err
	}
	if n = int(opened.NumRows()); n < 1 {
		return nil, 0, f.errorf("holds no numbers")
	}
	return &sequential{n: n, Closer: closer, open: func(from int) (sequence, int, error) {
		p := &parquetNumbers{file: f, pages: column.Pages(), name: strings.Join(column.Path(), ".")}
		if err := p.seek(from); err != nil {
			return nil, 0, errors.Join(err, p.Close())
		}
		return p, from, nil
	}}, n, nil
}

// recovered makes a panic of the library, which a damaged file can cause, an error.
func (f *file) recovered(err *error) {
	if r := recover(); r != nil {
		*err = f.errorf("is a damaged Parquet file: %v", r)
	}
}

// column finds the column of numbers that the part names.
func (f *file) column(root *parquet.Column) (*parquet.Column, error) {
	var leaves []*parquet.Column
	var collect func(c *parquet.Column)
	collect = func(c *parquet.Column) {
		if c.Leaf() {
			leaves = append(leaves, c)
		}
		for _, inner := range c.Columns() {
			collect(inner)
		}
	}
	collect(root)
	var names []string
	for _, c := range leaves {
		names = append(names, strings.Join(c.Path(), "."))
	}
	for i, c := range leaves {
		if names[i] == f.part || f.part == "" && len(leaves) == 1 {
			return c, f.checkColumn(c, names[i])
		}
	}
	if f.part == "" && len(leaves) > 0 {
		return nil, f.errorf("holds %d columns; name one, as %s:%s (of %s)", len(names), f.name, names[0],
			strings.Join(names, " "))
	}
	return nil, f.errorf("%s", suggest.Unknown("column", f.part, names))
}

// checkColumn checks that a column is of numbers that are float64, one in each row.
func (f *file) checkColumn(c *parquet.Column, name string) error {
	logical := c.Type().LogicalType()
	plain, signed := logical == nil && c.Type().ConvertedType() == nil, false
	if logical != nil {
		integer, ok := logical.Value.(*parquetformat.IntType)
		signed = ok && integer.IsSigned
	}
	switch kind := c.Type().Kind(); {
	case c.MaxRepetitionLevel() > 0:
		return f.errorf("column %s has lists; want one number in each row", name)
	case plain && (kind == parquet.Double || kind == parquet.Float || kind == parquet.Int32):
	case signed && kind == parquet.Int32:
	default:
		return f.errorf("column %s is of %v; want floats, or integers with a sign of at most 32 bits", name, c.Type())
	}
	return nil
}

// parquetNumbers is the numbers of a column that have not been read yet.
type parquetNumbers struct {
	*file
	name   string
	pages  parquet.Pages
	page   parquet.Page // that values are of
	values parquet.ValueReader
	buffer [1024]parquet.Value
}

func (p *parquetNumbers) seek(row int) (err error) {
	defer p.recovered(&err)
	if err := p.pages.SeekToRow(int64(row)); err != nil {
		return p.errorf("%s", plainError(err))
	}
	return nil
}

func (p *parquetNumbers) Close() error {
	parquet.Release(p.page)
	return p.pages.Close()
}

func (p *parquetNumbers) next(x []float64) (err error) {
	defer p.recovered(&err)
	for len(x) > 0 {
		if p.values == nil {
			if err := p.nextPage(); err != nil {
				return err
			}
		}
		n, err := p.decode(x)
		if x = x[n:]; errors.Is(err, io.EOF) {
			p.values = nil
		} else if err != nil {
			return p.errorf("column %s: %s", p.name, plainError(err))
		}
	}
	return nil
}

func (p *parquetNumbers) nextPage() error {
	parquet.Release(p.page)
	page, err := p.pages.ReadPage()
	if err != nil {
		return p.errorf("column %s: %s", p.name, plainError(err))
	}
	if p.page = page; page.NumNulls() > 0 {
		return p.errorf("column %s has rows without a number", p.name)
	}
	p.values = page.Values()
	return nil
}

// decode sets x to values of the page as far as there are some, and returns how many; io.EOF at the page's end.
func (p *parquetNumbers) decode(x []float64) (int, error) {
	if doubles, ok := p.values.(parquet.DoubleReader); ok {
		return doubles.ReadDoubles(x)
	}
	n, err := p.values.ReadValues(p.buffer[:min(len(x), len(p.buffer))])
	for i, v := range p.buffer[:n] {
		switch v.Kind() {
		case parquet.Double:
			x[i] = v.Double()
		case parquet.Float:
			x[i] = float64(v.Float())
		default:
			x[i] = float64(v.Int32())
		}
	}
	return n, err
}
