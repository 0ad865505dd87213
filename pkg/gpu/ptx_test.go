package gpu

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"mpbench/cuda/ptx"
)

func TestParameterSizes(t *testing.T) {
	text := `.visible .entry first(
	.param .u64 .ptr .global .align 4 first_param_0,
	.param .align 8 .b8 first_param_1[24],
	.param .f32 first_param_2,
	.param .u8 first_param_3
)
{
.visible .entry none()`
	for name, want := range map[string][]int{"first": {8, 24, 4, 1}, "none": nil} {
		got, ok := parameterSizes(text, name)
		if !ok || !slices.Equal(got, want) {
			t.Errorf("%s: %v, %v, want %v", name, got, ok, want)
		}
	}
	if _, ok := parameterSizes(text, "fir"); ok {
		t.Error("a part of a name was found")
	}
}

// fused says where a product and a sum are fused on purpose: in how many instructions of which PTX file at most, and
// why. Anywhere else it would be the compiler's doing and break error-free transformations. Package multifloatgpu
// tests multifloat*.
var fused = map[string]struct {
	most   int
	reason string
}{
	"byte_planes_sm80": {96, "bytePlanes: remainders of integers in binary32"},
	"dot2":             {36, "the error of a product, and of a product with alpha and beta, in each kernel"},
	"sum":              {4, "dotFloat64: the error of a product, four of them at a time"},
}

// TestPTXTarget: every module is compiled for the devices that the table of variants names, without contraction.
func TestPTXTarget(t *testing.T) {
	files := ptx.Kernels.Names()
	for _, name := range files {
		text, err := ptx.Kernels.Text(name)
		if err != nil {
			t.Fatal(err)
		}
		var variant ptx.Variant
		for _, variant = range ptx.Variants { // the last one has no suffix
			if strings.HasSuffix(name, variant.Suffix) {
				break
			}
		}
		module := strings.TrimSuffix(name, variant.Suffix)
		if target := fmt.Sprintf(".target %s\n", variant.Target()); !strings.Contains(text, target) || !variant.Has(module) {
			t.Errorf("%s.ptx is not for %s", name, variant.Target())
		}
		for _, v := range ptx.Variants {
			if v.Has(module) && !slices.Contains(files, module+v.Suffix) {
				t.Errorf("%s%s.ptx is missing", module, v.Suffix)
			}
		}
		n := strings.Count(text, "fma.rn")
		if n > fused[name].most && !strings.HasPrefix(module, "multifloat") {
			t.Errorf("%s.ptx has %d fused multiply-adds, want at most %d: compile with -ffp-contract=off", name, n,
				fused[name].most)
		}
		for _, bare := range []string{"\tadd.f64", "\tsub.f64", "\tmul.f64"} { // which the driver's compiler may fuse
			if strings.Contains(text, bare) {
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
