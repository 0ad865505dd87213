/* What mpbench calls of cuSPARSE, for the emulator, whose devices have the memory of the host. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <stdlib.h>

typedef struct { int64_t rows, columns, elements; const int *start, *column; const void *values; int kind; } matrix;
typedef struct { int64_t n; void *values; int kind; } vector;
static int only;

/* find looks for the function of the driver that waits, in a library that is loaded. */
static int find(struct dl_phdr_info *info, size_t size, void *function)
{
	void *library = dlopen(info->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
	void *f = library ? dlsym(library, "cuCtxSynchronize") : NULL;
	if (f)
		*(void **)function = f;
	return f != NULL;
}

/* before waits for what was put into the stream before, as a library does that puts its work there, too. */
static int before(void)
{
	static int (*wait)(void);
	return wait || dl_iterate_phdr(find, &wait) ? wait() : 8;
}

int cusparseCreate(int **h) { *h = &only; return 0; }
int cusparseDestroy(int *h) { return h != &only; }
int cusparseGetProperty(int which, int *value) { *value = 99 - which; return 0; }
const char *cusparseGetErrorString(int status) { return status == 7 ? "a wrong argument" : "another error"; }

/* Indices are of 32 bits, from 0 on. */
int cusparseCreateCsr(matrix **m, int64_t rows, int64_t columns, int64_t elements, const int *start, const int *column,
	const void *values, int starts, int numbers, int base, int kind)
{
	if (starts != 2 || numbers != 2 || base != 0 || kind < 0 || kind > 1)
		return 7;
	*m = malloc(sizeof **m);
	**m = (matrix){rows, columns, elements, start, column, values, kind};
	return 0;
}
int cusparseDestroySpMat(matrix *m) { free(m); return 0; }

int cusparseCreateDnVec(vector **v, int64_t n, void *values, int kind)
{
	*v = malloc(sizeof **v);
	**v = (vector){n, values, kind};
	return 0;
}
int cusparseDestroyDnVec(vector *v) { free(v); return 0; }

static int wrong(int *h, int transposed, const matrix *m, const vector *x, const vector *y, int kind, int algorithm)
{
	return h != &only || transposed || algorithm || m->kind != kind || x->kind != kind || y->kind != kind ||
		x->n != m->columns || y->n != m->rows || m->start[m->rows] != m->elements ? 7 : 0;
}

int cusparseSpMV_bufferSize(int *h, int transposed, const void *a, const matrix *m, const vector *x, const void *b,
	const vector *y, int kind, int algorithm, size_t *size)
{
	*size = 1000;
	return wrong(h, transposed, m, x, y, kind, algorithm);
}

/* The workspace says that it was prepared. */
int cusparseSpMV_preprocess(int *h, int transposed, const void *a, const matrix *m, const vector *x, const void *b,
	const vector *y, int kind, int algorithm, char *workspace)
{
	workspace[0] = workspace[999] = 42;
	return wrong(h, transposed, m, x, y, kind, algorithm);
}

/* y = a m x + b y, rows from the last element to the first */
#define MULTIPLY(T) { \
	const T *A = m->values, *X = x->values; \
	T *Y = y->values; \
	for (int64_t i = 0; i < m->rows; i++) { \
		T s = 0; \
		for (int k = m->start[i + 1]; k-- > m->start[i];) \
			s += A[k] * X[m->column[k]]; \
		Y[i] = *(const T *)a * s + (*(const T *)b == 0 ? 0 : *(const T *)b * Y[i]); \
	} \
}
int cusparseSpMV(int *h, int transposed, const void *a, const matrix *m, const vector *x, const void *b,
	const vector *y, int kind, int algorithm, char *workspace)
{
	if (workspace[0] != 42 || workspace[999] != 42 || wrong(h, transposed, m, x, y, kind, algorithm))
		return 7;
	if (before())
		return 8;
	if (kind)
		MULTIPLY(double)
	else
		MULTIPLY(float)
	return 0;
}
