package gemv

// Infinities and NaN: which components they make infinite or NaN.

// class returns what matters of number i for infinities and NaN: the number itself if it is one of them, otherwise its sign.
func (x Numbers) class(i int) float64 {
	if x.Wide != nil {
		return float64(x.Wide[i].Sign())
	}
	return classOf(x.Float64[i])
}

func classOf(x float64) float64 {
	switch {
	case x-x != 0:
		return x
	case x > 0:
		return 1
	case x < 0:
		return -1
	}
	return 0
}

// specials returns the components that are not finite because a number of the problem is not: nil if
// there is none, otherwise an array with NaN or an infinity for each such component and 0 for the others.
//
// In place of finite numbers it adds their signs: the sums of those are finite, so an infinity or NaN comes from one.
func (p *Problem) specials() []float64 {
	if !p.hasSpecialVector() && !p.hasSpecialMatrix() {
		return nil
	}
	return p.specialRows()
}

// specialRows is specials for a problem that has infinite or NaN numbers.
func (p *Problem) specialRows() []float64 {
	result := make([]float64, p.Rows())
	alpha, beta := p.Alpha.numbers().class(0), p.Beta.numbers().class(0)
	for i := range result {
		sum := 0.0
		if p.readsY() {
			sum = p.Y.class(p.yIndex(i))
			if p.work() != unchanged {
				sum *= beta
			}
		}
		if p.work() == full {
			for j := range p.Terms() {
				sum += float64(float64(alpha*p.X.class(p.xIndex(j))) * p.A.class(p.aIndex(i, j)))
			}
		}
		if sum-sum != 0 {
			result[i] = sum
		}
	}
	return result
}

func isSpecial(x float64) bool { return x-x != 0 }

// hasSpecialVector reports whether alpha, beta or a number of x or y that is read is infinite or NaN.
func (p *Problem) hasSpecialVector() bool {
	if isSpecial(p.Alpha.numbers().class(0)) || isSpecial(p.Beta.numbers().class(0)) {
		return true
	}
	if p.readsY() && p.Y.Wide == nil {
		for i := range p.Rows() {
			if isSpecial(p.Y.Float64[p.yIndex(i)]) {
				return true
			}
		}
	}
	if p.work() != full {
		return false
	}
	if p.X.Wide == nil {
		for j := range p.Terms() {
			if isSpecial(p.X.Float64[p.xIndex(j)]) {
				return true
			}
		}
	}
	return false
}

// hasSpecialMatrix reports whether A is read and a number of it is infinite or NaN.
func (p *Problem) hasSpecialMatrix() bool {
	if p.A.Wide == nil && p.work() == full {
		for j := range p.N {
			for _, a := range p.A.Float64[j*p.LDA : j*p.LDA+p.M] {
				if isSpecial(a) {
					return true
				}
			}
		}
	}
	return false
}
