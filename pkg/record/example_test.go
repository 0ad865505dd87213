package record_test

import (
	"context"
	"os"

	"mpbench/pkg/record"
	"mpbench/pkg/sampling"
)

// Measure a sum and write the record as one line of a result file.
func ExampleRecord() {
	terms := make([]float64, 1000)
	var sum float64
	m, err := sampling.DefaultSampler().Measure(context.Background(), func(t *sampling.Timer) error {
		t.Time(record.PhaseKernel, func() {
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
	env := record.CaptureEnvironment()
	r := record.Record{
		Command: "sum", Method: "float64", Format: "binary64", Device: "cpu", Threads: 1,
		Dataset: record.Dataset{Name: "zeros", N: len(terms)}, Shape: record.Shape{N: len(terms)},
		PrecisionBits: 53, ActualBits: 53, EnvID: env.ID,
		Value: "0", Exact: "0", RelError: "0", ExactResult: true,
	}
	m.Fill(&r, int64(len(terms)), int64(8*len(terms)))
	out := record.NewWriter(os.Stdout)
	if err := out.WriteEnvironment(env); err != nil {
		panic(err)
	}
	if err := out.WriteRecord(r); err != nil {
		panic(err)
	}
}
