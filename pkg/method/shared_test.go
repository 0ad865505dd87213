package method

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"mpbench/pkg/device"
	"mpbench/pkg/exact"
	"mpbench/pkg/numbers"
	"mpbench/pkg/op"
)

var errBroken = errors.New("broken device")

// fake is an engine that computes sums and alpha*x + y exactly, counts its calls and fails where it is told to.
type fake struct {
	name     string
	problem  *op.Problem // nil before Prepare and after Close
	sum      *big.Rat    // of sums
	most     int         // numbers that its memory holds, 0 for any
	wait     time.Duration
	block    bool // Run returns when its context ends
	rounded  Rounded
	warnings []string

	format                       string
	numberBytes, moduli, threads int
	workspace                    int64

	prepares, runs, closes, cools           int
	prepareErr, runErr, resultErr, closeErr error
	coolErr, mergeErr                       error
}

func (e *fake) Prepare(_ context.Context, p *op.Problem) error {
	e.prepares++
	if e.most > 0 && p.X.Rows > e.most {
		return &MemoryError{Method: e.name, Need: int64(p.X.Rows), Have: int64(e.most)}
	}
	if e.prepareErr == nil {
		e.problem = p
	}
	return e.prepareErr
}

func (e *fake) Run(ctx context.Context) error {
	e.runs++
	if e.block {
		<-ctx.Done()
		return ctx.Err()
	}
	time.Sleep(e.wait)
	e.sum = new(big.Rat)
	for i := range e.problem.X.Rows {
		e.sum.Add(e.sum, e.at(e.problem.X, i))
	}
	return e.runErr
}

func (e *fake) at(a numbers.Array, i int) *big.Rat {
	return numbers.At(a.Source, a.Index(i, 0)).Number()
}

func (e *fake) Result() (numbers.Source, error) {
	if e.problem.Op == op.Sum {
		return numbers.Values{exact.FromRat(e.sum)}, e.resultErr
	}
	var y numbers.Values
	for i := range e.problem.X.Rows {
		y = append(y, exact.FromRat(new(big.Rat).Add(e.at(e.problem.X, i), e.at(e.problem.Y, i))))
	}
	return y, e.resultErr
}

func (e *fake) Merge(other Engine) error {
	e.sum.Add(e.sum, other.(*fake).sum)
	return e.mergeErr
}

func (e *fake) Info() Info {
	return Info{
		Format: "exact" + e.format, Device: e.name, Bits: 60, NumberBytes: e.numberBytes, Threads: e.threads,
		Moduli: e.moduli, WorkspaceBytes: e.workspace, Rounded: e.rounded, Warnings: e.warnings,
	}
}

func (e *fake) Close() error {
	e.closes++
	e.problem = nil
	return e.closeErr
}

func (e *fake) Cool() error {
	e.cools++
	return e.coolErr
}

// timedFake is a fake that takes its own time and has stages.
type timedFake struct {
	fake
	times Times
}

func (e *timedFake) RunTimed(ctx context.Context) error {
	e.times = Times{Convert: 1, CopyIn: 2, Kernel: 3, CopyOut: 4, Host: 5}
	return e.Run(ctx)
}
func (e *timedFake) Times() Times    { return e.times }
func (e *timedFake) Stages() []Stage { return []Stage{{"own", "of one", 3}} }

// sharedOf returns the engine of several devices, given as engines.
func sharedOf(o *op.Operation, engines ...Engine) *shared {
	s := &shared{method: Method{Operation: o, Name: "m", Merges: o.Split == op.ByTerm}}
	for k, e := range engines { // of different kinds
		s.members = append(s.members, member{Engine: e, kind: device.Kind('a' + rune(k))})
	}
	return s
}

// problemOf returns a sum, or a sum of vectors, of n numbers that a binary64 sum would round.
func problemOf(o *op.Operation, n int) *op.Problem {
	x, y := make(numbers.Float64s, n), make(numbers.Float64s, n)
	for i := range x {
		x[i], y[i] = math.Ldexp(1, 60*i%190), float64(i)/8
	}
	return &op.Problem{Op: o, X: numbers.Vector(x), Y: numbers.Vector(y)}
}

