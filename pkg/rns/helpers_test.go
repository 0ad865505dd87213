package rns

import "math/rand"

type mathRand = rand.Rand

func newMathRand(seed int64) *mathRand { return rand.New(rand.NewSource(seed)) }
