package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"mpbench/datasets"
	"mpbench/pkg/measure"
	"mpbench/pkg/numbers"
	"mpbench/pkg/op"
	"mpbench/pkg/outofcore"
	"mpbench/pkg/record"
)

// operands is where the numbers of an operation come from: data sets or files, how they are laid out, and factors.
type operands struct {
	op      *op.Operation
	dataset string
	seed    uint64
	m, n, k string
	files   map[string][]string // by the name of the array; several files where there is one array
	factors map[string]string   // by the name of the number
	reading string

	transpose, transposeB, full bool
	uplo, diag                  string
	strides                     map[string]int // leading dimensions and increments, by the name of the array
	stream                      bool
	state                       string // the file that keeps what a stream has added
	dtype                       string // of files without a header
	offset                      int64

	notices *notices // of what is left out
}

// newOperands returns the defaults.
func newOperands(o *op.Operation) operands {
	s := operands{op: o, notices: &notices{}, seed: 1, reading: datasets.Double.String(), uplo: "U", diag: "N"}
	s.files, s.factors, s.strides = map[string][]string{}, map[string]string{}, map[string]int{}
	for _, operand := range o.Operands {
		switch operand.Kind {
		case op.Number:
			s.factors[operand.Name] = operand.Default
		case op.Vector:
			s.strides[operand.Name] = 1
		case op.Matrix:
			s.strides[operand.Name] = 0
		}
	}
	return s
}

// clone returns operands that can be changed.
func (o operands) clone() operands {
	o.files, o.factors, o.strides = maps.Clone(o.files), maps.Clone(o.factors), maps.Clone(o.strides)
	return o
}

// standard is what is measured where the user names no data: sets, and how many terms or columns they have if they
// leave it open.
type standard struct {
	sets string
	n    int
}

// standards are for each family a well-conditioned set and an ill-conditioned one, of which methods get different
// numbers of digits; the first one of vectors is of the 2018 paper.
var standards = map[*datasets.Family]standard{
	datasets.Vectors:  {"mcnamee1,uniform01,gensum:cond=1e25", 100_000},
	datasets.Pairs:    {"uniform11,gendot:cond=1e25", 20_000},
	datasets.Matrices: {"uniform11,gengemv:cond=1e20", 200},
	datasets.Products: {"uniform11,blockcancel", 40},
	datasets.Sparses:  {"brusselator,convdiff,dominant", 0},
}

// fewElements is how many elements data sets have, unless another number is asked for, in operations on elements, each
// of which is compared with its exact result.
const fewElements = 10_000

// standard returns what is measured where the user names no data.
func (o *operands) standard() standard {
	if !o.op.Scalar && !o.op.Has(op.Matrix) {
		return standard{"uniform11", fewElements}
	}
	return standards[o.family()]
}

// usual tells whether the standard data are measured.
func (o *operands) usual() bool { return o.dataset == "" && len(o.files) == 0 }

func (o *operands) family() *datasets.Family { return datasets.For(o.op) }

