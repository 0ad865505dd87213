package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"mpbench/datasets"
	"mpbench/pkg/measure"
	"mpbench/pkg/numbers"
	"mpbench/pkg/op"
	"mpbench/pkg/record"
)

// operands is where the numbers of an operation come from: data sets or files, how they are laid out, and factors.
type operands struct {
	op      *op.Operation
	dataset string
	seed    uint64
	m, n    string
	files   map[string][]string // by the name of the array; several files where there is one array
	factors map[string]string   // by the name of the number
	reading string

	transpose, full bool
	lda, incX, incY int
	stream          bool
}

// newOperands returns the defaults.
func newOperands(o *op.Operation) operands {
	s := operands{op: o, seed: 1, reading: datasets.Double.String(), incX: 1, incY: 1}
	s.files, s.factors = map[string][]string{}, map[string]string{}
	for _, operand := range o.Operands {
		if operand.Kind == op.Number {
			s.factors[operand.Name] = operand.Default
		}
	}
	return s
}

// clone returns operands that can be changed.
func (o operands) clone() operands {
	o.files, o.factors = maps.Clone(o.files), maps.Clone(o.factors)
	return o
}

// standardSets are the data sets of a family where the user names none: those of the 2018 paper and its timing data, a
// well-conditioned and an ill-conditioned pair, the timing data of the 2020 paper.
var standardSets = map[*datasets.Family]string{
	datasets.Vectors:  "mcnamee1,mcnamee2,mcnamee3,uniform01:n=1000000",
	datasets.Pairs:    "uniform11:n=1000000,gendot:cond=1e20",
	datasets.Matrices: "uniform11",
}

// standard returns the data sets of the operation where the user names none. Operations on elements, each of which is
// compared with its exact result, get fewer.
func (o *operands) standard() string {
	if !o.op.Scalar && !o.op.Has(op.Matrix) {
		return "uniform11:n=10000"
	}
	return standardSets[o.family()]
}

func (o *operands) family() *datasets.Family { return datasets.For(o.op) }

// addFlags declares the flags with o's present values as defaults; the data sets have theirs with the methods.
func (o *operands) addFlags(f *pflag.FlagSet) {
	matrix := o.op.Has(op.Matrix)
	if matrix {
		f.StringVar(&o.m, "m", o.m, "rows of A (default as many as columns)")
		f.StringVarP(&o.n, "n", "n", o.n, "columns of A (default 1000)")
		f.BoolVarP(&o.transpose, "transpose", "t", o.transpose, "multiply by the transpose of A")
		f.BoolVar(&o.full, "full", o.full, "numbers of as many bits as the precision, in data sets that have them")
	}
	for _, operand := range o.op.Operands {
		if operand.Kind == op.Number {
			f.Var(&textFlag{o.factors, operand.Name, "float"}, operand.Name, operand.Usage)
		}
	}
	if matrix {
		f.IntVar(&o.lda, "lda", o.lda, "leading dimension of A, which is stored by columns; 0 for m")
		f.IntVar(&o.incX, "incx", o.incX, "increment of x; negative from the end")
		f.IntVar(&o.incY, "incy", o.incY, "increment of y; negative from the end")
	}
	o.addFiles(f)
	if !matrix {
		f.StringVar(&o.reading, "reading", o.reading, "decimals of at most 17 digits in a text file: double or exact")
		f.StringVarP(&o.n, "n", "n", o.n, "number of terms of the data sets that leave it open, as 1000000, 1e6 or 2^20")
	}
}

// addFiles declares the flags that name files: --input for a single array, otherwise one for each.
func (o *operands) addFiles(f *pflag.FlagSet) {
	arrays := o.op.Arrays()
	for _, a := range arrays {
		what := a.Usage + ", in `file` (" + strings.Join(endingsOf(a), " ") + ")"
		if len(arrays) == 1 {
			f.VarP(&filesFlag{files: o.files, name: a.Name, many: true}, "input", "i", what+"; repeatable")
			continue
		}
		f.Var(&filesFlag{files: o.files, name: a.Name}, "input-"+a.Name, what)
	}
}

