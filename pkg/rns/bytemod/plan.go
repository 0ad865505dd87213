package bytemod

import (
	"encoding/binary"
	"math/big"
)

// Plan is the moduli for sums of so many products of integers. It is immutable and safe for concurrent use.
type Plan struct {
	Moduli       []Modulus // those of one byte first
	Bytes, Pairs int       // how many have one byte, and two digits
	product      *big.Int
}

// NewPlan returns a plan for sums of products of integers |a| < 2^aBits and |b| < 2^bBits, or nil if there are not
// enough moduli.
func NewPlan(aBits, bBits, terms int) *Plan {
	bytes, pairs, ok := choose(sumBits(aBits, bBits, terms))
	if !ok || max(aBits, bBits) > MaxBits {
		return nil
	}
	p := &Plan{Bytes: bytes, Pairs: pairs, product: big.NewInt(1)}
	f := families()
	p.Moduli = append(append(p.Moduli, f.bytes[:bytes]...), f.pairs[:pairs]...)
	in, out := 0, 0
	for k := range p.Moduli {
		m := &p.Moduli[k]
		m.In, m.Out = in, out
		in, out = in+2*m.Digits-1, out+m.Digits
		p.product.Mul(p.product, big.NewInt(int64(m.M)))
	}
	return p
}

// Planes returns the bytes of an element of a factor, which is how many products there are, and of the product.
func (p *Plan) Planes() (in, out int) { return p.Bytes + 3*p.Pairs, p.Bytes + 2*p.Pairs }

// cofactor returns M/m, and (M/m)^-1 modulo m.
func (p *Plan) cofactor(m Modulus) (*big.Int, int64) {
	n := big.NewInt(int64(m.M))
	c := new(big.Int).Quo(p.product, n)
	return c, new(big.Int).ModInverse(new(big.Int).Mod(c, n), n).Int64()
}

// Words returns how many words of 64 bits an integer |x| < 2^bits takes, with a byte for its sign.
func Words(bits int) int { return (bits+7)/64 + 1 }

// Rows of a matrix of weights, and of an operand of a product on the unit; bytes of a step of it.
const (
	tileRows  = 16
	stepBytes = 32
)

// Weights are what residues are made with: a constant matrix times the bytes of X, of which those of a negative X
// are complemented, but for the uppermost, which is then 1 (cuda/byte_planes.cu).
type Weights struct {
	Words, Steps          int
	ByteTiles, DigitTiles int      // of 16 moduli of a byte, of 8 of two digits: these have rows i and i+8
	Fragments             []uint32 // of the matrix: [tile][step][lane][4], as tensor.cuh has A
}

// Weights returns those of the left operand (side 0), or of the right one, with the factors (M/m_k)^-1 and, of two
// digits, 128, for integers of so many words. A lane of a step has a word: bytes 4t on of a half are those of word
// t.
func (p *Plan) Weights(side, words int) Weights {
	w := Weights{Words: words, Steps: (8*words + stepBytes - 1) / stepBytes}
	w.ByteTiles, w.DigitTiles = (p.Bytes+tileRows-1)/tileRows, (p.Pairs+tileRows/2-1)/(tileRows/2)
	matrix := make([]int8, (w.ByteTiles+w.DigitTiles)*tileRows*w.Steps*stepBytes)
	width := w.Steps * stepBytes
	for k, m := range p.Moduli {
		power := int64(1)
		if side == 1 {
			_, power = p.cofactor(m)
			if m.Digits == 2 {
				power *= digit
			}
		}
		row := matrix[k*width:]
		if m.Digits == 2 {
			q := k - p.Bytes
			row = matrix[(w.ByteTiles*tileRows+q/8*tileRows+q%8)*width:]
		}
		unit, top := power, 8*words-1
		for b := range top + 1 {
			if power = balanced(power, m.M); b == top {
				power = balanced(unit-power, m.M)
			}
			if m.Digits == 1 {
				row[b] = int8(power)
			} else {
				high := (power + digit/2) >> 7
				row[b], row[8*width+b] = int8(power-digit*high), int8(high)
			}
			power *= 256
		}
	}
	w.Fragments = fragments(matrix, width)
	return w
}

// fragments arranges a matrix, rows of so many bytes, as left operands.
func fragments(matrix []int8, width int) []uint32 {
	list := make([]uint32, 0, len(matrix)/4)
	for tile := 0; tile < len(matrix); tile += tileRows * width {
		for step := 0; step < width; step += stepBytes {
			for lane := range 32 {
				for r := range 4 {
					at := tile + (lane/4+r%2*8)*width + step + lane%4*8 + r/2*4
					list = append(list, word(matrix[at:]))
				}
			}
		}
	}
	return list
}

func word(x []int8) uint32 {
	return binary.LittleEndian.Uint32([]byte{byte(x[0]), byte(x[1]), byte(x[2]), byte(x[3])})
}

// Words of integers, and the digits in base 256 that are added up at a time: 8 words, of which each of four
// lanes has two.
const (
	chunkDigits  = 32
	laneDigits   = 8
	wordsOfChunk = 8
	planesOfStep = 32
)

