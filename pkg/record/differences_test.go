package record

import (
	"testing"
	"time"
)

func TestDifferences(t *testing.T) {
	env := CaptureEnvironment()
	if list := Differences(env, env); list != nil {
		t.Errorf("of itself: %v", list)
	}
	later := env
	later.Time, later.LoadAverage, later.ID = env.Time.Add(time.Hour), 9, "ffff"
	if list := Differences(env, later); list != nil {
		t.Errorf("an hour later: %v", list)
	}
	other := env
	other.CPU.Brand, other.Kernel = "Example CPU", "Linux 99"
	other.GPUs = []GPU{{Device: "cuda:0", Name: "H", MemoryBytes: 1 << 40}}
	want := []Difference{
		{"cpu.brand", env.CPU.Brand, "Example CPU"},
		{"gpus[0].device", "", "cuda:0"}, {"gpus[0].memory_bytes", "", "1099511627776"}, {"gpus[0].name", "", "H"},
		{"kernel", env.Kernel, "Linux 99"},
	}
	got := Differences(env, other)
	if len(got) != len(want) {
		t.Fatalf("%v", got)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%v, want %v", got[i], want[i])
		}
	}
	if text := got[1].String(); text != "gpus[0].device unknown -> cuda:0" {
		t.Error(text)
	}
}

func TestComparable(t *testing.T) {
	env := CaptureEnvironment()
	updated, moved := env, env
	updated.Kernel, updated.OS, updated.MemoryBytes = "Linux 99", "Example 13", 1
	if d, ok := Comparable(env, updated); !ok {
		t.Errorf("an updated system: %v", d)
	}
	moved.Threads++
	if d, ok := Comparable(env, moved); ok || d.Field != "threads" {
		t.Errorf("one more thread: %v, %v", d, ok)
	}
}
