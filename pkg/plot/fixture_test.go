package plot

import (
	"fmt"
	"math"

	"mpbench/pkg/record"
)

// The records of these tests are made up. They show shapes that occur in practice, and what is at the edges; no time
// or error in them was measured.

// made is a record of made-up data.
func made(command, method string, precision int, dataset string, n int) record.Record {
	return record.Record{
		Command: command, Method: method, Device: "cpu", Threads: 1, PrecisionBits: precision, ActualBits: precision,
		Dataset: record.Dataset{Name: dataset, N: n}, Shape: record.Shape{N: n},
	}
}

func madeRun(records ...record.Record) *record.Run {
	return &record.Run{Environments: []record.Environment{{CPU: record.CPU{Brand: "made-up test data"}}},
		Records: records}
}

// withError sets the error; "0" is exact.
func withError(r record.Record, condition, relative string) record.Record {
	r.Condition, r.RelError = condition, relative
	d, err := record.ParseDecimal(relative)
	if err != nil {
		panic(err) // the tests' own data
	}
	if r.ExactResult = d.IsZero(); !r.ExactResult {
		bits := max(-d.Log10()*math.Log2(10), -1e4)
		if d.IsFinite() {
			r.CorrectBits = &bits
		}
	}
	return r
}

// withTime sets the median with an interval of a few percent.
func withTime(r record.Record, ns float64) record.Record {
	r.Time = record.Timing{Median: ns, Lo: 0.97 * ns, Hi: 1.08 * ns, Samples: []float64{0.97 * ns, ns, 1.08 * ns}}
	r.Phases = record.Phases{record.PhaseKernel: ns}
	return r
}

// errorRun has three methods on data of growing condition number.
func errorRun() *record.Run {
	run := madeRun()
	for k := 0; k <= 60; k += 10 {
		d := fmt.Sprintf("1e%d", k)
		add := func(method string, precision int, relative string) {
			r := withError(made("sum", method, precision, "gensum", 100), d, relative)
			r.Dataset.Params = map[string]string{"cond": d}
			run.Records = append(run.Records, r)
		}
		add("float64", 53, fmt.Sprintf("2e%d", k-16))
		add("bigfloat", 120, fmt.Sprintf("3e%d", k-36))
		add("deferred", 120, "0")
	}
	return run
}

// extremeRun has errors from 1e-5000 to 1e5 and beyond: infinite, no number, exact; and conditions of every size.
func extremeRun() *record.Run {
	run := madeRun()
	errors := []string{"1e-5000", "3e-300", "1e-16", "1", "1e5", "+Inf", "NaN", "0"}
	conditions := []string{"1", "1e5", "1e400", "1e5000", "+Inf"}
	for i, e := range errors {
		for _, c := range conditions {
			r := withError(made("sum", fmt.Sprintf("method-%d", i), 53, "extremes", 3), c, e)
			r.Dataset.Params = map[string]string{"cond": c}
			run.Records = append(run.Records, r)
		}
	}
	return run
}

// exactRun has no finite error at all.
func exactRun() *record.Run {
	run := madeRun()
	for _, method := range []string{"deferred", "superacc", "bigfloat"} {
		for _, c := range []string{"1", "1e10", "1e20"} {
			r := withError(made("sum", method, 240, "gensum", 100), c, "0")
			r.Dataset.Params = map[string]string{"cond": c}
			run.Records = append(run.Records, r)
		}
	}
	return run
}

// bitsRun has two data sets at several precisions.
func bitsRun() *record.Run {
	run := madeRun()
	for _, p := range []int{30, 60, 120, 240} {
		for i, dataset := range []string{"mcnamee1", "mcnamee3"} {
			lost := float64(20 + 50*i)
			relative := fmt.Sprintf("1e%d", -int(max(0, float64(p)-lost)*math.Log10(2)))
			if p == 240 {
				relative = "0"
			}
			run.Records = append(run.Records,
				withError(made("sum", "reduce1", p, dataset, 64), "1e9", relative),
				withError(made("sum", "deferred", p, dataset, 64), "1e9", fmt.Sprintf("1e%d", -int(float64(p)*math.Log10(2)))))
		}
	}
	return run
}

// sizesRun has n from 1 to 1e9.
func sizesRun() *record.Run {
	run := madeRun()
	for n := 1; n <= 1e9; n *= 10 {
		run.Records = append(run.Records,
			withTime(made("sum", "float64", 53, "uniform01", n), 2+0.25*float64(n)),
			withTime(made("sum", "deferred", 240, "uniform01", n), 400+0.1*float64(n)))
	}
	return run
}

