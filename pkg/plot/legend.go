package plot

import (
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// legendWidth is what the longest row of the legend takes.
func (f *Figure) legendWidth() vg.Length {
	w := vg.Length(0)
	for _, s := range f.chart.styles {
		w = max(w, legendStyle.Width(s.label))
	}
	for _, g := range f.chart.guides {
		w = max(w, legendStyle.Width(g))
	}
	return w + sampleWidth + 22
}

func (f *Figure) legendHeight() vg.Length {
	return rowHeight * vg.Length(len(f.chart.styles)+len(f.chart.guides)+2)
}

func (f *Figure) drawLegend(c draw.Canvas) {
	left, y := c.Min.X+14, c.Max.Y-24
	room := c.Max.X - left - sampleWidth - 6
	row := func(label string, sample func(y vg.Length)) {
		sample(y + 3.5)
		c.FillText(legendStyle, vg.Point{X: left + sampleWidth + 6, Y: y}, shorten(legendStyle, label, room))
		y -= rowHeight
	}
	for i, s := range f.chart.styles {
		row(s.label, func(y vg.Length) {
			c.StrokeLine2(lineStyle(i, s.hue), left, y, left+sampleWidth, y)
			drawMarker(&c, i, s.hue, vg.Point{X: left + sampleWidth/2, Y: y})
		})
	}
	for _, label := range f.chart.guides {
		row(label, func(y vg.Length) { c.StrokeLine2(guideStyle(), left, y, left+sampleWidth, y) })
	}
}
