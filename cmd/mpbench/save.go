package main

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"math/big"
	"path/filepath"
	"strings"

	"mpbench/pkg/exact"
	"mpbench/pkg/numbers"
	"mpbench/pkg/report"
)

// checkSave finds what would make the saving of a result fail.
func checkSave(path string) error {
	if !isNPY(path) && strings.ToLower(filepath.Ext(path)) != ".txt" {
		return usagef("--save-result %s: want a name that ends with .txt or .npy", path)
	}
	return report.CheckWritable(path)
}

func isNPY(path string) bool { return strings.ToLower(filepath.Ext(path)) == ".npy" }

// saveVector writes what a method computed exactly: hexadecimal numbers in text, one a line, or float64 in .npy.
func saveVector(path string, y numbers.Source) error {
	if isNPY(path) {
		data, err := npyFile(path, y)
		if err != nil {
			return err
		}
		return save(path, data)
	}
	lines := make([]string, y.Len())
	for i := range lines {
		lines[i] = hexadecimal(numbers.At(y, i))
	}
	return saveLines(path, lines)
}

func saveLines(path string, lines []string) error {
	return save(path, []byte(strings.Join(lines, "\n")+"\n"))
}

func save(path string, data []byte) error {
	return report.WriteFile(path, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// rootDigits is how many digits of an irrational result are written.
const rootDigits = 40

// exactText writes an exact result as text files are read: as a hexadecimal number, a decimal fraction as a decimal
// number, a quotient of other denominators or a root rounded to rootDigits.
func exactText(s exact.Summary) string {
	if !s.Sum.IsFinite() {
		return hexadecimal(s.Sum)
	}
	x := s.Sum.Number()
	twos := x.Denom().TrailingZeroBits()
	odd := new(big.Int).Rsh(x.Denom(), twos)
	fives, five := 0, big.NewInt(5)
	for rest := new(big.Int); odd.BitLen() > 1; fives++ {
		quotient, _ := new(big.Int).QuoRem(odd, five, rest)
		if rest.Sign() != 0 {
			return s.Text(rootDigits)
		}
		odd = quotient
	}
	switch {
	case s.Square != nil:
		return s.Text(rootDigits)
	case fives == 0:
		return hexadecimal(s.Sum)
	}
	places := max(fives, int(twos))
	scaled := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(places)), nil))
	return fmt.Sprintf("%se-%d", scaled.Mul(scaled, x).Num(), places)
}

// hexadecimal writes a value exactly, as 0x1.8p+3.
func hexadecimal(v exact.Value) string {
	if !v.IsFinite() {
		return v.String()
	}
	// What methods compute is dyadic: the denominator is a power of two.
	bits := uint(64)
	if v.Rat != nil {
		bits = uint(max(64, v.Rat.Num().BitLen()))
	}
	return v.Round(bits).Text('x', -1)
}

// npyFile returns the content of a .npy file of float64.
func npyFile(path string, y numbers.Source) ([]byte, error) {
	header := fmt.Sprintf("{'descr': '<f8', 'fortran_order': False, 'shape': (%d,), }", y.Len())
	header += strings.Repeat(" ", 63-(10+len(header))%64) + "\n"
	data := append([]byte("\x93NUMPY\x01\x00"), byte(len(header)), byte(len(header)>>8))
	data = append(data, header...)
	if floats, ok := y.(numbers.Float64s); ok {
		return binary.Append(data, binary.LittleEndian, []float64(floats))
	}
	for i := range y.Len() {
		v := numbers.At(y, i)
		x := v.Float64()
		if !exact.FromFloat64(x).Equal(v) {
			const text = "cannot write %s: component %d has more digits than float64 holds; name a .txt file"
			return nil, inputOutputf(text, path, i)
		}
		data = binary.LittleEndian.AppendUint64(data, math.Float64bits(x))
	}
	return data, nil
}
