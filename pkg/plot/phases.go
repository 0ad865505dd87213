package plot

import (
	"fmt"
	"slices"
	"strings"

	"mpbench/pkg/record"
)

// maxBars bounds a picture; shareFrom is the ratio of the longest to the shortest bar from which on bars show shares,
// as the short ones could not be seen otherwise.
const (
	maxBars   = 48
	shareFrom = 12
)

// drawPhases draws where the time of each record goes: conversion, copies, and the parts of the operation.
func drawPhases(records []*record.Record, _ Options) *chart {
	c := &chart{title: "Phases", bars: &barChart{axis: "time of all phases", text: timeOf}}
	b := c.bars
	shown := filter(records, func(r *record.Record) bool { return len(phaseParts(r)) > 0 })
	if len(shown) == 0 {
		return nil
	}
	c.noteMissing(len(shown)-maxBars, "result", "results", maxBars)
	shown = shown[:min(len(shown), maxBars)]
	names := newNames(shown, nil)
	heading := ""
	least := 0.0
	for _, r := range shown {
		if h := fullTitle(r); h != heading {
			heading = h
			b.rows = append(b.rows, barRow{label: h})
		}
		row := barRow{label: names.of(r)}
		for _, p := range phaseParts(r) {
			b.phases = appendNew(b.phases, p.name)
			row.parts = append(row.parts, part{slices.Index(b.phases, p.name), p.ns})
			row.total += p.ns
		}
		row.note = timeOf(row.total)
		b.most = max(b.most, row.total)
		if least == 0 || row.total < least {
			least = row.total
		}
		b.rows = append(b.rows, row)
	}
	if b.share = b.most > shareFrom*least; b.share {
		c.title, b.axis = "Phases, as shares of their sum", "share of the time of all phases; the sum at the right"
	}
	return c
}

type namedPart struct {
	name string
	ns   float64
}

// phaseParts are the phases of a record that took time, in the order of execution. Phases without a standard name are
// parts of the kernel: they stand in its place, with what is left of it. A single one that is all of it is the kernel.
func phaseParts(r *record.Record) []namedPart {
	if strings.Contains(r.Device, emulated) {
		return nil
	}
	var parts []namedPart
	add := func(name string, ns float64) {
		if ns > 0 {
			parts = append(parts, namedPart{name, ns})
		}
	}
	standard := []string{record.PhaseConvert, record.PhaseH2D, record.PhaseKernel, record.PhaseD2H, record.PhaseHost}
	add("conversion", r.Phases[record.PhaseConvert])
	add("copy to device", r.Phases[record.PhaseH2D])
	rest := r.Phases[record.PhaseKernel]
	var inner []namedPart
	for _, name := range r.Phases.Names() {
		if ns := r.Phases[name]; !slices.Contains(standard, name) && ns > 0 {
			inner = append(inner, namedPart{name, ns})
			rest -= ns
		}
	}
	if len(inner) == 1 && rest < 0.2*inner[0].ns {
		inner, rest = nil, r.Phases[record.PhaseKernel]
	}
	for _, p := range inner {
		add(p.name, p.ns)
	}
	if len(inner) > 0 {
		add("rest of the operation", rest)
	} else {
		add("operation", rest)
	}
	add("copy from device", r.Phases[record.PhaseD2H])
	add("host, afterwards", r.Phases[record.PhaseHost])
	return parts
}

func hasPhases(records []*record.Record) bool {
	return slices.ContainsFunc(records, func(r *record.Record) bool { return len(phaseParts(r)) > 1 })
}

// timeOf writes nanoseconds with three digits.
func timeOf(ns float64) string {
	for _, u := range []struct {
		size float64
		name string
	}{{1e9, "s"}, {1e6, "ms"}, {1e3, "µs"}} {
		if ns >= 0.9995*u.size {
			return fmt.Sprintf("%.3g %s", ns/u.size, u.name)
		}
	}
	return fmt.Sprintf("%.3g ns", ns)
}
