package plot

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"mpbench/pkg/record"
	"mpbench/pkg/stats"
)

// A chart is a picture before it is laid out: panels with the same axes, and what they have in common.
type chart struct {
	title, facts string
	x, y         axis
	panels       []panel
	styles       []styled // one for each series, in the order of the legend
	legends      []legend // one for each operation, where their series are not the same
	guides       []string // lines that are no measurements: their names in the legend, after the series
	notes        []string // what the picture leaves out

	dense bool // lines have many points; markers stand at a few of them

	bars *barChart // in place of axes, panels and series
}

// styled is a row of the legend.
type styled struct {
	label string
	hue   int // index of the colour: the same for the rows of one method
}

// A legend names the series in the panels of an operation.
type legend struct {
	title  string // the operation, "" for the only legend
	styles []int  // indices in chart.styles
}

// allLegends are the legends of the chart: one of all series where the panels share it.
func (c *chart) allLegends() []legend {
	if len(c.legends) > 0 {
		return c.legends
	}
	all := legend{}
	for i := range c.styles {
		all.styles = append(all.styles, i)
	}
	return []legend{all}
}

// name puts a series into the legend of an operation.
func (c *chart) name(operation string, style int) {
	i := slices.IndexFunc(c.legends, func(l legend) bool { return l.title == operation })
	if i < 0 {
		i = len(c.legends)
		c.legends = append(c.legends, legend{title: operation})
	}
	if l := &c.legends[i]; !slices.Contains(l.styles, style) {
		l.styles = append(l.styles, style)
	}
}

// joinLegends sorts the legends, and leaves none where all are the same.
func (c *chart) joinLegends() {
	for _, l := range c.legends {
		slices.Sort(l.styles)
	}
	differs := func(l legend) bool { return !slices.Equal(l.styles, c.legends[0].styles) }
	if !slices.ContainsFunc(c.legends, differs) {
		c.legends = nil
	}
}

// A panel shows the records of one data set.
type panel struct {
	title  string
	series []series
	guides [][]xy // for each guide of the chart
}

// series are the points of one row of the legend.
type series struct {
	style int // index in chart.styles
	lines []line
}

// A line joins points that have a key in common.
type line struct {
	key    string
	points []point
}

// A point is in the units of its axes, decimal logarithms on some. An infinite one is in a band at the edge.
type point struct {
	xy
	lo, hi float64 // interval for y; both y where there is none
}

type xy struct{ x, y float64 }

// maxPanels and maxSeries bound what one picture shows: more could not be told apart.
const (
	maxPanels = 12
	maxSeries = 36
)

// source is what a kind takes from a record.
type source struct {
	panel  func(*record.Record) string        // title of the panel
	joined func(*record.Record) string        // points alike in this are joined by a line; nil joins all of a series
	hidden []string                           // settings that are no part of a series' name, as they are seen otherwise
	point  func(*record.Record) (point, bool) // false for a record without what the kind draws
}

// gather makes the panels of a chart from the records that have points; it returns nil if none has.
func (c *chart) gather(records []*record.Record, from source) *chart {
	var used []*record.Record
	var points []point
	for _, r := range records {
		if p, ok := from.point(r); ok {
			used, points = append(used, r), append(points, p)
		}
	}
	if len(used) == 0 {
		return nil
	}
	if several(used, func(r *record.Record) (key, value string) { return "", r.Command }) {
		title := from.panel
		from.panel = func(r *record.Record) string { return strings.TrimSuffix(r.Command+": "+title(r), ": ") }
	}
	names := newNames(used, from.hidden)
	missing := map[string]map[string]bool{"data set": {}, "series": {}}
	for i, r := range used {
		p, style := c.panel(from.panel(r)), c.style(names, r)
		if p == nil {
			missing["data set"][from.panel(r)] = true
		}
		if style < 0 {
			missing["series"][names.of(r)] = true
		}
		if p != nil && style >= 0 {
			p.add(style, from.key(r), points[i])
			c.name(r.Command, style)
		}
	}
	c.joinLegends()
	for i := range c.panels {
		c.panels[i].sort()
	}
	c.noteMissing(len(missing["data set"]), "data set", "data sets", maxPanels)
	c.noteMissing(len(missing["series"]), "series", "series", maxSeries)
	return c
}

func (s source) key(r *record.Record) string {
	if s.joined == nil {
		return ""
	}
	return s.joined(r)
}

func (c *chart) noteMissing(n int, one, many string, shown int) {
	if n == 1 {
		c.notes = append(c.notes, fmt.Sprintf("1 more %s is not shown: a picture holds %d", one, shown))
	} else if n > 1 {
		c.notes = append(c.notes, fmt.Sprintf("%d more %s are not shown: a picture holds %d", n, many, shown))
	}
}

// panel returns the panel of a title, a new one if need be, nil if there are too many.
func (c *chart) panel(title string) *panel {
	for i := range c.panels {
		if c.panels[i].title == title {
			return &c.panels[i]
		}
	}
	if len(c.panels) == maxPanels {
		return nil
	}
	c.panels = append(c.panels, panel{title: title})
	return &c.panels[len(c.panels)-1]
}

