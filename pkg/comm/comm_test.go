package comm

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// text is what a rank contributes: as many bytes as lengths differ by rank, of a content that tells the rank.
func text(rank, length int) []byte {
	return bytes.Repeat([]byte{byte('a' + rank)}, length*(rank+1))
}

func add(a, b []byte) ([]byte, error) {
	sum := binary.LittleEndian.Uint64(a) + binary.LittleEndian.Uint64(b)
	return binary.LittleEndian.AppendUint64(nil, sum), nil
}

// check is what every rank does in the tests, of goroutines and of processes.
func check(ctx context.Context, c Communicator, lengths ...int) error {
	root := c.Size() - 1
	for _, length := range lengths {
		got, err := c.Broadcast(ctx, text(c.Rank(), length), root)
		if err != nil || !bytes.Equal(got, text(root, length)) {
			return fmt.Errorf("broadcast of %d bytes: %d, %v", len(text(root, length)), len(got), err)
		}
		all, err := c.Gather(ctx, text(c.Rank(), length), root)
		if err != nil || len(all) != map[bool]int{true: c.Size()}[c.Rank() == root] {
			return fmt.Errorf("gather of %d bytes: %d parts, %v", length, len(all), err)
		}
		for i, part := range all {
			if !bytes.Equal(part, text(i, length)) {
				return fmt.Errorf("gather of %d bytes: part %d has %d", length, i, len(part))
			}
		}
		sum, err := Reduce(ctx, c, binary.LittleEndian.AppendUint64(nil, uint64(c.Rank())), 0, add)
		if err != nil || c.Rank() == 0 && binary.LittleEndian.Uint64(sum) != uint64(c.Size()*(c.Size()-1)/2) {
			return fmt.Errorf("reduce: %v, %v", sum, err)
		}
		if err := c.Barrier(ctx); err != nil {
			return err
		}
	}
	return nil
}

// each runs f at n ranks that are goroutines.
func each(n int, f func(c Communicator)) {
	var all sync.WaitGroup
	for _, c := range Goroutines(n) {
		all.Go(func() { f(c) })
	}
	all.Wait()
}

func TestGoroutines(t *testing.T) {
	for _, n := range []int{1, 2, 5} {
		each(n, func(c Communicator) {
			if err := check(t.Context(), c, 0, 1, 7, 1000, 0); err != nil {
				t.Error(err)
			}
			if rank, size := Local(c); rank != c.Rank() || size != n || c.Library() != "" {
				t.Error(rank, size, c.Library())
			}
			if err := c.Close(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestGoroutinesAbort(t *testing.T) {
	each(3, func(c Communicator) {
		if c.Rank() == 1 {
			c.Abort(1)
			return
		}
		if err := c.Barrier(t.Context()); !errors.Is(err, ErrAborted) {
			t.Error(err)
		}
	})
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if _, err := Goroutines(2)[0].Gather(ctx, nil, 0); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

// TestReduceFails: the error of merging is the root's.
func TestReduceFails(t *testing.T) {
	wrong := errors.New("wrong")
	each(2, func(c Communicator) {
		_, err := Reduce(t.Context(), c, nil, 0, func(_, _ []byte) ([]byte, error) { return nil, wrong })
		if (err == nil) != (c.Rank() == 1) {
			t.Error(c.Rank(), err)
		}
	})
}

func TestLocal(t *testing.T) {
	for rank, want := range [][2]int{{0, 2}, {0, 1}, {1, 2}} {
		c := fixed{Goroutines(3)[rank]}
		if r, n := Local(c); [2]int{r, n} != want {
			t.Errorf("rank %d: %d of %d", rank, r, n)
		}
	}
}

type fixed struct{ Communicator }

func (fixed) Hosts() []string { return []string{"a", "b", "a"} }

// TestLaunched: the launcher's variables, and the one that makes a process work alone.
func TestLaunched(t *testing.T) {
	for _, l := range launchers {
		for _, name := range []string{l.rank, l.size} {
			if name != "" {
				t.Setenv(name, "")
			}
		}
	}
	if l := Launched(); l != (Launch{}) {
		t.Error(l)
	}
	c, err := Start(t.Context())
	if err != nil || c.Size() != 1 {
		t.Error(c, err)
	}
	t.Setenv("PMIX_RANK", "3")
	if l := Launched(); l.Rank != 3 || l.Size != 0 || !strings.Contains(l.Launcher, "PMIx") {
		t.Error(l)
	}
	t.Setenv("OMPI_COMM_WORLD_RANK", "1")
	t.Setenv("OMPI_COMM_WORLD_SIZE", "2")
	if l := Launched(); l != (Launch{"mpirun of Open MPI", 1, 2}) {
		t.Error(l)
	}
	t.Setenv(LibraryVariable, "none")
	if l := Launched(); l != (Launch{}) {
		t.Error(l)
	}
}

// rankVariable makes the test binary a rank.
const rankVariable = "MPBENCH_COMM_RANK"

func TestMain(m *testing.M) {
	if os.Getenv(rankVariable) != "" {
		os.Exit(rank(os.Args[1]))
	}
	os.Exit(m.Run())
}

// rank does what a test has ranks do, and returns the exit code.
func rank(what string) int {
	ctx := context.Background()
	c, err := Start(ctx)
	if err != nil {
		fmt.Println(err)
		return 3
	}
	switch what {
	case "check":
		block = 1 << 12
		stop := collectGarbage()
		err = check(ctx, c, 0, 1, 7, 1000, 3*block/2, 0)
		stop()
	case "signals":
		err = recovers()
	case "deadline":
		if c.Rank() > 0 {
			time.Sleep(time.Hour)
		}
		late, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
		defer cancel()
		if err := c.Barrier(late); errors.Is(err, context.DeadlineExceeded) {
			fmt.Println("late")
			c.Abort(7)
			time.Sleep(10 * time.Second)
		}
	}
	if err != nil {
		fmt.Println(err)
		return 1
	}
	local, locals := Local(c)
	fmt.Printf("rank %d of %d, %d of %d here, %s\n", c.Rank(), c.Size(), local, locals, c.Library())
	if err := c.Close(ctx); err != nil {
		fmt.Println(err)
		return 1
	}
	return 0
}

// collectGarbage moves what Go moves, all along.
func collectGarbage() (stop func()) {
	done := make(chan struct{})
	go func() {
		for i := 0; ; i++ {
			select {
			case <-done:
				return
			case <-time.After(5 * time.Millisecond):
				_ = make([]byte, 1<<16)
				runtime.GC()
			}
		}
	}()
	return func() { close(done) }
}

// recovers tells whether a fault of the hardware is still a panic of Go that can be recovered from.
func recovers() (err error) {
	defer func() {
		if r := recover(); !strings.Contains(fmt.Sprint(r), "nil pointer") {
			err = fmt.Errorf("a nil pointer gave %v", r)
		}
	}()
	var p *[1 << 10]int
	return fmt.Errorf("%d", p[len(os.Args)])
}
