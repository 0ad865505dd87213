// Package gpu runs kernels on NVIDIA GPUs through the CUDA driver, without cgo and without a CUDA toolkit: the
// driver's library is opened at run time, and kernels are PTX text (package mpbench/cuda) that the driver compiles
// when a module is first used.
//
// # Threads
//
// A CUDA context belongs to threads of the operating system. Each [Device] has one goroutine locked to one thread,
// which owns the device's primary context; [Device.Do] runs a function there. Everything that talks to the driver,
// that is the methods of [Module], [Kernel], [Buffer], [Pinned], [Stream], [Event] and [Graph], must be called from a
// function that Do runs. Handing work to the thread takes some microseconds, so one Do holds a whole computation, not
// one launch.
//
// # Errors
//
// Errors name the call, CUDA's own name and text, and what the call was about. [ErrNoDriver], [ErrNoDevice],
// [ErrOutOfMemory], [ErrTooOld] and [ErrFault] tell the kinds apart. A fault in a kernel makes the device useless for
// the rest of the process, as the driver has it: every later call returns the first fault.
//
// # Memory
//
// Go's collector does not move what is on the heap, and the driver copies what it is given before it returns, but for
// asynchronous copies, which take [Pinned] memory only.
//
// MPBENCH_LIBCUDA names another library to open in the place of the driver's: the emulator in mpbench/cuda/emulator,
// whose devices, one unless more are asked for, are called "emulated".
package gpu
