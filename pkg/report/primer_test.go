package report

import (
	"bytes"
	"strings"
	"testing"

	"mpbench/pkg/primer"
)

// TestPrimerPicture: bandwidths with their shares of the copy, or counts of what was not timed.
func TestPrimerPicture(t *testing.T) {
	timed := []primer.Row{
		{Command: "reduce", N: 8, Type: "int32", Operation: "+", Device: "cpu", Way: "copy", Copy: true, TimeNs: 4,
			GBPerS: 16},
		{Command: "reduce", Device: "cpu", Way: "serial", TimeNs: 8, GBPerS: 4, CopyShare: 0.25},
	}
	counted := []primer.Row{{Command: "reduce", Device: "emulated", Way: "strided", Divergent: "1 0", Conflicts: "7 0"}}
	for _, c := range []struct {
		rows []primer.Row
		want string
	}{
		{timed, "reduce of 8 int32 by +|cpu|copy|serial|8.00 ns, 25 %|bandwidth"},
		{counted, "emulated|strided|divergent warps|bank conflicts"},
	} {
		var b bytes.Buffer
		if err := PrimerPicture(c.rows).WriteSVG(&b); err != nil {
			t.Fatal(err)
		}
		for _, text := range strings.Split(c.want, "|") {
			if !strings.Contains(b.String(), ">"+text+"</t") {
				t.Errorf("no text %q in %s", text, b.String())
			}
		}
	}
	if f := PrimerPicture([]primer.Row{{Way: "untimed"}}); f != nil {
		t.Error("a picture of nothing")
	}
}
