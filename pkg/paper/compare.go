package paper

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"mpbench/pkg/exact"
)

// sameFigure reports whether x has the printed digits: rounded to as many significant digits as printed has, it is the
// printed number. A bare power of ten, printed as "10^-10", is an order of magnitude: x must be nearer to it than to
// other powers, on a logarithmic scale. "0" is 0 itself.
func sameFigure(printed string, x exact.Value) bool {
	if !x.IsFinite() {
		return false
	}
	if exponent, ok := strings.CutPrefix(printed, "10^"); ok {
		k, err := strconv.Atoi(exponent)
		return err == nil && x.Sign() > 0 && nearestPower(x.Rat, k)
	}
	want, ok := new(big.Rat).SetString(printed)
	if !ok {
		return false
	}
	if want.Sign() == 0 || x.Sign() == 0 {
		return want.Sign() == x.Sign()
	}
	got, ok := new(big.Rat).SetString(x.Text(digits(printed)))
	return ok && got.Cmp(want) == 0
}

// nearestPower reports whether 10^(k - 1/2) <= x < 10^(k + 1/2), for x > 0.
func nearestPower(x *big.Rat, k int) bool {
	square := new(big.Rat).Mul(x, x)
	return square.Cmp(powerOfTen(2*k-1)) >= 0 && square.Cmp(powerOfTen(2*k+1)) < 0
}

func powerOfTen(k int) *big.Rat {
	power := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(k, -k))), nil)
	if k < 0 {
		return new(big.Rat).SetFrac(big.NewInt(1), power)
	}
	return new(big.Rat).SetInt(power)
}

// digits counts the significant digits of a printed number.
func digits(printed string) int {
	mantissa, _, _ := strings.Cut(printed, "e")
	n := 0
	for _, c := range strings.TrimLeft(mantissa, "-0.") {
		if c >= '0' && c <= '9' {
			n++
		}
	}
	return max(n, 1)
}

// capped returns a relative error as the 2018 paper prints it, at most 1.
func capped(e exact.Value) exact.Value {
	one := big.NewRat(1, 1)
	if e.Class == exact.PosInf || e.IsFinite() && e.Rat != nil && e.Rat.Cmp(one) > 0 {
		return exact.FromRat(one)
	}
	return e
}

// compare makes the cell of a printed figure that follows from data and algorithm; here is how the measured one is
// written. With a note, a difference is explained.
func compare(printed, here string, x exact.Value, note string) Cell {
	c := Cell{Paper: printed, Here: here, Note: note}
	switch {
	case printed == "" && note != "":
		c.Verdict = Explained
	case printed == "":
		c.Verdict = Unprinted
	case sameFigure(printed, x):
		c.Verdict, c.Note = Agrees, ""
	case note != "":
		c.Verdict = Explained
	default:
		c.Verdict = Differs
	}
	return c
}

// shortExponent writes a number in scientific notation as the papers do: "2.7e-7", "1.0".
func shortExponent(text string) string {
	mantissa, exponent, ok := strings.Cut(text, "e")
	if e, err := strconv.Atoi(exponent); ok && err == nil {
		if e == 0 {
			return mantissa
		}
		return mantissa + "e" + strconv.Itoa(e)
	}
	return text
}

// ratioText writes a ratio with three significant digits, and no exponent.
func ratioText(x float64) string {
	if x >= 999.5 {
		return strconv.FormatFloat(x, 'f', 0, 64)
	}
	return fmt.Sprintf("%.3g", x)
}

// duration writes nanoseconds with three significant digits.
func duration(ns float64) string {
	for _, unit := range []struct {
		ns   float64
		name string
	}{{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}} {
		if ns >= 0.9995*unit.ns {
			return fmt.Sprintf("%.3g %s", ns/unit.ns, unit.name)
		}
	}
	return fmt.Sprintf("%.3g ns", ns)
}
