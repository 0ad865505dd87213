package report

import (
	"io"

	"mpbench/pkg/record"
)

// JSON writes the run as one indented object with the fields "schema", "environments" and "records".
// record.ReadRecords reads it back.
func JSON(w io.Writer, run *record.Run, _ Options) error {
	text, err := record.MarshalRun(run)
	if err != nil {
		return err
	}
	_, err = w.Write(text)
	return err
}
