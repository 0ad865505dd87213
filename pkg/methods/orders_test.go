package methods_test

import (
	"context"
	"testing"

	"mpbench/pkg/device"
	"mpbench/pkg/method"
	"mpbench/pkg/op"
	"mpbench/pkg/scatter"
)

// TestOrders is the protocol of reproducibility: methods whose sums can be merged give the same bits for all orders
// and divisions, also of numbers with which float64 does not.
func TestOrders(t *testing.T) {
	sets := map[*op.Operation][]string{
		op.Sum: {"gensum:n=300,cond=1e30", "zhuhayes2:n=257,delta=1500", "extremes:kind=overflow"},
		op.Dot: {"gendot:n=300,cond=1e30"},
	}
	for o, texts := range sets {
		for i, text := range texts {
			p := problemOf(t, o, text, false)
			for _, m := range catalog.Of(o) {
				if !m.Runs(device.Set{}) || !m.Merges && m.Name != "float64" {
					continue
				}
				c, err := m.Complete(method.Config{Precision: 53})
				if err != nil {
					t.Fatal(err)
				}
				s, err := scatter.Measure(context.Background(), m, c, p)
				if err != nil {
					t.Fatal(err)
				}
				if m.Merges && !s.Same() {
					t.Errorf("%s of %s: %d results", m.Name, text, s.Results)
				}
				if !m.Merges && i == 0 && s.Same() {
					t.Errorf("%s of %s: the data do not depend on the order", m.Name, text)
				}
			}
		}
	}
}
