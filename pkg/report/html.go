package report

import (
	"bufio"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"mpbench/pkg/plot"
	"mpbench/pkg/record"
)

var (
	//go:embed page/page.html
	pageText string
	//go:embed page/page.css
	pageStyle string
	//go:embed page/page.js
	pageScript string

	pageTemplate = template.Must(template.New("page").Funcs(template.FuncMap{"breakable": breakable}).Parse(pageText))
)

// A page is what the template shows. Texts are escaped there; the pictures escape their own.
type page struct {
	Title, Summary, Machine string
	Failed                  bool
	Policy                  string
	Style                   template.CSS
	Script                  template.JS

	Headline     pageTable
	Figures      []pageFigure
	Tables       []pageTable
	Notes        []string
	Phases       pageTable
	Environments [][]pageFact
}

type pageFigure struct {
	Title string
	SVG   template.HTML
}

type pageFact struct{ Name, Value string }

// A pageTable is a table that can be sorted. Its first column names the rows.
type pageTable struct {
	Name  string
	Facts []string
	Heads []pageHead
	Rows  []pageRow
}

type pageHead struct {
	Text   string
	Number bool
}

type pageRow struct {
	Failed bool
	Cells  []pageCell
}

// A pageCell is sorted by its key, a decimal string, if its column is one of numbers.
type pageCell struct {
	Text, Key string
	Number    bool
	wrongDigits
}

// wrongDigits are those of a number, and what follows them.
type wrongDigits struct{ Wrong, Rest string }

// numberCell is a cell that is sorted by a number.
func numberCell(text, key string) pageCell { return pageCell{Text: text, Key: key, Number: true} }

// HTML writes the run as one page for a browser, which needs nothing else: a summary, pictures, a table for each data
// set, notes, phases and the environment. The tables can be sorted, numbers of any size as numbers; without scripts
// they are tables like others. Nothing that a record holds is taken for markup, and the page's policy lets no script
// run but its own.
func HTML(w io.Writer, run *record.Run, opts Options) error {
	all := groups(run)
	notes := newNotes(run, all, true)
	p := page{
		Title: "mpbench: " + pageTitle(run), Policy: pagePolicy(),
		Style: template.CSS(pageStyle), Script: template.JS(pageScript),
		Headline: headlineTable(all, opts), Notes: pageNotes(notes), Machine: notes.env,
	}
	p.Summary, p.Failed = pageSummary(run, all)
	columns := resultColumns(all, notes, opts, okColumn,
		numberColumn(memoryColumn(), func(r *record.Record) string { return positive(int(r.MatrixBytes)) }))
	for _, g := range all {
		p.Tables = append(p.Tables, resultTable(g, columns))
	}
	for _, env := range run.Environments {
		p.Environments = append(p.Environments, environmentFacts(env))
	}
	p.Phases = phaseTable(run)
	var err error
	if p.Figures, err = pageFigures(run, opts.Plot); err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	if err := pageTemplate.Execute(out, p); err != nil {
		return err
	}
	return out.Flush()
}

