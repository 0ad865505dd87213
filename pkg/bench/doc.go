// Package bench measures operations and describes what was measured.
//
// A Sampler runs an operation until its time is known well enough and returns a Measurement; statistics are
// those of the median (a distribution-free interval, the median absolute deviation). A Record is one row of
// results and an Environment is what a row depends on beside its own fields; both are JSON objects, one a
// line, that ReadRecords reads back. Everything that mpbench prints is made from these records.
//
// Nothing in this package prints. Times are in nanoseconds, sizes in bytes, and names say so.
package bench
