package datasets

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"mpbench/pkg/numbers"
)

// The numbers that an Identity looks at: so many runs of so many.
const samples, sampleLength = 64, 512

// Identity returns a text that is the same for the same binary64 numbers, in memory or not, however they are divided
// into files and stored, and another one for other numbers, as far as that can be told without reading all of them: it
// is made of how many they are, and of 64 runs of 512 of them, the first and the last ones and those at equal
// distances between. Of numbers that are to be read in ascending order it is made of the first run alone.
func Identity(s numbers.Source) (string, error) {
	list := numbers.Vector(s)
	n, runs := s.Len(), samples
	if numbers.Readers(list) == 1 {
		runs = 1
	}
	h := sha256.New()
	fmt.Fprintln(h, n)
	x := make([]float64, min(sampleLength, n))
	for i := range runs {
		from := (n - len(x)) / max(1, runs-1) * i
		if i == samples-1 {
			from = n - len(x)
		}
		if err := readRun(list, x, from); err != nil {
			return "", err
		}
		addToHash(h, x)
	}
	return "sample:" + hex.EncodeToString(h.Sum(nil)[:16]), nil
}

// readRun reads binary64 numbers, or the bits of integers.
func readRun(list numbers.Array, x []float64, from int) error {
	if s, ok := list.Source.(integers); ok {
		return s.stream.ReadRun(x, from)
	}
	return list.ReadRun(x, from)
}
