// Package ranks has several processes work on one problem: each has some rows of the result, or some terms of a sum
// that is exact until it is rounded, so that the bits are those of one process.
//
// One process, the root, does everything that a user sees. It tells the others what to do and collects what they have:
// they run [Team.Serve]. A step that fails anywhere fails at the root, with the rank that it failed at.
package ranks

import (
	"bytes"
	"cmp"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"sync"
	"time"

	"mpbench/pkg/comm"
	"mpbench/pkg/exact"
	"mpbench/pkg/method"
)

// Error is the error of a step, with the rank that it happened at.
type Error struct {
	Rank, Size int
	Host       string
	Code       int // the exit code of a program that ends by it
	Text       string

	Interrupted bool // the rank was interrupted
}

func (e *Error) Error() string {
	return fmt.Sprintf("rank %d of %d on %s: %s", e.Rank, e.Size, e.Host, e.Text)
}

// Unwrap makes an interruption known.
func (e *Error) Unwrap() error {
	if e.Interrupted {
		return context.Canceled
	}
	return nil
}

// errInterrupted is the root's error where a signal came to all ranks.
var errInterrupted = &interruption{}

type interruption struct{}

func (*interruption) Error() string { return "interrupted" }
func (*interruption) Unwrap() error { return context.Canceled }

// LostError says that not all ranks answer. Nothing can be asked of them any more.
type LostError struct {
	Rank, Size int
	Cause      error
}

func (e *LostError) Error() string {
	if errors.Is(e.Cause, context.Canceled) {
		return fmt.Sprintf("rank %d of %d: stopped by a signal, and not all ranks answer: one of them has ended, or the "+
			"launcher ends them all", e.Rank, e.Size)
	}
	return fmt.Sprintf("rank %d of %d: %v", e.Rank, e.Size, e.Cause)
}

func (e *LostError) Unwrap() error { return e.Cause }

// Team is the ranks that work together. Its methods are called by one goroutine.
type Team struct {
	comm.Communicator
	grace time.Duration // how long an interrupted rank waits for the others, to end together
	code  func(error) int
	lost  error
	over  bool // the root has told that there is nothing more to do
	ended bool

	interrupted sync.Once
	late        time.Time // when the grace ends
}

// Launchers give ranks a second between the signal to end and the end. The root, which speaks, goes first. A signal to
// all comes to one after the other: the root waits sameSignal for its own where another rank was interrupted.
const (
	rootGrace  = 400 * time.Millisecond
	otherGrace = 700 * time.Millisecond
	sameSignal = 200 * time.Millisecond
)

// New returns the team of a communicator; code is the exit code of an error.
func New(c comm.Communicator, code func(error) int) *Team {
	t := &Team{Communicator: c, grace: otherGrace, code: code}
	if t.Root() {
		t.grace = rootGrace
	}
	return t
}

// Root tells whether this process is the one that users see.
func (t *Team) Root() bool { return t.Rank() == 0 }

// Lost returns the error that ended communication, nil if there is none.
func (t *Team) Lost() error { return t.lost }

// left is how much is left of the grace, which the first interruption begins.
func (t *Team) left() time.Duration {
	t.interrupted.Do(func() { t.late = time.Now().Add(t.grace) })
	return time.Until(t.late)
}

// together calls f, which communicates, with a context that outlasts ctx by the grace.
func (t *Team) together(ctx context.Context, f func(context.Context) error) error {
	if t.lost != nil {
		return t.lost
	}
	late, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(t.left(), cancel) })
	defer stop()
	if err := f(late); err != nil {
		t.lost = &LostError{t.Rank(), t.Size(), err}
	}
	return t.lost
}

// step is what the root has all ranks do.
type step string

const (
	goOn    step = "go on"   // with what all ranks do by themselves
	prepare step = "prepare" // an engine for the rank's share of a case
	run     step = "run"
	end     step = "end"
)

type order struct {
	Do   step
	Case string
}

// share is what a rank has after a step.
type share struct {
	Failure     string
	Code        int
	Interrupted bool

	Payload []byte
	Values  []exact.Value
	Took    time.Duration
	Info    info
}

// info is what of a rank's method.Info the root's is completed by.
type info struct {
	Device     string
	Rounded    method.Rounded
	Moduli     int
	ModuliBits int
}

func (t *Team) encode(x any) []byte {
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(x); err != nil {
		panic(err) // of a type that has no encoding
	}
	return b.Bytes()
}

// tell sends an order of the root to all ranks, of which the others wait for it.
func (t *Team) tell(ctx context.Context, o order) (order, error) {
	err := t.together(ctx, func(ctx context.Context) error {
		b, err := t.Broadcast(ctx, t.encode(o), 0)
		if err != nil {
			return err
		}
		return gob.NewDecoder(bytes.NewReader(b)).Decode(&o)
	})
	return o, err
}

// collect returns at the root what all ranks have, of which one may have failed; nil elsewhere.
func (t *Team) collect(ctx context.Context, mine share, failed error) (all []share, err error) {
	if failed != nil {
		mine = share{Failure: failed.Error(), Code: t.code(failed), Interrupted: errors.Is(failed, context.Canceled)}
		if mine.Interrupted {
			mine.Failure = "interrupted"
		}
	}
	err = t.together(ctx, func(ctx context.Context) error {
		parts, err := t.Gather(ctx, t.encode(mine), 0)
		if err != nil {
			return err
		}
		all = make([]share, len(parts))
		for i, b := range parts {
			if err := gob.NewDecoder(bytes.NewReader(b)).Decode(&all[i]); err != nil {
				return err
			}
		}
		return nil
	})
	switch {
	case err != nil:
		return nil, err
	case failed != nil: // what happens at all ranks, or here, needs no rank
		return nil, failed
	}
	for rank, s := range all {
		if s.Interrupted {
			select {
			case <-ctx.Done():
				return nil, errInterrupted
			case <-time.After(sameSignal):
			}
		}
		if s.Failure != "" {
			return nil, &Error{rank, t.Size(), t.Hosts()[rank], s.Code, s.Failure, s.Interrupted}
		}
	}
	return all, nil
}

// ErrOver is the error of a rank that is not the root, where the root does not go on.
var ErrOver = errors.New("the root does not go on")

// Agree returns at the root what each rank gives, nil elsewhere. Where one has failed none goes on: the root gets its
// error, the others ErrOver or their own.
func (t *Team) Agree(ctx context.Context, payload []byte, failed error) ([][]byte, error) {
	all, err := t.collect(ctx, share{Payload: payload}, failed)
	if t.Root() {
		if err == nil {
			_, err = t.tell(ctx, order{Do: goOn})
		}
	} else if next, lost := t.tell(ctx, order{}); lost == nil && next.Do == end {
		t.over = true
		err = cmp.Or(err, ErrOver)
	} else {
		err = cmp.Or(err, lost)
	}
	payloads := make([][]byte, len(all))
	for i, s := range all {
		payloads[i] = s.Payload
	}
	return payloads, err
}

// Dismiss ends the others' Serve; once.
func (t *Team) Dismiss(ctx context.Context) error {
	if t.over || !t.Root() {
		return t.lost
	}
	t.over = true
	_, err := t.tell(ctx, order{Do: end})
	return err
}

// End ends the others' Serve, and the communication of all; once.
func (t *Team) End(ctx context.Context) error {
	if err := t.Dismiss(ctx); err != nil || t.ended {
		return err
	}
	t.ended = true
	return t.together(ctx, t.Close)
}
