package main

import (
	"context"
	"fmt"
	"math/big"
	"path/filepath"
	"strings"

	"mpbench/datasets"
	"mpbench/internal/suggest"
	"mpbench/pkg/bench"
	"mpbench/pkg/check"
	"mpbench/pkg/exact"
	"mpbench/pkg/gemv"
	"mpbench/pkg/record"
	"mpbench/pkg/reduce"
)

// givenBits is the precision that units of the last place of given values are those of.
const givenBits = 53

// given are values of a file, to be compared with the exact result of what against names.
type given struct {
	check   *check.Check
	path    string // of the plan
	reading datasets.Reading
	name    bench.Given
	values  []exact.Value
	inputs  []string // of against: files, or one data set
}

// givenRecord compares the values of a check with the exact ones.
func givenRecord(_ context.Context, plan string, c *check.Check) (record.Record, error) {
	command, list, ok := strings.Cut(c.Against.Value, ":")
	if !ok || list == "" {
		return record.Record{}, placed(plan, c.Against, "want sum:FILE, dot:FILE,FILE or gemv:MATRIX,VECTOR, or a data set, as sum:mcnamee1")
	}
	reading, err := datasets.ParseReading(orDefault(c.Reading.Value, "double"))
	if err != nil {
		return record.Record{}, placed(plan, c.Reading, err.Error())
	}
	data, err := datasets.Load(c.Values.Value, reading)
	if err != nil {
		return record.Record{}, err
	}
	g := given{
		check: c, path: plan, reading: reading, inputs: strings.Split(list, ","),
		name:   bench.Given{Name: filepath.Base(c.Values.Value), Format: check.GivenFormat, Bits: givenBits},
		values: valuesOf(data),
	}
	if !check.IsFile(g.inputs[0]) {
		g.inputs = []string{list} // the commas are those of a data set
	}
	switch command {
	case "sum":
		return g.sum()
	case "dot":
		return g.dot()
	case "gemv":
		return g.gemv()
	}
	return record.Record{}, placed(plan, c.Against, suggest.Unknown("command", command, check.Commands))
}

// placed is an error about a setting: of a plan with file and line, of the command line with its flag.
func placed(plan string, s check.Setting, text string) error {
	if plan == "" {
		return usagef("--%s %s: %s", s.Key, s.Value, text)
	}
	return &check.Error{Path: plan, Line: s.Line, Key: s.Key, Text: text}
}

