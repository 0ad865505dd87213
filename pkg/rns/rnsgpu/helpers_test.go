package rnsgpu

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"testing"

	"mpbench/datasets"
	"mpbench/pkg/device"
	"mpbench/pkg/exact"
	"mpbench/pkg/gemv"
	"mpbench/pkg/gpu/gputest"
	"mpbench/pkg/method"
	"mpbench/pkg/numbers"
	"mpbench/pkg/op"
	"mpbench/pkg/reduce"
)

// onCPU are the methods whose bits those of a GPU must have.
var onCPU = method.Catalog(slices.Concat(reduce.Methods(), gemv.Methods()))

// constructors of a GPU, by the CPU method with the same bits.
var constructors = map[string]map[string]method.New{
	"reduce1":   {"reduce1s": NewRecursiveSum(false), "reduce1p": NewRecursiveSum(true)},
	"reduce2":   {"reduce2s": NewPairwiseSum(false), "reduce2p": NewPairwiseSum(true)},
	"reduce3":   {"reduce3": NewBlockSum(false), "reduce3p": NewBlockSum(true)},
	"rns-basic": {"rns-basic": NewBasic},
	"rns-split": {"rns-split": NewSplit},
}

// options returns a configuration with options by name and value in turn.
func options(precision int, list ...any) method.Config {
	c := method.Config{Precision: precision, Threads: 1, Options: map[string]string{}}
	for i := 0; i+1 < len(list); i += 2 {
		c.Options[list[i].(string)] = fmt.Sprint(list[i+1])
	}
	return c
}

// engineOn returns a new engine on the device under test; name is the CPU method, variant that of the GPU.
func engineOn(t testing.TB, o *op.Operation, name, variant string, c method.Config) method.Engine {
	t.Helper()
	m, ok := onCPU.Lookup(o, name)
	if !ok {
		t.Fatalf("no method %s", name)
	}
	c.Devices = device.Must(gputest.Name(t))
	m.On = map[device.Kind]method.New{device.CUDA: constructors[name][variant]}
	e, err := m.New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

// reference returns the components that a method computes on the CPU.
func reference(t testing.TB, o *op.Operation, name string, c method.Config, p *op.Problem) []exact.Value {
	t.Helper()
	m, _ := onCPU.Lookup(o, name)
	e, err := m.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return components(t, e, p)
}

// components prepares an engine, runs it twice and returns its result.
func components(t testing.TB, e method.Engine, p *op.Problem) []exact.Value {
	t.Helper()
	if err := method.Run(context.Background(), e, p); err != nil {
		t.Fatal(err)
	}
	if err := e.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	return resultOf(t, e)
}

func resultOf(t testing.TB, e method.Engine) (list []exact.Value) {
	t.Helper()
	y, err := e.Result()
	if err != nil {
		t.Fatal(err)
	}
	for i := range y.Len() {
		list = append(list, numbers.At(y, i))
	}
	return list
}

func compare(t *testing.T, what string, got, want []exact.Value) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d components, want %d", what, len(got), len(want))
	}
	for i := range want {
		if !got[i].Equal(want[i]) {
			t.Fatalf("%s, component %d: %v, want %v", what, i, got[i], want[i])
		}
	}
}

// compareAll compares every GPU version of methods with the CPU's bits.
func compareAll(t *testing.T, what string, names []string, c method.Config, p *op.Problem) {
	t.Helper()
	for _, name := range names {
		want := reference(t, p.Op, name, c, p)
		for variant := range constructors[name] {
			e := engineOn(t, p.Op, name, variant, c)
			compare(t, variant+" of "+what, components(t, e, p), want)
			if err := e.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// sumOf returns the sum of a data set.
func sumOf(t testing.TB, text string) *op.Problem {
	t.Helper()
	spec, err := datasets.Vectors.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	d, err := datasets.Generate(spec, datasets.Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	return d.Problem(op.Sum)
}

func uniform(t testing.TB, n int) *op.Problem { return sumOf(t, "uniform11:n="+strconv.Itoa(n)) }