// floorRun is a matrix-vector product whose times are close to the memory floor at high precision.
func floorRun() *record.Run {
	run := madeRun()
	for i, p := range []int{106, 212, 424, 848, 1696} {
		for _, method := range []string{"float64", "deferred", "rns-split"} {
			slowness := map[string]float64{"float64": 1, "deferred": 1.2, "rns-split": 500}[method]
			precision, bytes := p, int64(36e6)<<i
			if method == "float64" {
				precision, bytes = 53, 8e6
			}
			r := withTime(made("gemv", method, precision, "uniform11", 1000), 5e3+slowness*float64(bytes)/4.3e3)
			r.Device, r.Shape = "cuda:0", record.Shape{M: 1000, N: 1000, Trans: "N"}
			r.Dataset.Params = map[string]string{"bits": fmt.Sprint(p)}
			r.Throughput = record.NewThroughput(1e6, bytes, r.Time.Median)
			run.Records = append(run.Records, r)
		}
	}
	return run
}

// phasesRun has copies to and from a device, and parts of a kernel.
func phasesRun() *record.Run {
	a := withTime(made("gemv", "deferred", 424, "uniform11", 1000), 45e3)
	a.Device = "cuda:0"
	a.Phases = record.Phases{"convert": 60e3, "h2d": 40e3, "kernel": 45e3, "d2h": 5e3, "accumulate": 30e3, "round": 12e3}
	b := withTime(made("gemv", "rns-split", 424, "uniform11", 1000), 170e3)
	b.Device = "cuda:0"
	b.Phases = record.Phases{"convert": 20e3, "h2d": 50e3, "kernel": 170e3, "d2h": 5e3}
	for _, r := range []*record.Record{&a, &b} {
		r.Shape = record.Shape{M: 1000, N: 1000, Trans: "T"}
	}
	return madeRun(a, b)
}

// figure6Run has reduce3 with several numbers of blocks on a GPU.
func figure6Run() *record.Run {
	run := madeRun()
	for i, p := range []int{120, 240, 480, 960} {
		at := func(method, device string, blocks int, ns float64) {
			r := withTime(made("sum", method, p, "uniform01", 1_000_000), ns*float64(int(1)<<i))
			r.Device, r.Blocks = device, blocks
			run.Records = append(run.Records, r)
		}
		at("reduce1", "cpu", 0, 20e6)
		at("reduce2", "cpu", 0, 24e6)
		for _, blocks := range []int{32, 128, 256} {
			at("reduce3", "cuda:0", blocks, 90e6/float64(blocks))
		}
	}
	return run
}

// figure7Run has the serial and the residue-parallel sums on a GPU.
func figure7Run() *record.Run {
	run := madeRun()
	for i, p := range []int{120, 240, 480, 960} {
		for j, method := range []string{"reduce1s", "reduce1p", "reduce2s", "reduce2p"} {
			growth := float64(int(1) << i)
			if j%2 == 1 { // a thread for each residue
				growth = 1 + 0.1*float64(i)
			}
			r := withTime(made("sum", method, p, "uniform01", 1_000_000), 1e9*growth*(1+0.2*float64(j/2)))
			r.Device = "cuda:0"
			run.Records = append(run.Records, r)
		}
		for _, blocks := range []int{32, 256} {
			r := withTime(made("sum", "reduce3", p, "uniform01", 1_000_000), 5e8/float64(blocks)*float64(int(1)<<i))
			r.Device, r.Blocks = "cuda:0", blocks
			run.Records = append(run.Records, r)
		}
	}
	return run
}

// crowdRun has so many data sets and series that a picture cannot hold them, with long names.
func crowdRun() *record.Run {
	run := madeRun()
	for d := range 15 {
		for m := range 40 {
			r := withError(made("sum", fmt.Sprintf("method-with-a-long-name:%d", m), 60,
				fmt.Sprintf("data-set-with-a-very-long-name-%d", d), 100), "1e5", fmt.Sprintf("1e-%d", m+d))
			run.Records = append(run.Records, withTime(r, float64(100*(m+1))))
			r.PrecisionBits = 120
			run.Records = append(run.Records, withTime(r, float64(200*(m+1))))
		}
	}
	return run
}

// relativeRun has times of axpy in five formats on two devices, one of which is bound by memory.
func relativeRun() *record.Run {
	run := madeRun()
	for _, device := range []string{"cpu", "cuda:0"} {
		for _, n := range []int{10_000, 100_000, 1_000_000} {
			for k, method := range []string{single, "float64-lanes", "ds", "di", "dd"} {
				bytes := []float64{4, 8, 12, 12, 16}[k]
				ns := bytes * float64(n) / 4
				if device == "cpu" {
					ns += 3 * bytes * float64(n) * float64(k) / 16
				}
				r := withTime(made("axpy", method, 53, "made up", n), ns)
				r.Device = device
				run.Records = append(run.Records, r)
			}
		}
	}
	return run
}
