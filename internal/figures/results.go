package main

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/template"

	"golang.org/x/perf/benchfmt"

	"mpbench/pkg/record"
)

// results looks up measured figures in files of one folder, each of which is read once.
type results struct {
	folder  string
	benches map[string]map[string]float64 // file -> name and unit -> median of the repetitions
	records map[string][]*record.Record
}

// functions are what templates can use besides those of text/template. FILE is relative to the template's folder.
//
//	bench FILE NAME UNIT       a Go benchmark's figure, NAME without Benchmark and the number of threads; of several
//	                           runs the median
//	find NAME UNIT             the same from any *.bench, nil if it is not there
//	bench3 FILE NAME           its .median, .least and .greatest in µs
//	time FILE FILTER           the median time in ns of the one record that FILTER fits:
//	                           "method=deferred bits=106 device=cuda:0 n=1000 blocks=32"
//	record FILE FILTER         the record: .Moduli ...
//	phase FILE FILTER NAME     the median of one of its phases in ns, and
//	share FILE FILTER NAME     that in percent of the sum of the phases of its kernels
//	kernel FILE FILTER NAME    the kernel of a phase that took longest: .TimeNs .Bytes .Occupancy ...
//	match FILE PATTERN         the number in the parentheses of a regular expression
//	text FILE                  all of it
//	exists FILE                whether it is there
//	outcome FILE STEP          how a step of scripts/gpu ended, "not run" if it is not in the summary
//	verdict VALUE LIMIT        "met", or "missed" where VALUE is above; atLeast VALUE LIMIT: where it is below
//	num VALUE                  three significant digits
//	dur NS                     a time with its unit
//	add mul div least VALUE VALUE; list VALUE...; dict KEY VALUE...
func (r *results) functions() template.FuncMap {
	return template.FuncMap{
		"bench": r.bench, "bench3": r.bench3, "find": r.find, "time": r.time, "phase": r.phase, "record": r.record,
		"share": r.share, "kernel": r.kernel, "match": r.match, "text": r.text, "outcome": r.outcome, "exists": r.exists,
		"num": num, "dur": duration,
		"verdict": func(value, limit any) (string, error) {
			return verdict(value, limit, func(a, b float64) bool { return a <= b })
		},
		"atLeast": func(value, limit any) (string, error) {
			return verdict(value, limit, func(a, b float64) bool { return a >= b })
		},
		"add":   operation(func(a, b float64) float64 { return a + b }),
		"mul":   operation(func(a, b float64) float64 { return a * b }),
		"div":   operation(func(a, b float64) float64 { return a / b }),
		"least": operation(func(a, b float64) float64 { return min(a, b) }),
		"list":  func(values ...any) []any { return values },
		"dict":  dict,
	}
}

func (r *results) bench(file, name, unit string) (float64, error) {
	if _, ok := r.benches[file]; !ok {
		figures, err := readBenchmarks(filepath.Join(r.folder, file))
		if err != nil {
			return 0, err
		}
		if r.benches == nil {
			r.benches = map[string]map[string]float64{}
		}
		r.benches[file] = figures
	}
	value, ok := r.benches[file][name+" "+unit]
	if !ok {
		return 0, fmt.Errorf("%s has no benchmark %s with %s", file, name, unit)
	}
	return value, nil
}

// find returns a figure of any benchmark file of the folder, or nil.
func (r *results) find(name, unit string) (any, error) {
	files, err := filepath.Glob(filepath.Join(r.folder, "*.bench"))
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		if value, err := r.bench(filepath.Base(file), name, unit); err == nil {
			return value, nil
		}
	}
	return nil, nil
}

// bench3 returns median, least and greatest of a benchmark that reports them in µs.
func (r *results) bench3(file, name string) (map[string]float64, error) {
	figures := map[string]float64{}
	for key, unit := range map[string]string{"median": "µs", "least": "least-µs", "greatest": "greatest-µs"} {
		value, err := r.bench(file, name, unit)
		if err != nil {
			return nil, err
		}
		figures[key] = value
	}
	return figures, nil
}

// threads is what Go appends to the names of benchmarks.
var threads = regexp.MustCompile(`-\d+$`)

func readBenchmarks(path string) (map[string]float64, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	samples := map[string][]float64{}
	in := benchfmt.NewReader(bytes.NewReader(text), path)
	for in.Scan() {
		switch line := in.Result().(type) {
		case *benchfmt.Result:
			name := threads.ReplaceAllString(string(line.Name), "")
			for _, v := range line.Values {
				if v.OrigUnit != "" {
					v.Value, v.Unit = v.OrigValue, v.OrigUnit
				}
				key := name + " " + v.Unit
				samples[key] = append(samples[key], v.Value)
			}
		case *benchfmt.SyntaxError:
			return nil, line
		}
	}
	medians := map[string]float64{}
	for key, list := range samples {
		slices.Sort(list)
		medians[key] = (list[(len(list)-1)/2] + list[len(list)/2]) / 2
	}
	return medians, in.Err()
}

// record returns the only record that a filter fits.
func (r *results) record(file, filter string) (*record.Record, error) {
	if _, ok := r.records[file]; !ok {
		in, err := os.Open(filepath.Join(r.folder, file))
		if err != nil {
			return nil, err
		}
		defer in.Close()
		run, err := record.ReadRecords(in)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		if r.records == nil {
			r.records = map[string][]*record.Record{}
		}
		for i := range run.Records {
			r.records[file] = append(r.records[file], &run.Records[i])
		}
	}
	var found []*record.Record
	for _, record := range r.records[file] {
		ok, err := fits(record, filter)
		if err != nil {
			return nil, err
		}
		if ok {
			found = append(found, record)
		}
	}
	if len(found) != 1 {
		return nil, fmt.Errorf("%s has %d records of %s", file, len(found), filter)
	}
	return found[0], nil
}

