//go:build !noasm

package lanes

// instructionSet is one that the processor has; choose makes the loops use it and returns what undoes that.
type instructionSet struct {
	name   string
	choose func() func()
}

func instructionSets() (list []instructionSet) {
	have2, have512 := useAVX2, useAVX512
	for _, s := range []struct {
		name         string
		avx2, avx512 bool
	}{{"none", false, false}, {"avx2", true, false}, {"avx512", true, true}} {
		if s.avx2 && !have2 || s.avx512 && !have512 {
			continue
		}
		list = append(list, instructionSet{s.name, func() func() {
			useAVX2, useAVX512 = s.avx2, s.avx512
			return func() { useAVX2, useAVX512 = have2, have512 }
		}})
	}
	return list
}
