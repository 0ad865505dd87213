package record

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
)

// The phases that every record names.
const (
	PhaseConvert = "convert" // inputs to the method's own number format
	PhaseH2D     = "h2d"     // copy to the device
	PhaseKernel  = "kernel"  // the operation itself; its time is the record's time
	PhaseD2H     = "d2h"     // copy from the device
	PhaseHost    = "host"    // what the host does with a device's results; in records of devices only
)

// StandardPhases are the phases that every record names, in their order of execution.
var StandardPhases = []string{PhaseConvert, PhaseH2D, PhaseKernel, PhaseD2H}

// Phases are durations in nanoseconds by name of phase.
type Phases map[string]float64

// Names returns the standard phases in their order of execution, and then the others in alphabetical order.
func (p Phases) Names() []string {
	names := slices.Clone(StandardPhases)
	for _, name := range slices.Sorted(maps.Keys(p)) {
		if !slices.Contains(StandardPhases, name) {
			names = append(names, name)
		}
	}
	return names
}

// MarshalJSON writes the phases in the order of Names, with 0 for a standard phase that did not occur.
func (p Phases) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, name := range p.Names() {
		if i > 0 {
			b.WriteByte(',')
		}
		key, err := json.Marshal(name)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(p[name])
		if err != nil {
			return nil, err
		}
		b.Write(key)
		b.WriteByte(':')
		b.Write(value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}
