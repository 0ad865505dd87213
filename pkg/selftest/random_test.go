package selftest

import (
	"context"
	"reflect"
	"testing"

	"mpbench/pkg/exact"
	"mpbench/pkg/method"
	"mpbench/pkg/methods"
	"mpbench/pkg/op"
)

// TestRandom: nothing is wrong, and the same seed gives the same problems.
func TestRandom(t *testing.T) {
	for i, o := range op.All() {
		count := 8
		if o.Matrices() > 1 || testing.Short() {
			count = 2
		}
		suite := Suite{Methods: methods.All().Usual().Of(o), Devices: cpu}
		rows, totals := suite.Random(context.Background(), Problems{Seed: uint64(i), Count: count})
		if totals.Problems != count || totals.Failed != nil || Failed(rows) != 0 || totals.Components == 0 {
			t.Errorf("%s: %+v, %+v", o.Name, totals, rows)
		}
		if i > 0 {
			continue
		}
		again, same := suite.Random(context.Background(), Problems{Seed: uint64(i), Count: count})
		if !reflect.DeepEqual(rows, again) || !reflect.DeepEqual(totals, same) {
			t.Errorf("%+v, %+v at first, then %+v, %+v", rows, totals, again, same)
		}
	}
}

// TestRandomFault: a result beyond its bound is found, and found again from the seed that is given.
func TestRandomFault(t *testing.T) {
	m := altered(methodOf(t, op.Gemv, "deferred"), func(e method.Engine) method.Engine {
		return changed{e, func(v exact.Value, bits int) exact.Value {
			if v.Sign() < 0 {
				return v
			}
			return ulp(ulp(v, bits), bits)
		}}
	})
	suite := Suite{Methods: method.Catalog{m}, Devices: cpu}
	rows, totals := suite.Random(context.Background(), Problems{Seed: 7})
	if totals.Failed == nil {
		t.Fatalf("nothing was found in %+v", totals)
	}
	fails(t, rows, "gemv", "deferred", "y[5]")
	rows, again := suite.Random(context.Background(), Problems{Seed: *totals.Failed, Count: 1})
	if again.Failed == nil || *again.Failed != *totals.Failed {
		t.Errorf("problem %d passes by itself: %+v", *totals.Failed, rows)
	}
}
