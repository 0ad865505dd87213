package accurate

// Threads is how many goroutines the functions of the package use at most, as methods: Threads(4).Sum(x), or
// Threads(0).Sum(x) for as many as GOMAXPROCS. The functions themselves use the caller's alone. Results are the same
// bits. Small operands, below some 2^16 elements, are not worth more than one; starting goroutines allocates some kB.
type Threads int
