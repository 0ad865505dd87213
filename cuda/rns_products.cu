// Products of numbers in a residue number system, for dot products: pkg/rns/rnsgpu.
#include "rns.cuh"

// The kernels rnsProductsG set z_j = x_j * y_j for j < n, rounded, by groups of G threads; the memory has room for all
// groups of the grid.
#define MP_PRODUCTS_KERNEL(G)                                                                                \
	MP_KERNEL(rnsProducts##G, 256)(Base base, ScratchMemory memory, Vector z, Vector x, Vector y, u64 n) {   \
		u32 group = (blockIdx.x * blockDim.x + threadIdx.x) / G, groups = gridDim.x * blockDim.x / G;        \
		Context<Warp<G>> c(base, Warp<G>(), memory.of(group));                                               \
		for (u64 j = group; j < n; j += groups) {                                                            \
			Number product = mul(c, z.digitsOf(j), x.load(j), y.load(j));                                    \
			c.group.sync();                                                                                  \
			if (c.group.lane() == 0) z.store(j, product);                                                    \
		}                                                                                                    \
	}                                                                                                        \
	MP_REGISTER(rnsProducts##G)

MP_PRODUCTS_KERNEL(8);
MP_PRODUCTS_KERNEL(16);
MP_PRODUCTS_KERNEL(32);
