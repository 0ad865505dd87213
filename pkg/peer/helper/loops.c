/* Loops over arrays of numbers of MPFR, GMP, QD and FLINT, which have operations on single numbers or rows but none on
   whole arrays. mpbench loads this library and hands it the addresses of the functions that the loops call, so that
   compiling it needs a C compiler and none of the libraries; scripts/peers does it.

   Numbers lie as in the libraries' headers: mpfr.h 4, gmp.h 6, c_dd.h and c_qd.h 2.3, arb.h 2.23 and FLINT 3. */

/* What a loop may expect of this file; to be raised with every change of it. */
int mpbench_loops(void) { return 1; }

typedef struct { long precision; int sign; long exponent; void *limbs; } mpfr;
typedef struct { int precision, size; long exponent; void *limbs; } mpf;
typedef struct { double part[2]; } dd;
typedef struct { double part[4]; } qd;

/* The functions of a library, in the order in which mpbench hands them over. */
typedef struct {
	int (*add)(mpfr *, const mpfr *, const mpfr *, int);
	int (*sub)(mpfr *, const mpfr *, const mpfr *, int);
	int (*mul)(mpfr *, const mpfr *, const mpfr *, int);
	int (*fma)(mpfr *, const mpfr *, const mpfr *, const mpfr *, int);
	void (*zero)(mpfr *, int);
} mpfr_functions;
typedef struct {
	void (*add)(mpf *, const mpf *, const mpf *);
	void (*sub)(mpf *, const mpf *, const mpf *);
	void (*mul)(mpf *, const mpf *, const mpf *);
} mpf_functions;
typedef struct {
	void (*add)(const double *, const double *, double *);
	void (*sub)(const double *, const double *, double *);
	void (*mul)(const double *, const double *, double *);
} dd_functions, qd_functions;

/* The loops of recursive summation: z is the result, t a number for products.
     sum   z = x[0] + x[1] + ... + x[n-1]
     asum  z = |x[0]| + ... + |x[n-1]|
     dots  z[i*columns+j] = a[i*n+0]*x[j*n+0] + ... + a[i*n+n-1]*x[j*n+n-1]
     axpy  z[i] = a*x[i] + y[i]
     scal  z[i] = a*x[i] */
#define LOOPS(T, ADD, SUB, MUL, MULADD, ZERO, NEGATIVE) \
void T##_sum(const T##_functions *f, T *z, const T *x, long n) \
{ \
	ZERO(z); \
	for (long i = 0; i < n; i++) \
		ADD(z, z, x + i); \
} \
void T##_asum(const T##_functions *f, T *z, const T *x, long n) \
{ \
	ZERO(z); \
	for (long i = 0; i < n; i++) \
		if (NEGATIVE(x + i)) \
			SUB(z, z, x + i); \
		else \
			ADD(z, z, x + i); \
} \
void T##_dots(const T##_functions *f, T *z, const T *a, const T *x, long rows, long columns, long n, T *t) \
{ \
	for (long i = 0; i < rows; i++) \
		for (long j = 0; j < columns; j++, z++) { \
			ZERO(z); \
			for (long k = 0; k < n; k++) \
				MULADD(z, a + i * n + k, x + j * n + k, z, t); \
		} \
} \
void T##_axpy(const T##_functions *f, T *z, const T *a, const T *x, const T *y, long n, T *t) \
{ \
	for (long i = 0; i < n; i++) \
		MULADD(z + i, a, x + i, y + i, t); \
} \
void T##_scal(const T##_functions *f, T *z, const T *a, const T *x, long n) \
{ \
	for (long i = 0; i < n; i++) \
		MUL(z + i, a, x + i); \
}

/* MPFR: to nearest; a product and a sum are rounded once. */
#define NEAREST 0
#define ADD(z, x, y) f->add(z, x, y, NEAREST)
#define SUB(z, x, y) f->sub(z, x, y, NEAREST)
#define MUL(z, x, y) f->mul(z, x, y, NEAREST)
#define MULADD(z, a, x, y, t) ((void)(t), f->fma(z, a, x, y, NEAREST))
#define ZERO(z) f->zero(z, 1)
#define NEGATIVE(x) ((x)->sign < 0)
LOOPS(mpfr, ADD, SUB, MUL, MULADD, ZERO, NEGATIVE)
#undef ADD
#undef SUB
#undef MUL
#undef MULADD
#undef ZERO
#undef NEGATIVE

/* GMP */
#define ADD(z, x, y) f->add(z, x, y)
#define SUB(z, x, y) f->sub(z, x, y)
#define MUL(z, x, y) f->mul(z, x, y)
#define MULADD(z, a, x, y, t) (f->mul(t, a, x), f->add(z, t, y))
#define ZERO(z) ((z)->size = 0, (z)->exponent = 0)
#define NEGATIVE(x) ((x)->size < 0)
LOOPS(mpf, ADD, SUB, MUL, MULADD, ZERO, NEGATIVE)
#undef ADD
#undef SUB
#undef MUL
#undef MULADD
#undef ZERO
#undef NEGATIVE

/* QD */
#define ADD(z, x, y) f->add((x)->part, (y)->part, (z)->part)
#define SUB(z, x, y) f->sub((x)->part, (y)->part, (z)->part)
#define MUL(z, x, y) f->mul((x)->part, (y)->part, (z)->part)
#define MULADD(z, a, x, y, t) (MUL(t, a, x), ADD(z, t, y))
#define NEGATIVE(x) ((x)->part[0] < 0)
#define ZERO(z) ((z)->part[0] = (z)->part[1] = 0)
LOOPS(dd, ADD, SUB, MUL, MULADD, ZERO, NEGATIVE)
#undef ZERO
#define ZERO(z) ((z)->part[0] = (z)->part[1] = (z)->part[2] = (z)->part[3] = 0)
LOOPS(qd, ADD, SUB, MUL, MULADD, ZERO, NEGATIVE)

/* Products of matrices by a function that adds up whole rows: z[i*columns+j] is row i of a times column j of x, each of
   n numbers, plus a number of its own. */

/* MPFR: a and x are pointers to numbers, n + 1 for each row and column, the last of which are beta and a place for y.
   With added = 0 there are none of these. */
void mpfr_rows(int (*dot)(mpfr *, mpfr *const *, mpfr *const *, unsigned long, int), mpfr *z, mpfr *const *a, mpfr **x,
	mpfr *y, long rows, long columns, long n, long added)
{
	for (long i = 0; i < rows; i++)
		for (long j = 0; j < columns; j++) {
			mpfr **column = x + j * (n + added);
			if (added)
				column[n] = y + i * columns + j;
			dot(z + i * columns + j, a + i * (n + added), column, n + added, NEAREST);
		}
}

/* FLINT: y is null, or has a number for each component. */
typedef struct { long word[6]; } arb;
void arb_rows(void (*dot)(arb *, const arb *, int, const arb *, long, const arb *, long, long, long), arb *z,
	const arb *a, const arb *x, const arb *y, long rows, long columns, long n, long precision)
{
	for (long i = 0; i < rows; i++)
		for (long j = 0; j < columns; j++) {
			long k = i * columns + j;
			dot(z + k, y ? y + k : y, 0, a + i * n, 1, x + j * n, 1, n, precision);
		}
}
