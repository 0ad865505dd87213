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
	Index int  // of GPUs, from 0; local for the one that belongs to a rank
}

// local is the index of a GPU that is chosen where it is used, see Local.
const local = -1

// localName is what users type for it.
const localName = "local"

// String returns the name that users type: "cpu", "cuda:1".
func (m Member) String() string {
	if m.Kind == CPU {
		return string(CPU)
	}
	if m.Index == local {
		return string(m.Kind) + ":" + localName
	}
	return fmt.Sprintf("%s:%d", m.Kind, m.Index)
}

// Set is the devices that work on one problem together. The zero Set is the CPU.
type Set struct{ members []Member }

// Of returns the set of these devices.
func Of(members ...Member) Set { return Set{members} }

// GPU returns the set of one GPU.
func GPU(index int) Set { return Of(Member{CUDA, index}) }

// Parse reads "cpu", "cuda:1", "cuda" for the first GPU, "cuda:local" for that of a rank, or several joined by "+", as
// "cpu+cuda:0".
func Parse(text string) (Set, error) {
	var s Set
	for name := range strings.SplitSeq(text, "+") {
		m, ok := parseMember(name)
		if !ok || slices.Contains(s.members, m) {
			return Set{}, fmt.Errorf(
				"unknown device %q; want cpu, cuda:0, cuda:1, ..., cuda:local, cpu+cuda:0 for both together, or all", text)
		}
		s.members = append(s.members, m)
	}
	return s, nil
}

func parseMember(name string) (Member, bool) {
	kind, index, indexed := strings.Cut(name, ":")
	m := Member{Kind: Kind(kind)}
	if index == localName {
		m.Index = local
	} else if indexed {
		n, err := strconv.ParseUint(index, 10, 16)
		if err != nil || strconv.FormatUint(n, 10) != index {
			return m, false
		}
		m.Index = int(n)
	}
	return m, m.Kind == CUDA || m.Kind == CPU && !indexed
}

// Local returns the set of the rank that is so many-th on its machine: "cuda:local" is one of its GPUs, in turn. How
// many there are is asked for where that matters.
func (s Set) Local(rank int, gpus func() int) Set {
	members := slices.Clone(s.members)
	for i, m := range members {
		if m.Index == local {
			members[i].Index = rank % max(1, gpus())
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

// Kind returns what an implementation must be written for: the kind of a single device, or Hybrid.
func (s Set) Kind() Kind {
	m := s.Members()
	if len(m) > 1 {
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

// String returns the text that Parse reads.
func (s Set) String() string {
	var names []string
	for _, m := range s.Members() {
		names = append(names, m.String())
	}
	return strings.Join(names, "+")
}
