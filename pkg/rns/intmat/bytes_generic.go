package intmat

// mulBytes adds products of panels of bytes to tiles; see mulBytesGeneric.
type mulBytes func(low, high []int32, size int, a []uint32, stride int, b []uint32, blocks, panels int)

// mulBytesGeneric adds the products of so many panels of byteRows rows and one of byteCols columns to tiles of low
// and of high sums, modulo 2^32. Panel i of rows begins at word i*stride, its tiles at number i*size. A block has
// blockWords words, of four bytes each, of every row, row by row, and for every such word one of every column for the
// low sums and one for the high ones.
func mulBytesGeneric(low, high []int32, size int, a []uint32, stride int, b []uint32, blocks, panels int) {
	for panel := range panels {
		for q := range blocks * blockWords {
			left := a[panel*stride+q/blockWords*blockWords*byteRows+q%blockWords:]
			right := b[2*byteCols*q:][:2*byteCols]
			for i := range byteRows {
				x, at := left[i*blockWords], panel*size+i*byteCols
				for j := range byteCols {
					low[at+j] += byteProducts(x, right[j])
					high[at+j] += byteProducts(x, right[byteCols+j])
				}
			}
		}
	}
}

// byteProducts returns the sum of the products of the four signed bytes.
func byteProducts(x, y uint32) (sum int32) {
	for s := 0; s < 32; s += 8 {
		sum += int32(int8(x>>s)) * int32(int8(y>>s))
	}
	return sum
}

// foldGeneric adds 256 times the numbers of another tile to a tile and reduces it as reduceGeneric does.
func foldGeneric(tile, high []int32, cols int, moduli []modulus) {
	for i, x := range high {
		tile[i] += x << 8
	}
	reduceGeneric(tile, cols, moduli)
}

// splitGeneric makes bytes of the halves of words: r = low + 256*high, low in [-128, 127].
func splitGeneric(words []uint32) {
	const middle = 0x80
	for i, x := range words {
		words[i] = uint32(uint16(x)+middle) ^ middle | uint32(uint16(x>>16)+middle)<<16 ^ middle<<16
	}
}

// interleaveGeneric sets the words of low to the low bytes of the halves of words and of turned, those of high to the
// high bytes.
func interleaveGeneric(low, high, words, turned []uint32) {
	const even = 0x00FF_00FF
	for i, x := range words {
		y := turned[i]
		low[i], high[i] = x&even|y&even<<8, x>>8&even|y&^even
	}
}
