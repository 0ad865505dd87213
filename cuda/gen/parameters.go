package main

import (
	"bytes"
	"fmt"
	"go/format"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"mpbench/cuda/ptx"
)

// field is a field of a struct, or a parameter of a kernel, with the type that the source writes.
type field struct {
	name, kind string
	offset     int
}

// record is a struct as clang lays it out.
type record struct {
	name   string
	fields []field
	size   int
}

var (
	recordName  = regexp.MustCompile(`(?m)^ +0 \| struct (\w+)$`)
	recordField = regexp.MustCompile(`(?m)^ +(\d+) \|   (?:const )?(?:struct )?(\S.*?) (\w+)$`)
	recordSize  = regexp.MustCompile(`\[sizeof=(\d+)`)
	kernelHead  = regexp.MustCompile(`extern "C" \S*global\S* void \S*launch_bounds\([^()]*\)\S* (\w+)\s*\(([^)]*)\)`)
	parameter   = regexp.MustCompile(`^(?:const )?(\w+)(?:\s*(\*)\s*(?:__restrict\s)?\s*|\s+)(\w+)$`)
	variant     = regexp.MustCompile(`(Tall)?(Tall|x?\d+(x\d+)?|Any|Block|Few|Warp|Serial|(Int|Float)(32|64)|Packed|` +
		`DD|DS|DI|Native|Sloppy)$`)
)

// layouts adds the structs of a source to a list.
func layouts(source string, list map[string]record) error {
	text, err := run(source, ptx.Variants[len(ptx.Variants)-1], "-fsyntax-only", "-Xclang",
		"-fdump-record-layouts-complete")
	for _, part := range strings.Split(text, "*** Dumping AST Record Layout\n") {
		name, size := recordName.FindStringSubmatch(part), recordSize.FindStringSubmatch(part)
		if name == nil || size == nil {
			continue
		}
		r := record{name: name[1]}
		r.size, _ = strconv.Atoi(size[1])
		for _, m := range recordField.FindAllStringSubmatch(part, -1) {
			offset, _ := strconv.Atoi(m[1])
			r.fields = append(r.fields, field{m[3], m[2], offset})
		}
		if old, ok := list[r.name]; ok && (old.size != r.size || !slices.Equal(old.fields, r.fields)) {
			return fmt.Errorf("%s: there are two structs %s", source, r.name)
		}
		list[r.name] = r
	}
	return err
}

// kernels adds the parameters of the kernels of a source, by name, to a list. Variants of one kernel with the same
// parameters appear once, by the name without what differs.
func kernels(source string, list map[string][]field) error {
	text, err := run(source, ptx.Variants[len(ptx.Variants)-1], "-E", "-P")
	all, families := map[string][]field{}, map[string][]string{}
	for _, m := range kernelHead.FindAllStringSubmatch(text, -1) {
		all[m[1]] = nil
		for _, p := range strings.Split(m[2], ",") {
			if strings.TrimSpace(p) == "" {
				continue
			}
			parts := parameter.FindStringSubmatch(strings.TrimSpace(p))
			if parts == nil {
				return fmt.Errorf("%s: kernel %s: what is the parameter %q?", source, m[1], p)
			}
			all[m[1]] = append(all[m[1]], field{name: parts[3], kind: strings.TrimSpace(parts[1] + " " + parts[2])})
		}
		family := variant.ReplaceAllString(m[1], "")
		families[family] = append(families[family], m[1])
	}
	for family, names := range families {
		differs := func(name string) bool { return !slices.Equal(all[name], all[names[0]]) }
		if len(names) == 1 || slices.ContainsFunc(names, differs) {
			for _, name := range names {
				list[name] = all[name]
			}
		} else {
			list[family] = all[names[0]]
		}
	}
	return err
}

// basic are the types of the sources, in Go. Vectors of words are pointed to only.
var basic = map[string]struct {
	name string
	size int
}{
	"u8": {"uint8", 1}, "u32": {"uint32", 4}, "u64": {"uint64", 8}, "i32": {"int32", 4}, "i64": {"int64", 8},
	"float": {"float32", 4}, "double": {"float64", 8}, "uint4": {"uint32", 0}, "uint2": {"uint32", 0},
	"ulonglong2": {"uint64", 0},
}

// writer writes the structs that kernels need, and a test of their offsets.
type writer struct {
	records map[string]record
	shared  map[string]bool // are in package cuda, and this is another
	done    map[string]bool
	code    bytes.Buffer
	tests   bytes.Buffer
}

// goType returns a type in Go, its size and alignment, having written the struct if it is one.
func (w *writer) goType(kind string) (name string, size, align int, err error) {
	if target, ok := strings.CutSuffix(kind, " *"); ok {
		name, _, _, err = w.goType(target)
		if pointer := "Pointer"; err == nil {
			if len(w.shared) > 0 {
				pointer = "cuda.Pointer"
			}
			name = fmt.Sprintf("%s[%s]", pointer, name)
		}
		return name, 8, 8, err
	}
	if b, ok := basic[kind]; ok {
		return b.name, b.size, b.size, nil
	}
	r, ok := w.records[kind]
	if !ok {
		return "", 0, 0, fmt.Errorf("what is the type %s?", kind)
	}
	if w.shared[kind] {
		return "cuda." + kind, r.size, 8, nil
	}
	return kind, r.size, 8, w.writeRecord(r)
}

