package datasets

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"mpbench/pkg/numbers"
)

// matrixMarket is the content of a .mtx file: a full matrix by columns, or the elements of a sparse one, in rows.
//
// The format is that of R. F. Boisvert, R. Pozo, K. A. Remington, "The Matrix Market Exchange Formats: Initial
// Design", NISTIR 5935 (1996): coordinate and array; real, integer and pattern; general, symmetric and
// skew-symmetric. Upper and lower case are the same in the first line, empty lines and lines that begin with % are
// skipped, elements come in any order. Numbers are those of text files, and kept as they are (see [Load]), integers
// always exactly. Elements with the same place are added exactly, elements 0 are kept; of a symmetric matrix those
// above the diagonal are an error.
type matrixMarket struct {
	content
	rows, cols int
	pattern    *numbers.Pattern // nil of a full matrix
}

// mtxReader reads a .mtx file.
type mtxReader struct {
	textReader
	array, pattern, integer bool
	symmetric, skew         bool
	begun, sized            bool // the first line, the line of sizes has been read

	rows, cols, want int     // want elements
	row, col         []int32 // of the elements, from 0
}

func readMTX(f *file, reading Reading) (*matrixMarket, error) {
	r := &mtxReader{textReader: newTextReader(f, reading)}
	if err := r.lines(r.parse); err != nil {
		return nil, err
	}
	switch {
	case !r.sized:
		return nil, r.errorf("ends before the line with the numbers of rows and columns")
	case r.count() < r.want:
		return nil, r.errorf("ends after %d of the %d elements that it claims", r.count(), r.want)
	}
	c, err := r.finish()
	if err != nil {
		return nil, err
	}
	c.description = "Matrix Market"
	m := &matrixMarket{content: c, rows: r.rows, cols: r.cols}
	if c.wide == nil {
		m.float64s, err = arrangeMTX(r, m, c.float64s, func(x float64) float64 { return -x }, addFloats)
		if errors.Is(err, errWide) {
			c.wide, err = rationalsOf(c.float64s), nil
			if c.wide == nil {
				return nil, r.errorf("holds an infinity or NaN beside elements of one place whose sum is no float64")
			}
		}
	}
	if c.wide != nil {
		m.float64s, m.notes = nil, c.notes
		m.wide, err = arrangeMTX(r, m, c.wide, func(x *big.Rat) *big.Rat { return new(big.Rat).Neg(x) }, addRationals)
	}
	if zeros := m.zeros(); err == nil && m.pattern != nil && zeros > 0 {
		m.notes = append(slices.Clip(m.notes), fmt.Sprintf("%d stored elements are 0", zeros))
	}
	return m, err
}

// rationalsOf returns the numbers as rationals, nil if there is an infinity or NaN.
func rationalsOf(x []float64) []*big.Rat {
	list := make([]*big.Rat, len(x))
	for i, v := range x {
		if list[i] = new(big.Rat).SetFloat64(v); list[i] == nil {
			return nil
		}
	}
	return list
}

// zeros counts the elements that are 0; those that are missing, of a full matrix of rationals, become 0.
func (m *matrixMarket) zeros() (n int) {
	for _, x := range m.float64s {
		if x == 0 {
			n++
		}
	}
	for i, x := range m.wide {
		if x == nil {
			x = new(big.Rat)
			m.wide[i] = x
		}
		if x.Sign() == 0 {
			n++
		}
	}
	return n
}

func (r *mtxReader) count() int { return len(r.terms) }

// parse takes a line.
func (r *mtxReader) parse(line []byte) error {
	switch {
	case !r.begun:
		r.begun = true
		return r.header(string(line))
	case line[0] == '%' || len(bytes.TrimSpace(line)) == 0:
		return nil
	}
	var list [4]field
	fields, err := r.fields(line, list[:0])
	switch {
	case err != nil:
		return err
	case !r.sized:
		return r.sizes(fields)
	case r.count() == r.want:
		return r.fail(fields[0].column, "more than the %d elements that the file claims", r.want)
	case r.array:
		return r.element(fields)
	}
	return r.entry(fields)
}

// field is a part of a line between white space.
type field struct {
	text   []byte
	column int // in bytes, from 1
}

// fields returns the fields of a line, of which there are at most three.
func (r *mtxReader) fields(line []byte, list []field) ([]field, error) {
	for i := 0; i < len(line); {
		if isSpace(line[i]) {
			i++
			continue
		}
		end := i
		for end < len(line) && !isSpace(line[end]) {
			end++
		}
		if len(list) == 3 {
			return nil, r.fail(i+1, "%s after the third number of a line", quote(string(line[i:end])))
		}
		list = append(list, field{line[i:end], i + 1})
		i = end
	}
	return list, nil
}

