package gpu

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"mpbench/cuda"
)

func TestParameterSizes(t *testing.T) {
	ptx := `.visible .entry first(
	.param .u64 .ptr .global .align 4 first_param_0,
	.param .align 8 .b8 first_param_1[24],
	.param .f32 first_param_2,
	.param .u8 first_param_3
)
{
.visible .entry none()`
	for name, want := range map[string][]int{"first": {8, 24, 4, 1}, "none": nil} {
		got, ok := parameterSizes(ptx, name)
		if !ok || !slices.Equal(got, want) {
			t.Errorf("%s: %v, %v, want %v", name, got, ok, want)
		}
	}
	if _, ok := parameterSizes(ptx, "fir"); ok {
		t.Error("a part of a name was found")
	}
}

// fused says where a product and a sum are fused on purpose: in how many instructions of which PTX file at most, and why. Anywhere
// else it would be the compiler's doing and break error-free transformations.
var fused = map[string]struct {
	most   int
	reason string
}{
	"sum": {4, "dotFloat64: the error of a product, four of them at a time"},
}

// The lowest device that the README promises; files for later ones stand beside one for that.
func TestPTXTarget(t *testing.T) {
	for _, name := range cuda.Modules() {
		ptx, err := cuda.PTX(name)
		if err != nil {
			t.Fatal(err)
		}
		base, later := strings.CutSuffix(name, "_sm90")
		target := map[bool]string{false: "sm_75", true: "sm_90"}[later]
		if !strings.Contains(ptx, ".target "+target+"\n") {
			t.Errorf("%s.ptx is not for %s", name, target)
		}
		if _, err := cuda.PTX(base); err != nil {
			t.Errorf("%s.ptx: %v", name, err)
		}
		if n := strings.Count(ptx, "fma.rn"); n > fused[name].most {
			t.Errorf("%s.ptx has %d fused multiply-adds, want at most %d: compile with -ffp-contract=off", name, n, fused[name].most)
		}
		for _, bare := range []string{"\tadd.f64", "\tsub.f64", "\tmul.f64"} { // which the driver's compiler may fuse
			if strings.Contains(ptx, bare) {
				t.Errorf("%s.ptx has %s without a rounding: compile with -ffp-contract=off", name, bare)
			}
		}
	}
}

func TestTooOldForPTX(t *testing.T) {
	e := &Error{Call: "cuModuleLoadDataEx", Code: codeUnsupportedPTX, Name: "CUDA_ERROR_UNSUPPORTED_PTX_VERSION"}
	if !errors.Is(e, ErrTooOld) || errors.Is(e, ErrFault) {
		t.Error("an unsupported PTX version is no ErrTooOld")
	}
}
