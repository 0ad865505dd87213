package plot

import (
	"slices"
	"strings"

	"mpbench/pkg/record"
)

// figure7Methods run on one GPU thread (s) or with a thread for each residue (p).
var figure7Methods = []string{"reduce1s", "reduce1p", "reduce2s", "reduce2p", "reduce3p"}

// drawFigure6 shows reduce1 and reduce2 on the CPU, and reduce3 for each number of blocks on the device it ran on.
func drawFigure6(records []*record.Record, _ Options) *chart {
	return drawMPRES("2018 paper, Figure 6: time of multiple-precision sums", records, inFigure6)
}

func inFigure6(r *record.Record) bool {
	return r.Command == "sum" &&
		(r.Method == "reduce3" || r.Device == "cpu" && (r.Method == "reduce1" || r.Method == "reduce2"))
}

func isFigure6(records []*record.Record) bool {
	records = filter(records, inFigure6)
	return severalTimedPrecisions(records) &&
		slices.ContainsFunc(records, func(r *record.Record) bool { return r.Method == "reduce3" }) &&
		slices.ContainsFunc(records, func(r *record.Record) bool { return r.Method != "reduce3" })
}

// drawFigure7 shows the GPU variants of reduce1 and reduce2, and reduce3 by its number of blocks where it ran on a
// GPU. Where the records hold none of these, the CPU's reduce1 and reduce2 stand in for them, and the picture says so.
func drawFigure7(records []*record.Record, _ Options) *chart {
	if len(filter(records, inFigure7)) > 0 {
		shown := func(r *record.Record) bool { return inFigure7(r) || inFigure6(r) && r.Device != "cpu" }
		return drawMPRES("2018 paper, Figure 7: time of multiple-precision sums on a GPU", records, shown)
	}
	c := drawMPRES("2018 paper, Figure 7: time of multiple-precision sums", records, func(r *record.Record) bool {
		return r.Command == "sum" && (r.Method == "reduce1" || r.Method == "reduce2")
	})
	if c != nil {
		c.notes = append(c.notes, "no results of "+strings.Join(figure7Methods[:4], ", ")+
			" (GPU) are there: reduce1 and reduce2 of the CPU stand in for them")
	}
	return c
}

func inFigure7(r *record.Record) bool {
	return r.Command == "sum" && slices.Contains(figure7Methods, r.Method)
}

func isFigure7(records []*record.Record) bool {
	return severalTimedPrecisions(filter(records, inFigure7))
}

func drawMPRES(title string, records []*record.Record, in func(*record.Record) bool) *chart {
	records = filter(records, in)
	c := &chart{title: title, x: precisionAxis(records), y: timeAxis()}
	return c.gather(records, source{panel: dataTitle, hidden: []string{"precision"}, point: precisionPoint})
}

func filter(records []*record.Record, keep func(*record.Record) bool) []*record.Record {
	return slices.DeleteFunc(slices.Clone(records), func(r *record.Record) bool { return !keep(r) })
}
