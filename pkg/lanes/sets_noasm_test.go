//go:build !amd64 || noasm

package lanes

// instructionSet is one that the processor has; choose makes the loops use it and returns what undoes that.
type instructionSet struct {
	name   string
	choose func() func()
}

func instructionSets() []instructionSet {
	return []instructionSet{{"none", func() func() { return func() {} }}}
}
