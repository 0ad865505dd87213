package record

// A Solve says how an iterative solution of a system of linear equations went. Residuals are ||r||_2 / ||b||_2.
type Solve struct {
	Algorithm    string `json:"algorithm"`    // "bicgstab", "bicgstab2", "cg"
	Precondition string `json:"precondition"` // "none", "jacobi", "ilu0"
	// Float64Matrix: the matrix is rounded to binary64, whatever the format of the vectors.
	Float64Matrix bool      `json:"float64_matrix,omitempty"`
	Tolerance     float64   `json:"tolerance"` // of residuals
	Status        string    `json:"status"`    // how it ended
	Converged     bool      `json:"converged"` // both residuals are below the tolerance
	Iterations    int       `json:"recurrence_iterations"`
	Products      int       `json:"products,omitempty"`      // of the matrix and vectors, whose time is the phase "spmv"
	Recurrence    string    `json:"recurrence_residual"`     // that the method stopped by
	True          string    `json:"true_residual"`           // of the exact b - A*x
	Backward      string    `json:"backward_error"`          // ||b - A*x|| / (||A|| ||x|| + ||b||), maximum norms
	Forward       string    `json:"forward_error,omitempty"` // ||x - x*||_2 / ||x*||_2, where x* is known
	History       []float64 `json:"history"`                 // residuals of the recurrence after each iteration
	// Orders are the iterations with the unknowns in other orders, and so dot products; negative where the recurrence's
	// residual did not become small.
	Orders []int `json:"iterations_of_orders,omitempty"`
}

// SparseFlops returns how many operations a second products with a sparse matrix make, those of a solver included: a
// multiplication and an addition for each stored element, in the format's numbers. It is 0 where that is not known.
func (r *Record) SparseFlops() float64 {
	ns, products := r.Time.Median, 1
	if r.Solve != nil {
		ns, products = r.Phases["spmv"], r.Solve.Products
	}
	if ns <= 0 {
		return 0
	}
	return 2 * float64(r.Shape.NNZ) * float64(products) / ns * 1e9
}
