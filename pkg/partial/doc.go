// Package partial holds partial results of exact sums: what one process computed of a sum, a dot product or a
// matrix-vector product, as bytes that any other process merges with its own, in any order and grouping, to the same
// bits. Nothing is rounded before all parts are there.
//
//	p := partial.Problem{Operation: "sum", Components: 1, Terms: 1_000_000, RowsAreTerms: true, Data: id}
//	s := partial.New(p)
//	var a accurate.Accumulator
//	a.AddSlice(x[from:to])
//	err := s.Add(partial.Block{Components: partial.Range{To: 1}, Terms: partial.Range{From: from, To: to}}, &a)
//	bytes, err := s.MarshalBinary()       // to a file, a queue, another rank
//
//	var t partial.State                   // there
//	err = t.UnmarshalBinary(bytes)
//	err = t.Merge(&other)                 // parts of other data, or of the same rows, are refused
//	y, err := t.Result()                  // every component rounded once; refused while rows are missing
//
// The result is a list of components, each a sum of terms. A part has, of some components, some of the terms: a
// [Block] is a rectangle of these, and a [State] knows which ones it has. A sum and a dot product have one
// component, and a matrix-vector product has one for each row of op(A), with the columns of op(A) as terms.
//
// # Bytes
//
// A state is marshalled to bytes that any program can read, merge and write. Integers are little-endian and without
// a sign; a range is two integers of 8 bytes, the first and the one after the last.
//
//	bytes
//	6        the characters mppart
//	1        version: 1
//	1        bit 0: rows of the data are terms, not components; bit 1: terms are counted in pieces, not one by one
//	8        components of the result, less than 2^62
//	8        terms (or pieces) of each component, less than 2^62
//	2, ...   length of the operation's name, at most 64, and the name in UTF-8
//	2, ...   length of the data's identity, at most 1024, and the identity in UTF-8
//	8        how many bands follow: components of which the state has the same terms
//	         of each band: 16 bytes, its range of components; 8 bytes, how many ranges of terms;
//	         16 bytes for each of these
//	...      the sum of each of these components, in their order, as a marshalled [accurate.Accumulator], whose length
//	         is 28 + 8 times the integer of 4 bytes at its offset 20
//	4        CRC-32 (IEEE 802.3) of all bytes before
//
// Ranges are not empty and ascend. Ranges of terms do not touch, and bands that touch differ in their terms. The
// accumulators count as many terms as the ranges have, unless these are pieces. So equal states are equal bytes,
// however they came about. Names and identities have no control characters.
//
// States of the same first fields merge if they have no term of a component in common: ranges are united, and the
// accumulators of a component that both have are added.
package partial