func endingsOf(o op.Operand) []string {
	if o.Kind == op.Matrix {
		return matrixFiles
	}
	return numberFiles
}

// textFlag is a flag whose value is an entry of a map.
type textFlag struct {
	values    map[string]string
	key, kind string
}

func (t *textFlag) String() string { return t.values[t.key] }
func (t *textFlag) Type() string   { return t.kind }
func (t *textFlag) Set(text string) error {
	t.values[t.key] = text
	return nil
}

// filesFlag is a flag that names files; the first one replaces what was there before.
type filesFlag struct {
	files   map[string][]string
	name    string
	many    bool
	changed bool
}

func (t *filesFlag) String() string { return strings.Join(t.files[t.name], ",") }
func (t *filesFlag) Type() string   { return "file" }
func (t *filesFlag) Set(path string) error {
	var before []string
	if t.many && t.changed {
		before = t.files[t.name]
	}
	t.files[t.name], t.changed = append(slices.Clip(before), path), true
	return nil
}

type source struct {
	key      string // the same for the same problem
	fromFile bool
	load     func(context.Context) (loaded, error)
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
	text := o.dataset
	if text == "" {
		if len(o.files) > 0 {
			return nil, nil
		}
		text = o.standard()
	}
	return o.family().ParseList(text)
}

// sources returns the problems; bits is the precision, which matters with --full only.
func (o operands) sources(bits int) ([]source, error) {
	general, err := o.general(bits)
	if err != nil {
		return nil, err
	}
	reading, err := datasets.ParseReading(o.reading)
	if err != nil {
		return nil, err
	}
	if o.incX == 0 || o.incY == 0 {
		return nil, usagef("--incx %d --incy %d: want increments that are not 0", o.incX, o.incY)
	}
	factors, err := o.parseFactors()
	if err != nil {
		return nil, err
	}
	specs, err := o.specs()
	if err != nil {
		return nil, err
	}
	var list []source
	for _, s := range specs {
		load := o.loader(factors, func() (*datasets.Data, error) { return datasets.Generate(s, general) })
		list = append(list, source{o.specKey(s, general) + o.suffix(), false, load})
	}
	files, err := o.fileSources(reading, factors)
	return append(list, files...), err
}

// loader returns the function that makes a problem of data.
func (o operands) loader(
	factors map[string]numbers.Array, data func() (*datasets.Data, error),
) func(context.Context) (loaded, error) {
	return func(context.Context) (loaded, error) {
		d, err := data()
		if err != nil {
			return loaded{}, err
		}
		p, err := o.problem(d, factors)
		if err != nil {
			return loaded{}, err
		}
		in, err := measure.NewInput(d.Record(), p)
		return loaded{Input: in}, err
	}
}

// general returns the options that all data sets take.
func (o operands) general(bits int) (general datasets.Options, err error) {
	general = datasets.Options{Seed: o.seed, Trans: o.transpose}
	if o.full {
		general.Bits = bits
	}
	for _, f := range []struct {
		name, text string
		value      *int
	}{{"n", o.n, &general.N}, {"m", o.m, &general.M}} {
		if f.text == "" {
			continue
		}
		if *f.value, err = datasets.ParseCount(f.text); err != nil {
			return general, usagef("--%s %s: want an integer from 1 to 2^40, as 1000000, 1e6 or 2^20", f.name, f.text)
		}
	}
	return general, nil
}

// parseFactors reads the factors: the nearest float64.
func (o operands) parseFactors() (map[string]numbers.Array, error) {
	list := map[string]numbers.Array{}
	for name, text := range o.factors {
		x, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return nil, usagef("--%s %s: want a number in the range of float64", name, text)
		}
		list[name] = numbers.Scalar(x)
	}
	return list, nil
}

