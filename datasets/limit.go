package datasets

import (
	"math/big"

	"github.com/ALTree/bigfloat"
)

// Limit is the real number that the terms of a set stand for: what their sum would be if each term were exact. The sum
// of the binary64 terms, which is the reference of every measurement, differs from it by their rounding errors.
type Limit struct {
	Formula string
	Value   *big.Float // correct to limitBits bits
}

const limitBits = 200

// piText is pi to 70 digits.
const piText = "3.141592653589793238462643383279502884197169399375105820974944592307816"

// LimitOf returns the real number that a set's terms stand for, if it has a closed form.
func LimitOf(set string) (Limit, bool) {
	number := func(text string) *big.Float {
		x, _, err := big.ParseFloat(text, 10, limitBits+32, big.ToNearestEven)
		if err != nil {
			panic(err)
		}
		return x
	}
	var r Limit
	switch pi := number(piText); set {
	case "mcnamee1":
		r = Limit{"2 * 10^-18", number("2e-18")}
	case "mcnamee2":
		r = Limit{"1 + 10^-10", number("1.0000000001")}
	case "mcnamee3":
		r = Limit{"exp(-4 pi), the whole series", bigfloat.Exp(pi.Mul(pi, big.NewFloat(-4)))}
	case "basel":
		r = Limit{"pi^2 / 6, the whole series", pi.Quo(pi.Mul(pi, pi), big.NewFloat(6))}
	default:
		return Limit{}, false
	}
	r.Value.SetPrec(limitBits)
	return r, true
}
