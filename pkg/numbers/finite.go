package numbers

// Finite returns an array with 0 in place of infinities and NaN: those of results are known beforehand.
func (a Array) Finite() Array {
	a.Source = Quotients(withoutSpecials{a.Source}, a.Denominator())
	return a
}

type withoutSpecials struct{ Source }

func (f withoutSpecials) Span(i int) Span {
	if s := f.Source.Span(i); s.Class < Infinite {
		return s
	}
	return Span{}
}

func (f withoutSpecials) Read(z *Number, i int) {
	if f.Source.Read(z, i); z.Class >= Infinite {
		z.Class = Zero
	}
}
