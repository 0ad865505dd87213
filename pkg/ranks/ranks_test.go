package ranks_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"mpbench/pkg/comm"
	"mpbench/pkg/device"
	"mpbench/pkg/exact"
	"mpbench/pkg/method"
	"mpbench/pkg/methods"
	"mpbench/pkg/numbers"
	"mpbench/pkg/op"
	"mpbench/pkg/ranks"
	"mpbench/pkg/record"
)

func code(error) int { return 4 }

func same(c method.Config) method.Config { return c }

// team runs f at the root of n ranks, of which the others serve cases that find returns.
func team(t *testing.T, n int, find func(rank int) (ranks.Case, error), f func(*ranks.Team)) {
	t.Helper()
	var all sync.WaitGroup
	for _, c := range comm.Goroutines(n) {
		all.Go(func() {
			r := ranks.New(c, code)
			if r.Root() {
				f(r)
			} else if err := r.Serve(t.Context(), func(string) (ranks.Case, error) { return find(r.Rank()) }); err != nil {
				t.Error(err)
			}
			if err := r.End(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

// numbersOf returns numbers whose sums cancel.
func numbersOf(r *rand.Rand, n int) numbers.Float64s {
	x := make(numbers.Float64s, n)
	for i := range x {
		x[i] = (r.Float64() - 0.5) * float64(uint64(1)<<r.IntN(60))
	}
	return x
}

func problem(o *op.Operation, m, n int) *op.Problem {
	r := rand.New(rand.NewPCG(1, uint64(n)))
	p := &op.Problem{Op: o, X: numbers.Vector(numbersOf(r, n))}
	switch {
	case o.Has(op.Matrix):
		p.A = numbers.Array{Source: numbersOf(r, m*n), Layout: numbers.ColMajor(m, n, m)}
		p.Alpha, p.Beta, p.Y = numbers.Scalar(3), numbers.Scalar(-1), numbers.Vector(numbersOf(r, m))
	case o != op.Sum:
		p.Y = numbers.Vector(numbersOf(r, n))
	}
	return p
}

// valuesOf returns what a method computes.
func valuesOf(
	ctx context.Context, m method.Method, c method.Config, p *op.Problem,
) ([]exact.Value, method.Info, error) {
	e, err := m.New(c)
	if err != nil {
		return nil, method.Info{}, err
	}
	defer e.Close()
	for range 2 { // a run leaves nothing behind for the next
		if err = method.Run(ctx, e, p); err != nil {
			return nil, method.Info{}, err
		}
	}
	y, err := e.Result()
	if err != nil {
		return nil, method.Info{}, err
	}
	list := make([]exact.Value, y.Len())
	for i := range list {
		list[i] = numbers.At(y, i)
	}
	return list, e.Info(), nil
}

// TestSame: the bits of one process at 1 to 8 ranks with 1 to 4 threads, also with fewer rows or terms than ranks.
func TestSame(t *testing.T) {
	for _, o := range []*op.Operation{op.Sum, op.Dot, op.Gemv} {
		for _, name := range []string{"deferred", "dd"} {
			m, ok := methods.All().Lookup(o, name)
			if !ok || !ranks.Supports(m) {
				continue
			}
			for _, size := range [][2]int{{5, 30}, {23, 7}, {1, 1}} {
				p := problem(o, size[0], size[1])
				for n := 1; n <= 8; n++ {
					c := method.Config{Precision: 113, Threads: 1 + n%4}
					want, _, err := valuesOf(t.Context(), m, c, p)
					if err != nil {
						t.Fatal(err)
					}
					one := ranks.Case{Method: m, Config: c, Problem: func(context.Context) (*op.Problem, error) { return p, nil }}
					team(t, n, func(int) (ranks.Case, error) { return one, nil }, func(r *ranks.Team) {
						got, info, err := valuesOf(t.Context(), r.Method("id", m, same), c, p)
						if err != nil || !slices.EqualFunc(got, want, exact.Value.Equal) {
							t.Errorf("%s %s of %v at %d ranks: %v, want %v, %v", o.Name, name, size, n, got, want, err)
						}
						checkInfo(t, info, o, n, size)
					})
				}
			}
		}
	}
}

func checkInfo(t *testing.T, info method.Info, o *op.Operation, n int, size [2]int) {
	t.Helper()
	divided, all, sum := "rows", size[0], 0
	if o.Split == op.ByTerm {
		divided, all = "terms", size[1]
	}
	for _, share := range info.Ranks.Shares {
		sum += share
	}
	if r := info.Ranks; r.Divided != divided || len(r.Shares) != n || len(r.Hosts) != n || sum != all ||
		slices.ContainsFunc(r.Devices, func(name string) bool { return name != "cpu" }) {
		t.Errorf("%s at %d ranks of %v: %+v", o.Name, n, size, r)
	}
}

// TestTimes: the time is that of the slowest rank and of communication.
func TestTimes(t *testing.T) {
	m, _ := methods.All().Lookup(op.Sum, "deferred")
	p, c := problem(op.Sum, 0, 1000), method.Config{Precision: 53}
	one := ranks.Case{Method: m, Config: c, Problem: func(context.Context) (*op.Problem, error) { return p, nil }}
	team(t, 3, func(int) (ranks.Case, error) { return one, nil }, func(r *ranks.Team) {
		e, err := r.Method("id", m, same).New(c)
		if err == nil {
			err = method.Run(t.Context(), e, p)
		}
		if err != nil {
			t.Fatal(err)
		}
		stages := e.(method.Staged).Stages()
		if len(stages) != 2 || stages[0].Name != record.PhaseCompute || stages[1].Name != record.PhaseCommunicate ||
			stages[0].Time+stages[1].Time != e.(method.Timed).Times().Kernel {
			t.Errorf("%v of %v", stages, e.(method.Timed).Times())
		}
	})
}

// TestFails: an error anywhere is the root's, with the rank it happened at, and the others go on serving.
func TestFails(t *testing.T) {
	m, _ := methods.All().Lookup(op.Dot, "deferred")
	p, c := problem(op.Dot, 0, 100), method.Config{Precision: 53}
	for _, wrong := range []int{0, 2} {
		find := func(rank int) (ranks.Case, error) {
			if rank == wrong {
				return ranks.Case{}, errors.New("no such file")
			}
			problem := func(context.Context) (*op.Problem, error) { return p, nil }
			return ranks.Case{Method: m, Config: c, Problem: problem}, nil
		}
		team(t, 3, find, func(r *ranks.Team) {
			e, err := r.Method("id", m, same).New(c)
			if err != nil {
				t.Fatal(err)
			}
			own := p
			if wrong == 0 {
				own = &op.Problem{Op: op.Dot, X: p.X, Y: numbers.Scalar(1)} // of other lengths
			}
			err = e.Prepare(t.Context(), own)
			var at *ranks.Error
			if wrong == 0 && (err == nil || errors.As(err, &at)) {
				t.Errorf("the root's own: %v", err)
			}
			if wrong > 0 && (!errors.As(err, &at) || at.Rank != wrong || at.Code != 4 ||
				!strings.Contains(err.Error(), "rank 2 of 3 on ") || !strings.HasSuffix(err.Error(), ": no such file")) {
				t.Errorf("rank %d: %v", wrong, err)
			}
		})
	}
}

// TestAgree: what each rank gives comes to the root, and where one fails none goes on.
func TestAgree(t *testing.T) {
	for _, wrong := range []int{-1, 0, 1} {
		var all sync.WaitGroup
		for _, c := range comm.Goroutines(3) {
			all.Go(func() {
				r := ranks.New(c, code)
				var failed error
				if r.Rank() == wrong {
					failed = context.Canceled
				}
				got, err := r.Agree(t.Context(), []byte(fmt.Sprint(r.Rank())), failed)
				switch {
				case wrong < 0 && (err != nil || r.Root() && string(slices.Concat(got...)) != "012"):
					t.Errorf("rank %d: %q, %v", r.Rank(), got, err)
				case wrong >= 0 && (r.Root() || r.Rank() == wrong) && !errors.Is(err, context.Canceled):
					t.Errorf("rank %d failed, rank %d: %v", wrong, r.Rank(), err)
				}
				if r.Root() {
					err = r.End(t.Context())
				} else if err = r.Serve(t.Context(), nil); err == nil {
					if wrong >= 0 && wrong != r.Rank() && r.Lost() != nil {
						t.Error(r.Lost())
					}
					err = r.End(t.Context())
				}
				if err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
	}
}

// TestLost: a root that is interrupted does not wait for a rank that has ended.
func TestLost(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r := ranks.New(comm.Goroutines(2)[0], code)
	_, err := r.Agree(ctx, nil, nil)
	var lost *ranks.LostError
	if !errors.As(err, &lost) || !errors.Is(err, context.Canceled) || r.Lost() == nil ||
		!strings.Contains(err.Error(), "rank 0 of 2: stopped by a signal, and not all ranks answer") {
		t.Error(err)
	}
	if again := r.End(t.Context()); !errors.Is(again, err) {
		t.Error(again)
	}
}

// TestSupports: methods say of themselves whether their engines are exact.
func TestSupports(t *testing.T) {
	for _, m := range methods.All() {
		if m.On[device.CPU] == nil {
			continue
		}
		c, err := m.Complete(method.Config{Precision: max(m.Bits, m.Least, 53), Merge: m.Merges})
		if err != nil {
			t.Fatal(err)
		}
		e, err := m.New(c)
		if errors.Is(err, method.ErrUnavailable) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := e.(method.Exact); ok != m.Exact && m.Merges {
			t.Errorf("%s %s: Exact is %v", m.Operation.Name, m.Name, m.Exact)
		}
		if want := m.Operation.Split == op.ByRow || m.Exact; ranks.Supports(m) != want {
			t.Errorf("%s %s: supported %v", m.Operation.Name, m.Name, !want)
		}
	}
}