// checkResult compares a result with the exact one.
func checkResult(t *testing.T, what string, s *shared, p *op.Problem) {
	t.Helper()
	y, err := s.Result()
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	var want []*big.Rat
	total := new(big.Rat)
	for i := range p.X.Rows {
		x := new(big.Rat).SetFloat64(p.X.Source.(numbers.Float64s)[i])
		total.Add(total, x)
		want = append(want, x.Add(x, new(big.Rat).SetFloat64(p.Y.Source.(numbers.Float64s)[i])))
	}
	if p.Op == op.Sum {
		want = []*big.Rat{total}
	}
	if y.Len() != len(want) {
		t.Fatalf("%s: %d components, want %d", what, y.Len(), len(want))
	}
	for i, x := range want {
		if got := numbers.At(y, i); !got.Equal(exact.FromRat(x)) {
			t.Errorf("%s: component %d is %v, want %v", what, i, got, x)
		}
	}
}

// splits returns all ways of dividing n parts among k devices.
func splits(n, k int) (list [][]int) {
	if k == 1 {
		return [][]int{{n}}
	}
	for first := range n + 1 {
		for _, rest := range splits(n-first, k-1) {
			list = append(list, append([]int{first}, rest...))
		}
	}
	return list
}

// TestGive: whatever devices have of a problem, the result is the same. One that has what it had is not prepared
// again, and one that has nothing any more gives its memory back.
func TestGive(t *testing.T) {
	ctx := context.Background()
	for _, o := range []*op.Operation{op.Sum, op.Axpy} {
		for devices := 2; devices <= 3; devices++ {
			for parts := range 8 {
				p := problemOf(o, parts)
				all := splits(parts, devices)
				for turn, from := range all {
					to := all[(turn*7+3)%len(all)] // another one
					fakes := []*fake{{name: "a"}, {name: "b"}, {name: "c"}}[:devices]
					s := sharedOf(o)
					for _, e := range fakes {
						s.members = append(s.members, member{Engine: e})
					}
					s.problem, s.parts = p, parts
					for _, shares := range [][]int{from, to} {
						what := fmt.Sprintf("%s of %v after %v", o.Name, shares, from)
						if _, err := s.give(ctx, shares); err != nil {
							t.Fatal(err)
						}
						for range 2 {
							if err := s.Run(ctx); err != nil {
								t.Fatal(err)
							}
							checkResult(t, what, s, p)
						}
						checkGiven(t, what, s, shares)
					}
					checkCalls(t, fakes, from, to)
				}
			}
		}
	}
}

// checkGiven compares what is said of shares with them.
func checkGiven(t *testing.T, what string, s *shared, shares []int) {
	t.Helper()
	var names []string
	unit := "rows"
	if s.method.Merges {
		unit = "terms"
	}
	for k, n := range shares {
		if name := s.members[k].Engine.(*fake).name; n > 0 || s.parts == 0 && k == 0 {
			names = append(names, fmt.Sprintf("%s: %d of %d %s", name, n, s.parts, unit))
		}
	}
	if got := s.Info().Variant; got != strings.Join(names, "; ") {
		t.Errorf("%s: %q, want %q", what, got, names)
	}
	if s.alone() != (slices.Max(shares) == s.parts) {
		t.Errorf("%s: alone is %v", what, s.alone())
	}
}

