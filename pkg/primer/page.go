package primer

import "fmt"

// Pattern says which threads of a block combine which words of shared memory in a reduction's step.
type Pattern struct {
	Name    string // of its rung of the ladder
	Page    string // its kernel on the page
	Summary string
	halving bool                                           // s goes down from half of the block
	index   func(s, thread, block int) (i int, works bool) // data[i] += data[i+s]
}

// Patterns are the three kernels of the page that the ladder begins with.
var Patterns = []Pattern{
	{"divergent", "reduce1", "interleaved addressing with a divergent branch", false,
		func(s, t, _ int) (int, bool) { return t, t%(2*s) == 0 }},
	{"strided", "reduce2", "interleaved addressing by the first threads, with bank conflicts", false,
		func(s, t, block int) (int, bool) { return 2 * s * t, 2*s*t < block }},
	{"sequential", "reduce3", "sequential addressing", true,
		func(s, t, _ int) (int, bool) { return t, t < s }},
}

// PageStep is a step of a pattern: what the emulator would count, from the indices alone.
type PageStep struct {
	S         int
	Text      string // "data[t] += data[t + 1], t = 0, 2, ..., 510"
	Threads   int    // that add
	Warps     int    // that they belong to
	Divergent int    // of these, with other threads that do not add
	Order     int    // words that one bank is asked for by a warp at once, at most
	Conflicts int    // of all accesses: two reads and a write an addition
	First     int64  // data[0] after the step
}

const (
	warpThreads = 32
	banks       = 32 // of words of 4 bytes
)

// Steps reduces 0, 1, ..., block-1 in a block with a thread for each.
func (p Pattern) Steps(block int) (steps []PageStep) {
	data := make([]int64, block)
	for i := range data {
		data[i] = int64(i)
	}
	first, next := 1, func(s int) int { return 2 * s }
	if p.halving {
		first, next = block/2, func(s int) int { return s / 2 }
	}
	for s := first; s > 0 && s < block; s = next(s) {
		steps = append(steps, p.step(s, data))
	}
	return steps
}

func (p Pattern) step(s int, data []int64) PageStep {
	step := PageStep{S: s}
	var indices []int
	for w := 0; w < len(data); w += warpThreads {
		var list []int
		threads := min(warpThreads, len(data)-w)
		for t := w; t < w+threads; t++ {
			if i, works := p.index(s, t, len(data)); works {
				list = append(list, i)
			}
		}
		if len(list) == 0 {
			continue
		}
		step.Warps++
		if len(list) < threads {
			step.Divergent++
		}
		order := bankOrder(list)
		step.Order = max(step.Order, order)
		step.Conflicts += 3 * (order - 1)
		indices = append(indices, list...)
	}
	step.Threads = len(indices)
	for _, i := range indices {
		data[i] += data[i+s]
	}
	step.First = data[0]
	step.Text = fmt.Sprintf("data[i] += data[i + %d], i = %s", s, listed(indices))
	return step
}

// bankOrder returns how many of the words lie in the bank that has most of them. A distance s changes nothing.
func bankOrder(words []int) (most int) {
	var inBank [banks]int
	for _, w := range words {
		inBank[w%banks]++
		most = max(most, inBank[w%banks])
	}
	return most
}

// listed writes the first two numbers of a list and the last.
func listed(list []int) string {
	switch n := len(list); n {
	case 1:
		return fmt.Sprint(list[0])
	case 2:
		return fmt.Sprintf("%d, %d", list[0], list[1])
	default:
		return fmt.Sprintf("%d, %d, ..., %d", list[0], list[1], list[n-1])
	}
}
