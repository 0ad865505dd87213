package plot

import (
	"bytes"
	"fmt"
	"html"
	"io"
	"regexp"
	"strings"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// svgCanvas remembers how wide its texts are in the program's font.
type svgCanvas struct {
	*vgsvg.Canvas
	widths []vg.Length
}

// FillString draws a text.
func (c *svgCanvas) FillString(f font.Face, at vg.Point, s string) {
	c.widths = append(c.widths, f.Width(s))
	c.Canvas.FillString(f, at, s)
}

var (
	svgHead  = regexp.MustCompile(`(?s)\A.*?<svg.*?>\n`)
	svgFonts = "font-family:'Liberation Sans',Arimo,Arial,Helvetica,sans-serif"
)

// WriteSVG writes the figure as SVG. Texts stay texts, which can be read aloud, searched and copied. They are as wide
// as in the program's font, Liberation Sans, whatever font a reader has: that is in their textLength.
func (f *Figure) WriteSVG(w io.Writer) error {
	canvas := &svgCanvas{Canvas: vgsvg.New(f.width, f.height)}
	f.draw(draw.NewCanvas(canvas, f.width, f.height))
	var b bytes.Buffer
	if _, err := canvas.WriteTo(&b); err != nil {
		return err
	}
	_, err := io.WriteString(w, f.head()+canvas.setWidths(svgHead.ReplaceAllString(b.String(), "")))
	return err
}

func (f *Figure) head() string {
	title := html.EscapeString(printable(f.Title))
	size := fmt.Sprintf(`width="%.5g" height="%.5g" viewBox="0 0 %.5g %.5g" role="img"`, f.width, f.height, f.width,
		f.height)
	if f.inline {
		return fmt.Sprintf("<svg xmlns=\"http://www.w3.org/2000/svg\" %s>\n<title>%s</title>\n", size, title)
	}
	return fmt.Sprintf("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" "+
		"%s>\n<title>%s</title>\n"+
		"<rect width=\"100%%\" height=\"100%%\" fill=\"#FFFFFF\"/>\n", size, title)
}

// setWidths gives the texts of a document their widths and fonts that most readers have.
func (c *svgCanvas) setWidths(document string) string {
	parts := strings.Split(document, "<text ")
	for i := 1; i < len(parts); i++ {
		parts[i] = fmt.Sprintf(`<text textLength="%.5g" lengthAdjust="spacingAndGlyphs" %s`, c.widths[i-1], parts[i])
	}
	return strings.NewReplacer("font-family:Liberation Sans", svgFonts, ";font-variant:normal", "", ";font-style:normal",
		"",
		";font-weight:normal", "").Replace(strings.Join(parts, ""))
}

// pngScale is how many pixels a PNG has for each pixel of the figure, for sharp screens and print.
const pngScale = 2

// WritePNG writes the figure as a PNG image of twice its width and height in pixels.
func (f *Figure) WritePNG(w io.Writer) error {
	canvas := vgimg.NewWith(vgimg.UseWH(f.width, f.height), vgimg.UseDPI(72*pngScale), vgimg.UseBackgroundColor(paper))
	f.draw(draw.New(canvas))
	_, err := vgimg.PngCanvas{Canvas: canvas}.WriteTo(w)
	return err
}
