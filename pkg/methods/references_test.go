package methods_test

import (
	"testing"

	"mpbench/internal/problems"
	"mpbench/pkg/op"
)

// references are exact results of problems that many methods are given, with the problems.
var references = map[any]*reference{}

type reference struct {
	problem *op.Problem
	exact   *op.Reference
}

// known returns the problem of a key, made and computed exactly for the first method that asks.
func known(t testing.TB, key any, problem func() *op.Problem) (*op.Problem, *op.Reference) {
	t.Helper()
	r := references[key]
	if r == nil {
		r = &reference{problem: problem()}
		var err error
		if r.exact, err = op.Exact(r.problem); err != nil {
			t.Fatal(err)
		}
		references[key] = r
	}
	return r.problem, r.exact
}

// randomly is what a random problem depends on.
type randomly struct {
	operation *op.Operation
	problems.Choice
}

// ofData is what a problem of a data set depends on.
type ofData struct {
	operation *op.Operation
	text      string
}
