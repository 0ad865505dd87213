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
var csvColumns = []dataField{
	{"command", kindText, func(r *record.Record) string { return r.Command }},
	{"dataset", kindText, func(r *record.Record) string { return r.Dataset.Label() }},
	{"dataset_sha256", kindText, func(r *record.Record) string { return r.Dataset.SHA256 }},
	{"m", kindInteger, func(r *record.Record) string { return positive(r.Shape.M) }},
	{"n", kindInteger, func(r *record.Record) string { return strconv.Itoa(r.Shape.N) }},
	{"k", kindInteger, func(r *record.Record) string { return positive(r.Shape.K) }},
	{"nnz", kindInteger, func(r *record.Record) string { return positive(r.Shape.NNZ) }},
	{"trans", kindText, func(r *record.Record) string { return r.Shape.Trans }},
	{"condition", kindDecimal, func(r *record.Record) string { return r.Condition }},
	{"method", kindText, func(r *record.Record) string { return r.Method }},
	{"format", kindText, func(r *record.Record) string { return r.Format }},
	{"variant", kindText, func(r *record.Record) string { return r.Variant }},
	{"device", kindText, func(r *record.Record) string { return r.Device }},
	{"threads", kindInteger, func(r *record.Record) string { return strconv.Itoa(r.Threads) }},
	{"precision_bits", kindInteger, func(r *record.Record) string { return strconv.Itoa(r.PrecisionBits) }},
	{"actual_bits", kindInteger, func(r *record.Record) string { return strconv.Itoa(r.ActualBits) }},
	{"moduli", kindInteger, func(r *record.Record) string { return positive(r.Moduli) }},
	{"moduli_bits", kindInteger, func(r *record.Record) string { return positive(r.ModuliBits) }},
	{"rounding", kindText, func(r *record.Record) string { return r.Rounding }},
	{"alignment", kindText, func(r *record.Record) string { return r.Alignment }},
	{"blocks", kindInteger, func(r *record.Record) string { return positive(r.Blocks) }},
	{"block_size", kindInteger, func(r *record.Record) string { return positive(r.BlockSize) }},
	{"value", kindText, func(r *record.Record) string { return r.Value }},
	{"exact", kindText, func(r *record.Record) string { return r.Exact }},
	{"rel_error", kindDecimal, func(r *record.Record) string { return r.RelError }},
	{"abs_error", kindDecimal, func(r *record.Record) string { return r.AbsError }},
	{"ulp_error", kindDecimal, func(r *record.Record) string { return r.ULPError }},
	{"correct_bits", kindNumber, func(r *record.Record) string { return optional(r.CorrectBits) }},
	{"exact_result", kindTruth, func(r *record.Record) string { return strconv.FormatBool(r.ExactResult) }},
	{"bound", kindDecimal, func(r *record.Record) string { return r.Bound }},
	{"abs_bound", kindDecimal, func(r *record.Record) string { return r.AbsBound }},
	{"within_bound", kindTruth, func(r *record.Record) string { return optional(r.WithinBound) }},
	{"result_hash", kindText, func(r *record.Record) string { return r.ResultHash }},
	{"samples", kindInteger, func(r *record.Record) string { return strconv.Itoa(len(r.Time.Samples)) }},
	{"iterations_per_sample", kindInteger, func(r *record.Record) string { return positive(r.Time.Iterations) }},
	{"median_ns", kindNumber, timed(func(r *record.Record) float64 { return r.Time.Median })},
	{"lo_ns", kindNumber, timed(func(r *record.Record) float64 { return r.Time.Lo })},
	{"hi_ns", kindNumber, timed(func(r *record.Record) float64 { return r.Time.Hi })},
	{"rel_mad", kindNumber, timed(func(r *record.Record) float64 { return r.Time.RelMAD })},
	{"convert_ns", kindNumber, timed(func(r *record.Record) float64 { return r.Phases[record.PhaseConvert] })},
	{"h2d_ns", kindNumber, timed(func(r *record.Record) float64 { return r.Phases[record.PhaseH2D] })},
	{"kernel_ns", kindNumber, timed(func(r *record.Record) float64 { return r.Phases[record.PhaseKernel] })},
	{"d2h_ns", kindNumber, timed(func(r *record.Record) float64 { return r.Phases[record.PhaseD2H] })},
	{"elements_per_s", kindNumber, timed(func(r *record.Record) float64 { return r.Throughput.ElementsPerSecond })},
	{"bytes_per_s", kindNumber, timed(func(r *record.Record) float64 { return r.Throughput.BytesPerSecond })},
	{"stop_rule", kindText, func(r *record.Record) string { return string(r.StopRule) }},
	{"warnings", kindText, warningCodes},
	{"env_id", kindText, func(r *record.Record) string { return r.EnvID }},
	{"row", kindInteger, func(r *record.Record) string { return optional(r.Row) }},
	{"norm_error", kindDecimal, func(r *record.Record) string { return r.NormError }},
	{"norm_bound", kindDecimal, func(r *record.Record) string { return r.NormBound }},
	{"matrix_bytes", kindInteger, func(r *record.Record) string { return positive(int(r.MatrixBytes)) }},
	{"workspace_bytes", kindInteger, func(r *record.Record) string { return positive(int(r.WorkspaceBytes)) }},
	{"alignments", kindInteger, func(r *record.Record) string { return positive(r.Alignments) }},
	{"roundings", kindInteger, func(r *record.Record) string { return positive(r.Roundings) }},
	{"one_shot_ns", kindNumber, timed((*record.Record).OneShotNs)},
	{"ratio_baseline", kindText, func(r *record.Record) string {
		if r.Ratio == nil {
			return ""
		}
		return r.Ratio.Baseline
	}},
	{"ratio", kindNumber, ratioCell(func(r *record.Ratio) float64 { return r.Median })},
	{"ratio_lo", kindNumber, ratioCell(func(r *record.Ratio) float64 { return r.Lo })},
	{"ratio_hi", kindNumber, ratioCell(func(r *record.Ratio) float64 { return r.Hi })},
	{"sparse_flops_per_s", kindNumber, func(r *record.Record) string {
		if r.Shape.NNZ == 0 {
			return ""
		}
		return timed(flops)(r)
	}},
}

// CSV writes a header and one line a record, or a sample if opts has it so, as RFC 4180 has it: CRLF, quotes where
// needed. Units are in the names of the columns. What is not known, or does not apply, is an empty cell; correct_bits
// is empty where exact_result is true. The parameters of data sets are columns of their own behind the others:
// param_cond.
func CSV(w io.Writer, run *record.Run, opts Options) error {
	t := flatten(run, dataFields(run), opts.Samples)
	return writeCSV(w, append([][]string{t.names}, t.rows...))
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

// ratioCell makes a cell that is empty in records without a ratio.
func ratioCell(value func(*record.Ratio) float64) func(*record.Record) string {
	return func(r *record.Record) string {
		if r.Ratio == nil {
			return ""
		}
		return strconv.FormatFloat(value(r.Ratio), 'g', -1, 64)
	}
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
