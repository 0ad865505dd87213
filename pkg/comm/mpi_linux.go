package comm

import (
	"context"
	"encoding/binary"
	"fmt"
	"runtime"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"github.com/ebitengine/purego"
)

// call calls a function of the library; uintptrescapes keeps what is converted in the call itself alive and in place.
//
//go:uintptrescapes
func call(function uintptr, arguments ...uintptr) int32 {
	code, _, _ := purego.SyscallN(function, arguments...)
	return int32(code)
}

// address is for results and buffers: what p points to escapes to the heap, where nothing is moved. The caller keeps
// it alive.
func address[T any](p *T) uintptr {
	escape.Store((*byte)(unsafe.Pointer(p)))
	return uintptr(unsafe.Pointer(p))
}

var escape atomic.Pointer[byte] // never read

// world is all processes that the launcher started. A thread of its own makes all calls (MPI_THREAD_FUNNELED).
type world struct {
	library    *library
	rank, size int
	hosts      []string
	work       chan func()
}

// startMPI initialises MPI. Go's signal handlers stay: MPICH sets some, Open MPI and UCX others, without the flag that
// Go's stacks need.
func startMPI(ctx context.Context) (Communicator, error) {
	defer restoreActions(saveActions())
	l, err := openLibrary()
	if err != nil {
		return nil, err
	}
	w := &world{library: l, work: make(chan func())}
	go w.serve()
	host := ""
	if err := w.do(ctx, func() (err error) { host, err = w.init(); return err }); err != nil {
		return nil, fmt.Errorf("%w: %s: %v", ErrUnavailable, l.file, err)
	}
	if launch := Launched(); launch.Size > 0 && launch.Size != w.size {
		return nil, fmt.Errorf("%w: %s started %d processes, of which %s (%s) sees %d: library and launcher are of "+
			"different implementations; name the launcher's library in %s", ErrUnavailable, launch.Launcher, launch.Size,
			l.file, l.name, w.size, LibraryVariable)
	}
	return w, w.connect(ctx, host)
}

// init returns the name of the machine.
func (w *world) init() (string, error) {
	l := w.library
	provided, rank, size := new(int32), new(int32), new(int32)
	name, length := make([]byte, 1024), new(int32)
	for _, step := range []struct {
		name string
		code func() int32
	}{
		{"MPI_Init_thread", func() int32 { return call(l.initThread, 0, 0, l.funneled, address(provided)) }},
		{"MPI_Comm_set_errhandler", func() int32 { return call(l.setErrhandler, l.world, l.errorsReturn) }},
		{"MPI_Comm_rank", func() int32 { return call(l.rank, l.world, address(rank)) }},
		{"MPI_Comm_size", func() int32 { return call(l.size, l.world, address(size)) }},
		{"MPI_Get_processor_name", func() int32 { return call(l.processorName, address(&name[0]), address(length)) }},
	} {
		if err := w.check(step.name, step.code()); err != nil {
			return "", err
		}
	}
	if *provided < int32(l.funneled) {
		return "", fmt.Errorf("it supports no program with threads (MPI_THREAD_FUNNELED)")
	}
	w.rank, w.size = int(*rank), int(*size)
	return string(name[:min(max(0, int(*length)), len(name))]), nil
}

// Ranks that have come out of MPI_Init meet within connecting, and some more for each: Open MPI goes on for ever where
// connections are refused.
const (
	connecting     = 5 * time.Second
	connectingEach = 10 * time.Millisecond
)

// connect has all ranks meet, and tells each the others' machines.
func (w *world) connect(ctx context.Context, host string) error {
	limit := connecting + time.Duration(w.size)*connectingEach
	soon, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err := w.exchangeHosts(soon, host)
	if err != nil && ctx.Err() == nil && soon.Err() != nil {
		return fmt.Errorf("%w: the %d ranks have not reached each other in %v; is a firewall between hosts, or an address "+
			"one that others cannot reach?", ErrUnavailable, w.size, limit)
	}
	return err
}

func (w *world) exchangeHosts(ctx context.Context, host string) error {
	names, err := w.Gather(ctx, []byte(host), 0)
	if err != nil {
		return err
	}
	for i := range w.size {
		var name []byte
		if names != nil {
			name = names[i]
		}
		if name, err = w.Broadcast(ctx, name, 0); err != nil {
			return err
		}
		w.hosts = append(w.hosts, string(name))
	}
	return nil
}

func (w *world) Rank() int       { return w.rank }
func (w *world) Size() int       { return w.size }
func (w *world) Hosts() []string { return w.hosts }
func (w *world) Library() string { return w.library.version }

// serve makes the calls, on a thread that ends with the process.
func (w *world) serve() {
	runtime.LockOSThread()
	for f := range w.work {
		f()
	}
}

// patience is how long a call of the library that blocks may go on after the end of its context.
const patience = 200 * time.Millisecond

