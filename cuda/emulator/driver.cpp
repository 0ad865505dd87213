// A stand-in for libcuda.so.1: the part of the CUDA driver API that the program uses, with the emulator as its device.
//
// Streams are queues that run when something waits for them, so that a missing wait shows. Device memory has a guard
// page behind it, begins as 0xA5 bytes, and is limited to MPBENCH_EMULATOR_MEMORY bytes (1 GiB) of each device. A
// module must be PTX; a kernel must be in the PTX text and among the sources compiled into this library.
//
// There are MPBENCH_EMULATOR_DEVICES devices (1), at most 8, with memory, streams and faults of their own; no device
// reaches the memory of another one. Calls of all threads take turns. MPBENCH_EMULATOR_FAULT=DEVICE:CALLS makes a
// device fault after so many calls.
#include "scheduler.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <stdio.h>
#include <string>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

using emulator::Kernel;

#if defined(__SANITIZE_ADDRESS__)
#define MP_ASAN
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define MP_ASAN
#endif
#endif

namespace {

std::vector<Kernel> &kernels() {
	static std::vector<Kernel> list;
	return list;
}

struct Stream;

// An event may be recorded again while work is queued that waits for an earlier record: it counts its records.
struct Event {
	Stream *stream = nullptr; // of the latest record
	unsigned long recorded = 0, reached = 0;
	double time = 0;
};

typedef std::function<int(Stream &)> Operation;

struct Stream {
	std::deque<Operation> queue;
	bool capturing = false;
};

struct Graph {
	std::deque<Operation> operations;
};

// A kernel of a module, and the bytes of dynamic shared memory that a block may use.
struct Function {
	const Kernel *kernel;
	size_t sharedLimit = 48 << 10;
};

struct Module {
	std::string ptx;
	std::map<std::string, Function> functions;
};

// A device, whose address is the handle of its context.
struct Device {
	int failure = 0; // sticky: every later call returns it, as after a fault on a GPU
	std::set<Stream *> streams;
	Stream defaultStream;
	size_t bytes = 0;                   // of its memory in use
	int untilRefused = -1;              // calls that are to succeed before one is refused; none is if negative
	int refusal = emulator::outOfMemory; // what that one returns
};

const int mostDevices = 8;
Device devices[mostDevices];
thread_local Device *current;

// turn is held during every call.
std::recursive_mutex turn;
typedef std::lock_guard<std::recursive_mutex> Turn;

int setting(const char *name, int otherwise) {
	const char *text = getenv(name);
	return text ? atoi(text) : otherwise;
}

int &deviceCount() {
	static int count = std::max(1, std::min(mostDevices, setting("MPBENCH_EMULATOR_DEVICES", 1)));
	return count;
}

Stream &streamOf(void *s) { return s ? *(Stream *)s : current->defaultStream; }

int drain(Stream &s) {
	while (!current->failure && !s.queue.empty()) {
		Operation next = s.queue.front();
		s.queue.pop_front();
		current->failure = next(s);
	}
	return current->failure;
}

// reach runs the stream's work up to that record of the event, and no further.
int reach(const Event &event, unsigned long record, Stream &s) {
	while (!current->failure && event.reached < record && !s.queue.empty()) {
		Operation next = s.queue.front();
		s.queue.pop_front();
		current->failure = next(s);
	}
	return current->failure;
}

int drainAll() {
	drain(current->defaultStream);
	for (Stream *s : current->streams)
		if (!s->capturing) drain(*s);
	return current->failure;
}

int enqueue(void *stream, Operation operation) {
	if (current->failure) return current->failure;
	streamOf(stream).queue.push_back(operation);
	return 0;
}

struct Allocation {
	unsigned char *map;
	size_t mapped, size;
	Device *device; // nullptr for the host
};
std::map<unsigned char *, Allocation> allocations;

size_t memoryLimit() {
	const char *text = getenv("MPBENCH_EMULATOR_MEMORY");
	return text ? strtoull(text, nullptr, 10) : (size_t)1 << 30;
}

unsigned char *allocate(size_t size, Device *device) {
#if defined(MP_ASAN)
	void *block = nullptr;
	if (posix_memalign(&block, 256, size)) return nullptr;
	Allocation a{(unsigned char *)block, 0, size, device};
	unsigned char *start = a.map;
#else
	size_t page = (size_t)sysconf(_SC_PAGESIZE), rounded = (size + 15) / 16 * 16;
	size_t pages = (rounded + page - 1) / page * page;
	Allocation a{(unsigned char *)mmap(nullptr, pages + page, PROT_READ | PROT_WRITE,
	                                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0),
	             pages + page, size, device};
	if (a.map == MAP_FAILED) return nullptr;
	mprotect(a.map + pages, page, PROT_NONE);
	unsigned char *start = a.map + pages - rounded;
#endif
	if (!start) return nullptr;
	memset(start, 0xA5, size);
	allocations[start] = a;
	return start;
}

int release(void *p, Device *device) {
	auto found = allocations.find((unsigned char *)p);
	if (found == allocations.end() || found->second.device != device) return emulator::invalidValue;
	if (device) device->bytes -= found->second.size;
	if (found->second.mapped)
		munmap(found->second.map, found->second.mapped);
	else
		free(found->second.map);
	allocations.erase(found);
	return 0;
}

// deviceRange reports whether p to p + n - 1 lies in one allocation of the current device.
bool deviceRange(const void *p, size_t n) {
	auto after = allocations.upper_bound((unsigned char *)p);
	if (after == allocations.begin()) return false;
	auto at = std::prev(after);
	return at->second.device == current && (unsigned char *)p + n <= at->first + at->second.size;
}

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

// copyBytes is memcpy for memory that belongs to the Go program, which AddressSanitizer knows nothing of.
__attribute__((no_sanitize("address"), noinline)) void copyBytes(void *to, const void *from, size_t n) {
	volatile unsigned char *t = (volatile unsigned char *)to;
	const volatile unsigned char *f = (const volatile unsigned char *)from;
	size_t i = 0;
	if (((uintptr_t)to | (uintptr_t)from) % 8 == 0)
		for (; i + 8 <= n; i += 8) *(volatile uint64_t *)(t + i) = *(const volatile uint64_t *)(f + i);
	for (; i < n; i++) t[i] = f[i];
}

__attribute__((no_sanitize("address"), noinline)) void writeText(char *to, size_t room, const char *text) {
	if (!to || !room) return;
	volatile char *t = to;
	size_t i = 0;
	for (; i + 1 < room && text[i]; i++) t[i] = text[i];
	t[i] = 0;
}

struct Description {
	int code;
	const char *name, *text;
};
const Description descriptions[] = {
	{0, "CUDA_SUCCESS", "no error"},
	{1, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
	{2, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
	{101, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
	{200, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
	{201, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
	{218, "CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"},
	{222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION", "the provided PTX was compiled with an unsupported toolchain."},
	{500, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
	{700, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
	{712, "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED", "part or all of the requested memory range is already mapped"},
	{713, "CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED", "pointer does not correspond to a registered memory region"},
	{719, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
};

const Description &describe(int code) {
	for (const Description &d : descriptions)
		if (d.code == code) return d;
	static const Description unknown = {-1, "CUDA_ERROR_UNKNOWN", "unknown error"};
	return unknown;
}

} // namespace

void emulator::registerKernel(const Kernel &kernel) { kernels().push_back(kernel); }

#define API extern "C" __attribute__((visibility("default"))) int
#define NEEDS_CONTEXT \
	Turn mine(turn); \
	if (!current) return emulator::invalidContext; \
	if (current->failure) return current->failure
#define MAY_FAIL \
	NEEDS_CONTEXT; \
	if (int code = refused()) return code

// refused returns the result of a call of the current device that is to fail, else 0. Lack of memory ends with the
// call, anything else stays.
static int refused() {
	if (current->untilRefused < 0 || current->untilRefused-- > 0) return 0;
	if (current->refusal != emulator::outOfMemory) current->failure = current->refusal;
	return current->refusal;
}

// mpEmulatorRefuse makes the call that comes after so many others fail on the current device, with a result of the
// driver API: of the calls that may fail on a device in order, which give nothing back. Returns how many were still to
// succeed, -1 if none is refused.
API mpEmulatorRefuse(int after, int code) {
	Turn mine(turn);
	int left = current->untilRefused;
	current->untilRefused = after;
	current->refusal = code;
	return left;
}

// mpEmulatorDevices makes it so many devices from now on.
API mpEmulatorDevices(int n) {
	Turn mine(turn);
	deviceCount() = std::max(1, std::min(mostDevices, n));
	return deviceCount();
}

API cuInit(unsigned) {
	int device, calls;
	const char *text = getenv("MPBENCH_EMULATOR_FAULT");
	if (text && sscanf(text, "%d:%d", &device, &calls) == 2 && device >= 0 && device < mostDevices) {
		devices[device].untilRefused = calls;
		devices[device].refusal = emulator::illegalAddress;
	}
	return 0;
}
API cuDriverGetVersion(int *v) {
	*v = 13000;
	return 0;
}
API cuDeviceGetCount(int *n) {
	*n = deviceCount();
	return 0;
}
API cuDeviceGet(int *d, int i) {
	*d = i;
	return i < 0 || i >= deviceCount() ? emulator::invalidDevice : 0;
}
API cuDeviceGetName(char *s, int n, int) {
	writeText(s, (size_t)n, "emulated");
	return 0;
}
API cuDeviceTotalMem_v2(size_t *n, int) {
	*n = memoryLimit();
	return 0;
}
API cuDeviceGetAttribute(int *v, int attribute, int) {
	switch (attribute) {
	case 1: *v = 1024; break;       // threads of a block
	case 8: *v = 48 << 10; break;   // shared memory of a block
	case 10: *v = 32; break;        // warp size
	case 13: *v = 1000000; break;   // clock, kHz
	case 16: *v = 2; break;         // multiprocessors
	case 36: *v = 1000000; break;   // memory clock, kHz
	case 37: *v = 64; break;        // memory bus, bits
	case 38: *v = 64 << 10; break;  // L2 cache: what empties it takes long here
	case 39: *v = 2048; break;      // threads of a multiprocessor
	case 75: *v = 9; break;         // compute capability
	case 76: *v = 0; break;
	case 81: *v = 228 << 10; break; // shared memory of a multiprocessor
	case 82: *v = 64 << 10; break;  // registers of a multiprocessor
	case 97: *v = 227 << 10; break; // shared memory of a block, if asked for
	case 106: *v = 32; break;       // blocks of a multiprocessor
	default: *v = 0;
	}
	return 0;
}
API cuDevicePrimaryCtxRetain(void **c, int i) {
	*c = devices + i;
	return 0;
}
API cuDevicePrimaryCtxRelease_v2(int) { return 0; }
API cuCtxSetCurrent(void *c) {
	current = (Device *)c;
	return 0;
}
API cuCtxSynchronize() {
	MAY_FAIL;
	return drainAll();
}
API cuModuleLoadDataEx(void **m, const void *image, unsigned count, int *options, void **values) {
	MAY_FAIL;
	std::string text;
	for (const volatile char *p = (const volatile char *)image; *p; p++) text.push_back(*p);
	const char *log = nullptr;
	int result = 0;
	if (text.find(".version") == std::string::npos) {
		log = "emulator: no PTX";
		result = emulator::invalidImage;
	} else if (text.find(".version 99") != std::string::npos) {
		log = "ptxas application ptx input, line 1; fatal   : Unsupported .version 99.0; current version is '9.0'";
		result = emulator::unsupportedPTX;
	}
	for (unsigned i = 0; log && i < count; i++)
		if (options[i] == 5) writeText((char *)values[i], 4096, log);
	if (!result) *m = new Module{text};
	return result;
}
API cuModuleUnload(void *m) {
	NEEDS_CONTEXT;
	delete (Module *)m;
	return 0;
}
API cuModuleGetFunction(void **f, void *m, const char *name) {
	MAY_FAIL;
	Module &module = *(Module *)m;
	auto known = module.functions.find(name);
	if (known != module.functions.end()) {
		*f = &known->second;
		return 0;
	}
	if (module.ptx.find(std::string(".entry ") + name + "(") == std::string::npos) return emulator::notFound;
	for (const Kernel &k : kernels())
		if (!strcmp(k.name, name)) {
			*f = &module.functions.emplace(name, Function{&k}).first->second;
			return 0;
		}
	return emulator::notFound;
}
API cuFuncGetAttribute(int *v, int attribute, void *) {
	*v = attribute == 0 ? 1024 : attribute == 4 ? 32 : 0;
	return 0;
}
API cuFuncSetAttribute(void *f, int attribute, int value) {
	MAY_FAIL;
	if (attribute != 8 || value < 0 || value > 227 << 10) return emulator::invalidValue;
	((Function *)f)->sharedLimit = value;
	return 0;
}
API cuOccupancyMaxActiveBlocksPerMultiprocessor(int *n, void *f, int threads, size_t shared) {
	MAY_FAIL;
	if (threads <= 0) return emulator::invalidValue;
	int byShared = (228 << 10) / (shared + 1024);
	*n = shared > ((const Function *)f)->sharedLimit ? 0 : 2048 / threads < byShared ? 2048 / threads : byShared;
	return 0;
}
API cuLaunchKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                   unsigned shared, void *stream, void **parameters, void **) {
	MAY_FAIL;
	const Function *function = (const Function *)f;
	const Kernel *k = function->kernel;
	if (!gx || !gy || !gz || !bx || !by || !bz || bx * by * bz > 1024 || gy > 65535 || gz > 65535 ||
	    shared > function->sharedLimit)
		return emulator::invalidValue;
	auto copies = std::make_shared<std::vector<std::vector<unsigned char>>>();
	for (size_t i = 0; i < k->sizes.size(); i++) {
		copies->emplace_back(k->sizes[i]);
		copyBytes(copies->back().data(), parameters[i], k->sizes[i]);
	}
	return enqueue(stream, [=](Stream &) {
		std::vector<void *> pointers;
		for (auto &copy : *copies) pointers.push_back(copy.data());
		return emulator::launch(*k, pointers.data(), {gx, gy, gz}, {bx, by, bz}, shared);
	});
}

// What the driver API calls CUlaunchConfig and CUlaunchAttribute.
struct LaunchAttribute {
	unsigned id, padding, value[16];
};
struct LaunchConfig {
	unsigned grid[3], block[3], shared;
	void *stream;
	const LaunchAttribute *attributes;
	unsigned count;
};

// The only attributes: the kernel may begin before the one in front of it has ended, which it does not here; how many
// blocks of the grid are a cluster, one after the other here.
static const unsigned clusterDimension = 4, programmaticSerialization = 6;

API cuLaunchKernelEx(const LaunchConfig *c, void *f, void **parameters, void **) {
	for (unsigned i = 0; i < c->count; i++) {
		const LaunchAttribute &a = c->attributes[i];
		bool early = a.id == programmaticSerialization && a.value[0] <= 1;
		bool cluster = a.id == clusterDimension && a.value[0] && c->grid[0] % a.value[0] == 0 && a.value[0] <= 8;
		if (!early && !cluster) return emulator::invalidValue;
	}
	return cuLaunchKernel(f, c->grid[0], c->grid[1], c->grid[2], c->block[0], c->block[1], c->block[2], c->shared,
	                      c->stream, parameters, nullptr);
}
API cuMemGetInfo_v2(size_t *available, size_t *total) {
	MAY_FAIL;
	*total = memoryLimit();
	*available = *total - current->bytes;
	return 0;
}
API cuMemAlloc_v2(void **p, size_t n) {
	MAY_FAIL;
	if (!n) return emulator::invalidValue;
	if (n > memoryLimit() - current->bytes || !(*p = allocate(n, current))) return emulator::outOfMemory;
	current->bytes += n;
	return 0;
}
API cuMemFree_v2(void *p) {
	NEEDS_CONTEXT;
	drainAll();
	return release(p, current);
}
API cuMemHostAlloc(void **p, size_t n, unsigned) {
	MAY_FAIL;
	return n && (*p = allocate(n, nullptr)) ? 0 : emulator::outOfMemory;
}
API cuMemFreeHost(void *p) {
	NEEDS_CONTEXT;
	drainAll();
	return release(p, nullptr);
}
// What is locked: addresses and sizes.
static std::map<char *, size_t> locked;
API cuMemHostRegister_v2(void *p, size_t n, unsigned) {
	MAY_FAIL;
	if (!n) return emulator::invalidValue;
	auto next = locked.lower_bound((char *)p);
	if (next != locked.end() && next->first < (char *)p + n) return emulator::alreadyLocked;
	if (next != locked.begin() && std::prev(next)->first + std::prev(next)->second > (char *)p)
		return emulator::alreadyLocked;
	locked[(char *)p] = n;
	return 0;
}
API cuMemHostUnregister(void *p) {
	NEEDS_CONTEXT;
	drainAll();
	return locked.erase((char *)p) ? 0 : emulator::notLocked;
}
static int copyNow(void *to, const void *from, size_t n, const void *device) {
	if (!deviceRange(device, n)) return emulator::invalidValue;
	copyBytes(to, from, n);
	return 0;
}
// A copy from ordinary memory returns when the numbers are in the driver's buffers: they get to their place in the
// default stream, for which other streams do not wait.
API cuMemcpyHtoD_v2(void *to, const void *from, size_t n) {
	MAY_FAIL;
	if (!deviceRange(to, n)) return emulator::invalidValue;
	if (int result = drain(current->defaultStream)) return result;
	std::shared_ptr<std::vector<char>> staged(new std::vector<char>((const char *)from, (const char *)from + n));
	return enqueue(nullptr, [=](Stream &) { return copyNow(to, staged->data(), n, to); });
}
API cuMemcpyDtoH_v2(void *to, const void *from, size_t n) {
	MAY_FAIL;
	int result = drain(current->defaultStream);
	return result ? result : copyNow(to, from, n, from);
}
API cuMemcpyHtoDAsync_v2(void *to, const void *from, size_t n, void *stream) {
	MAY_FAIL;
	if (!deviceRange(to, n)) return emulator::invalidValue;
	return enqueue(stream, [=](Stream &) { return copyNow(to, from, n, to); });
}
struct Copy2D {
	size_t fromX, fromY;
	int fromType;
	const char *fromHost;
	void *fromDevice, *fromArray;
	size_t fromPitch, toX, toY;
	int toType;
	void *toHost;
	char *toDevice;
	void *toArray;
	size_t toPitch, width, height;
};
// From the host to the device alone.
API cuMemcpy2DAsync_v2(const Copy2D *copy, void *stream) {
	MAY_FAIL;
	Copy2D c = *copy;
	if (c.fromX || c.fromY || c.toX || c.toY || c.fromType != 1 || c.toType != 2 || c.width > c.fromPitch ||
	    c.width > c.toPitch || !deviceRange(c.toDevice, (c.height - 1) * c.toPitch + c.width))
		return emulator::invalidValue;
	return enqueue(stream, [=](Stream &) {
		for (size_t i = 0; i < c.height; i++) {
			char *row = c.toDevice + i * c.toPitch;
			if (int result = copyNow(row, c.fromHost + i * c.fromPitch, c.width, row)) return result;
		}
		return 0;
	});
}
API cuMemcpyDtoHAsync_v2(void *to, const void *from, size_t n, void *stream) {
	MAY_FAIL;
	if (!deviceRange(from, n)) return emulator::invalidValue;
	return enqueue(stream, [=](Stream &) { return copyNow(to, from, n, from); });
}
API cuMemcpyDtoDAsync_v2(void *to, const void *from, size_t n, void *stream) {
	MAY_FAIL;
	if (!deviceRange(from, n)) return emulator::invalidValue;
	return enqueue(stream, [=](Stream &) { return copyNow(to, from, n, to); });
}
API cuMemsetD8Async(void *p, unsigned char v, size_t n, void *stream) {
	MAY_FAIL;
	if (!deviceRange(p, n)) return emulator::invalidValue;
	return enqueue(stream, [=](Stream &) {
		memset(p, v, n);
		return 0;
	});
}
API cuStreamCreate(void **s, unsigned) {
	MAY_FAIL;
	Stream *stream = new Stream;
	current->streams.insert(stream);
	*s = stream;
	return 0;
}
API cuStreamDestroy_v2(void *s) {
	Turn mine(turn);
	drain(streamOf(s));
	current->streams.erase((Stream *)s);
	delete (Stream *)s;
	return current->failure;
}
API cuStreamSynchronize(void *s) {
	MAY_FAIL;
	return drain(streamOf(s));
}
API cuStreamWaitEvent(void *s, void *e, unsigned) {
	Turn mine(turn);
	Event *event = (Event *)e;
	unsigned long record = event->recorded;
	Stream *other = event->stream;
	return enqueue(s, [=](Stream &) { return other ? reach(*event, record, *other) : 0; });
}
API cuStreamBeginCapture_v2(void *s, unsigned) {
	MAY_FAIL;
	drain(streamOf(s));
	streamOf(s).capturing = true;
	return current->failure;
}
API cuStreamEndCapture(void *s, void **g) {
	Turn mine(turn);
	Stream &stream = streamOf(s);
	Graph *graph = new Graph;
	graph->operations.swap(stream.queue);
	stream.capturing = false;
	*g = graph;
	return current->failure;
}
API cuGraphInstantiateWithFlags(void **x, void *g, unsigned long long) {
	Turn mine(turn);
	*x = new Graph(*(Graph *)g);
	return current->failure;
}
API cuGraphLaunch(void *x, void *s) {
	MAY_FAIL;
	for (const Operation &operation : ((Graph *)x)->operations) enqueue(s, operation);
	return current->failure;
}
API cuGraphDestroy(void *g) {
	Turn mine(turn);
	delete (Graph *)g;
	return 0;
}
API cuGraphExecDestroy(void *g) {
	Turn mine(turn);
	delete (Graph *)g;
	return 0;
}
API cuEventCreate(void **e, unsigned) {
	MAY_FAIL;
	*e = new Event;
	return 0;
}
API cuEventDestroy_v2(void *e) {
	Turn mine(turn);
	drainAll();
	delete (Event *)e;
	return 0;
}
API cuEventRecord(void *e, void *s) {
	MAY_FAIL;
	Event *event = (Event *)e;
	event->stream = &streamOf(s);
	unsigned long record = ++event->recorded;
	return enqueue(s, [=](Stream &) {
		event->reached = record;
		event->time = now();
		return 0;
	});
}
API cuEventSynchronize(void *e) {
	MAY_FAIL;
	Event *event = (Event *)e;
	return event->stream ? reach(*event, event->recorded, *event->stream) : 0;
}
API cuEventElapsedTime(float *ms, void *a, void *b) {
	Turn mine(turn);
	Event *from = (Event *)a, *to = (Event *)b;
	// not ready
	if (!from->recorded || from->reached < from->recorded || !to->recorded || to->reached < to->recorded) return 600;
	*ms = (float)((to->time - from->time) * 1e3);
	return 0;
}
API cuGetErrorName(int code, const char **s) {
	*s = describe(code).name;
	return 0;
}
API cuGetErrorString(int code, const char **s) {
	*s = describe(code).text;
	return 0;
}
