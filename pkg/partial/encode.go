package partial

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"

	"mpbench/pkg/accurate"
)

// The layout of a marshalled State, which the package comment describes.
const (
	magic   = "mppart"
	version = 1

	flagRowsAreTerms = 1
	flagPieces       = 2

	sumBytes   = 4 // of the checksum
	rangeBytes = 16

	// Of a marshalled accumulator: its least length, and where the number of its words is.
	leastSum = 28
	atWords  = 20
)

// AppendBinary appends the bytes of s to b. It implements [encoding.BinaryAppender].
//
// Result: equal bytes for equal states, however they came about. The error is that of [Problem.Check], for the zero
// State. Cost: that of copying and of a checksum.
func (s *State) AppendBinary(b []byte) ([]byte, error) {
	p := s.problem
	if err := p.Check(); err != nil {
		return b, err
	}
	start := len(b)
	b = append(append(b, magic...), version, flagsOf(p))
	b = binary.LittleEndian.AppendUint64(b, uint64(p.Components))
	b = binary.LittleEndian.AppendUint64(b, uint64(p.Terms))
	for _, text := range [...]string{p.Operation, p.Data} {
		b = append(binary.LittleEndian.AppendUint16(b, uint16(len(text))), text...)
	}
	b = binary.LittleEndian.AppendUint64(b, uint64(len(s.cover)))
	for _, band := range s.cover {
		b = appendRange(b, band.components)
		b = binary.LittleEndian.AppendUint64(b, uint64(len(band.terms)))
		for _, r := range band.terms {
			b = appendRange(b, r)
		}
	}
	b = append(b, s.sums...)
	return binary.LittleEndian.AppendUint32(b, crc32.ChecksumIEEE(b[start:])), nil
}

func flagsOf(p Problem) (flags byte) {
	if p.RowsAreTerms {
		flags |= flagRowsAreTerms
	}
	if p.Pieces {
		flags |= flagPieces
	}
	return flags
}

func appendRange(b []byte, r Range) []byte {
	b = binary.LittleEndian.AppendUint64(b, uint64(r.From))
	return binary.LittleEndian.AppendUint64(b, uint64(r.To))
}

// MarshalBinary returns the bytes of s; see AppendBinary. It implements [encoding.BinaryMarshaler].
func (s *State) MarshalBinary() ([]byte, error) { return s.AppendBinary(nil) }

// UnmarshalBinary sets s to what was marshalled to b. It implements [encoding.BinaryUnmarshaler].
//
// An error is [ErrFormat], [ErrTruncated], [ErrVersion] or [ErrChecksum], with what is wrong; s stays as it was.
// Bytes that it accepts are those that AppendBinary makes of the same state, bit by bit. What it allocates is in
// proportion to the length of b.
func (s *State) UnmarshalBinary(b []byte) error {
	t, err := parse(b)
	if err != nil {
		return fmt.Errorf("partial: %w", err)
	}
	*s = *t
	return nil
}

// reader takes integers and texts from bytes. After an error every method returns zeros.
type reader struct {
	rest []byte
	err  error
}

func (r *reader) fail(err error, format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("%w: "+format, append([]any{err}, args...)...)
	}
}

func (r *reader) bytes(n uint64) []byte {
	if r.err == nil && n > uint64(len(r.rest)) {
		r.fail(ErrTruncated, "%d bytes are missing at least", n-uint64(len(r.rest)))
	}
	if r.err != nil {
		return nil
	}
	b := r.rest[:n]
	r.rest = r.rest[n:]
	return b
}

