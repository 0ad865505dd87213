package datasets

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"strconv"
	"strings"

	"mpbench/pkg/numbers"
)

// readText reads the numbers of a .txt file.
//
// A line holds any number of numbers, separated by white space or by one comma or semicolon with white space around
// it. A separator must follow a number; one at the end of a line is allowed. What follows a # is a comment. Lines end
// in LF or CR LF. The decimal point is a point; a comma always separates. See the package comment for what is kept
// exactly.
func readText(f *file, reading Reading) (content, error) {
	t := newTextReader(f, reading)
	return t.read(t.parse)
}

func newTextReader(f *file, reading Reading) textReader {
	return textReader{file: f, reading: reading, budget: 64<<20 + 64*f.size}
}

// read gives every line to parse, and returns what it took.
func (t *textReader) read(parse func(line []byte) error) (content, error) {
	t.short = t.reading == Exact
	if err := t.lines(parse); err != nil {
		return content{}, err
	}
	if len(t.terms) == 0 {
		return content{}, t.errorf("holds no numbers")
	}
	return t.finish()
}

// lines gives every line to parse.
func (t *textReader) lines(parse func(line []byte) error) error {
	in := bufio.NewReaderSize(t.file, 1<<16)
	for {
		line, err := t.readLine(in)
		if err != nil && !errors.Is(err, io.EOF) {
			return t.errorf("cannot read line %d: %s", t.line+1, err)
		}
		if len(line) > 0 {
			t.line++
			if t.line == 1 {
				line = bytes.TrimPrefix(line, []byte("\ufeff")) // byte order mark
				if bytes.HasPrefix(line, []byte("\xff\xfe")) || bytes.HasPrefix(line, []byte("\xfe\xff")) {
					return t.fail(1, "the text is in UTF-16; save it as UTF-8")
				}
			}
			if err := parse(line); err != nil {
				return err
			}
		}
		if err != nil {
			break
		}
	}
	return nil
}

type textReader struct {
	*file
	reading Reading
	long    []byte // memory for lines that are longer than the buffer
	line    int    // number of the current line, from 1

	terms    []float64
	short    bool     // all numbers so far are decimals of few digits
	decimals decimals // of the terms until one is not
	wide     []wideTerm
	wides    int      // how many numbers are no float64
	first    position // of the first of them
	special  position // of the first infinity or NaN
	budget   int64    // bytes that numbers kept exactly may still take
}

// readLine returns the next line with its end; io.EOF comes with the last one. The line is valid until the next call.
func (t *textReader) readLine(in *bufio.Reader) ([]byte, error) {
	line, err := in.ReadSlice('\n')
	if !errors.Is(err, bufio.ErrBufferFull) {
		return line, err
	}
	t.long = append(t.long[:0], line...)
	for errors.Is(err, bufio.ErrBufferFull) {
		line, err = in.ReadSlice('\n')
		t.long = append(t.long, line...)
	}
	return t.long, err
}

// wideTerm is a number that is no float64, and none of the decimals; its place among the terms holds 0.
type wideTerm struct {
	index int
	value *big.Rat
}

// position is where a number stands; text is the number.
type position struct {
	line, column int
	text         string
}

// fail makes an ErrInput that names file, line and column (in bytes, from 1).
func (t *textReader) fail(column int, format string, args ...any) error {
	return inputf("%s:%d:%d: %s", t.name, t.line, column, fmt.Sprintf(format, args...))
}

func (t *textReader) parse(line []byte) error {
	afterNumber := false
	for i := 0; i < len(line); {
		switch c := line[i]; {
		case isSpace(c):
			i++
		case c == '#':
			return nil
		case c == ',' || c == ';':
			if !afterNumber {
				return t.fail(i+1, "no number before %q", c)
			}
			afterNumber = false
			i++
		default:
			end := i + tokenLength(line[i:])
			if err := t.take(line[i:end], i+1); err != nil {
				return err
			}
			afterNumber = true
			i = end
		}
	}
	return nil
}

func isSpace(c byte) bool { return c == ' ' || '\t' <= c && c <= '\r' }

