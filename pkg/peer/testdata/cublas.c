/* What mpbench calls of cuBLAS, for the emulator, whose devices have the memory of the host. */
#include <math.h>

typedef struct { int device; } handle; /* where results go */
static handle only;

int cublasCreate_v2(handle **h) { *h = &only; return 0; }
int cublasDestroy_v2(handle *h) { return h != &only; }
int cublasSetPointerMode_v2(handle *h, int device) { h->device = device; return 0; }
int cublasGetProperty(int which, int *value) { *value = 99 - which; return 0; }

int cublasDcopy_v2(handle *h, int n, const double *x, int dx, double *y, int dy)
{
	for (int i = 0; i < n; i++)
		y[i * dy] = x[i * dx];
	return h->device;
}

int cublasDasum_v2(handle *h, int n, const double *x, int dx, double *z)
{
	double s = 0;
	for (int i = n; i-- > 0;)
		s += fabs(x[i * dx]);
	*z = s;
	return !h->device;
}

int cublasDdot_v2(handle *h, int n, const double *x, int dx, const double *y, int dy, double *z)
{
	double s = 0;
	for (int i = n; i-- > 0;)
		s += x[i * dx] * y[i * dy];
	*z = s;
	return !h->device;
}

int cublasDaxpy_v2(handle *h, int n, const double *a, const double *x, int dx, double *y, int dy)
{
	for (int i = 0; i < n; i++)
		y[i * dy] += *a * x[i * dx];
	return h->device;
}

int cublasDscal_v2(handle *h, int n, const double *a, double *x, int dx)
{
	for (int i = 0; i < n; i++)
		x[i * dx] *= *a;
	return h->device;
}

/* C = a op(A) op(B) + b C, by columns */
int cublasDgemm_v2(handle *h, int ta, int tb, int m, int n, int k, const double *a, const double *A, int lda,
	const double *B, int ldb, const double *b, double *C, int ldc)
{
	for (int i = 0; i < m; i++)
		for (int j = 0; j < n; j++) {
			double s = 0;
			for (int l = 0; l < k; l++)
				s += (ta ? A[l + i * lda] : A[i + l * lda]) * (tb ? B[j + l * ldb] : B[l + j * ldb]);
			C[i + j * ldc] = *a * s + (*b == 0 ? 0 : *b * C[i + j * ldc]);
		}
	return h->device;
}

int cublasDgemv_v2(handle *h, int trans, int m, int n, const double *a, const double *A, int lda, const double *x,
	int dx, const double *b, double *y, int dy)
{
	if (dx != 1 || dy != 1 || !trans)
		return 7;
	return cublasDgemm_v2(h, 1, 0, n, 1, m, a, A, lda, x, m, b, y, n);
}
