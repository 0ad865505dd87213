package main

import (
	"cmp"
	"context"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"mpbench/datasets"
	"mpbench/internal/suggest"
	"mpbench/pkg/methods"
	"mpbench/pkg/paper"
	"mpbench/pkg/plot"
	"mpbench/pkg/primer"
	"mpbench/pkg/record"
	"mpbench/pkg/report"
	"mpbench/pkg/sampling"
)

func newPaper() *cobra.Command {
	var output documentOptions
	o := paperOptions{device: "all", seed: 1, sampler: sampling.Sampler{Warmup: 1, Runs: 5, Timeout: 10 * time.Second,
		Prefix: "--"}}
	cmd := &cobra.Command{
		Use:   "paper list|EXPERIMENT",
		Short: "Repeat a table or figure of the papers, or the page on reductions, figure by figure",
		Long: `Runs an experiment of the 2018 paper (summation with RNS numbers), of the 2020 paper (multiple-precision
GEMV) or of the slides on triple and quadruple precision BLAS and BiCGStab at the paper's sizes and
prints the paper's figures beside those found here. Sums and errors must
have the printed digits, or a note says why not; times are of another machine and only compared where
the text draws a conclusion. What cannot run here, such as a GPU's figures without one, is listed with
the reason, and the rest is run. reduction-page shows the page's three kernels step by step, and measures
the ladder that begins with them (see mpbench reduce).

Exit code 1: a figure that the algorithm gives came out otherwise, or a result is outside its bound.`,
		Example: `  mpbench paper list
  mpbench paper mpres2018-table2
  mpbench paper gemv2020-table5 --export table5.jsonl
  mpbench paper gemv2020-table5 --n 100 --format markdown
  mpbench paper tripleblas-axpy --export axpy.svg
  mpbench paper reduction-page --device cpu,cuda:0`,
		Args: onePaper,
		ValidArgsFunction: cobra.FixedCompletions(append([]string{"list"}, paperNames()...),
			cobra.ShellCompDirectiveNoFileComp),
		RunE: func(cmd *cobra.Command, args []string) error {
			if args[0] == "list" {
				return listPapers(cmd.OutOrStdout())
			}
			if err := output.check(); err != nil {
				return err
			}
			return o.run(cmd, args[0], &output)
		},
	}
	o.addFlags(cmd)
	completeList(cmd, "device", []string{"all", "cpu"})
	register(cmd, "matrices", cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs))
	output.addFlags(cmd, true)
	return cmd
}

func onePaper(_ *cobra.Command, args []string) error {
	if len(args) != 1 {
		return usagef("paper: name one experiment, or list; see mpbench paper list")
	}
	if _, ok := paper.Lookup(args[0]); !ok && args[0] != "list" {
		return usagef("%s", suggest.Unknown("experiment", args[0], append([]string{"list"}, paperNames()...)))
	}
	return nil
}

func paperNames() []string {
	return mapped(paper.Experiments(), func(e paper.Experiment) string { return e.Name })
}

func listPapers(w io.Writer) error {
	rows := mapped(paper.Experiments(), func(e paper.Experiment) []string {
		return []string{e.Name, e.Title + "\n" + e.Source + "\ndata: " + e.Sizes + "\ntakes: " + e.Needs}
	})
	return report.List(w, []string{"experiment", "what it is"}, rows, columns(w))
}

type paperOptions struct {
	device  string
	n       string
	folder  string // of matrices
	seed    uint64
	threads int
	sampler sampling.Sampler
}

func (o *paperOptions) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.device, "device", o.device, "devices, a list, or all that there are")
	f.StringVarP(&o.n, "n", "n", o.n, "terms or rows of the experiments with times, in place of the paper's")
	f.StringVar(&o.folder, "matrices", o.folder,
		"`folder` with the .mtx files of bicgstab-quad (default $MPBENCH_MATRICES)")
	f.Uint64Var(&o.seed, "seed", o.seed, "seed of random data")
	addThreads(f, &o.threads)
	f.IntVar(&o.sampler.Warmup, "warmup", o.sampler.Warmup, "runs before the first sample of a time")
	f.IntVar(&o.sampler.Runs, "runs", o.sampler.Runs, "samples of a time at least")
	f.DurationVar(&o.sampler.MinTime, "min-time", o.sampler.MinTime, "time of all samples at least")
	f.DurationVar(&o.sampler.Timeout, "timeout", o.sampler.Timeout, "time of a case at most; 0 for no limit")
}

func (o *paperOptions) lab() (*paper.Lab, error) {
	devices, err := chooseDevices(o.device, nil)
	if err != nil {
		return nil, err
	}
	lab := &paper.Lab{
		Methods: catalog, Devices: devices, Sampler: o.sampler, Threads: o.threads, MaxBytes: memoryLimit(), Seed: o.seed,
		Solvers: methods.Solvers(), Matrices: cmp.Or(o.folder, os.Getenv("MPBENCH_MATRICES")),
	}
	if o.device == "all" {
		_, lab.NoGPU = availableDevices()
	}
	if err := cmp.Or(checkThreads(o.threads), checkSampler(o.sampler)); err != nil {
		return nil, err
	}
	if o.n != "" {
		if lab.N, err = datasets.ParseCount(o.n); err != nil {
			return nil, usagef("--n %s: want an integer of at least 1", o.n)
		}
	}
	return lab, nil
}

func (o *paperOptions) run(cmd *cobra.Command, name string, output *documentOptions) error {
	lab, err := o.lab()
	if err != nil {
		return err
	}
	env := captureEnvironment()
	lab.EnvID = env.ID
	lab.Progress = reporter(cmd, output.quiet)
	if plot.CheckKind(name) == nil { // a figure is exported as itself
		output.plot.kind = name
	}
	experiment, _ := paper.Lookup(name)
	if experiment.NoRecords && len(output.export) > 0 {
		return usagef("--export %s: %s measures nothing that has records; use --format", output.export[0], name)
	}
	lab.Reductions = func(ctx context.Context, n int) ([]primer.Row, error) {
		p := newPrimerOptions(primer.Reduction)
		p.sampler, p.seed, p.threads = o.sampler, o.seed, o.threads
		return p.measure(ctx, primer.Operations[0], n, lab.Devices, lab.Progress)
	}
	result, err := experiment.Run(cmd.Context(), lab)
	if err != nil {
		return err
	}
	d := report.Paper(result)
	d.Environment = &env
	err = output.print(cmd, d, &record.Run{Environments: []record.Environment{env}, Records: result.Records})
	differs := result.Count(paper.Differs)
	switch {
	case result.Interrupted:
		return &statusError{exitInterrupted, "interrupted; what was measured until then is above"}
	case err != nil:
		return err
	case differs > 0:
		return failedf("%d figures differ from the paper's without an explanation", differs)
	}
	return checkRecords(result.Records)
}
