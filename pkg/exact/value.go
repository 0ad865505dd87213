package exact

import "math/big"

// Class says what kind of number a Value is.
type Class uint8

// The classes of IEEE 754 that matter for a result. Signed zeros are one value here.
const (
	Finite Class = iota
	PosInf
	NegInf
	NaN
)

// Value is an exact number, or the IEEE special value that a computation ends in.
// Rat is the number itself for Finite and nil for the other classes; it must not be modified.
type Value struct {
	Class Class
	Rat   *big.Rat
}
