package plot

import (
	"math"

	gonum "gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Measures of a figure, in points, which SVG shows as pixels.
const (
	defaultWidth = 760
	minWidth     = 360
	margin       = 12
	rowHeight    = 15   // of the legend
	sampleWidth  = 30   // of a line in the legend
	maxLegend    = 0.42 // share of the width
)

// A Figure is a picture that is laid out.
type Figure struct {
	Title string // what the picture shows, for readers who do not see it

	chart         *chart
	width, height vg.Length
	legend        vg.Length // width
	rows, columns int       // of panels
	inline        bool
}

func newFigure(c *chart, o Options) *Figure {
	f := &Figure{Title: c.title, chart: c, width: defaultWidth, inline: o.Inline}
	if o.Width > 0 {
		f.width = vg.Length(max(o.Width, minWidth))
	}
	var body vg.Length
	switch {
	case c.bars != nil:
		body = c.bars.height()
	case len(c.panels) == 0:
		body = 60
	default:
		c.fit()
		f.legend = min(f.legendWidth(), maxLegend*f.width)
		body = f.arrange()
		body = max(body, f.legendHeight())
	}
	f.height = body + f.header() + f.footer() + 2*margin
	return f
}

// fit sets the ranges of the axes, the same for all panels.
func (c *chart) fit() {
	var xs, ys []float64
	for i := range c.panels {
		low, high := panelPlotter{c, &c.panels[i]}.lanes()
		c.y.below.lanes, c.y.above.lanes = max(c.y.below.lanes, len(low)), max(c.y.above.lanes, len(high))
		for _, g := range c.panels[i].guides {
			for _, p := range g {
				xs, ys = append(xs, p.x), append(ys, p.y)
			}
		}
	}
	c.each(func(_ *panel, _ *series, pt point) {
		xs, ys = append(xs, pt.x), append(ys, pt.y, pt.lo, pt.hi)
		if math.IsInf(pt.x, 1) {
			c.x.above.lanes = 1
		}
	})
	c.x.fit(xs)
	c.y.fit(ys)
}

// arrange chooses the grid of panels and returns its height.
func (f *Figure) arrange() vg.Length {
	n := len(f.chart.panels)
	f.columns = 1
	if n > 1 {
		f.columns = 2
	}
	if room := f.width - f.legend; n > 4 && room > 480 {
		f.columns = 3
	} else if room < 340 {
		f.columns = 1
	}
	f.rows = (n + f.columns - 1) / f.columns
	if n == 1 {
		return 380
	}
	return vg.Length(f.rows)*230 + 10
}

var (
	titleStyle  = textStyle(14, true, ink)
	factsStyle  = textStyle(10, false, pale)
	panelStyle  = textStyle(10.5, true, ink)
	labelStyle  = textStyle(10.5, false, ink)
	tickStyle   = textStyle(9.5, false, ink)
	legendStyle = textStyle(10.5, false, ink)
)

func (f *Figure) header() vg.Length {
	h := vg.Length(20)
	if f.chart.facts != "" {
		h += 15
	}
	return h + 6
}

func (f *Figure) footer() vg.Length { return 14 * vg.Length(len(f.chart.notes)) }

func (f *Figure) draw(c draw.Canvas) {
	c = draw.Crop(c, margin, -margin, margin, -margin)
	width := c.Max.X - c.Min.X
	top := c.Max.Y - 14
	c.FillText(titleStyle, vg.Point{X: c.Min.X, Y: top}, shorten(titleStyle, f.chart.title, width))
	if f.chart.facts != "" {
		c.FillText(factsStyle, vg.Point{X: c.Min.X, Y: top - 16}, shorten(factsStyle, f.chart.facts, width))
	}
	for i, note := range f.chart.notes {
		at := vg.Point{X: c.Min.X, Y: c.Min.Y + 14*vg.Length(len(f.chart.notes)-1-i)}
		c.FillText(factsStyle, at, shorten(factsStyle, note, width))
	}
	c = draw.Crop(c, 0, 0, f.footer(), -f.header())
	switch {
	case f.chart.bars != nil:
		f.chart.bars.draw(c)
	case len(f.chart.panels) == 0:
		c.FillText(labelStyle, c.Min, "the records hold nothing to draw")
	default:
		f.drawPanels(draw.Crop(c, 0, -f.legend, 0, 0))
		f.drawLegend(draw.Crop(c, width-f.legend, 0, 0, 0))
	}
}

// drawPanels draws the panels in a grid; labels of axes stand at its left and below.
func (f *Figure) drawPanels(c draw.Canvas) {
	tiles := draw.Tiles{Rows: f.rows, Cols: f.columns, PadX: 10, PadY: 8}
	length := (c.Max.X - c.Min.X - 60) / vg.Length(f.columns)
	height := (c.Max.Y - c.Min.Y) / vg.Length(f.rows)
	grid := make([][]*gonum.Plot, f.rows)
	for i := range grid {
		grid[i] = make([]*gonum.Plot, f.columns)
		for j := range grid[i] {
			if k := i*f.columns + j; k < len(f.chart.panels) {
				last := k+f.columns >= len(f.chart.panels)
				grid[i][j] = f.newPlot(&f.chart.panels[k], length, height, j == 0, last)
			}
		}
	}
	for i, row := range gonum.Align(grid, tiles, c) {
		for j, tile := range row {
			if grid[i][j] != nil {
				grid[i][j].Draw(tile)
			}
		}
	}
}

// newPlot makes the plot of a panel that is about so wide and high.
func (f *Figure) newPlot(p *panel, width, height vg.Length, first, last bool) *gonum.Plot {
	plt := gonum.New()
	plt.BackgroundColor = nil
	x, y := &f.chart.x, &f.chart.y
	plt.X.Min, plt.X.Max, plt.Y.Min, plt.Y.Max = x.min(), x.max(), y.min(), y.max()
	styleAxis(&plt.X)
	styleAxis(&plt.Y)
	if p.title != "" {
		styleText(&plt.Title.TextStyle, panelStyle)
		plt.Title.Text = shorten(panelStyle, p.title, width)
		plt.Title.Padding = 4
	}
	if last {
		plt.X.Label.Text = x.label
	}
	if first {
		plt.Y.Label.Text = shorten(labelStyle, y.label, height-30)
	}
	textWidth := func(s string) float64 { return tickStyle.Width(s).Points() }
	plt.X.Tick.Marker = gonum.ConstantTicks(x.marks(width.Points(), textWidth))
	plt.Y.Tick.Marker = gonum.ConstantTicks(y.marks(height.Points()-50, func(string) float64 { return 9 }))
	plt.Add(gridLines{x, y}, panelPlotter{f.chart, p})
	return plt
}

func styleAxis(a *gonum.Axis) {
	a.Padding = 0
	a.LineStyle = draw.LineStyle{Color: pale, Width: 0.7}
	a.Tick.LineStyle = draw.LineStyle{Color: pale, Width: 0.6}
	a.Tick.Length = 5
	a.Label.Padding = 3
	styleText(&a.Label.TextStyle, labelStyle)
	styleText(&a.Tick.Label, tickStyle)
}

// styleText sets font and colour of a style and leaves its alignment.
func styleText(sty *text.Style, to text.Style) {
	sty.Font, sty.Color, sty.Handler = to.Font, to.Color, to.Handler
}

func (f *Figure) legendWidth() vg.Length {
	w := vg.Length(0)
	for _, s := range f.chart.styles {
		w = max(w, legendStyle.Width(s.label))
	}
	for _, g := range f.chart.guides {
		w = max(w, legendStyle.Width(g))
	}
	for _, l := range f.chart.legends {
		w = max(w, panelStyle.Width(l.title)-sampleWidth-6)
	}
	return w + sampleWidth + 22
}

func (f *Figure) legendHeight() vg.Length {
	rows := len(f.chart.guides) + 2
	for _, l := range f.chart.allLegends() {
		rows += len(l.styles)
		if l.title != "" {
			rows += 2 // and space above
		}
	}
	return rowHeight * vg.Length(rows)
}

func (f *Figure) drawLegend(c draw.Canvas) {
	left, y := c.Min.X+14, c.Max.Y-24
	room := c.Max.X - left - sampleWidth - 6
	row := func(label string, sample func(y vg.Length)) {
		sample(y + 3.5)
		c.FillText(legendStyle, vg.Point{X: left + sampleWidth + 6, Y: y}, shorten(legendStyle, label, room))
		y -= rowHeight
	}
	for k, l := range f.chart.allLegends() {
		if l.title != "" {
			if k > 0 {
				y -= rowHeight
			}
			c.FillText(panelStyle, vg.Point{X: left, Y: y}, shorten(panelStyle, l.title, c.Max.X-left))
			y -= rowHeight
		}
		for _, i := range l.styles {
			s := f.chart.styles[i]
			row(s.label, func(y vg.Length) {
				c.StrokeLine2(lineStyle(i, s.hue), left, y, left+sampleWidth, y)
				drawMarker(&c, i, s.hue, vg.Point{X: left + sampleWidth/2, Y: y})
			})
		}
	}
	if len(f.chart.legends) > 0 {
		y -= rowHeight
	}
	for _, label := range f.chart.guides {
		row(label, func(y vg.Length) { c.StrokeLine2(guideStyle(), left, y, left+sampleWidth, y) })
	}
}

type panelPlotter struct {
	chart *chart
	panel *panel
}

// Plot implements gonum's Plotter.
func (p panelPlotter) Plot(c draw.Canvas, plt *gonum.Plot) {
	x, y := plt.Transforms(&c)
	p.drawBands(&c, x, y)
	for _, path := range p.panel.guides {
		strokeLine(&c, guideStyle(), path, x, func(v float64) vg.Length { return y(p.chart.y.at(v, 0)) })
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
			for i, pt := range l.points {
				if step := 1 + len(l.points)/markersOfLine; p.chart.dense && i%step != 0 && i < len(l.points)-1 {
					continue
				}
				lane := low[s.style]
				if pt.y > 0 {
					lane = high[s.style]
				}
				at := vg.Point{X: x(p.chart.x.at(pt.x, 0)), Y: y(p.chart.y.at(pt.y, lane))}
				if pt.lo < pt.hi {
					sty := lineStyle(0, hue)
					sty.Width = 0.8
					c.StrokeLine2(sty, at.X, y(p.chart.y.at(pt.lo, lane)), at.X, y(p.chart.y.at(pt.hi, lane)))
				}
				drawMarker(&c, s.style, hue, at)
			}
		}
	}
}

// markersOfLine is about how many markers a line with many points has.
const markersOfLine = 8

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
		c.FillPolygon(shade, []vg.Point{{X: x(x0), Y: y(y0)}, {X: x(x1), Y: y(y0)}, {X: x(x1), Y: y(y1)},
			{X: x(x0), Y: y(y1)}})
	}
	stroke := func(x0, y0, x1, y1 float64) {
		c.StrokeLine2(draw.LineStyle{Color: pale, Width: 0.6}, x(x0), y(y0), x(x1), y(y1))
	}
	if ay.below.lanes > 0 {
		fill(ax.min(), ay.min(), ax.max(), ay.lo)
		stroke(ax.min(), ay.lo, ax.max(), ay.lo)
	}
	if ay.above.lanes > 0 {
		fill(ax.min(), ay.hi, ax.max(), ay.max())
		stroke(ax.min(), ay.hi, ax.max(), ay.hi)
	}
	if ax.above.lanes > 0 {
		fill(ax.hi, ay.min(), ax.max(), ay.max())
		stroke(ax.hi, ay.min(), ax.hi, ay.max())
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
