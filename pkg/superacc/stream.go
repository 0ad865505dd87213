package superacc

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
)

// Encoding says how the numbers of a stream are laid out.
type Encoding uint8

// The encodings of binary64 and binary32 numbers.
const (
	Float64LittleEndian Encoding = iota
	Float64BigEndian
	Float32LittleEndian
	Float32BigEndian
)

// Size returns the number of bytes of a number, 0 for an unknown encoding.
func (e Encoding) Size() int {
	switch e {
	case Float64LittleEndian, Float64BigEndian:
		return 8
	case Float32LittleEndian, Float32BigEndian:
		return 4
	}
	return 0
}

// String returns the encoding in the notation of NumPy: "<f8", ">f8", "<f4" or ">f4".
func (e Encoding) String() string {
	switch e {
	case Float64LittleEndian:
		return "<f8"
	case Float64BigEndian:
		return ">f8"
	case Float32LittleEndian:
		return "<f4"
	case Float32BigEndian:
		return ">f4"
	}
	return fmt.Sprintf("Encoding(%d)", uint8(e))
}

// streamTerms is how many numbers of a stream are in memory at a time.
const streamTerms = 1 << 15

// SumReader returns the correctly rounded sum of all numbers that r delivers, in constant memory.
func SumReader(r io.Reader, e Encoding) (float64, error) {
	var a Accumulator
	if _, err := a.AddFrom(r, e); err != nil {
		return 0, err
	}
	return a.Float64(), nil
}

// AddFrom adds all numbers that r delivers up to io.EOF, in constant memory, and returns how many there were. If
// reading ends with another error, or within a number (io.ErrUnexpectedEOF), the numbers before it have been added.
func (a *Accumulator) AddFrom(r io.Reader, e Encoding) (n int64, err error) {
	size := e.Size()
	if size == 0 {
		return 0, fmt.Errorf("unknown encoding %v", e)
	}
	raw, terms := make([]byte, streamTerms*size), make([]float64, streamTerms)
	for {
		filled, err := io.ReadFull(r, raw)
		whole := filled / size
		e.decode(terms[:whole], raw)
		a.AddSlice(terms[:whole])
		n += int64(whole)
		switch {
		case err == nil:
		case filled%size != 0 && (err == io.EOF || err == io.ErrUnexpectedEOF):
			return n, fmt.Errorf("%d bytes after the last of %d numbers (%v): %w", filled%size, n, e, io.ErrUnexpectedEOF)
		case err == io.EOF || err == io.ErrUnexpectedEOF:
			return n, nil
		default:
			return n, err
		}
	}
}

// decode sets x from the bytes of raw.
func (e Encoding) decode(x []float64, raw []byte) {
	switch e {
	case Float64LittleEndian:
		for i := range x {
			x[i] = math.Float64frombits(binary.LittleEndian.Uint64(raw[8*i:]))
		}
	case Float64BigEndian:
		for i := range x {
			x[i] = math.Float64frombits(binary.BigEndian.Uint64(raw[8*i:]))
		}
	case Float32LittleEndian:
		for i := range x {
			x[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:])))
		}
	case Float32BigEndian:
		for i := range x {
			x[i] = float64(math.Float32frombits(binary.BigEndian.Uint32(raw[4*i:])))
		}
	}
}
