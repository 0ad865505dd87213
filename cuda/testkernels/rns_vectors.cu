// Arithmetic on vectors of numbers in a residue number system, one number a group of lanes: pkg/rns/rnsgpu.
#include "rns.cuh"

// What elementwise does with each number.
enum Operation { opAdd, opSub, opMul, opScale, opFromDouble, opFromResidues }; // opScale: y is one number

// elementwise sets z_j for this group's numbers j. Operands that an operation does not have are not read.
template <class G>
MP_DEVICE void elementwise(const Base &base, G group, const ScratchMemory &memory, u32 operation, const Vector &z,
                           const Vector &x, const Vector &y, const double *from, u64 n, u32 number, u32 groups) {
	Context<G> c(base, group, memory.of(number));
	for (u64 j = number; j < n; j += groups) {
		Number result, right;
		if (operation <= opSub) {
			right = y.load(j);
			if (operation == opSub) right.neg = !right.neg && !isZero(right);
			result = add(c, z.digitsOf(j), x.load(j), right);
		} else if (operation <= opScale) {
			result = mul(c, z.digitsOf(j), x.load(j), y.load(operation == opMul ? j : 0));
		} else if (operation == opFromDouble) {
			result = fromDouble(c, z.digitsOf(j), from[j]);
		} else {
			result = fromResidues(c, z.digitsOf(j), z.exp[j], z.neg[j] != 0);
		}
		c.group.sync();
		if (c.group.lane() == 0) z.store(j, result);
	}
}

// The kernels rnsVectorG set z_j for j < n by groups of G threads; the memory has room for all groups of the grid.
#define MP_VECTOR_KERNEL(G, group)                                                                                   \
	MP_KERNEL(rnsVector##G, 256)                                                                                     \
	(Base base, ScratchMemory memory, u32 operation, Vector z, Vector x, Vector y, const double *from, u64 n) {      \
		elementwise(base, group(), memory, operation, z, x, y, from, n, (blockIdx.x * blockDim.x + threadIdx.x) / G, \
		            gridDim.x * blockDim.x / G);                                                                     \
	}                                                                                                                \
	MP_REGISTER(rnsVector##G)

MP_VECTOR_KERNEL(1, Thread);
MP_VECTOR_KERNEL(8, Warp<8>);
MP_VECTOR_KERNEL(16, Warp<16>);
MP_VECTOR_KERNEL(32, Warp<32>);

// rnsVectorBlock is the same with a block for each number. Shared memory: sizeof(Block::Partial).
MP_KERNEL(rnsVectorBlock, 1024)
(Base base, ScratchMemory memory, u32 operation, Vector z, Vector x, Vector y, const double *from, u64 n) {
	MP_SHARED(u64, shared);
	elementwise(base, Block(shared), memory, operation, z, x, y, from, n, blockIdx.x, gridDim.x);
}
MP_REGISTER(rnsVectorBlock);
