package main

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"mpbench/pkg/compare"
	"mpbench/pkg/record"
)

// confirmPause comes before the second half of a comparison: what disturbs both halves lasts for seconds.
const confirmPause = 2 * time.Second

// runAgain runs two command lines in turns, each o.rerun times, and compares what they measure. Changes are confirmed
// by as many runs again: what these do not find too is no change.
func (o *compareOptions) runAgain(cmd *cobra.Command, old, now []string) (*compare.Result, error) {
	if o.rerun < 2 || o.rerun > 1000 {
		return nil, usagef("--rerun %d: want 2 to 1000 runs of each side", o.rerun)
	}
	if len(old) != 1 || len(now) != 1 {
		return nil, usagef("--rerun takes two command lines, each in quotes, as 'mpbench sum -m deferred'")
	}
	folder, err := os.MkdirTemp("", "mpbench-rerun-")
	if err != nil {
		return nil, inputOutputf("cannot make a folder for results: %v", cause(err))
	}
	defer os.RemoveAll(folder)
	r := rerun{cmd: cmd, folder: folder, alpha: o.alpha}
	for i, text := range []string{old[0], now[0]} {
		if r.sides[i].words, err = words(text); err != nil {
			return nil, err
		}
	}
	first, err := r.rounds(o.rerun)
	if err != nil || !slices.ContainsFunc(first.Rows, isSignificant) {
		return first, err
	}
	select {
	case <-time.After(confirmPause):
	case <-cmd.Context().Done():
	}
	second, err := r.rounds(o.rerun)
	if err != nil {
		return nil, err
	}
	all, err := compare.Compare(&r.sides[0].all, &r.sides[1].all, o.alpha)
	if err != nil {
		return nil, err
	}
	all.KeepSignificant(first, second)
	return all, nil
}

func isSignificant(r compare.Row) bool { return r.Time != nil && r.Time.Significant }

// rerun are two command lines and what they have measured so far.
type rerun struct {
	cmd    *cobra.Command
	folder string
	alpha  float64
	sides  [2]struct {
		words []string
		all   record.Run
	}
	runs int
}

// rounds runs both sides n times in turns, the order changing from round to round, and compares these runs.
func (r *rerun) rounds(n int) (*compare.Result, error) {
	progress := newProgress(r.cmd, 2*n, false)
	defer progress.Close()
	var fresh [2]record.Run
	for i := range 2 * n {
		side := (i + i/2) % 2
		words := r.sides[side].words
		progress.Begin(strings.Join(words, " "))
		run, err := r.once(words)
		if err != nil {
			return nil, err
		}
		for _, to := range []*record.Run{&fresh[side], &r.sides[side].all} {
			to.Environments = append(to.Environments, run.Environments...)
			to.Records = append(to.Records, run.Records...)
		}
		progress.End()
	}
	return compare.Compare(&fresh[0], &fresh[1], r.alpha)
}

// once runs a command line and reads what it exports.
func (r *rerun) once(words []string) (*record.Run, error) {
	ctx := r.cmd.Context()
	r.runs++
	path := filepath.Join(r.folder, fmt.Sprint(r.runs, ".jsonl"))
	var said strings.Builder
	command := exec.CommandContext(ctx, programOf(words[0]), append(words[1:len(words):len(words)], "--export", path)...)
	command.Stderr = &said
	err := command.Run()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return nil, &statusError{exitInterrupted, "interrupted"}
	case err != nil && !(errors.As(err, &exit) && exit.ExitCode() == exitCheckFailed):
		return nil, inputOutputf("%s: %s", strings.Join(words, " "), lastLine(said.String(), err))
	}
	return readRun(context.WithoutCancel(ctx), path)
}

// programOf returns what the first word of a command line names: mpbench is this program where no other is installed.
func programOf(name string) string {
	if _, err := exec.LookPath(name); err != nil && name == "mpbench" {
		if self, err := os.Executable(); err == nil {
			return self
		}
	}
	return name
}

// words divides a command line at spaces, but for those in double quotes.
func words(text string) ([]string, error) {
	reader := csv.NewReader(strings.NewReader(text))
	reader.Comma = ' '
	all, err := reader.Read()
	all = slices.DeleteFunc(all, func(word string) bool { return word == "" })
	if err != nil || len(all) == 0 {
		return nil, usagef("--rerun: %q is no command line; want one such as 'mpbench sum -m deferred', with double quotes "+
			"around words that have spaces", text)
	}
	return all, nil
}

// lastLine is what a program said last, or else the error.
func lastLine(said string, err error) string {
	lines := strings.Split(strings.TrimSpace(said), "\n")
	if last := strings.TrimPrefix(lines[len(lines)-1], "mpbench: "); last != "" {
		return last
	}
	return err.Error()
}
