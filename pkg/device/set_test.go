package device

import (
	"slices"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]struct {
		name string
		kind Kind
		gpus int
	}{
		"cpu":            {"cpu", CPU, 0},
		"cuda":           {"cuda:0", CUDA, 1},
		"cuda:12":        {"cuda:12", CUDA, 1},
		"cpu+cuda:1":     {"cpu+cuda:1", Hybrid, 1},
		"cuda:0+cuda:1":  {"cuda:0+cuda:1", Hybrid, 2},
		"cuda:local":     {"cuda:local", CUDA, 1},
		"cpu+cuda:local": {"cpu+cuda:local", Hybrid, 1},
		"cuda:all":       {"cuda:all", Hybrid, 1},
		"cpu+cuda:all":   {"cpu+cuda:all", Hybrid, 1},
	} {
		s, err := Parse(text)
		if err != nil || s.String() != want.name || s.Kind() != want.kind || len(s.GPUs()) != want.gpus {
			t.Errorf("%s: %v %v %v %v", text, s, s.Kind(), s.GPUs(), err)
		}
	}
	if s := (Set{}); s.String() != "cpu" || s.Kind() != CPU || s.GPUs() != nil {
		t.Error("the zero Set is not the CPU")
	}
	for _, text := range []string{
		"", "+", "cpu+", "CPU", "cpu:0", "cuda:", "cuda:-1", "cuda:01", "cuda:x", "cuda:99999999999", "cpu+cpu",
		"cuda+cuda:0", "gpu", "cpu:local", "cuda:locals", "cpu:all", "cuda:al", "all", "cpu,cuda:0", "cuda :0",
	} {
		if s, err := Parse(text); err == nil {
			t.Errorf("%q is %v", text, s)
		}
	}
}

// TestHere: ranks of a machine take its GPUs in turn; all are those that there are, each once.
func TestHere(t *testing.T) {
	for _, c := range []struct {
		text, want string
		rank, gpus int
	}{
		{"cuda:local", "cuda:0", 0, 2}, {"cuda:local", "cuda:1", 1, 2}, {"cuda:local", "cuda:0", 2, 2},
		{"cpu+cuda:local", "cpu+cuda:1", 3, 2}, {"cuda:1", "cuda:1", 3, 2}, {"cuda:local", "cuda:0", 3, 0},
		{"cpu", "cpu", 1, 1}, {"cuda:all", "cuda:0+cuda:1+cuda:2", 1, 3}, {"cuda:all", "cuda:0", 0, 1},
		{"cuda:all", "cuda:0", 0, 0}, {"cpu+cuda:all", "cpu+cuda:0+cuda:1", 0, 2},
		{"cuda:1+cuda:all", "cuda:1+cuda:0", 0, 2},
	} {
		if got := Must(c.text).Here(c.rank, func() int { return c.gpus }).String(); got != c.want {
			t.Errorf("%s of rank %d on %d GPUs: %s, want %s", c.text, c.rank, c.gpus, got, c.want)
		}
	}
}

// TestMembers: sets that are made of devices are those that are read from their names.
func TestMembers(t *testing.T) {
	for text, s := range map[string]Set{
		"cpu":           {},
		"cuda:3":        GPU(3),
		"cpu+cuda:1":    Of(Member{Kind: CPU}, Member{CUDA, 1}),
		"cuda:2+cuda:0": Of(Member{CUDA, 2}, Member{CUDA, 0}),
	} {
		read := Must(text)
		if s.String() != text || !slices.Equal(s.Members(), read.Members()) || s.Kind() != read.Kind() {
			t.Errorf("%s: %v of kind %s, read as %v", text, s.Members(), s.Kind(), read.Members())
		}
		if !slices.Equal(s.GPUs(), read.GPUs()) {
			t.Errorf("%s: GPUs %v, read as %v", text, s.GPUs(), read.GPUs())
		}
	}
	if got := Must("cuda:2+cpu+cuda:0").GPUs(); !slices.Equal(got, []int{2, 0}) {
		t.Errorf("GPUs %v", got)
	}
	defer func() {
		if e, ok := recover().(error); !ok || !strings.Contains(e.Error(), `unknown device "tpu"`) {
			t.Errorf("tpu: %v", e)
		}
	}()
	Must("tpu")
}
