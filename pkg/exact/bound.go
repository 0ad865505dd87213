package exact

import "math/big"

// Gamma returns gamma(k) = k*u / (1 - k*u), the bound on the accumulated relative error of k operations of unit
// roundoff u; nil if k*u >= 1, where there is none.
//
// Source: N. J. Higham, "Accuracy and Stability of Numerical Algorithms", 2nd ed., lemma 3.1.
func Gamma(k int, u *big.Rat) *big.Rat {
	ku := new(big.Rat).Mul(new(big.Rat).SetInt64(int64(k)), u)
	rest := new(big.Rat).Sub(big.NewRat(1, 1), ku)
	if rest.Sign() <= 0 {
		return nil
	}
	return ku.Quo(ku, rest)
}

// GammaTimes returns gamma(k)*s, the bound on the error of a sum in which each term passes through at most k
// operations of unit roundoff u and s is the sum of the magnitudes; nil if there is no gamma(k).
//
// Source: the same, section 4.2.
func GammaTimes(k int, u, s *big.Rat) *big.Rat {
	g := Gamma(k, u)
	if g == nil {
		return nil
	}
	return g.Mul(g, s)
}

// PowerOfTwo returns 2^k.
func PowerOfTwo(k int) *big.Rat {
	power := new(big.Int).Lsh(big.NewInt(1), uint(max(k, -k)))
	if k < 0 {
		return new(big.Rat).SetFrac(big.NewInt(1), power)
	}
	return new(big.Rat).SetInt(power)
}
