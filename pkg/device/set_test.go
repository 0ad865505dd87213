package device

import "testing"

func TestParse(t *testing.T) {
	for text, want := range map[string]struct {
		name string
		kind Kind
		gpus int
	}{
		"cpu":           {"cpu", CPU, 0},
		"cuda":          {"cuda:0", CUDA, 1},
		"cuda:12":       {"cuda:12", CUDA, 1},
		"cpu+cuda:1":    {"cpu+cuda:1", Hybrid, 1},
		"cuda:0+cuda:1": {"cuda:0+cuda:1", Hybrid, 2},
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
		"cuda+cuda:0", "gpu", "cpu,cuda:0", "cuda :0",
	} {
		if s, err := Parse(text); err == nil {
			t.Errorf("%q is %v", text, s)
		}
	}
}
