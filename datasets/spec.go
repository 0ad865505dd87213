package datasets

import (
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

// joinSpec writes a spec.
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
