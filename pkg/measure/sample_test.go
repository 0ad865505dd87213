package measure_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"mpbench/pkg/measure"
	"mpbench/pkg/method"
	"mpbench/pkg/numbers"
	"mpbench/pkg/op"
	"mpbench/pkg/record"
	"mpbench/pkg/sampling"
)

// TestSample: where not all components are compared, the others do not count, but in the hash, and the record says so.
func TestSample(t *testing.T) {
	const n, some = 300, 7
	x := make(numbers.Float64s, n)
	for i := range x {
		x[i] = float64(i + 1)
	}
	p := &op.Problem{Op: op.Scal, Alpha: numbers.Scalar(3), X: numbers.Vector(x)}
	all := inputOf(t, p)
	sample := all
	var err error
	if sample.Reference, err = op.Sampled(p, 10, some); err != nil {
		t.Fatal(err)
	}
	right := make(numbers.Float64s, n)
	for i := range right {
		right[i] = 3 * x[i]
	}
	judged := func(in measure.Input, y numbers.Float64s) measure.Judgment {
		j, err := in.Judge(y, nil)
		if err != nil {
			t.Fatal(err)
		}
		return j
	}
	for i := range n {
		wrong := slices.Clone(right)
		wrong[i]++
		part, whole := judged(sample, wrong), judged(all, wrong)
		if seen := part.Errors.Rel.Sign() != 0; seen != sample.Reference.Compares(i) || part.Hash != whole.Hash {
			t.Errorf("component %d, compared %v: its error is seen: %v; hash %s, of all %s", i,
				sample.Reference.Compares(i), seen, part.Hash, whole.Hash)
		}
		if sample.Reference.Compares(i) && (part.Worst != i || part.NormError.Sign() == 0) {
			t.Errorf("the worst component is %d, not %d; error of the norm %v", part.Worst, i, part.NormError)
		}
	}
	e := &fake{y: values(right...), info: method.Info{Bits: 53}}
	r, _, err := measure.Measure(context.Background(), sampling.Sampler{Clock: e}, methodOf(op.Scal, "", e),
		method.Config{}, sample)
	if err != nil || !slices.ContainsFunc(r.Record.Warnings, func(w record.Warning) bool {
		return w.Code == record.WarnSampled && strings.HasPrefix(w.Text, "7 of 300 components")
	}) {
		t.Errorf("%v, warnings %v", err, r.Record.Warnings)
	}
}