// specKey names a data set with the general options.
func (o operands) specKey(s datasets.Spec, general datasets.Options) string {
	key := s.String()
	for _, p := range []struct {
		name  string
		value int
	}{{"n", general.N}, {"m", general.M}, {"bits", general.Bits}} {
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
	other := false
	var factors string
	for _, operand := range o.op.Operands {
		if operand.Kind == op.Number {
			other = other || o.factors[operand.Name] != operand.Default
			factors += " " + operand.Name + "=" + o.factors[operand.Name]
		}
	}
	if other {
		text += factors
	}
	if o.lda != 0 || o.incX != 1 || o.incY != 1 {
		text += fmt.Sprintf(" lda=%d incx=%d incy=%d", o.lda, o.incX, o.incY)
	}
	return text
}

func (o operands) problem(d *datasets.Data, factors map[string]numbers.Array) (*op.Problem, error) {
	p := d.Problem(o.op)
	for name, x := range factors {
		*p.Operand(name) = x
	}
	if o.lda != 0 && !p.A.Absent() {
		if o.lda < max(1, d.M) {
			return nil, usagef("--lda %d: want at least the %d rows of A", o.lda, d.M)
		}
		p.A = withLeadingDimension(p.A, o.lda)
	}
	p.X, p.Y = withIncrement(p.X, o.incX), withIncrement(p.Y, o.incY)
	return p, nil
}

func (o operands) fileSources(reading datasets.Reading, factors map[string]numbers.Array) ([]source, error) {
	arrays := o.op.Arrays()
	if o.stream && o.family() == datasets.Vectors {
		return o.streams()
	}
	suffix := o.suffix()
	if reading == datasets.Exact {
		suffix = " read exactly" + suffix
	}
	if len(arrays) == 1 {
		var list []source
		for _, path := range o.files[arrays[0].Name] {
			load := o.loader(factors, func() (*datasets.Data, error) { return datasets.Load(path, reading) })
			list = append(list, source{path + suffix, true, load})
		}
		return list, nil
	}
	paths, err := o.paths()
	if err != nil || paths == nil {
		return nil, err
	}
	load := o.loader(factors, func() (*datasets.Data, error) { return o.loadFiles(reading) })
	return []source{{strings.Join(paths, "*") + suffix, true, load}}, nil
}

// paths returns the files in the order of the operands, of which those that are not optional must be there.
func (o operands) paths() (paths []string, err error) {
	first, missing := "", ""
	for _, a := range o.op.Arrays() {
		switch list := o.files[a.Name]; {
		case len(list) > 0:
			paths = append(paths, list[0])
			if first == "" {
				first = a.Name
			}
		case !a.Optional && missing == "":
			missing = a.Name
		}
	}
	if paths != nil && missing != "" {
		return nil, usagef("--input-%s needs --input-%s: %s", first, missing, o.op.Summary)
	}
	return paths, nil
}

// loadFiles reads one file for each array; where there is a matrix, it says how long the vectors must be.
func (o operands) loadFiles(reading datasets.Reading) (*datasets.Data, error) {
	d := &datasets.Data{Trans: o.transpose}
	for _, a := range o.op.Arrays() {
		list := o.files[a.Name]
		if len(list) == 0 {
			continue
		}
		if err := o.loadFile(d, a, list[0], reading); err != nil {
			return nil, err
		}
		switch {
		case d.Name == "":
			d.Name = filepath.Base(list[0])
		case d.A.Source == nil:
			d.Name += "*" + filepath.Base(list[0])
		}
	}
	if d.A.Source != nil && d.Y.Source == nil { // zeros, of which the checksum says that they are of no file
		rows, _ := extents(d)
		d.Y.Source = make(numbers.Float64s, rows)
	}
	return d, nil
}

// extents returns the rows of op(A) and the terms of each.
func extents(d *datasets.Data) (rows, terms int) {
	if d.Trans {
		return d.N, d.M
	}
	return d.M, d.N
}

func (o operands) loadFile(d *datasets.Data, a op.Operand, path string, reading datasets.Reading) error {
	if a.Kind == op.Matrix {
		matrix, err := datasets.LoadMatrix(path)
		if err == nil {
			d.M, d.N, d.A = matrix.M, matrix.N, matrix.A
		}
		return err
	}
	v, err := datasets.Load(path, reading)
	if err != nil {
		return err
	}
	if err := o.checkVector(d, a.Name, path, v); err != nil {
		return err
	}
	if d.A.Source == nil {
		d.N = v.N
	}
	if a.Name == "x" {
		d.X = v.X
	} else {
		d.Y = v.X
	}
	return nil
}

// checkVector checks that the length of a vector fits what was read before.
func (o operands) checkVector(d *datasets.Data, name, path string, v *datasets.Data) error {
	if d.A.Source == nil {
		if d.X.Source != nil && v.N != d.N {
			return inputOutputf("%s holds %d numbers and %s holds %d; %s needs as many of each",
				o.files["x"][0], d.N, path, v.N, o.op.Name)
		}
		return nil
	}
	rows, n := extents(d)
	if name != "x" {
		n = rows
	}
	if _, ok := v.X.Float64(); !ok {
		return inputOutputf("%s holds decimals wider than float64; a matrix from a file goes with float64 vectors", path)
	}
	if v.N != n {
		return inputOutputf("%s holds %d numbers; %s needs %d for the %d x %d matrix %s",
			path, v.N, name, n, d.M, d.N, d.Name)
	}
	return nil
}

func (o operands) streams() ([]source, error) {
	name := o.op.Arrays()[0].Name
	if len(o.files[name]) == 0 || o.dataset != "" {
		return nil, usagef("--stream reads files: name them with --input, without --dataset")
	}
	var list []source
	for _, path := range o.files[name] {
		list = append(list, source{path + " stream", true, func(ctx context.Context) (loaded, error) {
			return o.openStream(ctx, path)
		}})
	}
	return list, nil
}

// openStream reads a file once, for the exact result and the checksum.
func (o operands) openStream(ctx context.Context, path string) (loaded, error) {
	s, err := datasets.OpenStream(path)
	if err != nil {
		return loaded{}, err
	}
	p := s.Data().Problem(o.op)
	p.X.Source = interruptible{s, ctx}
	in, err := measure.NewInput(record.Dataset{}, p)
	if err = cmp.Or(err, ctx.Err(), s.Err()); err != nil {
		s.Close()
		return loaded{}, err
	}
	in.Dataset = s.Data().Record()
	return loaded{in, s.Close}, nil
}

// interruptible is a file whose reading ends when ctx does.
type interruptible struct {
	*datasets.Stream
	ctx context.Context
}

func (s interruptible) ReadRun(x []float64, from int) error {
	if err := s.ctx.Err(); err != nil {
		return err
	}
	return s.Stream.ReadRun(x, from)
}

// withLeadingDimension lays out a matrix that is stored by columns; numbers between the columns are 0, or missing.
func withLeadingDimension(a numbers.Array, lda int) numbers.Array {
	m := a.Rows
	place := func(i int) int { return i/max(1, m)*lda + i%max(1, m) }
	return numbers.Array{Source: spread(a.Source, a.Cols*lda, place), Layout: numbers.ColMajor(a.Rows, a.Cols, lda)}
}

func withIncrement(x numbers.Array, inc int) numbers.Array {
	if x.Absent() || inc == 1 || x.Rows == 0 {
		return x
	}
	l := numbers.Strided(x.Rows, inc)
	size := (x.Rows-1)*max(inc, -inc) + 1
	return numbers.Array{Source: spread(x.Source, size, func(i int) int { return l.Index(i, 0) }), Layout: l}
}

// spread returns n numbers of which number place(i) is number i of s.
func spread(s numbers.Source, n int, place func(int) int) numbers.Source {
	switch x := s.(type) {
	case numbers.Float64s:
		return numbers.Float64s(spreadSlice(x, n, place))
	case numbers.Bigs:
		return numbers.Bigs(spreadSlice(x, n, place))
	}
	panic(fmt.Sprintf("%T cannot be laid out", s)) // flags of layouts go with matrices, which are of these
}

func spreadSlice[T any](x []T, n int, place func(int) int) []T {
	wide := make([]T, n)
	for i, v := range x {
		wide[place(i)] = v
	}
	return wide
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
