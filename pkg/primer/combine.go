package primer

// Combiner computes with an operation on elements of a type.
type Combiner[T Number] struct {
	Operation
	Identity T
	// Fold returns s o x_0 o x_1 o ..., from left to right.
	Fold func(s T, x []T) T
	// Scan sets y_i = s o x_0 o ... o x_i, from left to right, and returns the last, or s of no element. y may be x.
	Scan func(s T, y, x []T) T
	// Zip sets z_i = x_i o y_i, for the operations that round; x may be z.
	Zip func(z, x, y []T)

	rows *rowLoops[T] // of the fixed grouping; nil for none
}

// Combine returns a o b.
func (c Combiner[T]) Combine(a, b T) T { return c.Fold(a, []T{b}) }

// CombinerOf returns what computes with an operation that its Kind.Parse gave for this type.
func CombinerOf[T Number](o Operation) Combiner[T] {
	c := Combiner[T]{Operation: o}
	greatest, least := extremes[T]()
	switch o.Name {
	case "+":
		c.Identity, c.Fold, c.Scan = 0, foldSum[T], scanSum[T]
		c.Zip = zipSum[T]
		vectorized(&c)
	case "*":
		c.Identity, c.Fold, c.Scan = 1, foldProduct[T], scanProduct[T]
		c.Zip = zipProduct[T]
	case "min":
		c.Identity, c.Fold, c.Scan = greatest, foldMin[T], scanMin[T]
	case "max":
		c.Identity, c.Fold, c.Scan = least, foldMax[T], scanMax[T]
	case "&&":
		c.Identity, c.Fold, c.Scan = 1, foldAll[T], scanAll[T]
	case "||":
		c.Identity, c.Fold, c.Scan = 0, foldAny[T], scanAny[T]
	default:
		switch any(c).(type) {
		case Combiner[int32]:
			return any(bitwise[int32](o)).(Combiner[T])
		case Combiner[int64]:
			return any(bitwise[int64](o)).(Combiner[T])
		}
		panic("primer: " + o.Name + " of " + TypeName[T]())
	}
	return c
}

func bitwise[T int32 | int64](o Operation) Combiner[T] {
	c := Combiner[T]{Operation: o}
	switch o.Name {
	case "&":
		c.Identity, c.Fold, c.Scan = -1, foldAnd[T], scanAnd[T]
	case "|":
		c.Identity, c.Fold, c.Scan = 0, foldOr[T], scanOr[T]
	case "^":
		c.Identity, c.Fold, c.Scan = 0, foldXor[T], scanXor[T]
	}
	return c
}

func truth[T Number](b bool) T {
	if b {
		return 1
	}
	return 0
}

func foldSum[T Number](s T, x []T) T {
	for _, v := range x {
		s += v
	}
	return s
}

func foldProduct[T Number](s T, x []T) T {
	for _, v := range x {
		s *= v
	}
	return s
}

func foldMin[T Number](s T, x []T) T {
	for _, v := range x {
		s = min(s, v)
	}
	return s
}

func foldMax[T Number](s T, x []T) T {
	for _, v := range x {
		s = max(s, v)
	}
	return s
}

func foldAnd[T int32 | int64](s T, x []T) T {
	for _, v := range x {
		s &= v
	}
	return s
}

func foldOr[T int32 | int64](s T, x []T) T {
	for _, v := range x {
		s |= v
	}
	return s
}

func foldXor[T int32 | int64](s T, x []T) T {
	for _, v := range x {
		s ^= v
	}
	return s
}

func foldAll[T Number](s T, x []T) T {
	for _, v := range x {
		s = truth[T](s != 0 && v != 0)
	}
	return s
}

func foldAny[T Number](s T, x []T) T {
	for _, v := range x {
		s = truth[T](s != 0 || v != 0)
	}
	return s
}

func scanSum[T Number](s T, y, x []T) T {
	for i, v := range x {
		s += v
		y[i] = s
	}
	return s
}

func scanProduct[T Number](s T, y, x []T) T {
	for i, v := range x {
		s *= v
		y[i] = s
	}
	return s
}

func scanMin[T Number](s T, y, x []T) T {
	for i, v := range x {
		s = min(s, v)
		y[i] = s
	}
	return s
}

func scanMax[T Number](s T, y, x []T) T {
	for i, v := range x {
		s = max(s, v)
		y[i] = s
	}
	return s
}

func scanAnd[T int32 | int64](s T, y, x []T) T {
	for i, v := range x {
		s &= v
		y[i] = s
	}
	return s
}

func scanOr[T int32 | int64](s T, y, x []T) T {
	for i, v := range x {
		s |= v
		y[i] = s
	}
	return s
}

func scanXor[T int32 | int64](s T, y, x []T) T {
	for i, v := range x {
		s ^= v
		y[i] = s
	}
	return s
}

func scanAll[T Number](s T, y, x []T) T {
	for i, v := range x {
		s = truth[T](s != 0 && v != 0)
		y[i] = s
	}
	return s
}

func scanAny[T Number](s T, y, x []T) T {
	for i, v := range x {
		s = truth[T](s != 0 || v != 0)
		y[i] = s
	}
	return s
}

func zipSum[T Number](z, x, y []T) {
	for i, v := range x {
		z[i] = v + y[i]
	}
}

func zipProduct[T Number](z, x, y []T) {
	for i, v := range x {
		z[i] = v * y[i]
	}
}
