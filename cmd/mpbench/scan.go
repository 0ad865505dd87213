package main

import (
	"cmp"
	"math/big"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"mpbench/datasets"
	"mpbench/internal/suggest"
)

// scan is one -L name=values: a flag, or a parameter of the data sets, and the values it takes in turn.
type scan struct {
	name   string
	values []string
}

// maxScanValues bounds the values of one scan, so that a slip does not plan a year of work.
const maxScanValues = 10_000

// parseScan reads "name=values": values separated by commas, each of them one value or a range from..to,
// from..to:xFACTOR or from..to:+STEP. Numbers are written as 1000, 1e6, 10^6, 2^20 or 0.5; without a step, a range
// goes up by the factor 2 if it begins or ends with a power 2^k, otherwise by the factor 10.
func parseScan(text string) (scan, error) {
	name, list, ok := strings.Cut(text, "=")
	if !ok || name == "" || list == "" {
		return scan{}, usagef("-L %s: want name=values, as -L n=2^10..2^20:x4 or -L method=reduce1,reduce2", text)
	}
	s := scan{name: name}
	for _, item := range strings.Split(list, ",") {
		from, to, isRange := strings.Cut(item, "..")
		if !isRange {
			s.values = append(s.values, item)
			continue
		}
		values, err := expandRange(from, to)
		if err != nil {
			return scan{}, usagef("-L %s: %s: %v", text, item, err)
		}
		s.values = append(s.values, values...)
	}
	if len(s.values) > maxScanValues {
		return scan{}, usagef("-L %s: %d values; at most %d", text, len(s.values), maxScanValues)
	}
	return s, nil
}

// expandRange lists the values of from..to[:step].
func expandRange(from, to string) ([]string, error) {
	to, step, hasStep := strings.Cut(to, ":")
	first, ok1 := parseNumber(from)
	last, ok2 := parseNumber(to)
	if !ok1 || !ok2 {
		return nil, usagef("want numbers, as 1000, 1e6, 10^6 or 2^20")
	}
	next, err := stepOf(step, hasStep, strings.HasPrefix(from, "2^") || strings.HasPrefix(to, "2^"), first)
	if err != nil {
		return nil, err
	}
	if first.Cmp(last) > 0 {
		return nil, usagef("a range goes upwards")
	}
	var values []string
	for x := first; x.Cmp(last) <= 0; x = next(x) {
		values = append(values, formatNumber(x))
		if len(values) > maxScanValues {
			return nil, usagef("more than %d values", maxScanValues)
		}
	}
	return values, nil
}

// stepOf returns the function from one value of a range to the next.
func stepOf(step string, hasStep, binary bool, first *big.Rat) (func(*big.Rat) *big.Rat, error) {
	if !hasStep {
		step = "x10"
		if binary {
			step = "x2"
		}
	}
	size, ok := parseNumber(strings.TrimLeft(step, "x+"))
	switch {
	case ok && strings.HasPrefix(step, "x") && size.Cmp(big.NewRat(1, 1)) > 0 && first.Sign() > 0:
		return func(x *big.Rat) *big.Rat { return new(big.Rat).Mul(x, size) }, nil
	case ok && strings.HasPrefix(step, "+") && size.Sign() > 0:
		return func(x *big.Rat) *big.Rat { return new(big.Rat).Add(x, size) }, nil
	}
	return nil, usagef("step %q: want xFACTOR above x1 (from a positive number), or +STEP above 0", step)
}

// parseNumber reads a decimal number or a power BASE^EXPONENT.
func parseNumber(text string) (*big.Rat, bool) {
	if base, exponent, ok := strings.Cut(text, "^"); ok {
		b, err1 := strconv.ParseInt(base, 10, 16)
		e, err2 := strconv.ParseUint(exponent, 10, 10)
		if err1 != nil || err2 != nil {
			return nil, false
		}
		return new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(b), new(big.Int).SetUint64(e), nil)), true
	}
	if _, err := strconv.ParseFloat(text, 64); err != nil { // which bounds the exponent, and with it the rational
		return nil, false
	}
	return new(big.Rat).SetString(text)
}

// formatNumber writes integers below 10^15 in full and other numbers as the nearest float64.
func formatNumber(x *big.Rat) string {
	if x.IsInt() && x.Num().IsInt64() && x.Num().CmpAbs(big.NewInt(1e15)) < 0 {
		return x.Num().String()
	}
	f, _ := x.Float64()
	return strconv.FormatFloat(f, 'g', -1, 64)
}

func parseScans(texts []string) ([]scan, error) {
	var list []scan
	for _, text := range texts {
		s, err := parseScan(text)
		if err != nil {
			return nil, err
		}
		list = append(list, s)
	}
	return list, nil
}

// plan lists the jobs of all combinations of the scans' values. All that can be wrong with the options is found here.
func (o operationOptions) plan(scans []scan) ([]job, error) {
	combinations, err := o.combine(scans)
	if err != nil {
		return nil, err
	}
	var all []job
	for _, c := range combinations {
		more, err := c.jobs()
		if err != nil {
			return nil, err
		}
		all = append(all, more...)
	}
	return arrange(all), nil
}

// combine returns the options for every combination of the scans' values; the last scan varies fastest.
func (o operationOptions) combine(scans []scan) ([]operationOptions, error) {
	list := []operationOptions{o}
	for _, s := range scans {
		var next []operationOptions
		for _, base := range list {
			for _, value := range s.values {
				c, err := base.with(s.name, value)
				if err != nil {
					return nil, err
				}
				next = append(next, c)
			}
		}
		if list = next; len(list) > maxScanValues {
			return nil, usagef("the scans make more than %d combinations", maxScanValues)
		}
	}
	return list, nil
}

// setByScan sets one of the flags of addFlags, or else a parameter of those specs, which *sets lists, that have it.
func setByScan(addFlags func(*pflag.FlagSet), specs []datasets.Spec, sets *string, name, value string) error {
	flags := pflag.NewFlagSet("scan", pflag.ContinueOnError)
	addFlags(flags)
	if f := flags.Lookup(name); f != nil {
		if err := cmp.Or(flags.Set(name, value), checkEmpty(flags)); err != nil {
			return usagef("-L %s=%s: want %s", name, value, wanted(f.Value.Type()))
		}
		return nil
	}
	var texts, names []string
	found := false
	flags.VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	for _, s := range specs {
		text := s.String()
		for _, p := range s.Set().Params {
			names = append(names, p.Name)
			if p.Name == name {
				found = true
				text = withParameter(text, name, value)
			}
		}
		texts = append(texts, text)
	}
	if !found {
		return usagef("-L: %s", suggest.Unknown("flag or data set parameter", name, names))
	}
	*sets = strings.Join(texts, ",")
	return nil
}
