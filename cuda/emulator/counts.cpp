// What instrumented kernels call, and how it becomes counts: see counts.h.
#include "counts.h"

#if defined(MP_COUNT)

#include <algorithm>
#include <stdint.h>
#include <string.h>
#include <tuple>
#include <vector>

namespace emulator {
namespace {

struct Step {
	unsigned long long warps, divergent, accesses, conflicts;
};

struct Access {
	uintptr_t place;
	unsigned time; // how often the thread was there before, in this step
	unsigned offset, size, lane;

	bool operator<(const Access &b) const {
		return std::tie(place, time, lane) < std::tie(b.place, b.time, b.lane);
	}
};

// What a thread has done in the present step.
struct Trace {
	bool ran;
	uint64_t path; // a hash of the places it was at
	std::vector<Access> accesses;
	std::vector<std::pair<uintptr_t, unsigned>> times; // of places
};

const size_t mostLaunches = 64; // that are kept
std::vector<std::vector<Step>> launches;
std::vector<Trace> traces;
Trace *current;
uintptr_t sharedStart;
size_t sharedBytes, step;
unsigned threads;

void visit(void *place) {
	if (current) current->path = (current->path ^ (uintptr_t)place) * 0x9E3779B97F4A7C15ull;
}

void access(const void *address, unsigned size, void *place) {
	uintptr_t offset = (uintptr_t)address - sharedStart;
	if (!current || offset >= sharedBytes) return;
	unsigned time = 0;
	auto found = std::find_if(current->times.begin(), current->times.end(),
	                          [&](auto &t) { return t.first == (uintptr_t)place; });
	if (found == current->times.end())
		current->times.emplace_back((uintptr_t)place, 1);
	else
		time = found->second++;
	unsigned lane = (unsigned)(current - traces.data()) % 32;
	current->accesses.push_back(Access{(uintptr_t)place, time, (unsigned)offset, size, lane});
}

// countBanks counts an access by threads from begin to end: distinct words of the bank that has most of them.
void countBanks(const Access *begin, const Access *end, Step &to) {
	std::vector<unsigned> words;
	for (const Access *a = begin; a != end; a++)
		for (unsigned w = a->offset / 4; w <= (a->offset + a->size - 1) / 4; w++) words.push_back(w);
	std::sort(words.begin(), words.end());
	words.erase(std::unique(words.begin(), words.end()), words.end());
	unsigned inBank[32] = {}, most = 0;
	for (unsigned w : words) most = std::max(most, ++inBank[w % 32]);
	to.accesses++;
	to.conflicts += most - 1;
}

void countAccesses(std::vector<Access> &list, Step &to) {
	std::sort(list.begin(), list.end());
	for (size_t i = 0, k; i < list.size(); i = k) {
		unsigned lanes = list[i].size <= 4 ? 32 : 128 / list[i].size; // that are served together
		auto together = [&](const Access &a) {
			return a.place == list[i].place && a.time == list[i].time && a.lane / lanes == list[i].lane / lanes;
		};
		for (k = i; k < list.size() && together(list[k]); k++) {
		}
		countBanks(&list[i], &list[0] + k, to);
	}
}

void countWarp(Trace *begin, Trace *end, Step &to) {
	const Trace *first = nullptr;
	bool diverges = false;
	std::vector<Access> list;
	for (Trace *t = begin; t != end; t++) {
		if (!t->ran) continue;
		if (!first) first = t;
		diverges = diverges || t->path != first->path;
		list.insert(list.end(), t->accesses.begin(), t->accesses.end());
	}
	if (!first) return;
	to.warps++;
	to.divergent += diverges;
	countAccesses(list, to);
}

} // namespace

void countLaunch(const void *shared, size_t bytes) {
	sharedStart = (uintptr_t)shared;
	sharedBytes = bytes;
	if (launches.size() == mostLaunches) launches.erase(launches.begin());
	launches.emplace_back();
}

static void forgetStep() {
	current = nullptr;
	for (Trace &t : traces) {
		t.ran = false;
		t.path = 0;
		t.accesses.clear();
		t.times.clear();
	}
}

void countBlock(unsigned n) {
	threads = n;
	step = 0;
	traces.resize(std::max<size_t>(traces.size(), n));
	forgetStep();
}

void countThread(unsigned thread) {
	current = &traces[thread];
	current->ran = true;
}

void countStep() {
	std::vector<Step> &steps = launches.back();
	if (steps.size() == step) steps.push_back(Step{});
	for (unsigned i = 0; i < threads; i += 32)
		countWarp(&traces[i], &traces[0] + std::min(threads, i + 32), steps[step]);
	step++;
	forgetStep();
}

} // namespace emulator

#define HOOK extern "C" __attribute__((visibility("default")))

// mpEmulatorSteps writes the counts of the steps of the launch that so many others followed, four numbers a step, as
// far as there is room, and returns how many steps there are; -1 if the launch is not known.
HOOK int mpEmulatorSteps(int before, unsigned long long *out, int room) {
	int i = (int)emulator::launches.size() - 1 - before;
	if (i < 0) return -1;
	const auto &steps = emulator::launches[i];
	memcpy(out, steps.data(), std::min<size_t>(room, steps.size()) * sizeof(emulator::Step));
	return (int)steps.size();
}

#define PLACE __builtin_return_address(0)

HOOK void __sanitizer_cov_trace_pc() { emulator::visit(PLACE); }

#define ACCESS(kind, size) \
	HOOK void __tsan_##kind##size(void *p) { emulator::access(p, size, PLACE); }
#define ACCESSES(kind) ACCESS(kind, 1) ACCESS(kind, 2) ACCESS(kind, 4) ACCESS(kind, 8) ACCESS(kind, 16)
ACCESSES(read)
ACCESSES(write)
ACCESSES(read_write)
ACCESSES(unaligned_read)
ACCESSES(unaligned_write)
ACCESSES(unaligned_read_write)
ACCESSES(volatile_read)
ACCESSES(volatile_write)
ACCESSES(unaligned_volatile_read)
ACCESSES(unaligned_volatile_write)

HOOK void __tsan_init() {}
HOOK void __tsan_func_entry(void *) {}
HOOK void __tsan_func_exit() {}
HOOK void __tsan_vptr_update(void **, void *) {}
HOOK void __tsan_vptr_read(void **) {}
HOOK void __tsan_read_range(void *p, size_t n) { emulator::access(p, (unsigned)n, PLACE); }
HOOK void __tsan_write_range(void *p, size_t n) { emulator::access(p, (unsigned)n, PLACE); }
HOOK void *__tsan_memset(void *p, int v, size_t n) { return memset(p, v, n); }
HOOK void *__tsan_memcpy(void *to, const void *from, size_t n) { return memcpy(to, from, n); }
HOOK void *__tsan_memmove(void *to, const void *from, size_t n) { return memmove(to, from, n); }

#endif
