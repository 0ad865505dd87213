// Package device names what computes: the processors of this machine, one or more GPUs. It opens nothing; package gpu
// does. A [Set] is read once, where the user's text comes in, and everything else asks it questions.
package device

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Kind is what an implementation of a method is written for.
type Kind string

// The kinds of devices.
const (
	CPU    Kind = "cpu"
	CUDA   Kind = "cuda"     // one GPU by the CUDA driver, or its emulator
	Hybrid Kind = "cpu+cuda" // several devices that share one problem, such as processors and a GPU
)

// Member is one device.
type Member struct {
	Kind  Kind // CPU or CUDA
	Index int  // of GPUs, from 0; local or every where it depends on the machine, see Set.Here
}

// Indices of GPUs that are chosen where they are used.
const (
	local = -1 // the one that belongs to a rank
	every = -2 // all of the machine
)

// open has what users type for these.
var open = map[int]string{local: "local", every: "all"}

// String returns the name that users type: "cpu", "cuda:1".
func (m Member) String() string {
	if m.Kind == CPU {
		return string(CPU)
	}
	if name := open[m.Index]; name != "" {
		return string(m.Kind) + ":" + name
	}
	return fmt.Sprintf("%s:%d", m.Kind, m.Index)
}

// Set is the devices that work on one problem together. The zero Set is the CPU.
type Set struct{ members []Member }

// Of returns the set of these devices.
func Of(members ...Member) Set { return Set{members} }

// GPU returns the set of one GPU.
func GPU(index int) Set { return Of(Member{CUDA, index}) }

// GPUs returns the set of the first n GPUs.
func GPUs(n int) (s Set) {
	for i := range n {
		s.members = append(s.members, Member{CUDA, i})
	}
	return s
}

// Parse reads "cpu", "cuda:1", "cuda" for the first GPU, "cuda:local" for that of a rank, "cuda:all" for those of the
// machine, or several joined by "+", as "cpu+cuda:0".
func Parse(text string) (Set, error) {
	var s Set
	for name := range strings.SplitSeq(text, "+") {
		m, ok := parseMember(name)
		if !ok || slices.Contains(s.members, m) {
			return Set{}, fmt.Errorf(
				"unknown device %q; want cpu, cuda:0, cuda:1, ..., cuda:local, cpu+cuda:0 for both together, cuda:all "+
					"for all GPUs together, or all", text)
		}
		s.members = append(s.members, m)
	}
	return s, nil
}

func parseMember(name string) (Member, bool) {
	kind, index, indexed := strings.Cut(name, ":")
	m := Member{Kind: Kind(kind)}
	switch {
	case index == open[local]:
		m.Index = local
	case index == open[every]:
		m.Index = every
	case indexed:
		n, err := strconv.ParseUint(index, 10, 16)
		if err != nil || strconv.FormatUint(n, 10) != index {
			return m, false
		}
		m.Index = int(n)
	}
	return m, m.Kind == CUDA || m.Kind == CPU && !indexed
}

// Here returns the set of the rank that is so many-th on its machine: "cuda:local" is one of its GPUs, in turn, and
// "cuda:all" are all of them, "cuda:0" where there are none. How many there are is asked for where that matters.
func (s Set) Here(rank int, gpus func() int) Set {
	var members []Member
	for _, m := range s.members {
		from, to := m.Index, m.Index+1
		switch m.Index {
		case local:
			from = rank % max(1, gpus())
			to = from + 1
		case every:
			from, to = 0, max(1, gpus())
		}
		for i := from; i < to; i++ {
			if here := (Member{m.Kind, i}); !slices.Contains(members, here) {
				members = append(members, here)
			}
		}
	}
	return Of(members...)
}

// Must is Parse for a text that is known to be one.
func Must(text string) Set {
	s, err := Parse(text)
	if err != nil {
		panic(err)
	}
	return s
}

// Members returns the devices.
func (s Set) Members() []Member {
	if len(s.members) == 0 {
		return []Member{{Kind: CPU}}
	}
	return s.members
}

// Kind returns what an implementation must be written for: the kind of a single device, or Hybrid, also for "cuda:all"
// as long as it is not known how many that are.
func (s Set) Kind() Kind {
	m := s.Members()
	if len(m) > 1 || m[0].Index == every {
		return Hybrid
	}
	return m[0].Kind
}

// GPUs returns the indices of the GPUs in the set.
func (s Set) GPUs() (list []int) {
	for _, m := range s.Members() {
		if m.Kind == CUDA {
			list = append(list, m.Index)
		}
	}
	return list
}

// HasCPU tells whether the processors are in the set.
func (s Set) HasCPU() bool {
	return slices.ContainsFunc(s.Members(), func(m Member) bool { return m.Kind == CPU })
}

// String returns the text that Parse reads.
func (s Set) String() string {
	var names []string
	for _, m := range s.Members() {
		names = append(names, m.String())
	}
	return strings.Join(names, "+")
}
