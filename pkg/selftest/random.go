package selftest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"mpbench/internal/parallel"
	"mpbench/internal/problems"
	"mpbench/pkg/device"
	"mpbench/pkg/method"
	"mpbench/pkg/numbers"
	"mpbench/pkg/op"
)

// Problems chooses random problems: the k-th one from 0 on is made from the seed Seed+k alone, and so are a method's
// options with it.
type Problems struct {
	Seed  uint64
	Count int // 0 for no limit
}

// Totals counts what was done with random problems.
type Totals struct {
	Problems   int
	Components int     // of results, each compared with the exact one and the method's proved bound
	Terms      int     // the median number of terms of these components
	Failed     *uint64 // the seed of a problem with a wrong result
	Operation  string  // of that problem
}

// extents of random matrices; vectors without a matrix are 8 times as long. One of 8 extents is smaller.
const least, largest = 80, 160

// Random tests methods with random problems of every operation until the context ends, there are no more, or a result
// is wrong: numbers near each other, far apart or cancelling, of 53 bits or as long as the precision, with any
// increments, factors, options and number of threads. Rows count the components of results, whose errors are compared
// with the proved bounds. A device other than the CPU has one problem at a time.
func (s Suite) Random(ctx context.Context, p Problems) ([]Row, Totals) {
	r := &random{suite: s, rows: map[string]*Row{}, terms: map[int]int{}}
	operations, threads := s.Methods.Operations(), 0
	for _, set := range s.Devices {
		if set.Kind() != device.CPU {
			threads = 1
		}
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var next atomic.Int64
	parallel.Tasks(threads, parallel.Threads(threads), func(_, _ int) {
		for ctx.Err() == nil {
			k := next.Add(1) - 1
			if p.Count > 0 && k >= int64(p.Count) {
				return
			}
			seed := p.Seed + uint64(k)
			if !r.problem(ctx, operations[seed%uint64(len(operations))], seed) {
				stop()
			}
		}
	})
	return r.result()
}

// random is a run of random problems.
type random struct {
	suite Suite

	sync.Mutex
	rows   map[string]*Row // by operation, method and device
	terms  map[int]int     // how many components had so many terms
	totals Totals
}

// problem tests all methods with one problem, and tells whether nothing was wrong.
func (r *random) problem(ctx context.Context, o *op.Operation, seed uint64) bool {
	g := rand.New(rand.NewPCG(seed, 1))
	precision := 53 + g.IntN(1<<(2+g.IntN(9)))
	c := problems.Choice{
		Seed: seed, Kind: problems.Kind(g.IntN(int(problems.Kinds))), Least: least, Largest: largest,
		Bits: []int{0, 0, precision, 2*precision - 8}[g.IntN(4)], Decimal: g.IntN(16) == 0,
	}
	p := c.Random(o)
	exactly, err := op.Exact(p)
	if err != nil {
		panic(err) // problems are in range
	}
	right := true
	for _, set := range r.suite.Devices {
		for _, m := range r.suite.Methods.Of(o) {
			bits := cmp.Or(m.Bits, precision)
			if !m.Runs(set) || m.Accepts(bits) != nil {
				continue
			}
			name := fnv.New64()
			name.Write([]byte(m.Name))
			config := RandomConfig(rand.New(rand.NewPCG(seed, name.Sum64())), m, bits)
			config.Devices = set
			t := &tester{row: Row{
				Operation: o.Name, Method: m.Name, Format: m.Format, Device: set.String(), Path: r.suite.Path,
			}}
			what := fmt.Sprintf("problem %d, %d bits, %s", seed, bits, describeOptions(config))
			t.guarded(what, func() { t.randomProblem(ctx, m, config, p, exactly, what) })
			if ctx.Err() != nil {
				return right
			}
			right = right && t.row.Pass()
			r.add(t.row, exactly, seed)
		}
	}
	r.Lock()
	r.totals.Problems++
	r.Unlock()
	return right
}

// randomProblem compares all components of a result with the bound.
func (t *tester) randomProblem(
	ctx context.Context, m method.Method, config method.Config, p *op.Problem, exactly *op.Reference, what string,
) {
	engine, err := m.New(config)
	if !t.works(what, err) {
		return
	}
	var y numbers.Source
	if err = method.Run(ctx, engine, p); err == nil {
		y, err = engine.Result()
	}
	bounds := m.ErrorBound(engine.Info(), p)
	if closed := engine.Close(); err == nil {
		err = closed
	}
	var beyond *method.RangeError
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || errors.As(err, &beyond) {
		return
	}
	if err != nil {
		t.works(what, err)
		return
	}
	n := exactly.Shape.Components
	if y.Len() != n {
		t.works(what, fmt.Errorf("%d components, want %d", y.Len(), n))
		return
	}
	for i := range n {
		e := expectation{what: what, summary: exactly.Component(i)}
		if e.bound = bounds.Of(e.summary); e.bound == nil && m.Bits != 0 {
			continue // numbers or products leave the format's range
		}
		if !m.Operation.Scalar {
			e.what = what + ", " + numbers.ComponentName(i, exactly.Shape.K)
		}
		t.compare(numbers.At(y, i), e)
	}
}

// add adds a row's counts to those of the same method.
func (r *random) add(row Row, exactly *op.Reference, seed uint64) {
	r.Lock()
	defer r.Unlock()
	r.totals.Components += row.Checks
	r.terms[exactly.Shape.Length] += row.Checks
	if !row.Pass() && r.totals.Failed == nil {
		r.totals.Failed, r.totals.Operation = &seed, row.Operation
	}
	sum, ok := r.rows[key(row)]
	if !ok {
		r.rows[key(row)] = &row
		return
	}
	sum.Checks += row.Checks
	sum.Failed += row.Failed
	if sum.Failure == "" {
		sum.Failure, sum.Advice = row.Failure, row.Advice
	}
}

func key(r Row) string { return r.Operation + " " + r.Method + " " + r.Device }

// result returns the rows in the order of the catalog.
func (r *random) result() (rows []Row, totals Totals) {
	for _, set := range r.suite.Devices {
		for _, o := range r.suite.Methods.Operations() {
			for _, m := range r.suite.Methods.Of(o) {
				if row, ok := r.rows[key(Row{Operation: o.Name, Method: m.Name, Device: set.String()})]; ok {
					rows = append(rows, *row)
				}
			}
		}
	}
	lengths := make([]int, 0, len(r.terms))
	for n := range r.terms {
		lengths = append(lengths, n)
	}
	slices.Sort(lengths)
	below := 0
	for _, n := range lengths {
		if below += r.terms[n]; 2*below >= r.totals.Components {
			r.totals.Terms = n
			break
		}
	}
	return rows, r.totals
}

// RandomConfig chooses options and a number of threads; none of the method's makes it refuse.
func RandomConfig(r *rand.Rand, m method.Method, precision int) method.Config {
	options := map[string]string{"tune": "off"}
	for _, o := range m.Options {
		switch {
		case o.Name == "tune":
		case o.Values != nil:
			options[o.Name] = o.Values[r.IntN(len(o.Values))]
		case o.Name == "moduli-bits":
			options[o.Name] = []string{"0", "16", "31"}[r.IntN(3)]
		default:
			options[o.Name] = strconv.Itoa(1 << r.IntN(5))
		}
	}
	return method.Config{Precision: precision, Threads: 1 + r.IntN(3), Options: options}
}

func describeOptions(c method.Config) string {
	list := []string{fmt.Sprintf("%d threads", c.Threads)}
	for name, value := range c.Options {
		list = append(list, name+" "+value)
	}
	slices.Sort(list[1:])
	return strings.Join(list, ", ")
}
