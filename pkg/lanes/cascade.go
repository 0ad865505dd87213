package lanes

import "mpbench/pkg/superacc"

// Cascade has, for each lane, a sum at every level: the exact error of an addition at one level is a term of the next
// one, and the last level adds in plain arithmetic.
type Cascade []Lane

// joins is how often lanes are joined: log2 of Count.
const joins = 4

// Depth returns how many additions a term of some level goes through, of n terms in so many levels, at most:
// ceil(n/16) - 1 in its lane, at most k of level k for each of the joins of lanes, and that of the error of joining
// levels.
func Depth(n, levels int) int { return (n+Count-1)/Count + joins*levels }

// Deposit adds v to a lane, from a level on.
func (c Cascade) Deposit(lane, level int, v float64) {
	last := len(c) - 1
	for k := level; k < last; k++ {
		c[k][lane], v = superacc.TwoSum(c[k][lane], v)
	}
	c[last][lane] += v
}

// Sum joins the lanes, which it changes, and returns their sum: that of what Join returns.
func (c Cascade) Sum() float64 {
	t, last := c.Join()
	return t + last
}

// Join joins the lanes, which it changes, and returns their sum as two numbers: lane l adds lane l + 8, l + 4, l + 2,
// l + 1, one level after the other; then the first sum of lane 0 adds those of the next levels, each time with the
// exact error as a term of the level after; the second number is the last level.
func (c Cascade) Join() (first, last float64) {
	for half := Count / 2; half > 0; half /= 2 {
		for l := range half {
			for k := range c {
				c.Deposit(l, k, c[k][l+half])
			}
		}
	}
	t, deepest := c[0][0], len(c)-1
	for k := 1; k < deepest; k++ {
		var d float64
		t, d = superacc.TwoSum(t, c[k][0])
		c.Deposit(0, k+1, d)
	}
	return t, c[deepest][0]
}
