package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"mpbench/datasets"
	"mpbench/pkg/device"
	"mpbench/pkg/numbers"
	"mpbench/pkg/plan"
	"mpbench/pkg/record"
)

// rateFlag is a flag for a ceiling.
type rateFlag struct {
	name, usage string
	text        *string
}

func (o *planOptions) rates() []rateFlag {
	return []rateFlag{
		{"disk", "what each host reads in a second, as 5GB/s, or a `file` or folder here to measure", &o.disk},
		{"memory", "what a host's memory gives in a second, as 200GB/s", &o.memory},
		{"bus", "what each GPU gets from its host in a second, as 55GB/s", &o.bus},
		{"link", "what goes from one host to another in a second, as 100Gbit/s", &o.link},
	}
}

// ceilings are measured, given or assumed.
func (o *planOptions) ceilings(ctx context.Context, w plan.Work) (c plan.Ceilings, err error) {
	for _, r := range []struct {
		text, name string
		to         *plan.Ceiling
		otherwise  func() (plan.Ceiling, error)
	}{
		{o.disk, "disk", &c.Disk, func() (plan.Ceiling, error) { return o.measureDisk(ctx) }},
		{o.memory, "memory", &c.Memory, o.memoryHere},
		{o.bus, "bus", &c.Bus, o.busHere},
		{o.link, "link", &c.Link, func() (plan.Ceiling, error) { return plan.AssumedLink, nil }},
	} {
		rate, isRate := parseRate(r.text)
		switch {
		case isRate:
			*r.to = plan.Ceiling{Value: rate, From: plan.Given}
		case r.text != "" && r.name != "disk":
			return c, usagef("--%s %s: want a rate, as 5GB/s or 100Gbit/s", r.name, r.text)
		default:
			if *r.to, err = r.otherwise(); err != nil {
				return c, err
			}
		}
	}
	c.Latency = plan.AssumedLatency
	if o.latency > 0 {
		c.Latency = plan.Ceiling{Value: o.latency.Seconds(), From: plan.Given}
	}
	if o.engine > 0 {
		c.Engine = plan.Ceiling{Value: o.engine, From: plan.Given}
		return c, nil
	}
	if o.gpus > 0 && !gpuHere() {
		c.Engine = plan.AssumedGPU(w)
		return c, nil
	}
	c.Engine, c.Convert, err = plan.MeasureEngine(ctx, w, o.runner(false))
	if here := o.config.Threads; o.gpus == 0 && o.threads > here { // more processors than there are here
		c.Engine.Value *= float64(here) / float64(o.threads)
		c.Convert.Value *= float64(here) / float64(o.threads)
		c.Engine.From += plan.Origin(fmt.Sprintf(" with %s", record.Count(here, "thread")))
	}
	return c, err
}

// runner is what is planned, or, to measure an engine apart, without reading and bus.
func (o *planOptions) runner(whole bool) plan.Runner {
	if o.from == string(plan.File) && o.gpus == 0 {
		return plan.Streamed(o.config.Threads)
	}
	c := o.config
	if c.Stream = whole && o.gpus > 0 && o.from != string(plan.Device); whole && o.gpus > 1 {
		c.Devices = device.GPUs(o.gpus)
	}
	return plan.By(o.chosen, c)
}

// memoryHere is measured, unless hosts of GPUs are planned where there are none.
func (o *planOptions) memoryHere() (plan.Ceiling, error) {
	if o.gpus > 0 && !gpuHere() {
		return plan.AssumedMemory, nil
	}
	return plan.MeasureMemory(0), nil
}

// busHere is measured where there is a GPU.
func (o *planOptions) busHere() (plan.Ceiling, error) {
	if o.gpus == 0 || !gpuHere() {
		return plan.AssumedBus, nil
	}
	rate, err := busRate(0)
	return plan.Ceiling{Value: rate, From: plan.Measured}, err
}

// diskSample is the bytes of the file that is written where a folder is to be measured: more than is read through the
// system's memory. Tests write less.
var diskSample = 128 << 20

// measureDisk reads the files, or what --disk names.
func (o *planOptions) measureDisk(ctx context.Context) (plan.Ceiling, error) {
	if o.from != string(plan.File) {
		return plan.Ceiling{Value: math.Inf(1), From: plan.Assumed}, nil
	}
	if o.disk == "" && o.data != nil {
		p := o.data.problem
		a := p.X
		if !p.A.Absent() {
			a = numbers.Array{Source: p.A.Source, Layout: numbers.Strided(p.A.Len(), 1)}
		}
		return plan.MeasureDisk(ctx, a)
	}
	path := o.disk
	info, err := os.Stat(path)
	switch {
	case path == "":
		return plan.Ceiling{}, usagef("--from file needs a file, or --disk: a rate as 5GB/s, or a file or folder here " +
			"to measure")
	case err != nil:
		return plan.Ceiling{}, usagef("--disk %s: want a rate as 5GB/s, or a file or folder here to measure", path)
	case info.IsDir():
		path = filepath.Join(path, fmt.Sprintf("mpbench-plan-%d.npy", os.Getpid()))
		defer os.Remove(path)
		if err := writeSample(path); err != nil {
			return plan.Ceiling{}, inputOutputf("cannot write %s: %v", path, cause(err))
		}
	}
	s, err := datasets.OpenStream(path)
	if err != nil {
		return plan.Ceiling{}, err
	}
	defer s.Close()
	return plan.MeasureDisk(ctx, numbers.Vector(s.Unhashed()))
}

func writeSample(path string) error {
	data, err := npyFile(path, make(numbers.Float64s, diskSample/8))
	if err != nil {
		return err
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Sync(), f.Close())
}

// parseRate reads bytes per second: "5GB/s", "800MB/s", "100Gbit/s".
func parseRate(text string) (float64, bool) {
	for i, unit := range []string{"kB/s", "MB/s", "GB/s", "TB/s", "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s"} {
		number, ok := strings.CutSuffix(text, unit)
		x, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		if !ok || err != nil || !(x > 0) || math.IsInf(x, 1) {
			continue
		}
		x *= math.Pow(1000, float64(i%4+1))
		if i >= 4 {
			x /= 8
		}
		return x, true
	}
	return 0, false
}