// checkCalls compares how often engines were prepared, run (twice each time) and closed with what two splits ask for.
func checkCalls(t *testing.T, fakes []*fake, from, to []int) {
	t.Helper()
	a, b := 0, 0 // where the shares begin
	nothing := slices.Max(from) == 0
	for k, e := range fakes {
		prepares, runs, closes := 0, 0, 0
		if from[k] > 0 {
			prepares++
			runs += 2
		}
		if to[k] > 0 {
			runs += 2
		}
		if to[k] > 0 && (from[k] != to[k] || a != b) {
			prepares++
		}
		if from[k] > 0 && to[k] == 0 {
			closes++
		}
		if nothing && k == 0 { // someone has to return the result of nothing
			prepares, runs = 2, 4
		}
		if e.prepares != prepares || e.runs != runs || e.closes != closes {
			t.Errorf("%v, then %v: device %d was prepared %d times, run %d times, closed %d times; want %d, %d, %d",
				from, to, k, e.prepares, e.runs, e.closes, prepares, runs, closes)
		}
		a, b = a+from[k], b+to[k]
	}
}

// TestSharedPrepare: whatever the speeds of the devices, each part is given once, and devices without any are closed.
func TestSharedPrepare(t *testing.T) {
	for _, o := range []*op.Operation{op.Sum, op.Axpy} {
		for _, n := range []int{0, 1, 5, 3000} {
			for _, waits := range [][2]time.Duration{{0, 0}, {0, 5}, {2, 2}} {
				first := &fake{name: "a", wait: waits[0] * time.Millisecond}
				second := &fake{name: "b", wait: waits[1] * time.Millisecond}
				s := sharedOf(o, first, second)
				for _, p := range []*op.Problem{problemOf(o, n), problemOf(o, n/2)} {
					if err := Run(context.Background(), s, p); err != nil {
						t.Fatal(err)
					}
					what := fmt.Sprintf("%s of %d, %d ms", o.Name, p.X.Rows, waits)
					checkResult(t, what, s, p)
					done := 0
					for k := range s.members {
						m := &s.members[k]
						if m.from != done || m.to < m.from || !m.active() && m.Engine.(*fake).problem != nil && p.X.Rows > 0 {
							t.Errorf("%s: device %d has %d to %d, after %d", what, k, m.from, m.to, done)
						}
						done = m.to
					}
					if done != p.X.Rows {
						t.Errorf("%s: %d are given", what, done)
					}
					if s.Times().Convert <= 0 {
						t.Errorf("%s: preparing took %v", what, s.Times().Convert)
					}
				}
				if err := s.Close(); err != nil || first.problem != nil || second.problem != nil {
					t.Errorf("closed: %v", err)
				}
			}
		}
	}
}

// TestSharedCopies: where nothing is multiplied, one device copies.
func TestSharedCopies(t *testing.T) {
	first, second := &fake{name: "a"}, &fake{name: "b"}
	s := sharedOf(op.Axpy, first, second)
	p := problemOf(op.Axpy, 6)
	p.Alpha = numbers.Scalar(0)
	err := s.Prepare(context.Background(), p)
	if err != nil || first.prepares != 1 || second.prepares != 0 || !s.alone() {
		t.Errorf("%v, prepared %d and %d times", err, first.prepares, second.prepares)
	}
	p.Y = p.Y.Part(0, 5)
	var wrong *op.Error
	if err := s.Prepare(context.Background(), p); !errors.As(err, &wrong) {
		t.Errorf("a problem that does not fit together: %v", err)
	}
}

// TestDivided: shares are in proportion to the speeds, to within one part, and a device without memory has none.
func TestDivided(t *testing.T) {
	for _, parts := range []int{0, 1, 2, 7, 100, 12345} {
		for _, times := range [][]float64{
			{1, 1}, {1, 3}, {3, 1}, {1e9, 1}, {1, 1e9}, {math.Inf(1), 5}, {5, math.Inf(1)}, {2, 3, 7}, {1, math.Inf(1), 1}, {4},
		} {
			s := &shared{parts: parts}
			got := s.divided(times)
			total, speeds := 0, 0.0
			for k, n := range got {
				total += n
				speeds += 1 / times[k]
			}
			for k, n := range got {
				if want := float64(parts) / times[k] / speeds; n < 0 || math.Abs(float64(n)-want) > 1 || want == 0 && n > 0 {
					t.Errorf("%d parts for %v: %v", parts, times, got)
				}
			}
			if total != parts {
				t.Errorf("%d parts for %v: %v", parts, times, got)
			}
		}
	}
}

