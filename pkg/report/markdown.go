package report

import (
	"io"
	"mpbench/pkg/bench"
)

func Markdown(w io.Writer, run *bench.Run, opts Options) error { return nil }
func GoBench(w io.Writer, run *bench.Run, opts Options) error  { return nil }
