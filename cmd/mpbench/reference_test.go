package main

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mpbench/pkg/op"
)

// TestReference: docs/flags.md and docs/records.md are what the code says; -update writes them.
func TestReference(t *testing.T) {
	for name, want := range map[string]string{"flags.md": flagsPage(), "records.md": recordsPage(t)} {
		path := filepath.Join("..", "..", "docs", name)
		if *update {
			if err := os.WriteFile(path, []byte(want), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		if have, err := os.ReadFile(path); err != nil || string(have) != want {
			t.Errorf("docs/%s is not what the code says (%v): go test ./cmd/mpbench -run TestReference -update", name, err)
		}
	}
}

// flagsPage lists the flags of every command; those that all operations have in the same words come first.
func flagsPage() string {
	var b strings.Builder
	b.WriteString("# Commands and flags\n\nGenerated from the program " +
		"(`go test ./cmd/mpbench -run TestReference -update`); `mpbench help COMMAND` says the same\n" +
		"with what each command does. Exit codes: 0 all right; 1 a result is outside " +
		"its bound, or a check fails; 2 usage; 3 a\ndevice or library is not available; 4 input or output failed; 130 " +
		"interrupted.\n")
	shared := sharedFlags()
	b.WriteString("\n## All operations\n\n" + strings.Join(mapped(op.All(), func(o *op.Operation) string {
		return "`" + o.Name + "`"
	}), ", ") + " have these flags:\n\n")
	writeFlags(&b, shared)
	for _, c := range commands(newRoot()) {
		own := ownFlags(c)
		if _, isOperation := op.Lookup(c.Name()); isOperation {
			own = slices.DeleteFunc(own, func(f *pflag.Flag) bool { return slices.ContainsFunc(shared, like(f)) })
		}
		usage := strings.TrimSuffix(c.UseLine(), " [flags]")
		fmt.Fprintf(&b, "\n## %s\n\n%s.\n\n    %s\n", c.CommandPath(), strings.TrimSuffix(c.Short, "."), usage)
		if len(own) > 0 {
			b.WriteString("\n")
			writeFlags(&b, own)
		}
	}
	return b.String()
}

// ownFlags are those that users see, without help, which every command has.
func ownFlags(c *cobra.Command) (list []*pflag.Flag) {
	c.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden && f.Name != "help" {
			list = append(list, f)
		}
	})
	return list
}

func like(f *pflag.Flag) func(*pflag.Flag) bool {
	return func(g *pflag.Flag) bool { return f.Name == g.Name && f.Usage == g.Usage && f.DefValue == g.DefValue }
}

func sharedFlags() (list []*pflag.Flag) {
	for i, o := range op.All() {
		own := ownFlags(newOperation(o))
		if i == 0 {
			list = own
		}
		list = slices.DeleteFunc(list, func(f *pflag.Flag) bool { return !slices.ContainsFunc(own, like(f)) })
	}
	return list
}

func writeFlags(b *strings.Builder, list []*pflag.Flag) {
	b.WriteString("| flag | default | |\n|---|---|---|\n")
	for _, f := range list {
		value, usage := pflag.UnquoteUsage(f)
		name := "`--" + f.Name
		if f.Shorthand != "" {
			name = "`-" + f.Shorthand + ", --" + f.Name
		}
		if value != "" {
			name += " " + value
		}
		normal := map[string]string{"": "", "false": "", "[]": "", "0": "0"}
		standard, known := normal[f.DefValue]
		if !known {
			standard = "`" + f.DefValue + "`"
		}
		usage = strings.NewReplacer("|", `\|`, "\n", " ", "<", "&lt;", "*", `\*`, "_", `\_`).Replace(usage)
		fmt.Fprintf(b, "| %s` | %s | %s |\n", name, standard, usage)
	}
}

// recordsPage lists the fields of the lines of result files, with the comments of their structs.
func recordsPage(t *testing.T) string {
	t.Helper()
	found := map[string]*ast.StructType{}
	about := map[string]string{}
	packages, err := filepath.Glob("../../pkg/record/*.go")
	if err != nil || len(packages) == 0 {
		t.Fatal("no sources of pkg/record", err)
	}
	for _, path := range packages {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.TYPE {
				continue
			}
			spec := g.Specs[0].(*ast.TypeSpec)
			if s, ok := spec.Type.(*ast.StructType); ok {
				found[spec.Name.Name], about[spec.Name.Name] = s, g.Doc.Text()
			}
		}
	}
	var b strings.Builder
	b.WriteString("# Fields of records\n\nGenerated from `pkg/record` " +
		"(`go test ./cmd/mpbench -run TestReference -update`). A `.jsonl` file of results has one JSON object\n" +
		"a line: an environment (schema `mpbench-env/1`) before the first of its " +
		"records (schema `mpbench/1`). Fields are\nadded, and never change their meaning within a schema.\n")
	queue := []string{"Record", "Environment"}
	for i := 0; i < len(queue); i++ {
		name := queue[i]
		fmt.Fprintf(&b, "\n## %s\n\n%s\n| field | type | |\n|---|---|---|\n", name, escapeText(about[name]))
		for _, f := range found[name].Fields.List {
			if f.Tag == nil {
				continue
			}
			tag := reflect.StructTag(strings.Trim(f.Tag.Value, "`")).Get("json")
			key, _, _ := strings.Cut(tag, ",")
			kind, inner := kindOf(f.Type)
			if found[inner] != nil && !slices.Contains(queue, inner) {
				queue = append(queue, inner)
			}
			comment := strings.Join(strings.Fields(cmp.Or(f.Comment.Text(), f.Doc.Text())), " ")
			fmt.Fprintf(&b, "| `%s` | %s | %s |\n", key, kind, escapeText(comment))
		}
	}
	return b.String()
}

func escapeText(text string) string {
	return strings.NewReplacer("|", `\|`, "<", "&lt;", "*", `\*`).Replace(text)
}

// kindOf describes a type as JSON has it, and names the struct in it.
func kindOf(e ast.Expr) (kind, inner string) {
	switch e := e.(type) {
	case *ast.StarExpr:
		kind, inner = kindOf(e.X)
		return kind + " or null", inner
	case *ast.ArrayType:
		kind, inner = kindOf(e.Elt)
		return "list of " + kind, inner
	case *ast.MapType:
		kind, inner = kindOf(e.Value)
		return kind + " by name", inner
	case *ast.SelectorExpr:
		return "time", ""
	case *ast.Ident:
		switch e.Name {
		case "string", "StopRule":
			return "text", ""
		case "bool":
			return "truth", ""
		case "int", "int64", "uint64", "float64":
			return "number", ""
		case "Phases":
			return "numbers by name", ""
		}
		return e.Name, e.Name
	}
	return "", ""
}
