package main

import (
	"fmt"
	"io"
	"slices"
)

// listFlag is a flag whose value is a list with commas. The first use replaces the default, others add to it.
type listFlag struct {
	text    *string
	changed bool
}

func (l *listFlag) String() string {
	if l.text == nil {
		return ""
	}
	return *l.text
}

func (l *listFlag) Type() string { return "string" }

func (l *listFlag) Set(text string) error {
	if l.changed && *l.text != "" && text != "" {
		text = *l.text + "," + text
	}
	*l.text, l.changed = text, true
	return nil
}

// onceFlag is a flag that cannot be given twice with different values.
type onceFlag struct{ text string }

func (o *onceFlag) String() string { return o.text }
func (o *onceFlag) Type() string   { return "string" }
func (o *onceFlag) Set(text string) error {
	if o.text != "" && o.text != text {
		return usagef("%s and %s exclude each other", o.text, text)
	}
	o.text = text
	return nil
}

// notices are what has to be said beside the results, each once.
type notices struct{ lines []string }

func (n *notices) add(format string, args ...any) {
	if line := fmt.Sprintf(format, args...); !slices.Contains(n.lines, line) {
		n.lines = append(n.lines, line)
	}
}

// print writes the notices, once.
func (n *notices) print(w io.Writer) {
	for _, line := range n.lines {
		fmt.Fprintln(w, "left out:", line)
	}
	n.lines = nil
}
