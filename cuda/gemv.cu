// y = alpha*op(A)*x + beta*y with rounded operations in a residue number system: pkg/gemv.
//
// The paper's ten kernels (rns-split) are d = alpha*x, y = beta*y and B = A*diag(d) or diag(d)*A in three each,
// fields, residues and rounding, and the sums of the rows of B. rns-basic has one thread for each component. Both do
// the operations of the CPU's methods in their order, so that results are the same bit for bit.
//
// Source: K. Isupov, V. Knyazkov (2020), section 4.
#include "gemv_round.cuh"

// Products are z_ij = left * right for i < rows, j < columns: number j*rows + i of z, i*leftRow + j*leftColumn of left
// and i*rightRow + j*rightColumn of right. A vector is one column. parameters.go has it in Go.
struct Products {
	Vector z, left, right;
	u64 leftRow, leftColumn, rightRow, rightColumn;
	u32 rows, columns;
	MP_MEMBER u64 number(u32 i, u32 j) const { return (u64)j * rows + i; }
	MP_MEMBER u64 leftOf(u32 i, u32 j) const { return i * leftRow + j * leftColumn; }
	MP_MEMBER u64 rightOf(u32 i, u32 j) const { return i * rightRow + j * rightColumn; }
};

// A pending product has an operand that may be wide: its residues would not hold it, so rounding computes it from the
// operands.
static const i32 pendingExp = 0x7fffffff;

MP_DEVICE Number fieldsOfProduct(const Base &b, const Number &x, const Number &y) {
	if (isZero(x) || isZero(y)) return zeroNumber(x.digits);
	Number z = {x.digits, x.neg != y.neg, x.exp + y.exp, {0, 1ull << 63, pendingExp}};
	Interval limit = limitInterval(b);
	if (order(x.v, limit) < 0 && order(y.v, limit) < 0) z.v = productOf(x.v, y.v, b.mantissa, b.log2M);
	return z;
}

// gemvFields computes signs, exponents and interval evaluations of products, one a thread, on a two-dimensional grid:
// blockIdx.y goes through the columns.
MP_KERNEL(gemvFields, 1024)(Base base, Products p) {
	for (u32 j = blockIdx.y; j < p.columns; j += gridDim.y) {
		Number right = p.right.load(p.rightOf(0, j));
		for (u32 i = blockIdx.x * blockDim.x + threadIdx.x; i < p.rows; i += gridDim.x * blockDim.x) {
			if (p.rightRow) right = p.right.load(p.rightOf(i, j));
			p.z.store(p.number(i, j), fieldsOfProduct(base, p.left.load(p.leftOf(i, j)), right));
		}
	}
}
MP_REGISTER(gemvFields);

// gemvResidues computes residues of products, one a thread: thread t of a block has residue t mod stride, so that it
// keeps its modulus. A block of fewer threads than residues goes through them in turn.
MP_KERNEL(gemvResidues, 1024)(Base base, Products p) {
	u32 lanes = base.stride < blockDim.x ? base.stride : blockDim.x;
	u32 numbers = blockDim.x / lanes, number = threadIdx.x / lanes;
	if (number >= numbers) return;
	for (u32 r = threadIdx.x % lanes; r < base.stride; r += lanes) {
		const Residue residue = base.residues[r];
		for (u32 j = blockIdx.y; j < p.columns; j += gridDim.y) {
			u32 right = p.right.digitsOf(p.rightOf(0, j))[r];
#pragma unroll 4
			for (u32 i = blockIdx.x * numbers + number; i < p.rows; i += gridDim.x * numbers) {
				if (p.rightRow) right = p.right.digitsOf(p.rightOf(i, j))[r];
				p.z.digitsOf(p.number(i, j))[r] = reduceProduct((u64)p.left.digitsOf(p.leftOf(i, j))[r] * right, residue);
			}
		}
	}
}
MP_REGISTER(gemvResidues);

// roundProducts rounds the products as a vector of rows*columns numbers, one a group of lanes; round rounds those that
// intervals decide about, by so many bits.
template <class G, class F>
MP_DEVICE void roundProducts(Context<G> &c, const Products &p, u32 group, u32 groups, F round) {
	const Base &b = c.b;
	u64 n = (u64)p.rows * p.columns;
	for (u64 t = group; t < n; t += groups) {
		Number z = p.z.load(t);
		if (isZero(z)) continue;
		if (z.v.exp == pendingExp) {
			u32 i = (u32)(t % p.rows), j = (u32)(t / p.rows);
			z = mulExactly(b.self, c.group, c.scratch, z.digits, p.left.load(p.leftOf(i, j)), p.right.load(p.rightOf(i, j)));
		} else {
			Scaling s = roundingOf(b, z.v);
			if (!tight(z.v) || !s.sure) {
				z = roundExactly(b.self, c.group, c.scratch, z);
			} else if (s.k > 0) {
				z = round(z, s.k);
				if (!tight(z.v)) {
					c.group.sync();
					z.v = evaluate(c, z.digits);
				}
			} else {
				continue;
			}
		}
		c.group.sync(); // all lanes have loaded z
		if (c.group.lane() == 0) p.z.store(t, z);
	}
}

