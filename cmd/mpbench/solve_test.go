package main

import (
	"bytes"
	"os/exec"
	"strings"
	"testing"
)

// TestSolveOnGPU: the command solves on a GPU with the residuals of the CPU, and refuses what does not run there.
func TestSolveOnGPU(t *testing.T) {
	const gpu = "cuda:0"
	twoGPUs(t)
	for _, c := range []struct {
		args, want string
		code       int
	}{
		{"--device cpu," + gpu + " --method float64,dd,di --iterations 5 --format csv", "", 0},
		{"--device " + gpu + " --method bigfloat", "bigfloat does not run on " + gpu + "; use --device cpu", exitUsage},
		{"--device cpu," + gpu + " --method float64,dd,di --precondition ilu0 --iterations 5 --format csv", "", 0},
		{"--device cpu+" + gpu, "a system is solved by one device", exitUsage},
	} {
		args := append([]string{"solve", "-q", "--dataset", "convdiff:n=64"}, strings.Fields(c.args)...)
		cmd := exec.Command("mpbench", args...) // a process of its own, which loads a driver of its own
		var out, errors bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &errors
		err := cmd.Run()
		if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != c.code || !strings.Contains(errors.String(), c.want) {
			t.Errorf("%s: %v, %s", c.args, err, errors.String())
		}
		if c.code != 0 {
			continue
		}
		residuals := map[string][]string{} // of each method
		for _, line := range strings.Split(strings.TrimSpace(out.String()), "\n")[1:] {
			f := strings.Split(line[strings.LastIndex(line, `"`)+1:], ",") // behind the label
			residuals[f[3]] = append(residuals[f[3]], strings.TrimSpace(strings.Join(f[len(f)-5:], " ")))
		}
		for _, method := range []string{"float64-lanes", "dd", "di"} {
			if r := residuals[method]; len(r) != 2 || r[0] != r[1] {
				t.Errorf("%s: %q\n%s", method, r, out.String())
			}
		}
	}
}
