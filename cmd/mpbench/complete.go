package main

import (
	"strings"

	"github.com/spf13/cobra"
)

// complete makes the shell complete a flag from a list. A choice may have a description behind a tab.
func complete(cmd *cobra.Command, flag string, choices []string) {
	_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(choices, cobra.ShellCompDirectiveNoFileComp))
}

// completeList does so for each item of a list with commas.
func completeList(cmd *cobra.Command, flag string, choices []string) {
	items := func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		list := prefixed(typed[:strings.LastIndex(typed, ",")+1], choices)
		return list, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
	_ = cmd.RegisterFlagCompletionFunc(flag, items)
}

func completeFiles(cmd *cobra.Command, flag string, endings []string) {
	_ = cmd.MarkFlagFilename(flag, withoutPoints(endings)...)
}

// Endings of the files that flags and arguments take.
var (
	numberFiles = []string{".npy", ".txt", ".csv"}
	matrixFiles = []string{".npy"}
	vectorFiles = []string{".npy", ".txt"}
	resultFiles = []string{".jsonl", ".json"}
	planFiles   = []string{".yaml", ".yml", ".json"}
)

// completeArguments makes the shell complete arguments with the names of files that have one of the endings.
func completeArguments(endings []string) func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return withoutPoints(endings), cobra.ShellCompDirectiveFilterFileExt
	}
}

// withoutPoints returns endings of files as shells take them.
func withoutPoints(endings []string) []string {
	return mapped(endings, func(e string) string { return strings.TrimPrefix(e, ".") })
}
