package intmat

// Products of bytes: where the processor multiplies tiles of bytes (AMX), a residue x of the left matrix has two,
// x = x0 + 256*x1, and so have y of the right one and z = 256*y mod m. Modulo m
//
//	x*y = x0*y + x1*z = (x0*y0 + x1*z0) + 256*(x0*y1 + x1*z1),
//
// so the same moduli take four products of bytes for each of residues, in two sums, which fold puts together.

const (
	byteRows   = 32 // of a panel of rows; blockRows is a multiple
	byteCols   = 32 // of a panel of columns, as many as the kernel has
	blockWords = 16 // words, of two terms, of a row that lie together
	stepBlocks = 8  // blocks that are multiplied before the next panel

	// Products that are added before they are folded: 4096 * (128 + 11) * 2896 + 2896 < 2^31 for both sums together.
	foldSteps = 16
	foldTerms = 2 * foldSteps * stepBlocks * blockWords
)

// height returns the number of rows of a panel of the left operand.
func (k kernel) height() int {
	if k.bytes != nil {
		return byteRows
	}
	return k.rows
}

// pairsOf returns how many pairs of terms vectors have in an operand: with products of bytes, whole blocks.
func (k kernel) pairsOf(terms int) int {
	if k.bytes != nil {
		return roundUp((terms+1)/2, blockWords)
	}
	return (terms + 1) / 2
}

// accumulateBytes is accumulate with products of bytes.
func (w *worker) accumulateBytes(sums []int32, left, right []uint32, pairs int, m []modulus) {
	mul, blocks := w.plan.kernel.bytes, pairs/blockWords
	panels, down := roundUp(w.cols, byteCols)/byteCols, roundUp(w.rows, byteRows)/byteRows
	const tile = byteRows * byteCols
	if len(w.high) < len(sums) {
		w.high = make([]int32, len(sums))
	}
	high := w.high[:len(sums)]
	clear(high)
	steps := (blocks + stepBlocks - 1) / stepBlocks
	for step := range steps {
		from, to := step*blocks/steps, (step+1)*blocks/steps
		rows := left[(w.row/byteRows*blocks+from)*blockWords*byteRows:]
		for j := range panels {
			columns := right[((w.col/byteCols+j)*blocks+from)*blockWords*2*byteCols:]
			mul(sums[j*tile:], high[j*tile:], panels*tile, rows, pairs*byteRows, columns, to-from, down)
		}
		if last := step == steps-1; last || step%foldSteps == foldSteps-1 {
			fold(sums, high, len(sums), m)
			clear(high)
		}
	}
}

// byteScratch is what residues of right operands become bytes in.
type byteScratch struct {
	tile          [2][]int32
	words, turned []uint32
}

// storeBytes sets the words from at on of rows of planes to the bytes of the residues of the converter's tiles.
func (c *converter) storeBytes(o *Operand, row, at, rows int) {
	cols, n := c.plan.kernel.cols, rows*c.plan.kernel.cols
	if c.side == 0 {
		pair(o.planes[row*o.stride+at:], o.stride, c.tile[0][:n], c.tile[1], cols)
		for k := row; k < row+rows; k++ {
			split(o.planes[k*o.stride+at:][:cols])
		}
		return
	}
	s := &c.bytes
	if s.words == nil {
		s.tile = [2][]int32{make([]int32, len(c.tile[0])), make([]int32, len(c.tile[0]))}
		s.words, s.turned = make([]uint32, len(c.tile[0])), make([]uint32, len(c.tile[0]))
	}
	for half, tile := range s.tile {
		clear(tile)
		fold(tile[:n], c.tile[half][:n], cols, c.plan.base.moduli[row:row+rows])
	}
	pair(s.words, cols, c.tile[0][:n], c.tile[1], cols)
	pair(s.turned, cols, s.tile[0][:n], s.tile[1], cols)
	split(s.words[:n])
	split(s.turned[:n])
	for k := range rows {
		to := o.planes[(row+k)*o.stride+2*at:]
		interleave(to[:cols], to[cols:2*cols], s.words[k*cols:(k+1)*cols], s.turned[k*cols:])
	}
}