// header takes the first line.
func (r *mtxReader) header(line string) error {
	words := strings.Fields(strings.ToLower(line))
	if len(words) == 0 || words[0] != "%%matrixmarket" {
		return r.fail(1, "is no Matrix Market file: the first line does not begin with %%%%MatrixMarket")
	}
	if len(words) != 5 {
		return r.fail(1, "the first line has %d words; want 5: %%%%MatrixMarket matrix coordinate real general", len(words))
	}
	for i, want := range [][]string{
		{"matrix"}, {"coordinate", "array"}, {"real", "double", "integer", "pattern"},
		{"general", "symmetric", "skew-symmetric"},
	} {
		if word := words[i+1]; !slices.Contains(want, word) {
			return r.fail(1, "%s in the first line; want %s", quote(word), strings.Join(want, ", "))
		}
	}
	r.array, r.pattern, r.integer = words[2] == "array", words[3] == "pattern", words[3] == "integer"
	if r.integer {
		r.reading = Exact
	}
	r.symmetric, r.skew = words[4] != "general", words[4] == "skew-symmetric"
	switch {
	case r.array && r.pattern:
		return r.fail(1, "an array has no pattern; want real or integer")
	case r.pattern && r.skew:
		return r.fail(1, "a pattern is not skew-symmetric; want general or symmetric")
	}
	return nil
}

// sizes takes the line with the numbers of rows, of columns and, of coordinates, of elements.
func (r *mtxReader) sizes(fields []field) error {
	names := []string{"rows", "columns", "elements"}
	if r.array {
		names = names[:2]
	}
	if len(fields) != len(names) {
		return r.fail(fields[0].column, "%d numbers; want those of %s", len(fields), strings.Join(names, ", "))
	}
	var n [3]int
	for i, f := range fields {
		v, err := strconv.ParseUint(string(f.text), 10, 62)
		if err != nil || i < 2 && v > numbers.MostColumns {
			most := "2^62"
			if i < 2 {
				most = "2^31 - 1"
			}
			return r.fail(f.column, "%s %s; want an integer from 0 to %s", quote(string(f.text)), names[i], most)
		}
		n[i] = int(v)
	}
	r.rows, r.cols, r.want, r.sized = n[0], n[1], n[2], true
	if r.symmetric && r.rows != r.cols {
		return r.fail(fields[0].column, "%d rows and %d columns; a symmetric matrix is square", r.rows, r.cols)
	}
	least, bytes := int64(4), int64(8*r.rows) // "1 1\n"
	switch {
	case r.array && r.skew:
		r.want = r.rows * max(0, r.rows-1) / 2
	case r.array && r.symmetric:
		r.want = r.rows * (r.rows + 1) / 2
	case r.array:
		r.want = r.rows * r.cols // below 2^62
	}
	if r.array {
		least, bytes = 2, 0
	}
	if int64(r.want) > (r.size+1)/least {
		return r.fail(fields[0].column, "claims %d elements, more than a file of %d bytes can hold", r.want, r.size)
	}
	if err := CheckMemory(bytes + 64*int64(r.want)); err != nil {
		return r.fail(fields[0].column, "%v", err)
	}
	r.terms = make([]float64, 0, r.want)
	return nil
}

// element takes a line of an array: one number.
func (r *mtxReader) element(fields []field) error {
	if len(fields) != 1 {
		return r.fail(fields[1].column, "%d numbers; an array has one in a line", len(fields))
	}
	i, j := r.next()
	r.row, r.col = append(r.row, int32(i)), append(r.col, int32(j))
	return r.value(fields[0])
}

// next returns the place of the next number of an array, by columns; of a symmetric one, of its lower triangle.
func (r *mtxReader) next() (i, j int) {
	k := len(r.row)
	if k == 0 {
		if r.skew {
			return 1, 0
		}
		return 0, 0
	}
	i, j = int(r.row[k-1])+1, int(r.col[k-1])
	if i < r.rows {
		return i, j
	}
	j++
	switch {
	case r.skew:
		return j + 1, j
	case r.symmetric:
		return j, j
	}
	return 0, j
}

