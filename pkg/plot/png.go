package plot

import (
	"io"

	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
)

// pngScale is how many pixels a PNG has for each pixel of the figure, for sharp screens and print.
const pngScale = 2

// WritePNG writes the figure as a PNG image of twice its width and height in pixels.
func (f *Figure) WritePNG(w io.Writer) error {
	canvas := vgimg.NewWith(vgimg.UseWH(f.width, f.height), vgimg.UseDPI(72*pngScale), vgimg.UseBackgroundColor(paper))
	f.draw(draw.New(canvas))
	_, err := vgimg.PngCanvas{Canvas: canvas}.WriteTo(w)
	return err
}
