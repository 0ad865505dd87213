package main

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
)

// writeIntegers writes integers of 64 bits, of a dtype such as "<i8", as .npy, or without a header.
func writeIntegers(t *testing.T, path, dtype string, x []uint64) {
	t.Helper()
	var data []byte
	if strings.HasSuffix(path, ".npy") {
		header := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%d,), }", dtype, len(x))
		header += strings.Repeat(" ", 63-(10+len(header))%64) + "\n"
		data = append([]byte("\x93NUMPY\x01\x00"), byte(len(header)), byte(len(header)>>8))
		data = append(data, header...)
	}
	for _, w := range x {
		if dtype[0] == '>' {
			data = binary.BigEndian.AppendUint64(data, w)
		} else {
			data = binary.LittleEndian.AppendUint64(data, w)
		}
	}
	if err := os.WriteFile(path, data, 0o666); err != nil {
		t.Fatal(err)
	}
}

// TestIntegers: sums of integers of 64 bits are exact in streams, parts and their merging, though no integer of them
// need be a float64; what cannot have them says so.
func TestIntegers(t *testing.T) {
	t.Chdir(t.TempDir())
	r := rand.New(rand.NewPCG(1, 2))
	x := []uint64{math.MaxUint64, 1 << 63, 1<<63 - 1, 1<<53 + 1}
	for range 3000 {
		x = append(x, r.Uint64()>>r.IntN(64))
	}
	for _, dtype := range []string{"<i8", ">i8", "<u8", ">u8"} {
		sum := new(big.Int)
		for _, w := range x {
			if dtype[1] == 'i' {
				sum.Add(sum, big.NewInt(int64(w)))
			} else {
				sum.Add(sum, new(big.Int).SetUint64(w))
			}
		}
		want := sum.String() + "\n"
		writeIntegers(t, "x.npy", dtype, x)
		writeIntegers(t, "a-1.npy", dtype, x[:1000])
		writeIntegers(t, "a-2.npy", dtype, x[1000:])
		writeIntegers(t, "x.bin", dtype, x)
		for _, args := range [][]string{
			{"x.npy", "--stream"}, {"a-*.npy", "--stream"}, {"x.bin", "--dtype", dtype, "--stream"}, {"x.npy"},
		} {
			if got := output(t, append([]string{"sum", "--digits", "30"}, args...)...); got != want {
				t.Errorf("%s, sum %q: %s, want %s", dtype, args, got, want)
			}
		}
		output(t, "partial", "sum", "x.npy", "--rows", "1500:", "-o", "b.mps")
		output(t, "partial", "sum", "x.npy", "--rows", ":1500", "--threads", "1", "-o", "a.mps")
		if got := output(t, "merge", "b.mps", "a.mps", "--digits", "30"); got != want {
			t.Errorf("%s, merged: %s, want %s", dtype, got, want)
		}
	}
	writeNumbers(t, "a-3.npy", 10)
	writeNumbers(t, "n.npy", len(x))
	for message, args := range map[string][]string{
		"a-3.npy: holds other numbers than the files before": {"sum", "a-*.npy", "--stream"},
		"x.npy holds integers of 64 bits, and n.npy holds ":  {"dot", "n.npy", "x.npy", "--stream"},
		"x.npy: holds integers of 64 bits, which need not ":  {"gemv", "x.npy", "n.npy", "--stream"},
	} {
		if _, text, code := mpbench(t, args...); code != exitInputOutput || strings.Count(text, "\n") != 1 ||
			!strings.HasPrefix(text, "mpbench: "+message) {
			t.Errorf("%q: exit code %d, want %q: %s", args, code, message, text)
		}
	}
}

// TestIntegerProducts: dot products of integers of 64 bits, signed or not, are exact in streams, and parts merge.
func TestIntegerProducts(t *testing.T) {
	t.Chdir(t.TempDir())
	r := rand.New(rand.NewPCG(3, 4))
	lists := [2][]uint64{{math.MaxUint64, 1 << 63, 1<<63 - 1, 1<<53 + 1}, {math.MaxUint64, 1 << 63, 1<<32 - 1, 1 << 63}}
	for range 70_000 {
		for i := range lists {
			lists[i] = append(lists[i], r.Uint64()>>r.IntN(64))
		}
	}
	value := func(dtype string, w uint64) *big.Int {
		if dtype[1] == 'i' {
			return big.NewInt(int64(w))
		}
		return new(big.Int).SetUint64(w)
	}
	for _, dtypes := range [][2]string{{"<i8", "<i8"}, {"<u8", ">i8"}, {">i8", "<u8"}, {"<u8", "<u8"}} {
		sum := new(big.Int)
		for i, w := range lists[0] {
			sum.Add(sum, new(big.Int).Mul(value(dtypes[0], w), value(dtypes[1], lists[1][i])))
		}
		want := sum.String() + "\n"
		writeIntegers(t, "x.npy", dtypes[0], lists[0])
		writeIntegers(t, "y.npy", dtypes[1], lists[1])
		if got := output(t, "dot", "x.npy", "y.npy", "--stream", "--digits", "60"); got != want {
			t.Errorf("%s: %s, want %s", dtypes, got, want)
		}
		output(t, "partial", "dot", "x.npy", "y.npy", "--rows", "1500:", "-o", "b.mps")
		output(t, "partial", "dot", "x.npy", "y.npy", "--rows", ":1500", "--threads", "1", "-o", "a.mps")
		if got := output(t, "merge", "b.mps", "a.mps", "--digits", "60"); got != want {
			t.Errorf("%s, merged: %s, want %s", dtypes, got, want)
		}
	}
}