// Reconstruction is what integers are made with: alpha*S = sum over planes x of x*W + rank*Negative modulo
// 2^(32*Words), W = alpha*M/m_k, or 256 times that for the upper byte of two digits. The sums of digits begin as
// Starts, which add K*alpha*M, so that all of them, and the rank, are nonnegative.
type Reconstruction struct {
	Planes, Steps, Chunks int
	Words                 int      // of a sum, a multiple of 4
	Fragments             []uint32 // of the digits of W: [chunk][step][2][lane][4], as tensor.cuh has B, two products
	Starts                []int32  // of digits: 32 a chunk; a digit of a sum is below 2^24, and d + 256*e below 2^32
	Negative              []uint32 // -alpha*M
	RankWord              int
	Inverse               float64  // 2^(32*RankWord) / (alpha*M)
	product, turns        *big.Int // alpha*M, K
}

// Reconstruction returns the tables for a positive alpha.
func (p *Plan) Reconstruction(alpha *big.Int) Reconstruction {
	_, planes := p.Planes()
	r := Reconstruction{Planes: planes, Steps: (planes + planesOfStep - 1) / planesOfStep}
	r.product = new(big.Int).Mul(alpha, p.product)
	// |sum| <= alpha*M * (sum of |residues|/m_k <= 0.51 * moduli); one more keeps it above what the quotient leaves
	// out
	r.turns = big.NewInt(int64(51*len(p.Moduli)/100 + 2))
	most := new(big.Int).Mul(r.product, r.turns)
	r.Words = (most.BitLen() + 1 + 127) / 128 * 4
	r.Chunks = (r.Words + wordsOfChunk - 1) / wordsOfChunk
	r.Negative = IntegerWords(new(big.Int).Neg(r.product), r.Words)
	r.RankWord = max(0, (r.product.BitLen()-1)/32-2)
	inverse := new(big.Float).SetInt(r.product)
	inverse.Quo(big.NewFloat(1).SetMantExp(big.NewFloat(1), 32*r.RankWord), inverse)
	r.Inverse, _ = inverse.Float64()
	r.Starts = p.starts(most, chunkDigits*r.Chunks)
	digits := make([][]int8, r.Steps*planesOfStep)
	for _, m := range p.Moduli {
		c, _ := p.cofactor(m)
		c.Mul(c, alpha)
		for d := range m.Digits {
			digits[m.Out+d] = balancedBytes(new(big.Int).Lsh(c, uint(8*d)), chunkDigits*r.Chunks)
		}
	}
	for k := planes; k < len(digits); k++ {
		digits[k] = make([]int8, chunkDigits*r.Chunks)
	}
	for chunk := range r.Chunks {
		for step := range r.Steps {
			for pair := range 2 {
				for lane := range 32 {
					r.Fragments = append(r.Fragments, columnFragment(digits, chunk, step, 2*pair, lane)...)
					r.Fragments = append(r.Fragments, columnFragment(digits, chunk, step, 2*pair+1, lane)...)
				}
			}
		}
	}
	return r
}

// mostDigit is a bound on the magnitude of a digit of the sum of residues times W: bytes are at most 128 in
// magnitude, upper ones of two digits 33.
func (p *Plan) mostDigit() int64 { return 128 * int64(128*len(p.Moduli)+33*p.Pairs) }

// starts returns n digits of z modulo 256^n that are mostDigit, or up to 255 more.
func (p *Plan) starts(z *big.Int, n int) []int32 {
	least := p.mostDigit()
	rest := new(big.Int).Lsh(big.NewInt(1), uint(8*n)) // (256^n - 1)/255
	rest.Quo(rest.Sub(rest, big.NewInt(1)), big.NewInt(255))
	rest.Sub(z, rest.Mul(rest, big.NewInt(least)))
	list := make([]int32, n)
	for d := range list {
		list[d] = int32(least + new(big.Int).And(rest, big.NewInt(255)).Int64())
		rest.Rsh(rest, 8)
	}
	return list
}

// columnFragment returns a lane's part of a right operand: column 2t+b of product n has digit 8t + 2n+b of the
// chunk, so that lane (g, t) gets digits 8t to 8t+7 of row g.
func columnFragment(digits [][]int8, chunk, step, n, lane int) []uint32 {
	column := lane / 4
	at := chunk*chunkDigits + column/2*laneDigits + 2*n + column%2
	list := make([]uint32, 2)
	for h := range list {
		first := step*planesOfStep + 16*h + lane%4*4
		list[h] = word([]int8{digits[first][at], digits[first+1][at], digits[first+2][at], digits[first+3][at]})
	}
	return list
}

// balancedBytes returns the digits of x >= 0 in base 256, in [-128, 127], modulo 256^n.
func balancedBytes(x *big.Int, n int) []int8 {
	raw := x.Bytes() // the highest first
	list := make([]int8, n)
	carry := 0
	for d := range list {
		v := carry
		if d < len(raw) {
			v += int(raw[len(raw)-1-d])
		}
		carry = (v + 128) >> 8
		list[d] = int8(v - carry<<8)
	}
	return list
}

// IntegerWords returns x modulo 2^(32*n).
func IntegerWords(x *big.Int, n int) []uint32 {
	list, rest := make([]uint32, n), new(big.Int).Set(x)
	for i := range list {
		list[i] = uint32(new(big.Int).And(rest, big.NewInt(1<<32-1)).Uint64())
		rest.Rsh(rest, 32)
	}
	return list
}
