// Counts of what kernels do, step by step: a step is what the threads of a block do between two barriers. The counts
// of a step are those of all blocks of a launch.
//
// It needs kernels that the compiler has instrumented, with -fsanitize=thread -fsanitize-coverage=trace-pc: every
// access of memory and every basic block calls a function, which here are this file's own, and not a sanitizer's.
// MP_COUNT says that it is so; otherwise nothing is counted and nothing is paid. Kernels need not know.
//
// A warp diverges in a step if two of its threads run different basic blocks, or in another order, as the host's
// compiler made them. An access of shared memory by a warp is what its threads do at the same place of the program for
// the same time in the step: of words of 4 bytes in 32 banks, one word a bank at a time. 32 threads have one access of
// 4 bytes, half of them one of 8, a quarter one of 16. Each further word of the bank with most of them is a conflict.
// Shared memory is the dynamic one of the launch.
#pragma once
#include <stddef.h>

namespace emulator {

#if defined(MP_COUNT)
void countLaunch(const void *shared, size_t bytes);
void countBlock(unsigned threads);
void countThread(unsigned thread); // that runs from now on
void countStep();                  // has ended
#else
static inline void countLaunch(const void *, size_t) {}
static inline void countBlock(unsigned) {}
static inline void countThread(unsigned) {}
static inline void countStep() {}
#endif

} // namespace emulator
