package intmat

import "math"

// The functions of this file are what the vector kernels compute, bit for bit. Tiles are rows of int32 numbers, row by
// row.

// kernel is a product of panels, of so many rows by so many columns.
type kernel struct {
	name       string
	rows, cols int
	mul        func(tile []int32, a, b []uint32, pairs int)
	bytes      mulBytes // multiplies operands in place of mul, nil for mul
}

// plain is the kernel in Go.
var plain = kernel{"plain", 6, 16, func(tile []int32, a, b []uint32, pairs int) {
	mulGeneric(tile, a, b, pairs, 6, 16)
}, nil}

// mulGeneric adds the products of a panel of rows and one of columns to a tile, terms in pairs: tile[i*cols + j] +=
// the sum over q of both halves of a[q*rows + i] times those of b[q*cols + j], modulo 2^32.
func mulGeneric(tile []int32, a, b []uint32, pairs, rows, cols int) {
	for q := range pairs {
		column := b[q*cols : (q+1)*cols]
		for i, x := range a[q*rows : (q+1)*rows] {
			low, high := int32(int16(x)), int32(x)>>16
			row := tile[i*cols : (i+1)*cols]
			for j, y := range column {
				row[j] += low*int32(int16(y)) + high*(int32(y)>>16)
			}
		}
	}
}

// reduceGeneric brings the numbers of row i, of so many columns, modulo moduli[i] to at most m/2 + 384 in magnitude.
//
// The quotient is rounded from v/m in float32. Three relative errors of 2^-24, of v, of 1/m and of their product, are
// less than 384.1/m in the quotient, as |v| < 2^31.
func reduceGeneric(tile []int32, cols int, moduli []modulus) {
	for i, m := range moduli {
		row := tile[i*cols : (i+1)*cols]
		for j, v := range row {
			quotient := float32(v) * m.inverse
			row[j] = v - int32(math.RoundToEven(float64(quotient)))*m.m
		}
	}
}

// pairGeneric sets rows of words, which begin every stride words, to two tiles of int16 numbers: even in the low
// halves, odd in the high ones.
func pairGeneric(words []uint32, stride int, even, odd []int32, cols int) {
	for at := 0; at < len(even); at += cols {
		row := words[at/cols*stride:][:cols]
		for j := range row {
			row[j] = uint32(uint16(even[at+j])) | uint32(odd[at+j])<<16
		}
	}
}

// carryGeneric brings columns of sums to digits in [0, 4095], row d being worth 2^(12d): sums - rank*product, modulo
// 2^(12n), where n is the length of product and row n of the sums has rank * 2^fractionBits, about. Sums, carries and
// rank*product together stay below 2^31 (TestPremises).
func carryGeneric(tile []int32, cols int, product []int32) {
	n := len(product)
	for j := range cols {
		rank := (tile[n*cols+j] + 1<<(fractionBits-1)) >> fractionBits
		carry := int32(0)
		for d, m := range product {
			v := tile[d*cols+j] - rank*m + carry
			tile[d*cols+j] = v & digitMask
			carry = v >> digitBits
		}
	}
}
