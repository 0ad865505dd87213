package report

import (
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"strings"

	"mpbench/pkg/record"
)

// A group holds the records of one problem: the same operation on the same data.
type group struct {
	records []*record.Record
	zero    bool // the exact result is 0, so that only absolute errors tell something

	notation notation // of the values
	negative bool     // some value is negative
}

func (g group) first() *record.Record { return g.records[0] }

// vector reports whether the results are vectors: values and condition numbers are then those of single components.
func (g group) vector() bool { return g.first().Row != nil }

// groups puts the records of a run into groups, each in the order of first appearance.
func groups(run *record.Run) []group {
	var all []group
	index := map[string]int{}
	for i := range run.Records {
		r := &run.Records[i]
		key := fmt.Sprint(r.Command, "\x00", r.Dataset.Label(), "\x00", r.Dataset.SHA256, "\x00", r.Shape, r.Factors,
			r.Strides)
		j, ok := index[key]
		if !ok {
			j = len(all)
			index[key] = j
			all = append(all, group{})
		}
		all[j].records = append(all[j].records, r)
	}
	for i, g := range all {
		d, err := record.ParseDecimal(g.first().Exact)
		all[i].zero = err == nil && d.IsZero() && !g.vector()
		values := []string{g.first().Exact}
		for _, r := range g.records {
			values = append(values, r.Value)
			all[i].negative = all[i].negative || strings.HasPrefix(r.Value, "-")
		}
		all[i].notation = newNotation(values...)
	}
	return all
}

// records runs over the records of all groups.
func records(all []group) iter.Seq2[group, *record.Record] {
	return func(yield func(group, *record.Record) bool) {
		for _, g := range all {
			for _, r := range g.records {
				if !yield(g, r) {
					return
				}
			}
		}
	}
}

// errorText is the error that tells something: relative, or absolute where the exact result is 0.
func (g group) errorText(r *record.Record) string {
	if g.zero && r.AbsError != "" {
		return shortDecimal(r.AbsError, 2)
	}
	return shortDecimal(r.RelError, 2)
}

func (g group) boundText(r *record.Record) string {
	if g.zero && r.AbsBound != "" {
		return shortDecimal(r.AbsBound, 2)
	}
	return shortDecimal(r.Bound, 2)
}

// The kinds of errors and bounds, as headings name them.
const (
	relative = "rel."
	absolute = "abs."
)

func (g group) errorKind() string {
	if g.zero {
		return absolute
	}
	return relative
}

// exactDigits is the number of digits of the exact result in headings.
const exactDigits = 25

// title says what the group is about: data set, shape, condition number.
func (g group) title() (name string, facts []string) {
	r := g.first()
	name = r.Dataset.Label()
	if r.Shape.M != 0 {
		facts = append(facts, fmt.Sprintf("m = %d", r.Shape.M))
	}
	facts = append(facts, fmt.Sprintf("n = %d", r.Shape.N))
	if r.Shape.K != 0 {
		facts = append(facts, fmt.Sprintf("k = %d", r.Shape.K))
	}
	if r.Shape.NNZ != 0 {
		facts = append(facts, fmt.Sprintf("%d stored", r.Shape.NNZ))
	}
	if text := r.Shape.Matrices(); text != "" {
		facts = append(facts, text)
	}
	for _, name := range slices.Sorted(maps.Keys(r.Factors)) {
		facts = append(facts, name+" = "+r.Factors[name])
	}
	for _, name := range slices.Sorted(maps.Keys(r.Strides)) {
		facts = append(facts, fmt.Sprintf("%s = %d", name, r.Strides[name]))
	}
	if c := conditionText(r.Condition); c != none && !g.vector() {
		facts = append(facts, "condition number "+c)
	}
	return name, facts
}

// conditionText writes a condition number, without an exponent where that is short.
func conditionText(s string) string {
	d, err := record.ParseDecimal(s)
	switch {
	case s == "" || err != nil:
		return none
	case !d.IsFinite():
		return "infinite"
	case d.Exp >= 0 && d.Exp < 4:
		return d.Round(3).Plain(3)
	}
	return shortDecimal(s, 2)
}

// exact returns what the exact result is called and its digits, "" if the records do not hold it.
func (g group) exact() (name, value string) {
	r := g.first()
	if r.Exact == "" || g.vector() {
		return "", ""
	}
	return "exact " + r.Command, newNotation(r.Exact).format(r.Exact, exactDigits, 80)
}

