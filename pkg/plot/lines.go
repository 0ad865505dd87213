package plot

import (
	"math"

	gonum "gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// panelPlotter draws the series of a panel.
type panelPlotter struct {
	chart *chart
	panel *panel
}

// Plot implements gonum's Plotter.
func (p panelPlotter) Plot(c draw.Canvas, plt *gonum.Plot) {
	x, y := plt.Transforms(&c)
	p.drawBands(&c, x, y)
	for _, path := range p.panel.guides {
		strokeLine(&c, guideStyle(), path, x, y)
	}
	for _, s := range p.panel.series {
		for _, l := range s.lines {
			for _, path := range l.path() {
				strokeLine(&c, lineStyle(s.style, p.chart.styles[s.style].hue), path, x, y)
			}
		}
	}
	low, high := p.lanes()
	for _, s := range p.panel.series {
		hue := p.chart.styles[s.style].hue
		for _, l := range s.lines {
			for _, pt := range l.points {
				lane := low[s.style]
				if pt.y > 0 {
					lane = high[s.style]
				}
				at := vg.Point{X: x(p.chart.x.at(pt.x, 0)), Y: y(p.chart.y.at(pt.y, lane))}
				if pt.lo < pt.hi {
					sty := lineStyle(0, hue)
					sty.Width = 0.8
					c.StrokeLine2(sty, at.X, y(pt.lo), at.X, y(pt.hi))
				}
				drawMarker(&c, s.style, hue, at)
			}
		}
	}
}

// lanes gives each series that has points in a band of the y axis a lane of its own, in the order of the legend.
func (p panelPlotter) lanes() (low, high map[int]int) {
	low, high = map[int]int{}, map[int]int{}
	for _, s := range p.panel.series {
		for _, l := range s.lines {
			for _, pt := range l.points {
				lanes := low
				if math.IsInf(pt.y, 1) {
					lanes = high
				} else if !math.IsInf(pt.y, -1) {
					continue
				}
				if _, ok := lanes[s.style]; !ok {
					lanes[s.style] = len(lanes)
				}
			}
		}
	}
	return low, high
}

// drawBands shades what lies beyond the finite numbers.
func (p panelPlotter) drawBands(c *draw.Canvas, x, y func(float64) vg.Length) {
	ax, ay := &p.chart.x, &p.chart.y
	fill := func(x0, y0, x1, y1 float64) {
		c.FillPolygon(shade, []vg.Point{{X: x(x0), Y: y(y0)}, {X: x(x1), Y: y(y0)}, {X: x(x1), Y: y(y1)}, {X: x(x0), Y: y(y1)}})
	}
	edge := draw.LineStyle{Color: pale, Width: 0.6}
	if ay.below.lanes > 0 {
		fill(ax.min(), ay.min(), ax.max(), ay.lo)
		c.StrokeLine2(edge, x(ax.min()), y(ay.lo), x(ax.max()), y(ay.lo))
	}
	if ay.above.lanes > 0 {
		fill(ax.min(), ay.hi, ax.max(), ay.max())
		c.StrokeLine2(edge, x(ax.min()), y(ay.hi), x(ax.max()), y(ay.hi))
	}
	if ax.above.lanes > 0 {
		fill(ax.hi, ay.min(), ax.max(), ay.max())
		c.StrokeLine2(edge, x(ax.hi), y(ay.min()), x(ax.hi), y(ay.max()))
	}
}

func strokeLine(c *draw.Canvas, sty draw.LineStyle, path []xy, x, y func(float64) vg.Length) {
	if len(path) < 2 {
		return
	}
	var pts []vg.Point
	for _, p := range path {
		pts = append(pts, vg.Point{X: x(p.x), Y: y(p.y)})
	}
	c.StrokeLines(sty, c.ClipLinesXY(pts)...)
}

// gridLines draws a line at each tick with a label.
type gridLines struct{ x, y *axis }

// Plot implements gonum's Plotter.
func (g gridLines) Plot(c draw.Canvas, plt *gonum.Plot) {
	x, y := plt.Transforms(&c)
	sty := draw.LineStyle{Color: rule, Width: 0.5}
	for _, t := range plt.X.Tick.Marker.Ticks(plt.X.Min, plt.X.Max) {
		if t.Label != "" && t.Value <= g.x.hi {
			c.StrokeLine2(sty, x(t.Value), c.Min.Y, x(t.Value), c.Max.Y)
		}
	}
	for _, t := range plt.Y.Tick.Marker.Ticks(plt.Y.Min, plt.Y.Max) {
		if t.Label != "" && t.Value >= g.y.lo && t.Value <= g.y.hi {
			c.StrokeLine2(sty, c.Min.X, y(t.Value), c.Max.X, y(t.Value))
		}
	}
}
