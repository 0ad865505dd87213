package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"mpbench/datasets"
	"mpbench/internal/suggest"
	"mpbench/pkg/gemv"
	"mpbench/pkg/reduce"
	"mpbench/pkg/report"
)

// methodRow is a method of any command as the list shows it.
type methodRow struct {
	name, format           string
	devices                []string
	fixed, least, most     int
	summary, bound, source string
}

func (m methodRow) cells() []string {
	precision := fmt.Sprintf("%d to %d", m.least, m.most)
	if m.fixed != 0 {
		precision = fmt.Sprint(m.fixed)
	}
	return []string{m.name, m.format, strings.Join(m.devices, ","), precision, m.summary + "\nbound: " + m.bound + "\n" + m.source}
}

// newMethods builds the command methods.
func newMethods() *cobra.Command {
	return &cobra.Command{
		Use:   "methods",
		Short: "List the methods of sum, dot and gemv with format, precision, error bound and source",
		Long: `Lists the methods of each command. In the bounds, S is the sum of the magnitudes of what is added, g(k) =
k*u / (1 - k*u), n the number of terms, p the precision and u the unit roundoff of the format.`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			sums, dots, products := [][]string{}, [][]string{}, [][]string{}
			for _, m := range reduce.Methods() {
				sums = append(sums, methodRow{m.Name, m.Format, m.Devices, m.FixedBits, m.MinPrecision, m.MaxPrecision, m.Summary, m.Bound, m.Source}.cells())
			}
			for _, m := range reduce.DotMethods() {
				dots = append(dots, methodRow{m.Name, m.Format, m.DotDevices, m.FixedBits, m.MinPrecision, m.MaxPrecision, m.Summary, m.DotBound, m.Source}.cells())
			}
			for _, m := range gemv.Methods() {
				products = append(products, methodRow{m.Name, m.Format, m.Devices, m.FixedBits, m.MinPrecision, m.MaxPrecision, m.Summary, m.Bound, m.Source}.cells())
			}
			heads := []string{"method", "format", "device", "bits", "what it does, error bound, source"}
			return writeLists(cmd.OutOrStdout(), heads, []titled{{"sum", sums}, {"dot", dots}, {"gemv", products}})
		},
	}
}

// titled is a list under a heading.
type titled struct {
	title string
	rows  [][]string
}

func writeLists(w io.Writer, heads []string, lists []titled) error {
	for i, list := range lists {
		if i > 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintf(w, "%s\n\n", list.title)
		if err := report.List(w, heads, list.rows, columns(w)); err != nil {
			return err
		}
	}
	return nil
}

// newDatasets builds the command datasets.
func newDatasets() *cobra.Command {
	return &cobra.Command{
		Use:   "datasets [name]",
		Short: "List the data sets of sum, dot and gemv, or say all about those of one name",
		Long: `Lists the data sets with their number of terms and parameters. A set is written as name or
name:key=value,...; every set takes n=, seeded ones seed=. With a name, says all about the sets of that
name.`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usagef("datasets takes one name: %q", args[1])
			}
			return nil
		},
		ValidArgsFunction: cobra.FixedCompletions(allSetNames(), cobra.ShellCompDirectiveNoFileComp),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				return describeSets(cmd.OutOrStdout(), args[0])
			}
			heads := []string{"data set", "n", "definition, parameters with their defaults"}
			return writeLists(cmd.OutOrStdout(), heads, []titled{
				{"sum", setRows(datasets.Sets())}, {"dot: pairs of vectors", setRows(datasets.PairSets())},
				{"gemv: matrices with vectors", setRows(datasets.MatrixSets())},
			})
		},
	}
}

func allSetNames() []string {
	names := slices.Concat(datasets.Names(), datasets.PairNames(), datasets.MatrixNames())
	slices.Sort(names)
	return slices.Compact(names)
}

func setRows(sets []*datasets.Set) [][]string {
	rows := [][]string{}
	for _, s := range sets {
		text := s.Summary
		for _, p := range s.Params {
			text += "\n" + p.Name + "=" + p.Default + ": " + p.Meaning
		}
		n, _, _ := strings.Cut(s.Size(), ",")
		rows = append(rows, []string{s.Name, n, text})
	}
	return rows
}

// describeSets says all about the sets of a name.
func describeSets(w io.Writer, name string) error {
	found := false
	for _, kind := range []setsOf{{"sum", datasets.Sets()}, {"dot", datasets.PairSets()}, {"gemv", datasets.MatrixSets()}} {
		for _, s := range kind.sets {
			if s.Name != name {
				continue
			}
			if found {
				fmt.Fprintln(w)
			}
			found = true
			if err := describeSet(w, kind.command, s); err != nil {
				return err
			}
		}
	}
	if !found {
		return usagef("%s", suggest.Unknown("data set", name, allSetNames()))
	}
	return nil
}

// setsOf is the sets of a command.
type setsOf struct {
	command string
	sets    []*datasets.Set
}

func describeSet(w io.Writer, command string, s *datasets.Set) error {
	fmt.Fprintf(w, "%s (%s): %s\nsource: %s\nterms: %s\n", s.Name, command, s.Summary, s.Source, s.Size())
	if r, ok := datasets.LimitOf(s.Name); ok && command == "sum" {
		fmt.Fprintf(w, "as real numbers: %s = %s\n", r.Formula, r.Value.Text('e', 40))
	}
	if len(s.Params) == 0 {
		return nil
	}
	rows := [][]string{}
	for _, p := range s.Params {
		rows = append(rows, []string{p.Name, p.Default, p.Range(), p.Meaning})
	}
	return report.List(w, []string{"parameter", "default", "values", "meaning"}, rows, columns(w))
}

// allMethodNames are the names of the methods of all commands.
func allMethodNames() []string {
	names := namesOf(reduce.Methods(), methodName)
	for _, name := range append(namesOf(reduce.DotMethods(), methodName), namesOf(gemv.Methods(), gemvName)...) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}
