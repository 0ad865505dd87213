// Sums and dot products in binary64 of binary32 numbers, from the first term to the last: format.Binary32In64.
#include "portable.cuh"

// A block of 128 threads computes the dot products of Height rows of x and Width columns of y, n terms each. It brings
// Depth terms of all of them to shared memory at a time, as binary64, while M x N sums a thread go on with those
// before: every thread where the tile is large, for single columns one warp, which adds while the others read. Terms
// beyond the end are 0.
template <int M, int N, int Height, int Width, int Depth> struct Recursive {
	static const int Lines = Height + Width, Each = (Lines * Depth + 127) / 128, Pitch = Depth + 1;
	static const u32 Across = Width / N, Adders = Height / M * Across;

	const float *x, *y; // y is null for sums of x
	u64 rows, columns, n;
	bool magnitudes;

	// element returns term i of a line of the tile, 0 beyond the end.
	__device__ __forceinline__ double element(u64 top, u64 side, u32 line, u64 i) const {
		u64 row = top + line, column = side + line - Height;
		if (i >= n || (line < Height ? row >= rows : column >= columns)) return 0;
		if (line >= Height) return y ? (double)y[column * n + i] : 1;
		double v = (double)x[row * n + i];
		return magnitudes && v < 0 ? -v : v;
	}

	__device__ __forceinline__ void run(float *z) const {
		MP_SHARED(double, terms);
		u64 across = (columns + Width - 1) / Width, top = blockIdx.x / across * Height, side = blockIdx.x % across * Width;
		u32 t = threadIdx.x, down = t / Across * M, right = Height + t % Across * N;
		double next[Each], sum[M][N];
#pragma unroll
		for (int m = 0; m < M; m++) {
#pragma unroll
			for (int j = 0; j < N; j++) sum[m][j] = 0;
		}
		for (u64 from = 0; from < n + Depth; from += Depth) { // one turn more than there are terms
#pragma unroll
			for (int i = 0; i < Each; i++) {
				u32 place = 128 * i + t;
				next[i] = place < Lines * Depth ? element(top, side, place / Depth, from + place % Depth) : 0;
			}
			if (from > 0 && t < Adders) {
#pragma unroll 16
				for (u32 k = 0; k < Depth; k++) {
#pragma unroll
					for (int m = 0; m < M; m++) {
#pragma unroll
						for (int j = 0; j < N; j++)
							sum[m][j] += terms[(down + m) * Pitch + k] * terms[(right + j) * Pitch + k];
					}
				}
			}
			blockSync();
#pragma unroll
			for (int i = 0; i < Each; i++) {
				u32 place = 128 * i + t;
				if (place < Lines * Depth) terms[place / Depth * Pitch + place % Depth] = next[i];
			}
			blockSync();
		}
		if (t >= Adders) return;
#pragma unroll
		for (int m = 0; m < M; m++) {
#pragma unroll
			for (int j = 0; j < N; j++) {
				u64 row = top + down + m, column = side + right - Height + j;
				if (row < rows && column < columns) z[row * columns + column] = (float)sum[m][j];
			}
		}
	}
};

#define MP_RECURSIVE(name, ...)                                                                                \
	MP_KERNEL(name, 128)                                                                                       \
	(float *z, const float *x, const float *y, u64 rows, u64 columns, u64 n, u64 magnitudes) {                 \
		Recursive<__VA_ARGS__>{x, y, rows, columns, n, magnitudes != 0}.run(z);                                \
	}                                                                                                          \
	MP_REGISTER(name)

MP_RECURSIVE(recursiveTiles, 4, 4, 64, 32, 16);
MP_RECURSIVE(recursiveTilesTall, 1, 1, 32, 1, 128);
