//go:build !amd64 || noasm

package sell

func float64s(steps, columns []int32, a, x, sums []float64) {
	float64sGeneric(steps, columns, a, x, sums)
}

func doubleDoubles(parts int, steps, columns []int32, a, x, low, sums []float64) {
	doubleDoublesGeneric(parts, steps, columns, a, x, low, sums)
}