// style returns the index of the record's row of the legend, -1 if there are too many.
func (c *chart) style(n *names, r *record.Record) int {
	label := n.of(r)
	i := slices.IndexFunc(c.styles, func(s styled) bool { return s.label == label })
	if i < 0 && len(c.styles) < maxSeries {
		i = len(c.styles)
		c.styles = append(c.styles, styled{label, n.hue(r)})
	}
	return i
}

func (p *panel) add(style int, key string, pt point) {
	i := slices.IndexFunc(p.series, func(s series) bool { return s.style == style })
	if i < 0 {
		i = len(p.series)
		p.series = append(p.series, series{style: style})
	}
	s := &p.series[i]
	j := slices.IndexFunc(s.lines, func(l line) bool { return l.key == key })
	if j < 0 {
		j = len(s.lines)
		s.lines = append(s.lines, line{key: key})
	}
	s.lines[j].points = append(s.lines[j].points, pt)
}

// sort brings series into the order of the legend and points into that of their axis.
func (p *panel) sort() {
	slices.SortFunc(p.series, func(a, b series) int { return cmp.Compare(a.style, b.style) })
	for _, s := range p.series {
		for _, l := range s.lines {
			slices.SortStableFunc(l.points, func(a, b point) int {
				return cmp.Or(cmp.Compare(a.x, b.x), cmp.Compare(a.y, b.y))
			})
		}
	}
}

// path goes through the median of the finite y at each x, with a gap where a point between is in a band at the edge.
func (l line) path() [][]xy {
	var paths [][]xy
	var path []xy
	for i := 0; i < len(l.points); {
		j := i
		var ys []float64
		for ; j < len(l.points) && l.points[j].x == l.points[i].x; j++ {
			if y := l.points[j].y; !math.IsInf(y, 0) {
				ys = append(ys, y)
			}
		}
		if len(ys) > 0 && !math.IsInf(l.points[i].x, 0) {
			path = append(path, xy{l.points[i].x, stats.Median(ys)})
		} else if len(path) > 0 {
			paths, path = append(paths, path), nil
		}
		i = j
	}
	if len(path) > 0 {
		paths = append(paths, path)
	}
	return paths
}

func (c *chart) each(f func(p *panel, s *series, pt point)) {
	for i := range c.panels {
		p := &c.panels[i]
		for j := range p.series {
			for _, l := range p.series[j].lines {
				for _, pt := range l.points {
					f(p, &p.series[j], pt)
				}
			}
		}
	}
}

// names tells the series of a chart apart: by method and precision, and by what differs between records of the same.
type names struct {
	hidden  []string
	varying map[string][]string // method -> settings that differ
	methods []string
}

func newNames(records []*record.Record, hidden []string) *names {
	n := &names{hidden: append(slices.Clone(hidden), "method", "dataset", "m", "n", "k", "nnz", "trans"),
		varying: map[string][]string{}}
	first := map[string]map[string]string{} // method and precision -> setting -> value
	for _, r := range records {
		n.methods = appendNew(n.methods, r.Method)
		settings := n.settings(r)
		for _, key := range nameKeys {
			at := r.Method
			if key != "precision" { // what follows the precision tells nothing apart
				at += " " + strconv.Itoa(r.PrecisionBits)
			}
			if first[at] == nil {
				first[at] = map[string]string{}
			}
			if before, ok := first[at][key]; ok && before != settings[key] {
				n.varying[r.Method] = appendNew(n.varying[r.Method], key)
			}
			first[at][key] = settings[key]
		}
	}
	return n
}

// nameKeys are the settings that a name may mention, in this order.
var nameKeys = []string{"precision", "device", "blocks", "block-size", "moduli-bits", "rounding", "alignment",
	"threads"}

func (n *names) settings(r *record.Record) map[string]string {
	m := map[string]string{"threads": fmt.Sprint(r.Threads)}
	for _, s := range r.Settings() {
		m[s.Key] = s.Value
	}
	for _, key := range n.hidden {
		delete(m, key)
	}
	return m
}

// of is the name of the record's series: "reduce3 240 bits, blocks 64".
func (n *names) of(r *record.Record) string {
	settings := n.settings(r)
	name := r.Method
	if slices.Contains(n.varying[r.Method], "precision") {
		name += " " + settings["precision"] + " bits"
	}
	if r.Device != "cpu" {
		name += " " + r.Device
	} else if slices.Contains(n.varying[r.Method], "device") {
		name += " cpu"
	}
	var rest []string
	for _, key := range nameKeys[2:] {
		if value, ok := settings[key]; ok && slices.Contains(n.varying[r.Method], key) {
			rest = append(rest, strings.ReplaceAll(key, "-", " ")+" "+value)
		}
	}
	if len(rest) > 0 {
		name += ", " + strings.Join(rest, ", ")
	}
	return name
}

// hue is the same for all records of a method.
func (n *names) hue(r *record.Record) int { return slices.Index(n.methods, r.Method) }
