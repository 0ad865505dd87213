package main

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// TestArchitecture compares the layers of ARCHITECTURE.md with the packages and their imports.
func TestArchitecture(t *testing.T) {
	text, err := os.ReadFile("../../ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	layer := map[string]int{}
	for i, row := range regexp.MustCompile(`(?m)^\| \d+ \| (.*) \|$`).FindAllStringSubmatch(string(text), -1) {
		for _, name := range strings.Fields(strings.ReplaceAll(row[1], "`", "")) {
			layer["mpbench/"+name] = i
		}
	}
	list, err := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, "mpbench/...").Output()
	if err != nil {
		t.Fatal(err)
	}
	imports := map[string][]string{}
	for _, line := range strings.Split(strings.TrimSpace(string(list)), "\n") {
		fields := strings.Fields(line)
		imports[fields[0]] = fields[1:]
	}
	for name := range layer {
		if imports[name] == nil {
			t.Errorf("ARCHITECTURE.md has %s, which is no package", name)
		}
	}
	for name, list := range imports {
		own, ok := layer[name]
		if !ok {
			t.Errorf("%s is missing in ARCHITECTURE.md", name)
		}
		for _, imported := range list {
			if below, ok := layer[imported]; ok && below >= own {
				t.Errorf("%s imports %s, which ARCHITECTURE.md does not have below it", name, imported)
			}
		}
	}
}
