// What the stand-in driver needs of the scheduler.
#pragma once
#include "emulator.h"

namespace emulator {

// Results of the CUDA driver API.
const int invalidValue = 1, outOfMemory = 2, invalidDevice = 101, invalidImage = 200, invalidContext = 201,
          invalidPTX = 218, unsupportedPTX = 222, notFound = 500, illegalAddress = 700, alreadyLocked = 712,
          notLocked = 713, launchFailed = 719;

// launch runs all blocks of a kernel and returns 0, launchFailed for a divergent barrier, or illegalAddress for an
// access to memory that is not there.
int launch(const Kernel &kernel, void **arguments, dim3 grid, dim3 shape, unsigned sharedBytes);

} // namespace emulator
