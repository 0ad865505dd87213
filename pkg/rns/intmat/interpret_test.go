//go:build amd64 && !noasm

package intmat

import (
	"encoding/binary"
	"strconv"
	"strings"
	"testing"
)

// function is assembly of a product, to be run by an interpreter of those instructions that products have. Operands
// are in Go's order, the destination last, but for tiles, of which instructions are BYTE and 5 or 6 bytes.
type function struct {
	lines  [][]string // instruction and operands
	labels map[string]int
	shapes []byte // of tiles
}

func newFunction(t *testing.T, text, name string) *function {
	t.Helper()
	f := &function{labels: map[string]int{}, shapes: tileShapes(t, text)}
	_, text, found := strings.Cut(text, "TEXT ·"+name+"(SB)")
	if !found {
		t.Fatalf("no function %s", name)
	}
	text, _, _ = strings.Cut(text, "\n// func ")
	for _, line := range strings.Split(text, "\n")[1:] {
		line = strings.TrimSpace(line)
		if label, ok := strings.CutSuffix(line, ":"); ok {
			f.labels[label] = len(f.lines)
		} else if hex, ok := strings.CutPrefix(line, "BYTE $0x"); ok {
			f.addByte(hex)
		} else if line != "" && !strings.HasPrefix(line, "//") {
			f.lines = append(f.lines, strings.Fields(strings.ReplaceAll(line, ",", " ")))
		}
	}
	return f
}

// machine is the state of a processor.
type machine struct {
	t        *testing.T
	general  map[string]int64
	vectors  map[string][64]byte
	memory   map[int64][]byte // by address, which are far apart
	tiles    map[string]*tile // nil if they have no shapes
	negative bool             // flags
	zero     bool
}

// call runs the product of two panels.
func (f *function) call(t *testing.T, tile []int32, a, b []uint32, pairs int) {
	t.Helper()
	f.run(t, map[string]any{"tile+0": tile, "a+8": a, "b+16": b}, map[string]int64{"pairs+24": int64(pairs)})
}

// run runs the function on copies of the arrays; nothing outside of them may be read or written.
func (f *function) run(t *testing.T, arrays map[string]any, numbers map[string]int64) *machine {
	t.Helper()
	m := &machine{t: t, general: map[string]int64{}, vectors: map[string][64]byte{}}
	m.memory = map[int64][]byte{configAddress: f.shapes}
	arguments, address := map[string]int64{}, int64(0)
	for name, x := range numbers {
		arguments[name+"(FP)"] = x
	}
	for name, x := range arrays {
		address += 1 << 40
		list, err := binary.Append(nil, binary.LittleEndian, x)
		if err != nil {
			t.Fatal(err)
		}
		m.memory[address], arguments[name+"(FP)"] = list, address
	}
	for at := 0; f.lines[at][0] != "RET"; at++ {
		line := f.lines[at]
		jump := line[0] == "JMP" || line[0] == "JGE" && !m.negative || line[0] == "JZ" && m.zero ||
			line[0] == "JNZ" && !m.zero
		switch value, isArgument := arguments[line[min(1, len(line)-1)]]; {
		case jump:
			at = f.labels[line[1]] - 1
		case isArgument && line[0] == "MOVQ":
			m.general[line[2]] = value
		default:
			m.step(line)
		}
	}
	for name, x := range arrays {
		if _, err := binary.Decode(m.memory[arguments[name+"(FP)"]], binary.LittleEndian, x); err != nil {
			t.Fatal(err)
		}
	}
	return m
}

// step runs an instruction that does not jump.
func (m *machine) step(line []string) {
	switch line[0] {
	case "JGE", "JZ", "JNZ", "VZEROUPPER":
	case "BYTE":
		m.tileStep(line[1])
	case "MOVQ":
		m.general[line[2]] = m.value(line[1])
	case "LEAQ":
		m.general[line[2]] = m.address(line[1])
	case "SHLQ":
		m.general[line[2]] <<= m.value(line[1])
	case "ADDQ":
		m.set(line[2], m.general[line[2]]+m.value(line[1]))
	case "SUBQ":
		m.set(line[2], m.general[line[2]]-m.value(line[1]))
	case "DECQ":
		m.set(line[1], m.general[line[1]]-1)
	case "VMOVDQU", "VMOVDQU32":
		n := max(width(line[1]), width(line[2]))
		if width(line[1]) == 0 { // a load
			var v [64]byte
			copy(v[:n], m.at(line[1], n))
			m.vectors[line[2]] = v
		} else {
			v := m.vectors[line[1]]
			copy(m.at(line[2], n), v[:n])
		}
	case "VPBROADCASTD":
		var v [64]byte
		for i := 0; i < width(line[2]); i += 4 {
			copy(v[i:], m.at(line[1], 4))
		}
		m.vectors[line[2]] = v
	case "VPADDD":
		m.lanes(line, func(x, y, _ uint32) uint32 { return x + y })
	case "VPMADDWD":
		m.lanes(line, func(x, y, _ uint32) uint32 { return products(x, y) })
	case "VPDPWSSD":
		m.lanes(line, func(x, y, z uint32) uint32 { return z + products(x, y) })
	default:
		m.t.Fatalf("an instruction that the interpreter does not know: %v", line)
	}
}

// products returns the sum of the products of the signed halves.
func products(x, y uint32) uint32 {
	return uint32(int32(int16(x))*int32(int16(y)) + int32(x)>>16*(int32(y)>>16))
}

// lanes applies an operation to lanes of 32 bits of two registers and of the destination.
func (m *machine) lanes(line []string, f func(x, y, z uint32) uint32) {
	x, y, z := m.vectors[line[1]], m.vectors[line[2]], m.vectors[line[3]]
	get := binary.LittleEndian.Uint32
	for i := 0; i < width(line[3]); i += 4 {
		binary.LittleEndian.PutUint32(z[i:], f(get(x[i:]), get(y[i:]), get(z[i:])))
	}
	m.vectors[line[3]] = z
}

// width returns the bytes of a vector register, 0 for an operand in memory.
func width(operand string) int {
	switch operand[0] {
	case 'Y':
		return 32
	case 'Z':
		return 64
	}
	return 0
}

// set sets a register and the flags.
func (m *machine) set(register string, x int64) {
	m.general[register] = x
	m.negative, m.zero = x < 0, x == 0
}

// value returns that of a register, or a constant.
func (m *machine) value(operand string) int64 {
	hex, isConstant := strings.CutPrefix(operand, "$0x")
	if !isConstant {
		return m.general[operand]
	}
	x, err := strconv.ParseInt(hex, 16, 64)
	if err != nil {
		m.t.Fatalf("operand %s: %v", operand, err)
	}
	return x
}

// address returns that of an operand like 64(AX), or of the shapes of tiles.
func (m *machine) address(operand string) int64 {
	if operand == "tiles<>+0(SB)" {
		return configAddress
	}
	offset, register, _ := strings.Cut(strings.TrimSuffix(operand, ")"), "(")
	if offset == "" {
		return m.general[register]
	}
	x, err := strconv.ParseInt(offset, 10, 64)
	if err != nil {
		m.t.Fatalf("operand %s: %v", operand, err)
	}
	return m.general[register] + x
}

// at returns n bytes of memory at an operand.
func (m *machine) at(operand string, n int) []byte { return m.bytes(m.address(operand), n) }

func (m *machine) bytes(address int64, n int) []byte {
	for begin, list := range m.memory {
		if begin <= address && address+int64(n) <= begin+int64(len(list)) {
			return list[address-begin:][:n]
		}
	}
	m.t.Fatalf("address %#x is outside of the arrays", address)
	return nil
}