// TestRebalanced: devices that took unequal times for their shares get new ones in proportion to their speeds; those
// of a kind that differ by a quarter at most, equal ones.
func TestRebalanced(t *testing.T) {
	for _, c := range []struct {
		kinds  string
		shares []int
		own    []float64
		want   []int
		done   bool
	}{
		{"ab", []int{50, 50}, []float64{1, 3}, []int{75, 25}, false},
		{"ab", []int{50, 50}, []float64{10, 10.5}, []int{51, 49}, true},
		{"ab", []int{50, 50}, []float64{10, 11}, []int{52, 48}, false},
		{"ab", []int{100, 0}, []float64{10, 0}, nil, true},
		{"abc", []int{60, 20, 20}, []float64{6, 1, 1}, []int{20, 40, 40}, false},
		{"aa", []int{50, 50}, []float64{10, 12}, []int{50, 50}, true},
		{"aa", []int{50, 50}, []float64{10, 30}, []int{75, 25}, false},
		{"aa", []int{60, 40}, []float64{12, 10}, []int{50, 50}, false},
		{"abb", []int{50, 20, 30}, []float64{10, 4, 5}, []int{29, 36, 35}, false},
	} {
		s := &shared{parts: 100}
		for _, kind := range c.kinds {
			s.members = append(s.members, member{kind: device.Kind(kind)})
		}
		if got, done := s.rebalanced(c.shares, c.own); !slices.Equal(got, c.want) || done != c.done {
			t.Errorf("%v that took %v: %v, %v; want %v, %v", c.shares, c.own, got, done, c.want, c.done)
		}
	}
}

// TestSharedMemory: a device that cannot hold its part leaves it to the other, and nobody can only where none can.
func TestSharedMemory(t *testing.T) {
	for _, c := range []struct{ first, second, want int }{{1, 0, 0}, {0, 1, 5}, {1, 1, -1}} { // want: parts of the first
		first, second := &fake{name: "a", most: c.first}, &fake{name: "b", most: c.second}
		s := sharedOf(op.Axpy, first, second)
		p := problemOf(op.Axpy, 5)
		err := s.Prepare(context.Background(), p)
		var memory *MemoryError
		switch {
		case c.want < 0:
			if !errors.As(err, &memory) {
				t.Errorf("%+v: %v", c, err)
			}
		case err != nil || s.members[0].to != c.want:
			t.Errorf("%+v: %v, the first has %d", c, err, s.members[0].to)
		default:
			if err := s.Run(context.Background()); err != nil {
				t.Error(err)
			}
			checkResult(t, fmt.Sprint(c), s, p)
		}
	}
}

// TestOrShared: what does not fit in the memory of the fastest is shared; other errors are not hidden.
func TestOrShared(t *testing.T) {
	first, second := &fake{name: "a", most: 3}, &fake{name: "b"}
	s := sharedOf(op.Axpy, first, second)
	s.problem, s.parts = problemOf(op.Axpy, 5), 5
	if err := s.orShared(context.Background(), []int{5, 0}, []int{3, 2}); err != nil || s.members[0].to != 3 {
		t.Errorf("%v, the first has %d", err, s.members[0].to)
	}
	first.prepareErr = errBroken
	first.most = 0
	if err := s.orShared(context.Background(), []int{5, 0}, []int{0, 5}); err != errBroken {
		t.Error(err)
	}
}

