package lanes

// LeafLanes is the number of terms of a leaf that are added at a time.
const LeafLanes = 8

// leavesGeneric sets sums[i] to the sum of a leaf, the next 8*groups[i] numbers of x: partial sum l adds the terms l,
// l + 8, l + 16, ... in turn, and the result is ((r0+r1)+(r2+r3)) + ((r4+r5)+(r6+r7)).
func leavesGeneric(x []float64, groups []int, sums []float64) {
	for i, n := range groups {
		r := [LeafLanes]float64(x)
		for g := 1; g < n; g++ {
			for l, v := range x[LeafLanes*g:][:LeafLanes] {
				r[l] += v
			}
		}
		sums[i] = ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]))
		x = x[LeafLanes*n:]
	}
}
