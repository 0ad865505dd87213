// Sums of numbers in a residue number system in the orders of pkg/reduce (recursive.go, pairwise.go, blocks.go), with the additions of
// rns.cuh, so that results are those of a CPU bit for bit. Source: K. Isupov et al. (2018), algorithms 3 to 5.
#include "rns.cuh"

// Terms are the numbers to be added, from number first to number end - 1 in one launch.
struct Terms {
	Vector x;
	u64 first, end;
};

// addTerms goes on with the recursive summation whose sum so far is number 0 of sum, unless first is 0.
template <class G> MP_DEVICE void addTerms(Context<G> c, const Terms &terms, const Vector &sum) {
	u64 i = terms.first;
	Number s = i ? sum.load(0) : copied(c, sum.digitsOf(0), terms.x.load(i++));
	for (; i < terms.end; i++) s = add(c, sum.digitsOf(0), s, terms.x.load(i));
	c.group.sync();
	if (c.group.lane() == 0) sum.store(0, s);
}

// addPairs goes on with the pairwise summation of n terms on a stack of partial sums, slots; terms.first is even, and terms.end even
// or n. After 2k terms the stack holds as many sums as k has bits that are 1.
template <class G> MP_DEVICE void addPairs(Context<G> c, const Terms &terms, const Vector &slots, u64 n) {
	u32 top = 0;
	for (u64 k = terms.first / 2; k; k &= k - 1) top++;
	for (u64 i = terms.first; i + 1 < terms.end; i += 2) {
		Number left = terms.x.load(i), s = terms.x.load(i + 1);
		for (u64 k = i / 2 + 1;; k /= 2) { // joins as often as k can be halved
			s = add(c, slots.digitsOf(top), left, s);
			if (k & 1) break;
			left = slots.load(--top);
		}
		c.group.sync();
		if (c.group.lane() == 0) slots.store(top, s);
		c.group.sync();
		top++;
	}
	if (terms.end < n) return;
	Number s;
	if (n % 2) {
		s = copied(c, slots.digitsOf(top), terms.x.load(n - 1));
	} else {
		top--;
		s = slots.load(top);
	}
	while (top > 0) {
		top--;
		s = add(c, slots.digitsOf(top), slots.load(top), s);
	}
	c.group.sync();
	if (c.group.lane() == 0) slots.store(0, s);
}

// The kernels of one group: of one thread (Serial), of a warp for at most 32 residues (Warp), of a block (Block, with shared memory for
// Block::Partial). sum is one number, slots are bits(n) + 1.
#define MP_ORDER_KERNELS(name, threads, group)                                                                  \
	MP_KERNEL(reduce1##name, threads)(Base base, ScratchMemory memory, Terms terms, Vector sum) {               \
		MP_SHARED(u64, shared);                                                                                 \
		(void)shared;                                                                                           \
		addTerms(Context<decltype(group)>(base, group, memory.of(0)), terms, sum);                              \
	}                                                                                                           \
	MP_REGISTER(reduce1##name);                                                                                 \
	MP_KERNEL(reduce2##name, threads)(Base base, ScratchMemory memory, Terms terms, Vector slots, u64 n) {      \
		MP_SHARED(u64, shared);                                                                                 \
		(void)shared;                                                                                           \
		addPairs(Context<decltype(group)>(base, group, memory.of(0)), terms, slots, n);                         \
	}                                                                                                           \
	MP_REGISTER(reduce2##name)

MP_ORDER_KERNELS(Serial, 1, Thread());
MP_ORDER_KERNELS(Warp, 32, Warp<32>());
MP_ORDER_KERNELS(Block, 1024, Block(shared));

// Grid is the shape of a block reduction: so many blocks of size slots each, a power of two.
struct Grid {
	u64 blocks;
	u32 size;
	u32 unused;
};

// slotsIn lays out the partial sums of a block: sign, exponent and interval in shared memory, residues behind them or, if they do not
// fit there, in device memory. interleaved: residue i of slot t at i*size + t, otherwise at t*stride + i. Shared memory:
// 8 * ceil(29/8 * size) bytes, and 4 * stride * size for residues.
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

// sumBlock reduces the terms of this block to number blockIdx.x of sums: the first two stages of Reduce3. Group g of so many in the
// block adds the terms of slots g, g + groups, ...: terms i and i + size for i = 2*block*size + t and every 2*blocks*size further; then the
// slots are added in a tree.
template <class G>
MP_DEVICE void sumBlock(Context<G> c, u32 g, u32 groups, const Vector &x, u64 n, const Grid &grid, const Vector &slots, const Vector &sums) {
	u64 first = 2 * (u64)blockIdx.x * grid.size, step = 2 * grid.blocks * grid.size;
	for (u32 t = g; t < grid.size; t += groups) {
		Digits digits = slots.digitsOf(t);
		Number s = zeroNumber(digits);
		for (u64 start = first + t; start < n; start += step) {
#pragma unroll 1
			for (u64 i = start; i < n && i <= start + grid.size; i += grid.size) s = add(c, digits, s, x.load(i));
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

// The kernels reduce3xG: groups of G threads do the additions of a block's slots. residues is device memory for grid.size numbers of each
// block, or null if they are to lie in shared memory.
#define MP_BLOCKS_KERNEL(G, type)                                                                                                          \
	MP_KERNEL(reduce3x##G, 256) (Base base, ScratchMemory memory, Vector x, u64 n, Grid grid, u32 *residues, Vector sums) {                \
		MP_SHARED(u64, shared);                                                                                                            \
		u32 groups = blockDim.x / G, g = threadIdx.x / G;                                                                                  \
		u32 *mine = residues ? residues + (u64)blockIdx.x * grid.size * base.stride : nullptr;                                             \
		sumBlock(Context<type>(base, type(), memory.of(blockIdx.x * groups + g)), g, groups, x, n, grid,                                   \
		         slotsIn(shared, grid.size, base.stride, G == 1, mine), sums);                                                             \
	}                                                                                                                                      \
	MP_REGISTER(reduce3x##G)

MP_BLOCKS_KERNEL(1, Thread);
MP_BLOCKS_KERNEL(8, Warp<8>);
MP_BLOCKS_KERNEL(16, Warp<16>);
MP_BLOCKS_KERNEL(32, Warp<32>);
