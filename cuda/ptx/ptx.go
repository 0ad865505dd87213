// Package ptx has the kernels of cuda/*.cu as PTX, which the driver compiles for the device it finds: files that
// cuda/gen makes, compressed, which the program embeds and unpacks when they are first asked for.
package ptx

import (
	"bytes"
	"compress/gzip"
	"embed"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
)

// Variant is a way to compile kernels. A device uses the first variant that a module has and that it knows.
type Variant struct {
	Suffix     string   // of file names
	Capability int      // the least compute capability, ten times: 75 for 7.5
	Exactly    bool     // for no other compute capability: its own instructions
	ISA        int      // version of PTX, ten times
	Modules    []string // that are compiled so; nil for all but those of tensor cores
	Early      bool     // kernels may begin while the one before them ends, where they ask for it
}

// tensor are the modules that need tensor cores' products of bytes.
var tensor = []string{"byte_planes", "byte_products", "round_entries"}

// Variants are all variants, the most capable first. PTX 8.0 needs a driver of CUDA 12, PTX 7.8 one of CUDA 11.8, PTX
// 7.0 one of CUDA 11, PTX 6.3 one of CUDA 10.
var Variants = []Variant{
	{Suffix: "_sm90a", Capability: 90, Exactly: true, ISA: 80, Modules: []string{"byte_products"}},
	{Suffix: "_sm90", Capability: 90, ISA: 78, Modules: []string{"deferred", "limb_products"}, Early: true},
	{Suffix: "_sm80", Capability: 80, ISA: 70, Modules: tensor},
	{Capability: 75, ISA: 63},
}

// Target is what compilers call the device.
func (v Variant) Target() string {
	if v.Exactly {
		return fmt.Sprintf("sm_%da", v.Capability)
	}
	return fmt.Sprintf("sm_%d", v.Capability)
}

// Suits tells whether a device of a compute capability, ten times, can have kernels that are compiled so.
func (v Variant) Suits(capability int) bool {
	return capability == v.Capability || capability > v.Capability && !v.Exactly
}

// Has tells whether a module is compiled so.
func (v Variant) Has(module string) bool {
	if v.Modules == nil {
		return !slices.Contains(tensor, module)
	}
	return slices.Contains(v.Modules, module)
}

// Extension is that of the files.
const Extension = ".ptx.gz"

// Set is a folder of files NAME.ptx.gz, NAME being that of a module and the suffix of a variant.
type Set struct{ Files fs.FS }

//go:embed *.ptx.gz
var files embed.FS

// Kernels are those of the program.
var Kernels = Set{files}

// Text returns the text of a file.
func (s Set) Text(name string) (string, error) {
	packed, err := fs.ReadFile(s.Files, name+Extension)
	if err != nil {
		return "", fmt.Errorf("ptx: there is no %s.ptx", name)
	}
	text, err := Unpack(packed)
	if err != nil {
		return "", fmt.Errorf("ptx: %s.ptx: %w", name, err)
	}
	return text, nil
}

// Names lists the files.
func (s Set) Names() []string {
	names, err := fs.Glob(s.Files, "*"+Extension)
	if err != nil { // the pattern is valid
		panic(err)
	}
	for i, name := range names {
		names[i] = strings.TrimSuffix(name, Extension)
	}
	return names
}

// Unpack returns what a file holds.
func Unpack(packed []byte) (string, error) {
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(r)
	return string(text), err
}

// Pack compresses a text.
func Pack(text string) []byte {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil { // the level is valid
		panic(err)
	}
	io.WriteString(w, text) // a buffer takes everything
	w.Close()
	return b.Bytes()
}
