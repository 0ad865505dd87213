package selftest

import (
	"context"
	"testing"
	"time"

	"mpbench/pkg/methods"
)

// TestAll: nothing is wrong on this machine.
func TestAll(t *testing.T) {
	start := time.Now()
	rows := All(methods.All(), cpu).Run(context.Background())
	for _, r := range rows {
		if !r.Pass() || r.Checks == 0 {
			t.Errorf("%s %s on %s: %d of %d checks failed: %s", r.Operation, r.Method, r.Device, r.Failed, r.Checks, r.Failure)
		}
	}
	checks := 0
	for _, r := range rows {
		checks += r.Checks
	}
	t.Logf("%d checks in %d rows in %v", checks, len(rows), time.Since(start))
}
