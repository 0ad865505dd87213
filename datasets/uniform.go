package datasets

func uniformSets() []*Set {
	return []*Set{
		{
			Name:    "uniform01",
			Summary: "uniform in [0, 1), multiples of 2^-53",
			Source: "Higham, SIAM J. Sci. Comput. 14(4), 1993, doi:10.1137/0914050; timing data of Isupov, Knyazkov and " +
				"Kuvaev (2018)",
			DefaultN: 1_000_000, Seeded: true,
			make: func(j *job) error { return j.draw((*source).unit) },
		},
		{
			Name:     "uniform11",
			Summary:  "uniform in [-1, 1), multiples of 2^-52",
			Source:   "Higham, SIAM J. Sci. Comput. 14(4), 1993, doi:10.1137/0914050",
			DefaultN: 1_000_000, Seeded: true,
			make: func(j *job) error { return j.draw((*source).symmetric) },
		},
		{
			Name:     "anderson",
			Summary:  "x_i - mean, x_i uniform in [0, 1): the sum is of the order of the rounding errors of the mean",
			Source:   "Anderson, SIAM J. Sci. Comput. 20(5), 1999, doi:10.1137/S1064827596314200",
			DefaultN: 1000, Seeded: true,
			make: func(j *job) error {
				err := j.draw((*source).unit)
				subtractMean(j.terms)
				return err
			},
		},
	}
}

// subtractMean replaces every x by fl(x - fl(s/n)), s the sum of xs in binary64 from left to right, and returns s.
func subtractMean(xs []float64) (s float64) {
	for _, x := range xs {
		s += x
	}
	mean := s / float64(len(xs))
	for i := range xs {
		xs[i] -= mean
	}
	return s
}
