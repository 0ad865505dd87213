package bench

import (
	"errors"
	"strings"

	"mpbench/pkg/gemv"
	"mpbench/pkg/reduce"
)

// Offers reports whether a method that lists devices runs on a device: "cuda" stands for "cuda:0" and every other one.
func Offers(devices []string, device string) bool {
	kind, _, _ := strings.Cut(device, ":")
	for _, d := range devices {
		if d == device || d == kind {
			return true
		}
	}
	return false
}

// NotOffered reports whether an error of a method's constructor says that the method does not do this on this device: lists of devices
// are of a method, which may have a sum there and no dot product.
func NotOffered(device string, err error) bool {
	return device != "cpu" && (errors.Is(err, reduce.ErrOption) || errors.Is(err, gemv.ErrOption))
}

// CloseDevice gives back the device memory of a Summer, Dotter or Engine that has some.
func CloseDevice(method any) error {
	switch c := method.(type) {
	case interface{ Close() error }:
		return c.Close()
	case interface{ Close() }:
		c.Close()
	}
	return nil
}

// DeviceError returns the error of the last operation of a Summer, Dotter or Engine that works on a device.
func DeviceError(method any) error {
	if c, ok := method.(interface{ Err() error }); ok {
		return c.Err()
	}
	return nil
}