// addFlags declares the flags with o's present values as defaults; the data sets have theirs with the methods.
func (o *operands) addFlags(f *pflag.FlagSet) {
	matrix := o.op.Has(op.Matrix)
	if matrix {
		switch {
		case o.op.Storage == op.Full:
			f.StringVar(&o.m, "m", o.m, "rows of A (default as many as columns)")
		case o.op.Storage.Triangle():
			f.StringVar(&o.uplo, "uplo", o.uplo, "the triangle of A that is read: U, the upper one, or L")
		}
		f.StringVarP(&o.n, "n", "n", o.n, fmt.Sprintf("columns of A (default %d; %d if no data set is named)",
			o.family().Sets()[0].DefaultN, o.standard().n))
		if o.op.Matrices() > 1 {
			f.StringVarP(&o.k, "k", "k", o.k, "columns of op(B) (default as many as rows of op(A))")
			f.BoolVar(&o.transposeB, "transpose-b", o.transposeB, "multiply by the transpose of B")
		}
		if o.op.Storage == op.Triangular {
			f.StringVar(&o.diag, "diag", o.diag, "U where the diagonal of A is ones, which are not read, or N")
		}
		if o.op.Storage != op.Symmetric {
			f.BoolVarP(&o.transpose, "transpose", "t", o.transpose, "multiply by the transpose of A")
		}
		if o.op.Storage != op.Sparse {
			f.BoolVar(&o.full, "full", o.full, "numbers of as many bits as the precision, in data sets that have them")
		}
	}
	for _, operand := range o.op.Operands {
		if operand.Kind == op.Number {
			f.Var(&entryFlag[string]{o.factors, operand.Name, "float", parseText}, operand.Name, operand.Usage)
		}
	}
	if matrix {
		o.addStrides(f)
	}
	o.addFiles(f)
	o.addRaw(f)
	if outofcore.Supports(o.op) {
		f.StringVar(&o.state, "state", o.state,
			"with --stream, keep in `file` every 10 s what has been added; the same command goes on from there")
	}
	f.StringVar(&o.reading, "reading", o.reading,
		"decimals of at most 17 digits, in a text file or as a factor: double or exact")
	if !matrix {
		f.StringVarP(&o.n, "n", "n", o.n, fmt.Sprintf(
			"number of terms of the data sets that leave it open, as 1000000, 1e6 or 2^20\n"+
				"(default %d if no data set is named)",
			o.standard().n))
	}
}

// entryFlag is a flag whose value is an entry of a map.
type entryFlag[T any] struct {
	values map[string]T
	key    string
	kind   string // that help shows
	parse  func(string) (T, error)
}

func (t *entryFlag[T]) String() string { return fmt.Sprint(t.values[t.key]) }
func (t *entryFlag[T]) Type() string   { return t.kind }
func (t *entryFlag[T]) Set(text string) error {
	x, err := t.parse(text)
	if err != nil {
		return err
	}
	t.values[t.key] = x
	return nil
}

func parseText(text string) (string, error) { return text, nil }

func parseInteger(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0, fmt.Errorf("want an integer")
	}
	return n, nil
}

type source struct {
	key      string // the same for the same problem
	fromFile bool
	// outline returns the problem before it is loaded: of a data set without numbers, nil where its extents are not
	// known; of a file it finds what would make load fail.
	outline func() (*op.Problem, error)
	open    func(context.Context) (opened, error)
}

// opened is a problem without its exact result, in memory, or in a file that is open.
type opened struct {
	problem  *op.Problem
	dataset  func() record.Dataset // once all numbers have been read
	warnings []record.Warning
	failed   func() error // of reading; nil for numbers in memory
	close    func() error // nil where there is nothing to be closed
}

// load computes the exact result.
func (s source) load(ctx context.Context) (loaded, error) { return s.loadBy(ctx, measure.NewInput) }

// loadBy is load with what computes the exact result.
func (s source) loadBy(
	ctx context.Context, input func(record.Dataset, *op.Problem) (measure.Input, error),
) (loaded, error) {
	d, err := s.open(ctx)
	if err != nil {
		return loaded{}, err
	}
	in, err := input(record.Dataset{}, d.problem)
	if d.failed != nil {
		err = cmp.Or(err, ctx.Err(), d.failed())
	}
	l := loaded{in, d.close}
	if err != nil {
		return loaded{}, cmp.Or(err, l.Close())
	}
	l.Dataset, l.Warnings = d.dataset(), d.warnings
	return l, nil
}

// loaded is a problem in memory, or in a file that is open.
type loaded struct {
	measure.Input
	close func() error
}

func (l loaded) Close() error {
	if l.close == nil {
		return nil
	}
	return l.close()
}

// specs returns the data sets: those that are named, or the standard ones where no file is.
func (o *operands) specs() ([]datasets.Spec, error) {
	if o.dataset != "" {
		return o.family().ParseList(o.dataset)
	}
	if len(o.files) > 0 {
		return nil, nil
	}
	specs, err := o.family().ParseList(o.standard().sets)
	if o.n == "" || err != nil {
		return specs, err
	}
	return slices.DeleteFunc(specs, func(s datasets.Spec) bool {
		if s.Fixed() {
			o.notices.add("%s, which has its own number of terms (--n %s)", s, o.n)
		}
		return s.Fixed()
	}), nil
}

