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

// The lowest device that the README promises.
func TestPTXTarget(t *testing.T) {
	for _, name := range cuda.Modules() {
		ptx, err := cuda.PTX(name)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(ptx, ".target sm_75") {
			t.Errorf("%s.ptx is not for sm_75", name)
		}
		if strings.Contains(ptx, "fma.rn") {
			t.Errorf("%s.ptx has a fused multiply-add: compile with -ffp-contract=off", name)
		}
	}
}

func TestTooOldForPTX(t *testing.T) {
	e := &Error{Call: "cuModuleLoadDataEx", Code: codeUnsupportedPTX, Name: "CUDA_ERROR_UNSUPPORTED_PTX_VERSION"}
	if !errors.Is(e, ErrTooOld) || errors.Is(e, ErrFault) {
		t.Error("an unsupported PTX version is no ErrTooOld")
	}
}
