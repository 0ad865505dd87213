package deferred

import (
	"fmt"
	"sync"
	"unsafe"
)

const (
	// ModulusBits is the width of every modulus: products of two residues have 56 bits, so 256 of them fit a uint64.
	ModulusBits = 28
	// MaxModuli is the length of the list of moduli; all of them hold integers of 57342 bits and a sign.
	MaxModuli = 2048

	// lazyProducts is how many products of residues, and one residue besides, fit a uint64:
	// 256 * (2^28 - 58)^2 + 2^28 < 2^64.
	lazyProducts = 256

	limbBits = 28 // digits of integers, as wide as residues so that they fit the same kernels
	limbMask = 1<<limbBits - 1
	maxDelta = 1 << 16 // every modulus is 2^28 - delta with delta below this
)

// moduli returns the one list that every base is a prefix of: the MaxModuli largest primes below 2^28, descending.
//
// They are within maxDelta of 2^28, so reduction needs no division (see fold in kernels_generic.go). The product M of
// the first n lies between 2^(28n - 0.25) and 2^(28n) for every n.
var moduli = sync.OnceValue(func() []uint32 {
	// Sieve of Eratosthenes over [2^28 - maxDelta, 2^28), with divisors up to sqrt(2^28).
	const top, root = 1 << ModulusBits, 1 << (ModulusBits / 2)
	var composite [maxDelta]bool // composite[d] is about 2^28 - d
	var smallComposite [root]bool
	for q := 2; q < root; q++ {
		if smallComposite[q] {
			continue
		}
		for multiple := q * q; multiple < root; multiple += q {
			smallComposite[multiple] = true
		}
		for d := top % q; d < maxDelta; d += q {
			composite[d] = true
		}
	}
	list := make([]uint32, 0, MaxModuli)
	for d := 1; len(list) < MaxModuli; d++ {
		if !composite[d] {
			list = append(list, uint32(top-d))
		}
	}
	return list
})

// ModuliFor returns how many moduli hold every integer |X| < 2^width: the least n with M > 2^(width+1).
// It may exceed [MaxModuli].
//
// As M > 2^(28n - 0.25), width = 28n - 2 leaves |X|/M < 0.3: far enough from 1/2 that binary64 decides the rank of X.
func ModuliFor(width int) int { return (width + 2 + ModulusBits - 1) / ModulusBits }

// capacity returns the width of the integers that n moduli hold, the inverse of ModuliFor.
func capacity(n int) int { return ModulusBits*n - 2 }

// TooManyModuliError says that a product needs more moduli than are allowed.
type TooManyModuliError struct {
	Need, Limit int
	What        string // what the moduli are needed for
}

func (e *TooManyModuliError) Error() string {
	return fmt.Sprintf("deferred: %s needs %d moduli of %d bits; the limit is %d", e.What, e.Need, ModulusBits, e.Limit)
}

const alignment = 64 // bytes of a cache line and of an AVX-512 register

// alignedUint32 returns n zeros beginning at a multiple of 64 bytes.
func alignedUint32(n int) []uint32 {
	buffer := make([]uint32, n+alignment/4)
	skip := (alignment - int(uintptr(unsafe.Pointer(unsafe.SliceData(buffer)))%alignment)) % alignment / 4
	return buffer[skip : skip+n : skip+n]
}
