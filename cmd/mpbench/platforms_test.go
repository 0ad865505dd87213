package main

import (
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
)

// TestPlatforms: all packages and their tests are correct Go on the systems on which no test runs here. Types are
// checked from the sources, which takes a fraction of the time that compiling the standard library for them does, and
// of that library the declarations alone: its functions are empty.
func TestPlatforms(t *testing.T) {
	if testing.Short() {
		t.Skip("short: the types of all packages are not checked for other systems")
	}
	// a cached result is of the same folders: go test sees what is read here
	if err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if d.IsDir() && (d.Name() == "out" || path != "../.." && strings.HasPrefix(d.Name(), ".")) {
			return filepath.SkipDir
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	parse := func(set *token.FileSet, name string, text []byte) (*ast.File, error) {
		file, err := parser.ParseFile(set, name, text, parser.ParseComments|parser.AllErrors|parser.SkipObjectResolution)
		if err == nil && strings.HasPrefix(name, filepath.Join(build.Default.GOROOT, "src")+string(filepath.Separator)) {
			for _, declaration := range file.Decls {
				if f, ok := declaration.(*ast.FuncDecl); ok && f.Body != nil {
					f.Body.List = nil
				}
			}
		}
		return file, err
	}
	for _, system := range []struct{ os, arch string }{{"darwin", "arm64"}, {"windows", "amd64"}} {
		all, err := packages.Load(&packages.Config{
			Mode: packages.LoadAllSyntax | packages.NeedModule, Dir: "../..", Tests: true,
			Env:       append(os.Environ(), "GOOS="+system.os, "GOARCH="+system.arch, "CGO_ENABLED=0"),
			ParseFile: parse,
		}, "./...")
		if err != nil {
			t.Fatal(err)
		}
		if len(all) < 50 {
			t.Fatalf("%s: %d packages", system.os, len(all))
		}
		packages.Visit(all, nil, func(p *packages.Package) {
			for _, err := range p.Errors {
				if p.Module == nil && err.Kind == packages.TypeError {
					continue // an empty function of the standard library
				}
				t.Errorf("%s/%s: %v", system.os, system.arch, err)
			}
		})
	}
}
