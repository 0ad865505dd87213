package record

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"
)

func anyRecord(t *rapid.T) Record {
	name := rapid.StringMatching(`[a-z0-9:=,.<>&"\\ µ]{1,12}`)
	decimal := rapid.SampledFrom([]string{"0", "NaN", "+Inf", "-Inf", "1e-5000", "-3.5e+400",
		"123456789012345678901234567890"})
	maybe := func(label string) string {
		return rapid.OneOf(rapid.Just(""), decimal).Draw(t, label)
	}
	count := rapid.IntRange(0, 1<<30)
	ns := rapid.Float64Range(0, 1e15)
	r := Record{
		Schema: RecordSchema, Command: name.Draw(t, "command"), Method: name.Draw(t, "method"),
		Format: "rns", Device: name.Draw(t, "device"), Threads: count.Draw(t, "threads"),
		Dataset: Dataset{Name: name.Draw(t, "dataset"), N: count.Draw(t, "n"), Params: map[string]string{}},
		Shape:   Shape{M: count.Draw(t, "m"), N: count.Draw(t, "n"), Trans: "T"},

		PrecisionBits: count.Draw(t, "bits"), Moduli: count.Draw(t, "moduli"), Rounding: "truncate",
		Value: maybe("value"), Exact: maybe("exact"), RelError: maybe("rel"), Bound: maybe("bound"),
		ExactResult: rapid.Bool().Draw(t, "exact"), ResultHash: "aa",
		Time: Timing{
			Median: ns.Draw(t, "median"), Lo: ns.Draw(t, "lo"), Hi: ns.Draw(t, "hi"),
			Samples: rapid.SliceOfN(ns, 0, 5).Draw(t, "samples"), Iterations: count.Draw(t, "iterations"),
		},
		Phases:   Phases{"convert": ns.Draw(t, "convert"), "h2d": 0, "kernel": 1, "d2h": 0},
		StopRule: StopTimeout,
		Warnings: []Warning{},
		EnvID:    "ee",
	}
	r.Throughput = NewThroughput(3, 24, r.Time.Median)
	if rapid.Bool().Draw(t, "extras") {
		bits, within := rapid.Float64Range(-1e6, 1e6).Draw(t, "correct"), true
		r.CorrectBits, r.WithinBound = &bits, &within
		r.Dataset.Params["seed"] = name.Draw(t, "seed")
		r.Warnings = append(r.Warnings, Warning{"noisy", name.Draw(t, "text"), "advice"})
		r.Phases[name.Draw(t, "phase")] = 5
	}
	return r
}

// TestRoundTrip: what is written is read back, line by line and as one object.
func TestRoundTrip(t *testing.T) {
	env := CaptureEnvironment()
	rapid.Check(t, func(t *rapid.T) {
		want := &Run{Environments: []Environment{env}, Records: rapid.SliceOfN(rapid.Custom(anyRecord), 0, 3).Draw(t,
			"records")}
		var lines bytes.Buffer
		w := NewWriter(&lines)
		for range 2 { // the second time writes nothing
			if err := w.WriteEnvironment(env); err != nil {
				t.Fatal(err)
			}
		}
		for _, r := range want.Records {
			if err := w.WriteRecord(r); err != nil {
				t.Fatal(err)
			}
		}
		document, err := MarshalRun(want)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{lines.String(), string(document), strings.ReplaceAll(lines.String(), "\n",
			"\r\n\r\n")} {
			got, err := ReadRecords(strings.NewReader(text))
			if err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
			if got.Size != int64(len(text)) {
				t.Fatalf("size %d of %d", got.Size, len(text))
			}
			if !reflect.DeepEqual(got.Environments, want.Environments) || len(got.Records) != len(want.Records) {
				t.Fatalf("got %+v\nwant %+v", got, want)
			}
			for i := range want.Records {
				if !reflect.DeepEqual(got.Records[i], want.Records[i]) {
					t.Fatalf("got %+v\nwant %+v", got.Records[i], want.Records[i])
				}
			}
		}
	})
}

// oneRecord is a line of a result file.
const oneRecord = `{"schema":"mpbench/1","command":"sum","method":"kahan","device":"cpu","threads":1,` +
	`"dataset":{"name":"mcnamee3","n":64,"params":{},"sha256":""},"shape":{"n":64},"precision_bits":53,` +
	`"rel_error":"1e-5000","time_ns":{"median":5,"samples":[5]}}`

