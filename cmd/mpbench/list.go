package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"mpbench/datasets"
	"mpbench/pkg/reduce"
	"mpbench/pkg/report"
)

// newMethods builds the command methods.
func newMethods() *cobra.Command {
	return &cobra.Command{
		Use:   "methods",
		Short: "List the methods with format, precision, error bound and source",
		Long: `Lists the methods. In the bounds, S is the sum of the magnitudes, g(k) = k*u / (1 - k*u), n the number
of terms, p the precision and u the unit roundoff of the format.`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			rows := [][]string{}
			for _, m := range reduce.Methods() {
				precision := fmt.Sprintf("%d to %d", m.MinPrecision, m.MaxPrecision)
				if m.FixedBits != 0 {
					precision = fmt.Sprint(m.FixedBits)
				}
				text := m.Summary + "\nbound: " + m.Bound + "\n" + m.Source
				rows = append(rows, []string{m.Name, m.Format, strings.Join(m.Devices, ","), precision, text})
			}
			heads := []string{"method", "format", "device", "bits", "what it does, error bound, source"}
			return report.List(cmd.OutOrStdout(), heads, rows, columns(cmd.OutOrStdout()))
		},
	}
}

// newDatasets builds the command datasets.
func newDatasets() *cobra.Command {
	return &cobra.Command{
		Use:   "datasets [name]",
		Short: "List the data sets, or the parameters of one",
		Long: `Lists the data sets with their number of terms and parameters. A set is written as name or
name:key=value,...; every set takes n=, seeded ones seed=. With a name, says all about that set.`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usagef("datasets takes one name: %q", args[1])
			}
			return nil
		},
		ValidArgsFunction: cobra.FixedCompletions(datasets.Names(), cobra.ShellCompDirectiveNoFileComp),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				return describeSet(cmd, args[0])
			}
			rows := [][]string{}
			for _, s := range datasets.Sets() {
				text := s.Summary
				for _, p := range s.Params {
					text += "\n" + p.Name + "=" + p.Default + ": " + p.Meaning
				}
				n, _, _ := strings.Cut(s.Size(), ",")
				rows = append(rows, []string{s.Name, n, text})
			}
			return report.List(cmd.OutOrStdout(), []string{"data set", "n", "definition, parameters with their defaults"}, rows, columns(cmd.OutOrStdout()))
		},
	}
}

func describeSet(cmd *cobra.Command, name string) error {
	s, err := datasets.Lookup(name)
	if err != nil {
		return err
	}
	out := cmd.OutOrStdout()
	fmt.Fprintf(out, "%s: %s\nsource: %s\nterms: %s\n", s.Name, s.Summary, s.Source, s.Size())
	if r, ok := datasets.LimitOf(name); ok {
		fmt.Fprintf(out, "as real numbers: %s = %s\n", r.Formula, r.Value.Text('e', 40))
	}
	if len(s.Params) == 0 {
		return nil
	}
	rows := [][]string{}
	for _, p := range s.Params {
		rows = append(rows, []string{p.Name, p.Default, p.Range(), p.Meaning})
	}
	return report.List(out, []string{"parameter", "default", "values", "meaning"}, rows, columns(out))
}