// do has the thread run f; it does not wait for a call that blocks, on a dead network, much longer than ctx.
func (w *world) do(ctx context.Context, f func() error) error {
	done := make(chan error, 1)
	select {
	case w.work <- func() { done <- f() }:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	select {
	case err := <-done:
		return err
	case <-time.After(patience):
		return context.Cause(ctx)
	}
}

// check makes an error of what a function returned.
func (w *world) check(name string, code int32) error {
	if code == 0 {
		return nil
	}
	text, length := make([]byte, 1024), new(int32)
	if call(w.library.errorString, uintptr(code), address(&text[0]), address(length)) != 0 {
		return fmt.Errorf("%s: error %d", name, code)
	}
	return fmt.Errorf("%s: %s", name, firstLine(string(text[:min(max(0, int(*length)), len(text))])))
}

// Between tests of a request the thread sleeps for an eighth of the time that it has waited, at most longestPause.
const (
	testsAtOnce  = 16
	shortestWait = 50 * time.Microsecond
	longestPause = time.Millisecond
)

// meet waits until all ranks have come to it.
func (w *world) meet(ctx context.Context) error {
	return w.await(ctx, "MPI_Ibarrier", func(request uintptr) int32 {
		return call(w.library.ibarrier, w.library.world, request)
	})
}

// await begins a collective operation and waits for its end. It leaves the core to others meanwhile: the library's own
// waiting uses it up, and where there are fewer cores than ranks, those that wait keep out the one they wait for. The
// thread sleeps in the kernel, as time.Sleep takes a millisecond at least where nothing else runs.
func (w *world) await(ctx context.Context, name string, begin func(request uintptr) int32) error {
	request, flag, status := new(uintptr), new(int32), new([8]uint64) // zeros: MPICH writes the lower half of a handle
	if err := w.check(name, begin(address(request))); err != nil {
		return err
	}
	for started, i := time.Now(), 1; ; i++ {
		code := call(w.library.test, address(request), address(flag), address(status))
		if err := w.check("MPI_Test", code); err != nil {
			return err
		}
		waited := time.Since(started)
		switch {
		case *flag != 0:
			return nil
		case i%testsAtOnce != 0 || waited < shortestWait:
		case ctx.Err() != nil:
			return context.Cause(ctx)
		default:
			pause := syscall.NsecToTimespec(int64(min(waited/8, longestPause)))
			_ = syscall.Nanosleep(&pause, nil)
		}
	}
}

func (w *world) Barrier(ctx context.Context) error {
	return w.do(ctx, func() error { return w.meet(ctx) })
}

// broadcast copies root's bytes to all, as many everywhere.
func (w *world) broadcast(data []byte, root int) error {
	var pin runtime.Pinner
	defer pin.Unpin()
	for len(data) > 0 {
		part := data[:min(block, len(data))]
		pin.Pin(&part[0])
		// not to be given up: the library may still write into part
		if err := w.await(context.Background(), "MPI_Ibcast", func(request uintptr) int32 {
			return call(w.library.broadcast, address(&part[0]), uintptr(len(part)), w.library.byteType, uintptr(root),
				w.library.world, request)
		}); err != nil {
			return err
		}
		data = data[len(part):]
	}
	return nil
}

// gather appends the bytes of each rank, as many everywhere and at most block, to all at root.
func (w *world) gather(data []byte, all [][]byte, root int) error {
	if len(data) == 0 {
		return nil
	}
	var pin runtime.Pinner
	defer pin.Unpin()
	pin.Pin(&data[0])
	n, to, into := len(data), []byte(nil), uintptr(0)
	if w.rank == root {
		to = make([]byte, n*w.size)
		pin.Pin(&to[0])
		into = address(&to[0])
	}
	l, count := w.library, uintptr(n)
	err := w.await(context.Background(), "MPI_Igather", func(request uintptr) int32 {
		return call(l.gather, address(&data[0]), count, l.byteType, into, count, l.byteType, uintptr(root), l.world, request)
	})
	if err != nil {
		return err
	}
	for i := range all {
		all[i] = append(all[i], to[i*n:][:n]...)
	}
	return nil
}

const lengthBytes = 8

func (w *world) Broadcast(ctx context.Context, data []byte, root int) ([]byte, error) {
	err := w.do(ctx, func() error {
		if err := w.meet(ctx); err != nil {
			return err
		}
		length := binary.LittleEndian.AppendUint64(nil, uint64(len(data)))
		if err := w.broadcast(length, root); err != nil {
			return err
		}
		if w.rank != root {
			data = make([]byte, binary.LittleEndian.Uint64(length))
		}
		return w.broadcast(data, root)
	})
	return data, err
}

// Gather sends as many bytes from every rank as the longest has, in blocks.
func (w *world) Gather(ctx context.Context, data []byte, root int) ([][]byte, error) {
	var all [][]byte
	err := w.do(ctx, func() (err error) {
		if err := w.meet(ctx); err != nil {
			return err
		}
		all, err = w.gatherAll(data, root)
		return err
	})
	return all, err
}

func (w *world) gatherAll(data []byte, root int) ([][]byte, error) {
	var all, lengths [][]byte
	if w.rank == root {
		all, lengths = make([][]byte, w.size), make([][]byte, w.size)
	}
	if err := w.gather(binary.LittleEndian.AppendUint64(nil, uint64(len(data))), lengths, root); err != nil {
		return nil, err
	}
	longest := make([]byte, lengthBytes)
	for _, b := range lengths {
		if binary.LittleEndian.Uint64(b) > binary.LittleEndian.Uint64(longest) {
			copy(longest, b)
		}
	}
	if err := w.broadcast(longest, root); err != nil {
		return nil, err
	}
	for n := int(binary.LittleEndian.Uint64(longest)); n > 0; {
		part := make([]byte, min(n, block))
		data = data[copy(part, data):]
		if err := w.gather(part, all, root); err != nil {
			return nil, err
		}
		n -= len(part)
	}
	for i, b := range lengths {
		all[i] = all[i][:binary.LittleEndian.Uint64(b)]
	}
	return all, nil
}

// Abort calls the library from another thread where its own does not answer.
func (w *world) Abort(status int) {
	abort := func() { call(w.library.abort, w.library.world, uintptr(status)) }
	select {
	case w.work <- abort:
	case <-time.After(patience):
		abort()
	}
}

// Close comes after a meeting: MPI_Finalize waits for ever for a rank that has ended.
func (w *world) Close(ctx context.Context) error {
	return w.do(ctx, func() error {
		if err := w.meet(ctx); err != nil {
			return err
		}
		return w.check("MPI_Finalize", call(w.library.finalize))
	})
}
