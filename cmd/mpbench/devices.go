package main

import (
	"fmt"
	"slices"
	"strings"

	"mpbench/pkg/gpu"
	"mpbench/pkg/record"
)

// availableDevices lists the devices that this program can measure on, the CPU first, and says why there is no GPU among them.
func availableDevices() (devices []string, noGPU string) {
	devices = []string{"cpu"}
	for i := 0; ; i++ {
		_, err := gpu.Open(i)
		if err != nil {
			if i == 0 {
				noGPU = oneLine(err)
			}
			return devices, noGPU
		}
		devices = append(devices, fmt.Sprintf("cuda:%d", i))
	}
}

// chooseDevices returns the devices of a list: cpu, cuda:0 and so on, or all that are available for "all". Only the devices that are named are
// opened.
func chooseDevices(list string) ([]string, error) {
	if list == "all" {
		available, _ := availableDevices()
		return available, nil
	}
	var chosen []string
	for _, d := range strings.Split(list, ",") {
		d = strings.TrimSpace(d)
		if d == "cuda" {
			d = "cuda:0"
		}
		if err := openDevice(d); err != nil {
			return nil, err
		}
		if !slices.Contains(chosen, d) {
			chosen = append(chosen, d)
		}
	}
	return chosen, nil
}

// openDevice checks that a device is there: cpu, cuda:N, or both together, cpu+cuda:N.
func openDevice(name string) error {
	if name == "cpu" {
		return nil
	}
	gpuName := strings.TrimPrefix(name, "cpu+")
	if _, ok := gpu.ParseName(gpuName); !ok {
		return usagef("unknown device %q; want cpu, cuda:0, cuda:1, ..., cpu+cuda:0 for both together, or all", name)
	}
	if _, err := gpu.OpenName(gpuName); err != nil {
		return &statusError{exitUnavailable, fmt.Sprintf("device %s is not available: %s", gpuName, oneLine(err))}
	}
	return nil
}

// placement is a method on a device.
type placement[M any] struct {
	method M
	device string
}

// place puts each method on each of the devices that it runs on. If methods were asked for by name, one that runs on none of the devices is an
// error; kinds says where it does run.
func place[M any](methods []M, named bool, devices []string, name func(M) string, runs func(M, string) bool, kinds func(M) []string) ([]placement[M], error) {
	var list []placement[M]
	for _, m := range methods {
		before := len(list)
		for _, d := range devices {
			if runs(m, d) {
				list = append(list, placement[M]{m, d})
			}
		}
		if named && len(list) == before {
			want := kinds(m)[0]
			if want == "cuda" {
				want = "cuda:0"
			}
			return nil, usagef("%s does not run on %s; use --device %s", name(m), strings.Join(devices, ", "), want)
		}
	}
	return list, nil
}

// onDevice is what a label says of a device that is not the CPU.
func onDevice(device string) string {
	if device == "" || device == "cpu" {
		return ""
	}
	return " on " + device
}

// captureEnvironment describes the machine, the program and the GPUs in use.
func captureEnvironment() record.Environment {
	env := record.CaptureEnvironment()
	for _, d := range gpu.Opened() {
		env.GPUs = append(env.GPUs, describeGPU(d.Info()))
	}
	env.SetID()
	return env
}

func describeGPU(info gpu.Info) record.GPU {
	return record.GPU{
		Device: fmt.Sprintf("cuda:%d", info.Index), Name: info.Name, Driver: "CUDA " + info.Driver,
		Compute: fmt.Sprintf("%d.%d", info.Major, info.Minor), MemoryBytes: info.MemoryBytes,
	}
}
