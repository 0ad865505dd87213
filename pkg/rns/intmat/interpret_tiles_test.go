//go:build amd64 && !noasm

package intmat

import (
	"encoding/binary"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// tileCodes are the tile instructions of products and their encodings, as clang 19 has them.
var tileCodes = map[string]string{
	"c4e2784900":   "ldtilecfg [AX]",
	"c4e27849c0":   "tilerelease",
	"c4e27b4b0408": "tileloadd tmm0, [AX+CX]",
	"c4e27b4b0c08": "tileloadd tmm1, [AX+CX]",
	"c4e27b4b1408": "tileloadd tmm2, [AX+CX]",
	"c4e27b4b1c08": "tileloadd tmm3, [AX+CX]",
	"c4e27b4b240a": "tileloadd tmm4, [DX+CX]",
	"c4e27b4b2c08": "tileloadd tmm5, [AX+CX]",
	"c4e27b4b3433": "tileloadd tmm6, [BX+SI]",
	"c4e27b4b3c30": "tileloadd tmm7, [AX+SI]",
	"c4e24b5ec4":   "tdpbssd tmm0, tmm4, tmm6",
	"c4e24b5ecd":   "tdpbssd tmm1, tmm5, tmm6",
	"c4e2435ed4":   "tdpbssd tmm2, tmm4, tmm7",
	"c4e2435edd":   "tdpbssd tmm3, tmm5, tmm7",
	"c4e27a4b0408": "tilestored [AX+CX], tmm0",
	"c4e27a4b0c08": "tilestored [AX+CX], tmm1",
	"c4e27a4b1408": "tilestored [AX+CX], tmm2",
	"c4e27a4b1c08": "tilestored [AX+CX], tmm3",
}

// tile is a register of 16 rows of 64 bytes.
type tile [16][64]byte

// configAddress is where the shapes of tiles are.
const configAddress = 1 << 50

var dataLine = regexp.MustCompile(`DATA tiles<>\+(\d+)\(SB\)/8, \$0x([0-9a-f]+)`)

// tileShapes returns the data that ldtilecfg reads.
func tileShapes(t *testing.T, text string) []byte {
	list := make([]byte, 64)
	for _, match := range dataLine.FindAllStringSubmatch(text, -1) {
		at, err := strconv.Atoi(match[1])
		if err != nil {
			t.Fatal(err)
		}
		x, err := strconv.ParseUint(match[2], 16, 64)
		if err != nil {
			t.Fatal(err)
		}
		binary.LittleEndian.PutUint64(list[at:], x)
	}
	return list
}

// addByte adds a byte of an instruction: to the last line if that is no whole one.
func (f *function) addByte(hex string) {
	if last := len(f.lines) - 1; last >= 0 && f.lines[last][0] == "BYTE" && tileCodes[f.lines[last][1]] == "" {
		f.lines[last][1] += hex
		return
	}
	f.lines = append(f.lines, []string{"BYTE", hex})
}

// tileStep runs an instruction on tiles.
func (m *machine) tileStep(code string) {
	text := tileCodes[code]
	name, operands, _ := strings.Cut(text, " ")
	list := strings.Split(operands, ", ")
	if m.tiles == nil && name != "ldtilecfg" {
		m.t.Fatalf("%s (%s) before tiles have shapes", code, text)
	}
	switch name {
	case "ldtilecfg":
		m.configure(m.bytes(m.general[strings.Trim(operands, "[]")], 64))
	case "tilerelease":
		m.tiles = nil
	case "tileloadd":
		z := m.tiles[list[0]]
		for i := range z {
			copy(z[i][:], m.row(list[1], i))
		}
	case "tilestored":
		for i, row := range m.tiles[list[1]] {
			copy(m.row(list[0], i), row[:])
		}
	case "tdpbssd":
		m.tiles[list[0]].add(m.tiles[list[1]], m.tiles[list[2]])
	default:
		m.t.Fatalf("a tile instruction that the interpreter does not know: %s", code)
	}
}

// configure sets the shapes of tiles, all of which are whole.
func (m *machine) configure(shapes []byte) {
	want := make([]byte, 64)
	want[0] = 1
	m.tiles = map[string]*tile{}
	for i := range 8 {
		want[16+2*i], want[48+i] = 64, 16
		m.tiles[fmt.Sprint("tmm", i)] = new(tile)
	}
	if string(shapes) != string(want) {
		m.t.Fatalf("shapes of tiles are %v, want %v", shapes, want)
	}
}

// row returns row i of memory at an operand like [AX+CX].
func (m *machine) row(operand string, i int) []byte {
	base, stride, _ := strings.Cut(strings.Trim(operand, "[]"), "+")
	return m.bytes(m.general[base]+int64(i)*m.general[stride], 64)
}

// add adds the products of rows of bytes of x and columns of four bytes of y.
func (z *tile) add(x, y *tile) {
	for i := range z {
		for j := 0; j < 64; j += 4 {
			sum := int32(binary.LittleEndian.Uint32(z[i][j:]))
			for k := range 64 {
				sum += int32(int8(x[i][k])) * int32(int8(y[k/4][j+k%4]))
			}
			binary.LittleEndian.PutUint32(z[i][j:], uint32(sum))
		}
	}
}