// sizeFlag is a flag for an extent of the data sets.
type sizeFlag struct{ name, text string }

// sizes lists the flags for extents that are given.
func (o *operands) sizes() []sizeFlag {
	all := []sizeFlag{{"n", o.n}, {"m", o.m}, {"k", o.k}}
	return slices.DeleteFunc(all, func(f sizeFlag) bool { return f.text == "" })
}

// checkSize finds out that flags for extents apply to a data set, and that there is memory for numbers and padding.
func (o *operands) checkSize(s datasets.Spec, general datasets.Options) error {
	for _, f := range o.sizes() {
		if s.Gives(f.name) {
			return usagef("--%s %s does not apply to %s, which says it itself", f.name, f.text, s)
		}
	}
	extents, err := s.Extents(general)
	if err != nil {
		return err
	}
	return o.checkLayouts(extents)
}

// checkFilesSize finds out that flags for extents are not meant for files, which are read whole.
func (o *operands) checkFilesSize() error {
	for _, f := range o.sizes() {
		for _, a := range o.op.Arrays() {
			if list := o.files[a.Name]; len(list) > 0 {
				return usagef("--%s %s does not apply to %s; files are read whole", f.name, f.text, list[0])
			}
		}
	}
	return nil
}

// sources returns the problems; bits is the precision, which matters with --full only.
func (o operands) sources(bits int) ([]source, error) {
	general, err := o.general(bits)
	if err == nil {
		o, err = o.withRaw()
	}
	if err != nil {
		return nil, err
	}
	reading, err := datasets.ParseReading(o.reading)
	if err != nil {
		return nil, err
	}
	switch {
	case o.uplo != "U" && o.uplo != "L":
		return nil, usagef("--uplo %s: want U or L", o.uplo)
	case o.diag != "N" && o.diag != "U":
		return nil, usagef("--diag %s: want N or U", o.diag)
	}
	for _, a := range o.op.Arrays() {
		if a.Kind == op.Vector && o.strides[a.Name] == 0 {
			return nil, usagef("--%s 0: want an increment that is not 0", strideName(a))
		}
	}
	factors, err := o.parseFactors(reading)
	if err != nil {
		return nil, err
	}
	specs, err := o.specs()
	if err != nil {
		return nil, err
	}
	if err := o.checkFilesSize(); err != nil {
		return nil, err
	}
	var list []source
	for _, s := range specs {
		options := o.options(s, general)
		if _, err := s.Extents(options); err != nil && o.usual() && len(list) > 0 { // no size for the second set
			o.notices.add("%v", err)
			continue
		}
		if err := o.checkSize(s, options); err != nil {
			return nil, err
		}
		open := o.opener(factors, func() (*datasets.Data, error) { return datasets.Generate(s, options) })
		outline := func() (*op.Problem, error) {
			d, err := s.Outline(options)
			if err != nil || d.X.Source == nil {
				return nil, err
			}
			return o.problem(d, factors)
		}
		list = append(list, source{key: o.specKey(s, options) + o.suffix(), outline: outline, open: open})
	}
	files, err := o.fileSources(reading, factors)
	return append(list, files...), err
}

// opener returns the function that makes a problem of data.
func (o operands) opener(
	factors map[string]numbers.Array, data func() (*datasets.Data, error),
) func(context.Context) (opened, error) {
	return func(context.Context) (opened, error) {
		d, err := data()
		if err != nil {
			return opened{}, err
		}
		p, err := o.problem(d, factors)
		return opened{problem: p, dataset: d.Record, warnings: headerWarnings(d)}, err
	}
}

