//go:build !linux && !darwin && !windows

package record

// captureSystem has nothing to add on systems that this program does not know.
func captureSystem(*Environment) {}