// TestFieldOrder pins the fields of a record and their order, which are the interface of the format.
func TestFieldOrder(t *testing.T) {
	var b bytes.Buffer
	r := Record{Command: "sum", Method: "reduce2", Format: "rns", Device: "cpu", Threads: 1,
		Dataset: Dataset{Name: "mcnamee3", N: 64}, Shape: Shape{N: 64}, PrecisionBits: 240, ActualBits: 240,
		Moduli: 32, ModuliBits: 16, Value: "1", Exact: "1", RelError: "0", ExactResult: true}
	if err := NewWriter(&b).WriteRecord(r); err != nil {
		t.Fatal(err)
	}
	want := `{"schema":"mpbench/1","command":"sum","method":"reduce2","format":"rns","device":"cpu","threads":1,` +
		`"dataset":{"name":"mcnamee3","n":64,"params":{},"sha256":""},"shape":{"n":64},` +
		`"precision_bits":240,"actual_bits":240,"moduli":32,"moduli_bits":16,` +
		`"value":"1","exact":"1","rel_error":"0","correct_bits":null,"exact_result":true,"within_bound":null,` +
		`"result_hash":"","time_ns":{"median":0,"lo":0,"hi":0,"samples":[]},` +
		`"phases_ns":{"convert":0,"h2d":0,"kernel":0,"d2h":0},` +
		`"throughput":{"elements_per_s":0,"bytes_per_s":0},"warnings":[],"env_id":""}` + "\n"
	if b.String() != want {
		t.Errorf("got  %swant %s", b.String(), want)
	}
}

func TestCutOff(t *testing.T) {
	whole := oneRecord + "\n"
	for cut := 1; cut < len(oneRecord); cut++ {
		run, err := ReadRecords(strings.NewReader(whole + oneRecord[:cut]))
		if err != nil {
			t.Fatalf("cut after %d bytes: %v", cut, err)
		}
		if len(run.Records) != 1 || run.Size != int64(len(whole)) || string(run.Partial) != oneRecord[:cut] {
			t.Fatalf("cut after %d bytes: %d records, size %d, partial %q", cut, len(run.Records), run.Size, run.Partial)
		}
		if len(run.Warnings) != 1 || run.Warnings[0].Code != WarnTruncated || !strings.Contains(run.Warnings[0].Text,
			"line 2") {
			t.Fatalf("cut after %d bytes: warnings %v", cut, run.Warnings)
		}
	}
	run, err := ReadRecords(strings.NewReader(oneRecord)) // only the newline is missing: that is a whole record
	if err != nil || len(run.Records) != 1 || run.Partial != nil || run.Size != int64(len(oneRecord)) {
		t.Errorf("%+v, %v", run, err)
	}
}

