package selftest

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"mpbench/pkg/methods"
	"mpbench/pkg/peer/peertest"
)

// TestMain lets the tests run methods of libraries that are there.
func TestMain(m *testing.M) {
	if err := peertest.Compile(); err != nil {
		fmt.Fprintln(os.Stderr, "the loops over other libraries' numbers:", err)
	}
	os.Exit(m.Run())
}

// TestAll: nothing is wrong on this machine.
func TestAll(t *testing.T) {
	start := time.Now()
	catalog := methods.All().Present()
	if testing.Short() {
		catalog = catalog.Usual()
	}
	rows := All(catalog, cpu).Run(context.Background())
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
