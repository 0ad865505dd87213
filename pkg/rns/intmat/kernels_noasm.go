//go:build !amd64 || noasm

package intmat

var fastest = func() kernel { return plain }

func reduce(tile []int32, cols int, moduli []modulus) { reduceGeneric(tile, cols, moduli) }
func carry(tile []int32, cols int, product []int32)   { carryGeneric(tile, cols, product) }

func pair(words []uint32, stride int, even, odd []int32, cols int) {
	pairGeneric(words, stride, even, odd, cols)
}

func fold(tile, high []int32, cols int, moduli []modulus) { foldGeneric(tile, high, cols, moduli) }
func split(words []uint32)                                { splitGeneric(words) }
func interleave(low, high, words, turned []uint32)        { interleaveGeneric(low, high, words, turned) }