// writeRecord writes a struct once, with gaps where clang has them and Go would not.
func (w *writer) writeRecord(r record) error {
	if w.done[r.name] {
		return nil
	}
	w.done[r.name] = true
	var code fields
	var offsets strings.Builder
	end := 0
	gap := func(to int) {
		if to > end {
			code.add("_", fmt.Sprintf("[%d]byte", to-end))
		}
	}
	for i, f := range r.fields {
		name, size, align, err := w.goType(f.kind)
		if err != nil {
			return fmt.Errorf("%s.%s: %w", r.name, f.name, err)
		}
		if next := (end + align - 1) / align * align; next != f.offset {
			gap(f.offset)
		}
		code.add(exported(f.name), name)
		if i%5 == 0 {
			offsets.WriteString("\n")
		}
		fmt.Fprintf(&offsets, "{%q, %d}, ", exported(f.name), f.offset)
		end = f.offset + size
	}
	if end%8 != 0 && end+4 != r.size || end+8 <= r.size {
		gap(r.size)
	}
	fmt.Fprintf(&w.code, "%s struct {\n%s}\n", r.name, &code)
	fmt.Fprintf(&w.tests, "{reflect.TypeFor[%s](), %d, []offset{%s\n}},\n", r.name, r.size, &offsets)
	return nil
}

func (w *writer) writeKernel(name string, parameters []field) error {
	var code fields
	for _, p := range parameters {
		kind, _, _, err := w.goType(p.kind)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		code.add(exported(p.name), kind)
	}
	text := "\n" + code.String()
	if len(parameters) < 2 {
		text = strings.TrimSpace(text)
	}
	fmt.Fprintf(&w.code, "%sArgs struct {%s}\n", exported(name), text)
	return nil
}

// mostNames is how long the names of a line of fields may be.
const mostNames = 80

// fields are the fields of a struct in Go; neighbours of one type share a line.
type fields struct {
	code   strings.Builder
	last   string // type
	length int    // of the names of the last line
}

func (f *fields) add(name, kind string) {
	f.length += len(", " + name)
	if kind == f.last && f.length <= mostNames {
		f.code.WriteString(", " + name)
		return
	}
	f.end()
	f.code.WriteString(name)
	f.last, f.length = kind, len(name)
}

func (f *fields) end() {
	if f.last != "" {
		f.code.WriteString(" " + f.last + "\n")
	}
}

// String returns the lines.
func (f *fields) String() string {
	f.end()
	f.last = ""
	return f.code.String()
}

func exported(name string) string { return strings.ToUpper(name[:1]) + name[1:] }

// writeParameters writes parameters.go and its test into the folder.
func writeParameters(folder string, sources []string) error {
	w := &writer{records: map[string]record{}, done: map[string]bool{}, shared: map[string]bool{}}
	all := map[string][]field{}
	header := "package " + filepath.Base(folder) + "\n"
	if folder != "cuda" {
		common := &writer{records: map[string]record{}, done: w.shared, shared: nil}
		base, err := filepath.Glob("cuda/*.cu")
		if err != nil {
			return err
		}
		if err := common.collect(base, map[string][]field{}); err != nil {
			return err
		}
		header += "\nimport \"mpbench/cuda\"\n"
	}
	if err := w.collect(sources, all); err != nil {
		return err
	}
	const generated = "// Code generated by cuda/gen. DO NOT EDIT.\n\n"
	const group = "\n// The structs of the sources, and, as NameArgs, the parameters of kernels called name.\ntype (\n"
	if err := write(filepath.Join(folder, "parameters.go"), generated+header+group+w.code.String()+")\n"); err != nil {
		return err
	}
	test := fmt.Sprintf(layoutTest, filepath.Base(folder), &w.tests)
	return write(filepath.Join(folder, "parameters_test.go"), generated+test)
}

func (w *writer) collect(sources []string, all map[string][]field) error {
	for _, source := range sources {
		if err := layouts(source, w.records); err != nil {
			return err
		}
		if err := kernels(source, all); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if err := w.writeKernel(name, all[name]); err != nil {
			return err
		}
	}
	return nil
}

const layoutTest = `package %s

import (
	"reflect"
	"testing"
)

type offset struct {
	field string
	bytes uintptr
}

// TestLayouts compares sizes of structs and offsets of all fields with those of the kernels' compiler.
func TestLayouts(t *testing.T) {
	for _, l := range []struct {
		of      reflect.Type
		size    uintptr
		offsets []offset
	}{
		%s} {
		if l.of.Size() != l.size {
			t.Errorf("%%v has %%d bytes, in the kernels %%d", l.of, l.of.Size(), l.size)
		}
		for _, o := range l.offsets {
			if f, ok := l.of.FieldByName(o.field); !ok || f.Offset != o.bytes {
				t.Errorf("%%v.%%s lies at %%d, in the kernels at %%d", l.of, o.field, f.Offset, o.bytes)
			}
		}
	}
}
`

func write(file, code string) error {
	text, err := format.Source([]byte(code))
	if err != nil {
		return fmt.Errorf("%s: %w\n%s", file, err, code)
	}
	return os.WriteFile(file, text, 0o666)
}
