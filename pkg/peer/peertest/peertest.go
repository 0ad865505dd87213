// Package peertest lets tests run the methods of libraries that are there.
package peertest

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"mpbench/pkg/peer"
)

// Compile compiles the loops and lets the program use them, unless the environment says where they are; to be called
// before a method is asked for. Without a compiler there are no loops, and the methods that need them are missing.
func Compile() error {
	if os.Getenv(peer.Variable) != "" {
		return nil
	}
	_, file, _, _ := runtime.Caller(0)
	source := filepath.Join(filepath.Dir(file), "..", "helper", "loops.c")
	text, err := os.ReadFile(source)
	if err != nil {
		return err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	folder := filepath.Join(cache, "mpbench", fmt.Sprintf("loops-%x", sha256.Sum256(text))[:22])
	library := filepath.Join(folder, "loops.so")
	if _, err := os.Stat(library); errors.Is(err, os.ErrNotExist) {
		if err := Library(library, source); err != nil {
			return err
		}
	}
	return os.Setenv(peer.Variable, folder)
}

// Library compiles a shared library of a file in C.
func Library(library, source string) error {
	if err := os.MkdirAll(filepath.Dir(library), 0o777); err != nil {
		return err
	}
	compiler := os.Getenv("CC")
	if compiler == "" {
		compiler = "cc"
	}
	unfinished := fmt.Sprintf("%s.%d", library, os.Getpid()) // tests of several packages may compile at once
	defer os.Remove(unfinished)
	out, err := exec.Command(compiler, "-std=c99", "-O2", "-shared", "-fPIC", "-o", unfinished, source).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w\n%s", compiler, err, out)
	}
	return os.Rename(unfinished, library)
}
