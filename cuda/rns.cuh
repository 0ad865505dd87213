// Multiple-precision arithmetic in a residue number system: what pkg/rns specifies, on a device. Results are functions
// of the operands' values only, so that sign, residues and exponent are those that pkg/rns computes, whatever the
// group of lanes.
//
// A number's residues lie anywhere (Digits); sign, exponent and interval are variables of every lane (Number). A
// kernel makes a Context of its base, its group and scratch memory and calls
//
//	add(c, z, x, y)    mul(c, z, x, y)    rounded(c, x)    fromDouble(c, z, x)    fromResidues(c, z, exp, neg)
//
// with z the residues of the result. load and store move numbers of arrays.
#ifndef MPBENCH_RNS_CUH
#define MPBENCH_RNS_CUH

#include "rns_add.cuh"
#include "rns_mul.cuh"

// Vector is an array of numbers, each field in an array of its own; residue i of number j is digits[j*numberStep +
// i*residueStep]. parameters.go has it in Go.
struct Vector {
	u32 *digits;
	u64 *lo, *up;
	i64 *exp;
	i32 *intervalExp;
	u8 *neg;
	u64 numberStep;
	u32 residueStep;
	u32 unused;
	MP_MEMBER Digits digitsOf(u64 j) const { return {digits + j * numberStep, residueStep}; }
	// load returns number j, its residues where they are.
	MP_MEMBER Number load(u64 j) const { return {digitsOf(j), neg[j] != 0, exp[j], {lo[j], up[j], intervalExp[j]}}; }
	// store sets all of number j but its residues.
	MP_MEMBER void store(u64 j, const Number &x) const {
		neg[j] = (u8)x.neg;
		exp[j] = x.exp;
		lo[j] = x.v.lo, up[j] = x.v.up, intervalExp[j] = x.v.exp;
	}
};

// fetchAhead brings number j of x to the first-level cache; residueStep is 1.
template <class G> MP_DEVICE void fetchAhead(const Context<G> &c, const Vector &x, u64 j) {
	const u32 *digits = x.digits + j * x.numberStep;
	for (u32 i = 8 * c.group.lane(); i < c.b.stride; i += 8 * c.group.size()) prefetch(digits + i);
	if (c.group.lane() == 0) {
		prefetch(x.lo + j);
		prefetch(x.up + j);
		prefetch(x.exp + j);
		prefetch(x.intervalExp + j);
		prefetch(x.neg + j);
	}
}

// Memory for the scratch numbers of all groups: residue i of number k of group g at p[(i*3 + k)*groups + g], so that
// groups of one lane each lie side by side.
struct ScratchMemory {
	u32 *p;
	u32 groups;
	u32 unused;
	MP_MEMBER Scratch of(u32 group) const {
		u32 step = 3 * groups;
		return {{p + group, step}, {p + groups + group, step}, {p + 2 * groups + group, step}};
	}
};

#endif
