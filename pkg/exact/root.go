package exact

import "math/big"

// Root returns the square root of what s summarizes, a sum of squares, as a summary of a norm: its magnitudes sum to
// itself. A rational root is exact. Another one is cut off after so many bits that it is still above the power of two
// that the root is above, at least 256; Square is then its exact square, by which Errors, Round and Text go.
func (s Summary) Root() Summary {
	root := Summary{N: s.N}
	root.Sum, root.Square = squareRoot(s.Sum)
	root.SumAbs, root.Finite = root.Sum, root.Sum
	if !s.Sum.IsFinite() {
		root.Finite, _ = squareRoot(s.Finite)
	}
	return root
}

// squareRoot returns the square root of x >= 0, cut off where it is irrational, and then x.
func squareRoot(x Value) (root Value, square *big.Rat) {
	if !x.IsFinite() || x.Sign() == 0 {
		return x, nil
	}
	num, den := x.Rat.Num(), x.Rat.Denom()
	if n, d, ok := rationalRoot(num, den); ok {
		return FromRat(new(big.Rat).SetFrac(n, d)), nil
	}
	return FromRat(cutRoot(x.Rat, 64+max(256, num.BitLen(), den.BitLen()))), x.Rat
}

// rationalRoot returns the square root of a fraction in lowest terms, if it is rational.
func rationalRoot(num, den *big.Int) (n, d *big.Int, ok bool) {
	n, d = new(big.Int).Sqrt(num), new(big.Int).Sqrt(den)
	var square big.Int
	if square.Mul(n, n).Cmp(num) != 0 {
		return nil, nil, false
	}
	return n, d, square.Mul(d, d).Cmp(den) == 0
}

// integerRoot returns floor(sqrt(x) * 2^k), which has bits+1 bits, and whether that is no rounding; x > 0.
func integerRoot(x *big.Rat, bits int) (r *big.Int, k int, exact bool) {
	k = bits - int(floorDiv(int64(Exponent(x)), 2))
	shifted := scaleExp2(x, 2*k)
	quotient, rest := new(big.Int).QuoRem(shifted.Num(), shifted.Denom(), new(big.Int))
	r = new(big.Int).Sqrt(quotient) // floor(sqrt(floor(y))) = floor(sqrt(y))
	exact = rest.Sign() == 0 && quotient.Cmp(new(big.Int).Mul(r, r)) == 0
	return r, k, exact
}

// cutRoot returns the square root of x > 0 cut off after bits+1 bits: less than it by less than the factor 1+2^-bits.
func cutRoot(x *big.Rat, bits int) *big.Rat {
	r, k, _ := integerRoot(x, bits)
	return scaleExp2(new(big.Rat).SetInt(r), -k)
}

// RoundRoot returns the square root of v >= 0 rounded once to prec bits, to nearest even; nil for NaN.
func RoundRoot(v Value, prec uint) *big.Float {
	if !v.IsFinite() || v.Sign() == 0 {
		return v.Round(prec)
	}
	r, k, exact := integerRoot(v.Rat, int(prec)+2)
	if !exact { // one more bit stands for all that follow
		r.SetBit(r.Lsh(r, 1), 0, 1)
		k++
	}
	z := new(big.Float).SetPrec(prec).SetInt(r)
	return z.SetMantExp(z, -k)
}

// Errors measures a computed value against the exact result. Where that is irrational, Abs and Rel are at least the
// errors, and larger by less than the factor 1+2^-255: |c - sqrt(q)| = |c^2 - q| / (c + sqrt(q)), of which only the
// root in the denominator is cut off.
func (s Summary) Errors(computed Value) Errors {
	if s.Square == nil || !computed.IsFinite() {
		return Measure(computed, s.Sum)
	}
	c, root := computed.Number(), s.Sum.Number()
	abs := new(big.Rat)
	if c.Sign() > 0 {
		abs.Mul(c, c)
		abs.Sub(abs, s.Square).Abs(abs)
		abs.Quo(abs, new(big.Rat).Add(c, root))
	} else {
		abs.Quo(s.Square, root).Sub(abs, c) // q/root is above sqrt(q)
	}
	return Errors{Abs: FromRat(abs), Rel: relative(abs, root), exact: s.Sum}
}

// Distance returns Abs of [Summary.Errors].
func (s Summary) Distance(computed Value) Value {
	if s.Square == nil && computed.Class == Finite && s.Sum.Class == Finite {
		return Value{Rat: distance(computed.Number(), s.Sum.Number())}
	}
	return s.Errors(computed).Abs
}

// Round returns the exact result rounded once to prec bits, to nearest even; nil for NaN.
func (s Summary) Round(prec uint) *big.Float {
	if s.Square == nil {
		return s.Sum.Round(prec)
	}
	return RoundRoot(FromRat(s.Square), prec)
}

// Text returns the exact result with the given number of significant digits, correctly rounded, as [Value.Text].
func (s Summary) Text(digits int) string {
	if s.Square == nil {
		return s.Sum.Text(digits)
	}
	for bits := 4*digits + 64; ; bits *= 2 { // it ends, as an irrational number is not half-way between decimals
		r, k, _ := integerRoot(s.Square, bits)
		low := FormatRat(scaleExp2(new(big.Rat).SetInt(r), -k), digits)
		high := FormatRat(scaleExp2(new(big.Rat).SetInt(r.Add(r, big.NewInt(1))), -k), digits)
		if low == high {
			return low
		}
	}
}
