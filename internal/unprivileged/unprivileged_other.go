//go:build !linux

package unprivileged

import "testing"

func runAsOrdinary(t *testing.T, _ func()) {
	t.Skip("the superuser may do everything with files on this system")
}