// headerWarnings says which lines of files were skipped.
func headerWarnings(d *datasets.Data) []record.Warning {
	return mapped(d.Skipped, func(line string) record.Warning {
		return record.Warning{
			Code: record.WarnHeader, Text: "skipped as a header: " + line,
			Advice: "numbers begin with a sign, a digit or a point",
		}
	})
}

// general returns the options that all data sets take.
func (o operands) general(bits int) (general datasets.Options, err error) {
	general = datasets.Options{Seed: o.seed, Trans: o.transpose, TransX: o.transposeB}
	if o.full {
		general.Bits = bits
	}
	values := map[string]*int{"n": &general.N, "m": &general.M, "k": &general.K}
	for _, f := range o.sizes() {
		if *values[f.name], err = datasets.ParseCount(f.text); err != nil {
			return general, usagef("--%s %s: want an integer from 1 to 2^40, as 1000000, 1e6 or 2^20", f.name, f.text)
		}
	}
	return general, nil
}

// options returns the options of a data set, of which operations on elements have few unless it says how many.
func (o operands) options(s datasets.Spec, general datasets.Options) datasets.Options {
	open := general.N == 0 && !s.Fixed() && !s.Gives("n")
	switch few := !o.op.Scalar && !o.op.Has(op.Matrix); {
	case open && o.usual():
		general.N = o.standard().n
	case open && few:
		general.N = fewElements
	}
	return general
}

// parseFactors reads the factors, as numbers of text files are read.
func (o operands) parseFactors(reading datasets.Reading) (map[string]numbers.Array, error) {
	list := map[string]numbers.Array{}
	for name, text := range o.factors {
		x, err := datasets.ParseNumber(text, reading)
		if err != nil {
			return nil, usagef("--%s: %v", name, err)
		}
		list[name] = numbers.Vector(x)
	}
	return list, nil
}

// specKey names a data set with the general options.
func (o operands) specKey(s datasets.Spec, general datasets.Options) string {
	key := s.String()
	for _, p := range []struct {
		name  string
		value int
	}{{"n", general.N}, {"m", general.M}, {"k", general.K}, {"bits", general.Bits}} {
		if p.value != 0 {
			key = withParameter(key, p.name, strconv.Itoa(p.value))
		}
	}
	if s.Set().Seeded && o.seed != 1 {
		key = withParameter(key, "seed", strconv.FormatUint(o.seed, 10))
	}
	return key
}

// suffix says what a problem has beside its numbers.
func (o operands) suffix() (text string) {
	if o.transpose {
		text += " T"
	}
	if o.transposeB {
		text += " B^T"
	}
	if o.uplo != "U" {
		text += " uplo=" + o.uplo
	}
	if o.diag != "N" {
		text += " diag=" + o.diag
	}
	var factors string
	for _, operand := range o.op.Operands {
		if operand.Kind == op.Number {
			factors += " " + operand.Name + "=" + o.factors[operand.Name]
		}
	}
	if o.scaled() {
		text += factors
	}
	if o.laidOut() {
		for _, a := range o.laid() {
			text += fmt.Sprintf(" %s=%d", strideName(a), o.strides[a.Name])
		}
	}
	return text
}

func (o operands) problem(d *datasets.Data, factors map[string]numbers.Array) (*op.Problem, error) {
	p := d.Arrays(o.op)
	for name, x := range factors {
		*p.Operand(name) = x
	}
	if err := o.checkLayouts(d.Extents); err != nil {
		return nil, err
	}
	for _, l := range o.layouts(d.Extents) {
		if err := l.spread(p.Operand(l.array.Name)); err != nil {
			return nil, err
		}
	}
	p.Store(o.uplo == "U", o.diag == "U")
	return p, nil
}

// withParameter adds key=value to a spec, in place of an earlier value.
func withParameter(spec, key, value string) string {
	name, list, _ := strings.Cut(spec, ":")
	pairs := []string{key + "=" + value}
	for _, pair := range strings.Split(list, ",") {
		if pair != "" && !strings.HasPrefix(pair, key+"=") {
			pairs = append(pairs, pair)
		}
	}
	return name + ":" + strings.Join(pairs, ",")
}
