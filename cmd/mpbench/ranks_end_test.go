//go:build unix

package main

import (
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"mpbench/pkg/comm/commtest"
)

// TestRanksEnd: the table of docs/ranks.md. Whatever ends one rank or all ends all within ten seconds, without a
// process that is left and with what was measured in the file, from which --resume goes on.
func TestRanksEnd(t *testing.T) {
	var export string
	to := func(rank int, s syscall.Signal) func(*testing.T, *commtest.Run, []int) {
		return func(t *testing.T, r *commtest.Run, pids []int) {
			pid := r.Process.Pid
			if rank >= 0 {
				pid = pids[rank]
			}
			signalTo(t, pid, s)
		}
	}
	ends := func(t *testing.T, r *commtest.Run, pids []int) { // as mpirun of Open MPI, which reads nothing meanwhile
		signalTo(t, r.Process.Pid, syscall.SIGSTOP)
		waitUntilStuck(t, export)
		for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
			for _, pid := range pids {
				_ = syscall.Kill(pid, s)
			}
			time.Sleep(time.Second)
		}
		signalTo(t, r.Process.Pid, syscall.SIGCONT)
	}
	oneByOne := func(t *testing.T, _ *commtest.Run, pids []int) {
		signalTo(t, pids[1], syscall.SIGTERM)
		time.Sleep(20 * time.Millisecond)
		signalTo(t, pids[0], syscall.SIGTERM)
	}
	const interrupted, hangup = "mpbench: interrupted", "SIGHUP to the first rank"
	for _, c := range []struct {
		event   string
		do      func(*testing.T, *commtest.Run, []int)
		codes   map[string]int
		message map[string]string // one of the lines on standard error
	}{
		{"kill -9 of another rank", to(1, syscall.SIGKILL), map[string]int{"openmpi": 137, "mpich": 9},
			map[string]string{"openmpi": "not all ranks answer"}},
		{"kill -9 of the first rank", to(0, syscall.SIGKILL), map[string]int{"openmpi": 137, "mpich": 9}, nil},
		{"SIGINT to mpirun", to(-1, syscall.SIGINT), map[string]int{"openmpi": 1, "mpich": 130},
			map[string]string{"openmpi": interrupted, "mpich": interrupted}},
		{"SIGTERM to mpirun", to(-1, syscall.SIGTERM), map[string]int{"openmpi": 1, "mpich": 130},
			map[string]string{"openmpi": interrupted, "mpich": interrupted}},
		{"SIGTERM to all, and SIGKILL a second later", ends, map[string]int{"openmpi": 130},
			map[string]string{"openmpi": interrupted}},
		{"SIGTERM to another rank, then to the first", oneByOne, map[string]int{"openmpi": 130, "mpich": 130},
			map[string]string{"openmpi": interrupted, "mpich": interrupted}},
		{"SIGTERM to another rank", to(1, syscall.SIGTERM), map[string]int{"openmpi": 130, "mpich": 130},
			map[string]string{"openmpi": "mpbench: rank 1 of 3 on ", "mpich": "mpbench: rank 1 of 3 on "}},
		{hangup, to(0, syscall.SIGHUP), map[string]int{"openmpi": 130, "mpich": 130},
			map[string]string{"openmpi": interrupted, "mpich": interrupted}},
	} {
		if c.event == hangup && signal.Ignored(syscall.SIGHUP) {
			t.Logf("%s: left out, as this process ignores it, and so all that it starts", c.event)
			continue
		}
		for _, l := range commtest.Launchers(t) {
			want, does := c.codes[l.Name]
			if !does {
				continue // the event is one of another launcher
			}
			export = filepath.Join(t.TempDir(), "run.jsonl")
			r, pids := running(t, l, 3, 400, export)
			c.do(t, r, pids)
			start := time.Now()
			code := r.Code(t)
			text := r.Stderr.String()
			if took := time.Since(start); took > 10*time.Second {
				t.Errorf("%s, %s: %v", l.Name, c.event, took)
			}
			if code == 0 && l.Name == "mpich" && strings.HasSuffix(c.event, " to mpirun") {
				want = 0 // MPICH's mpirun gives its ranks' code, or 0 where the signal ends it before theirs arrive
			}
			if code != want || strings.Count(text, "mpbench: ") > 1 || strings.Contains(text, "goroutine ") ||
				!strings.Contains(text, c.message[l.Name]) {
				t.Errorf("%s, %s: exit code %d, want %d and %q in\n%s", l.Name, c.event, code, want,
					c.message[l.Name], text)
			}
			before, err := readRun(t.Context(), export)
			if err != nil || len(before.Records) < 3 {
				t.Errorf("%s, %s: %v, %v", l.Name, c.event, before, err)
			}
		}
		if testing.Short() {
			return
		}
	}
}
