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
// packs of PackBytes.
const (
	PackBytes = 16
	TileWarps = 8
	TileRows  = 4
	lanes     = 32
)

// TileElements returns the elements of a tile.
func TileElements[T Number]() int { return TileWarps * TileRows * lanes * PackBytes / SizeOf[T]() }

// Tiles returns how many tiles n elements have.
func Tiles[T Number](n int) int { return (n + TileElements[T]() - 1) / TileElements[T]() }

// scanGrouped scans the totals of the tiles, and then each tile with what the tiles before give.
func scanGrouped[T Number](c Combiner[T], y, x []T, exclusive bool, threads int) {
	threads = parallel.Threads(threads)
	n, size := Tiles[T](len(x)), TileElements[T]()
	before := make([]T, n)
	for i := range before {
		before[i] = c.Identity
	}
	part := func(v []T, i int) []T { return v[i*size : min(len(v), (i+1)*size)] }
	tiles := make([]tile[T], min(threads, n)) // of the workers
	if n > 1 {
		totals := make([]T, n)
		parallel.Tasks(threads, n, func(worker, i int) { totals[i] = tiles[worker].load(&c, part(x, i)) })
		scanGrouped(c, before, totals, true, threads)
	}
	parallel.Tasks(threads, n, func(worker, i int) {
		tiles[worker].load(&c, part(x, i))
		tiles[worker].store(&c, part(y, i), before[i], exclusive)
	})
}

// tile is a scanned tile, with memory to compute in.
type tile[T Number] struct {
	rows [TileWarps * TileRows]row[T]
	a, b [lanes]T
	one  [1]T
}

// combine returns a o b.
func (t *tile[T]) combine(c *Combiner[T], a, b T) T {
	t.one[0] = b
	return c.Fold(a, t.one[:])
}

// row is a row of packs.
type row[T Number] struct {
	x      [PackBytes / 4][lanes]T // element k of each lane's pack: combined with those before it in the pack
	lanes  [lanes]T                // the lanes before
	before T                       // the warps and rows before
}

func packElements[T Number]() int { return PackBytes / SizeOf[T]() }

// load scans a tile of elements x, beyond which there are identities, and returns its total.
func (t *tile[T]) load(c *Combiner[T], x []T) (total T) {
	total = c.Identity
	size := lanes * packElements[T]()
	for w := range TileWarps {
		before := c.Identity
		for k := range TileRows {
			r := &t.rows[w*TileRows+k]
			from := min(len(x), (w*TileRows+k)*size)
			sum := t.loadRow(c, r, x[from:min(len(x), from+size)])
			r.before = t.combine(c, total, before)
			before = t.combine(c, before, sum)
		}
		total = t.combine(c, total, before)
	}
	return total
}

// loadRow scans a row, and returns its total.
func (t *tile[T]) loadRow(c *Combiner[T], r *row[T], x []T) T {
	pack := packElements[T]()
	for k := range pack {
		for lane := range lanes {
			if i := lane*pack + k; i < len(x) {
				r.x[k][lane] = x[i]
			} else {
				r.x[k][lane] = c.Identity
			}
		}
		if k > 0 {
			c.Zip(r.x[k][:], r.x[k-1][:], r.x[k][:])
		}
	}
	t.a = r.x[pack-1]
	for d := 1; d < lanes; d *= 2 {
		t.b = t.a
		c.Zip(t.a[d:], t.b[:lanes-d], t.b[d:])
	}
	r.lanes[0] = c.Identity
	copy(r.lanes[1:], t.a[:])
	return t.a[lanes-1]
}

// store writes the results, tiles being the combination of the tiles before.
func (t *tile[T]) store(c *Combiner[T], y []T, tiles T, exclusive bool) {
	pack := packElements[T]()
	for i := range t.rows {
		r := &t.rows[i]
		n := min(len(y), lanes*pack)
		t.storeRow(c, r, y[:n], t.combine(c, tiles, r.before), exclusive)
		y = y[n:]
	}
}

func (t *tile[T]) storeRow(c *Combiner[T], r *row[T], y []T, rows T, exclusive bool) {
	pack := packElements[T]()
	for lane := range t.a {
		t.a[lane] = rows
	}
	c.Zip(t.a[:], t.a[:], r.lanes[:])
	for k := range pack {
		switch {
		case !exclusive:
			c.Zip(t.b[:], t.a[:], r.x[k][:])
		case k == 0:
			t.b = t.a
		default:
			c.Zip(t.b[:], t.a[:], r.x[k-1][:])
		}
		for lane := range lanes {
			if i := lane*pack + k; i < len(y) {
				y[i] = t.b[lane]
			}
		}
	}
}
