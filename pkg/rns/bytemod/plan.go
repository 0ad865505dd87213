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

// Words returns how many words of 32 bits an integer |x| < 2^bits takes, with a byte for its sign.
func Words(bits int) int { return (bits+7)/32 + 1 }

// Rows of a matrix of weights, and of an operand of a product on the unit; bytes of a step of it.
const (
	tileRows  = 16
	stepBytes = 32
)

// Weights are what residues are made with: a constant matrix times the bytes of X, of which those of a negative X are
// complemented, but for the uppermost, which is then 1 (cuda/byte_planes.cu).
type Weights struct {
	Words, Steps          int
	ByteTiles, DigitTiles int      // of 16 moduli of a byte, of 8 of two digits: these have rows i and i+8
	Fragments             []uint32 // of the matrix: [tile][step][lane][4], as tensor.cuh has A
}

// Weights returns those of the left operand (side 0), or of the right one, with the factors (M/m_k)^-1 and, of two
// digits, 128, for integers of so many words.
func (p *Plan) Weights(side, words int) Weights {
	w := Weights{Words: words, Steps: (4*words + stepBytes - 1) / stepBytes}
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
		unit, top := power, 4*words-1
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
					at := tile + (lane/4+r%2*8)*width + step + r/2*16 + lane%4*4
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

// Limbs of integers, and the digits in base 256 that are added up at a time: 8 limbs, of which each of four
// lanes has two.
const (
	LimbBits     = 28
	chunkDigits  = 28
	laneDigits   = 7
	limbsOfChunk = 8
	planesOfStep = 32
)

// Reconstruction is what integers are made with: alpha*S = sum over planes x of x*W - rank*alpha*M, W =
// alpha*M/m_k, or 256 times that for the upper byte of two digits.
type Reconstruction struct {
	Planes, Steps, Chunks int
	Fragments             []uint32 // of the digits of W: [chunk][step][4][lane][2], as tensor.cuh has B
	Product               []uint32 // alpha*M, 8*Chunks limbs
	RankLimb              int
	Inverse               float64 // 2^(28*RankLimb) / (alpha*M)
}

// Reconstruction returns the tables for a positive alpha.
func (p *Plan) Reconstruction(alpha *big.Int) Reconstruction {
	_, planes := p.Planes()
	r := Reconstruction{Planes: planes, Steps: (planes + planesOfStep - 1) / planesOfStep}
	product := new(big.Int).Mul(alpha, p.product)
	// |sum| <= alpha*M * (sum of |residues|/m_k <= 0.51 * moduli), and a sign
	bits := product.BitLen() + big.NewInt(int64(len(p.Moduli))).BitLen() + 1
	r.Chunks = (bits + 8*chunkDigits - 1) / (8 * chunkDigits)
	r.Product = limbs(product, limbsOfChunk*r.Chunks)
	r.RankLimb = max(0, (product.BitLen()-1)/LimbBits-2)
	inverse := new(big.Float).SetInt(product)
	inverse.Quo(big.NewFloat(1).SetMantExp(big.NewFloat(1), LimbBits*r.RankLimb), inverse)
	r.Inverse, _ = inverse.Float64()
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
			for n := range 4 {
				for lane := range 32 {
					r.Fragments = append(r.Fragments, columnFragment(digits, chunk, step, n, lane)...)
				}
			}
		}
	}
	return r
}

// columnFragment returns a lane's part of a right operand: column 2t+b of product n has digit 7t + 2n+b of the
// chunk, so that lane (g, t) gets digits 7t to 7t+6 of row g.
func columnFragment(digits [][]int8, chunk, step, n, lane int) []uint32 {
	column, at := lane/4, 2*n+lane/4%2
	list := make([]uint32, 2)
	if at >= laneDigits {
		return list
	}
	at += chunk*chunkDigits + column/2*laneDigits
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

// limbs returns the limbs of x >= 0.
func limbs(x *big.Int, n int) []uint32 {
	list := make([]uint32, n)
	for i := range list {
		for b := range LimbBits {
			list[i] |= uint32(x.Bit(i*LimbBits+b)) << b
		}
	}
	return list
}
