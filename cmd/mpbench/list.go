package main

import (
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"mpbench/datasets"
	"mpbench/internal/suggest"
	"mpbench/pkg/method"
	"mpbench/pkg/numbers"
	"mpbench/pkg/op"
	"mpbench/pkg/peer"
	"mpbench/pkg/report"
)

func newMethods() *cobra.Command {
	known := slices.Concat(op.Names(), catalog.Names())
	return &cobra.Command{
		Use:   "methods [METHOD or OPERATION...]",
		Short: "List the methods with format, precision, devices and operations, or say all about those that are named",
		Long: `Lists the methods, with the bytes of a number (of W words) and the operations that each is for. Of
methods and operations that are named it says what they do, their error bounds and where these are proved: S is the
sum of the magnitudes of what is added, g(k) = k*u / (1 - k*u), n the number of terms, m one more than the additions
that a term goes through, p the precision and u the unit roundoff of the format. Methods with a star are run only
where they are named; peers are all that call libraries of others, of which the second list says whether they are
there.`,
		Example: `  mpbench methods
  mpbench methods deferred dd
  mpbench methods gemv`,
		ValidArgs: known,
		RunE: func(cmd *cobra.Command, names []string) error {
			for _, name := range names {
				if !slices.Contains(known, name) {
					return usagef("methods: %s", suggest.Unknown("method or operation", name, known))
				}
			}
			if len(names) == 0 {
				return listMethods(cmd.OutOrStdout())
			}
			return describeMethods(cmd.OutOrStdout(), names)
		},
	}
}

// listMethods lists all methods, and the libraries of others that some of them call.
func listMethods(w io.Writer) error {
	heads := []string{"method", "format", "bits", "a number", "device", "operations"}
	if err := report.List(w, heads, mapped(catalog.Names(), methodRow), columns(w)); err != nil {
		return err
	}
	rows := mapped(peer.Statuses(), func(s peer.Status) []string {
		return []string{s.Name, strings.Join(s.Methods, ","), describePeer(s)}
	})
	fmt.Fprintln(w)
	return report.List(w, []string{"library", "methods", "version, or what is missing"}, rows, columns(w))
}

// methodRow says what a method is, and for which operations.
func methodRow(name string) []string {
	var operations, devices []string
	var first method.Method
	for _, m := range catalog {
		if m.Name != name {
			continue
		}
		if first.Name == "" {
			first = m
		}
		operations = append(operations, m.Operation.Name)
		for _, kind := range m.Kinds() {
			if !slices.Contains(devices, kind) {
				devices = append(devices, kind)
			}
		}
	}
	if first.Extra {
		name += " *"
	}
	text := strings.Join(operations, " ")
	if len(operations) == len(catalog.Operations()) {
		text = "all"
	}
	return []string{name, first.Format, precisionOf(first), cmp.Or(first.Number, "-"), strings.Join(devices, ","), text}
}

func precisionOf(m method.Method) string {
	if m.Bits != 0 {
		return fmt.Sprint(m.Bits)
	}
	return fmt.Sprintf("%d to %d", m.Least, m.Most)
}

// describeMethods says all about methods, and about all methods of operations.
func describeMethods(w io.Writer, names []string) error {
	var lists []titled
	for _, o := range catalog.Operations() {
		rows := [][]string{}
		for _, m := range catalog.Of(o) {
			if slices.Contains(names, o.Name) || slices.Contains(names, m.Name) {
				text := m.Summary + "\nbound: " + m.Bound.Formula + "\n" + m.Bound.Source
				if m.Number != "" {
					text += "\na number: " + m.Number
				}
				rows = append(rows, []string{m.Name, m.Format, strings.Join(m.Kinds(), ","), precisionOf(m), text})
			}
		}
		if len(rows) > 0 {
			lists = append(lists, titled{o.Name, rows})
		}
	}
	return writeLists(w, []string{"method", "format", "device", "bits", "what it does, error bound, source"}, lists)
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
	var save string
	cmd := &cobra.Command{
		Use:   "datasets [name]",
		Short: "List the data sets of " + listed(op.Names()) + ", or say all about those of one name",
		Long: `Lists the data sets with their number of terms and parameters. A set is written as name or
name:key=value,...; every set takes n=, seeded ones seed=. With a name, says all about the sets of that
name. With --save, the name may have parameters, and the sparse matrix is written to a Matrix Market file.`,
		Example: "  mpbench datasets\n  mpbench datasets gensum\n" +
			"  mpbench datasets convdiff:n=10000 --save convdiff.mtx",
		Args:              atMostOne("name"),
		ValidArgsFunction: cobra.FixedCompletions(allSetNames(), cobra.ShellCompDirectiveNoFileComp),
		RunE: func(cmd *cobra.Command, args []string) error {
			if save != "" {
				return saveMatrix(args, save)
			}
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
	cmd.Flags().StringVar(&save, "save", "", "write the sparse matrix of that name to a .mtx `file`")
	completeFiles(cmd, "save", []string{".mtx"})
	return cmd
}

// saveMatrix writes a generated matrix.
func saveMatrix(args []string, path string) error {
	if len(args) != 1 || filepath.Ext(path) != ".mtx" {
		return usagef("--save %s: want the name of a sparse matrix, and of a .mtx file for it", path)
	}
	spec, err := datasets.Sparses.Parse(args[0])
	if err != nil {
		return err
	}
	d, err := datasets.Generate(spec, datasets.Options{Seed: 1})
	if err != nil {
		return err
	}
	return report.WriteFile(path, func(w io.Writer) error {
		return datasets.WriteMatrixMarket(w, numbers.Sparse(d.A.Source, d.N, d.Pattern))
	})
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