// TestSharedErrors: the error of any device in any phase is that of all, and the engine is of use again afterwards.
func TestSharedErrors(t *testing.T) {
	ctx := context.Background()
	for _, o := range []*op.Operation{op.Sum, op.Axpy} {
		for k := range 2 {
			fakes := []*fake{{name: "a"}, {name: "b"}}
			bad := fakes[k]
			s := sharedOf(o, fakes[0], fakes[1])
			p := problemOf(o, 5)
			bad.prepareErr = errBroken
			if err := s.Prepare(ctx, p); err != errBroken {
				t.Errorf("prepare: %v", err)
			}
			bad.prepareErr, bad.runErr = nil, errBroken
			if err := s.Prepare(ctx, p); err != errBroken {
				t.Errorf("a run of prepare: %v", err)
			}
			bad.runErr = nil
			s.problem, s.parts = p, 5
			bad.prepareErr = errBroken
			if _, err := s.give(ctx, []int{2, 3}); err != errBroken || s.members[k].active() {
				t.Errorf("give: %v", err)
			}
			bad.prepareErr = nil
			if _, err := s.give(ctx, []int{2, 3}); err != nil {
				t.Fatal(err)
			}
			bad.runErr = errBroken
			if err := s.Run(ctx); !errors.Is(err, errBroken) {
				t.Errorf("run: %v", err)
			}
			if _, _, err := s.refine(ctx, []int{2, 3}); !errors.Is(err, errBroken) {
				t.Errorf("a run of refine: %v", err)
			}
			bad.runErr, bad.prepareErr = nil, errBroken
			if _, _, err := s.refine(ctx, []int{3, 2}); err != errBroken {
				t.Errorf("refine: %v", err)
			}
			bad.prepareErr = nil
			if _, err := s.give(ctx, []int{2, 3}); err != nil {
				t.Fatal(err)
			}
			if err := s.Run(ctx); err != nil {
				t.Fatal(err)
			}
			checkResult(t, "after errors", s, p)
			bad.resultErr = errBroken
			if _, err := s.Result(); err != errBroken && (o == op.Axpy || k == 0) {
				t.Errorf("result: %v", err)
			}
			bad.coolErr = errBroken
			if err := s.RunTimed(ctx); err != errBroken {
				t.Errorf("cool: %v", err)
			}
			bad.closeErr = errBroken
			if _, err := s.give(ctx, []int{5 * (1 - k), 5 * k}); err != nil {
				t.Error(err)
			}
			if _, err := s.give(ctx, []int{5 * k, 5 * (1 - k)}); err != errBroken {
				t.Errorf("give that closes: %v", err)
			}
			if err := s.Close(); !errors.Is(err, errBroken) || fakes[1-k].problem != nil {
				t.Errorf("close: %v", err)
			}
		}
	}
	first, second := &fake{name: "a", mergeErr: errBroken}, &fake{name: "b"}
	s := sharedOf(op.Sum, first, second)
	s.problem, s.parts = problemOf(op.Sum, 2), 2
	if _, err := s.give(ctx, []int{1, 1}); err != nil {
		t.Fatal(err)
	}
	if err := s.Run(ctx); err != errBroken {
		t.Errorf("merge: %v", err)
	}
}

