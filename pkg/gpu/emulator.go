package gpu

import "fmt"

// Step is what the warps of a launch do between two barriers of their blocks, as an emulator that counts it does
// (cuda/emulator/counts.h).
type Step struct {
	Warps     uint64 // that did something
	Divergent uint64 // of these, whose threads went different ways
	Accesses  uint64 // of shared memory, by warps
	Conflicts uint64 // words beyond these, which one bank had to give one after the other
}

// Counts tells whether the steps of launches are counted: by no GPU.
func (d *Device) Counts() bool { return d.driver.emulatorSteps != nil }

// Steps returns what the launch did that so many others followed, 0 for the last one, once it is over; nil if it is
// not known. To be called inside Do.
func (d *Device) Steps(before int) []Step {
	if !d.Counts() {
		return nil
	}
	var none Step
	n := d.driver.emulatorSteps(int32(before), &none, 0)
	if n <= 0 {
		return nil
	}
	steps := make([]Step, n)
	d.driver.emulatorSteps(int32(before), &steps[0], n)
	return steps
}

// Refuse makes an emulator refuse one call for lack of memory, once it has served so many others; none if after is
// negative. It returns how many it still had to serve before, -1 if it refuses none. To be called inside Do, of an
// emulator alone.
func (d *Device) Refuse(after int) (left int) {
	return int(d.driver.emulatorRefuse(int32(after), codeOutOfMemory))
}

// Break makes an emulator's device fault once it has served so many calls, for good. To be called inside Do.
func (d *Device) Break(after int) { d.driver.emulatorRefuse(int32(after), codeIllegalAddress) }

// Emulate makes an emulator have at least n devices, of at most 8. The error wraps ErrNoDriver or ErrNoDevice.
func Emulate(n int) error {
	d, err := loadDriver()
	if err != nil {
		return err
	}
	infos, err := Devices()
	if err != nil || len(infos) >= n {
		return err
	}
	if d.emulatorDevices == nil || int(d.emulatorDevices(int32(n))) < n {
		return fmt.Errorf("%w: %d are wanted, there %s", ErrNoDevice, n, deviceNames(len(infos)))
	}
	return nil
}
