package plot

import (
	"cmp"
	"image/color"
	"math"
	"strings"
	"unicode"
	"unicode/utf8"

	xfont "golang.org/x/image/font"
	gonum "gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Colours of lines, dark enough on white; the first seven are those of M. Okabe and K. Ito, "Color Universal Design"
// (2008), which colour-blind readers tell apart, without their yellow.
var hues = []color.Color{
	color.RGBA{0x00, 0x72, 0xb2, 0xff}, // blue
	color.RGBA{0xd5, 0x5e, 0x00, 0xff}, // vermilion
	color.RGBA{0x00, 0x9e, 0x73, 0xff}, // green
	color.RGBA{0x00, 0x00, 0x00, 0xff}, // black
	color.RGBA{0xcc, 0x79, 0xa7, 0xff}, // purple
	color.RGBA{0xe6, 0x9f, 0x00, 0xff}, // orange
	color.RGBA{0x56, 0xb4, 0xe9, 0xff}, // light blue
	color.RGBA{0x8c, 0x56, 0x4b, 0xff}, // brown
	color.RGBA{0x7f, 0x7f, 0x7f, 0xff}, // grey
}

var (
	ink   = color.RGBA{0x22, 0x22, 0x22, 0xff}
	pale  = color.RGBA{0x66, 0x66, 0x66, 0xff}
	rule  = color.RGBA{0xe2, 0xe2, 0xe2, 0xff}
	shade = color.RGBA{0xf0, 0xf0, 0xf0, 0xff}
	paper = color.White
)

// Dashes of lines, in points; the first is solid.
var dashes = [][]vg.Length{nil, {6, 2.5}, {2, 2}, {8, 2.5, 2, 2.5}, {11, 3}, {8, 2, 2, 2, 2, 2}, {4, 4}}

func lineStyle(i, hue int) draw.LineStyle {
	return draw.LineStyle{Color: hues[hue%len(hues)], Width: 1.3, Dashes: dashes[i%len(dashes)]}
}

// guideStyle is that of lines that are no measurements.
func guideStyle() draw.LineStyle {
	return draw.LineStyle{Color: pale, Width: 2.2, Dashes: []vg.Length{1.2, 2.4}}
}

// A marker is a polygon in units of its radius. With 7 dashes and 12 markers, the first 84 series differ in one.
type marker struct {
	corners []xy
	filled  bool
}

var markers = []marker{
	{polygon(24, 0), true},          // disc
	{polygon(4, math.Pi/4), false},  // square
	{polygon(3, math.Pi/2), true},   // triangle
	{polygon(4, 0), false},          // diamond
	{polygon(3, -math.Pi/2), true},  // triangle downwards
	{polygon(24, 0), false},         // ring
	{polygon(4, math.Pi/4), true},   // square
	{polygon(3, math.Pi/2), false},  // triangle
	{polygon(4, 0), true},           // diamond
	{polygon(3, -math.Pi/2), false}, // triangle downwards
	{star(5), true},                 // star
	{polygon(6, 0), false},          // hexagon
}

// polygon has n corners on the unit circle, the first at an angle.
func polygon(n int, first float64) []xy {
	var corners []xy
	size := cmp.Or(map[int]float64{3: 1.25, 4: 1.15}[n], 1)
	for i := range n {
		sin, cos := math.Sincos(first + 2*math.Pi*float64(i)/float64(n))
		corners = append(corners, xy{size * cos, size * sin})
	}
	return corners
}

func star(n int) []xy {
	var corners []xy
	for i := range 2 * n {
		radius := 1.35
		if i%2 == 1 {
			radius = 0.55
		}
		sin, cos := math.Sincos(math.Pi/2 + math.Pi*float64(i)/float64(n))
		corners = append(corners, xy{radius * cos, radius * sin})
	}
	return corners
}

// markerRadius is in points.
const markerRadius = 3.1

func drawMarker(c *draw.Canvas, i, hue int, at vg.Point) {
	m := markers[i%len(markers)]
	var path vg.Path
	for j, p := range m.corners {
		pt := vg.Point{X: at.X + vg.Length(markerRadius*p.x), Y: at.Y + vg.Length(markerRadius*p.y)}
		if j == 0 {
			path.Move(pt)
		} else {
			path.Line(pt)
		}
	}
	path.Close()
	c.SetLineStyle(draw.LineStyle{Color: hues[hue%len(hues)], Width: 1.1})
	if m.filled {
		c.SetColor(hues[hue%len(hues)])
	} else {
		c.SetColor(paper)
	}
	c.Fill(path)
	c.SetColor(hues[hue%len(hues)])
	c.Stroke(path)
}

// textStyle is a style of the sans-serif font that is part of the program.
func textStyle(size vg.Length, bold bool, ink color.Color) text.Style {
	f := font.Font{Typeface: "Liberation", Variant: "Sans", Size: size}
	if bold {
		f.Weight = xfont.WeightBold
	}
	return text.Style{Color: ink, Font: f, YAlign: text.YBottom, Handler: gonum.DefaultTextHandler}
}

// shorten cuts a text in the middle to fit the width. Characters that no picture can show become spaces.
func shorten(sty text.Style, s string, width vg.Length) string {
	s = printable(s)
	if sty.Width(s) <= width {
		return s
	}
	letters := []rune(s)
	for keep := len(letters) - 1; keep > 2; keep-- {
		front := (keep*2 + 2) / 3
		cut := string(letters[:front]) + "…" + string(letters[len(letters)-(keep-front):])
		if sty.Width(cut) <= width {
			return cut
		}
	}
	return "…"
}

// printable replaces control characters and what is no character, which XML forbids.
func printable(s string) string {
	return strings.Map(func(c rune) rune {
		if !unicode.IsGraphic(c) || c == utf8.RuneError || c > 0xfffd && c < 0x10000 {
			return ' '
		}
		return c
	}, s)
}
