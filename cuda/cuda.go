// Package cuda holds the kernels: sources (.cu, .cuh) to read and to compile, and the PTX that scripts/gen makes of them, which the
// program embeds. README.md lists the kernels.
package cuda

import (
	"embed"
	"fmt"
	"io/fs"
	"strings"
)

//go:embed *.ptx
var files embed.FS

// PTX returns the text of NAME.ptx.
func PTX(name string) (string, error) {
	text, err := files.ReadFile(name + ".ptx")
	if err != nil {
		return "", fmt.Errorf("cuda: there is no %s.ptx", name)
	}
	return string(text), nil
}

// Modules lists the names of all PTX files.
func Modules() []string {
	names, err := fs.Glob(files, "*.ptx")
	if err != nil { // the pattern is valid
		panic(err)
	}
	for i, name := range names {
		names[i] = strings.TrimSuffix(name, ".ptx")
	}
	return names
}
