package bench

import "strings"

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
