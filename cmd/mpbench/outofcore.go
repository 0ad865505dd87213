package main

import (
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"mpbench/datasets"
	"mpbench/pkg/numbers"
	"mpbench/pkg/op"
	"mpbench/pkg/outofcore"
	"mpbench/pkg/partial"
	"mpbench/pkg/report"
)

// dataFiles are the files of an operation that are added to a partial result: open, and read run by run, where they
// can be.
type dataFiles struct {
	problem  *op.Problem
	names    []string
	identity string // of all arrays
	open     []io.Closer
	streams  []*datasets.Stream
}

// openData opens the files of an operation.
func (o operands) openData(reading datasets.Reading) (*dataFiles, error) {
	o, err := o.withRaw()
	if err != nil {
		return nil, err
	}
	d := &dataFiles{problem: &op.Problem{Op: o.op, Trans: o.transpose}}
	if o.laidOut() {
		return nil, usagef("leading dimensions and increments do not go with files that are read run by run")
	}
	if _, err := o.paths(); err != nil {
		return nil, err
	}
	for _, a := range o.op.Arrays() {
		names := o.files[a.Name]
		if len(names) == 0 {
			continue
		}
		x, err := d.openArray(&o, a, names, reading)
		if err == nil {
			*d.problem.Operand(a.Name) = x
			if !a.Optional {
				err = d.identify(x)
			}
		}
		if err != nil {
			return nil, errors.Join(err, d.Close())
		}
		d.names = append(d.names, names...)
	}
	if d.problem.A.Absent() {
		return d, d.checkVectors(&o)
	}
	rows, columns := d.problem.A.Rows, d.problem.A.Cols
	if want := map[bool]int{true: rows, false: columns}[o.transpose]; d.problem.X.Rows != want {
		return nil, errors.Join(inputOutputf("%s holds %d numbers; x needs %d for the %d x %d matrix %s", o.files["x"][0],
			d.problem.X.Rows, want, rows, columns, o.files["a"][0]), d.Close())
	}
	return d, nil
}

// checkVectors checks that vectors have as many numbers, and both integers of 64 bits or none.
func (d *dataFiles) checkVectors(o *operands) error {
	x, y := d.problem.X, d.problem.Y
	_, xIntegers := x.Source.(numbers.Integers)
	_, yIntegers := y.Source.(numbers.Integers)
	switch {
	case y.Absent(), x.Rows == y.Rows && xIntegers == yIntegers:
		return nil
	case x.Rows == y.Rows:
		names := []string{o.files["x"][0], o.files["y"][0]}
		if yIntegers {
			slices.Reverse(names)
		}
		return errors.Join(inputOutputf("%s holds integers of 64 bits, and %s holds other numbers; in streams and parts "+
			"such integers go with their like", names[0], names[1]), d.Close())
	}
	return errors.Join(inputOutputf("%s holds %d numbers and %s holds %d; %s needs as many of each", o.files["x"][0],
		x.Rows, o.files["y"][0], y.Rows, o.op.Name), d.Close())
}

// openArray opens an array: a vector beside a matrix is read into memory, and so is what cannot be read in runs.
func (d *dataFiles) openArray(
	o *operands, a op.Operand, names []string, reading datasets.Reading,
) (x numbers.Array, err error) {
	matrix := a.Kind == op.Matrix
	long := matrix || !o.op.Has(op.Matrix)
	if long && (o.stream || datasets.Streams(names[0])) || len(names) > 1 {
		open := datasets.OpenStream
		if !o.op.Has(op.Matrix) { // sums and dot products of integers, too
			open = datasets.OpenExactStream
		}
		s, err := open(names...)
		if err != nil {
			return x, err
		}
		d.open, d.streams = append(d.open, s), append(d.streams, s.Unhashed())
		if matrix {
			return s.Matrix()
		}
		return numbers.Vector(s.Numbers()), nil
	}
	var data *datasets.Data
	if matrix {
		if data, err = datasets.LoadMatrix(names[0], reading); err == nil {
			x = numbers.Array{Source: data.A.Source, Layout: numbers.ColMajor(data.M, data.N, data.M)}
		}
	} else if data, err = datasets.Load(names[0], reading); err == nil {
		x = numbers.Vector(data.X.Source)
	}
	if err == nil && !x.Binary64() {
		err = inputOutputf("%s: holds numbers wider than float64; exact sums of parts are of float64", names[0])
	}
	return x, err
}

// identify adds what tells the numbers of an array from others to the identity.
func (d *dataFiles) identify(x numbers.Array) error {
	text, err := datasets.Identity(x.Source)
	if d.identity != "" {
		text = d.identity + "," + text
	}
	d.identity = text
	return err
}

// Close closes the files.
func (d *dataFiles) Close() (err error) {
	for _, f := range d.open {
		err = errors.Join(err, f.Close())
	}
	return err
}

// rows returns how many rows the data have.
func (d *dataFiles) rows() int {
	if d.problem.A.Absent() {
		return d.problem.X.Rows
	}
	return d.problem.A.Rows
}

// saveEvery is how often what has been added is saved; tests save more often.
var saveEvery = 10 * time.Second

// additions are rows of data that are added to a partial result.
type additions struct {
	data    *dataFiles
	rows    partial.Range
	first   int    // the place of the data's first row in the partial result, or their piece
	threads int    // 0 for all processors
	file    string // that keeps what has been added, "" for none
	resume  bool   // continue from it
	quiet   bool

	factors map[string]numbers.Array // of the whole result

	bytes int64 // that were read
}

// run adds the rows to a partial result of a problem, in the file or new, and saves it.
func (a *additions) run(cmd *cobra.Command, q partial.Problem) (*partial.State, error) {
	s := partial.New(q)
	if a.resume {
		if err := a.read(s); err != nil {
			return nil, err
		}
	}
	if err := datasets.CheckMemory(outofcore.Bytes(a.data.problem, q)); err != nil {
		return nil, inputOutputf("%s: sums of %d components: %v", a.data.names[0], q.Components, err)
	}
	errs := cmd.ErrOrStderr()
	progress := report.NewBytesProgress(errs, report.ProgressOptions{
		Terminal: !a.quiet && isTerminal(errs), Width: func() int { return columns(errs) },
	})
	task := outofcore.Task{
		Problem: a.data.problem, First: a.first, Threads: a.threads, Interval: saveEvery,
		Progress: func(done, all int64) {
			a.bytes = done
			progress.Read(done, all)
		},
	}
	if a.resume {
		task.Save = a.save
	}
	err := task.Add(cmd.Context(), s, a.rows)
	progress.Close()
	if cmd.Context().Err() != nil {
		return nil, a.interrupted(s)
	}
	if err == nil && a.file != "" {
		err = a.save(s)
	}
	return s, err
}

// interrupted says how to go on.
func (a *additions) interrupted(s *partial.State) error {
	if !a.resume {
		return &statusError{exitInterrupted, "interrupted"}
	}
	if err := a.save(s); err != nil {
		return err
	}
	return &statusError{exitInterrupted, "interrupted; what was added is in " + a.file + ", and the same command goes on"}
}

func (a *additions) save(s *partial.State) error { return writeState(context.Background(), a.file, s) }

// read sets s to what the file has, if there is one.
func (a *additions) read(s *partial.State) error {
	have, err := readState(a.file)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if _, err := partial.Merged(s, have); err != nil {
		return inputOutputf("%s: %s; name another file, or remove it", a.file, partText(err, "these data"))
	}
	return s.Merge(have)
}
