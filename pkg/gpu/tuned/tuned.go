// Package tuned keeps launch parameters that were found to be fast, for the next run on the same device: a JSON file
// in the user's cache directory, mpbench/tune.json. MPBENCH_TUNE_CACHE names another file.
//
// Parameters never change a result, so a file that is lost, broken or of another version costs time only: it is
// ignored, with a warning, and replaced at the next Save.
package tuned

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"mpbench/cuda/ptx"
	"mpbench/pkg/gpu"
)

// Version is that of the file's format.
const Version = 1

// Key says what parameters are good for, beside the device, its driver and the module's code.
type Key struct {
	Method string // "rns-split"
	Module string // the PTX that holds its kernels, "gemv"
	Case   string // precision, moduli, shape
}

// file is the content of the cache.
type file struct {
	Version int                        `json:"version"`
	Entries map[string]json.RawMessage `json:"entries"`
}

// Load sets parameters to what was saved for the key on the device, and tells whether there was something. The warning
// says why a file could not be used; a file that does not exist is none.
func Load(d *gpu.Device, k Key, parameters any) (found bool, warning error) {
	path, err := Path()
	if err != nil {
		return false, err
	}
	f, err := read(path)
	if err != nil {
		return false, err
	}
	name, err := entryName(d, k)
	if err != nil {
		return false, err
	}
	entry, found := f.Entries[name]
	if !found {
		return false, nil
	}
	if err := json.Unmarshal(entry, parameters); err != nil {
		return false, fmt.Errorf("launch parameters in %s are ignored: entry %q: %w", path, name, err)
	}
	return true, nil
}

// Save adds the parameters to the file, which it replaces as a whole.
func Save(d *gpu.Device, k Key, parameters any) (warning error) {
	path, err := Path()
	if err != nil {
		return err
	}
	f, err := read(path)
	if err != nil { // what cannot be read is replaced
		f = file{Version: Version, Entries: map[string]json.RawMessage{}}
	}
	name, err := entryName(d, k)
	if err != nil {
		return err
	}
	if f.Entries[name], err = json.Marshal(parameters); err != nil {
		return err
	}
	if err := write(path, f); err != nil {
		return fmt.Errorf("launch parameters are not kept: %w", err)
	}
	return nil
}

// Path returns the name of the file.
func Path() (string, error) {
	if path := os.Getenv("MPBENCH_TUNE_CACHE"); path != "" {
		return path, nil
	}
	folder, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("launch parameters are not kept: %w", err)
	}
	return filepath.Join(folder, "mpbench", "tune.json"), nil
}

// entryName spells out all that the parameters depend on.
func entryName(d *gpu.Device, k Key) (string, error) {
	text, err := ptx.Kernels.Text(k.Module)
	if err != nil {
		return "", err
	}
	info := d.Info()
	return fmt.Sprintf("%s, driver %s, %s.ptx %x, %s, %s", info.Name, info.Driver, k.Module, sha256.Sum256([]byte(text)),
		k.Method, k.Case), nil
}

func read(path string) (file, error) {
	f := file{Version: Version, Entries: map[string]json.RawMessage{}}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	if err != nil {
		return f, fmt.Errorf("launch parameters are ignored: %w", err)
	}
	var got file
	if err := json.Unmarshal(text, &got); err != nil {
		return f, fmt.Errorf("launch parameters in %s are ignored: %w", path, err)
	}
	if got.Version != Version {
		return f, fmt.Errorf("launch parameters in %s are ignored: version %d, want %d", path, got.Version, Version)
	}
	if got.Entries != nil {
		f.Entries = got.Entries
	}
	return f, nil
}

// write replaces the file at path in one step.
func write(path string, f file) error {
	text, err := json.MarshalIndent(f, "", " ")
	if err != nil {
		return err
	}
	folder := filepath.Dir(path)
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return err
	}
	t, err := os.CreateTemp(folder, filepath.Base(path)+"-*.tmp")
	if err != nil {
		return err
	}
	defer os.Remove(t.Name()) // fails once it is renamed
	_, err = t.Write(append(text, '\n'))
	err = errors.Join(err, t.Sync(), t.Close())
	if err != nil {
		return err
	}
	return os.Rename(t.Name(), path)
}
