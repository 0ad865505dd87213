// Reduce1 and Reduce2 of the 2018 paper by one thread or one block: sums of numbers in a residue number system in the
// orders of pkg/reduce (recursive.go, pairwise.go), with the additions of rns.cuh, so that results are those of a CPU
// bit for bit. Source: K. Isupov et al. (2018), algorithms 3 and 4.
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
	for (; i < terms.end; i++) {
		if (i + 1 < terms.end) fetchAhead(c, terms.x, i + 1);
		s = add(c, sum.digitsOf(0), s, terms.x.load(i));
	}
	c.group.sync();
	if (c.group.lane() == 0) sum.store(0, s);
}

// addPairs goes on with the pairwise summation of n terms on a stack of partial sums, slots; terms.first is even, and
// terms.end even or n. After 2k terms the stack holds as many sums as k has bits that are 1.
template <class G> MP_DEVICE void addPairs(Context<G> c, const Terms &terms, const Vector &slots, u64 n) {
	u32 top = 0;
	for (u64 k = terms.first / 2; k; k &= k - 1) top++;
	for (u64 i = terms.first; i + 1 < terms.end; i += 2) {
		if (i + 2 < terms.end) fetchAhead(c, terms.x, i + 2);
		if (i + 3 < terms.end) fetchAhead(c, terms.x, i + 3);
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

// The kernels of one group: of one thread (Serial), of a warp for at most 32 residues (Warp), of a block (Block, with
// shared memory for Block::Partial). sum is one number, slots are bits(n) + 1.
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
