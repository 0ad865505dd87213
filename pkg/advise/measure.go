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

// times returns the least time of a conversion and of a run, in nanoseconds. The least is what the method needs; anything
// more is what else the machine did.
func times(in *instance, e effort) (convertNs, runNs float64, err error) {
	if convertNs, err = e.leastTime(in.load); err != nil {
		return 0, 0, err
	}
	runNs, err = e.leastTime(in.run)
	return convertNs, runNs, err
}

// leastTime returns the least time of one call of f, or its first error.
func (e effort) leastTime(f func() error) (float64, error) {
	start := time.Now()
	err := f()
	first := time.Since(start)
	best := float64(first)
	repetitions := 1
	if first < e.least {
		repetitions = int(e.least/max(first, 10)) + 1
	}
	if first > e.most {
		return best, err
	}
	for begin, i := time.Now(), 1; err == nil && i < e.samples && (i == 1 || time.Since(begin) < e.most); i++ {
		start := time.Now()
		for range repetitions {
			if err = f(); err != nil {
				return best, err
			}
		}
		best = min(best, float64(time.Since(start))/float64(repetitions))
	}
	return best, err
}
