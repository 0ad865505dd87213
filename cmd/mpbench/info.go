package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"mpbench/pkg/gpu"
	"mpbench/pkg/method"
	"mpbench/pkg/peer"
	"mpbench/pkg/record"
	"mpbench/pkg/report"
	"mpbench/pkg/rns"
)

func newInfo() *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use:   "info",
		Short: "Say what is known of this machine and this program",
		Long:  "Prints the environment that records refer to: processor, memory, system, program, devices.",
		Args:  noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			env := record.CaptureEnvironment()
			if infos, err := gpu.Devices(); err == nil {
				for _, i := range infos {
					env.GPUs = append(env.GPUs, describeGPU(i))
				}
			}
			env.Peers = describePeers(peer.Statuses())
			env.SetID()
			out := cmd.OutOrStdout()
			if asJSON {
				encoder := json.NewEncoder(out)
				encoder.SetIndent("", "  ")
				return encoder.Encode(env)
			}
			return report.List(out, []string{"what", "value"}, infoRows(env), columns(out))
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the environment as it stands in records")
	return cmd
}

func infoRows(env record.Environment) [][]string {
	rows := [][]string{
		{"processor", env.CPU.Brand},
		{"cores, threads", fmt.Sprintf("%d, %d", env.CPU.Cores, env.CPU.Threads)},
		{"goroutines at once", fmt.Sprint(env.Threads)},
		{"caches", fmt.Sprintf("L1d %s, L2 %s, L3 %s", kib(env.CPU.L1D), kib(env.CPU.L2), kib(env.CPU.L3))},
		{"vector instructions", fmt.Sprintf("%s; residues use %s", known(env.CPU.SIMD), rns.SIMD())},
		{"memory", fmt.Sprintf("%.1f GB", float64(env.MemoryBytes)/1e9)},
		{"system", known(env.OS) + ", " + known(env.Kernel)},
		{"program", fmt.Sprintf("%s %s, commit %s", env.Program.Module, known(env.Program.Version),
			known(env.Program.Commit))},
		{"compiled by", fmt.Sprintf("%s for %s/%s %s", env.Go.Version, env.Go.OS, env.Go.Arch, env.Go.Level)},
	}
	rows = append(rows, deviceRows()...)
	for _, s := range peer.Statuses() {
		rows = append(rows, []string{s.Name, describePeer(s)})
	}
	rows = append(rows, []string{"environment", env.ID})
	for _, w := range env.Warnings() {
		rows = append(rows, []string{"warning", w.String()})
	}
	return rows
}

// deviceRows describes the GPUs, or says why there is none.
func deviceRows() [][]string {
	infos, err := gpu.Devices()
	if err != nil {
		return [][]string{{"devices", "cpu; " + oneLine(err)}}
	}
	names := []string{"cpu"}
	var rows [][]string
	for _, i := range infos {
		name := fmt.Sprintf("cuda:%d", i.Index)
		names = append(names, name)
		rows = append(rows,
			[]string{name, fmt.Sprintf("%s, compute capability %d.%d, driver for CUDA %s", i.Name, i.Major, i.Minor, i.Driver)},
			[]string{name + " memory", fmt.Sprintf("%.1f GB, %.0f GB/s by its clock, L2 %s", float64(i.MemoryBytes)/1e9,
				i.Bandwidth()/1e9, kib(i.L2Bytes))},
			[]string{name + " processors", fmt.Sprintf("%d at %.2f GHz; %d threads, %s of shared memory and %d registers each",
				i.Multiprocessors, float64(i.ClockKHz)/1e6, i.ThreadsPerMP, kib(i.SharedPerMP), i.RegistersPerMP)})
	}
	return append([][]string{{"devices", strings.Join(names, ", ")}}, rows...)
}

// describePeer says which library there is, or why there is none.
func describePeer(s peer.Status) string {
	if s.Missing != nil {
		return "missing: " + strings.TrimPrefix(oneLine(s.Missing), method.ErrUnavailable.Error()+": ")
	}
	return strings.TrimSpace(s.Version + " in " + s.Path)
}

func known(text string) string { return cmp.Or(text, "unknown") }

func kib(bytes int) string {
	if bytes <= 0 {
		return "unknown"
	}
	return fmt.Sprintf("%d KiB", bytes>>10)
}