// tokenLength returns how far the number at the start of line reaches.
func tokenLength(line []byte) int {
	for i, c := range line {
		if isSpace(c) || c == ',' || c == ';' || c == '#' {
			return i
		}
	}
	return len(line)
}

func (t *textReader) take(token []byte, column int) error {
	if len(token) > maxNumberLength {
		return t.fail(column, "%s is longer than %d characters", quote(string(token[:32])), maxNumberLength)
	}
	text := string(token)
	n, ok := outline(text)
	if !ok {
		return t.fail(column, "%s is not a number (want decimal such as 1.5e-3 or hexadecimal such as 0x1.8p3)", quote(text))
	}
	if too := n.limits(); too != "" {
		return t.fail(column, "%s %s", quote(text), too)
	}
	if d, ok := n.decimal(text); ok && t.short {
		t.takeDecimal(d, text, column)
		return nil
	}
	t.short = false
	x, r := n.number(text, t.reading)
	if n.special && t.special.line == 0 {
		t.special = position{t.line, column, text}
	}
	if r != nil {
		if t.budget -= ratBytes(r); t.budget < 0 {
			return t.fail(column, "the numbers kept exactly need too much memory, more than 64 times the size of the file")
		}
		t.noteWide(text, column)
		t.wide = append(t.wide, wideTerm{len(t.terms), r})
	}
	t.terms = append(t.terms, x)
	return nil
}

func (t *textReader) takeDecimal(d shortDecimal, text string, column int) {
	x, ok := d.float64()
	if !ok {
		t.noteWide(text, column)
	}
	if x == 0 && text[0] == '-' {
		x = math.Copysign(0, -1)
	}
	t.terms, t.decimals = append(t.terms, x), append(t.decimals, d)
}

// noteWide counts a number that is no float64.
func (t *textReader) noteWide(text string, column int) {
	if t.wides++; t.wides == 1 {
		t.first = position{t.line, column, text}
	}
}

func ratBytes(r *big.Rat) int64 {
	return int64(r.Num().BitLen()+r.Denom().BitLen())/8 + 96
}

// finish makes the terms rationals if one of them has to be.
func (t *textReader) finish() (content, error) {
	if t.wides == 0 {
		return content{float64s: t.terms, description: "text"}, nil
	}
	c := content{description: "text", notes: []string{
		fmt.Sprintf("%d of %d numbers are no float64 and are kept exactly", t.wides, len(t.terms)),
	}}
	if source, ok := t.decimals.source(); ok && t.short {
		c.short = Numbers{source, t.decimals.hash()}
		return c, nil
	}
	if t.special.line != 0 {
		return content{}, inputf("%s:%d:%d: %s cannot stand beside numbers that are kept exactly (%s in line %d is no "+
			"float64)",
			t.name, t.special.line, t.special.column, t.special.text, quote(t.first.text), t.first.line)
	}
	c.wide = make([]*big.Rat, len(t.terms))
	for i, d := range t.decimals {
		c.wide[i] = d.rat()
	}
	for _, w := range t.wide {
		c.wide[w.index] = w.value
	}
	for i, x := range t.terms {
		if c.wide[i] == nil {
			c.wide[i] = new(big.Rat).SetFloat64(x)
			if t.budget -= ratBytes(c.wide[i]); t.budget < 0 {
				return content{}, t.errorf("the numbers need too much memory as rationals, more than 64 times the size of " +
					"the file")
			}
		}
	}
	return c, nil
}

// Limits on one number in a text file. They keep the cost of a file in proportion to its size; the exponents go far
// beyond every format in use (binary128 ends at 10^4932).
const (
	maxNumberLength    = 20_000
	maxDecimalExponent = 100_000
	maxBinaryExponent  = 400_000
)

// numeral is the outline of a number in text.
type numeral struct {
	hex      bool
	special  bool // an infinity or NaN
	digits   int  // significant digits, without leading and trailing zeros; 0 for the number 0
	exponent int  // as written, saturated at +-2^30
}