// TestSharedCancelled: all devices stop, and the error is that of the context.
func TestSharedCancelled(t *testing.T) {
	s := sharedOf(op.Axpy, &fake{name: "a", block: true}, &fake{name: "b", block: true}, &fake{name: "c"})
	s.problem, s.parts = problemOf(op.Axpy, 6), 6
	if _, err := s.give(context.Background(), []int{2, 2, 2}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(time.Millisecond, cancel)
	if err := s.Run(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if err := s.Prepare(ctx, problemOf(op.Axpy, 6)); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestSharedFault: a device that fails ends the work of the others, and its error alone is that of all.
func TestSharedFault(t *testing.T) {
	for k := range 2 {
		fakes := []*fake{{name: "a", block: true}, {name: "b", block: true}}
		fakes[k].block, fakes[k].runErr = false, errBroken
		s := sharedOf(op.Axpy, fakes[0], fakes[1])
		s.problem, s.parts = problemOf(op.Axpy, 6), 6
		if _, err := s.give(context.Background(), []int{3, 3}); err != nil {
			t.Fatal(err)
		}
		if err := s.Run(context.Background()); err != errBroken {
			t.Errorf("device %d of 2: %v", k, err)
		}
	}
}

// TestAlike: devices of a kind begin with equal shares, whatever the noise of their times, and only the first of them
// is timed alone; one that turns out to be slow has less in the end.
func TestAlike(t *testing.T) {
	const n = 3001
	for _, slow := range []time.Duration{0, 40 * time.Millisecond} {
		a, b := &fake{name: "a", wait: 2 * time.Millisecond}, &fake{name: "b", wait: 2 * time.Millisecond}
		s := sharedOf(op.Axpy, a, b)
		s.members[1].kind = s.members[0].kind
		s.problem, s.parts = problemOf(op.Axpy, n), n
		alone, err := s.probe(context.Background())
		if err != nil || b.prepares != 0 || alone[0] != alone[1] {
			t.Errorf("%v: times %v, the second was prepared %d times", err, alone, b.prepares)
		}
		if shares := s.divided(alone); shares[0]-shares[1] > 1 || shares[1]-shares[0] > 1 {
			t.Errorf("shares %v", shares)
		}
		b.wait += slow
		if err := s.Prepare(context.Background(), s.problem); err != nil {
			t.Fatal(err)
		}
		if err := s.Run(context.Background()); err != nil {
			t.Fatal(err)
		}
		checkResult(t, "alike", s, s.problem)
		if mine := s.members[1].to - s.members[1].from; slow > 0 && mine >= n/2 {
			t.Errorf("a slow device has %d of %d", mine, n)
		}
		s = sharedOf(op.Axpy, &fake{name: "a", most: 1}, &fake{name: "b"}) // no memory of one tells nothing of the other
		s.members[1].kind = s.members[0].kind
		if err := s.Prepare(context.Background(), problemOf(op.Axpy, 5)); err != nil || s.members[0].active() {
			t.Errorf("one without memory: %v", err)
		}
	}
}

// TestSharedTimes: one device that has everything takes its time itself; of several the clock does, with cold caches.
func TestSharedTimes(t *testing.T) {
	ctx := context.Background()
	one, other := &timedFake{fake: fake{name: "a"}}, &fake{name: "b", wait: 2 * time.Millisecond}
	s := sharedOf(op.Axpy, one, other)
	s.problem, s.parts, s.times = problemOf(op.Axpy, 4), 4, Times{Convert: 99}
	for _, c := range []struct {
		shares []int
		cools  [2]int // so far
		stage  string
	}{
		{[]int{4, 0}, [2]int{}, "own"}, {[]int{2, 2}, [2]int{1, 1}, "together"}, {[]int{0, 4}, [2]int{1, 2}, ""},
	} {
		if _, err := s.give(ctx, c.shares); err != nil {
			t.Fatal(err)
		}
		if err := s.RunTimed(ctx); err != nil {
			t.Fatal(err)
		}
		times := s.Times()
		own := Times{Convert: 99, CopyIn: 2, Kernel: 3, CopyOut: 4, Host: 5}
		if c.stage == "own" && !reflect.DeepEqual(times, own) {
			t.Errorf("%v: %+v, want %+v", c.shares, times, own)
		}
		if c.stage != "own" && (times.Kernel < other.wait || times.Convert != 99) {
			t.Errorf("%v: %+v", c.shares, times)
		}
		if one.cools != c.cools[0] || other.cools != c.cools[1] {
			t.Errorf("%v: cooled %d and %d times, want %v", c.shares, one.cools, other.cools, c.cools)
		}
		stages := s.Stages()
		if len(stages) != min(1, len(c.stage)) || len(stages) == 1 && stages[0].Name != c.stage {
			t.Errorf("%v: stages %v, want %q", c.shares, stages, c.stage)
		}
		if c.stage == "together" && stages[0].Time != times.Kernel {
			t.Errorf("together took %v, the kernel %v", stages[0].Time, times.Kernel)
		}
	}
}

// TestSharedInfo: sizes are the largest, workspaces and warnings add up; devices without a part are only named.
func TestSharedInfo(t *testing.T) {
	a := &fake{
		numberBytes: 8, threads: 4, workspace: 100, format: " a", rounded: Rounded{Factors: 1}, warnings: []string{"w1"},
	}
	b := &fake{
		name: "cuda:0", numberBytes: 16, threads: 1, moduli: 7, workspace: 30, format: " b", rounded: Rounded{Lost: true},
		warnings: []string{"w2"},
	}
	s := sharedOf(op.Axpy, a, b)
	s.problem, s.parts = problemOf(op.Axpy, 4), 4
	for _, c := range []struct {
		shares []int
		want   Info
	}{
		{[]int{1, 3}, Info{
			Format: "exact a, exact b", Variant: "cpu: 1 of 4 rows; cuda:0: 3 of 4 rows", Device: "cpu+cuda:0", Bits: 60,
			NumberBytes: 16, WorkspaceBytes: 130, Threads: 4, Moduli: 7, Rounded: Rounded{1, true},
			Warnings: []string{"w1", "w2"},
		}},
		{[]int{0, 4}, Info{
			Format: "exact b", Variant: "cuda:0: 4 of 4 rows", Device: "cpu+cuda:0", Bits: 60,
			NumberBytes: 16, WorkspaceBytes: 30, Threads: 1, Moduli: 7, Rounded: Rounded{0, true}, Warnings: []string{"w2"},
		}},
	} {
		if _, err := s.give(context.Background(), c.shares); err != nil {
			t.Fatal(err)
		}
		if got := s.Info(); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%v:\n%+v, want\n%+v", c.shares, got, c.want)
		}
	}
}

// TestNewShared: every device gets an engine of its own, made to be merged; one that cannot be made closes the others.
func TestNewShared(t *testing.T) {
	var made []*fake
	var configs []Config
	var failed error
	m := Method{Operation: op.Sum, Name: "m", Merges: true, Most: 100, On: map[device.Kind]New{
		device.CPU: func(c Config) (Engine, error) {
			made, configs = append(made, &fake{}), append(configs, c)
			return made[len(made)-1], nil
		},
		device.CUDA: func(c Config) (Engine, error) {
			configs = append(configs, c)
			if failed != nil {
				return nil, failed
			}
			return &fake{}, nil
		},
	}}
	e, err := m.New(Config{Precision: 60, Devices: both})
	if err != nil {
		t.Fatal(err)
	}
	if s, ok := e.(*shared); !ok || len(s.members) != 2 || len(configs) != 2 {
		t.Fatalf("%T of %d engines", e, len(configs))
	}
	for k, name := range []string{"cpu", "cuda:0"} {
		if c := configs[k]; c.Devices.String() != name || !c.Merge || c.Precision != 60 {
			t.Errorf("%s: %+v", name, c)
		}
	}
	failed = errBroken
	if _, err := m.New(Config{Precision: 60, Devices: both}); !errors.Is(err, errBroken) || made[1].closes != 1 {
		t.Errorf("%v, closed %d times", err, made[1].closes)
	}
}

// TestMemoryOfSeveral: a device that has memory for some parts only gets these, and another one the others.
func TestMemoryOfSeveral(t *testing.T) {
	for _, most := range []int{64, 300, 999} {
		for _, slow := range []time.Duration{0, 5 * time.Millisecond} {
			s := sharedOf(op.Axpy, &fake{name: "a", most: most}, &fake{name: "b", wait: slow})
			if err := s.Prepare(context.Background(), problemOf(op.Axpy, 1000)); err != nil {
				t.Errorf("memory for %d of 1000: %v", most, err)
			} else if n := s.members[0].to - s.members[0].from; n > most {
				t.Errorf("memory for %d of 1000: %d given", most, n)
			}
		}
	}
	s := sharedOf(op.Axpy, &fake{name: "a", most: 400}, &fake{name: "b", most: 500})
	var memory *MemoryError
	if err := s.Prepare(context.Background(), problemOf(op.Axpy, 1000)); !errors.As(err, &memory) {
		t.Errorf("memory for 900 of 1000: %v", err)
	}
}
