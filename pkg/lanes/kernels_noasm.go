//go:build !amd64 || noasm

package lanes

// Leaves sets sums[i] to the sum of the next 8*groups[i] numbers of x, as leavesGeneric describes.
func Leaves(x []float64, groups []int, sums []float64) { leavesGeneric(x, groups, sums) }

// AddSums adds the terms of x, whose number is a multiple of Count, to the lanes.
func (c Cascade) AddSums(x []float64) { c.sumsGeneric(x) }

// AddProducts adds the products of x and y, whose number is a multiple of Count, to the lanes.
func (c Cascade) AddProducts(x, y []float64) { c.productsGeneric(x, y) }

// AddSums adds the terms of x, whose number is a multiple of Count, and returns the largest magnitude; that of NaN is
// left out.
func (b Bins) AddSums(x []float64) (largest float64) { return b.sumsGeneric(x) }

// AddProducts does so for rounded products.
func (b Bins) AddProducts(x, y []float64) (largest float64) { return b.productsGeneric(x, y) }
