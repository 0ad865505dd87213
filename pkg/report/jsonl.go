package report

import (
	"io"

	"mpbench/pkg/bench"
)

// JSONL writes the environments and then the records, one JSON object a line. Nothing is lost:
// bench.ReadRecords reads it back.
func JSONL(w io.Writer, run *bench.Run, _ Options) error {
	out := bench.NewWriter(w)
	for _, env := range run.Environments {
		if err := out.WriteEnvironment(env); err != nil {
			return err
		}
	}
	for _, r := range run.Records {
		if err := out.WriteRecord(r); err != nil {
			return err
		}
	}
	return nil
}
