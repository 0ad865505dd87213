package exact

import (
	"fmt"
	"math/big"
	"strings"
)

// FormatRat returns x in decimal scientific notation with the given number of significant digits (values below 1
// count as 1), correctly rounded, ties to even: "6.2e-27", "-1.0e+400". Zero is "0". x may be of any magnitude.
func FormatRat(x *big.Rat, digits int) string {
	if x.Sign() == 0 {
		return "0"
	}
	digits = max(digits, 1)
	e := decimalExponent(x)
	q := scaledRound(x, digits-1-e)
	text := q.String()
	if len(text) > digits { // 9.99... was rounded up to 10.0...
		text = text[:digits]
		e++
	}
	return assemble(x.Sign() < 0, text, e)
}

// assemble writes 0.d1 d2 d3... as d1.d2d3...e+XX with at least two digits of exponent, as strconv does.
func assemble(negative bool, digits string, e int) string {
	var b strings.Builder
	if negative {
		b.WriteByte('-')
	}
	b.WriteByte(digits[0])
	if len(digits) > 1 {
		b.WriteByte('.')
		b.WriteString(digits[1:])
	}
	fmt.Fprintf(&b, "e%+03d", e)
	return b.String()
}

// decimalExponent returns floor(log10 |x|) for x != 0.
//
// With b = bitlen(num) - bitlen(den), 2^(b-1) < |x| < 2^(b+1), so b-1 < log2 |x| < b+1. The product (b-1)*0.30103
// misses log10(2) by less than 5e-9 per bit, hence floor of it is the answer, or at most a few units below it even for
// numbers of 10^8 bits; the loop settles which.
func decimalExponent(x *big.Rat) int {
	b := int64(x.Num().BitLen() - x.Denom().BitLen())
	e := int(floorDiv((b-1)*30103, 100000)) - 1
	for atLeastPow10(x, e+1) {
		e++
	}
	for !atLeastPow10(x, e) {
		e--
	}
	return e
}

// floorDiv returns floor(a/b) for b > 0.
func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// atLeastPow10 reports whether |x| >= 10^e.
func atLeastPow10(x *big.Rat, e int) bool {
	num, den := scaled(x, -e)
	return num.CmpAbs(den) >= 0
}

// scaled returns numerator and denominator of |x| * 10^k, not reduced. The results may share memory with x.
func scaled(x *big.Rat, k int) (num, den *big.Int) {
	num, den = x.Num(), x.Denom()
	switch {
	case k > 0:
		num = new(big.Int).Mul(num, pow10(k))
	case k < 0:
		den = new(big.Int).Mul(den, pow10(-k))
	}
	return num, den
}

// scaledRound returns |x| * 10^k rounded to the nearest integer, ties to even.
func scaledRound(x *big.Rat, k int) *big.Int {
	num, den := scaled(x, k)
	q, r := new(big.Int).QuoRem(num, den, new(big.Int))
	q.Abs(q)
	r.Abs(r)
	switch c := r.Lsh(r, 1).Cmp(den); {
	case c > 0, c == 0 && q.Bit(0) == 1:
		q.Add(q, big.NewInt(1))
	}
	return q
}

// pow10 returns 10^k, k >= 0.
func pow10(k int) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(k)), nil) }
