package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"mpbench/datasets"
	"mpbench/internal/suggest"
	"mpbench/pkg/check"
	"mpbench/pkg/measure"
	"mpbench/pkg/method"
	"mpbench/pkg/op"
	"mpbench/pkg/record"
)

// givenBits is the precision that units of the last place of given values are those of.
const givenBits = 53

// given are values of a file, to be compared with the exact result of what against names.
type given struct {
	check *check.Check
	path  string // of the plan
	operands
}

// givenRecord compares the values of a check with the exact ones.
func givenRecord(ctx context.Context, plan string, c *check.Check) (record.Record, error) {
	g := given{check: c, path: plan}
	if err := g.parseAgainst(); err != nil {
		return record.Record{}, err
	}
	reading, err := datasets.ParseReading(g.reading)
	if err != nil {
		return record.Record{}, placed(plan, c.Reading, err.Error())
	}
	m, err := g.within()
	if err != nil {
		return record.Record{}, err
	}
	values, err := datasets.Load(c.Values.Value, reading)
	if err != nil {
		return record.Record{}, err
	}
	if g.op.Scalar && values.N != 1 {
		return record.Record{}, inputOutputf("%s holds %d numbers; the result of %s is one", c.Values.Value, values.N, g.op.Name)
	}
	in, err := g.load(ctx)
	if err != nil {
		return record.Record{}, err
	}
	if n := in.Reference.Shape.Components; values.N != n {
		return record.Record{}, inputOutputf("%s holds %d numbers; the result has %d", c.Values.Value, values.N, n)
	}
	var limit measure.Limit
	if m != nil {
		limit, err = in.Limit(ctx, *m, method.Config{Precision: givenBits, MaxBytes: memoryLimit()})
		if err != nil {
			return record.Record{}, err
		}
	}
	name := measure.Given{Name: filepath.Base(c.Values.Value), Format: check.GivenFormat, Bits: givenBits}
	return in.Given(name, values.X.Source, limit)
}

// parseAgainst reads "sum:FILE", "gemv:MATRIX,VECTOR" or "sum:DATA SET".
func (g *given) parseAgainst() error {
	against := g.check.Against
	name, list, ok := strings.Cut(against.Value, ":")
	if !ok || list == "" {
		return placed(g.path, against, "want "+againstForms()+", or a data set, as sum:mcnamee1")
	}
	o, ok := op.Lookup(name)
	if !ok {
		return placed(g.path, against, suggest.Unknown("command", name, check.Commands))
	}
	g.operands = newOperands(o)
	g.transpose = g.check.Transpose
	if g.check.Reading.Value != "" {
		g.reading = g.check.Reading.Value
	}
	files := strings.Split(list, ",")
	if !check.IsFile(files[0]) {
		g.dataset = list // the commas are those of a data set
		return nil
	}
	arrays := inputsOf(o)
	if len(files) != len(arrays) {
		return placed(g.path, against, fmt.Sprintf("names %s; want %d", record.Count(len(files), "file"), len(arrays)))
	}
	for i, a := range arrays {
		g.files[a.Name] = []string{files[i]}
	}
	return nil
}

// inputsOf returns the arrays that an operation reads with the default factors.
func inputsOf(o *op.Operation) (list []op.Operand) {
	for _, a := range o.Arrays() {
		if !a.Optional {
			list = append(list, a)
		}
	}
	return list
}

// againstForms says what --against takes: "sum:FILE, dot:FILE,FILE or gemv:MATRIX,FILE".
func againstForms() string {
	var forms []string
	for _, o := range op.All() {
		var files []string
		for _, a := range inputsOf(o) {
			if a.Kind == op.Matrix {
				files = append(files, "MATRIX")
			} else {
				files = append(files, "VECTOR")
			}
		}
		forms = append(forms, o.Name+":"+strings.Join(files, ","))
	}
	return strings.Join(forms, ", ")
}

// load returns the problem.
func (g *given) load(ctx context.Context) (loaded, error) {
	sources, err := g.sources(0)
	if err != nil {
		return loaded{}, placed(g.path, g.check.Against, err.Error())
	}
	if len(sources) != 1 {
		return loaded{}, placed(g.path, g.check.Against, fmt.Sprintf("names %d data sets; want one", len(sources)))
	}
	return sources[0].load(ctx)
}

// within returns the method whose bound is asked for, nil for none.
func (g *given) within() (*method.Method, error) {
	limit := g.check.Limits.WithinMethod
	if limit == nil {
		return nil, nil
	}
	chosen, err := chooseMethods(limit.Value, catalog.Of(g.op))
	if err == nil && len(chosen) == 1 {
		return &chosen[0], nil
	}
	text := "want one method"
	if err != nil {
		text = err.Error()
	}
	return nil, placed(g.path, check.Setting{Key: "within", Value: limit.Value, Line: limit.Line}, text)
}

// placed is an error about a setting: of a plan with file and line, of the command line with its flag.
func placed(plan string, s check.Setting, text string) error {
	if plan == "" {
		return usagef("--%s %s: %s", s.Key, s.Value, text)
	}
	return &check.Error{Path: plan, Line: s.Line, Key: s.Key, Text: text}
}
