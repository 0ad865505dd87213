package datasets

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"mpbench/internal/suggest"
)

// Spec is a checked data set specification: a set and the parameters that were written out.
type Spec struct {
	set    *Set
	values []string // one for each of set.Params, "" where it was not given
	n      int      // 0 where it was not given
	seed   *uint64  // nil where it was not given
}

// Parse reads "name" or "name:key=value,..." and checks it against the sets of the family.
func (f *Family) Parse(text string) (Spec, error) {
	name, params, hasParams := strings.Cut(strings.TrimSpace(text), ":")
	set, err := f.Lookup(name)
	if err != nil {
		return Spec{}, err
	}
	s := Spec{set: set, values: make([]string, len(set.Params))}
	if !hasParams {
		return s, nil
	}
	for _, pair := range strings.Split(params, ",") {
		if err := s.assign(strings.TrimSpace(pair)); err != nil {
			return Spec{}, usagef("%s: %s", set.Name, err)
		}
	}
	return s, nil
}

// assign takes one "key=value".
func (s *Spec) assign(pair string) error {
	key, value, ok := strings.Cut(pair, "=")
	if !ok {
		return usagef("%q is not of the form key=value (keys: %s)", pair, strings.Join(s.set.paramNames(), " "))
	}
	twice := false
	var err error
	switch i := s.set.param(key); {
	case i >= 0:
		twice = s.values[i] != ""
		s.values[i], err = s.set.Params[i].canonical(value)
	case key == "n":
		twice = s.n != 0
		s.n, err = ParseCount(value)
	case key == "seed" && s.set.Seeded:
		twice = s.seed != nil
		var seed uint64
		seed, err = parseSeed(value)
		s.seed = &seed
	default:
		return usagef("%s", suggest.Unknown("parameter", key, s.set.paramNames()))
	}
	if err == nil && twice {
		err = usagef("%s is given twice", key)
	}
	return err
}

// ParseList reads specs separated by commas. A comma is also what separates the parameters of one spec: an item
// with an equals sign but no colon before it belongs to the spec that began earlier, so that
// "mcnamee1,zhuhayes3:delta=2000,n=1000,uniform01" is three specs.
func (f *Family) ParseList(text string) ([]Spec, error) {
	var specs []Spec
	for _, item := range splitList(text) {
		s, err := f.Parse(item)
		if err != nil {
			return nil, err
		}
		specs = append(specs, s)
	}
	return specs, nil
}

// Continue lists what may follow the last comma or colon of the beginning of a list of specs: names of sets, and
// parameters with an equals sign of the spec that has begun.
func (f *Family) Continue(text string) (list []string) {
	items := splitList(text)
	last := items[len(items)-1]
	name, _, begun := strings.Cut(last, ":")
	if !begun && len(items) > 1 { // a parameter without its equals sign looks like a set
		name, _, begun = strings.Cut(items[len(items)-2], ":")
	}
	if set, err := f.Lookup(name); begun && err == nil {
		for _, p := range set.paramNames() {
			list = append(list, p+"=")
		}
	}
	if strings.LastIndexByte(text, ':') <= strings.LastIndexByte(text, ',') {
		list = append(list, f.Names()...)
	}
	return list
}

