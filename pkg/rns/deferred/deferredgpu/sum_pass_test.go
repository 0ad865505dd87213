package deferredgpu

import (
	"testing"

	"mpbench/pkg/rns/deferred"
)

// Tiles must fit what the kernels count on: cuda/packed_sum.cu.
func TestPackedTiles(t *testing.T) {
	for digits := 1; digits <= deferred.WindowDigits; digits++ {
		for stride := 1; stride < 300; stride++ {
			s := shapeFor(digits, stride)
			step := packedSteps * warpLanes / s.lanes
			width := min(stride, s.longest())
			for _, n := range []int{1, 3, 31, 32, 33, 1000} {
				x := s.tile(n, stride, width)
				tile, row, area := int(x.Tile), int(x.Row), int(x.Area)
				rows := (tile + step - 1) / step * step
				switch {
				case s.capacity() < digits:
					t.Errorf("%+v for %d digits", s, digits)
				case tile < 1 || tile > min(n, warpLanes) || tile*width > s.longest() || tile > 1 && width != stride:
					t.Errorf("%+v, %d numbers: a tile of %d", s, n, tile)
				case row%2 != 0 || row < 2*width+s.digits+1:
					t.Errorf("%+v, width %d: rows of %d", s, width, row)
				case area%2 != 0 || area < rows*row+row-2*width || area < 2*s.capacity():
					t.Errorf("%+v, width %d: %d words of shared memory for %d rows of %d", s, width, area, rows, row)
				case packedThreads/warpLanes*4*area > 48<<10: // what every device has for a block
					t.Errorf("%+v, width %d: %d words of shared memory a warp", s, width, area)
				}
			}
		}
	}
}
