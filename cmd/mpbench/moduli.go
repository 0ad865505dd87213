package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"mpbench/pkg/report"
	"mpbench/pkg/rns"
)

func newModuli() *cobra.Command {
	precision, width, start := 240, rns.DefaultModuliBits, uint32(0)
	order := "ascending"
	cmd := &cobra.Command{
		Use:   "moduli",
		Short: "Print a set of RNS moduli, its dynamic range M and its precision p",
		Long: `Prints pairwise coprime odd moduli below 2^width that give at least the wanted precision
p = floor(log2(floor(sqrt(M - 1)))), where M is their product.`,
		Example: "  mpbench moduli --precision 240\n  mpbench moduli --precision 240 --moduli-bits 16\n  mpbench moduli " +
			"--precision 106 --order descending",
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			moduli, err := findModuli(precision, width, start, order)
			if err != nil {
				return err
			}
			base, err := rns.NewBase(moduli)
			if err != nil {
				return err
			}
			out := cmd.OutOrStdout()
			numbers := strings.Join(mapped(moduli, func(x uint32) string { return fmt.Sprint(x) }), " ")
			_, err = fmt.Fprintf(out,
				"%s\n\nmoduli      %d of %d bits\nlog2 M      %.4f\nprecision   %d bits (asked: %d)\n",
				strings.Join(report.BreakText(numbers, columns(out)), "\n"),
				base.Len(), base.ModuliBits(), base.Log2Range(), base.Precision(), precision)
			return err
		},
	}
	f := cmd.Flags()
	f.IntVarP(&precision, "precision", "p", precision, "precision in bits, at least")
	f.IntVar(&width, "moduli-bits", width, "width of the moduli in bits")
	f.StringVar(&order, "order", order, "search ascending, or descending from 2^width - 1")
	f.Uint32Var(&start, "start", 0, "first candidate, an odd number; 0 for the order's own")
	f.SortFlags = false
	complete(cmd, "order", orders)
	return cmd
}

var orders = []string{"ascending", "descending"}

func findModuli(precision, width int, start uint32, order string) ([]uint32, error) {
	if err := checkChoice("order", order, orders); err != nil {
		return nil, err
	}
	direction := rns.Ascending
	if order == "descending" {
		direction = rns.Descending
	}
	if start != 0 {
		return rns.GenerateModuliFrom(precision, width, start, direction)
	}
	return rns.GenerateModuli(precision, width, direction)
}
