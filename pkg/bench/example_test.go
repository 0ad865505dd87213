package bench_test

import (
	"context"
	"os"

	"mpbench/pkg/bench"
)

// Measure a sum and write the record as one line of a result file.
func ExampleSampler_Measure() {
	terms := make([]float64, 1000)
	var sum float64
	m, err := bench.DefaultSampler().Measure(context.Background(), func(t *bench.Timer) error {
		t.Time(bench.PhaseKernel, func() {
			sum = 0
			for _, x := range terms {
				sum += x
			}
		})
		return nil
	})
	if err != nil {
		panic(err)
	}
	env := bench.CaptureEnvironment()
	record := bench.Record{
		Command: "sum", Method: "float64", Format: "binary64", Device: "cpu", Threads: 1,
		Dataset: bench.Dataset{Name: "zeros", N: len(terms)}, Shape: bench.Shape{N: len(terms)},
		PrecisionBits: 53, ActualBits: 53, EnvID: env.ID,
		Value: "0", Exact: "0", RelError: "0", ExactResult: true,
	}
	record.SetMeasurement(m, int64(len(terms)), int64(8*len(terms)))
	out := bench.NewWriter(os.Stdout)
	if err := out.WriteEnvironment(env); err != nil {
		panic(err)
	}
	if err := out.WriteRecord(record); err != nil {
		panic(err)
	}
}
