package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"mpbench/datasets"
	"mpbench/internal/suggest"
	"mpbench/pkg/method"
	"mpbench/pkg/op"
	"mpbench/pkg/report"
)

func methodRow(m method.Method) []string {
	precision := fmt.Sprintf("%d to %d", m.Least, m.Most)
	if m.Bits != 0 {
		precision = fmt.Sprint(m.Bits)
	}
	text := m.Summary + "\nbound: " + m.Bound.Formula + "\n" + m.Bound.Source
	return []string{m.Name, m.Format, strings.Join(m.Kinds(), ","), precision, text}
}

func newMethods() *cobra.Command {
	return &cobra.Command{
		Use:   "methods",
		Short: "List the methods of " + listed(op.Names()) + " with format, precision, error bound and source",
		Long: `Lists the methods of each command. In the bounds, S is the sum of the magnitudes of what is added, g(k) =
k*u / (1 - k*u), n the number of terms, p the precision and u the unit roundoff of the format.`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var lists []titled
			for _, o := range catalog.Operations() {
				lists = append(lists, titled{o.Name, mapped(catalog.Of(o), methodRow)})
			}
			heads := []string{"method", "format", "device", "bits", "what it does, error bound, source"}
			return writeLists(cmd.OutOrStdout(), heads, lists)
		},
	}
}

// listed joins names by commas and "and".
func listed(names []string) string {
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

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

func newDatasets() *cobra.Command {
	return &cobra.Command{
		Use:   "datasets [name]",
		Short: "List the data sets of " + listed(op.Names()) + ", or say all about those of one name",
		Long: `Lists the data sets with their number of terms and parameters. A set is written as name or
name:key=value,...; every set takes n=, seeded ones seed=. With a name, says all about the sets of that
name.`,
		Args:              atMostOne("name"),
		ValidArgsFunction: cobra.FixedCompletions(allSetNames(), cobra.ShellCompDirectiveNoFileComp),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				return describeSets(cmd.OutOrStdout(), args[0])
			}
			heads := []string{"data set", "n", "definition, parameters with their defaults"}
			var lists []titled
			for _, f := range datasets.Families() {
				title := operationsOf(f)
				if f != datasets.Vectors {
					title += ": " + f.Plural
				}
				lists = append(lists, titled{title, setRows(f.Sets())})
			}
			return writeLists(cmd.OutOrStdout(), heads, lists)
		},
	}
}

// operationsOf names the operations that a family of data sets is for.
func operationsOf(f *datasets.Family) string {
	var names []string
	for _, o := range op.All() {
		if datasets.For(o) == f {
			names = append(names, o.Name)
		}
	}
	return strings.Join(names, ", ")
}

func allSetNames() (names []string) {
	for _, f := range datasets.Families() {
		names = append(names, f.Names()...)
	}
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

func describeSets(w io.Writer, name string) error {
	found := false
	for _, f := range datasets.Families() {
		set, err := f.Lookup(name)
		if err != nil {
			continue
		}
		if found {
			fmt.Fprintln(w)
		}
		found = true
		if err := describeSet(w, f, set); err != nil {
			return err
		}
	}
	if !found {
		return usagef("%s", suggest.Unknown("data set", name, allSetNames()))
	}
	return nil
}

func describeSet(w io.Writer, f *datasets.Family, s *datasets.Set) error {
	fmt.Fprintf(w, "%s (%s): %s\nsource: %s\nterms: %s\n", s.Name, operationsOf(f), s.Summary, s.Source, s.Size())
	if r, ok := datasets.LimitOf(s.Name); ok && f == datasets.Vectors {
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
