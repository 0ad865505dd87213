package primer

import "mpbench/internal/parallel"

// A Scanner is a way to scan on processors: y_i is the combination of x_0 to x_i or, if it is exclusive, of those
// before x_i, which is the identity for x_0.
type Scanner[T Number] struct {
	Name, Summary string
	Parallel      bool
	Scan          func(c Combiner[T], y, x []T, exclusive bool, threads int)
}

// exactName is that of the way whose results are to be exact, and rounded once.
const exactName = "exact"

// Scanners lists the ways on processors for an operation: two passes of threads with a part each, or, of operations
// that round, with tiles that are combined in a fixed grouping; of sums that round also exact ones.
func Scanners[T Number](o Operation) []Scanner[T] {
	list := []Scanner[T]{{"serial", "one thread, from left to right", false, scanSerial[T]}}
	if !o.Rounds || !IsFloat[T]() {
		return append(list, Scanner[T]{"two-pass", "a part a thread: combined, and scanned when the parts before are known",
			true, scanTwoPass[T]})
	}
	list = append(list, Scanner[T]{"grouped", "tiles in a fixed grouping: the same bits on every device", true,
		scanGrouped[T]})
	if o.Name == "+" {
		list = append(list, Scanner[T]{exactName, "every sum exact, and rounded once", false, scanExact[T]})
	}
	return list
}

// scanFrom scans from left to right, from s on. y may not be x.
func scanFrom[T Number](c Combiner[T], s T, y, x []T, exclusive bool) {
	if !exclusive {
		c.Scan(s, y, x)
		return
	}
	if len(x) > 0 {
		y[0] = s
		c.Scan(s, y[1:], x[:len(x)-1])
	}
}

func scanSerial[T Number](c Combiner[T], y, x []T, exclusive bool, _ int) {
	scanFrom(c, c.Identity, y, x, exclusive)
}

// scanTwoPass: every thread combines its part, gets what the parts before give (Peril-L's o\total with a local result,
// a barrier), and scans its part from there.
func scanTwoPass[T Number](c Combiner[T], y, x []T, exclusive bool, threads int) {
	threads = parallel.Threads(threads)
	team := NewTeam(c, threads)
	share(threads, len(x), func(rank, from, to int) {
		total := c.Identity
		if rank < threads-1 {
			total = c.Fold(c.Identity, x[from:to])
		}
		_, before := team.Scan(rank, total)
		scanFrom(c, before, y[from:to], x[from:to], exclusive)
	})
}

// The grouping of scans that round, which is that of cuda/scan.cuh: a tile is TileWarps times TileRows rows of 32
// packs of PackBytes; GroupTiles tiles are a group.
const (
	PackBytes  = 16
	GroupTiles = 256
	TileWarps  = 8
	TileRows   = 8
	lanes      = 32
)

// TileElements returns the elements of a tile.
func TileElements[T Number]() int { return TileWarps * TileRows * lanes * PackBytes / SizeOf[T]() }

// Tiles returns how many tiles n elements have.
func Tiles[T Number](n int) int { return (n + TileElements[T]() - 1) / TileElements[T]() }

// scanGrouped combines the totals of the tiles, and then scans each tile with what the tiles before give.
func scanGrouped[T Number](c Combiner[T], y, x []T, exclusive bool, threads int) {
	threads = parallel.Threads(threads)
	n, size := Tiles[T](len(x)), TileElements[T]()
	part := func(v []T, i int) []T { return v[i*size : min(len(v), (i+1)*size)] }
	tiles := make([]tile[T], min(threads, n)) // of the workers
	totals := make([]T, n)
	if n > 1 { // the last one is before none
		parallel.Tasks(threads, n-1, func(worker, i int) { totals[i] = tiles[worker].load(&c, part(x, i)) })
	}
	before := tilesBefore(c, totals)
	parallel.Tasks(threads, n, func(worker, i int) {
		tiles[worker].scan(&c, part(y, i), part(x, i), before[i], exclusive)
	})
}

// vector has an element for each lane.
type vector[T Number] [lanes]T

// all returns a vector whose elements are v.
func all[T Number](v T) (a vector[T]) {
	for lane := range a {
		a[lane] = v
	}
	return a
}

// byHalves combines the elements: i takes i + 16, then i + 8, ...
func (a vector[T]) byHalves(c *Combiner[T]) T {
	for d := lanes / 2; d > 0; d /= 2 {
		c.Zip(a[:d], a[:d], a[d:2*d])
	}
	return a[0]
}

