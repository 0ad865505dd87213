package gemv

import (
	"math/big"
	"time"

	"mpbench/pkg/exact"
	"mpbench/pkg/rns"
)

// Options are what a user chooses beside the method itself. Fields that a method has no use for are ignored by it.
type Options struct {
	Precision  int // bits; ignored by methods of a fixed format
	ModuliBits int // width of the RNS moduli, 0 for the default
	Rounding   rns.Rounding
	Alignment  rns.Alignment
	BlockSize  int    // numbers that rns-split adds side by side in a row (the paper's threads of a block), 0 for DefaultBlockSize
	Threads    int    // goroutines, 0 for all processors; never changes a result
	Device     string // one of the method's Devices, "" for "cpu"
	Tune       Tune   // launch parameters on a GPU; never changes a result
	Stream     bool   // deferred on a GPU: A stays in host memory and crosses the bus in every run; never changes a result
	MaxBytes   int64  // memory of the host that Load may use for the matrix and the workspace, 0 for no limit; see MemoryError
}

// Engine is a method made ready for one precision: load a problem, then run it as often as wanted. It is not safe for concurrent
// use.
type Engine interface {
	// Load checks the arguments, converts the numbers to the method's own format and makes the workspace; the caller times
	// it as its own phase. The problem's numbers must stay unchanged while the Engine is in use.
	Load(Problem) error
	// Run computes the result, from the loaded y every time. It is what is timed.
	Run()
	// Result returns the components of the last Run, exactly, in order whatever the sign of IncY.
	Result() []exact.Value
	// Phases returns the parts of the last Run and how long each took. Their sum is the time of Run but for the time between
	// them.
	Phases() []Phase
	// ErrorBound returns a proved bound on the error of component i, of which s is the exact summary ([Reference.Summary]) with
	// a finite sum; nil where the proof's conditions do not hold (overflow).
	ErrorBound(i int, s exact.Summary) *big.Rat
	// UnitRoundoff bounds the relative error of one operation.
	UnitRoundoff() *big.Rat
	// Format describes the number format in use and the memory that the loaded problem takes.
	Format() Format
}

// Phase is a part of a run.
type Phase struct {
	Name    string // "matrix-residues", ...
	Summary string // what it does, in one line
	Time    time.Duration
}

// Format is a number format as it is used: asked for a precision, given Actual bits.
type Format struct {
	Name           string // "binary64", "rns", ...
	Variant        string // which of several ways of computing ran, "" if there is one
	Actual         int    // bits of the significand
	Moduli         int    // number of RNS moduli, 0 for other formats
	ModuliBits     int    // width of the widest modulus in bits, 0 for other formats
	NumberBytes    int    // bytes that one number of the matrix occupies
	WorkspaceBytes int    // bytes beside A, x and y in the method's format
	Threads        int
}

// Method is one row of the registry: an algorithm with a number format.
type Method struct {
	Name         string
	Summary      string // one line
	Format       string
	Devices      []string
	FixedBits    int // precision of a fixed format, 0 when the user chooses it
	MinPrecision int
	MaxPrecision int
	Bound        string // the formula of the error bound
	Source       string // author, year, DOI or section
	New          func(Options) (Engine, error)
}
