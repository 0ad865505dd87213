// Compensated dot products, Dot2 of Ogita, Rump and Oishi in 16 lanes: pkg/reduce/dot2.go, pkg/lanes. A product and
// its addition are 10 operations, of numbers of 8 bytes.
#include "tiles.cuh"

struct Dot2Terms {
	typedef double T;
	static const int Factor = 1, Sum = 2, Lanes = 16;

	MP_DEVICE void fetch(T *z, ComponentPlanes v, u64 i) { z[0] = ((const double *)v.p)[i]; }
	MP_DEVICE void expand(T *z) {}

	MP_DEVICE void addProduct(T *sum, const T *x, const T *y) {
		double p, product, lost;
		twoProduct(x[0], y[0], p, product);
		twoSum(sum[0], p, sum[0], lost);
		sum[1] += product + lost;
	}

	MP_DEVICE void addLane(T *z, const T *x, const T *y) {
		double s, lost;
		twoSum(x[0], y[0], s, lost);
		z[1] = (x[1] + lost) + y[1];
		z[0] = s;
	}
};

// Dot2Results makes alpha*(s + c) + beta*y of a sum, rounded once; or, if they are asked for and that is no number,
// the plain dot product, in which only infinities that are due come up.
struct Dot2Results {
	Product of;
	double *z, alpha, beta;
	const double *y; // null for 0
	bool plain;

	__device__ __forceinline__ void store(u64 row, u64 column, u64, const double *sum) const {
		u64 i = row * of.columns + column;
		double p, e, q, f, t, g;
		twoProduct(alpha, sum[0], p, e);
		twoProduct(beta, y ? y[i] : 0, q, f);
		twoSum(p, q, t, g);
		t += (e + f) + (g + alpha * sum[1]);
		if (plain && !(t - t == 0)) {
			const double *left = (const double *)of.x.p + row * of.n, *right = (const double *)of.y.p + column * of.n;
			t = 0;
			for (u64 k = 0; k < of.n; k++) t += left[k] * right[k];
		}
		z[i] = t;
	}
};

#define MP_DOT2(name, M, N, Across, Ahead)                                                                            \
	MP_KERNEL(name, 128)                                                                                              \
	(double *z, ComponentPlanes x, ComponentPlanes y, u64 rows, u64 columns, u64 n, double alpha, double beta,        \
	 const double *added, u64 plain) {                                                                                \
		Product p{x, y, rows, columns, n, n > 0 ? n : 1};                                                             \
		Tile<Dot2Terms, M, N, Across, Ahead>::run(                                                                    \
			p, 1, Dot2Results{p, z, alpha, beta, added, plain != 0});                                                     \
	}                                                                                                                 \
	MP_REGISTER(name)

MP_DOT2(dot2Tiles, 4, 4, 2, 1);
MP_DOT2(dot2TilesTall, 1, 1, 1, 16);
