package record

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
)

// RunSchema is the schema of a whole run in one JSON object, with the fields "environments" and "records".
const RunSchema = "mpbench-run/1"

// A LineError says what is wrong in which line of a result file.
type LineError struct {
	Line int // from 1
	Err  error
}

func (e *LineError) Error() string { return fmt.Sprintf("line %d: %v", e.Line, e.Err) }
func (e *LineError) Unwrap() error { return e.Err }

// ReadRecords reads a result file: environments and records, one JSON object a line, or one object that holds a
// whole run (RunSchema). Blank lines are skipped, and fields that this version does not know are ignored.
// Anything else that is not as it should be is a *LineError.
//
// A last line that is cut off, as a killed program leaves it, is no error but a warning; the run keeps the text.
func ReadRecords(r io.Reader) (*Run, error) {
	in := bufio.NewReaderSize(&bounded{r, maxFile}, 1<<16)
	run := new(Run)
	for number := 1; ; number++ {
		line, err := readLine(in)
		if err != nil && err != io.EOF {
			return nil, &LineError{number, err}
		}
		last := err == io.EOF
		text := bytes.TrimSpace(line)
		if number == 1 {
			text = bytes.TrimPrefix(text, []byte("\ufeff"))
		}
		if startsDocument(text) && len(run.Environments)+len(run.Records) == 0 {
			return readDocument(in, line, number)
		}
		if err := run.addLine(text, last, number); err != nil {
			return nil, err
		}
		if last && run.Partial == nil || !last {
			run.Size += int64(len(line))
		}
		if last {
			return run, nil
		}
	}
}

// Bounds of what is read: beyond, the input holds something else than results, or has no end.
const (
	maxLine = 1 << 26 // bytes of a line
	maxFile = 1 << 30 // bytes in all
)

// readLine returns the next line with its end; io.EOF comes with the last one.
func readLine(in *bufio.Reader) (line []byte, err error) {
	for {
		part, err := in.ReadSlice('\n')
		line = append(line, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
		if len(line) > maxLine {
			return nil, fmt.Errorf("more than %d bytes in one line; want JSON, one object a line", maxLine)
		}
	}
}

// bounded is a reader that fails beyond a number of bytes.
type bounded struct {
	io.Reader
	left int64
}

func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, fmt.Errorf("more than %d bytes; want a file of results", int64(maxFile))
	}
	return n, err
}

func (run *Run) addLine(text []byte, last bool, number int) error {
	if len(text) == 0 {
		return nil
	}
	if last && cutOff(text) {
		run.Partial = bytes.Clone(text)
		run.Warnings = append(run.Warnings, Warning{
			Code:   WarnTruncated,
			Text:   fmt.Sprintf("line %d is cut off after %d bytes and was left out", number, len(text)),
			Advice: "the run that wrote it was stopped; run that case again",
		})
		return nil
	}
	if err := run.add(text); err != nil {
		return &LineError{number, err}
	}
	return nil
}

// cutOff tells whether text is the beginning of a JSON object but not a whole one.
func cutOff(text []byte) bool {
	if text[0] != '{' {
		return false
	}
	var v json.RawMessage
	return errors.Is(json.NewDecoder(bytes.NewReader(text)).Decode(&v), io.ErrUnexpectedEOF)
}

func (run *Run) add(text []byte) error {
	var head struct {
		Schema *string `json:"schema"`
	}
	if err := decode(text, &head); err != nil {
		return err
	}
	switch {
	case head.Schema == nil:
		return fieldError("schema", "missing")
	case *head.Schema == EnvironmentSchema:
		var env Environment
		if err := decode(text, &env); err != nil {
			return err
		}
		run.Environments = append(run.Environments, env)
	case *head.Schema == RecordSchema:
		var r Record
		if err := decode(text, &r); err != nil {
			return err
		}
		if err := r.Validate(); err != nil {
			return err
		}
		run.Records = append(run.Records, r)
	case strings.HasPrefix(*head.Schema, "mpbench"):
		return fieldError("schema", "%q is not known to this version, which reads %q and %q",
			clip(*head.Schema), RecordSchema, EnvironmentSchema)
	default:
		return fieldError("schema", "%q is no result of mpbench", clip(*head.Schema))
	}
	return nil
}

// decode is json.Unmarshal with errors that name the field.
func decode(text []byte, v any) error {
	return Explain(json.Unmarshal(text, v))
}

