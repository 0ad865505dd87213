//go:build !linux && !noasm

package intmat

// tilesAllowed reports whether this process may use the tiles of AMX.
func tilesAllowed() bool { return false }
