package report

import (
	"time"

	"mpbench/pkg/record"
	"mpbench/pkg/stats"
)

// caseOf makes a record with the fields that tables show; ns are the samples.
func caseOf(method string, precision, actual int, value, rel, bound string, bits float64, within bool,
	ns ...float64) record.Record {
	r := record.Record{
		Command: "sum", Method: method, Format: "binary64", Device: "cpu", Threads: 2,
		PrecisionBits: precision, ActualBits: actual,
		Value: value, RelError: rel, Bound: bound, WithinBound: &within,
		ResultHash: "0123456789abcdef", StopRule: record.StopNoise, EnvID: "e0e0e0e0e0e0e0e0",
		Reference: "fixed point, nothing rounds",
	}
	if rel == "0" {
		r.ExactResult = true
	} else {
		r.CorrectBits = &bits
	}
	if len(ns) > 0 {
		i := stats.MedianInterval(ns, 0.95)
		r.Time = record.Timing{
			Median: stats.Median(ns), Lo: i.Lo, Hi: i.Hi, Confidence: i.Confidence,
			Samples: ns, Iterations: 1, RelMAD: stats.RelativeMAD(ns),
		}
		r.Phases = record.Phases{record.PhaseConvert: 3.5 * r.Time.Median, record.PhaseKernel: r.Time.Median}
	}
	return r
}

func on(d record.Dataset, condition, exact string, records ...record.Record) []record.Record {
	for i := range records {
		r := &records[i]
		r.Dataset, r.Shape, r.Condition, r.Exact = d, record.Shape{N: d.N}, condition, exact
		r.Throughput = record.NewThroughput(int64(d.N), 8*int64(d.N), r.Time.Median)
	}
	return records
}

func rns(r record.Record, moduli int) record.Record {
	r.Format, r.Moduli, r.ModuliBits = "rns", moduli, 16
	r.Rounding, r.Alignment = "truncate", "2018"
	return r
}

func testEnvironment() record.Environment {
	return record.Environment{
		Schema: record.EnvironmentSchema, ID: "e0e0e0e0e0e0e0e0", Time: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
		CPU: record.CPU{Brand: "Example CPU 9000", SIMD: "avx2+fma", Cores: 2, Threads: 2, L1D: 32 << 10,
			L2: 1 << 20, L3: 32 << 20},
		Threads:     2,
		MemoryBytes: 8 << 30,
		OS:          "Example Linux 12", Kernel: "Linux 6.1.0",
		Go:      record.GoBuild{Version: "go1.26.0", OS: "linux", Arch: "amd64", Level: "v3"},
		Program: record.Program{Module: "mpbench", Commit: "0123456789abcdef0123", Modified: true},
	}
}

const exact3 = "3.487337450228913059890794547106030816614e-06"

// testRun is a run with what occurs in practice: exact rows, a row outside its bound, a missing bound, warnings,
// more bits than asked for, and no samples.
func testRun() *record.Run {
	run := &record.Run{Environments: []record.Environment{testEnvironment()}}
	mcnamee3 := record.Dataset{Name: "mcnamee3", N: 64, SHA256: "aa11"}
	uniform := record.Dataset{Name: "uniform01", N: 1_000_000, Params: map[string]string{"seed": "1"}, SHA256: "bb22"}
	noBound := caseOf("kahan", 53, 53, "3.487337450228904e-06", "2.6e-15", "", 48.4, true, 101, 99, 100, 100, 100, 100)
	noBound.WithinBound = nil
	big := caseOf("bigfloat", 240, 240, exact3, "0", "1.1e-60", 0, true, 4100, 4200, 4000, 8000, 9000, 4100)
	big.Warnings = []record.Warning{{Code: record.WarnOutliers, Text: "2 of 6 samples are outliers",
		Advice: "close other programs or raise --runs"}}
	few := rns(caseOf("reduce1", 240, 253, exact3, "0", "4.5e-60", 0, true, 1850), 32)
	few.Warnings = []record.Warning{{Code: record.WarnFewRuns, Text: "only 1 sample instead of 10 before the timeout",
		Advice: "raise --timeout"}, big.Warnings[0]}
	run.Records = append(run.Records, on(mcnamee3, "1.9e10", exact3,
		caseOf("float32", 24, 24, "0.0020060078240931034", "574.22", "950.1", -9.17, true, 65.2, 65.0, 65.1, 65.3, 65.1,
			65.2),
		caseOf("float64", 53, 53, "3.4873364984262247e-06", "2.7297e-07", "2.1e-08", 21.8, false, 65, 64, 64, 65, 66, 64),
		noBound, few,
		rns(caseOf("reduce2", 120, 120, "3.48733745022891305989079454710603081658e-06", "1e-35", "5.1e-27", 116.2, true,
			2050.5, 2051, 2040, 2100, 2033, 2055), 16),
		big,
	)...)
	run.Records = append(run.Records, on(uniform, "1", "500126.89310847245",
		caseOf("float64", 53, 53, "500126.89310846984", "5.2e-15", "1.1e-10", 47.4, true, 321000, 319000, 322000, 321000,
			320000, 330000),
		caseOf("bigfloat", 53, 53, "500126.89310847245", "0", "1.1e-16", 0, true, 43_000_000, 44_000_000, 45_000_000,
			43_100_000, 43_000_000, 43_200_000),
		caseOf("float32", 24, 24, "500042.25", "1.7e-4", "5.9e-2", 12.5, true),
	)...)
	return run
}

