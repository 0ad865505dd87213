package plot

import (
	"cmp"
	"math"
	"slices"

	"mpbench/pkg/record"
)

// sparseRate is how many operations a second a product of a sparse matrix makes, 0 for other records.
func sparseRate(r *record.Record) float64 {
	if !hasTime(r) {
		return 0
	}
	return r.SparseFlops()
}

// sortedMatrices returns the matrices of records by the rates of the first method, at its precision and on its device:
// the slowest one first. Matrices that it did not multiply come last.
func sortedMatrices(records []*record.Record) (labels []string) {
	rates := map[string]float64{}
	var first *record.Record
	for _, r := range records {
		rate, label := sparseRate(r), r.Dataset.Label()
		if rate == 0 {
			continue
		}
		if first == nil {
			first = r
		}
		if !slices.Contains(labels, label) {
			labels = append(labels, label)
		}
		if r.Method == first.Method && r.PrecisionBits == first.PrecisionBits && r.Device == first.Device {
			rates[label] = rate
		}
	}
	slices.SortStableFunc(labels, func(a, b string) int {
		x, y := rates[a], rates[b]
		if x == 0 || y == 0 {
			return cmp.Compare(y, x)
		}
		return cmp.Compare(x, y)
	})
	return labels
}

// drawSparseRates draws rates against the place of a matrix among all, which is the same for all methods.
func drawSparseRates(records []*record.Record, _ Options) *chart {
	labels := sortedMatrices(records)
	c := &chart{
		title: "Products of sparse matrices, sorted by the first method's GFlop/s",
		x:     axis{label: "matrices", text: plainText, empty: [2]float64{0, 2}},
		y:     axis{label: "GFlop/s", log: true, text: powerText, empty: [2]float64{-1, 1}},
	}
	return c.gather(records, source{
		panel: func(*record.Record) string { return "" },
		point: func(r *record.Record) (point, bool) {
			rate := sparseRate(r)
			if rate == 0 {
				return point{}, false
			}
			y := math.Log10(rate / 1e9)
			return point{xy: xy{float64(1 + slices.Index(labels, r.Dataset.Label())), y}, lo: y, hi: y}, true
		},
	})
}

func severalMatrices(records []*record.Record) bool { return len(sortedMatrices(records)) > 1 }