func (r *reader) uint64() uint64 {
	if b := r.bytes(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

// extent reads an integer that a problem may have.
func (r *reader) extent() int {
	n := r.uint64()
	if n > mostExtent {
		r.fail(ErrFormat, "%d, where at most 2^62 - 1 may be", n)
		return 0
	}
	return int(n)
}

func (r *reader) text() string {
	b := r.bytes(2)
	if b == nil {
		return ""
	}
	return string(r.bytes(uint64(binary.LittleEndian.Uint16(b))))
}

// interval reads a range of 0 to n-1 that begins at least at a place.
func (r *reader) interval(least, n int) Range {
	x := Range{r.extent(), r.extent()}
	if r.err == nil && (!x.within(n) || x.From < least) {
		r.fail(ErrFormat, "a range %v where one from %d to %d may be", x, least, n)
	}
	return x
}

// parse reads and checks marshalled bytes.
func parse(b []byte) (*State, error) {
	r := &reader{rest: b}
	switch head := r.bytes(uint64(len(magic)) + 2); {
	case len(b) < len(magic) || string(b[:len(magic)]) != magic:
		return nil, fmt.Errorf("%w: it does not begin with %q", ErrFormat, magic)
	case r.err != nil:
		return nil, r.err
	case head[len(magic)] != version:
		return nil, fmt.Errorf("%w: %d, not %d", ErrVersion, head[len(magic)], version)
	}
	flags := b[len(magic)+1]
	s := &State{problem: Problem{
		RowsAreTerms: flags&flagRowsAreTerms != 0, Pieces: flags&flagPieces != 0,
		Components: r.extent(), Terms: r.extent(), Operation: r.text(), Data: r.text(),
	}}
	s.readCover(r)
	s.readSums(r)
	r.bytes(sumBytes)
	if len(r.rest) > 0 {
		r.fail(ErrFormat, "%d bytes follow its end", len(r.rest))
	}
	if flags != flagsOf(s.problem) {
		r.fail(ErrFormat, "flags %#x", flags)
	}
	if err := s.problem.Check(); err != nil {
		r.fail(ErrFormat, "%v", err)
	}
	if r.err == nil {
		s.checkSums(r)
	}
	if !errors.Is(r.err, ErrTruncated) && !sealed(b) {
		return nil, ErrChecksum
	}
	return s, r.err
}

// sealed tells whether the checksum at the end of bytes is theirs.
func sealed(b []byte) bool {
	end := len(b) - sumBytes
	return crc32.ChecksumIEEE(b[:end]) == binary.LittleEndian.Uint32(b[end:])
}

// readCover reads which terms of which components are there.
func (s *State) readCover(r *reader) {
	for n, least := r.uint64(), 0; n > 0 && r.err == nil; n-- {
		b := band{components: r.interval(least, s.problem.Components)}
		least = b.components.To
		next := 0
		for k := r.uint64(); k > 0 && r.err == nil; k-- {
			b.terms = append(b.terms, r.interval(next, s.problem.Terms))
			next = b.terms[len(b.terms)-1].To + 1
		}
		last := len(s.cover) - 1
		switch {
		case r.err != nil:
		case len(b.terms) == 0:
			r.fail(ErrFormat, "no terms of the components %v", b.components)
		case last >= 0 && s.cover[last].components.To == b.components.From && slices.Equal(s.cover[last].terms, b.terms):
			r.fail(ErrFormat, "two bands with the same terms touch at component %d", b.components.From)
		}
		s.cover = append(s.cover, b)
	}
}

// readSums reads where the sums are.
func (s *State) readSums(r *reader) {
	begin := r.rest
	for _, b := range s.cover {
		n := uint64(b.components.Len())
		if r.err == nil && n > uint64(len(r.rest))/leastSum {
			r.fail(ErrTruncated, "%d bytes are too few for the sums of %d components", len(r.rest), n)
		}
		for ; n > 0 && r.err == nil; n-- {
			s.starts = append(s.starts, len(begin)-len(r.rest))
			if head := r.bytes(leastSum); head != nil {
				r.bytes(8 * uint64(binary.LittleEndian.Uint32(head[atWords:])))
			}
		}
	}
	s.sums = slices.Clone(begin[:len(begin)-len(r.rest)])
}

// checkSums checks that the sums are some, of as many terms as there are.
func (s *State) checkSums(r *reader) {
	var a accurate.Accumulator
	i := 0
	for _, b := range s.cover {
		count := uint64(b.count())
		for c := b.components.From; c < b.components.To; c++ {
			if err := a.UnmarshalBinary(s.sum(i)); err != nil {
				r.fail(ErrFormat, "component %d: %v", c, err)
				return
			}
			if !s.problem.Pieces && a.Terms() != count {
				r.fail(ErrFormat, "component %d is a sum of %d terms, where %d are there", c, a.Terms(), count)
				return
			}
			i++
		}
	}
}
