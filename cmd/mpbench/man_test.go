package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// commands returns every command of the program that users see, the root first.
func commands(cmd *cobra.Command) []*cobra.Command {
	list := []*cobra.Command{cmd}
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			list = append(list, commands(c)...)
		}
	}
	return list
}

// output runs the program in this process and returns what it prints; it must exit with 0.
func output(t *testing.T, args ...string) string {
	t.Helper()
	var stdout, stderr strings.Builder
	if code := run(context.Background(), args, &stdout, &stderr); code != 0 {
		t.Fatalf("mpbench %s: exit code %d: %s", strings.Join(args, " "), code, stderr.String())
	}
	return stdout.String()
}

// TestManPages: every command has a page with its summary, its flags and the page above it; where man or mandoc is
// installed, it finds no fault with them.
func TestManPages(t *testing.T) {
	folder := t.TempDir()
	output(t, "man", folder)
	pages := 0
	for _, c := range commands(newRoot()) {
		path := filepath.Join(folder, strings.ReplaceAll(c.CommandPath(), " ", "-")+".1")
		text, err := os.ReadFile(path)
		if err != nil {
			t.Error(err)
			continue
		}
		pages++
		page := strings.ReplaceAll(string(text), `\`, "")
		title := `.TH "` + strings.ToUpper(strings.ReplaceAll(c.CommandPath(), " ", "-")) + `" "1"`
		for _, want := range []string{title, ".SH NAME", ".SH SYNOPSIS", c.Short} {
			if !strings.Contains(page, want) {
				t.Errorf("%s: no %q", path, want)
			}
		}
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden && !strings.Contains(page, "--"+f.Name) {
				t.Errorf("%s: no --%s", path, f.Name)
			}
		})
		if c.HasParent() && !strings.Contains(page, strings.ReplaceAll(c.Parent().CommandPath(), " ", "-")) {
			t.Errorf("%s: nothing about the command above", path)
		}
		checkManPage(t, path)
	}
	if entries, _ := os.ReadDir(folder); len(entries) < pages || pages < 10 {
		t.Errorf("%d pages of %d commands", len(entries), pages)
	}
}

// checkManPage lets a formatter read the page, if there is one.
func checkManPage(t *testing.T, path string) {
	t.Helper()
	for _, checker := range [][]string{{"mandoc", "-T", "lint", "-W", "error"}, {"groff", "-man", "-ww", "-z"}} {
		if program, err := exec.LookPath(checker[0]); err == nil {
			if out, err := exec.Command(program, append(checker[1:], path)...).CombinedOutput(); err != nil || len(out) > 0 {
				t.Errorf("%s: %v: %s", path, err, out)
			}
			return
		}
	}
}

// TestCompletionScripts: each shell's script is made, and the shells that are installed find no fault with theirs.
func TestCompletionScripts(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		script := output(t, "completion", shell)
		if !strings.Contains(script, "__complete") || !strings.Contains(script, "mpbench") {
			t.Errorf("%s: no completion script: %.200s", shell, script)
		}
		program, err := exec.LookPath(shell)
		if err != nil || shell == "powershell" {
			t.Logf("%s is not installed: its script is not read by it", shell)
			continue
		}
		cmd := exec.Command(program, "-n")
		cmd.Stdin = strings.NewReader(script)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v: %s", shell, err, out)
		}
	}
}

// completions returns what a shell would be offered, and the directive that follows it.
func completions(t *testing.T, args ...string) (choices []string, directive string) {
	t.Helper()
	root := rootFor(append([]string{cobra.ShellCompRequestCmd}, args...))
	var stdout strings.Builder
	root.SetOut(&stdout)
	root.SetErr(io.Discard)
	if err := root.Execute(); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(stdout.String()), "\n")
	for _, line := range lines[:len(lines)-1] {
		choice, _, _ := strings.Cut(line, "\t")
		choices = append(choices, choice)
	}
	return choices, lines[len(lines)-1]
}

// TestCompletions: commands, flags, methods, data sets, kinds and the endings of files are completed.
func TestCompletions(t *testing.T) {
	const (
		noFiles = cobra.ShellCompDirectiveNoFileComp
		list    = noFiles | cobra.ShellCompDirectiveNoSpace // another item may follow
		ending  = cobra.ShellCompDirectiveFilterFileExt
	)
	for _, c := range []struct {
		args      string
		want      string // among the choices
		directive cobra.ShellCompDirective
	}{
		{"", "sum dot gemv plot report methods datasets man", noFiles},
		{"sum|--meth", "--method", noFiles},
		{"sum|--method|", "float64 kahan reduce1 deferred all", list},
		{"dot|--method|", "dot2 deferred all", list},
		{"gemv|--method|", "rns-basic rns-split deferred all", list},
		{"sum|--dataset|", "mcnamee1 gensum zhuhayes4", list},
		{"gemv|--dataset|", "hilbert gengemv", list},
		{"sum|--method|float64,re", "float64,reduce1 float64,reduce3", list},
		{"sum|--dataset|mcnamee1,", "mcnamee1,gensum", list},
		{"sum|--dataset|gensum:", "gensum:cond= gensum:n= gensum:seed=", list},
		{"sum|--dataset|basel,gensum:cond=1e3,", "basel,gensum:cond=1e3,n= basel,gensum:cond=1e3,mcnamee1", list},
		{"sum|--dataset|gensum:cond=1e3,s", "gensum:cond=1e3,seed=", list},
		{"advise|--dataset|gengemv:", "gengemv:cond= gengemv:m=", list},
		{"sum|--scan|", "cond= n= method= seed= block-size=", list},
		{"help|", "sum version", noFiles},
		{"sum|--device|", "cpu", list},
		{"datasets|", "mcnamee1 hilbert", noFiles},
		{"sum|--format|", "table csv gobench html svg", noFiles},
		{"sum|--color|", "auto always never", noFiles},
		{"sum|--rounding|", "truncate nearest", noFiles},
		{"sum|--alignment|", "2018 blas", noFiles},
		{"sum|--reading|", "double exact", noFiles},
		{"sum|--kind|", "auto error bits phases mpres2018-fig7", noFiles},
		{"sum|--export|", "jsonl json csv md bench txt html svg png", ending},
		{"sum|--input|", "npy npz txt csv", ending},
		{"gemv|--input-a|", "npy", ending},
		{"gemv|--input-x|", "npy txt csv", ending},
		{"gemv|--save-result|", "npy txt", ending},
		{"report|", "jsonl json", ending},
		{"report|--html|", "html", ending},
		{"plot|", "jsonl json", ending},
		{"compare|", "jsonl json", ending},
		{"check|", "yaml json", ending},
		{"check|--values|", "npy txt csv", ending},
		{"plot|--export|", "svg png", ending},
		{"plot|--kind|", "auto error time-precision", noFiles},
		{"plot|--method|", "float64 rns-split", list},
	} {
		choices, directive := completions(t, strings.Split(c.args, "|")...)
		for _, want := range strings.Fields(c.want) {
			found := false
			for _, choice := range choices {
				found = found || choice == want
			}
			if !found {
				t.Errorf("%s: no %q among %q", c.args, want, choices)
			}
		}
		if want := fmt.Sprintf(":%d", c.directive); directive != want {
			t.Errorf("%s: directive %s, want %s", c.args, directive, want)
		}
	}
}

// TestFlagsAreCompleted: every flag that takes a word is completed somehow; numbers and free texts are not.
func TestFlagsAreCompleted(t *testing.T) {
	free := map[string]bool{ // texts of the user's own
		"precision": true, "n": true, "m": true, "k": true, "alpha": true, "beta": true, "scan": true, "title": true,
		"correct-bits": true, "rel-error": true, "ulp": true, "result-hash": true,
		"rows": true, "share": true, "piece": true, "at": true, "of": true, "id": true,
		"memory": true, "bus": true, "link": true,
	}
	for _, c := range commands(newRoot()) {
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			kind := f.Value.Type()
			if free[f.Name] || kind != "string" && kind != "stringArray" && kind != "stringSlice" {
				return
			}
			_, byFunction := c.GetFlagCompletionFunc(f.Name)
			_, byEnding := f.Annotations[cobra.BashCompFilenameExt]
			if !byFunction && !byEnding {
				t.Errorf("%s --%s is not completed; see complete.go", c.CommandPath(), f.Name)
			}
		})
	}
}
