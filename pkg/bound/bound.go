// Package bound evaluates proved error bounds. A [Bound] is its formula, as tables print it, and nothing beside: the
// text of tables and documents, the number in records, the limit of tests and of the self-test, the promise of advice
// and the test of tightness are all this one value.
//
// # Notation
//
// A formula such as
//
//	g(n-1)*S, u = 2^-53
//
// bounds |computed - exact| of one component. After commas come quantities that it uses, conditions under which it is
// proved ("for n*u <= 1/64"), and remarks in words; what follows a colon is a remark too. Juxtaposition multiplies, as
// in 12(n+1)u^2. There are
//
//	n        terms of the component
//	p        bits of the format
//	S        sum of the magnitudes of the terms
//	|s|      magnitude of the exact result; also written |sum|, |x'y|, |y|
//	g(k)     k*u / (1 - k*u), Higham's gamma: nothing is proved for k*u >= 1; 0 for k <= 0
//	ceil(x), ceil(log2 x), min(x, y)
//
// and other single letters that the engine or the problem supplies ([Vars].More), such as the block size B. They come
// before quantities of the same name in the formula: an engine whose settings change the unit roundoff supplies u.
// Everything is a rational: nothing is rounded.
//
// Source of g: N. J. Higham, "Accuracy and Stability of Numerical Algorithms", 2nd ed., section 3.1.
package bound

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
	"sync"
)

// Bound is a formula with its source. The zero Bound stands for "nothing is proved".
type Bound struct {
	Formula string
	Source  string // author, year, DOI or section of the proof

	value       node
	definitions map[string]node
	conditions  []condition
}

// Vars are the values that a formula is evaluated for.
type Vars struct {
	N, P   int
	S, Sum *big.Rat            // sum of magnitudes; the exact result, of either sign
	More   map[string]*big.Rat // by letter
}

// New reads a formula. It panics if the formula cannot be read, as formulas are written in the source.
func New(formula, source string) Bound {
	known, ok := formulas.Load(formula)
	if !ok {
		b, err := Parse(formula)
		if err != nil {
			panic(err.Error())
		}
		known, _ = formulas.LoadOrStore(formula, b)
	}
	b := known.(Bound)
	b.Source = source
	return b
}

// formulas are those that New has read: methods of many formats share them.
var formulas sync.Map

// Parse reads a formula.
func Parse(formula string) (Bound, error) {
	b := Bound{Formula: formula, definitions: map[string]node{}}
	for i, part := range parts(formula) {
		text, _, _ := strings.Cut(part, ":")
		if err := b.read(i, strings.TrimSpace(text)); err != nil {
			return Bound{}, fmt.Errorf("bound %q: %q: %v", formula, text, err)
		}
	}
	for name, value := range b.definitions {
		found := map[string]bool{}
		if b.visit(value, found); found[name] {
			return Bound{}, fmt.Errorf("bound %q: %s is defined by itself", formula, name)
		}
	}
	return b, nil
}

// parts splits a formula at its commas, but for those in parentheses.
func parts(formula string) (list []string) {
	depth, first := 0, 0
	for i, c := range formula {
		switch c {
		case '(':
			depth++
		case ')':
			depth--
		case ',':
			if depth == 0 {
				list = append(list, formula[first:i])
				first = i + 1
			}
		}
	}
	return append(list, formula[first:])
}

func (b *Bound) read(i int, text string) (err error) {
	if i == 0 {
		b.value, err = parse(text)
		return err
	}
	if list, ok := strings.CutPrefix(text, "for "); ok {
		left, right, ok := strings.Cut(list, "<=")
		if !ok {
			return fmt.Errorf("a condition is x <= y")
		}
		var c condition
		if c.least, err = parse(left); err == nil {
			c.most, err = parse(right)
		}
		b.conditions = append(b.conditions, c)
		return err
	}
	if name, value, ok := strings.Cut(text, "="); ok {
		b.definitions[strings.TrimSpace(name)], err = parse(value)
		return err
	}
	return nil // words
}

// Proved tells whether there is a bound.
func (b Bound) Proved() bool { return b.value != nil }

// Eval returns the bound on the absolute error; nil where the formula has none: outside of its conditions, for g(k)
// with k*u >= 1, or where a quantity is missing.
func (b Bound) Eval(v Vars) *big.Rat {
	if b.value == nil {
		return nil
	}
	e := &values{v, b.definitions}
	for _, c := range b.conditions {
		if x, y := c.least.eval(e), c.most.eval(e); x == nil || y == nil || x.Cmp(y) > 0 {
			return nil
		}
	}
	return b.value.eval(e)
}

// Unit returns the unit roundoff u; nil if the formula has none.
func (b Bound) Unit(v Vars) *big.Rat { return name("u").eval(&values{v, b.definitions}) }

// Needs returns, in alphabetical order, the letters that a formula takes from [Vars].More.
func (b Bound) Needs() []string {
	var needs []string
	for letter := range b.names() {
		if _, defined := b.definitions[letter]; !defined && !slices.Contains(given, letter) {
			needs = append(needs, letter)
		}
	}
	slices.Sort(needs)
	return needs
}

// Uses tells whether a formula depends on a quantity: a letter, or "|s|".
func (b Bound) Uses(quantity string) bool { return b.names()[quantity] }

// names returns the names in a formula and in the definitions that it uses.
func (b Bound) names() map[string]bool {
	found := map[string]bool{}
	b.visit(b.value, found)
	for _, c := range b.conditions {
		b.visit(c.least, found)
		b.visit(c.most, found)
	}
	return found
}

// given are the names that do not come from More.
var given = []string{"n", "p", "S", "|s|"}

// visit collects the names in an expression and in the definitions that it uses.
func (b Bound) visit(e node, found map[string]bool) {
	switch e := e.(type) {
	case name:
		if !found[string(e)] {
			found[string(e)] = true
			b.visit(b.definitions[string(e)], found)
		}
	case binary:
		b.visit(e.x, found)
		b.visit(e.y, found)
	case call:
		if e.function == "g" {
			b.visit(name("u"), found)
		}
		for _, x := range e.arguments {
			b.visit(x, found)
		}
	}
}
