package main

import (
	"fmt"
	"slices"
	"strings"

	"mpbench/pkg/device"
	"mpbench/pkg/gpu"
	"mpbench/pkg/record"
)

// availableDevices lists the devices that this program can measure on, the CPU first, and says why there is no GPU.
func availableDevices() (devices []device.Set, noGPU string) {
	devices = []device.Set{{}}
	for i := 0; ; i++ {
		_, err := gpu.Open(i)
		if err != nil {
			if i == 0 {
				noGPU = oneLine(err)
			}
			return devices, noGPU
		}
		devices = append(devices, device.GPU(i))
	}
}

// chooseDevices returns the devices of a list, of which it opens the GPUs, or for "all" those that are available.
func chooseDevices(list string) ([]device.Set, error) {
	if list == "all" {
		available, _ := availableDevices()
		return available, nil
	}
	var chosen []device.Set
	for _, name := range strings.Split(list, ",") {
		set, err := device.Parse(strings.TrimSpace(name))
		if err != nil {
			return nil, usagef("%v", err)
		}
		for _, i := range set.GPUs() {
			if _, err := gpu.Open(i); err != nil {
				text := fmt.Sprintf("device %s is not available: %s", device.GPU(i), oneLine(err))
				return nil, &statusError{exitUnavailable, text}
			}
		}
		same := func(s device.Set) bool { return s.String() == set.String() }
		if !slices.ContainsFunc(chosen, same) {
			chosen = append(chosen, set)
		}
	}
	return chosen, nil
}

func joined(devices []device.Set) string {
	return strings.Join(mapped(devices, device.Set.String), ", ")
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
		Device: device.GPU(info.Index).String(), Name: info.Name, Driver: "CUDA " + info.Driver,
		Compute: fmt.Sprintf("%d.%d", info.Major, info.Minor), MemoryBytes: info.MemoryBytes,
	}
}
