package rns

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
)

// Limits of moduli and of the precision of a Base.
const (
	MinModulus        = 17   // what the reciprocals in binary64 are proved for
	MinModuliBits     = 6    // narrowest width GenerateModuli accepts
	MaxModuliBits     = 31   // residues are below 2^31, so sums of two fit 32 bits
	DefaultModuliBits = 31   // widest, hence fewest residues
	MinPrecision      = 30   // M >= 2^60 leaves room for any float64 significand
	MaxPrecision      = 8192 // bounds the tables of a Base to a few megabytes
)

// Order is the direction in which moduli are searched.
type Order uint8

// Ascending takes odd numbers upwards from a start; Descending downwards from 2^k - 1.
const (
	Ascending Order = iota
	Descending
)

// ErrModuli is wrapped by every error about a set of moduli or about a precision that no set can give.
var ErrModuli = errors.New("rns")

// GenerateModuli returns pairwise coprime odd moduli below 2^width whose dynamic range gives at
// least p bits of precision, in ascending order.
//
// Ascending: with n = ceil(2p/(width-1)) moduli planned, the search starts at the least odd number >= 2^(2p/n), so
// that n moduli of nearly equal size just exceed the range that is needed; for width 16 and p = 30, 60, 120, ... that
// is 32769, the set of the 2018 paper; where 2^width comes first, more moduli are planned. Descending: the search
// starts at 2^width - 1 (Isupov et al. 2017). In both orders a candidate is taken if it is coprime to all taken
// before, until p is reached.
//
// Errors (wrapping ErrModuli): p outside [MinPrecision, MaxPrecision], width outside [MinModuliBits,
// MaxModuliBits], or not enough coprime numbers below 2^width.
func GenerateModuli(p, width int, order Order) ([]uint32, error) {
	if err := checkRequest(p, width); err != nil {
		return nil, err
	}
	if order == Descending {
		return searchModuli(p, width, uint32(1)<<width-1, order)
	}
	for n := (2*p + width - 2) / (width - 1); ; n++ {
		start := oddAtLeast(math.Exp2(2 * float64(p) / float64(n)))
		moduli, err := searchModuli(p, width, start, order)
		if err == nil || start == MinModulus {
			return moduli, err
		}
	}
}

// GenerateModuliFrom is GenerateModuli with an explicit start of the search, an odd number in [MinModulus, 2^width).
func GenerateModuliFrom(p, width int, start uint32, order Order) ([]uint32, error) {
	if err := checkRequest(p, width); err != nil {
		return nil, err
	}
	if start < MinModulus || start%2 == 0 || start >= 1<<width {
		return nil, fmt.Errorf("%w: start %d of the moduli must be odd and in [%d, 2^%d)", ErrModuli, start, MinModulus,
			width)
	}
	return searchModuli(p, width, start, order)
}

func checkRequest(p, width int) error {
	if p < MinPrecision || p > MaxPrecision {
		return fmt.Errorf("%w: precision %d is outside [%d, %d] bits", ErrModuli, p, MinPrecision, MaxPrecision)
	}
	if width < MinModuliBits || width > MaxModuliBits {
		return fmt.Errorf("%w: moduli of %d bits are outside [%d, %d]", ErrModuli, width, MinModuliBits, MaxModuliBits)
	}
	return nil
}

// oddAtLeast returns the least odd integer >= x and >= MinModulus, for 1 <= x < 2^32.
func oddAtLeast(x float64) uint32 { return max(MinModulus, uint32(math.Ceil(x))|1) }

// searchModuli walks from start in steps of two, taking what is coprime to the product so far.
func searchModuli(p, width int, start uint32, order Order) ([]uint32, error) {
	var moduli []uint32
	product, divisor := big.NewInt(1), new(big.Int)
	for m := int64(start); m >= MinModulus && m < 1<<width; {
		if divisor.GCD(nil, nil, divisor.SetInt64(m), product).BitLen() == 1 {
			moduli = append(moduli, uint32(m))
			product.Mul(product, divisor.SetInt64(m))
			if precisionOf(product) >= p {
				return sortedModuli(moduli, order), nil
			}
		}
		if order == Descending {
			m -= 2
		} else {
			m += 2
		}
	}
	return nil, fmt.Errorf("%w: there are not enough pairwise coprime moduli of %d bits for precision %d "+
		"(they give %d bits); use wider moduli",
		ErrModuli, width, p, max(0, precisionOf(product)))
}

func sortedModuli(moduli []uint32, order Order) []uint32 {
	if order == Descending {
		slices.Reverse(moduli)
	}
	return moduli
}

// precisionOf returns p = floor(log2(floor(sqrt(M - 1)))) for the dynamic range M >= 2.
func precisionOf(dynamicRange *big.Int) int {
	root := new(big.Int).Sub(dynamicRange, big.NewInt(1))
	if root.Sign() <= 0 {
		return 0
	}
	return root.Sqrt(root).BitLen() - 1
}

// CheckModuli reports whether moduli can form a Base: at least two, odd, in [MinModulus, 2^31), pairwise coprime,
// giving at least MinPrecision and at most MaxPrecision bits. The error names the offending modulus or pair.
func CheckModuli(moduli []uint32) error {
	if len(moduli) < 2 {
		return fmt.Errorf("%w: %d moduli; at least 2 are needed", ErrModuli, len(moduli))
	}
	product, m := big.NewInt(1), new(big.Int)
	for i, mi := range moduli {
		if mi < MinModulus || mi >= 1<<MaxModuliBits || mi%2 == 0 {
			return fmt.Errorf("%w: modulus %d must be odd and in [%d, 2^%d)", ErrModuli, mi, MinModulus, MaxModuliBits)
		}
		m.SetUint64(uint64(mi))
		if new(big.Int).GCD(nil, nil, m, product).BitLen() != 1 {
			return notCoprime(moduli[:i], mi)
		}
		product.Mul(product, m)
	}
	if p := precisionOf(product); p < MinPrecision || p > MaxPrecision {
		return fmt.Errorf("%w: the moduli give %d bits of precision, outside [%d, %d]", ErrModuli, p, MinPrecision,
			MaxPrecision)
	}
	return nil
}

func notCoprime(earlier []uint32, m uint32) error {
	for _, other := range earlier {
		if g := gcd(other, m); g > 1 {
			return fmt.Errorf("%w: moduli %d and %d have the common divisor %d", ErrModuli, other, m, g)
		}
	}
	return fmt.Errorf("%w: modulus %d is not coprime to the others", ErrModuli, m)
}

func gcd(a, b uint32) uint32 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
