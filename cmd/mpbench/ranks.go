package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"mpbench/pkg/comm"
	"mpbench/pkg/method"
	"mpbench/pkg/op"
	"mpbench/pkg/partial"
	"mpbench/pkg/ranks"
	"mpbench/pkg/record"
)

// team is the ranks that a launcher started, which share each problem; nil for one process. All of them read the
// command line. The root does what a user sees; the others do its orders.
type team struct {
	*ranks.Team
	jobs []job // of ranks that are not the root
}

// overRanks marks commands that work over ranks.
const overRanks = "ranks"

// checkRanks refuses a command that every rank would do alone.
func checkRanks(cmd *cobra.Command) error {
	launch := comm.Launched()
	if launch.Launcher == "" || launch.Size == 1 || cmd.Annotations[overRanks] != "" || !cmd.HasParent() {
		return nil
	}
	return usagef("%s works in one process, and %s started several; start it without it, or with %s=none",
		cmd.CommandPath(), launch.Launcher, comm.LibraryVariable)
}

// rootFirst is how long other ranks leave it to the root to say what holds for all: its end ends them.
const rootFirst = 3 * time.Second

// startTeam starts MPI where a launcher started several processes.
func startTeam(ctx context.Context) (*team, error) {
	launch := comm.Launched()
	if launch.Launcher == "" || launch.Size == 1 {
		return nil, nil
	}
	c, err := comm.Start(ctx)
	if err != nil {
		code := exitCode(err)
		if ctx.Err() != nil { // by a launcher where a rank has failed, or its user
			code, err = exitInterrupted, errors.New("interrupted before all ranks were connected")
		}
		err = &statusError{code, fmt.Sprintf("rank %d: %v", launch.Rank, err)}
		if launch.Rank > 0 {
			select {
			case <-ctx.Done(): // the launcher ends all
			case <-time.After(rootFirst):
				fmt.Fprintf(os.Stderr, "mpbench: %v\n", err)
			}
		}
		return nil, err
	}
	return &team{Team: ranks.New(c, exitCode)}, nil
}

// agree returns the error of a rank that cannot go on, if there is one.
func (t *team) agree(ctx context.Context, err error) error {
	if t == nil {
		return err
	}
	_, err = t.Agree(ctx, nil, err)
	return err
}

// share makes rows that are added to a partial result those of this rank, and its file one of its own.
func (t *team) share(a *additions) {
	if t == nil {
		return
	}
	n := a.rows.Len()
	from, to := ranks.ShareOf(n, t.Rank(), t.Size())
	a.rows = partial.Range{From: a.rows.From + from, To: a.rows.From + to}
	if a.file != "" {
		ending := filepath.Ext(a.file)
		a.file = fmt.Sprintf("%s.%dof%d%s", strings.TrimSuffix(a.file, ending), t.Rank(), t.Size(), ending)
	}
}

// merged returns at the root the partial result of all ranks, of one process that which it has.
func (t *team) merged(ctx context.Context, s *partial.State, err error) (*partial.State, error) {
	if t == nil {
		return s, err
	}
	var mine []byte
	if err == nil {
		mine, err = s.MarshalBinary()
	}
	parts, err := t.Agree(ctx, mine, err)
	if err != nil || t.worker() {
		return nil, err
	}
	states := make([]*partial.State, len(parts))
	for rank, b := range parts {
		states[rank] = new(partial.State)
		if err := states[rank].UnmarshalBinary(b); err != nil {
			return nil, inputOutputf("rank %d of %d on %s: %v", rank, t.Size(), t.Hosts()[rank], err)
		}
	}
	all, err := partial.Merged(states...)
	if other := (*partial.PartError)(nil); errors.As(err, &other) {
		return nil, inputOutputf("rank %d of %d on %s has other data than rank %d on %s: %s", other.Part, t.Size(),
			t.Hosts()[other.Part], other.With, t.Hosts()[other.With], strings.TrimPrefix(other.Err.Error(), "partial: "))
	}
	return all, err
}

// describe says which ranks had what of so many rows.
func (t *team) describe(rows int, took, all time.Duration) string {
	hosts := slices.Compact(slices.Sorted(slices.Values(t.Hosts())))
	text := fmt.Sprintf("%d on %s, %s; ", t.Size(), record.Count(len(hosts), "host"), t.Library())
	if least, most := rows/t.Size(), (rows+t.Size()-1)/t.Size(); least == most {
		text += fmt.Sprintf("%d rows each", least)
	} else {
		text += fmt.Sprintf("%d or %d rows each", least, most)
	}
	return text + fmt.Sprintf("; %v of %v is waiting and communication", (all-took).Round(time.Microsecond),
		all.Round(time.Microsecond))
}

// worker tells whether this process is not the one that users see.
func (t *team) worker() bool { return t != nil && !t.Root() }

// finish ends the team: a worker does orders until the root has none. The line about an interruption comes before the
// end of communication, which waits for a launcher that may be about to kill all.
func (t *team) finish(cmd *cobra.Command, err error) error {
	if t == nil {
		return err
	}
	ctx := cmd.Context()
	if t.worker() {
		_ = t.Serve(ctx, t.find)
	}
	t.dismiss(ctx)
	if err = t.orLost(err); err != nil && ctx.Err() != nil {
		fmt.Fprintf(cmd.ErrOrStderr(), "mpbench: %s\n", oneLine(err))
		_ = t.End(ctx)
		return &statusError{code: exitCode(err)}
	}
	if t.Lost() == nil && t.End(ctx) != nil {
		err = t.orLost(err)
	}
	if t.worker() && t.Lost() != nil && !errors.Is(t.Lost(), context.Canceled) {
		fmt.Fprintf(os.Stderr, "mpbench: %v\n", t.Lost())
	}
	return err
}

// orLost returns the error that ended communication, if there is one, after what is said of an interruption.
func (t *team) orLost(err error) error {
	lost := t.Lost()
	if lost == nil {
		return err
	}
	if interrupted := (*statusError)(nil); errors.As(err, &interrupted) && interrupted.code == exitInterrupted {
		return &statusError{exitInterrupted, interrupted.text + "; " + lost.Error()}
	}
	return lost
}

// dismiss ends the others' work, before the root writes what there is. Lost has an error of it.
func (t *team) dismiss(ctx context.Context) {
	if t != nil {
		_ = t.Dismiss(ctx)
	}
}

// find returns what a rank does of a case.
func (t *team) find(id string) (ranks.Case, error) {
	for _, j := range t.jobs {
		if j.id != id {
			continue
		}
		problem := func(ctx context.Context) (*op.Problem, error) {
			d, err := j.source.open(ctx)
			return d.problem, err
		}
		return ranks.Case{Method: j.method, Config: t.local(j.config), Problem: problem}, nil
	}
	return ranks.Case{}, usagef("this rank has another command line, or other files")
}

// shared returns a job's method over the ranks, the method itself in one process.
func (t *team) shared(j job) method.Method {
	if t == nil {
		return j.method
	}
	return t.Method(j.id, j.method, t.local)
}

// local makes a configuration that of this rank, or of a single process.
func (t *team) local(c method.Config) method.Config {
	c.Devices = t.localDevices(c.Devices)
	return c
}
