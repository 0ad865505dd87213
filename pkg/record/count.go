package record

import "fmt"

// Count returns a number with its noun, in the plural but for 1: "1 sample", "3 samples".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
