package main

import (
	"fmt"
	"slices"
	"strings"

	"mpbench/pkg/comm"
	"mpbench/pkg/device"
	"mpbench/pkg/gpu"
	"mpbench/pkg/peer"
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
// What depends on the machine, cuda:local and cuda:all, stays so for a team.
func chooseDevices(list string, t *team) ([]device.Set, error) {
	if namesAll(list) {
		available, _ := availableDevices()
		return available, nil
	}
	var chosen []device.Set
	for _, name := range strings.Split(list, ",") {
		set, err := device.Parse(strings.TrimSpace(name))
		if err != nil {
			return nil, usagef("%v", err)
		}
		local := t.localDevices(set)
		if t == nil {
			set = local
		}
		for _, i := range local.GPUs() {
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

// gpuHere tells whether there is a GPU whose times mean something.
func gpuHere() bool {
	infos, err := gpu.Devices()
	return err == nil && len(infos) > 0 && !infos[0].Emulated()
}

// busRate returns how many bytes per second go from the host to a GPU.
func busRate(index int) (float64, error) {
	d, err := gpu.Open(index)
	if err != nil {
		return 0, err
	}
	return d.BusRate()
}

// localDevices replaces cuda:local by this rank's GPU, of a single process the first, and cuda:all by all of the
// machine.
func (t *team) localDevices(s device.Set) device.Set {
	rank := 0
	if t != nil {
		rank, _ = comm.Local(t.Communicator)
	}
	return s.Here(rank, func() int {
		infos, _ := gpu.Devices() // without any, opening the first says why
		return len(infos)
	})
}

func joined(devices []device.Set) string {
	return strings.Join(mapped(devices, device.Set.String), ", ")
}

// captureEnvironment describes the machine, the program, the GPUs in use, and the libraries that methods call.
func captureEnvironment(methods ...string) record.Environment {
	env := record.CaptureEnvironment()
	for _, d := range gpu.Opened() {
		env.GPUs = append(env.GPUs, describeGPU(d.Info()))
	}
	env.Peers = describePeers(peer.Used(methods))
	env.SetID()
	return env
}

func describePeers(list []peer.Status) (peers []record.Peer) {
	for _, s := range list {
		if s.Missing == nil {
			peers = append(peers, record.Peer{Library: s.Name, Version: s.Version, Path: s.Path})
		}
	}
	return peers
}

func describeGPU(info gpu.Info) record.GPU {
	return record.GPU{
		Device: device.GPU(info.Index).String(), Name: info.Name, Driver: "CUDA " + info.Driver,
		Compute: fmt.Sprintf("%d.%d", info.Major, info.Minor), MemoryBytes: info.MemoryBytes,
	}
}
