package selftest

import (
	"context"
	"testing"
	"time"
)

// TestAll: nothing is wrong on this machine.
func TestAll(t *testing.T) {
	start := time.Now()
	rows := All([]string{"cpu"}).Run(context.Background())
	for _, r := range rows {
		if !r.Pass() || r.Checks == 0 {
			t.Errorf("%s %s on %s: %d of %d checks failed: %s", r.Operation, r.Method, r.Device, r.Failed, r.Checks, r.Failure)
		}
	}
	t.Logf("%d rows in %v", len(rows), time.Since(start))
}