// tilesBefore returns what comes before each tile: the groups before o the tiles before in its group. Of these, lane l
// combines tile l, l + 32, ... of the group; then lanes are combined by halves.
func tilesBefore[T Number](c Combiner[T], totals []T) []T {
	before := make([]T, len(totals))
	groups, tiles := c.Identity, make([]vector[T], GroupTiles/lanes)
	for t, total := range totals {
		if t%GroupTiles == 0 {
			for k := range tiles {
				tiles[k] = all(c.Identity)
			}
		}
		v := tiles[0]
		for k := 1; k < len(tiles); k++ {
			c.Zip(v[:], v[:], tiles[k][:])
		}
		before[t] = c.Combine(groups, v.byHalves(&c))
		tiles[t%GroupTiles/lanes][t%lanes] = total
		if t%GroupTiles == GroupTiles-1 {
			groups = c.Combine(before[t], total)
		}
	}
	return before
}

// tile is a tile when it has been loaded.
type tile[T Number] struct {
	left  [tileRows]vector[T] // of each row: the packs before each
	sums  [tileRows]T         // of each row
	above [tileRows]T         // the rows of its warp before
	warps [TileWarps]T        // the warps before

	a, b vector[T] // to compute in
	one  [1]T
}

const tileRows = TileWarps * TileRows

// rowLoops are loops of the same results as loadRow and storeRow: over all rows of whole tiles.
type rowLoops[T Number] struct {
	load  func(t *tile[T], x []T)
	store func(t *tile[T], y, x []T, tiles T, exclusive bool)
}

// combine returns a o b.
func (t *tile[T]) combine(c *Combiner[T], a, b T) T {
	t.one[0] = b
	return c.Fold(a, t.one[:])
}

// from returns v o each element of a.
func (t *tile[T]) from(c *Combiner[T], v T, a *vector[T]) *vector[T] {
	t.b = all(v)
	c.Zip(t.a[:], t.b[:], a[:])
	return &t.a
}

func packElements[T Number]() int { return PackBytes / SizeOf[T]() }

// scan scans a tile of elements x to y, tiles being the combination of the tiles before.
func (t *tile[T]) scan(c *Combiner[T], y, x []T, tiles T, exclusive bool) {
	if n := len(x); n < TileElements[T]() {
		x = whole(c, x)
		defer func(to []T) { copy(to, y[:n]) }(y)
		y = make([]T, len(x))
	}
	t.load(c, x)
	if c.rows != nil {
		c.rows.store(t, y, x, tiles, exclusive)
		return
	}
	size := lanes * packElements[T]()
	for r := range t.left {
		before := t.from(c, tiles, t.from(c, t.warps[r/TileRows], t.from(c, t.above[r], &t.left[r])))
		t.storeRow(c, y[r*size:][:size], x[r*size:], before, exclusive)
	}
}

// whole returns a tile of elements x, and identities behind them.
func whole[T Number](c *Combiner[T], x []T) []T {
	padded := make([]T, TileElements[T]())
	for i := copy(padded, x); i < len(padded); i++ {
		padded[i] = c.Identity
	}
	return padded
}

// load scans the packs, rows and warps of a tile x, and returns its total.
func (t *tile[T]) load(c *Combiner[T], x []T) (total T) {
	if len(x) < TileElements[T]() {
		x = whole(c, x)
	}
	if c.rows != nil {
		c.rows.load(t, x)
	} else {
		size := lanes * packElements[T]()
		for r := range t.left {
			t.sums[r] = t.loadRow(c, &t.left[r], x[r*size:][:size])
		}
	}
	total = c.Identity
	for w := range t.warps {
		t.warps[w] = total
		above := c.Identity
		for r := w * TileRows; r < (w+1)*TileRows; r++ {
			t.above[r] = above
			above = t.combine(c, above, t.sums[r])
		}
		total = t.combine(c, total, above)
	}
	return total
}

// loadRow sets left to what is before each pack in the row, and returns the row's total.
func (t *tile[T]) loadRow(c *Combiner[T], left *vector[T], x []T) T {
	t.a.take(x, 0)
	for k := 1; k < packElements[T](); k++ {
		t.b.take(x, k)
		c.Zip(t.a[:], t.a[:], t.b[:])
	}
	for d := 1; d < lanes; d *= 2 {
		t.b = t.a
		c.Zip(t.a[d:], t.b[:lanes-d], t.b[d:])
	}
	left[0] = c.Identity
	copy(left[1:], t.a[:])
	return t.a[lanes-1]
}

// take takes element k of each pack of a row.
func (a *vector[T]) take(x []T, k int) {
	pack := packElements[T]()
	for lane := range a {
		a[lane] = x[lane*pack+k]
	}
}

// storeRow writes a o the elements of each pack, from left to right; a is lost.
func (t *tile[T]) storeRow(c *Combiner[T], y, x []T, a *vector[T], exclusive bool) {
	pack := packElements[T]()
	give := func(k int) {
		for lane, v := range a {
			y[lane*pack+k] = v
		}
	}
	for k := range pack {
		if exclusive {
			give(k)
		}
		t.b.take(x, k)
		c.Zip(a[:], a[:], t.b[:])
		if !exclusive {
			give(k)
		}
	}
}
