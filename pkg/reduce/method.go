package reduce

import (
	"math/big"

	"mpbench/pkg/exact"
	"mpbench/pkg/rns"
)

// Terms are the numbers to be summed. Exactly one of the fields is used: Wide when at least one term
// is no float64, otherwise Float64. Infinities and NaN occur in Float64 only.
type Terms struct {
	Float64 []float64
	Wide    []*big.Rat
}

// Len returns the number of terms.
func (t Terms) Len() int { return len(t.Float64) + len(t.Wide) }

// Options are what a user chooses beside the method itself. Fields that a method has no use for are ignored by it.
type Options struct {
	Precision  int // bits; ignored by methods of a fixed format
	ModuliBits int // width of the RNS moduli, 0 for the default
	Rounding   rns.Rounding
	Alignment  rns.Alignment
	Blocks     int    // blocks of reduce3
	BlockSize  int    // terms a block reduces side by side, a power of two
	Threads    int    // goroutines, 0 for all processors; never changes a result
	Device     string // one of the method's Devices, "" for "cpu"
}

// Summer is a method made ready for one precision: load the terms, then sum them as often as wanted.
// It is not safe for concurrent use.
type Summer interface {
	// Load converts the terms to the method's own number format; the caller times it as its own phase.
	// The terms must stay unchanged while the Summer is in use: a method whose format is the terms'
	// own keeps them instead of a copy.
	Load(Terms) error
	// Sum reduces the loaded terms. It is what is timed.
	Sum()
	// Value is the result of the last Sum, exactly.
	Value() exact.Value
	// ErrorBound returns a proved bound on |computed - exact| for terms of which s is the exact summary, with a finite sum;
	// nil where the proof's conditions do not hold (overflow).
	ErrorBound(s exact.Summary) *big.Rat
	// Format describes the number format in use.
	Format() Format
}

// Format is a number format as it is used: asked for Precision bits, given Actual bits.
type Format struct {
	Name       string // "binary64", "rns", ...
	Variant    string // which of several ways of computing ran, "" if there is one
	Actual     int    // bits of the significand
	Moduli     int    // number of RNS moduli, 0 for other formats
	ModuliBits int    // width of the widest modulus in bits, 0 for other formats
	TermBytes  int    // bytes one loaded term occupies
	Rounding   string // RNS formats: rounding and alignment
	Alignment  string
	Threads    int // goroutines that Sum uses
	Blocks     int // block reductions: the grid, otherwise 0
	BlockSize  int
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
	Bound        string                        // the formula of the error bound
	Source       string                        // author, year, DOI or section
	New          func(Options) (Summer, error) // nil for a method that has no sum

	// NewStream is nil for a method that needs all terms at once.
	NewStream func(Options) (StreamSummer, error)

	DotBound   string                        // the formula for a dot product
	DotDevices []string                      // as Devices, for dot products
	NewDot     func(Options) (Dotter, error) // nil for a method that has no dot product
}
