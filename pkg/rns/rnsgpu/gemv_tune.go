package rnsgpu

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"mpbench/pkg/gpu/tuned"
	"mpbench/pkg/rns/rnsop"
)

// tune says what is done about the launch parameters of kernels: see rnsop.TuneOption.
func (e *split) tune() string { return e.config.Options[rnsop.TuneOption.Name] }

// tuneKey is what good launch parameters depend on.
func (e *split) tuneKey() tuned.Key {
	p, b := e.Shape, e.context.Base()
	return tuned.Key{
		Method: "rns-split", Module: "gemv",
		Case: fmt.Sprintf("%d bits, %d moduli of %d bits, %d x %d %v, block %d", b.Precision(), b.Len(), b.ModuliBits(), p.M,
			p.N, p.Trans, e.blockSize),
	}
}

// tuneShape sets the shape from the cache, or to the fastest of the candidates. The emulator, whose times mean
// nothing, keeps the default unless it is forced.
func (e *split) tuneShape() error {
	emulated := e.device.Info().Emulated()
	if e.tune() == "auto" && emulated {
		return nil
	}
	key := e.tuneKey()
	if e.tune() == "auto" {
		var cached splitShape
		found, warning := tuned.Load(e.device, key, &cached)
		e.warn(warning)
		if found && e.valid(cached) {
			e.shape = cached
			return nil
		}
	}
	if err := e.search(); err != nil {
		return err
	}
	e.scratch.Free() // candidates may have needed more
	e.slots.Free()
	e.scratch, e.groups, e.slots = nil, 0, nil
	e.warn(tuned.Save(e.device, key, e.shape))
	return nil
}

func (e *split) warn(err error) {
	if err != nil {
		e.warnings = append(e.warnings, err.Error())
	}
}

// valid reports whether a shape from elsewhere can be launched.
func (e *split) valid(s splitShape) bool {
	stride := e.context.Base().Stride()
	round, known := roundKernels[s.Round]
	most, sums := sumsThreads[s.SumsLanes]
	return known && round.holds(stride) && s.RoundThreads >= 32 && s.RoundThreads <= 256 && s.RoundThreads%32 == 0 &&
		s.ResidueThreads >= 1 && s.ResidueThreads <= maxThreads &&
		(s.ResidueThreads%stride == 0 || s.ResidueThreads < stride) && s.ResidueRows >= 1 &&
		sums && s.SumsThreads >= 32 && s.SumsThreads <= most && s.SumsThreads%32 == 0 && s.SumsRows >= 1 && e.fits(s)
}

// fits reports whether the slots of several components fit in shared memory; those of one need not.
func (e *split) fits(s splitShape) bool {
	slots := s.SumsRows * e.used()
	return s.SumsRows == 1 || s.SumsRows <= e.Shape.Rows &&
		(fieldBytes+4*e.context.Base().Stride())*slots+8 <= e.device.Info().SharedPerBlock
}

// tuneRuns is how often a candidate is timed; the least time counts.
const tuneRuns = 3

// search tries one kernel's parameters after the other, on the problem itself.
func (e *split) search() error {
	p := e.matrixProducts(e.dB.Parameter())
	fields, err := e.fieldsStep(p, "", "B")
	if err != nil {
		return err
	}
	if err := fields.launch(); err != nil {
		return err
	}
	best := e.shape
	err = e.fastest(e.residueCandidates(), &best, nil, func(s splitShape) (step, error) {
		return e.residuesStep(s, p, "", "B")
	})
	if err != nil {
		return err
	}
	residues, err := e.residuesStep(best, p, "", "B")
	if err != nil {
		return err
	}
	again := func() error { // rounding works in place
		if err := fields.launch(); err != nil {
			return err
		}
		return residues.launch()
	}
	if err := e.fastest(e.roundCandidates(), &best, again, func(s splitShape) (step, error) {
		return e.roundStep(s, p, "B")
	}); err != nil {
		return err
	}
	if err := e.fastest(e.sumsCandidates(), &best, nil, e.sumsStep); err != nil {
		return err
	}
	e.shape = best
	return nil
}

// fastest merges the fastest candidate, a change of a shape, into best; before runs before each launch, untimed.
func (e *split) fastest(
	candidates []func(*splitShape), best *splitShape, before func() error, make func(splitShape) (step, error),
) error {
	var least time.Duration
	winner := *best
	for _, change := range candidates {
		s := *best
		change(&s)
		if !e.valid(s) {
			continue
		}
		one, err := make(s)
		if err != nil {
			return err
		}
		for run := range tuneRuns + 1 {
			t, err := e.timeStep(one, before)
			if err != nil {
				return err
			}
			if run > 0 && (least == 0 || t < least) {
				least, winner = t, s
			}
		}
	}
	*best = winner
	return nil
}

// timeStep returns the time of one launch with a cold cache.
func (e *split) timeStep(s step, before func() error) (time.Duration, error) {
	if before != nil {
		if err := before(); err != nil {
			return 0, err
		}
	}
	if err := e.device.ColdCache(nil); err != nil {
		return 0, err
	}
	return e.device.Time(nil, s.launch)
}

