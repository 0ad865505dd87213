// Reduce3 of the 2018 paper: sums of numbers in a residue number system by blocks, in the order of
// pkg/reduce/blocks.go, with the additions of rns.cuh, so that results are those of a CPU bit for bit. Source: K.
// Isupov et al. (2018), algorithm 5.
#include "rns.cuh"

// Grid is the shape of a block reduction: so many blocks of size slots each, a power of two.
struct Grid {
	u64 blocks;
	u32 size;
	u32 unused;
};

// slotsIn lays out the partial sums of a block: sign, exponent and interval in shared memory, residues behind them or,
// if they do not fit there, in device memory. interleaved: residue i of slot t at i*size + t, otherwise at t*stride +
// i. Shared memory: 8 * ceil(29/8 * size) bytes, and 4 * stride * size for residues.
MP_DEVICE Vector slotsIn(u64 *shared, u32 size, u32 stride, bool interleaved, u32 *residues) {
	Vector v;
	v.lo = shared;
	v.up = v.lo + size;
	v.exp = (i64 *)(v.up + size);
	v.intervalExp = (i32 *)(v.exp + size);
	v.neg = (u8 *)(v.intervalExp + size);
	v.digits = residues ? residues : (u32 *)(shared + (29 * size + 7) / 8);
	v.numberStep = interleaved ? 1 : stride;
	v.residueStep = interleaved ? size : 1;
	v.unused = 0;
	return v;
}

// sumBlock reduces the terms of this block to number blockIdx.x of sums: the first two stages of Reduce3. Group g of
// so many in the block adds the terms of slots g, g + groups, ...: terms i and i + size for i = 2*block*size + t and
// every 2*blocks*size further; then the slots are added in a tree.
template <class G>
MP_DEVICE void sumBlock(Context<G> c, u32 g, u32 groups, const Vector &x, u64 n, const Grid &grid, const Vector &slots,
                        const Vector &sums) {
	u64 first = 2 * (u64)blockIdx.x * grid.size, step = 2 * grid.blocks * grid.size;
	for (u32 t = g; t < grid.size; t += groups) {
		Digits digits = slots.digitsOf(t);
		Number s = zeroNumber(digits);
		for (u64 start = first + t; start < n; start += step) {
#pragma unroll 1
			for (u64 i = start; i < n && i <= start + grid.size; i += grid.size) {
				u64 next = i == start ? start + grid.size : start + step;
				if (next < n) fetchAhead(c, x, next);
				s = add(c, digits, s, x.load(i));
			}
		}
		c.group.sync();
		if (c.group.lane() == 0) slots.store(t, s);
	}
	for (u32 half = grid.size / 2; half >= 1; half /= 2) {
		blockSync();
		for (u32 t = g; t < half; t += groups) {
			Number s = slots.load(t);
			s = add(c, slots.digitsOf(t), s, slots.load(t + half));
			c.group.sync();
			if (c.group.lane() == 0) slots.store(t, s);
		}
	}
	blockSync();
	if (g != 0) return;
	Number s = copied(c, sums.digitsOf(blockIdx.x), slots.load(0));
	if (c.group.lane() == 0) sums.store(blockIdx.x, s);
}

// The kernels reduce3xG: groups of G threads do the additions of a block's slots. residues is device memory for
// grid.size numbers of each block, or null if they are to lie in shared memory.
#define MP_BLOCKS_KERNEL(G, type)                                                                        \
	MP_KERNEL(reduce3x##G, 256)                                                                          \
	(Base base, ScratchMemory memory, Vector x, u64 n, Grid grid, u32 *residues, Vector sums) {          \
		MP_SHARED(u64, shared);                                                                          \
		u32 groups = blockDim.x / G, g = threadIdx.x / G;                                                \
		u32 *mine = residues ? residues + (u64)blockIdx.x * grid.size * base.stride : nullptr;           \
		sumBlock(Context<type>(base, type(), memory.of(blockIdx.x * groups + g)), g, groups, x, n, grid, \
		         slotsIn(shared, grid.size, base.stride, G == 1, mine), sums);                           \
	}                                                                                                    \
	MP_REGISTER(reduce3x##G)

MP_BLOCKS_KERNEL(1, Thread);
MP_BLOCKS_KERNEL(8, Warp<8>);
MP_BLOCKS_KERNEL(16, Warp<16>);
MP_BLOCKS_KERNEL(32, Warp<32>);
