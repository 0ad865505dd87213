package op

// ExactShort is Exact of a problem whose components are looked at as short sums, however few they are.
func ExactShort(p *Problem) (*Reference, error) {
	shape, err := p.Op.Shape(p)
	return &Reference{Shape: shape, problem: p, shorts: shortsOf(p, shape)}, err
}
