package report

import (
	"io"

	"mpbench/pkg/plot"
	"mpbench/pkg/record"
)

// SVG draws the run as a vector picture, of the kind that opts.Plot names or that fits it best; see pkg/plot.
func SVG(w io.Writer, run *record.Run, opts Options) error {
	figure, err := plot.New(run, opts.Plot)
	if err != nil {
		return err
	}
	return figure.WriteSVG(w)
}

// PNG draws the same picture as SVG in pixels.
func PNG(w io.Writer, run *record.Run, opts Options) error {
	figure, err := plot.New(run, opts.Plot)
	if err != nil {
		return err
	}
	return figure.WritePNG(w)
}