// The kernels gemvRoundGxR round products by groups of G threads with R residues each in registers, for at most G*R
// residues; the memory has room for all groups of the grid; lowM is M mod 2^64.
#define MP_ROUND_KERNEL(G, R)                                                                         \
	MP_KERNEL(gemvRound##G##x##R, 256)(Base base, ScratchMemory memory, Products p, u64 lowM) {       \
		u32 group = (blockIdx.x * blockDim.x + threadIdx.x) / G, groups = gridDim.x * blockDim.x / G; \
		Context<GroupOf<G>::type> c(base, GroupOf<G>::type(), memory.of(group));                      \
		Held<G, R> held;                                                                              \
		held.loadModuli(base, c.group.lane(), lowM);                                                  \
		auto round = [&](const Number &z, i32 k) { return roundHeld<G, R>(c, held, z, k, lowM); };    \
		roundProducts(c, p, group, groups, round);                                                    \
	}                                                                                                 \
	MP_REGISTER(gemvRound##G##x##R)

MP_ROUND_KERNEL(1, 8);
MP_ROUND_KERNEL(2, 4);
MP_ROUND_KERNEL(2, 8);
MP_ROUND_KERNEL(4, 4);
MP_ROUND_KERNEL(4, 8);
MP_ROUND_KERNEL(8, 4);
MP_ROUND_KERNEL(8, 8);
MP_ROUND_KERNEL(16, 4);
MP_ROUND_KERNEL(16, 8);
MP_ROUND_KERNEL(32, 4);
MP_ROUND_KERNEL(32, 8);

// gemvRoundAny is the same for any number of residues, which stay in memory.
MP_KERNEL(gemvRoundAny, 256)(Base base, ScratchMemory memory, Products p, u64 lowM) {
	(void)lowM;
	u32 group = (blockIdx.x * blockDim.x + threadIdx.x) / 32, groups = gridDim.x * blockDim.x / 32;
	Context<Warp<32>> c(base, Warp<32>(), memory.of(group));
	auto round = [&](const Number &z, i32 k) { return roundTo(base.self, c.group, c.scratch, z, k); };
	roundProducts(c, p, group, groups, round);
}
MP_REGISTER(gemvRoundAny);

// Sums are y_i += sum of the terms i*row + j*term of b, j < n, for i < rows, in the order of pkg/gemv/order.go: used
// slots for a component. parameters.go has it in Go.
struct Sums {
	Vector b, y;
	u64 row, term;
	u32 *residues; // device memory for the slots of all blocks, or null where they are in shared memory
	u32 rows, n, used;
	u32 blockRows; // components of a block
	u32 add;       // 0: y does not count
	u32 unused;
};

// slotsIn lays out so many slots of this block: signs, exponents and intervals in shared memory, residues behind them
// or in device memory; interleaved: residue i of slot t at i*count + t, otherwise at t*stride + i. Shared memory: 8 *
// ceil(29/8 * count) bytes, and 4 * stride * count for residues.
MP_DEVICE Vector slotsIn(u64 *shared, u32 count, u32 stride, bool interleaved, u32 *residues) {
	Vector v;
	v.lo = shared;
	v.up = v.lo + count;
	v.exp = (i64 *)(v.up + count);
	v.intervalExp = (i32 *)(v.exp + count);
	v.neg = (u8 *)(v.intervalExp + count);
	v.digits = residues ? residues + (u64)blockIdx.x * count * stride : (u32 *)(shared + (29 * count + 7) / 8);
	v.numberStep = interleaved ? 1 : stride;
	v.residueStep = interleaved ? count : 1;
	v.unused = 0;
	return v;
}

// sumRows adds the terms of blockRows components at a time; group g of groups of this block does slots g, g + groups,
// ... Slot t of component r is number t*blockRows + r where neighbouring components are neighbours in memory, and
// otherwise r*used + t.
template <class G> MP_DEVICE void sumRows(Context<G> &c, u32 g, u32 groups, const Sums &s, const Vector &slots) {
	u32 count = s.blockRows * s.used;
	u32 slotRow = s.row < s.term ? 1 : s.used, slotTerm = s.row < s.term ? s.blockRows : 1;
	for (u32 first = blockIdx.x * s.blockRows; first < s.rows; first += gridDim.x * s.blockRows) {
		for (u32 q = g; q < count; q += groups) {
			u32 r = q / slotRow % s.blockRows, t = q / slotTerm % s.used;
			if (first + r >= s.rows) continue;
			u64 at = (first + r) * s.row;
			Number sum = copied(c, slots.digitsOf(q), s.b.load(at + t * s.term));
			for (u32 j = t + s.used; j < s.n; j += s.used) sum = add(c, slots.digitsOf(q), sum, s.b.load(at + j * s.term));
			c.group.sync();
			if (c.group.lane() == 0) slots.store(q, sum);
		}
		u32 half = 1;
		while (2 * half < s.used) half *= 2;
		for (; s.used > 1 && half >= 1; half /= 2) {
			blockSync();
			for (u32 q = g; q < s.blockRows * half; q += groups) {
				u32 r = slotRow == 1 ? q % s.blockRows : q / half, t = slotRow == 1 ? q / s.blockRows : q % half;
				if (first + r >= s.rows || t + half >= s.used) continue;
				u32 slot = r * slotRow + t * slotTerm;
				Number sum = add(c, slots.digitsOf(slot), slots.load(slot), slots.load(slot + half * slotTerm));
				c.group.sync();
				if (c.group.lane() == 0) slots.store(slot, sum);
			}
		}
		blockSync();
		for (u32 r = g; r < s.blockRows && first + r < s.rows; r += groups) {
			Number sum = slots.load(r * slotRow), y = s.add ? s.y.load(first + r) : zeroNumber(s.y.digitsOf(first + r));
			sum = add(c, y.digits, y, sum);
			c.group.sync();
			if (c.group.lane() == 0) s.y.store(first + r, sum);
		}
		blockSync();
	}
}

// The kernels gemvSumsG add by groups of G threads. Shared memory: see slotsIn, for blockRows * used slots.
#define MP_SUMS_KERNEL(G, T)                                                                              \
	MP_KERNEL(gemvSums##G, T)(Base base, ScratchMemory memory, Sums s) {                                  \
		MP_SHARED(u64, shared);                                                                           \
		u32 groups = blockDim.x / G, g = threadIdx.x / G;                                                 \
		Context<GroupOf<G>::type> c(base, GroupOf<G>::type(), memory.of(blockIdx.x * groups + g));        \
		sumRows(c, g, groups, s, slotsIn(shared, s.blockRows * s.used, base.stride, G == 1, s.residues)); \
	}                                                                                                     \
	MP_REGISTER(gemvSums##G)

MP_SUMS_KERNEL(1, 256);
MP_SUMS_KERNEL(4, 512);
MP_SUMS_KERNEL(8, 512);
MP_SUMS_KERNEL(16, 512);
MP_SUMS_KERNEL(32, 512);

// gemvBasicProducts computes whole products, one a thread; the memory has room for all threads of the grid.
MP_KERNEL(gemvBasicProducts, 256)(Base base, ScratchMemory memory, Products p) {
	u32 thread = blockIdx.x * blockDim.x + threadIdx.x;
	Context<Thread> c(base, Thread(), memory.of(thread));
	for (u32 i = thread; i < p.rows; i += gridDim.x * blockDim.x) {
		u64 z = p.number(i, 0);
		p.z.store(z, mul(c, p.z.digitsOf(z), p.left.load(p.leftOf(i, 0)), p.right.load(p.rightOf(i, 0))));
	}
}
MP_REGISTER(gemvBasicProducts);

// Rows are y_i += sum over j < n of (left * right), from left to right, for products of i < rows; z are 2*rows numbers
// of scratch memory, interleaved. parameters.go has it in Go.
struct Rows {
	Products p; // z: the products; columns: the terms of a sum
	Vector sums, y;
	u32 add; // 0: y does not count
	u32 unused;
};

// gemvBasicRows computes whole components, one a thread.
MP_KERNEL(gemvBasicRows, 256)(Base base, ScratchMemory memory, Rows s) {
	u32 thread = blockIdx.x * blockDim.x + threadIdx.x;
	Context<Thread> c(base, Thread(), memory.of(thread));
	const Products &p = s.p;
	for (u32 i = thread; i < p.rows; i += gridDim.x * blockDim.x) {
		Number sum = cleared(c, s.sums.digitsOf(i));
		for (u32 j = 0; j < p.columns; j++) {
			Number product = mul(c, p.z.digitsOf(i), p.left.load(p.leftOf(i, j)), p.right.load(p.rightOf(i, j)));
			sum = add(c, s.sums.digitsOf(i), sum, product);
		}
		Number y = s.add ? s.y.load(i) : zeroNumber(s.y.digitsOf(i));
		s.y.store(i, add(c, y.digits, y, sum));
	}
}
MP_REGISTER(gemvBasicRows);
