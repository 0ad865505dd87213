package datasets

import (
	"cmp"
	"math"
	"math/big"
)

// classicMatrixSets are matrices of textbooks whose products have known values.
func classicMatrixSets() []*Set {
	return []*Set{
		{
			Name: "hilbert",
			Summary: "a_ij = 1/(i+j-1) rounded to nearest, n x n; x = column of the inverse, integers rounded to nearest; y " +
				"= 0. With exact a_ij and x the product would be a unit vector",
			Source: "Hilbert, Acta Math. 18, 1894, doi:10.1007/BF02418278; the inverse: Choi, Amer. Math. Monthly 90(5), " +
				"1983, doi:10.1080/00029890.1983.11971218",
			Params: []Param{bitsParam(), {
				Name: "column", Meaning: "which column of the inverse x is, from 1; 0 is the middle one",
				Default: "0", Kind: Int, Max: maxMatrixSize,
			}},
			matrix: hilbert,
		},
		{
			Name: "vandermonde",
			Summary: "op(A) has elements t_i^(j-1) rounded to nearest, t_i nodes rounded to nearest; x_j = (-1)^j C(n-1, " +
				"j-1) rounded to nearest, n the number of terms; y = 0. With exact powers and x the product would be " +
				"-(1-t_i)^(n-1)",
			Source: "Higham, Accuracy and Stability, 2nd ed., chapter 22",
			Params: []Param{bitsParam(), {Name: "nodes", Meaning: "t_i = i/m, or -1 + 2(i-1)/(m-1)", Default: "unit",
				Kind: Choice, Choices: []string{"unit", "symmetric"}}},
			matrix: vandermonde,
		},
	}
}

// put rounds a number to the job's precision and stores it as number i of float64s or of wide.
func (j *matrixJob) put(float64s []float64, wide []*big.Float, i int, x *big.Float) error {
	if j.bits > 0 {
		wide[i] = j.wide().Set(x)
		return nil
	}
	float64s[i], _ = x.Float64()
	if math.IsInf(float64s[i], 0) {
		return usagef("m=%d, n=%d: x exceeds the range of float64; take fewer terms or the parameter bits", j.m, j.n)
	}
	return nil
}

func (j *matrixJob) putX(i int, x *big.Int) error {
	return j.put(j.x, j.wideX, i, new(big.Float).SetPrec(uint(max(64, x.BitLen()))).SetInt(x))
}

// hilbert fills a Hilbert matrix, which is its own transpose, and column k of its inverse,
//
//	x_i = (-1)^(i+k) (i+k-1) C(n+i-1, n-k) C(n+k-1, n-i) C(i+k-2, i-1)^2.
func hilbert(j *matrixJob) error {
	n, k := j.terms, j.int("column")
	if j.rows != j.terms {
		return usagef("m=%d, n=%d: want a square matrix", j.m, j.n)
	}
	if k == 0 {
		k = (n + 1) / 2
	}
	if k > n {
		return usagef("column=%d: the matrix has %d columns", k, n)
	}
	x, c := new(big.Int), new(big.Int)
	for i := 1; i <= n; i++ {
		x.SetInt64(int64(i + k - 1))
		x.Mul(x, c.Binomial(int64(n+i-1), int64(n-k)))
		x.Mul(x, c.Binomial(int64(n+k-1), int64(n-i)))
		c.Binomial(int64(i+k-2), int64(i-1))
		x.Mul(x, c.Mul(c, c))
		if (i+k)%2 == 1 {
			x.Neg(x)
		}
		if err := j.putX(i-1, x); err != nil {
			return err
		}
	}
	bits := uint(cmp.Or(j.bits, 53))
	entries := make([]*big.Float, 2*n-1) // one for each anti-diagonal
	for s := range entries {
		entries[s] = new(big.Float).SetPrec(bits).Quo(big.NewFloat(1), big.NewFloat(float64(s+1)))
	}
	for col := range n {
		for row := range n {
			if err := j.put(j.a, j.wideA, col*n+row, entries[row+col]); err != nil {
				return err
			}
		}
	}
	return nil
}

// vandermonde computes powers by repeated multiplication with 64 bits more than the result has, which leaves them
// correctly rounded but for a chance of about n*2^-63 each.
func vandermonde(j *matrixJob) error {
	n := j.terms
	x := new(big.Int)
	for k := range n {
		x.Binomial(int64(n-1), int64(k))
		if k%2 == 0 { // x_j = (-1)^j with j = k + 1
			x.Neg(x)
		}
		if err := j.putX(k, x); err != nil {
			return err
		}
	}
	bits := uint(cmp.Or(j.bits, 53))
	for i := range j.rows {
		t := j.node(i, bits)
		power := new(big.Float).SetPrec(bits + 64).SetInt64(1)
		for k := range n {
			if err := j.put(j.a, j.wideA, j.place(i, k), power); err != nil {
				return err
			}
			power.Mul(power, t)
		}
	}
	return nil
}

// node returns t_i, rounded to the given bits.
func (j *matrixJob) node(i int, bits uint) *big.Float {
	p, q := int64(i+1), int64(j.rows)
	if j.text("nodes") == "symmetric" {
		p, q = int64(2*i-(j.rows-1)), int64(max(1, j.rows-1))
	}
	return new(big.Float).SetPrec(bits).SetRat(big.NewRat(p, q))
}
