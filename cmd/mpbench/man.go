package main

import (
	"errors"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

func newMan() *cobra.Command {
	return &cobra.Command{
		Use:   "man FOLDER",
		Short: "Write the manual pages into a folder",
		Long: "Writes a manual page for every command into a folder, which is made if need be: mpbench.1, " +
			"mpbench-sum.1, ...",
		Args: arguments(1, 1, "man: name one folder for the pages"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o777); err != nil {
				return inputOutputf("cannot make the folder %s: %v", args[0], cause(err))
			}
			root := cmd.Root()
			root.DisableAutoGenTag = true
			header := &doc.GenManHeader{Title: "MPBENCH", Section: "1", Source: "mpbench", Manual: "mpbench manual"}
			if err := doc.GenManTree(root, header, args[0]); err != nil {
				return inputOutputf("cannot write the pages: %v", errors.Unwrap(err))
			}
			return nil
		},
	}
}