// outline checks that text is a number and returns its outline: a decimal with an optional exponent, a hexadecimal
// number with a binary exponent (0x1.8p3), inf, infinity or nan, each with an optional sign.
func outline(text string) (numeral, bool) {
	s := text
	if s != "" && (s[0] == '+' || s[0] == '-') {
		s = s[1:]
	}
	var n numeral
	if n.hex = len(s) > 1 && s[0] == '0' && s[1]|0x20 == 'x'; n.hex {
		s = s[2:]
	}
	s, ok := n.significand(s)
	if !ok {
		n.special = !n.hex && (equalFold(s, "inf") || equalFold(s, "infinity") || equalFold(s, "nan"))
		return n, n.special
	}
	if s == "" {
		return n, !n.hex // hexadecimal needs its exponent, as in C and in Go
	}
	return n, n.readExponent(s)
}

func equalFold(a, b string) bool { return len(a) == len(b) && strings.EqualFold(a, b) }

// significand counts the significant digits at the start of s and returns what follows; ok is whether there is one.
func (n *numeral) significand(s string) (rest string, ok bool) {
	zeros := 0 // since the last significant digit that is not 0
	point := false
	for i := range len(s) {
		c := s[i]
		switch {
		case c == '0':
			ok = true
			if n.digits > 0 {
				zeros++
			}
		case '1' <= c && c <= '9', n.hex && 'a' <= c|0x20 && c|0x20 <= 'f':
			ok = true
			n.digits += zeros + 1
			zeros = 0
		case c == '.' && !point:
			point = true
		default:
			return s[i:], ok
		}
	}
	return "", ok
}

// readExponent reads "e-12" or, in hexadecimal, "p-12"; it returns whether s is just that.
func (n *numeral) readExponent(s string) bool {
	mark := byte('e')
	if n.hex {
		mark = 'p'
	}
	if s[0]|0x20 != mark {
		return false
	}
	s = s[1:]
	sign := 1
	if s != "" && (s[0] == '+' || s[0] == '-') {
		if s[0] == '-' {
			sign = -1
		}
		s = s[1:]
	}
	if s == "" {
		return false
	}
	for _, c := range []byte(s) {
		if c < '0' || c > '9' {
			return false
		}
		n.exponent = min(n.exponent*10+int(c-'0'), 1<<30)
	}
	n.exponent *= sign
	return true
}

// limits returns what is too large about a number, or "".
func (n numeral) limits() string {
	limit := maxDecimalExponent
	if n.hex {
		limit = maxBinaryExponent
	}
	if n.exponent > limit || n.exponent < -limit {
		return "has an exponent beyond " + strconv.Itoa(limit)
	}
	return ""
}

// number converts text with the given outline to a float64, or to a rational if it is none and the reading is exact.
func (n numeral) number(text string, reading Reading) (float64, *big.Rat) {
	if n.special {
		return specialValue(text), nil
	}
	f, err := strconv.ParseFloat(text, 64)
	lost := err != nil || f == 0 && n.digits > 0 // out of range: the syntax has been checked
	switch {
	case lost:
	case n.digits == 0:
		return f, nil
	case n.hex && n.digits <= 13 && math.Abs(f) >= 0x1p-1022:
		return f, nil // at most 52 bits: nothing was rounded
	case !n.hex && n.digits <= 17 && reading == Double:
		return f, nil
	}
	r, _ := new(big.Rat).SetString(text)
	if f, exact := r.Float64(); exact {
		return f, nil
	}
	return 0, r
}

// ParseNumber reads a number as Load reads those of text files.
func ParseNumber(text string, reading Reading) (numbers.Source, error) {
	n, ok := outline(text)
	switch too := n.limits(); {
	case !ok || len(text) > maxNumberLength:
		return nil, usagef("%s is not a number (want decimal such as 1.5e-3 or hexadecimal such as 0x1.8p3)", quote(text))
	case too != "":
		return nil, usagef("%s %s", quote(text), too)
	}
	x, r := n.number(text, reading)
	if r != nil {
		return numbers.Rationals([]*big.Rat{r}), nil
	}
	return numbers.Float64s{x}, nil
}

// specialValue returns the infinity or NaN that text names. The sign of a NaN, which C prints, is ignored.
func specialValue(text string) float64 {
	switch {
	case text[len(text)-1]|0x20 == 'n':
		return math.NaN()
	case text[0] == '-':
		return math.Inf(-1)
	}
	return math.Inf(1)
}
