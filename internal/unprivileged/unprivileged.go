// Package unprivileged lets tests meet the refusals of the file system that a superuser never meets.
package unprivileged

import (
	"os"
	"testing"
)

// Run calls f in a way that permissions of files count: directly for an ordinary user, and for the superuser, on
// Linux, with an ordinary user's rights to files. f must not start goroutines that use files. Elsewhere the test of a
// superuser is skipped.
func Run(t *testing.T, f func()) {
	t.Helper()
	if os.Getuid() != 0 {
		f()
		return
	}
	runAsOrdinary(t, f)
}
