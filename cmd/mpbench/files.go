package main

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"mpbench/datasets"
	"mpbench/pkg/numbers"
	"mpbench/pkg/op"
	"mpbench/pkg/record"
)

// addFiles declares the flags that name files: --input for a single array, otherwise one for each.
func (o *operands) addFiles(f *pflag.FlagSet) {
	arrays := o.op.Arrays()
	for _, a := range arrays {
		what := a.Usage + ", in `file` (" + strings.Join(endingsOf(o.op, a), " ") + "; x.csv:COLUMN, x.npz:ARRAY)"
		if len(arrays) == 1 {
			f.VarP(&filesFlag{files: o.files, name: a.Name, many: true}, "input", "i", what+"; repeatable")
			continue
		}
		f.Var(&filesFlag{files: o.files, name: a.Name}, "input-"+a.Name, what)
	}
}

// addRaw declares the flags for files without a header.
func (o *operands) addRaw(f *pflag.FlagSet) {
	if o.op.Has(op.Matrix) {
		return
	}
	f.StringVar(&o.dtype, "dtype", o.dtype,
		"files have no header: numbers of the `type` f8, f4, f2, i1 to i4, u1 to u4; big-endian with >, as '>f8'")
	f.Int64Var(&o.offset, "offset", o.offset, "the `byte` that the numbers of files without a header begin at")
}

// withRaw returns the operands with names of files that say so where they have no header.
func (o operands) withRaw() (operands, error) {
	switch {
	case o.dtype == "" && o.offset != 0:
		return o, usagef("--offset %d goes with --dtype, of files without a header", o.offset)
	case o.offset < 0:
		return o, usagef("--offset %d: want a byte from 0 on", o.offset)
	case o.dtype == "":
		return o, nil
	}
	raw := o.clone()
	raw.dtype, raw.offset = "", 0
	for name, list := range o.files {
		raw.files[name] = nil
		for _, path := range list {
			if _, part := datasets.SplitPart(path); part != "" || path == datasets.Stdin {
				return o, usagef("--dtype %s: %s has a format of its own", o.dtype, path)
			}
			named, err := datasets.RawName(path, o.dtype, o.offset)
			if err != nil {
				return o, err
			}
			raw.files[name] = append(raw.files[name], named)
		}
	}
	return raw, nil
}

func endingsOf(o *op.Operation, a op.Operand) []string {
	switch {
	case a.Kind == op.Matrix && o.Storage == op.Sparse:
		return sparseFiles
	case a.Kind == op.Matrix:
		return matrixFiles
	}
	return numberFiles
}

// filesFlag is a flag that names files; the first one replaces what was there before.
type filesFlag struct {
	files   map[string][]string
	name    string
	many    bool
	changed bool
}

func (t *filesFlag) String() string { return strings.Join(t.files[t.name], ",") }

func (t *filesFlag) GetSlice() []string { return t.files[t.name] }

func (t *filesFlag) Append(path string) error { return t.Set(path) }

func (t *filesFlag) Replace(paths []string) error {
	t.files[t.name] = paths
	return nil
}

func (t *filesFlag) Type() string { return "file" }

func (t *filesFlag) Set(path string) error {
	var before []string
	if t.many && t.changed {
		before = t.files[t.name]
	}
	t.files[t.name], t.changed = append(slices.Clip(before), path), true
	return nil
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
			data := func() (*datasets.Data, error) { return datasets.Load(path, reading) }
			list = append(list, o.fileSource(path+suffix, factors, data))
		}
		return list, nil
	}
	paths, err := o.paths()
	if err != nil || paths == nil {
		return nil, err
	}
	data := func() (*datasets.Data, error) { return o.loadFiles(reading) }
	return []source{o.fileSource(strings.Join(paths, "*")+suffix, factors, data)}, nil
}

// fileSource is the source of data that are read from files.
func (o operands) fileSource(
	key string, factors map[string]numbers.Array, data func() (*datasets.Data, error),
) source {
	read := func() (*op.Problem, error) {
		d, err := data()
		if err != nil {
			return nil, err
		}
		return o.problem(d, factors)
	}
	return source{key, true, read, o.opener(factors, data)}
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
	d := &datasets.Data{Extents: datasets.Extents{Trans: o.transpose, TransX: o.transposeB}}
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
		rows, _ := d.Product()
		d.Y.Source = make(numbers.Float64s, rows*max(1, d.K))
	}
	return d, nil
}

func (o operands) loadFile(d *datasets.Data, a op.Operand, path string, reading datasets.Reading) error {
	if a.Kind == op.Matrix {
		load := datasets.LoadMatrix
		if o.op.Storage == op.Sparse {
			load = datasets.LoadSparse
		}
		matrix, err := load(path, reading)
		if err != nil {
			return err
		}
		return o.setMatrix(d, a.Name, path, matrix)
	}
	v, err := datasets.Load(path, reading)
	if err != nil {
		return err
	}
	if err := o.checkVector(d, a.Name, path, v); err != nil {
		return err
	}
	d.Skipped = append(d.Skipped, v.Skipped...)
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

// setMatrix sets a matrix, of which the first one says what shapes the others have.
func (o operands) setMatrix(d *datasets.Data, name, path string, matrix *datasets.Data) error {
	rows, terms := d.Product()
	m, n := matrix.M, matrix.N
	switch name {
	case "a":
		d.M, d.N, d.A, d.Pattern = m, n, matrix.A, matrix.Pattern
		return nil
	case "b":
		if o.transposeB {
			m, n = n, m
		}
		if m != terms {
			return inputOutputf("%s is a %d x %d matrix; op(B) needs %d rows for the %d x %d matrix %s", path, matrix.M,
				matrix.N, terms, d.M, d.N, d.Name)
		}
		d.K, d.X = n, matrix.A
		return nil
	}
	if m != rows || n != d.K {
		return inputOutputf("%s is a %d x %d matrix; C is %d x %d", path, m, n, rows, d.K)
	}
	d.Y = matrix.A
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
	rows, n := d.Product()
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
		outline := func() (*op.Problem, error) {
			s, err := datasets.OpenStream(path)
			if err != nil {
				return nil, err
			}
			return s.Data().Problem(o.op), s.Close()
		}
		open := func(ctx context.Context) (opened, error) { return o.openStream(ctx, path) }
		list = append(list, source{path + " stream", true, outline, open})
	}
	return list, nil
}

// openStream opens a file that stays where it is.
func (o operands) openStream(ctx context.Context, path string) (opened, error) {
	s, err := datasets.OpenStream(path)
	if err != nil {
		return opened{}, err
	}
	p := s.Data().Problem(o.op)
	p.X.Source = interruptible{s, ctx}
	dataset := func() record.Dataset { return s.Data().Record() }
	return opened{problem: p, dataset: dataset, failed: s.Err, close: s.Close}, nil
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
