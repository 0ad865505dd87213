package report

import (
	"encoding/json"
	"io"

	"mpbench/pkg/record"
)

// JSON writes the run as one indented object, "schema", "environments", "records", for record.ReadRecords.
func JSON(w io.Writer, run *record.Run, _ Options) error {
	text, err := record.MarshalRun(run)
	if err != nil {
		return err
	}
	_, err = w.Write(text)
	return err
}

func writeJSON(w io.Writer, v any) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(v)
}

// JSONL writes the environments and then the records, one JSON object a line, completely, for record.ReadRecords.
func JSONL(w io.Writer, run *record.Run, _ Options) error {
	out := record.NewWriter(w)
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