// notes are what is to be said beside tables: footnotes, of which those of the same kind share one letter, or, without
// them, a line about the noise of the times.
type notes struct {
	footnotes bool
	results   int
	codes     []string                  // in order of appearance; the letter of a warning is the place of its code
	rows      map[string][]string       // code -> the rows that have it
	sample    map[string]record.Warning // code -> the first warning
	lines     []string                  // without a letter
	load      []string                  // what keeps the machine busy
	noise     string
	env       string
}

// ofTimes are the codes of warnings about the noise of times.
var ofTimes = []string{
	record.WarnOutliers, record.WarnSlowFirst, record.WarnNoisy, record.WarnFewRuns, record.WarnShort,
}

// tolerable is how far a median's interval may reach, relative to it, before the time counts as uncertain.
const tolerable = 0.05

// noiseLine says how certain the times are, "" where there are none.
func (n *notes) noiseLine(all []group) string {
	times, uncertain, worst, name := 0, 0, 0.0, ""
	for _, r := range records(all) {
		if !hasTime(r) {
			continue
		}
		times++
		x := reach(r.Time)
		if x > tolerable || len(r.Time.Samples) < 2 {
			uncertain++
		}
		if x > worst {
			worst, name = x, r.Method+" "+r.Dataset.Label()
		}
	}
	if times == 0 {
		return ""
	}
	text := "noise: all times are certain to 5 %"
	if uncertain > 0 {
		verb := "are"
		if uncertain == 1 {
			verb = "is"
		}
		text = fmt.Sprintf("noise: %d of %s %s uncertain by more than 5 %%", uncertain, plural(times, "time", "times"), verb)
	}
	if uncertain > 0 && worst > tolerable {
		text += fmt.Sprintf(", up to %.0f %% (%s)", 100*worst, name)
	}
	return strings.Join(append([]string{text}, n.load...), "; ")
}

// reach is how far the interval reaches from the median, relative to it.
func reach(t record.Timing) float64 {
	if t.Median <= 0 {
		return 0
	}
	return max(t.Hi-t.Median, t.Median-t.Lo) / t.Median
}