func (e *split) residueCandidates() (list []func(*splitShape)) {
	stride := e.context.Base().Stride()
	for _, threads := range []int{64, 128, 256, 512} {
		for _, rows := range []int{1, 2, 4, 8} {
			list = append(list, func(s *splitShape) {
				s.ResidueThreads, s.ResidueRows = min(max(1, threads/stride)*stride, maxThreads), rows
			})
		}
	}
	return list
}

func (e *split) roundCandidates() (list []func(*splitShape)) {
	for _, name := range slices.Sorted(maps.Keys(roundKernels)) {
		if k := roundKernels[name]; !k.holds(e.context.Base().Stride()) || k.each == 0 && len(list) > 0 {
			continue
		}
		for _, threads := range []int{64, 128, 256} {
			list = append(list, func(s *splitShape) { s.Round, s.RoundThreads = name, threads })
		}
	}
	return list
}

func (e *split) sumsCandidates() (list []func(*splitShape)) {
	for _, lanes := range slices.Sorted(maps.Keys(sumsThreads)) {
		for _, rows := range []int{1, 2, 4, 8} {
			for _, threads := range []int{64, 128, 256, 512} {
				list = append(list, func(s *splitShape) {
					s.SumsLanes = lanes
					*s = e.withSumsRows(*s, rows)
					s.SumsThreads = min(s.SumsThreads, threads)
				})
			}
		}
	}
	return list
}

// splitShape is how the kernels of rns-split are launched. It never changes a result.
type splitShape struct {
	ResidueThreads int    `json:"residue_threads"` // of a block, a multiple of the residues of a number, or fewer
	ResidueRows    int    `json:"residue_rows"`    // numbers of a thread
	Round          string `json:"round"`           // one of roundKernels
	RoundThreads   int    `json:"round_threads"`
	SumsLanes      int    `json:"sums_lanes"` // lanes that work on one addition
	SumsThreads    int    `json:"sums_threads"`
	SumsRows       int    `json:"sums_rows"` // components of a block
}

// roundKernel is a kernel gemvRound of cuda/gemv.cu: lanes for one number, and residues that each can hold, 0 for any.
type roundKernel struct{ lanes, each int }

var roundKernels = map[string]roundKernel{
	"gemvRound1x8": {1, 8}, "gemvRound2x4": {2, 4}, "gemvRound2x8": {2, 8}, "gemvRound4x4": {4, 4},
	"gemvRound4x8": {4, 8}, "gemvRound8x4": {8, 4},
	"gemvRound8x8": {8, 8}, "gemvRound16x4": {16, 4}, "gemvRound16x8": {16, 8}, "gemvRound32x4": {32, 4},
	"gemvRound32x8": {32, 8}, "gemvRoundAny": {32, 0},
}

// holds reports whether a kernel can round numbers of so many residues.
func (k roundKernel) holds(stride int) bool { return k.each == 0 || k.lanes*k.each >= stride }

// sumsThreads are the most threads of a block of the kernels gemvSums, by their lanes.
var sumsThreads = map[int]int{1: 256, 4: 512, 8: 512, 16: 512, 32: 512}

func (s splitShape) sumsKernel() string { return fmt.Sprintf("gemvSums%d", s.SumsLanes) }

const maxThreads = 1024

// Limits of devices that say nothing about themselves.
const (
	defaultThreadsPerMP = 2048
	defaultBlocksPerMP  = 32
)

// residueThreads returns the block of the paper's equation (8): whole numbers, and threads that fill a multiprocessor.
func residueThreads(stride, threadsPerMP, blocksPerMP int) int {
	if threadsPerMP == 0 || blocksPerMP == 0 {
		threadsPerMP, blocksPerMP = defaultThreadsPerMP, defaultBlocksPerMP
	}
	return min(max(1, threadsPerMP/blocksPerMP/stride)*stride, maxThreads)
}

func (e *split) defaultShape() splitShape {
	stride, info := e.context.Base().Stride(), e.device.Info()
	s := splitShape{ResidueThreads: residueThreads(stride, info.ThreadsPerMP, info.BlocksPerMP), ResidueRows: 4,
		Round: "gemvRoundAny", RoundThreads: 128}
	for _, name := range []string{"gemvRound1x8", "gemvRound2x8", "gemvRound4x8", "gemvRound8x8", "gemvRound16x8",
		"gemvRound32x8"} {
		if roundKernels[name].holds(stride) {
			s.Round = name
			break
		}
	}
	s.SumsLanes = 32
	for _, lanes := range []int{4, 8, 16} {
		if stride <= 2*lanes {
			s.SumsLanes = lanes
			break
		}
	}
	return e.withSumsRows(s, 1)
}

// withSumsRows gives the blocks of the sums so many components, and as many threads as these have work for.
func (e *split) withSumsRows(s splitShape, rows int) splitShape {
	s.SumsRows = rows
	threads := (rows*max(e.used(), 1)*s.SumsLanes + 31) / 32 * 32
	s.SumsThreads = min(threads, sumsThreads[s.SumsLanes])
	return s
}
