//go:build !linux

package superaccgpu

import (
	"errors"
	"os"
)

func dropCache(*os.File) error {
	return errors.New("the file cannot be dropped from the system's cache here")
}
