package advise

import "time"

// effort is how long a measurement takes.
type effort struct {
	samples int
	least   time.Duration // of a sample, by repetition
	most    time.Duration // of all samples, but for the first
}

var (
	quick  = effort{3, 10 * time.Microsecond, 2 * time.Millisecond}
	normal = effort{7, 50 * time.Microsecond, 40 * time.Millisecond}
)

// measure returns the least time of a conversion and of a run, in nanoseconds. The least is what the method needs; anything
// more is what else the machine did.
func measure(in instance, e effort) (convertNs, runNs float64, err error) {
	convertNs = e.leastTime(func() {
		if loadErr := in.load(); loadErr != nil {
			err = loadErr
		}
	})
	if err != nil {
		return 0, 0, err
	}
	return convertNs, e.leastTime(in.run), nil
}

// leastTime returns the least time of one call of f.
func (e effort) leastTime(f func()) float64 {
	start := time.Now()
	f()
	first := time.Since(start)
	best := float64(first)
	repetitions := 1
	if first < e.least {
		repetitions = int(e.least/max(first, 10)) + 1
	}
	for begin, i := time.Now(), 1; i < e.samples && (i == 1 || time.Since(begin) < e.most) && !(i == 1 && first > e.most); i++ {
		start := time.Now()
		for range repetitions {
			f()
		}
		best = min(best, float64(time.Since(start))/float64(repetitions))
	}
	return best
}