// Explain makes errors of encoding/json say what they mean for a reader of the file.
func Explain(err error) error {
	var typeErr *json.UnmarshalTypeError
	var syntaxErr *json.SyntaxError
	switch {
	case errors.As(err, &typeErr):
		if typeErr.Field == "" {
			return fmt.Errorf("a JSON object is expected, not %s", article(typeErr.Value))
		}
		return fieldError(typeErr.Field, "%s where %s is expected", typeErr.Value, kindName(typeErr.Type.Kind().String()))
	case errors.As(err, &syntaxErr):
		return fmt.Errorf("no valid JSON at byte %d: %v", syntaxErr.Offset, syntaxErr)
	}
	return err
}

func article(value string) string {
	if strings.HasPrefix(value, "array") || strings.HasPrefix(value, "object") {
		return "an " + value
	}
	return "a " + value
}

// kindName calls a Go kind what it is in JSON.
func kindName(kind string) string {
	switch {
	case strings.HasPrefix(kind, "int"):
		return "an integer"
	case strings.HasPrefix(kind, "float"):
		return "a number"
	case kind == "bool":
		return "true or false"
	case kind == "slice":
		return "an array"
	case kind == "map", kind == "struct":
		return "an object"
	}
	return "a " + kind
}

// startsDocument tells whether a first line belongs to an object that is spread over several lines, or is a whole run.
func startsDocument(text []byte) bool {
	if string(text) == "{" {
		return true
	}
	var head struct {
		Schema string `json:"schema"`
	}
	return json.Unmarshal(text, &head) == nil && head.Schema == RunSchema
}

// readDocument reads one object that holds a whole run. The line that starts it was read already.
func readDocument(in io.Reader, line []byte, number int) (*Run, error) {
	rest, err := io.ReadAll(in)
	if err != nil {
		return nil, &LineError{number, err}
	}
	text := bytes.TrimPrefix(append(line, rest...), []byte("\ufeff"))
	var doc struct {
		Schema       *string           `json:"schema"`
		Environments []json.RawMessage `json:"environments"`
		Records      []json.RawMessage `json:"records"`
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		return nil, &LineError{number - 1 + JSONErrorLine(text, err), Explain(err)}
	}
	if doc.Schema == nil || *doc.Schema != RunSchema {
		return nil, &LineError{number,
			fieldError("schema", "a file that starts with a line \"{\" holds one object of schema %q", RunSchema)}
	}
	run := &Run{Size: int64(len(line) + len(rest))}
	for _, part := range append(doc.Environments, doc.Records...) {
		if err := run.add(part); err != nil {
			at := max(bytes.Index(text, part), 0) // the first of several that are the same
			return nil, &LineError{number + bytes.Count(text[:at], []byte("\n")), err}
		}
	}
	return run, nil
}

// JSONErrorLine returns the line, from 1, of a text in which encoding/json met an error.
func JSONErrorLine(text []byte, err error) int {
	var typeErr *json.UnmarshalTypeError
	var syntaxErr *json.SyntaxError
	offset := int64(0)
	switch {
	case errors.As(err, &typeErr):
		offset = typeErr.Offset
	case errors.As(err, &syntaxErr):
		offset = syntaxErr.Offset
	}
	return 1 + bytes.Count(text[:min(max(offset, 0), int64(len(text)))], []byte("\n"))
}

// MarshalRun returns the run as one JSON object of schema RunSchema, indented for readers.
func MarshalRun(run *Run) ([]byte, error) {
	doc := struct {
		Schema       string        `json:"schema"`
		Environments []Environment `json:"environments"`
		Records      []Record      `json:"records"`
	}{RunSchema, append([]Environment{}, run.Environments...), append([]Record{}, run.Records...)}
	for i := range doc.Records {
		if err := doc.Records[i].Validate(); err != nil {
			return nil, fmt.Errorf("record of %s: %w", doc.Records[i].Method, err)
		}
	}
	text, err := marshal(doc)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := json.Indent(&b, text, "", "  "); err != nil {
		return nil, err
	}
	b.WriteByte('\n')
	return b.Bytes(), nil
}

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
	return cmp.Or(r.checkNames(), r.checkCounts(), r.checkDecimals(), r.checkFloats())
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
		{"alignments", r.Alignments}, {"roundings", r.Roundings}, {"time_ns.iterations", r.Time.Iterations},
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
		if x := f.value; math.IsNaN(x) || math.IsInf(x, 0) || x < 0 {
			return fieldError(f.field, "%v is no number of at least 0", x)
		}
	}
	if b := r.CorrectBits; b != nil && (math.IsNaN(*b) || math.IsInf(*b, 0)) {
		return fieldError("correct_bits", "%v is no number; an exact result has null", *b)
	}
	return nil
}