// Parameters lists the parameters of all sets, with equals signs, each once.
func (f *Family) Parameters() (list []string) {
	for _, s := range f.sets {
		for _, p := range s.paramNames() {
			list = append(list, p+"=")
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// splitList cuts a list of specs at the commas that separate specs.
func splitList(text string) []string {
	var items []string
	for _, part := range strings.Split(text, ",") {
		equals := strings.IndexByte(part, '=')
		colon := strings.IndexByte(part, ':')
		last := len(items) - 1
		if last >= 0 && equals >= 0 && (colon < 0 || colon > equals) && strings.Contains(items[last], ":") {
			items[last] += "," + part
			continue
		}
		items = append(items, part)
	}
	return items
}

// Set returns the row of the registry that the spec names.
func (s Spec) Set() *Set { return s.set }

// String returns the spec with the parameters that were given, in the registry's order and in canonical form.
func (s Spec) String() string {
	var given []Arg
	for i, v := range s.values {
		if v != "" {
			given = append(given, Arg{s.set.Params[i].Name, v})
		}
	}
	if s.n != 0 {
		given = append(given, Arg{"n", strconv.Itoa(s.n)})
	}
	if s.seed != nil {
		given = append(given, Arg{"seed", strconv.FormatUint(*s.seed, 10)})
	}
	return joinSpec(s.set.Name, given)
}

// value returns a parameter's value, given or default.
func (s Spec) value(name string) string {
	i := s.set.param(name)
	if i < 0 {
		panic("datasets: " + s.set.Name + " has no parameter " + name)
	}
	if s.values[i] != "" {
		return s.values[i]
	}
	return s.set.Params[i].Default
}

// Arg is one parameter with its value in canonical form.
type Arg struct{ Name, Value string }

func joinSpec(name string, args []Arg) string {
	var b strings.Builder
	b.WriteString(name)
	for i, a := range args {
		if i == 0 {
			b.WriteByte(':')
		} else {
			b.WriteByte(',')
		}
		b.WriteString(a.Name + "=" + a.Value)
	}
	return b.String()
}

// Kind is the type of a parameter's value.
type Kind uint8

// The kinds of parameters.
const (
	Int    Kind = iota // an integer from Min to Max
	Real               // a float64 from Min to Max
	Choice             // one of Choices
)

// Param declares one parameter of a data set.
type Param struct {
	Name    string
	Meaning string
	Default string // in canonical form
	Kind    Kind
	Min     float64 // Int and Real
	Max     float64
	Choices []string // Choice
}

// Range says in words which values are right, for example "an integer from 0 to 2000".
func (p Param) Range() string {
	switch p.Kind {
	case Int:
		return fmt.Sprintf("an integer from %.0f to %.0f", p.Min, p.Max)
	case Real:
		return fmt.Sprintf("a number from %g to %g", p.Min, p.Max)
	}
	return strings.Join(p.Choices, ", ")
}

// canonical checks a value and returns it in the one form that it has in records.
func (p Param) canonical(text string) (string, error) {
	wrong := usagef("%s=%s: want %s", p.Name, text, p.Range())
	switch p.Kind {
	case Int:
		v, err := strconv.ParseInt(text, 10, 64)
		if err != nil || float64(v) < p.Min || float64(v) > p.Max {
			return "", wrong
		}
		return strconv.FormatInt(v, 10), nil
	case Real:
		v, err := strconv.ParseFloat(text, 64)
		if err != nil || !(v >= p.Min && v <= p.Max) { // NaN is neither
			return "", wrong
		}
		return strconv.FormatFloat(v, 'g', -1, 64), nil
	}
	if slices.Contains(p.Choices, text) {
		return text, nil
	}
	if near, ok := suggest.Nearest(text, p.Choices); ok {
		return "", usagef("%s=%s: did you mean %s? (one of: %s)", p.Name, text, near, p.Range())
	}
	return "", usagef("%s=%s: want one of: %s", p.Name, text, p.Range())
}

// MaxN is the largest number of terms that a data set can have.
const MaxN = 1 << 40

// ParseCount reads a number of terms, from 1 to MaxN: "1000000", "1e6", "10^6" or "2^20".
func ParseCount(text string) (int, error) {
	wrong := usagef("n=%s: want an integer from 1 to 2^40, as 1000000, 1e6, 10^6 or 2^20", text)
	if base, exponent, ok := strings.Cut(text, "^"); ok {
		b, err1 := strconv.ParseUint(base, 10, 16)
		e, err2 := strconv.ParseUint(exponent, 10, 6) // at most 63
		if err1 != nil || err2 != nil {
			return 0, wrong
		}
		p := new(big.Int).Exp(new(big.Int).SetUint64(b), new(big.Int).SetUint64(e), nil)
		if p.Sign() == 0 || p.Cmp(big.NewInt(MaxN)) > 0 {
			return 0, wrong
		}
		return int(p.Int64()), nil
	}
	if n, err := strconv.Atoi(text); err == nil {
		if n < 1 || n > MaxN {
			return 0, wrong
		}
		return n, nil
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || !(f >= 1 && f <= MaxN) || f != math.Trunc(f) {
		return 0, wrong
	}
	return int(f), nil
}

// parseSeed reads a seed, any unsigned 64-bit integer.
func parseSeed(text string) (uint64, error) {
	seed, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0, usagef("seed=%s: want an integer from 0 to 2^64 - 1", text)
	}
	return seed, nil
}
