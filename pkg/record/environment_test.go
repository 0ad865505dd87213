package record

import (
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestCaptureEnvironment(t *testing.T) {
	env := CaptureEnvironment()
	if env.Schema != EnvironmentSchema || env.CPU.Brand == "" || env.CPU.Threads < 1 || env.Threads < 1 {
		t.Errorf("%+v", env)
	}
	if env.Go.OS != runtime.GOOS || env.Go.Arch != runtime.GOARCH || env.Go.Version == "" {
		t.Errorf("%+v", env.Go)
	}
	if runtime.GOOS == "linux" && (env.MemoryBytes == 0 || !strings.HasPrefix(env.Kernel, "Linux ")) {
		t.Errorf("memory %d, kernel %q", env.MemoryBytes, env.Kernel)
	}
	if time.Since(env.Time) > time.Minute || env.Time.Location() != time.UTC {
		t.Errorf("time %v", env.Time)
	}
}

// TestEnvironmentID: the ID is that of the machine and the program, not of the moment.
func TestEnvironmentID(t *testing.T) {
	base := Environment{CPU: CPU{Brand: "x"}, MemoryBytes: 7<<30 + 5}
	base.SetID()
	if len(base.ID) != 16 {
		t.Fatalf("ID %q", base.ID)
	}
	for name, change := range map[string]struct {
		apply func(*Environment)
		same  bool
	}{
		"time":     {func(e *Environment) { e.Time = time.Now() }, true},
		"load":     {func(e *Environment) { e.LoadAverage = 3 }, true},
		"a page":   {func(e *Environment) { e.MemoryBytes += 4096 }, true},
		"again":    {func(e *Environment) { e.SetID() }, true},
		"memory":   {func(e *Environment) { e.MemoryBytes *= 2 }, false},
		"brand":    {func(e *Environment) { e.CPU.Brand = "y" }, false},
		"threads":  {func(e *Environment) { e.Threads = 3 }, false},
		"commit":   {func(e *Environment) { e.Program.Commit = "c" }, false},
		"modified": {func(e *Environment) { e.Program.Modified = true }, false},
		"level":    {func(e *Environment) { e.Go.Level = "v3" }, false},
		"gpu":      {func(e *Environment) { e.GPUs = []GPU{{Device: "cuda:0"}} }, false},
	} {
		env := base
		change.apply(&env)
		env.SetID()
		if (env.ID == base.ID) != change.same {
			t.Errorf("%s: ID %s, before %s", name, env.ID, base.ID)
		}
	}
}

func TestBuildSettings(t *testing.T) {
	var env Environment
	env.setBuild(&debug.BuildInfo{
		Main: debug.Module{Path: "mpbench", Version: "v1.2.3"},
		Settings: []debug.BuildSetting{
			{Key: "GOAMD64", Value: "v3"}, {Key: "-tags", Value: "noasm"}, {Key: "CGO_ENABLED", Value: "1"},
			{Key: "vcs.revision", Value: "abc"}, {Key: "vcs.modified", Value: "true"}, {Key: "vcs", Value: "git"},
		},
	})
	want := Environment{
		Go:      GoBuild{Level: "v3", Tags: "noasm", CGO: true},
		Program: Program{Module: "mpbench", Version: "v1.2.3", Commit: "abc", Modified: true},
	}
	if env.Go != want.Go || env.Program != want.Program {
		t.Errorf("got %+v", env)
	}
}

func TestEnvironmentWarnings(t *testing.T) {
	for _, c := range []struct {
		env  Environment
		want []string
	}{
		{Environment{CPU: CPU{Threads: 2}, LoadAverage: 0.9}, nil},
		{Environment{CPU: CPU{Threads: 2}, LoadAverage: 1.1}, []string{WarnBusy}},
		{Environment{CPU: CPU{Vendor: "AuthenticAMD"}, Governor: "powersave"}, []string{WarnGovernor}},
		{Environment{CPU: CPU{Vendor: "GenuineIntel"}, Governor: "powersave"}, nil}, // the driver's name for its normal mode
		{Environment{Governor: "performance"}, nil},
	} {
		if got := codes(c.env.Warnings()); !slices.Equal(got, c.want) {
			t.Errorf("%+v: %v", c.env, got)
		}
	}
}

func codes(ws []Warning) (list []string) {
	for _, w := range ws {
		list = append(list, w.Code)
	}
	return list
}