// entry takes a line of coordinates: row, column and, unless it is 1, the number.
func (r *mtxReader) entry(fields []field) error {
	want, text := 3, "row, column and a number"
	if r.pattern {
		want, text = 2, "row and column"
	}
	if len(fields) != want {
		return r.fail(fields[0].column, "%d numbers; want %s", len(fields), text)
	}
	i, err := r.place(fields[0], "row", r.rows)
	if err != nil {
		return err
	}
	j, err := r.place(fields[1], "column", r.cols)
	switch {
	case err != nil:
		return err
	case r.symmetric && i < j:
		return r.fail(fields[0].column, "element (%d, %d) above the diagonal of a symmetric matrix", i+1, j+1)
	case r.skew && i == j:
		return r.fail(fields[0].column, "element (%d, %d) on the diagonal of a skew-symmetric matrix", i+1, j+1)
	}
	r.row, r.col = append(r.row, i), append(r.col, j)
	if r.pattern {
		r.terms = append(r.terms, 1)
		return nil
	}
	return r.value(fields[2])
}

func (r *mtxReader) place(f field, what string, n int) (int32, error) {
	v, err := strconv.ParseUint(string(f.text), 10, 32)
	if err != nil || v < 1 || v > uint64(n) {
		return 0, r.fail(f.column, "%s %s; want an integer from 1 to %d", what, quote(string(f.text)), n)
	}
	return int32(v - 1), nil
}

func (r *mtxReader) value(f field) error {
	if r.integer {
		digits := strings.TrimPrefix(strings.TrimPrefix(string(f.text), "-"), "+")
		if digits == "" || strings.Trim(digits, "0123456789") != "" {
			return r.fail(f.column, "%s is no integer, which the first line promises", quote(string(f.text)))
		}
	}
	return r.take(f.text, f.column)
}

var errWide = errors.New("datasets: a sum is no float64")

func addRationals(x, y *big.Rat) (*big.Rat, error) { return new(big.Rat).Add(x, y), nil }

// addFloats returns x + y if that is a float64.
func addFloats(x, y float64) (float64, error) {
	s := x + y
	if x-x != 0 || y-y != 0 {
		return s, nil // as IEEE 754 has it
	}
	if math.IsInf(s, 0) {
		return 0, errWide
	}
	t := s - x
	if float64(x-(s-t))+float64(y-t) != 0 {
		return 0, errWide
	}
	return s, nil
}

// arrangeMTX sorts the elements, completes symmetric matrices and adds what is in one place, of full matrices by
// columns and of sparse ones by rows, whose pattern it sets.
func arrangeMTX[T any](
	r *mtxReader, m *matrixMarket, values []T, negative func(T) T, add func(x, y T) (T, error),
) ([]T, error) {
	rows, cols := r.row, r.col
	if r.symmetric {
		for k := range values {
			if i, j := r.row[k], r.col[k]; i != j {
				v := values[k]
				if r.skew {
					v = negative(v)
				}
				rows, cols, values = append(rows, j), append(cols, i), append(values, v)
			}
		}
	}
	m.pattern = nil
	if r.array {
		return fullMTX(r, values, rows, cols)
	}
	p := &numbers.Pattern{Start: make([]int, r.rows+1)}
	order := sortPlaces(p.Start, rows, cols)
	list, begin := make([]T, 0, len(values)), 0
	for i := range r.rows {
		end := p.Start[i+1]
		first := len(list)
		for _, k := range order[begin:end] {
			if last := len(list) - 1; last >= first && p.Column[last] == cols[k] {
				sum, err := add(list[last], values[k])
				if err != nil {
					return nil, err
				}
				list[last] = sum
				continue
			}
			list, p.Column = append(list, values[k]), append(p.Column, cols[k])
		}
		begin, p.Start[i+1] = end, len(list)
	}
	if added := len(values) - len(list); added > 0 {
		m.notes = append(slices.Clip(m.notes), fmt.Sprintf("%d elements are added to others in the same place", added))
	}
	m.pattern = p
	return list, nil
}

// sortPlaces returns the order of places by row, column, and their own order; rows begin at start then.
func sortPlaces(start []int, rows, cols []int32) []int {
	for _, i := range rows {
		start[i+1]++
	}
	for i := 1; i < len(start); i++ {
		start[i] += start[i-1]
	}
	next, order := slices.Clone(start), make([]int, len(rows))
	for k, i := range rows {
		order[next[i]] = k
		next[i]++
	}
	for i := range len(start) - 1 {
		slices.SortStableFunc(order[start[i]:start[i+1]], func(a, b int) int { return int(cols[a]) - int(cols[b]) })
	}
	return order
}

// fullMTX returns a full matrix by columns.
func fullMTX[T any](r *mtxReader, values []T, rows, cols []int32) ([]T, error) {
	if !r.symmetric {
		return values, nil
	}
	list := make([]T, r.rows*r.cols)
	for k, v := range values {
		list[int(cols[k])*r.rows+int(rows[k])] = v
	}
	return list, nil
}