func newNotes(run *record.Run, all []group, footnotes bool) *notes {
	n := &notes{footnotes: footnotes, rows: map[string][]string{}, sample: map[string]record.Warning{}}
	failed, results, asked := record.CountOutside(run.Records), len(run.Records), false
	n.results = results
	for _, r := range records(all) {
		asked = asked || strings.Contains(bitsCell(r), "/")
		n.addRow(r)
	}
	if failed > 0 {
		n.lines = append(n.lines, fmt.Sprintf("! outside the proved error bound: %d of %s", failed, plural(results, "result",
			"results")))
	}
	if asked {
		n.lines = append(n.lines, "bits a/b: a bits asked for, b bits used")
	}
	if line := threadsLine(all); line != "" {
		n.lines = append(n.lines, line)
	}
	if line := memoryLine(all); line != "" {
		n.lines = append(n.lines, line)
	}
	for _, w := range run.Warnings {
		n.lines = append(n.lines, "warning: "+w.String())
	}
	for i := range run.Environments {
		for _, w := range run.Environments[i].Warnings() {
			if footnotes {
				n.lines = append(n.lines, "warning: "+w.String())
			} else {
				n.load = append(n.load, w.Text)
			}
		}
	}
	if !footnotes {
		n.noise = n.noiseLine(all)
	}
	if len(run.Environments) > 0 {
		n.env = describe(run.Environments[len(run.Environments)-1])
	}
	return n
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

func (n *notes) addRow(r *record.Record) {
	for _, w := range r.Warnings {
		if !n.footnotes && slices.Contains(ofTimes, w.Code) {
			continue
		}
		if _, ok := n.sample[w.Code]; !ok {
			n.sample[w.Code] = w
			n.codes = append(n.codes, w.Code)
		}
		n.rows[w.Code] = append(n.rows[w.Code], fmt.Sprintf("%s %d bits %s", r.Method, r.PrecisionBits, r.Dataset.Label()))
	}
}

func letter(i int) string {
	if i < 26 {
		return string(rune('a' + i))
	}
	return fmt.Sprint(i)
}

// column gives the letters of the row's warnings.
func (n *notes) column() column {
	return plainColumn("", "", false, func(r *record.Record) string {
		if !n.footnotes {
			return ""
		}
		var letters []string
		for _, w := range r.Warnings {
			l := letter(slices.Index(n.codes, w.Code))
			if !slices.Contains(letters, l) {
				letters = append(letters, l)
			}
		}
		slices.Sort(letters)
		return strings.Join(letters, "")
	})
}

// text is the footnote of a code. Warnings of one kind differ in their numbers: the first stands for all.
func (n *notes) text(i int) string {
	code := n.codes[i]
	w, rows := n.sample[code], n.rows[code]
	text := w.Text
	if n.footnotes {
		text = letter(i) + "  " + text
	}
	if len(rows) == 1 && !n.footnotes && n.results > 1 {
		text += " (" + rows[0] + ")"
	}
	if len(rows) > 1 {
		text += fmt.Sprintf(" (%s, and %s alike)", rows[0], plural(len(rows)-1, "other row", "other rows"))
	}
	if w.Advice != "" {
		text += "; " + w.Advice
	}
	return text
}

// texts returns all notes, and the environment at the end.
func (n *notes) texts() []string {
	lines := slices.Clone(n.lines)
	for i := range n.codes {
		lines = append(lines, n.text(i))
	}
	if n.noise != "" {
		lines = append(lines, n.noise)
	}
	if n.env != "" {
		lines = append(lines, n.env)
	}
	return lines
}

func writeNotes(w io.Writer, n *notes, opts Options) {
	lines := n.texts()
	if len(lines) > 0 {
		fmt.Fprintln(w)
	}
	for _, line := range lines {
		wrap(w, line, opts.Width)
	}
}

// wrap writes a text in lines of at most width characters where its words allow, the later ones indented.
func wrap(w io.Writer, text string, width int) { wrapIndented(w, text, width, "   ") }

// wrapIndented is wrap with what later lines begin with.
func wrapIndented(w io.Writer, text string, width int, indent string) {
	if width <= 0 {
		width = 80
	}
	line := ""
	for i, word := range strings.Split(text, " ") {
		switch {
		case i == 0:
			line = word
		case word != "" && strings.TrimSpace(line) != "" && textWidth(line)+1+textWidth(word) > width:
			fmt.Fprintln(w, strings.TrimRight(line, " "))
			line = indent + word
		default:
			line += " " + word
		}
	}
	fmt.Fprintln(w, strings.TrimRight(line, " "))
}

func describe(env record.Environment) string {
	parts := []string{env.CPU.Brand}
	if env.Threads > 0 {
		parts = append(parts, plural(env.Threads, "thread", "threads"))
	}
	if env.CPU.SIMD != "" {
		parts = append(parts, env.CPU.SIMD)
	}
	build := env.Go.Version + " " + env.Go.OS + "/" + env.Go.Arch
	if env.Go.Level != "" {
		build += " " + env.Go.Level
	}
	parts = append(parts, build)
	if c := env.Program.Commit; c != "" {
		if len(c) > 12 {
			c = c[:12]
		}
		if env.Program.Modified {
			c += "+changes"
		}
		parts = append(parts, "commit "+c)
	}
	for _, gpu := range env.GPUs {
		parts = append(parts, fmt.Sprintf("%s %s driver %s", gpu.Device, gpu.Name, gpu.Driver))
	}
	for _, p := range env.Peers {
		version, _, _ := strings.Cut(p.Version, " ")
		parts = append(parts, strings.TrimRight(p.Library+" "+version, " ,"))
	}
	return strings.Join(parts, ", ")
}

// threadsLine says how many threads each method had, "" where it was one, or where a column says it.
func threadsLine(all []group) string {
	threads := 0
	for _, r := range records(all) {
		if threads != 0 && r.Threads != threads {
			return ""
		}
		threads = r.Threads
	}
	if threads < 2 {
		return ""
	}
	return fmt.Sprintf("every method had %d threads", threads)
}

// memoryLine says what the largest matrix takes in each method's format at each precision, "" if there is none.
func memoryLine(all []group) string {
	var order []string
	largest := map[string]int64{}
	for _, r := range records(all) {
		if r.MatrixBytes == 0 {
			continue
		}
		name := r.Method
		if r.Format != "binary64" {
			name += fmt.Sprintf(" %d bits", r.PrecisionBits)
		}
		if _, seen := largest[name]; !seen {
			order = append(order, name)
		}
		largest[name] = max(largest[name], r.MatrixBytes)
	}
	for i, name := range order {
		order[i] = record.Bytes(largest[name]) + " " + name
	}
	if len(order) == 0 {
		return ""
	}
	return "the matrix takes " + strings.Join(order, ", ")
}
