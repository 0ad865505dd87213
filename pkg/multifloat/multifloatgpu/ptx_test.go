package multifloatgpu

import (
	"strings"
	"testing"

	"mpbench/cuda/ptx"
	"mpbench/pkg/multifloat"
	"mpbench/pkg/multifloat/network"
)

// TestFused: kernels fuse a product and a sum where the format's product does, and nowhere else, which would break
// error-free transformations: in none without products, otherwise as often as in one product or several.
func TestFused(t *testing.T) {
	for _, f := range multifloat.Formats() {
		module, suffix := kernelsOf[float64](f)
		product := fusedOf[float64](f.Scheme)
		if f.Narrow {
			module, suffix = kernelsOf[float32](f)
			product = fusedOf[float32](f.Scheme)
		}
		text, err := ptx.Kernels.Text(module)
		if err != nil {
			t.Fatal(err)
		}
		kernels := map[string]bool{"Sums": false, "Pairs": false, "Dots": true, "Elements": true, "Rows": true}
		if f.Scheme.Components <= mostTiled {
			kernels["Tiles"], kernels["TilesTall"] = true, true
		}
		for kernel, multiplies := range kernels {
			_, body, ok := strings.Cut(text, ".entry multifloat"+kernel+suffix+"(")
			body, _, _ = strings.Cut(body, ".entry ")
			n := strings.Count(body, "fma.rn")
			switch {
			case !ok:
				t.Errorf("%s.ptx has no multifloat%s%s", module, kernel, suffix)
			case !multiplies || product == 0:
				if n != 0 {
					t.Errorf("multifloat%s%s has %d fused multiply-adds, want none", kernel, suffix, n)
				}
			case n == 0 || n%product != 0:
				t.Errorf("multifloat%s%s has %d fused multiply-adds, want a multiple of %d", kernel, suffix, n, product)
			}
		}
	}
}

// fusedOf returns how many fused multiply-adds a product has.
func fusedOf[T multifloat.Float](s network.Scheme) int {
	return network.Record[T](s.Components, 2, func(r network.Arithmetic[int], x [][]int) []int {
		return network.Mul(r, s, x[0], x[1])
	}).Fused()
}
