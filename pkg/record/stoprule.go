package record

// A StopRule says what ended a measurement.
type StopRule string

// The rules, in the order in which they are tried before each sample.
const (
	StopInterrupted StopRule = "interrupted" // the context was cancelled
	StopMinimum     StopRule = "minimum"     // Runs and MinTime are reached, and no noise limit is set
	StopNoise       StopRule = "noise"       // Runs and MinTime are reached, and the relative MAD is at most MaxNoise
	StopTimeout     StopRule = "timeout"     // Timeout has passed
	StopMaxRuns     StopRule = "max-runs"    // MaxRuns samples are taken
	StopError       StopRule = "error"       // the operation failed
)
