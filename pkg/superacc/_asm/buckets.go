package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// fractionBits is the place of the hidden bit of a significand.
const fractionBits = 52

// buckets generates the addition of terms to buckets. Carries are few, and counted behind the loop.
func buckets() {
	const unrolled = 4
	TEXT("addBucketsBMI2", NOSPLIT, "func(x *float64, n int, sum *uint64, carry *uint64)")
	Pragma("noescape")
	Doc("addBucketsBMI2 adds n > 0 normal numbers, a multiple of 4, to their buckets. It works like addGeneric.")
	x, n := Load(Param("x"), GP64()), Load(Param("n"), GP64())
	sum, carry := Load(Param("sum"), GP64()), Load(Param("carry"), GP64())
	place := GP64()
	MOVQ(U64(fractionBits), place)
	buckets := make([]reg.GPVirtual, unrolled)
	Label("loop")
	for i := range buckets {
		buckets[i] = GP64()
		significand := GP64()
		SHRXQ(place, Mem{Base: x, Disp: 8 * i}, buckets[i])
		BZHIQ(place, Mem{Base: x, Disp: 8 * i}, significand)
		BTSQ(Imm(fractionBits), significand)
		ADDQ(significand, Mem{Base: sum, Index: buckets[i], Scale: 8})
		JC(LabelRef(fmt.Sprint("carry", i)))
		Label(fmt.Sprint("added", i))
	}
	ADDQ(Imm(8*unrolled), x)
	SUBQ(Imm(unrolled), n)
	JNZ(LabelRef("loop"))
	RET()
	for i, bucket := range buckets {
		Label(fmt.Sprint("carry", i))
		INCQ(Mem{Base: carry, Index: bucket, Scale: 8})
		JMP(LabelRef(fmt.Sprint("added", i)))
	}
}
