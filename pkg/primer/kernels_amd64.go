//go:build !noasm

package primer

import "golang.org/x/sys/cpu"

//go:generate sh -c "cd _asm && go generate"

// The instruction sets in use.
var (
	useAVX2   = cpu.X86.HasAVX2
	useAVX512 = cpu.X86.HasAVX512F
)

// vectorized replaces loops of sums by those of vector registers, which give the same bits.
func vectorized(combiner any) {
	switch c := combiner.(type) {
	case *Combiner[int32]:
		if useAVX2 {
			c.Fold, c.Scan = groupedFold(sumInt32AVX2, 32), groupedScan(scanInt32AVX2, 32)
		}
	case *Combiner[int64]:
		if useAVX2 {
			c.Fold, c.Scan = groupedFold(sumInt64AVX2, 16), groupedScan(scanInt64AVX2, 16)
		}
	case *Combiner[float32]:
		if useAVX512 {
			c.rows = vectorRows(loadRowsFloat32AVX512, storeRowsFloat32AVX512, storeRowsExclusiveFloat32AVX512)
		}
	case *Combiner[float64]:
		if useAVX512 {
			c.rows = vectorRows(loadRowsFloat64AVX512, storeRowsFloat64AVX512, storeRowsExclusiveFloat64AVX512)
		}
	}
}

// groupedFold returns Fold from the sum of groups of elements.
func groupedFold[T int32 | int64](sum func(x *T, groups int) T, group int) func(s T, x []T) T {
	return func(s T, x []T) T {
		n := len(x) / group
		if n > 0 {
			s += sum(&x[0], n)
		}
		return foldSum(s, x[n*group:])
	}
}

// groupedScan returns Scan from that of groups of elements.
func groupedScan[T int32 | int64](scan func(s T, y, x *T, groups int) T, group int) func(s T, y, x []T) T {
	return func(s T, y, x []T) T {
		n := len(x) / group
		if n > 0 {
			_ = y[len(x)-1]
			s = scan(s, &y[0], &x[0], n)
		}
		return scanSum(s, y[n*group:], x[n*group:])
	}
}

// vectorRows returns loops over the rows of a tile from those over some rows.
func vectorRows[T float32 | float64](
	load func(left, sums, x *T, rows int), inclusive, exclusive func(y, x, left, above *T, rows int, warps, tiles T),
) *rowLoops[T] {
	return &rowLoops[T]{
		load: func(t *tile[T], x []T) {
			_ = x[TileElements[T]()-1]
			load(&t.left[0][0], &t.sums[0], &x[0], len(t.left))
		},
		store: func(t *tile[T], y, x []T, tiles T, before bool) {
			store := inclusive
			if before {
				store = exclusive
			}
			size := TileElements[T]() / TileWarps
			_, _ = x[TileElements[T]()-1], y[TileElements[T]()-1]
			for w, warps := range t.warps {
				r := w * TileRows
				store(&y[w*size], &x[w*size], &t.left[r][0], &t.above[r], TileRows, warps, tiles)
			}
		},
	}
}
