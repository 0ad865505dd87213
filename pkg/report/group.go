package report

import (
	"fmt"
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

// vector reports whether the results are vectors: then each record's value, exact value and condition number are those of a
// component of its own.
func (g group) vector() bool { return g.first().Row != nil }

// groups puts the records of a run into groups, each in the order of first appearance.
func groups(run *record.Run) []group {
	var all []group
	index := map[string]int{}
	for i := range run.Records {
		r := &run.Records[i]
		key := fmt.Sprint(r.Command, "\x00", r.Dataset.Label(), "\x00", r.Dataset.SHA256, "\x00", r.Shape)
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
	if r.Shape.Trans != "" {
		facts = append(facts, "op(A) = "+map[string]string{"N": "A", "T": "A^T"}[r.Shape.Trans])
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