// pagePolicy forbids everything but the page's own style and script.
func pagePolicy() string {
	sum := sha256.Sum256([]byte(pageScript))
	return "default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-" +
		base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

func pageTitle(run *record.Run) string {
	var commands []string
	for _, r := range run.Records {
		if !slices.Contains(commands, r.Command) {
			commands = append(commands, r.Command)
		}
	}
	if len(commands) == 0 {
		return "no results"
	}
	return strings.Join(commands, ", ")
}

// pageSummary says how many results there are and whether all are within their bounds.
func pageSummary(run *record.Run, all []group) (text string, failed bool) {
	outside, unbounded := record.CountOutside(run.Records), 0
	methods := map[string]bool{}
	for _, r := range run.Records {
		methods[r.Method] = true
		if r.WithinBound == nil {
			unbounded++
		}
	}
	verdict := "all within their proved error bounds"
	switch {
	case outside > 0:
		verdict = fmt.Sprintf("%d outside the proved error bound", outside)
	case unbounded > 0:
		verdict = fmt.Sprintf("none outside a proved error bound, %d without one", unbounded)
	}
	return fmt.Sprintf("%s of %s on %s: %s.", plural(len(run.Records), "result", "results"),
		plural(len(methods), "method", "methods"),
		plural(len(all), "problem", "problems"), verdict), outside > 0
}

// pageNotes are the footnotes without the line on the environment, which the page has in full.
func pageNotes(n *notes) []string {
	lines := n.texts()
	if n.env != "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// pageFigures draws what opts asks for, or every kind that says something about the run.
func pageFigures(run *record.Run, opts plot.Options) ([]pageFigure, error) {
	opts.Inline = true
	kinds := []string{opts.Kind}
	if opts.Kind == "" || opts.Kind == plot.Auto {
		kinds = nil
		for _, k := range plot.Fitting(run) {
			kinds = append(kinds, k.Name)
		}
	}
	var list []pageFigure
	for _, kind := range kinds {
		opts.Kind = kind
		figure, err := plot.New(run, opts)
		if err != nil {
			return nil, err
		}
		var b strings.Builder
		if err := figure.WriteSVG(&b); err != nil {
			return nil, err
		}
		list = append(list, pageFigure{figure.Title, template.HTML(b.String())})
	}
	return list, nil
}

// number writes a float64 as a key.
func number(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// A pageColumn is a column with the decimal string that its cells are sorted by; a column of texts has no key.
type pageColumn struct {
	column
	key func(group, *record.Record) string
}

// numberColumn makes a column that is sorted by a number of the record alone.
func numberColumn(c column, key func(*record.Record) string) pageColumn {
	return pageColumn{c, func(_ group, r *record.Record) string { return key(r) }}
}

func resultTable(g group, columns []pageColumn) pageTable {
	name, facts := g.title()
	if exactName, exact := g.exact(); exact != "" {
		facts = append(facts, exactName+" "+exact)
	}
	t := pageTable{Name: name, Facts: facts}
	for _, c := range columns {
		t.Heads = append(t.Heads, pageHead{c.of(g).title(), c.key != nil})
	}
	for _, r := range g.records {
		row := pageRow{Failed: r.OutsideBound()}
		for _, c := range columns {
			cell := pageCell{Text: strings.Join(strings.Fields(c.cell(g, r)), " "), Number: c.key != nil}
			if c.id == valueID {
				cell.markWrong(r)
			}
			if c.key != nil {
				cell.Key = c.key(g, r)
			}
			row.Cells = append(row.Cells, cell)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// markWrong divides the value of a record at its first wrong digit.
func (c *pageCell) markWrong(r *record.Record) {
	text := c.Text
	if from, to := wrongFrom(text, r); from < to {
		c.Text, c.wrongDigits = text[:from], wrongDigits{text[from:to], text[to:]}
	}
}

// resultColumns are the columns that say something; ok compares with the bound, more stand in front of the samples.
func resultColumns(all []group, notes *notes, opts Options, ok column, more ...pageColumn) []pageColumn {
	count := func(value func(*record.Record) int) func(*record.Record) string {
		return func(r *record.Record) string { return strconv.Itoa(value(r)) }
	}
	columns := []pageColumn{{plainColumn("", "method", false, func(r *record.Record) string { return r.Method }), nil}}
	for _, c := range variants(all) {
		if c.right {
			key := func(r *record.Record) string { return strings.Trim(c.cell(group{}, r), none) }
			columns = append(columns, numberColumn(c, key))
		} else {
			columns = append(columns, pageColumn{c, nil})
		}
	}
	columns = append(columns,
		numberColumn(bitsColumn, count(func(r *record.Record) int { return r.PrecisionBits })),
		numberColumn(moduliColumn, func(r *record.Record) string { return positive(r.Moduli) }),
		numberColumn(valueColumn(), func(r *record.Record) string { return r.Value }),
		pageColumn{errorColumn, func(g group, r *record.Record) string { return g.pick(r.RelError, r.AbsError) }},
		numberColumn(plainColumn("correct", "bits", true, correctBits), bitsKey),
		pageColumn{boundColumn, func(g group, r *record.Record) string { return g.pick(r.Bound, r.AbsBound) }},
		pageColumn{ok, nil},
		numberColumn(timeColumn(opts.ASCII), timed(func(r *record.Record) float64 { return r.Time.Median })),
		numberColumn(ratioColumn(all, opts.ASCII), ratioCell(func(r *record.Ratio) float64 { return r.Median })),
		numberColumn(perElementColumn(), timed(perElementNs)),
		numberColumn(convertColumn(opts.ASCII),
			timed(func(r *record.Record) float64 { return r.Phases[record.PhaseConvert] })),
		numberColumn(oneShotColumn(opts.ASCII), timed((*record.Record).OneShotNs)),
		numberColumn(bandwidthColumn(), timed(func(r *record.Record) float64 { return r.Throughput.BytesPerSecond })),
		numberColumn(flopsColumn(), timed(flops)),
	)
	columns = append(append(columns, more...),
		numberColumn(alignmentsColumn, count(func(r *record.Record) int { return r.Alignments })),
		numberColumn(roundingsColumn, count(func(r *record.Record) int { return r.Roundings })),
		numberColumn(samplesColumn, count(func(r *record.Record) int { return len(r.Time.Samples) })),
		pageColumn{groupColumn("", "note", false, notes.column().cell), nil},
	)
	return slices.DeleteFunc(columns, func(c pageColumn) bool { return !saysSomething(c.column, all) })
}

func saysSomething(c column, all []group) bool {
	for g, r := range records(all) {
		if text := c.cell(g, r); text != none && text != "" {
			return true
		}
	}
	return false
}

// pick returns the relative or the absolute one of two numbers, whichever the group shows.
func (g group) pick(relative, absolute string) string {
	if g.zero && absolute != "" {
		return absolute
	}
	return relative
}

// bitsKey sorts exact results behind all others.
func bitsKey(r *record.Record) string {
	switch {
	case r.ExactResult:
		return "+Inf"
	case r.CorrectBits == nil:
		return ""
	}
	return number(*r.CorrectBits)
}

// headlineTable names for each problem the fastest method with enough correct digits and the most accurate one, of
// several the fastest.
func headlineTable(all []group, opts Options) pageTable {
	t := pageTable{Name: "Fastest with enough correct digits, and most accurate", Heads: []pageHead{
		{"problem", false}, {"condition number", true},
		{"correct digits, at least", true}, {"fastest with these", false}, {"time", true},
		{"most accurate", false}, {"correct bits", true}, {"time", true},
	}}
	for _, g := range all {
		fastest, digits := g.fastestWithEnough()
		best := g.mostAccurate()
		condition := numberCell(conditionText(g.first().Condition), g.first().Condition)
		if g.vector() {
			condition = numberCell(none, "")
		}
		cells := []pageCell{{Text: g.problem()}, condition, numberCell(count(digits), strconv.Itoa(digits))}
		cells = append(cells, methodCell(fastest), timeCell(fastest, opts))
		cells = append(cells, methodCell(best), accuracyCell(best), timeCell(best, opts))
		t.Rows = append(t.Rows, pageRow{Cells: cells})
	}
	return t
}

// breakable returns text that a narrow column breaks between parameters before it breaks words.
func breakable(text string) template.HTML {
	text = template.HTMLEscapeString(text)
	return template.HTML(strings.NewReplacer(", ", ", ", ":", ":<wbr>", ",", ",<wbr>").Replace(text))
}

// problem names the data set and its shape.
func (g group) problem() string {
	name, facts := g.title()
	for _, fact := range facts {
		if !strings.HasPrefix(fact, "condition") {
			name += ", " + fact
		}
	}
	return name
}

func methodCell(r *record.Record) pageCell {
	if r == nil {
		return pageCell{Text: none}
	}
	return pageCell{Text: fmt.Sprintf("%s, %d bits", r.Method, r.PrecisionBits)}
}

func timeCell(r *record.Record, opts Options) pageCell {
	if r == nil || !hasTime(r) {
		return numberCell(none, "")
	}
	return numberCell(strings.Join(strings.Fields(siTime(r.Time.Median, opts.ASCII)), " "), number(r.Time.Median))
}

func accuracyCell(r *record.Record) pageCell {
	if r == nil {
		return numberCell(none, "")
	}
	return numberCell(correctBits(r), bitsKey(r))
}

// phaseTable has a column for each phase that takes time in some record.
func phaseTable(run *record.Run) pageTable {
	t := pageTable{Name: "Phases",
		Facts: []string{"medians; phases beside convert, h2d, kernel and d2h are parts of kernel"},
		Heads: []pageHead{{"method", false}, {"bits", true}, {"problem", false}}}
	union := record.Phases{}
	for _, r := range run.Records {
		for name, ns := range r.Phases {
			if ns > 0 {
				union[name] = ns
			}
		}
	}
	var names []string
	for _, name := range union.Names() {
		if union[name] > 0 {
			names = append(names, name)
			t.Heads = append(t.Heads, pageHead{name, true})
		}
	}
	for i := range run.Records {
		r := &run.Records[i]
		if !slices.ContainsFunc(names, func(name string) bool { return r.Phases[name] > 0 }) {
			continue
		}
		cells := []pageCell{{Text: r.Method}, numberCell(strconv.Itoa(r.PrecisionBits), strconv.Itoa(r.PrecisionBits)),
			{Text: group{records: []*record.Record{r}}.problem()}}
		for _, name := range names {
			cell := numberCell(none, "")
			if ns := r.Phases[name]; ns > 0 {
				cell = numberCell(strings.Join(strings.Fields(siTime(ns, false)), " "), number(ns))
			}
			cells = append(cells, cell)
		}
		t.Rows = append(t.Rows, pageRow{Cells: cells})
	}
	return t
}

// environmentFacts describes an environment; what is not known is left out.
func environmentFacts(env record.Environment) []pageFact {
	var facts []pageFact
	add := func(name, value string) {
		if value != "" && value != "0" {
			facts = append(facts, pageFact{name, value})
		}
	}
	add("processor", env.CPU.Brand)
	add("vector unit", env.CPU.SIMD)
	add("cores", strconv.Itoa(env.CPU.Cores))
	add("threads", strconv.Itoa(env.Threads))
	for _, cache := range []struct {
		name  string
		bytes int
	}{{"L1 data cache", env.CPU.L1D}, {"L2 cache", env.CPU.L2}, {"L3 cache", env.CPU.L3}} {
		if cache.bytes > 0 {
			add(cache.name, fmt.Sprintf("%d KiB", cache.bytes>>10))
		}
	}
	if env.MemoryBytes > 0 {
		add("memory", fmt.Sprintf("%.1f GiB", float64(env.MemoryBytes)/(1<<30)))
	}
	for _, gpu := range env.GPUs {
		add(gpu.Device, strings.TrimSpace(fmt.Sprintf("%s, driver %s, compute capability %s", gpu.Name, gpu.Driver,
			gpu.Compute)))
	}
	add("system", env.OS)
	add("kernel", env.Kernel)
	if env.Virtual {
		add("virtual", "yes")
	}
	add("governor", env.Governor)
	if env.LoadAverage > 0 {
		add("load average", fmt.Sprintf("%.2f", env.LoadAverage))
	}
	add("Go", strings.TrimSpace(env.Go.Version+" "+env.Go.OS+"/"+env.Go.Arch+" "+env.Go.Level))
	add("tags", env.Go.Tags)
	add("GODEBUG", env.Go.Debug)
	add("version", env.Program.Version)
	commit := env.Program.Commit
	if env.Program.Modified {
		commit += " with changes"
	}
	add("commit", commit)
	if !env.Time.IsZero() {
		add("time", env.Time.UTC().Format(time.RFC3339))
	}
	add("id", env.ID)
	return facts
}
