// Command mpbench tells which summation method, at which precision, gives how many correct digits for how much time.
//
// See README.md, or mpbench help.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	os.Exit(mainWithSignals())
}

// mainWithSignals runs the program; the first interrupt or termination request cancels it, a second one ends it at once.
func mainWithSignals() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	return run(ctx, os.Args[1:], os.Stdout, os.Stderr)
}
