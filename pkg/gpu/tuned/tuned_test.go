package tuned_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"mpbench/pkg/gpu/gputest"
	"mpbench/pkg/gpu/tuned"
)

type shape struct{ Threads, Rows int }

var key = tuned.Key{Method: "rns-split", Module: "gemv", Case: "106 bits, 1000 x 1000"}

// useFile makes the cache a file of the test, whose content is given unless it is "".
func useFile(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "cache", "tune.json")
	t.Setenv("MPBENCH_TUNE_CACHE", path)
	if content == "" {
		return path
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestSaveLoad: what was saved is found under its key alone, and other entries stay.
func TestSaveLoad(t *testing.T) {
	d := gputest.Device(t)
	path := useFile(t, "")
	var got shape
	if found, warning := tuned.Load(d, key, &got); found || warning != nil {
		t.Fatalf("found %v in no file, warning %v", found, warning)
	}
	other := key
	other.Case = "212 bits, 1000 x 1000"
	for i, k := range []tuned.Key{key, other} {
		if err := tuned.Save(d, k, shape{Threads: 64, Rows: i}); err != nil {
			t.Fatal(err)
		}
	}
	for i, k := range []tuned.Key{key, other} {
		if found, warning := tuned.Load(d, k, &got); !found || warning != nil || got != (shape{64, i}) {
			t.Errorf("%v: found %v, %+v, warning %v", k, found, got, warning)
		}
	}
	for _, k := range []tuned.Key{
		{Method: "rns-basic", Module: key.Module, Case: key.Case}, {Method: key.Method, Module: "planes", Case: key.Case},
		{Method: key.Method, Module: key.Module},
	} {
		if found, warning := tuned.Load(d, k, &got); found || warning != nil {
			t.Errorf("%v: found %v, warning %v", k, found, warning)
		}
	}
	text, err := os.ReadFile(path)
	if err != nil || !json.Valid(text) || !strings.Contains(string(text), d.Info().Name+", driver "+d.Info().Driver) {
		t.Errorf("%s, %v", text, err)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "*.tmp")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestBrokenFiles: a file that cannot be used is a warning that names it, and the next Save replaces it.
func TestBrokenFiles(t *testing.T) {
	d := gputest.Device(t)
	for _, content := range []string{"{", "[]", `{"version": 2, "entries": {}}`, `{"entries": {}}`, "\x00\xff",
		`"text"`} {
		path := useFile(t, content)
		var got shape
		found, warning := tuned.Load(d, key, &got)
		if found || warning == nil || !strings.Contains(warning.Error(), path) || strings.Contains(warning.Error(), "\n") {
			t.Errorf("%q: found %v, warning %v", content, found, warning)
		}
		if err := tuned.Save(d, key, shape{1, 2}); err != nil {
			t.Errorf("%q: %v", content, err)
		}
		if found, warning := tuned.Load(d, key, &got); !found || warning != nil || got != (shape{1, 2}) {
			t.Errorf("%q is not replaced: %v %v", content, found, warning)
		}
	}
}

// TestWrongEntry: an entry of another kind is a warning.
func TestWrongEntry(t *testing.T) {
	d := gputest.Device(t)
	useFile(t, "")
	if err := tuned.Save(d, key, "text"); err != nil {
		t.Fatal(err)
	}
	var got shape
	if found, warning := tuned.Load(d, key, &got); found || warning == nil {
		t.Errorf("found %v, warning %v", found, warning)
	}
}

// TestUnwritable: a place that cannot be written to is a warning.
func TestUnwritable(t *testing.T) {
	d := gputest.Device(t)
	t.Setenv("MPBENCH_TUNE_CACHE", filepath.Join(useFile(t, "{}"), "tune.json")) // below a file
	if err := tuned.Save(d, key, shape{}); err == nil || !strings.Contains(err.Error(), "are not kept") {
		t.Errorf("%v", err)
	}
}

// TestConcurrentSaves: the file is whole at every moment.
func TestConcurrentSaves(t *testing.T) {
	d := gputest.Device(t)
	path := useFile(t, "")
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for range 10 {
				if err := tuned.Save(d, key, shape{i, i}); err != nil {
					t.Error(err)
				}
				if text, err := os.ReadFile(path); err != nil || !json.Valid(text) {
					t.Errorf("%q, %v", text, err)
				}
			}
		})
	}
	all.Wait()
}
