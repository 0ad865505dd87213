package main

import (
	"fmt"
	"slices"
	"strings"

	"mpbench/pkg/gpu"
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

// chooseDevices returns the devices of a list, or all that are available for "all".
func chooseDevices(list string) ([]string, error) {
	available, noGPU := availableDevices()
	if list == "all" {
		return available, nil
	}
	var chosen []string
	for _, d := range strings.Split(list, ",") {
		d = strings.TrimSpace(d)
		if !slices.Contains(available, d) {
			text := fmt.Sprintf("device %q is not available; there are: %s", d, strings.Join(available, ", "))
			if d != "cpu" && noGPU != "" {
				text += " (" + noGPU + ")"
			}
			return nil, &statusError{exitUnavailable, text}
		}
		if !slices.Contains(chosen, d) {
			chosen = append(chosen, d)
		}
	}
	return chosen, nil
}
