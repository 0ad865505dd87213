// libmpi_abi.so over MPICH's library, for tests: the handles and constants of the standard ABI (MPI 5.0, chapter 20)
// that package comm uses become MPICH's. Any other ends the process.
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef intptr_t Handle;

template <typename F> static F real(const char *name) {
	static void *library = dlopen("libmpich.so.12", RTLD_NOW | RTLD_GLOBAL);
	return reinterpret_cast<F>(dlsym(library, name));
}

static int one(Handle h, Handle standard, int mpich) {
	if (h != standard) abort();
	return mpich;
}
static int world(Handle h) { return one(h, 0x101, 0x44000000); }
static int byte(Handle h) { return one(h, 0x247, 0x4c00010d); }

extern "C" {
int MPI_Get_library_version(char *text, int *n) {
	strcpy(text, "the standard ABI");
	*n = strlen(text);
	return 0;
}
int MPI_Init_thread(int *argc, char ***argv, int required, int *provided) {
	int code = real<int (*)(int *, char ***, int, int *)>("MPI_Init_thread")(argc, argv, required / 1024, provided);
	*provided *= 1024;
	return code;
}
int MPI_Finalize(void) { return real<int (*)(void)>("MPI_Finalize")(); }
int MPI_Abort(Handle c, int status) { return real<int (*)(int, int)>("MPI_Abort")(world(c), status); }
int MPI_Comm_rank(Handle c, int *r) { return real<int (*)(int, int *)>("MPI_Comm_rank")(world(c), r); }
int MPI_Comm_size(Handle c, int *n) { return real<int (*)(int, int *)>("MPI_Comm_size")(world(c), n); }
int MPI_Comm_set_errhandler(Handle c, Handle e) {
	return real<int (*)(int, int)>("MPI_Comm_set_errhandler")(world(c), one(e, 0x142, 0x54000001));
}
int MPI_Error_string(int e, char *s, int *n) { return real<int (*)(int, char *, int *)>("MPI_Error_string")(e, s, n); }
int MPI_Get_processor_name(char *s, int *n) { return real<int (*)(char *, int *)>("MPI_Get_processor_name")(s, n); }
int MPI_Ibarrier(Handle c, Handle *request) {
	int r = 0, code = real<int (*)(int, int *)>("MPI_Ibarrier")(world(c), &r);
	*request = r;
	return code;
}
int MPI_Test(Handle *request, int *flag, void *status) {
	int r = *request, code = real<int (*)(int *, int *, void *)>("MPI_Test")(&r, flag, status);
	*request = r;
	return code;
}
int MPI_Ibcast(void *data, int n, Handle t, int root, Handle c, Handle *request) {
	int r = 0, code = real<int (*)(void *, int, int, int, int, int *)>("MPI_Ibcast")(
		data, n, byte(t), root, world(c), &r);
	*request = r;
	return code;
}
int MPI_Igather(const void *s, int n, Handle t, void *d, int m, Handle u, int root, Handle c, Handle *request) {
	int r = 0, code = real<int (*)(const void *, int, int, void *, int, int, int, int, int *)>("MPI_Igather")(
		s, n, byte(t), d, m, byte(u), root, world(c), &r);
	*request = r;
	return code;
}
}