func fits(record *record.Record, filter string) (bool, error) {
	for _, condition := range strings.Fields(filter) {
		key, want, _ := strings.Cut(condition, "=")
		var value string
		switch key {
		case "method":
			value = record.Method
		case "device":
			value = record.Device
		case "bits":
			value = strconv.Itoa(record.PrecisionBits)
		case "n":
			value = strconv.Itoa(record.Shape.N)
		case "blocks":
			value = strconv.Itoa(record.Blocks)
		default:
			return false, fmt.Errorf("filter %q: method, device, bits, n and blocks can be asked for", condition)
		}
		if value != want {
			return false, nil
		}
	}
	return true, nil
}

func (r *results) time(file, filter string) (float64, error) {
	record, err := r.record(file, filter)
	if err != nil {
		return 0, err
	}
	return record.Time.Median, nil
}

func (r *results) phase(file, filter, name string) (float64, error) {
	record, err := r.record(file, filter)
	if err != nil {
		return 0, err
	}
	value, ok := record.Phases[name]
	if !ok {
		return 0, fmt.Errorf("%s: %s has no phase %s", file, filter, name)
	}
	return value, nil
}

func (r *results) share(file, filter, name string) (float64, error) {
	part, err := r.phase(file, filter, name)
	if err != nil {
		return 0, err
	}
	record, err := r.record(file, filter)
	if err != nil {
		return 0, err
	}
	total, seen := 0.0, map[string]bool{}
	for _, k := range record.Kernels {
		if !seen[k.Phase] {
			total += record.Phases[k.Phase]
		}
		seen[k.Phase] = true
	}
	return 100 * part / total, nil
}

func (r *results) kernel(file, filter, phase string) (*record.Kernel, error) {
	rec, err := r.record(file, filter)
	if err != nil {
		return nil, err
	}
	var longest *record.Kernel
	for i, k := range rec.Kernels {
		if k.Phase == phase && (longest == nil || k.TimeNs > longest.TimeNs) {
			longest = &rec.Kernels[i]
		}
	}
	if longest == nil {
		return nil, fmt.Errorf("%s: %s has no kernel of the phase %s", file, filter, phase)
	}
	return longest, nil
}

func (r *results) match(file, pattern string) (float64, error) {
	text, err := r.text(file)
	if err != nil {
		return 0, err
	}
	expression, err := regexp.Compile(pattern)
	if err != nil {
		return 0, err
	}
	found := expression.FindStringSubmatch(text)
	if len(found) != 2 {
		return 0, fmt.Errorf("%s has no %s", file, pattern)
	}
	return strconv.ParseFloat(found[1], 64)
}

func (r *results) text(file string) (string, error) {
	text, err := os.ReadFile(filepath.Join(r.folder, file))
	return string(text), err
}

func (r *results) exists(file string) bool {
	_, err := os.Stat(filepath.Join(r.folder, file))
	return err == nil
}

// outcome returns what a summary says of a step: "passed", "FAILED (1)", "stopped after 45 s".
func (r *results) outcome(file, step string) (string, error) {
	text, err := r.text(file)
	if err != nil {
		return "", err
	}
	found := "not run"
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, step+" "); ok {
			found, _, _ = strings.Cut(strings.TrimLeft(rest, " "), "  ")
		}
	}
	return found, nil
}

// number takes the literals of templates, which are int or float64.
func number(value any) (float64, error) {
	switch v := value.(type) {
	case int:
		return float64(v), nil
	case int64:
		return float64(v), nil
	case float64:
		return v, nil
	}
	return 0, fmt.Errorf("%v is no number", value)
}

// num prints three significant digits, and all digits before the point.
func num(value any) (string, error) {
	v, err := number(value)
	if err != nil || v == 0 {
		return "0", err
	}
	digits := 2 - int(math.Floor(math.Log10(math.Abs(v))))
	return strconv.FormatFloat(v, 'f', max(digits, 0), 64), nil
}

// duration prints nanoseconds in the unit that fits.
func duration(value any) (string, error) {
	ns, err := number(value)
	if err != nil {
		return "", err
	}
	for _, u := range []struct {
		name string
		ns   float64
	}{{"s", 1e9}, {"ms", 1e6}, {"µs", 1e3}} {
		if ns >= u.ns {
			text, err := num(ns / u.ns)
			return text + " " + u.name, err
		}
	}
	text, err := num(ns)
	return text + " ns", err
}

func verdict(value, limit any, met func(value, limit float64) bool) (string, error) {
	a, errA := number(value)
	b, errB := number(limit)
	switch {
	case errA != nil:
		return "", errA
	case errB != nil:
		return "", errB
	case met(a, b):
		return "met", nil
	}
	return "**missed**", nil
}

func operation(f func(a, b float64) float64) func(a, b any) (float64, error) {
	return func(x, y any) (float64, error) {
		a, err := number(x)
		if err != nil {
			return 0, err
		}
		b, err := number(y)
		return f(a, b), err
	}
}

// dict makes a map, which templates go through by its sorted keys.
func dict(pairs ...string) (map[string]string, error) {
	if len(pairs)%2 != 0 {
		return nil, fmt.Errorf("dict: %d keys and values, which is odd", len(pairs))
	}
	m := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i]] = pairs[i+1]
	}
	return m, nil
}
