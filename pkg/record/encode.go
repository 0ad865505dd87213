package record

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
)

// MarshalJSON writes the record on one line, with the schema filled in and empty lists as [] and {}.
func (r Record) MarshalJSON() ([]byte, error) {
	type plain Record // without this method
	r.Schema = RecordSchema
	if r.Dataset.Params == nil {
		r.Dataset.Params = map[string]string{}
	}
	if r.Time.Samples == nil {
		r.Time.Samples = []float64{}
	}
	if r.Warnings == nil {
		r.Warnings = []Warning{}
	}
	return marshal(plain(r))
}

// marshal is json.Marshal without the escapes for HTML, which hurt readers of "<" and "&" in texts.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// A Writer writes a result file, one JSON object a line. Each line goes to the underlying writer in one Write,
// so that a file that is cut off holds whole lines and at most one part of a line.
type Writer struct {
	w       io.Writer
	written map[string]bool // IDs of environments
}

// NewWriter returns a Writer that writes to w.
func NewWriter(w io.Writer) *Writer { return &Writer{w, map[string]bool{}} }

// WriteEnvironment writes the environment, unless one with the same ID was written before.
func (w *Writer) WriteEnvironment(env Environment) error {
	if w.written[env.ID] {
		return nil
	}
	w.written[env.ID] = true
	return w.line(env)
}

// Skip makes later calls of WriteEnvironment leave out an environment that is there already.
func (w *Writer) Skip(env Environment) { w.written[env.ID] = true }

// WriteRecord writes one record. A record that could not be read back is refused with the name of its field.
func (w *Writer) WriteRecord(r Record) error {
	if err := r.Validate(); err != nil {
		return fmt.Errorf("record of %s: %w", r.Method, err)
	}
	return w.line(r)
}

func (w *Writer) line(v any) error {
	b, err := marshal(v)
	if err != nil {
		return err
	}
	_, err = w.w.Write(append(b, '\n'))
	return err
}

// A FieldError says what is wrong with a field of a record, an environment or a warning.
type FieldError struct {
	Field string // as it is called in JSON, "time_ns.median"
	Text  string
}

func (e *FieldError) Error() string { return fmt.Sprintf("field %q: %s", e.Field, e.Text) }

func fieldError(field, format string, args ...any) error {
	return &FieldError{field, fmt.Sprintf(format, args...)}
}

// Validate returns a *FieldError for the first field whose content is impossible.
func (r *Record) Validate() error {
	for _, check := range []func() error{r.checkNames, r.checkCounts, r.checkDecimals, r.checkFloats} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

func (r *Record) checkNames() error {
	for _, f := range []struct{ field, value string }{
		{"command", r.Command}, {"method", r.Method}, {"device", r.Device}, {"dataset.name", r.Dataset.Name},
	} {
		if f.value == "" {
			return fieldError(f.field, "missing or empty")
		}
	}
	return nil
}

func (r *Record) checkCounts() error {
	for _, f := range []struct {
		field string
		value int
	}{
		{"threads", r.Threads}, {"dataset.n", r.Dataset.N},
		{"shape.m", r.Shape.M}, {"shape.n", r.Shape.N}, {"shape.k", r.Shape.K}, {"shape.nnz", r.Shape.NNZ},
		{"precision_bits", r.PrecisionBits}, {"actual_bits", r.ActualBits},
		{"moduli", r.Moduli}, {"moduli_bits", r.ModuliBits}, {"blocks", r.Blocks}, {"block_size", r.BlockSize},
		{"time_ns.iterations", r.Time.Iterations},
	} {
		if f.value < 0 {
			return fieldError(f.field, "%d is negative", f.value)
		}
	}
	if r.Throughput.Elements < 0 || r.Throughput.Bytes < 0 {
		return fieldError("throughput", "a count is negative")
	}
	return nil
}

func (r *Record) checkDecimals() error {
	for _, f := range []struct{ field, value string }{
		{"value", r.Value}, {"exact", r.Exact}, {"condition", r.Condition},
		{"rel_error", r.RelError}, {"abs_error", r.AbsError}, {"ulp_error", r.ULPError},
		{"bound", r.Bound}, {"abs_bound", r.AbsBound}, {"norm_error", r.NormError}, {"norm_bound", r.NormBound},
	} {
		if f.value == "" {
			continue
		}
		if _, err := ParseDecimal(f.value); err != nil {
			return fieldError(f.field, "%v", err)
		}
	}
	return nil
}

func (r *Record) checkFloats() error {
	check := func(field string, x float64) error {
		if math.IsNaN(x) || math.IsInf(x, 0) || x < 0 {
			return fieldError(field, "%v is no number of at least 0", x)
		}
		return nil
	}
	type named struct {
		field string
		value float64
	}
	fields := []named{
		{"time_ns.median", r.Time.Median}, {"time_ns.lo", r.Time.Lo}, {"time_ns.hi", r.Time.Hi},
		{"time_ns.confidence", r.Time.Confidence}, {"time_ns.rel_mad", r.Time.RelMAD},
		{"throughput.elements_per_s", r.Throughput.ElementsPerSecond},
		{"throughput.bytes_per_s", r.Throughput.BytesPerSecond},
	}
	for i, x := range r.Time.Samples {
		fields = append(fields, named{fmt.Sprintf("time_ns.samples[%d]", i), x})
	}
	for i, k := range r.Kernels {
		for _, f := range []named{{"time_ns", k.TimeNs}, {"bandwidth_share", k.BytesShare}, {"occupancy", k.Occupancy}} {
			fields = append(fields, named{fmt.Sprintf("kernels[%d].%s", i, f.field), f.value})
		}
	}
	for _, name := range r.Phases.Names() {
		fields = append(fields, named{"phases_ns." + name, r.Phases[name]})
	}
	for _, f := range fields {
		if err := check(f.field, f.value); err != nil {
			return err
		}
	}
	if b := r.CorrectBits; b != nil && (math.IsNaN(*b) || math.IsInf(*b, 0)) {
		return fieldError("correct_bits", "%v is no number; an exact result has null", *b)
	}
	return nil
}
