package unprivileged

import (
	"runtime"
	"syscall"
	"testing"
)

// ordinary is the user ID of nobody.
const ordinary = 65534

// runAsOrdinary gives this thread another user's rights to files, which also takes the superuser's capabilities over
// files away (setfsuid(2)), and gives them back afterwards.
func runAsOrdinary(t *testing.T, f func()) {
	t.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := syscall.Setfsuid(ordinary); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := syscall.Setfsuid(0); err != nil {
			t.Fatal(err)
		}
	}()
	f()
}
