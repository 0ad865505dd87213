package report

import (
	"io"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/perf/benchfmt"

	"mpbench/pkg/record"
)

// maxBenchSamples is how many samples of a record are written at most, evenly from all of them: benchstat needs no
// more, and compares many slowly.
const maxBenchSamples = 20

// GoBench writes the run in the Go benchmark format, for benchstat and other tools that read it: one line a sample,
// with the time (ns/op), the throughput (B/s) and the number of correct bits, which exact results have no number of.
// Unit metadata say that correct bits are exact and better when higher. The environment becomes configuration lines.
//
// Format: https://golang.org/design/14313-benchmark-format
func GoBench(w io.Writer, run *record.Run, _ Options) error {
	out := benchfmt.NewWriter(w)
	for _, meta := range [][2]string{{"better", "higher"}, {"assume", "exact"}} {
		err := out.Write(&benchfmt.UnitMetadata{
			UnitMetadataKey: benchfmt.UnitMetadataKey{Unit: "correct-bits", Key: meta[0]},
			OrigUnit:        "correct-bits",
			Value:           meta[1],
		})
		if err != nil {
			return err
		}
	}
	for i := range run.Records {
		r := &run.Records[i]
		env, _ := run.Environment(r.EnvID)
		if err := writeBenchmark(out, r, benchConfig(env, r)); err != nil {
			return err
		}
	}
	return nil
}

func writeBenchmark(out *benchfmt.Writer, r *record.Record, config []benchfmt.Config) error {
	result := benchfmt.Result{Config: config, Name: benchmarkName(r), Iters: max(r.Time.Iterations, 1)}
	var fixed []benchfmt.Value
	if r.CorrectBits != nil && !r.ExactResult {
		fixed = append(fixed, benchfmt.Value{Value: *r.CorrectBits, Unit: "correct-bits"})
	}
	samples := r.Time.Samples
	count := min(len(samples), maxBenchSamples)
	for i := range count {
		ns := samples[i*len(samples)/count]
		values := []benchfmt.Value{{Value: ns / 1e9, Unit: "sec/op", OrigValue: ns, OrigUnit: "ns/op"}}
		if ns == 0 { // benchfmt does not see that 0 ns/op is a number of seconds
			values[0] = benchfmt.Value{Unit: "sec/op"}
		}
		if r.Throughput.Bytes > 0 && ns > 0 {
			values = append(values, benchfmt.Value{Value: float64(r.Throughput.Bytes) / ns * 1e9, Unit: "B/s"})
		}
		result.Values = append(values, fixed...)
		if err := out.Write(&result); err != nil {
			return err
		}
	}
	if len(r.Time.Samples) == 0 && len(fixed) > 0 {
		result.Values = fixed
		return out.Write(&result)
	}
	return nil
}

// benchmarkName returns Sum/method=reduce2/precision=240/dataset=uniform01/n=1000000-2, where 2 is that of threads.
func benchmarkName(r *record.Record) benchfmt.Name {
	var b strings.Builder
	b.WriteString(strings.ToUpper(r.Command[:1]) + nameValue(r.Command[1:]))
	for _, s := range r.Settings() {
		b.WriteString("/" + s.Key + "=" + nameValue(s.Value))
	}
	b.WriteString("-" + strconv.Itoa(max(r.Threads, 1)))
	return benchfmt.Name(b.String())
}

// nameValue replaces what would end a part of a benchmark's name.
func nameValue(s string) string {
	return strings.Map(func(c rune) rune {
		if c == '/' || unicode.IsSpace(c) || unicode.IsControl(c) {
			return '_'
		}
		return c
	}, s)
}

func benchConfig(env record.Environment, r *record.Record) []benchfmt.Config {
	var config []benchfmt.Config
	for _, c := range [][2]string{
		{"goos", env.Go.OS}, {"goarch", env.Go.Arch}, {"pkg", "mpbench"}, {"cpu", env.CPU.Brand},
		{"go", env.Go.Version}, {"level", env.Go.Level}, {"simd", env.CPU.SIMD}, {"commit", env.Program.Commit},
		{"env-id", r.EnvID},
	} {
		if value := strings.Join(strings.Fields(c[1]), " "); value != "" {
			config = append(config, benchfmt.Config{Key: c[0], Value: []byte(value), File: true})
		}
	}
	return config
}
