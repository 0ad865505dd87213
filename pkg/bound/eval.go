package bound

import (
	"math/big"

	"mpbench/pkg/exact"
)

// condition is least <= most.
type condition struct{ least, most node }

// values are what names stand for.
type values struct {
	Vars
	definitions map[string]node
}

// node is an expression. eval returns nil where the value is not known, or does not exist.
type node interface{ eval(*values) *big.Rat }

type (
	number struct{ x *big.Rat }
	name   string
	binary struct {
		operator byte
		x, y     node
	}
	call struct {
		function  string // one of functions
		arguments []node
	}
)

func (n number) eval(*values) *big.Rat { return n.x }

func (n name) eval(v *values) *big.Rat {
	switch n {
	case "n":
		return integer(v.N)
	case "p":
		return integer(v.P)
	case "S":
		return v.S
	case "|s|":
		if v.Sum == nil {
			return nil
		}
		return new(big.Rat).Abs(v.Sum)
	}
	if x := v.More[string(n)]; x != nil {
		return x
	}
	if d := v.definitions[string(n)]; d != nil {
		return d.eval(v)
	}
	return nil
}

func (b binary) eval(v *values) *big.Rat {
	x, y := b.x.eval(v), b.y.eval(v)
	if x == nil || y == nil {
		return nil
	}
	switch b.operator {
	case '+':
		return exact.Add(x, y)
	case '-':
		return exact.Add(x, new(big.Rat).Neg(y))
	case '*':
		return exact.Mul(x, y)
	case '/':
		if y.Sign() == 0 {
			return nil
		}
		return new(big.Rat).Quo(x, y)
	}
	return power(x, y)
}

// mostPower is the largest exponent that power takes for bases other than 2.
const mostPower = 64

// power returns x^k for an integer k, nil for other exponents.
func power(x, k *big.Rat) *big.Rat {
	if !k.IsInt() || !k.Num().IsInt64() {
		return nil
	}
	e := int(k.Num().Int64())
	if x.Cmp(two) == 0 {
		return exact.PowerOfTwo(e)
	}
	if max(e, -e) > mostPower || x.Sign() == 0 && e < 0 {
		return nil
	}
	r := big.NewRat(1, 1)
	for range max(e, -e) {
		r = exact.Mul(r, x)
	}
	if e < 0 {
		r.Inv(r)
	}
	return r
}

var two = big.NewRat(2, 1)

// functions and how many arguments they have.
var functions = map[string]int{"g": 1, "ceil": 1, "log2": 1, "min": 2}

func (c call) eval(v *values) *big.Rat {
	var x [2]*big.Rat
	for i, a := range c.arguments {
		if x[i] = a.eval(v); x[i] == nil {
			return nil
		}
	}
	switch c.function {
	case "g":
		return gamma(x[0], name("u").eval(v))
	case "ceil":
		return ceil(x[0])
	case "log2":
		return ceilLog2(x[0])
	}
	if x[0].Cmp(x[1]) < 0 { // min
		return x[0]
	}
	return x[1]
}

// gamma returns k*u/(1 - k*u), 0 for k <= 0.
func gamma(k, u *big.Rat) *big.Rat {
	if u == nil || !k.IsInt() || !k.Num().IsInt64() {
		return nil
	}
	return exact.Gamma(max(0, int(k.Num().Int64())), u)
}

func ceil(x *big.Rat) *big.Rat {
	q, r := new(big.Int).QuoRem(x.Num(), x.Denom(), new(big.Int))
	if r.Sign() > 0 {
		q.Add(q, big.NewInt(1))
	}
	return new(big.Rat).SetInt(q)
}

// ceilLog2 returns the least integer k >= 0 with 2^k >= x.
func ceilLog2(x *big.Rat) *big.Rat {
	c := ceil(x).Num()
	if c.Cmp(big.NewInt(1)) <= 0 {
		return new(big.Rat)
	}
	return integer(c.Sub(c, big.NewInt(1)).BitLen())
}

func integer(n int) *big.Rat { return new(big.Rat).SetInt64(int64(n)) }
