// Command gen compiles the kernels of a folder to PTX, and writes the structs that they are given, in Go. It needs
// clang 19.
//
//	go run ./cuda/gen                    cuda/*.cu: cuda/ptx/*.ptx.gz and cuda/parameters.go
//	go run ./cuda/gen cuda/testkernels   cuda/testkernels/*.cu: the same beside them
//
// CLANGXX names another clang++. A file whose unpacked text is as before is not written, as compressors change.
package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"

	"mpbench/cuda/ptx"
)

func main() {
	folder := "cuda"
	if len(os.Args) > 1 {
		folder = os.Args[1]
	}
	if err := generate(folder); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func generate(folder string) error {
	version, err := exec.Command(clang(), "--version").Output()
	if err != nil {
		return fmt.Errorf("%s: %w; install it (Debian: apt-get install --no-install-recommends clang-19) or set CLANGXX",
			clang(), err)
	}
	if !strings.Contains(string(version), "version 19.") {
		return fmt.Errorf("%s is no clang 19, whose PTX the repository holds", clang())
	}
	sources, err := filepath.Glob(filepath.Join(folder, "*.cu"))
	if err != nil {
		return err
	}
	return errors.Join(compileAll(folder, sources), writeParameters(folder, sources))
}

func clang() string {
	if name := os.Getenv("CLANGXX"); name != "" {
		return name
	}
	return "clang++-19"
}

func run(source string, v ptx.Variant, arguments ...string) (string, error) {
	arguments = append([]string{
		"-x", "cuda", "--cuda-device-only", "-nocudainc", "-nocudalib", "-Icuda", "--cuda-gpu-arch=" + v.Target(),
		"--cuda-feature=+ptx" + strconv.Itoa(v.ISA), source,
	}, arguments...)
	command := exec.Command(clang(), arguments...)
	command.Stderr = os.Stderr
	out, err := command.Output()
	if err != nil {
		err = fmt.Errorf("%s %s: %w", clang(), strings.Join(arguments, " "), err)
	}
	return string(out), err
}

// compileAll compiles every source in every variant that it has, as many at a time as there are processors.
func compileAll(folder string, sources []string) error {
	if folder == "cuda" {
		folder = "cuda/ptx"
	}
	var group sync.WaitGroup
	var failures []error
	var mutex sync.Mutex
	slots := make(chan struct{}, runtime.NumCPU())
	for _, source := range sources {
		for _, v := range ptx.Variants {
			module := strings.TrimSuffix(filepath.Base(source), ".cu")
			if !v.Has(module) {
				continue
			}
			group.Go(func() {
				slots <- struct{}{}
				err := compile(source, v, filepath.Join(folder, module+v.Suffix+ptx.Extension))
				<-slots
				mutex.Lock()
				defer mutex.Unlock()
				failures = append(failures, err)
			})
		}
	}
	group.Wait()
	return errors.Join(failures...)
}

var comment = regexp.MustCompile(`(?m)^//.*\n`)

// compile compiles without contraction, because error-free transformations break when a product and a sum are fused.
func compile(source string, v ptx.Variant, file string) error {
	text, err := run(source, v, "-S", "-O3", "-ffp-contract=off", "-o", "-")
	if err != nil {
		return err
	}
	text = comment.ReplaceAllString(text, "")
	if old, err := os.ReadFile(file); err == nil {
		if before, err := ptx.Unpack(old); err == nil && before == text {
			return nil
		}
	}
	return os.WriteFile(file, ptx.Pack(text), 0o666)
}
