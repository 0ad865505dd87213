package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"

	"mpbench/pkg/record"
)

// csvColumns are part of the interface: names are never changed, and new columns go to the end.
var csvColumns = []struct {
	name string
	cell func(*record.Record) string
}{
	{"command", func(r *record.Record) string { return r.Command }},
	{"dataset", func(r *record.Record) string { return r.Dataset.Label() }},
	{"dataset_sha256", func(r *record.Record) string { return r.Dataset.SHA256 }},
	{"m", func(r *record.Record) string { return positive(r.Shape.M) }},
	{"n", func(r *record.Record) string { return strconv.Itoa(r.Shape.N) }},
	{"k", func(r *record.Record) string { return positive(r.Shape.K) }},
	{"nnz", func(r *record.Record) string { return positive(r.Shape.NNZ) }},
	{"trans", func(r *record.Record) string { return r.Shape.Trans }},
	{"condition", func(r *record.Record) string { return r.Condition }},
	{"method", func(r *record.Record) string { return r.Method }},
	{"format", func(r *record.Record) string { return r.Format }},
	{"variant", func(r *record.Record) string { return r.Variant }},
	{"device", func(r *record.Record) string { return r.Device }},
	{"threads", func(r *record.Record) string { return strconv.Itoa(r.Threads) }},
	{"precision_bits", func(r *record.Record) string { return strconv.Itoa(r.PrecisionBits) }},
	{"actual_bits", func(r *record.Record) string { return strconv.Itoa(r.ActualBits) }},
	{"moduli", func(r *record.Record) string { return positive(r.Moduli) }},
	{"moduli_bits", func(r *record.Record) string { return positive(r.ModuliBits) }},
	{"rounding", func(r *record.Record) string { return r.Rounding }},
	{"alignment", func(r *record.Record) string { return r.Alignment }},
	{"blocks", func(r *record.Record) string { return positive(r.Blocks) }},
	{"block_size", func(r *record.Record) string { return positive(r.BlockSize) }},
	{"value", func(r *record.Record) string { return r.Value }},
	{"exact", func(r *record.Record) string { return r.Exact }},
	{"rel_error", func(r *record.Record) string { return r.RelError }},
	{"abs_error", func(r *record.Record) string { return r.AbsError }},
	{"ulp_error", func(r *record.Record) string { return r.ULPError }},
	{"correct_bits", func(r *record.Record) string { return optional(r.CorrectBits) }},
	{"exact_result", func(r *record.Record) string { return strconv.FormatBool(r.ExactResult) }},
	{"bound", func(r *record.Record) string { return r.Bound }},
	{"abs_bound", func(r *record.Record) string { return r.AbsBound }},
	{"within_bound", func(r *record.Record) string { return optional(r.WithinBound) }},
	{"result_hash", func(r *record.Record) string { return r.ResultHash }},
	{"samples", func(r *record.Record) string { return strconv.Itoa(len(r.Time.Samples)) }},
	{"iterations_per_sample", func(r *record.Record) string { return positive(r.Time.Iterations) }},
	{"median_ns", timed(func(r *record.Record) float64 { return r.Time.Median })},
	{"lo_ns", timed(func(r *record.Record) float64 { return r.Time.Lo })},
	{"hi_ns", timed(func(r *record.Record) float64 { return r.Time.Hi })},
	{"rel_mad", timed(func(r *record.Record) float64 { return r.Time.RelMAD })},
	{"convert_ns", timed(func(r *record.Record) float64 { return r.Phases[record.PhaseConvert] })},
	{"h2d_ns", timed(func(r *record.Record) float64 { return r.Phases[record.PhaseH2D] })},
	{"kernel_ns", timed(func(r *record.Record) float64 { return r.Phases[record.PhaseKernel] })},
	{"d2h_ns", timed(func(r *record.Record) float64 { return r.Phases[record.PhaseD2H] })},
	{"elements_per_s", timed(func(r *record.Record) float64 { return r.Throughput.ElementsPerSecond })},
	{"bytes_per_s", timed(func(r *record.Record) float64 { return r.Throughput.BytesPerSecond })},
	{"stop_rule", func(r *record.Record) string { return string(r.StopRule) }},
	{"warnings", warningCodes},
	{"env_id", func(r *record.Record) string { return r.EnvID }},
	{"row", func(r *record.Record) string { return optional(r.Row) }},
	{"norm_error", func(r *record.Record) string { return r.NormError }},
	{"norm_bound", func(r *record.Record) string { return r.NormBound }},
	{"matrix_bytes", func(r *record.Record) string { return positive(int(r.MatrixBytes)) }},
	{"workspace_bytes", func(r *record.Record) string { return positive(int(r.WorkspaceBytes)) }},
}

// CSV writes a header and one line a record, as RFC 4180 has it: CRLF, quotes where needed. Units are in the
// names of the columns. What is not known, or does not apply, is an empty cell; correct_bits is empty where
// exact_result is true.
func CSV(w io.Writer, run *record.Run, _ Options) error {
	rows := make([][]string, 1+len(run.Records))
	for _, c := range csvColumns {
		rows[0] = append(rows[0], c.name)
		for i := range run.Records {
			rows[i+1] = append(rows[i+1], c.cell(&run.Records[i]))
		}
	}
	return writeCSV(w, rows)
}

func writeCSV(w io.Writer, rows [][]string) error {
	out := csv.NewWriter(w)
	out.UseCRLF = true
	return out.WriteAll(rows)
}

func positive(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

func optional[T any](p *T) string {
	if p == nil {
		return ""
	}
	return fmt.Sprint(*p)
}

// timed makes a cell that is empty in records without samples.
func timed(value func(*record.Record) float64) func(*record.Record) string {
	return func(r *record.Record) string {
		if len(r.Time.Samples) == 0 {
			return ""
		}
		return strconv.FormatFloat(value(r), 'g', -1, 64)
	}
}

func warningCodes(r *record.Record) string {
	var codes []string
	for _, w := range r.Warnings {
		codes = append(codes, w.Code)
	}
	return strings.Join(codes, " ")
}
