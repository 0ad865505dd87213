package datasets

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
)

// maxNPYHeader limits the length of a header. NumPy's own limit for untrusted files is 10,000 bytes.
const maxNPYHeader = 1 << 16

// readNPYHeader reads up to the first byte of the payload, whose offset it returns. The header is parsed here because the
// usual library reads no version 3, allocates whatever length a file claims, and panics on some malformed headers.
func readNPYHeader(f *file) (h npyHeader, start int64, err error) {
	var prefix [12]byte
	if _, err := io.ReadFull(f, prefix[:8]); err != nil || string(prefix[:6]) != npyMagic {
		return h, 0, f.errorf("is not a NumPy file: it does not begin with the bytes %q", npyMagic)
	}
	length := prefix[8:10]
	switch prefix[6] {
	case 1:
	case 2, 3:
		length = prefix[8:12]
	default:
		return h, 0, f.errorf("NumPy format version %d.%d is not supported (want 1.0, 2.0 or 3.0)", prefix[6], prefix[7])
	}
	if _, err := io.ReadFull(f, length); err != nil {
		return h, 0, f.errorf("the header is cut short")
	}
	n := int64(binary.LittleEndian.Uint16(length))
	if len(length) == 4 {
		n = int64(binary.LittleEndian.Uint32(length))
	}
	start = 8 + int64(len(length)) + n
	switch {
	case start > f.size:
		return h, 0, f.errorf("the header claims to be %d bytes long, but the file has %d bytes", n, f.size)
	case n > maxNPYHeader:
		return h, 0, f.errorf("the header is %d bytes long (at most %d are read)", n, maxNPYHeader)
	}
	text := make([]byte, n)
	if _, err := io.ReadFull(f, text); err != nil {
		return h, 0, f.errorf("the header is cut short")
	}
	if h, err = parseNPYHeader(string(text)); err != nil {
		return h, 0, f.errorf("malformed header: %s", err)
	}
	return h, start, nil
}

// parseNPYHeader parses a Python dictionary literal with the keys descr, fortran_order and shape.
func parseNPYHeader(text string) (npyHeader, error) {
	p := literal{rest: text}
	var h npyHeader
	seen := map[string]bool{}
	p.expect('{')
	for p.err == nil && !p.accept('}') {
		key := p.quoted()
		p.expect(':')
		if seen[key] {
			p.fail("key %q occurs twice", key)
		}
		seen[key] = true
		switch key {
		case "descr":
			h.descr = p.dtype()
		case "fortran_order":
			h.fortran = p.boolean()
		case "shape":
			h.shape = p.tuple()
		default:
			p.fail("unknown key %q", key)
		}
		if !p.accept(',') {
			p.expect('}')
			break
		}
	}
	if p.err == nil && strings.TrimSpace(p.rest) != "" {
		p.fail("%s after the dictionary", quote(p.rest))
	}
	for _, key := range []string{"descr", "fortran_order", "shape"} {
		if !seen[key] {
			p.fail("no key %q", key)
		}
	}
	return h, p.err
}

// literal reads the few Python literals that headers are made of. After an error every method does nothing.
type literal struct {
	rest string
	err  error
}

func (p *literal) fail(format string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf(format, args...)
	}
}

// accept skips white space and then c, if it comes next.
func (p *literal) accept(c byte) bool {
	p.rest = strings.TrimLeft(p.rest, " \t\r\n")
	if p.err != nil || p.rest == "" || p.rest[0] != c {
		return false
	}
	p.rest = p.rest[1:]
	return true
}

func (p *literal) expect(c byte) {
	if !p.accept(c) {
		p.fail("want %q before %s", c, quote(p.rest))
	}
}

// quoted reads a string without escapes.
func (p *literal) quoted() string {
	for _, q := range []byte{'\'', '"'} {
		if p.accept(q) {
			if s, rest, ok := strings.Cut(p.rest, string(q)); ok {
				p.rest = rest
				return s
			}
			p.fail("a string has no end")
			return ""
		}
	}
	p.fail("want a string before %s", quote(p.rest))
	return ""
}

// dtype reads a descr: a string, or a list of fields, which is returned as it stands.
func (p *literal) dtype() string {
	if !p.accept('[') {
		return p.quoted()
	}
	end := strings.LastIndexByte(p.rest, ']')
	if end < 0 {
		p.fail("a list has no end")
		return ""
	}
	list := "[" + p.rest[:end+1]
	p.rest = p.rest[end+1:]
	return list
}

func (p *literal) boolean() bool {
	for word, value := range map[string]bool{"True": true, "False": false} {
		p.accept(0) // white space
		if rest, ok := strings.CutPrefix(p.rest, word); ok && p.err == nil {
			p.rest = rest
			return value
		}
	}
	p.fail("want True or False before %s", quote(p.rest))
	return false
}

// tuple reads non-negative integers in parentheses. Old files write them as Python 2 longs, "3L".
func (p *literal) tuple() []uint64 {
	var list []uint64
	p.expect('(')
	for p.err == nil && !p.accept(')') {
		list = append(list, p.number())
		p.accept('L')
		if !p.accept(',') {
			p.expect(')')
			break
		}
	}
	return list
}

var errNumber = errors.New("a dimension is no integer from 0 to 2^63 - 1")

func (p *literal) number() uint64 {
	p.accept(0) // white space
	digits := len(p.rest) - len(strings.TrimLeft(p.rest, "0123456789"))
	if digits == 0 || digits > 19 {
		p.err = errNumber
		return 0
	}
	n := uint64(0)
	for _, d := range []byte(p.rest[:digits]) {
		n = n*10 + uint64(d-'0') // below 10^19 < 2^64
	}
	if n > 1<<63-1 {
		p.err = errNumber
	}
	p.rest = p.rest[digits:]
	return n
}

// quote writes at most 40 bytes of text in quotes, for an error message.
func quote(text string) string {
	if len(text) > 40 {
		return fmt.Sprintf("%q...", text[:40])
	}
	return fmt.Sprintf("%q", text)
}
