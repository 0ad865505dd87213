package report

import (
	"io"

	"mpbench/pkg/bench"
)

// JSON writes the run as one indented object with the fields "schema", "environments" and "records".
// bench.ReadRecords reads it back.
func JSON(w io.Writer, run *bench.Run, _ Options) error {
	text, err := bench.MarshalRun(run)
	if err != nil {
		return err
	}
	_, err = w.Write(text)
	return err
}
