package partial

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"hash/crc32"
	"math"
	"math/rand/v2"
	"testing"

	"mpbench/pkg/accurate"
)

// TestBytes states the format: these bytes must never change. The payload is what an Accumulator is marshalled to.
func TestBytes(t *testing.T) {
	var a accurate.Accumulator
	a.AddSlice([]float64{1.5, 1})
	payload, _ := a.MarshalBinary()
	s := New(Problem{Operation: "sum", Components: 1, Terms: 10, RowsAreTerms: true, Data: "id"})
	if err := s.Add(Block{Range{0, 1}, Range{4, 6}}, &a); err != nil {
		t.Fatal(err)
	}
	b, err := s.MarshalBinary()
	want := "6d7070617274" + "01" + "01" + "0100000000000000" + "0a00000000000000" +
		"0300" + "73756d" + "0200" + "6964" +
		"0100000000000000" + "0000000000000000" + "0100000000000000" + "0100000000000000" + "0400000000000000" +
		"0600000000000000" + hex.EncodeToString(payload) + "4ac71079"
	if got := hex.EncodeToString(b); err != nil || got != want {
		t.Errorf("%s, want %s, %v", got, want, err)
	}
}

func example(t *testing.T) []byte {
	t.Helper()
	p := newProduct(rand.New(rand.NewPCG(7, 8)), 4, 5, false)
	p.a[3] = math.Inf(1)
	s := p.part(t, Block{Range{0, 2}, Range{0, 5}})
	if err := s.Merge(p.part(t, Block{Range{1, 4}, Range{0, 2}})); err == nil {
		t.Fatal("overlap")
	}
	if err := s.Merge(p.part(t, Block{Range{2, 4}, Range{3, 5}})); err != nil {
		t.Fatal(err)
	}
	b, err := s.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestDamage: bytes cut off anywhere, changed anywhere, and with more behind them are refused.
func TestDamage(t *testing.T) {
	b := example(t)
	var s State
	for n := range b {
		err := s.UnmarshalBinary(b[:n])
		if want := ErrTruncated; n >= len(magic) && !errors.Is(err, want) || n < len(magic) && !errors.Is(err, ErrFormat) {
			t.Fatalf("%d of %d bytes: %v", n, len(b), err)
		}
	}
	if err := s.UnmarshalBinary(append(bytes.Clone(b), 0)); !errors.Is(err, ErrChecksum) {
		t.Errorf("a byte more: %v", err)
	}
	if err := s.UnmarshalBinary(seal(append(bytes.Clone(b), 0, 0, 0, 0))); !errors.Is(err, ErrFormat) {
		t.Errorf("four bytes more with their checksum: %v", err)
	}
	for i := range b {
		for _, bit := range []byte{1, 0x80} {
			damaged := bytes.Clone(b)
			damaged[i] ^= bit
			err := s.UnmarshalBinary(damaged)
			if err == nil || i == len(magic) && !errors.Is(err, ErrVersion) {
				t.Fatalf("byte %d changed: %v", i, err)
			}
		}
	}
	if s.Problem() != (Problem{}) {
		t.Error("an error changed the state")
	}
}

// seal sets the checksum at the end of bytes.
func seal(b []byte) []byte {
	if len(b) >= sumBytes {
		end := len(b) - sumBytes
		binary.LittleEndian.PutUint32(b[end:], crc32.ChecksumIEEE(b[:end]))
	}
	return b
}

// TestWrong has the right checksum, and something that no state is marshalled to.
func TestWrong(t *testing.T) {
	var a accurate.Accumulator
	a.Add(1)
	sum, _ := a.MarshalBinary()
	words := func(list ...int) (b []byte) {
		for _, w := range list {
			b = binary.LittleEndian.AppendUint64(b, uint64(w))
		}
		return b
	}
	head := func(flags byte, components, terms int) []byte {
		b := append([]byte("mppart\x01"), flags)
		return append(append(b, words(components, terms)...), "\x03\x00sum\x01\x00x"...)
	}
	good := seal(append(append(head(1, 1, 5), words(1, 0, 1, 1, 4, 5)...), append(bytes.Clone(sum), 0, 0, 0, 0)...))
	var s State
	if err := s.UnmarshalBinary(good); err != nil {
		t.Fatal(err)
	}
	for name, b := range map[string][]byte{
		"flags":             append(append(head(5, 1, 5), words(1, 0, 1, 1, 4, 5)...), sum...),
		"no components":     append(head(1, 0, 5), words(0)...),
		"no terms":          append(head(1, 1, 0), words(0)...),
		"too many":          append(head(1, -1, 5), words(0)...),
		"another count":     append(append(head(1, 1, 5), words(1, 0, 1, 1, 3, 5)...), sum...),
		"an empty range":    append(append(head(1, 1, 5), words(1, 0, 1, 1, 4, 4)...), sum...),
		"beyond the terms":  append(append(head(1, 1, 5), words(1, 0, 1, 1, 5, 6)...), sum...),
		"beyond components": append(append(head(1, 1, 5), words(1, 1, 2, 1, 4, 5)...), sum...),
		"touching ranges":   append(append(head(3, 1, 5), words(1, 0, 1, 2, 1, 2, 2, 3)...), sum...),
		"falling ranges":    append(append(head(3, 1, 5), words(1, 0, 1, 2, 3, 4, 1, 2)...), sum...),
		"a band of nothing": append(append(head(1, 1, 5), words(1, 0, 1, 0)...), sum...),
		"touching bands": append(append(append(head(1, 2, 5), words(2, 0, 1, 1, 0, 1, 1, 2, 1, 0, 1)...), sum...),
			sum...),
		"a sum that is none": append(append(head(1, 1, 5), words(1, 0, 1, 1, 4, 5)...), make([]byte, 36)...),
	} {
		if err := s.UnmarshalBinary(seal(append(b, 0, 0, 0, 0))); !errors.Is(err, ErrFormat) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// FuzzUnmarshal: no bytes make the reader panic or allocate much more than they are; those that are accepted come
// back.
func FuzzUnmarshal(f *testing.F) {
	var a accurate.Accumulator
	a.Add(0.1)
	s := New(Problem{Operation: "sum", Components: 3, Terms: 7, RowsAreTerms: true, Data: "x"})
	if err := s.Add(Block{Range{1, 2}, Range{3, 4}}, &a); err != nil {
		f.Fatal(err)
	}
	b, _ := s.MarshalBinary()
	f.Add(b)
	f.Add(b[:len(b)-1])
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, b := range [][]byte{data, seal(bytes.Clone(data))} { // damaged, and with the right checksum
			var s, whole State
			if s.UnmarshalBinary(b) != nil {
				continue
			}
			again, err := s.MarshalBinary()
			if err != nil || !bytes.Equal(again, b) {
				t.Fatalf("%x is read as %x: %v", b, again, err)
			}
			if cap(s.sums) > 2*len(b)+64 || cap(s.starts) > len(b) {
				t.Fatalf("%d bytes take %d and %d", len(b), cap(s.sums), cap(s.starts))
			}
			if err := whole.Merge(&s); err != nil {
				t.Fatal(err)
			}
			if err := whole.Merge(&s); err == nil && len(s.cover) > 0 {
				t.Fatal("merged twice")
			}
			_ = s.Complete()
			s.Terms()
		}
	})
}
