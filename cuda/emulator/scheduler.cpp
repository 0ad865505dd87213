// The fibers of the emulator: one block at a time, one thread of it at a time.
#include "counts.h"
#include "scheduler.h"

#include <signal.h>
#include <stdio.h>
#include <ucontext.h>

namespace emulator {

thread_local uint3 thread, block;
thread_local dim3 blockShape, gridShape;
thread_local unsigned char *sharedMemory;

namespace {

enum State { ready, atBlock, atWarp, atFlag, done };

// Flag is what a barrier of hopper.cuh has in its 8 bytes.
struct Flag {
	unsigned short arrivals, left; // of a phase, still to come
	short pieces;                  // of 16 bytes, still to come
	unsigned short parity;         // of the phase
};

struct FlaggedCopy {
	void *to;
	const void *from;
	unsigned bytes;
	Flag *flag;
};

typedef std::vector<std::pair<void *, const void *>> Copies;

struct Fiber {
	void *stackPointer;
	State state;
	uint3 index;
	Flag *flag;                    // that it waits for, and the parity of the phase
	unsigned parity;
	unsigned lanes;                // the mask it waits with
	void (*joint)(void *const *);  // what the warp does when it is complete; null for an exchange
	unsigned long long slots[32];  // what the lanes gave in its last exchange
	std::vector<Copies> copies;    // groups that have begun, the last one open
};

struct Block {
	std::vector<Fiber> fibers;
	int current;
	void *schedulerStack;
	const Kernel *kernel;
	void **arguments;
	unsigned long long given[32 * 32]; // by thread
	std::vector<FlaggedCopy> copies;
};

const size_t stackBytes = 256 << 10;
thread_local Block *running;

// switchStack saves the callee-saved registers and the stack pointer, and goes on where the other stack was left.
extern "C" void mpEmulatorSwitch(void **save, void *restore);
#if defined(__x86_64__)
asm(R"(
	.text
	.globl mpEmulatorSwitch
	.type mpEmulatorSwitch, @function
mpEmulatorSwitch:
	pushq %rbp
	pushq %rbx
	pushq %r12
	pushq %r13
	pushq %r14
	pushq %r15
	movq %rsp, (%rdi)
	movq %rsi, %rsp
	popq %r15
	popq %r14
	popq %r13
	popq %r12
	popq %rbx
	popq %rbp
	ret
	.size mpEmulatorSwitch, .-mpEmulatorSwitch
)");

void *prepareStack(unsigned char *stack, void (*entry)()) {
	void **top = (void **)(stack + stackBytes);
	*--top = nullptr; // the return address of entry, which never returns; keeps the stack aligned as after a call
	*--top = (void *)entry;
	for (int i = 0; i < 6; i++) *--top = nullptr;
	return top;
}
#else
// Other processors: the C library's contexts, slower because each switch is a system call.
extern "C" void mpEmulatorSwitch(void **save, void *restore) {
	ucontext_t here;
	*save = &here;
	swapcontext(&here, (ucontext_t *)restore);
}
void *prepareStack(unsigned char *stack, void (*entry)()) {
	ucontext_t *context = (ucontext_t *)stack;
	getcontext(context);
	context->uc_stack.ss_sp = stack + sizeof(ucontext_t);
	context->uc_stack.ss_size = stackBytes - sizeof(ucontext_t);
	context->uc_link = nullptr;
	makecontext(context, entry, 0);
	return context;
}
#endif

void yield(State state) {
	Fiber &fiber = running->fibers[running->current];
	fiber.state = state;
	mpEmulatorSwitch(&fiber.stackPointer, running->schedulerStack);
}

void enter() {
	running->kernel->body(running->kernel->function, running->arguments);
	yield(done);
}

// releaseWarp lets the lanes of the warp of so many threads from first go on whose masks are complete; it returns
// whether any could.
bool releaseWarp(Block &b, unsigned first, unsigned count) {
	bool any = false;
	for (unsigned i = 0; i < count; i++) {
		if (b.fibers[first + i].state != atWarp) continue;
		unsigned lanes = b.fibers[first + i].lanes;
		bool complete = true;
		for (unsigned k = 0; k < count && complete; k++)
			if (lanes >> k & 1) complete = b.fibers[first + k].state == atWarp && b.fibers[first + k].lanes == lanes &&
			                               b.fibers[first + k].joint == b.fibers[first + i].joint;
		if (!complete) continue;
		if (b.fibers[first + i].joint) {
			void *operands[32] = {};
			for (unsigned k = 0; k < count; k++) operands[k] = (void *)(uintptr_t)b.given[first + k];
			b.fibers[first + i].joint(operands);
			for (unsigned k = 0; k < count; k++) b.fibers[first + k].state = ready;
			return true;
		}
		for (unsigned k = 0; k < count; k++) {
			if (!(lanes >> k & 1)) continue;
			Fiber &fiber = b.fibers[first + k];
			for (unsigned s = 0; s < 32; s++)
				fiber.slots[s] = s < count && lanes >> s & 1 ? b.given[first + s] : 0xA5A5A5A5A5A5A5A5ull;
			fiber.state = ready;
		}
		any = true;
	}
	return any;
}

void endPhase(Flag &f) {
	if (f.left || f.pieces) return;
	f.left = f.arrivals;
	f.parity ^= 1;
}

// phaseOver makes the copies that a thread waits for, and reports whether it waits no longer.
bool phaseOver(Block &b, const Fiber &fiber) {
	for (size_t i = 0; i < b.copies.size();) {
		FlaggedCopy c = b.copies[i];
		if (c.flag != fiber.flag) {
			i++;
			continue;
		}
		b.copies.erase(b.copies.begin() + (ptrdiff_t)i);
		memcpy(c.to, c.from, c.bytes);
		c.flag->pieces = (short)(c.flag->pieces - (int)c.bytes / 16);
		endPhase(*c.flag);
	}
	return fiber.flag->parity != fiber.parity;
}

void *stackOf(unsigned i) {
	static thread_local std::vector<void *> pool;
	while (pool.size() <= i) pool.push_back(malloc(stackBytes));
	return pool[i];
}

sigjmp_buf faultJump;
volatile sig_atomic_t faultArmed;

void onFault(int) {
	if (faultArmed) siglongjmp(faultJump, 1);
	_exit(139);
}

// runBlock runs one block to its end; it returns launchFailed for a divergent barrier.
int runBlock(Block &b, bool reverse) {
	unsigned n = (unsigned)b.fibers.size();
	b.copies.clear();
	countBlock(n);
	for (unsigned i = 0; i < n; i++) {
		Fiber &f = b.fibers[i];
		f.index = {i % blockShape.x, i / blockShape.x % blockShape.y, i / blockShape.x / blockShape.y};
		f.state = ready;
		f.copies.assign(1, {});
		f.stackPointer = prepareStack((unsigned char *)stackOf(i), enter);
	}
	for (;;) {
		bool progress = false;
		for (unsigned first = 0; first < n; first += 32) {
			unsigned count = n - first < 32 ? n - first : 32;
			do {
				for (unsigned k = 0; k < count; k++) {
					unsigned i = first + (reverse ? count - 1 - k : k);
					if (b.fibers[i].state == atFlag && phaseOver(b, b.fibers[i])) b.fibers[i].state = ready;
					if (b.fibers[i].state != ready) continue;
					b.current = (int)i;
					thread = b.fibers[i].index;
					progress = true;
					countThread(i);
					mpEmulatorSwitch(&b.schedulerStack, b.fibers[i].stackPointer);
				}
			} while (releaseWarp(b, first, count));
		}
		unsigned waiting = 0, finished = 0;
		for (Fiber &f : b.fibers) waiting += f.state == atBlock, finished += f.state == done;
		if (finished == n || waiting == n) countStep();
		if (finished == n) return 0;
		if (waiting == n) { // every thread of the block: one that has ended counts as missing
			for (Fiber &f : b.fibers) f.state = ready;
		} else if (!progress) {
			fprintf(stderr,
			        "emulator: divergent barrier in %s, block (%u, %u, %u): of %u threads %u wait at a block "
			        "barrier, %u have ended\n",
			        b.kernel->name, block.x, block.y, block.z, n, waiting, finished);
			return launchFailed;
		}
	}
}

} // namespace

void blockBarrier() { yield(atBlock); }

unsigned laneIndex() { return (unsigned)running->current & 31; }

const unsigned long long *exchange(unsigned lanes, unsigned long long value) {
	Fiber &fiber = running->fibers[running->current];
	running->given[running->current] = value;
	fiber.lanes = lanes;
	fiber.joint = nullptr;
	yield(atWarp);
	return running->fibers[running->current].slots;
}

void jointly(void *operands, void (*f)(void *const *lanes)) {
	Fiber &fiber = running->fibers[running->current];
	running->given[running->current] = (unsigned long long)(uintptr_t)operands;
	fiber.lanes = allLanes;
	fiber.joint = f;
	yield(atWarp);
}

void beginCopy(void *to, const void *from) {
	running->fibers[running->current].copies.back().push_back({to, from});
}

void commitGroup() { running->fibers[running->current].copies.emplace_back(); }

void waitGroups(unsigned but) {
	std::vector<Copies> &copies = running->fibers[running->current].copies;
	for (; copies.size() > but + 1; copies.erase(copies.begin()))
		for (auto &copy : copies.front()) memcpy(copy.first, copy.second, 16);
}

void beginFlag(void *flag, unsigned arrivals) {
	*(Flag *)flag = {(unsigned short)arrivals, (unsigned short)arrivals, 0, 0};
}

void arriveFlag(void *flag, unsigned expectedBytes) {
	Flag *f = (Flag *)flag;
	f->pieces = (short)(f->pieces + (int)expectedBytes / 16);
	f->left--;
	endPhase(*f);
}

void waitFlag(void *flag, unsigned parity) {
	Fiber &fiber = running->fibers[running->current];
	fiber.flag = (Flag *)flag;
	fiber.parity = parity;
	yield(atFlag);
}

void copyFlagged(void *to, const void *from, unsigned bytes, void *flag) {
	running->copies.push_back({to, from, bytes, (Flag *)flag});
}

void warpBarrier(unsigned lanes) { exchange(lanes, 0); }

int launch(const Kernel &kernel, void **arguments, dim3 grid, dim3 shape, unsigned sharedBytes) {
	Block b;
	b.kernel = &kernel;
	b.arguments = arguments;
	b.fibers.resize(shape.x * shape.y * shape.z);
	gridShape = grid;
	blockShape = shape;
	const char *order = getenv("MPBENCH_EMULATOR_ORDER");
	bool reverse = order && !strcmp(order, "reverse");
	running = &b;
	sharedMemory = (unsigned char *)malloc(sharedBytes ? sharedBytes : 1);
	countLaunch(sharedMemory, sharedBytes);
	struct sigaction fault = {}, oldSegv, oldBus;
	fault.sa_handler = onFault;
	fault.sa_flags = SA_ONSTACK | SA_NODEFER;
	sigaction(SIGSEGV, &fault, &oldSegv);
	sigaction(SIGBUS, &fault, &oldBus);
	volatile int result = 0;
	if (sigsetjmp(faultJump, 1) == 0) {
		faultArmed = 1;
		for (unsigned z = 0; z < grid.z && !result; z++)
			for (unsigned y = 0; y < grid.y && !result; y++)
				for (unsigned x = 0; x < grid.x && !result; x++) {
					block = {x, y, z};
					memset(sharedMemory, 0xA5, sharedBytes);
					result = runBlock(b, reverse);
				}
	} else {
		result = illegalAddress;
	}
	faultArmed = 0;
	sigaction(SIGSEGV, &oldSegv, nullptr);
	sigaction(SIGBUS, &oldBus, nullptr);
	free(sharedMemory);
	running = nullptr;
	return result;
}

} // namespace emulator