func orDefault(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

func valuesOf(d *datasets.Data) []exact.Value {
	list := make([]exact.Value, 0, d.N)
	for _, x := range d.Float64 {
		list = append(list, exact.FromFloat64(x))
	}
	for _, x := range d.Wide {
		list = append(list, exact.FromRat(x))
	}
	return list
}

// one returns the only value.
func (g given) one(what string) (exact.Value, error) {
	if len(g.values) != 1 {
		return exact.Value{}, inputOutputf("%s holds %d numbers; %s is one", g.check.Values.Value, len(g.values), what)
	}
	return g.values[0], nil
}

// files checks the number of inputs, and that all of them are files or the only one is a data set.
func (g given) files(n int) error {
	if check.IsFile(g.inputs[0]) && len(g.inputs) != n {
		return placed(g.path, g.check.Against, fmt.Sprintf("names %d files; want %d", len(g.inputs), n))
	}
	return nil
}

// within returns the method whose bound is asked for, nil for none.
func within[M any](g given, methods []M, name func(M) string) (*M, error) {
	limit := g.check.Limits.WithinMethod
	if limit == nil {
		return nil, nil
	}
	chosen, err := chooseMethods(limit.Value, methods, name)
	if err != nil || len(chosen) != 1 {
		text := "want one method"
		if err != nil {
			text = err.Error()
		}
		return nil, placed(g.path, check.Setting{Key: "within", Value: limit.Value, Line: limit.Line}, text)
	}
	return &chosen[0], nil
}

func (g given) sum() (record.Record, error) {
	value, err := g.one("a sum")
	if err != nil {
		return record.Record{}, err
	}
	if err := g.files(1); err != nil {
		return record.Record{}, err
	}
	s := source{path: g.inputs[0], reading: g.reading}
	if !check.IsFile(g.inputs[0]) {
		spec, err := datasets.Parse(g.inputs[0])
		if err != nil {
			return record.Record{}, placed(g.path, g.check.Against, err.Error())
		}
		s = source{spec: spec, options: datasets.Options{Seed: 1}}
	}
	data, err := s.load()
	if err != nil {
		return record.Record{}, err
	}
	in := bench.NewSumInput(data)
	m, err := within(g, sumMethods(), methodName)
	if err != nil || m == nil {
		return bench.GivenSum(g.name, value, in, nil), err
	}
	bound, err := bench.SumBound(*m, reduceDefaults(), in)
	return bench.GivenSum(g.name, value, in, bound), err
}

// reduceDefaults are the options of a method whose bound is asked for.
func reduceDefaults() reduce.Options {
	return reduce.Options{Precision: givenBits, Blocks: reduce.DefaultBlocks, BlockSize: reduce.DefaultBlockSize}
}

func (g given) dot() (record.Record, error) {
	value, err := g.one("a dot product")
	if err != nil {
		return record.Record{}, err
	}
	if err := g.files(2); err != nil {
		return record.Record{}, err
	}
	var in bench.DotInput
	if check.IsFile(g.inputs[0]) {
		data, err := loadPair(g.inputs[0], g.inputs[1], g.reading)
		if err != nil {
			return record.Record{}, err
		}
		in = data.(bench.DotInput)
	} else {
		spec, err := datasets.ParsePair(g.inputs[0])
		if err != nil {
			return record.Record{}, placed(g.path, g.check.Against, err.Error())
		}
		pair, err := datasets.GeneratePair(spec, datasets.Options{Seed: 1})
		if err != nil {
			return record.Record{}, err
		}
		in = bench.NewDotInput(pair)
	}
	m, err := within(g, dotMethods(), methodName)
	if err != nil || m == nil {
		return bench.GivenDot(g.name, value, in, nil), err
	}
	bound, err := bench.DotBound(*m, reduceDefaults(), in)
	return bench.GivenDot(g.name, value, in, bound), err
}

func (g given) gemv() (record.Record, error) {
	if err := g.files(2); err != nil {
		return record.Record{}, err
	}
	in, err := g.product()
	if err != nil {
		return record.Record{}, err
	}
	if rows := in.Problem.Rows(); len(g.values) != rows {
		return record.Record{}, inputOutputf("%s holds %d numbers; the product has %d", g.check.Values.Value, len(g.values), rows)
	}
	m, err := within(g, gemvMethods(), gemvName)
	if err != nil {
		return record.Record{}, err
	}
	var bound func(int) *big.Rat
	if m != nil {
		if bound, err = bench.GemvBound(*m, gemv.Options{Precision: givenBits, BlockSize: gemv.DefaultBlockSize}, in); err != nil {
			return record.Record{}, err
		}
	}
	return bench.GivenGemv(g.name, g.values, in, bound), nil
}

// product is the matrix-vector product with its exact result.
func (g given) product() (bench.GemvInput, error) {
	o := defaultGemvOptions()
	o.transpose = g.check.Transpose
	shape, err := o.shape()
	if err != nil {
		return bench.GemvInput{}, err
	}
	var d *datasets.Matrix
	if check.IsFile(g.inputs[0]) {
		o.inputA, o.inputX = g.inputs[0], g.inputs[1]
		d, err = o.loadFiles()
	} else {
		var spec datasets.Spec
		if spec, err = datasets.ParseMatrix(g.inputs[0]); err != nil {
			return bench.GemvInput{}, placed(g.path, g.check.Against, err.Error())
		}
		d, err = datasets.GenerateMatrix(spec, datasets.MatrixOptions{Seed: 1, Trans: o.transpose})
	}
	if err != nil {
		return bench.GemvInput{}, err
	}
	in, err := shape.input(d)
	if err != nil {
		return bench.GemvInput{}, err
	}
	return in.(bench.GemvInput), nil
}
