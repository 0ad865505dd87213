//go:build !amd64 || noasm

package network

func (p *Program[T]) run(table []*T, chains int) { p.runGeneric(table, chains) }

func fusedLoops[T float32 | float64](Scheme) (none loops[T]) { return none }
