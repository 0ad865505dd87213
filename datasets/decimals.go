package datasets

import (
	"math"
	"math/big"
	"math/bits"
	"strconv"

	"mpbench/pkg/numbers"
)

// shortDecimal is the number digits / 10^places, in as few places as it can be written with.
type shortDecimal struct {
	digits int64
	places int
}

// mostPlaces is how many places a decimal has at most: 10^18 is below 2^63.
const mostPlaces = 18

// powersOfFive are those up to the last one below 2^63.
var powersOfFive = func() (list [28]uint64) {
	list[0] = 1
	for i := range len(list) - 1 {
		list[i+1] = 5 * list[i]
	}
	return list
}()

// decimal returns the number that text is with the given outline; ok is false where it takes more digits or places.
func (n numeral) decimal(text string) (d shortDecimal, ok bool) {
	if n.hex || n.special || n.exponent < -mostPlaces || n.exponent > mostPlaces {
		return d, false
	}
	point := false
	for i := range len(text) {
		switch c := text[i]; {
		case c == '.':
			point = true
		case c|0x20 == 'e':
			return d.scaled(n.exponent, text[0] == '-')
		case c != '+' && c != '-':
			if d.digits > (math.MaxInt64-9)/10 {
				return d, false
			}
			d.digits = 10*d.digits + int64(c-'0')
			if point {
				d.places++
			}
		}
	}
	return d.scaled(0, text[0] == '-')
}

// scaled returns d * 10^exponent, or the negative of that.
func (d shortDecimal) scaled(exponent int, negative bool) (_ shortDecimal, ok bool) {
	for d.places -= exponent; d.places < 0 && d.digits <= math.MaxInt64/10; d.places++ {
		d.digits *= 10
	}
	for d.places > 0 && d.digits%10 == 0 {
		d.digits /= 10
		d.places--
	}
	if negative {
		d.digits = -d.digits
	}
	return d, 0 <= d.places && d.places <= mostPlaces
}

// float64 returns d as a binary64 number; ok is false where it is none.
func (d shortDecimal) float64() (x float64, ok bool) {
	five := int64(powersOfFive[d.places])
	n := d.digits / five
	if n*five != d.digits {
		return 0, false
	}
	size := magnitude(n)
	return math.Ldexp(float64(n), -d.places), bits.Len64(size)-bits.TrailingZeros64(size) <= 53
}

// lowest returns d = n / (5^fives * 2^twos) in lowest terms.
func (d shortDecimal) lowest() (n int64, fives, twos int) {
	n, fives, twos = d.digits, d.places, d.places
	for ; fives > 0 && n%5 == 0; fives-- {
		n /= 5
	}
	for ; twos > 0 && n%2 == 0; twos-- {
		n /= 2
	}
	return n, fives, twos
}

// rat returns d.
func (d shortDecimal) rat() *big.Rat {
	n, fives, twos := d.lowest()
	return big.NewRat(n, int64(powersOfFive[fives]<<twos))
}

// decimals are the numbers of a text.
type decimals []shortDecimal

// source returns integers over their least common denominator, a power of five times one of two; ok is false where an
// integer leaves 64 bits.
func (list decimals) source() (_ numbers.Source, ok bool) {
	mostFives, mostTwos := 0, 0
	for _, d := range list {
		_, fives, twos := d.lowest()
		mostFives, mostTwos = max(mostFives, fives), max(mostTwos, twos)
	}
	x := numbers.Fixed{Integers: make([]int64, len(list)), Exp: -mostTwos}
	for i, d := range list {
		n, fives, twos := d.lowest()
		over, size := bits.Mul64(magnitude(n), powersOfFive[mostFives-fives]<<(mostTwos-twos))
		if over != 0 || size > math.MaxInt64 {
			return nil, false
		}
		x.Integers[i] = int64(size)
		if n < 0 {
			x.Integers[i] = -x.Integers[i]
		}
	}
	if mostFives == 0 {
		return x, true
	}
	return numbers.Quotients(x, new(big.Int).SetUint64(powersOfFive[mostFives])), true
}

// hash is hashRationals of the numbers.
func (list decimals) hash() string {
	return hashLines(list, func(b []byte, d shortDecimal) []byte {
		n, fives, twos := d.lowest()
		return strconv.AppendUint(append(strconv.AppendInt(b, n, 16), '/'), powersOfFive[fives]<<twos, 16)
	})
}

// magnitude returns |n|.
func magnitude(n int64) uint64 {
	if n < 0 {
		return -uint64(n)
	}
	return uint64(n)
}