func TestTolerated(t *testing.T) {
	for name, text := range map[string]string{
		"empty":         "",
		"blank lines":   "\n \n\t\r\n",
		"BOM":           "\ufeff" + oneRecord + "\n",
		"unknown field": strings.Replace(oneRecord, `"command"`, `"new":{"a":[1,null]},"command"`, 1) + "\n",
		"no newline":    oneRecord,
	} {
		if run, err := ReadRecords(strings.NewReader(text)); err != nil || len(run.Warnings) != 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestReadErrors(t *testing.T) {
	change := func(old, new string) string {
		if !strings.Contains(oneRecord, old) {
			t.Fatalf("no %s in the record", old)
		}
		return oneRecord + "\n" + strings.Replace(oneRecord, old, new, 1) + "\n"
	}
	for want, text := range map[string]string{
		`line 2: field "threads": string where an integer is expected`: change(`"threads":1`,
			`"threads":"two"`),
		`line 2: field "threads": number 1.5 where an integer is expected`: change(`"threads":1`,
			`"threads":1.5`),
		`line 2: field "threads": -1 is negative`: change(`"threads":1`,
			`"threads":-1`),
		`line 2: field "dataset.n": bool where an integer is expected`: change(`"n":64,"params"`,
			`"n":true,"params"`),
		`line 2: field "method": missing or empty`: change(`"method":"kahan",`,
			``),
		`line 2: field "rel_error": "1e" has no valid exponent`: change(`"1e-5000"`,
			`"1e"`),
		`line 2: field "rel_error": number where a string is expected`: change(`"1e-5000"`,
			`1e-5`),
		`line 2: field "time_ns.samples": string where a number is expected`: change(`[5]`, `["5"]`),
		`line 2: field "time_ns.samples[1]": -5 is no number of at least 0`:  change(`[5]`, `[5,-5]`),
		`line 2: field "time_ns.median": number 1e999 where a number is expected`: change(`"median":5`,
			`"median":1e999`),
		`line 2: field "schema": missing`: change(`"schema":"mpbench/1",`, ``),
		`line 2: field "schema": "mpbench/2" is not known to this version, which reads "mpbench`: change(`mpbench/1`,
			`mpbench/2`),
		`line 2: field "schema": "x" is no result of mpbench`: change(`mpbench/1`, `x`),
		`line 2: no valid JSON at byte`: change(`"threads":1`,
			`"threads":1}`),
		`line 1: no valid JSON at byte 2: invalid character`: "table\n",
		`line 1: a JSON object is expected, not an array`:    "[1]\n",
		`line 3: a JSON object is expected, not a number`:    "\n\n7\n",
	} {
		_, err := ReadRecords(strings.NewReader(text))
		var lineErr *LineError
		if err == nil || !strings.HasPrefix(err.Error(), want) || !errors.As(err, &lineErr) {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
	broken := errors.New("broken disk")
	if _, err := ReadRecords(io.MultiReader(strings.NewReader(oneRecord+"\n"), iotest.ErrReader(broken))); !errors.Is(err,
		broken) {
		t.Errorf("got %v", err)
	}
}

// TestDocumentErrors: errors in a whole run name lines too.
func TestDocumentErrors(t *testing.T) {
	document := func(record string) string {
		return fmt.Sprintf("{\n  \"schema\": %q,\n  \"records\": [\n%s,\n%s\n]}\n", RunSchema, oneRecord, record)
	}
	for want, text := range map[string]string{
		`line 5: field "threads": -1 is negative`: document(strings.Replace(oneRecord, `"threads":1`, `"threads":-1`,
			1)),
		`line 5: no valid JSON at byte`: document(strings.Replace(oneRecord, `"threads":1`, `"threads":1}`,
			1)),
		`line 1: field "schema": a file that starts`:    "{\n\"schema\": \"mpbench/1\"}\n",
		`line 2: field "records": object where an arra`: "{\n\"schema\": \"mpbench-run/1\", \"records\": {}}\n",
	} {
		if _, err := ReadRecords(strings.NewReader(text)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}

// TestWriterRefuses: nothing is written that could not be read back.
func TestWriterRefuses(t *testing.T) {
	var b bytes.Buffer
	nan := Record{Command: "sum", Method: "m", Device: "cpu", Dataset: Dataset{Name: "d"},
		Time: Timing{Samples: []float64{1}}}
	nan.Time.Median -= 1
	err := NewWriter(&b).WriteRecord(nan)
	var fieldErr *FieldError
	if !errors.As(err, &fieldErr) || fieldErr.Field != "time_ns.median" || b.Len() != 0 {
		t.Errorf("got %v, wrote %q", err, b.String())
	}
	if _, err := MarshalRun(&Run{Records: []Record{nan}}); !errors.As(err, &fieldErr) {
		t.Errorf("got %v", err)
	}
}

// FuzzReadRecords: no input makes the reader panic, and what it accepts survives being written and read again.
func FuzzReadRecords(f *testing.F) {
	env := CaptureEnvironment()
	document, err := MarshalRun(&Run{Environments: []Environment{env}})
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range []string{
		"", "{", "{}", oneRecord, oneRecord + "\n" + oneRecord[:50], string(document),
		"{\n\"schema\":\"mpbench-run/1\",\"records\":[" + oneRecord + "]}",
		`{"schema":"mpbench-env/1","time":"2026-01-02T03:04:05Z","cpu":{"brand":"x"}}`,
		strings.Replace(oneRecord, `"params":{}`, `"params":{"a":"b"},"phases_ns":{"x":1}`, 1),
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		run, err := ReadRecords(bytes.NewReader(text))
		if err != nil {
			if run != nil {
				t.Fatal("a run beside an error")
			}
			return
		}
		if run.Size > int64(len(text)) || len(run.Partial) > len(text) {
			t.Fatalf("size %d, partial %d of %d bytes", run.Size, len(run.Partial), len(text))
		}
		first, err := MarshalRun(run)
		if err != nil {
			t.Fatalf("cannot be written: %v", err)
		}
		again, err := ReadRecords(bytes.NewReader(first))
		if err != nil {
			t.Fatalf("cannot be read again: %v\n%s", err, first)
		}
		second, err := MarshalRun(again)
		if err != nil || !bytes.Equal(first, second) {
			t.Fatalf("changes when it is written again: %v\n%s\n%s", err, first, second)
		}
	})
}

// endless gives one byte for ever.
type endless byte

func (e endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(e)
	}
	return len(p), nil
}

// TestReadEndless: what has no end is refused.
func TestReadEndless(t *testing.T) {
	_, err := ReadRecords(endless('x'))
	if want := "line 1: more than 67108864 bytes in one line; want JSON, one object a line"; err == nil ||
		err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	text, err := io.ReadAll(&bounded{strings.NewReader("12345"), 5})
	if err != nil || string(text) != "12345" {
		t.Errorf("%q, %v", text, err)
	}
	if _, err := io.ReadAll(&bounded{endless('x'), 5000}); err == nil {
		t.Error("a reader without an end is read")
	}
}
