//go:build !noasm

package network

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

//go:generate sh -c "cd _asm && go generate"

// The instruction sets in use; every bit that the interpreters need is tested.
var (
	useAVX2   = cpu.X86.HasAVX2 && cpu.X86.HasFMA
	useAVX512 = useAVX2 && cpu.X86.HasAVX512F
)

func (p *Program[T]) run(table []*T, chains int) {
	run64, run32 := run64AVX512, run32AVX512
	switch {
	case !useAVX2:
		p.runGeneric(table, chains)
		return
	case !useAVX512:
		run64, run32 = run64AVX2, run32AVX2
	}
	steps, stride := &p.steps[0].kind, pointerBytes*p.Registers
	switch t := any(table).(type) {
	case []*float64:
		run64(steps, len(p.steps), unsafe.SliceData(t), chains, stride)
	case []*float32:
		run32(steps, len(p.steps), unsafe.SliceData(t), chains, stride)
	}
}

// fusedLoops returns the loops of a scheme in vector instructions; nil where there are none.
func fusedLoops[T float32 | float64](s Scheme) (list loops[T]) {
	switch to := any(&list).(type) {
	case *loops[float64]:
		*to = pick(fused64AVX2, fused64AVX512)[s]
	case *loops[float32]:
		*to = pick(fused32AVX2, fused32AVX512)[s]
	}
	return list
}

func pick[T float32 | float64](narrow, wide map[Scheme]loops[T]) map[Scheme]loops[T] {
	switch {
	case !useAVX2:
		return nil
	case !useAVX512:
		return narrow
	}
	return wide
}
