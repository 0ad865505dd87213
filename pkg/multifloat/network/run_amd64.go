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
