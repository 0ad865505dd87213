// Package dynamic opens shared libraries while the program runs, without cgo. Its functions stay on one thread of the
// system, which keeps the reason of a failure until it is asked for.
package dynamic
