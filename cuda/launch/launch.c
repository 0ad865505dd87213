// What a launch costs in a C program: the mean time of cuLaunchKernel over many launches of the kernel empty, and of launches that are waited
// for. To be compared with the Go benchmarks of package gpu. Needs a driver, no toolkit: launch selftest.ptx
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef int (*Function)();

static Function find(void *library, const char *name) {
	Function f = (Function)dlsym(library, name);
	if (!f) {
		fprintf(stderr, "launch: the driver has no %s\n", name);
		exit(3);
	}
	return f;
}

static void check(const char *what, int code) {
	if (code) {
		fprintf(stderr, "launch: %s: error %d\n", what, code);
		exit(3);
	}
}

static double now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

static char *read(const char *path) {
	FILE *f = fopen(path, "rb");
	if (!f) {
		perror(path);
		exit(4);
	}
	char *text = calloc(1, 1 << 20);
	if (fread(text, 1, (1 << 20) - 1, f) == 0) exit(4);
	fclose(f);
	return text;
}

int main(int argc, char **argv) {
	void *cuda = dlopen("libcuda.so.1", RTLD_NOW), *context, *module, *kernel;
	if (!cuda || argc != 2) {
		fprintf(stderr, "launch: %s\n", cuda ? "want the path of selftest.ptx" : "no libcuda.so.1");
		return cuda ? 2 : 3;
	}
	int device;
	check("cuInit", find(cuda, "cuInit")(0));
	check("cuDeviceGet", find(cuda, "cuDeviceGet")(&device, 0));
	check("cuDevicePrimaryCtxRetain", find(cuda, "cuDevicePrimaryCtxRetain")(&context, device));
	check("cuCtxSetCurrent", find(cuda, "cuCtxSetCurrent")(context));
	check("cuModuleLoadData", find(cuda, "cuModuleLoadData")(&module, read(argv[1])));
	check("cuModuleGetFunction", find(cuda, "cuModuleGetFunction")(&kernel, module, "empty"));
	int (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **) =
		(void *)find(cuda, "cuLaunchKernel");
	Function synchronize = find(cuda, "cuCtxSynchronize");
	enum { batch = 500, batches = 40 };
	double best = 1e9, bestWaited = 1e9;
	for (int b = 0; b < batches; b++) {
		check("cuCtxSynchronize", synchronize());
		double start = now();
		for (int i = 0; i < batch; i++) check("cuLaunchKernel", launch(kernel, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL));
		double t = (now() - start) / batch;
		if (t < best) best = t;
		check("cuCtxSynchronize", synchronize());
		start = now();
		for (int i = 0; i < batch; i++) {
			launch(kernel, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL);
			synchronize();
		}
		t = (now() - start) / batch;
		if (t < bestWaited) bestWaited = t;
	}
	printf("launch %.3f us, launch and wait %.3f us (best of %d batches of %d)\n", best * 1e6, bestWaited * 1e6, batches, batch);
	return 0;
}
