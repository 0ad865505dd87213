package plot

import (
	"fmt"
	"image/color"
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Bars are figures other than those of records, as bars under headings.
type Bars struct {
	Title, Facts string
	Axis         string               // what the bars measure
	Text         func(float64) string // a number of the axis
	Parts        []string             // of which bars are stacked; none if each bar is one figure
	Groups       []BarGroup
}

// BarGroup is a heading and its bars.
type BarGroup struct {
	Title string
	Bars  []Bar
}

// Bar is a name, the sizes of its parts, and a note behind it. A bar may be of another colour than its neighbours.
type Bar struct {
	Name, Note string
	Parts      []float64
	Special    bool
}

// NewBars draws bars.
func NewBars(b Bars, o Options) *Figure {
	c := &chart{title: b.Title, facts: b.Facts, bars: &barChart{axis: b.Axis, text: b.Text, phases: b.Parts}}
	for _, g := range b.Groups {
		c.bars.rows = append(c.bars.rows, barRow{label: g.Title})
		for _, bar := range g.Bars {
			row := barRow{label: bar.Name, note: bar.Note}
			for i, size := range bar.Parts {
				if bar.Special {
					i = len(fillings) - 1
				}
				row.parts = append(row.parts, part{i, size})
				row.total += size
			}
			c.bars.most = max(c.bars.most, row.total)
			c.bars.rows = append(c.bars.rows, row)
		}
	}
	if c.bars.most == 0 { // an axis needs a length
		c.bars.most = 1
	}
	return newFigure(c, o)
}

// A barChart shows bars, stacked from their parts, under headings.
type barChart struct {
	rows   []barRow
	phases []string // names of the parts, in the order of the legend; none if each bar has one
	share  bool     // bars have the same length, and their parts are shares of it
	most   float64  // the longest bar
	axis   string   // what it measures
	text   func(float64) string
}

// A barRow is a bar, or a heading if it has no parts.
type barRow struct {
	label string
	parts []part
	total float64
	note  string // behind the bar
}

// A part of a bar is a phase, by its index in barChart.phases.
type part struct {
	phase int
	size  float64
}

// Measures of bar charts, in points.
const (
	barStep   = 19
	barHeight = 12
	axisRoom  = 34 // below the bars
	totalRoom = 62 // at their right
)

// fillings of phases: a colour with lines at an angle, so that neighbours differ without colour.
var fillings = []struct {
	color  color.Color
	angles []float64 // of the hatching, in degrees
	gap    vg.Length
}{
	{color.RGBA{0x56, 0xb4, 0xe9, 0xff}, []float64{45}, 5},
	{color.RGBA{0xd5, 0x5e, 0x00, 0xff}, nil, 0},
	{color.RGBA{0xf5, 0xd7, 0x8e, 0xff}, []float64{90}, 4},
	{color.RGBA{0x00, 0x9e, 0x73, 0xff}, []float64{135}, 5},
	{color.RGBA{0xff, 0xff, 0xff, 0xff}, []float64{45, 135}, 5},
	{color.RGBA{0x33, 0x4f, 0x7a, 0xff}, nil, 0},
	{color.RGBA{0xcc, 0x79, 0xa7, 0xff}, []float64{0}, 4},
	{color.RGBA{0xe6, 0x9f, 0x00, 0xff}, []float64{60}, 4},
	{color.RGBA{0xbd, 0xbd, 0xbd, 0xff}, []float64{120}, 3},
	{color.RGBA{0xff, 0xff, 0xff, 0xff}, []float64{0, 90}, 4},
	{color.RGBA{0x00, 0x72, 0xb2, 0xff}, []float64{90}, 3},
	{color.RGBA{0xff, 0xff, 0xff, 0xff}, nil, 0},
	{color.RGBA{0xb8, 0xe0, 0xd2, 0xff}, []float64{0}, 3},
	{color.RGBA{0xe8, 0xc1, 0xd8, 0xff}, []float64{45, 135}, 4},
	{color.RGBA{0x77, 0x77, 0x77, 0xff}, nil, 0},
}

// legendColumns is how many entries of the legend stand in a row.
const legendColumns = 4

func (b *barChart) legendRows() int { return (len(b.phases) + legendColumns - 1) / legendColumns }

func (b *barChart) height() vg.Length {
	return vg.Length(len(b.rows))*barStep + axisRoom + rowHeight*vg.Length(b.legendRows()) + 8
}

func (b *barChart) draw(c draw.Canvas) {
	b.drawLegend(&c)
	names := vg.Length(0)
	for _, r := range b.rows {
		if len(r.parts) > 0 {
			names = max(names, legendStyle.Width(r.label))
		}
	}
	names = min(names+8, 0.4*(c.Max.X-c.Min.X))
	area := draw.Crop(c, names, -totalRoom, axisRoom, -rowHeight*vg.Length(b.legendRows())-8)
	x := func(size float64) vg.Length { return area.Min.X + vg.Length(size/b.end())*(area.Max.X-area.Min.X) }
	b.drawAxis(&area, x)
	y := area.Max.Y
	for _, r := range b.rows {
		y -= barStep
		if len(r.parts) == 0 {
			b.drawHeading(&c, r.label, y)
			continue
		}
		c.FillText(legendStyle, vg.Point{X: c.Min.X, Y: y + 4}, shorten(legendStyle, r.label, names-6))
		scale, from := 1.0, 0.0
		if b.share {
			scale = 1 / r.total
		}
		for _, p := range r.parts {
			to := from + p.size*scale
			box := vg.Rectangle{Min: vg.Point{X: x(from), Y: y + 2}, Max: vg.Point{X: x(to), Y: y + 2 + barHeight}}
			fillBox(&area, p.phase, box)
			from = to
		}
		c.FillText(tickStyle, vg.Point{X: x(from) + 5, Y: y + 4}, r.note)
	}
}

// drawHeading writes over the lines of the axis.
func (b *barChart) drawHeading(c *draw.Canvas, label string, y vg.Length) {
	label = shorten(panelStyle, label, c.Max.X-c.Min.X)
	right := c.Min.X + panelStyle.Width(label) + 4
	c.FillPolygon(paper, []vg.Point{{X: c.Min.X, Y: y}, {X: right, Y: y}, {X: right, Y: y + barStep - 3},
		{X: c.Min.X, Y: y + barStep - 3}})
	c.FillText(panelStyle, vg.Point{X: c.Min.X, Y: y + 3}, label)
}

// end is the length of the axis: 1 for shares, else the longest bar.
func (b *barChart) end() float64 {
	if b.share {
		return 1
	}
	return b.most
}

func (b *barChart) drawAxis(c *draw.Canvas, x func(float64) vg.Length) {
	line := draw.LineStyle{Color: pale, Width: 0.7}
	c.StrokeLine2(line, c.Min.X, c.Min.Y, c.Max.X, c.Min.Y)
	step, text := niceStep(b.end()/6), b.text
	if b.share {
		step = 0.2
		text = func(v float64) string { return fmt.Sprintf("%.0f %%", 100*v) }
	}
	sty := tickStyle
	sty.XAlign = -0.5
	for k := 0.0; k*step <= b.end()*(1+1e-9); k++ {
		c.StrokeLine2(draw.LineStyle{Color: rule, Width: 0.5}, x(k*step), c.Min.Y, x(k*step), c.Max.Y)
		c.StrokeLine2(line, x(k*step), c.Min.Y, x(k*step), c.Min.Y-4)
		c.FillText(sty, vg.Point{X: x(k * step), Y: c.Min.Y - 15}, text(k*step))
	}
	sty = labelStyle
	sty.XAlign = -0.5
	c.FillText(sty, vg.Point{X: (c.Min.X + c.Max.X) / 2, Y: c.Min.Y - 31}, b.axis)
}

func (b *barChart) drawLegend(c *draw.Canvas) {
	column := (c.Max.X - c.Min.X) / legendColumns
	for i, name := range b.phases {
		at := vg.Point{X: c.Min.X + column*vg.Length(i%legendColumns), Y: c.Max.Y - rowHeight*vg.Length(i/legendColumns+1)}
		fillBox(c, i, vg.Rectangle{Min: at, Max: vg.Point{X: at.X + 24, Y: at.Y + 10}})
		c.FillText(legendStyle, vg.Point{X: at.X + 30, Y: at.Y + 1}, shorten(legendStyle, name, column-36))
	}
}

func fillBox(c *draw.Canvas, phase int, box vg.Rectangle) {
	f := fillings[phase%len(fillings)]
	corners := []vg.Point{box.Min, {X: box.Max.X, Y: box.Min.Y}, box.Max, {X: box.Min.X, Y: box.Max.Y}, box.Min}
	c.FillPolygon(f.color, corners)
	inside := draw.Canvas{Canvas: c.Canvas, Rectangle: box}
	edge := draw.LineStyle{Color: ink, Width: 0.6}
	for _, angle := range f.angles {
		c.StrokeLines(edge, inside.ClipLinesXY(hatching(box, angle, f.gap)...)...)
	}
	c.StrokeLines(edge, corners)
}

// hatching covers a box with parallel lines that are a gap apart. They start at a grid that is the same for all boxes
// of one height, so that parts of a bar look alike.
func hatching(box vg.Rectangle, degrees float64, gap vg.Length) [][]vg.Point {
	sin, cos := math.Sincos(degrees * math.Pi / 180)
	size := box.Size()
	reach := size.X + size.Y
	var lines [][]vg.Point
	for k := -int(reach / gap); k <= int(reach/gap); k++ {
		// A point on the k-th line, and its two ends beyond the box.
		px := box.Min.X - vg.Length(sin)*gap*vg.Length(k)
		py := box.Min.Y + vg.Length(cos)*gap*vg.Length(k)
		lines = append(lines, []vg.Point{
			{X: px - vg.Length(cos)*2*reach, Y: py - vg.Length(sin)*2*reach},
			{X: px + vg.Length(cos)*2*reach, Y: py + vg.Length(sin)*2*reach},
		})
	}
	return lines
}
