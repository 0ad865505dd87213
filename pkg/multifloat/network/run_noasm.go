//go:build !amd64 || noasm

package network

func (p *Program[T]) run(table []*T, chains int) { p.runGeneric(table, chains) }