// specialRun holds what is rare: an exact result of zero, infinities, NaN, errors and conditions beyond float64,
// names with every character that a format gives a meaning, devices and threads that differ, no environment.
func specialRun() *record.Run {
	run := &record.Run{Warnings: []record.Warning{{Code: record.WarnTruncated,
		Text:   "line 7 is cut off after 12 bytes and was left out",
		Advice: "the run that wrote it was stopped; run that case again"}}}
	zero := record.Dataset{Name: "zhuhayes4", N: 1000, Params: map[string]string{"delta": "2000", "seed": "1"}}
	huge := record.Dataset{Name: "extremes", N: 3}
	odd := record.Dataset{Name: "a|b_c*d`e<f>,\"g\"", N: 0}
	wrong := caseOf("float64", 53, 53, "-1.5e-3", "+Inf", "+Inf", 0, false, 5e9)
	wrong.AbsError, wrong.AbsBound = "1.5e-3", "1.4e-3"
	right := caseOf("binned", 53, 53, "0", "0", "+Inf", 0, true, 12e9)
	right.AbsError, right.AbsBound, right.Threads = "0", "2.2e-16", 16
	run.Records = append(run.Records, on(zero, "+Inf", "0", wrong, right)...)
	nan := caseOf("float32", 24, 24, "NaN", "NaN", "", 0, false, 0.25, 0.26)
	nan.WithinBound = nil
	inf := caseOf("float64", 53, 53, "-Inf", "+Inf", "", 0, false, 0, 0)
	inf.WithinBound = nil
	tiny := caseOf("expansion:4", 212, 212, "-1.797693134862315708e-4000", "1e-5000", "3e-4999", 16609.6, true,
		999.96, 999.97)
	tiny.Device = "cuda:0"
	run.Records = append(run.Records, on(huge, "1e5000", "-1.797693134862315708e-4000", nan, inf, tiny)...)
	empty := caseOf("sumk:3", 106, 106, "0", "0", "0", 0, true, 1, 1, 1)
	empty.Method = "a|b"
	run.Records = append(run.Records, on(odd, "", "0", empty)...)
	return run
}

// plainRun is what a first run looks like: every result good, precision as asked for.
func plainRun() *record.Run {
	run := &record.Run{Environments: []record.Environment{testEnvironment()}}
	run.Environments[0].LoadAverage = 1.7
	mcnamee2 := record.Dataset{Name: "mcnamee2", N: 1_000_001}
	const exact2 = "1.000000000099999999999999997909778672403"
	run.Records = on(mcnamee2, "1.0000000000000000", exact2,
		caseOf("float64", 53, 53, "1", "1e-10", "1.1e-10", 33.2, true, 321e3, 321e3, 322e3, 320e3, 325e3, 322e3),
		caseOf("kahan", 53, 53, "1.0000000001000000082740371", "8.3e-18", "2.3e-16", 56.7, true,
			951e3, 950e3, 953e3, 951e3, 951e3, 950e3),
		rns(caseOf("reduce1", 60, 60, "1.0000000000997503", "2.5e-13", "8.7e-13", 41.9, true,
			29.1e6, 29.1e6, 29.2e6, 29.0e6, 29.1e6, 29.1e6), 8),
		rns(caseOf("reduce2", 240, 240, exact2, "0", "1.1e-71", 0, true,
			31.4e6, 31.5e6, 31.3e6, 31.4e6, 31.4e6, 31.9e6), 32),
	)
	return run
}
