package datasets

import (
	"hash/fnv"
	"math/bits"
	"math/rand/v2"
	"strconv"

	"mpbench/pkg/exact"
	"mpbench/pkg/numbers"
)

// Options are the general parameters, which apply where a spec does not give its own.
type Options struct {
	// N is the number of terms or of columns, M that of rows; 0 leaves each set its default. A set of fixed size refuses
	// any other N; without M there are as many rows as columns.
	M, N   int
	K      int // columns of the product of two matrices; 0 for as many as rows
	Seed   uint64
	Trans  bool // of matrices: the transpose is multiplied; x has M elements, the set's property is that of its rows
	TransX bool // of two matrices: of the right one, too
	Bits   int  // of the numbers, for sets that have the parameter bits; 0 is float64
}

// job is one generation: the resolved parameters, and what the generator makes of them.
type job struct {
	spec Spec
	n    int
	seed uint64

	terms []float64 // of vectors; the first one of a pair
	y     []float64 // the second one of a pair
	known *exact.Value
	notes []string
}

// Extents returns those of the data that [Generate] would make; an error is that of Generate about the size that is
// asked for.
func (s Spec) Extents(opt Options) (Extents, error) {
	if s.set.matrix == nil {
		n, err := s.length(opt)
		if s.set.sparse != nil {
			return Extents{M: n, N: n, Trans: opt.Trans}, err
		}
		return Extents{N: n}, err
	}
	j, err := newMatrixJob(s, opt)
	if err != nil {
		return Extents{}, err
	}
	if j.terms < s.set.MinN {
		return Extents{}, usagef("%s: %d terms: want at least %d", s.set.Name, j.terms, s.set.MinN)
	}
	return j.extents(), nil
}

// Outline returns the data that [Generate] would make, with numbers.Outline in place of numbers; of a sparse matrix,
// which only says how many elements it has once it is made, without any. Errors are those of Extents.
func (s Spec) Outline(opt Options) (*Data, error) {
	e, err := s.Extents(opt)
	d := &Data{Extents: e}
	switch outline := numberOutline(8); {
	case err != nil || s.set.sparse != nil:
	case s.set.matrix == nil:
		if d.X = outline(e.N); s.set.family.vectors == 2 {
			d.Y = outline(e.N)
		}
	default:
		j, _ := newMatrixJob(s, opt) // Extents has found no error
		outline = numberOutline(j.numberBytes())
		d.A, d.X, d.Y = outline(j.m*j.n), outline(j.terms*j.columns), outline(j.rows*j.columns)
	}
	return d, err
}

// numberOutline returns what stands for n numbers of so many bytes.
func numberOutline(bytes int) func(n int) Numbers {
	return func(n int) Numbers { return Numbers{Source: numbers.Outline{Count: n, Bytes: bytes}} }
}

// Gives tells whether a parameter was written out.
func (s Spec) Gives(name string) bool {
	i := s.set.param(name)
	return i >= 0 && s.values[i] != "" || name == "n" && s.n != 0
}

// Fixed tells whether the parameters leave no choice of the number of terms.
func (s Spec) Fixed() bool { return s.set.FixedN != nil && s.set.FixedN(s.value) != 0 }

// Generate makes the data of a spec.
func Generate(spec Spec, opt Options) (*Data, error) { return spec.set.family.generate(spec, opt) }

// generateVectors makes one vector, or a pair of them.
func generateVectors(pair bool) func(Spec, Options) (*Data, error) {
	return func(spec Spec, opt Options) (*Data, error) {
		n, err := spec.length(opt)
		if err != nil {
			return nil, err
		}
		j := newJob(spec, opt, n)
		arrays := []*[]float64{&j.terms}
		if pair {
			arrays = append(arrays, &j.y)
		}
		for _, a := range arrays {
			*a = make([]float64, n)
		}
		if err := spec.set.make(&j); err != nil {
			return nil, usagef("%s: %s", spec.set.Name, err)
		}
		d := j.data()
		d.X = float64s(j.terms)
		if pair {
			d.Y = float64s(j.y)
		}
		return d, nil
	}
}

// draw sets the terms, and then the second vector of a pair.
func (j *job) draw(next func(r *source) float64) error {
	r := j.random(0)
	for _, xs := range [][]float64{j.terms, j.y} {
		each(xs, func() float64 { return next(r) })
	}
	return nil
}

func newJob(spec Spec, opt Options, n int) job {
	j := job{spec: spec, n: n, seed: opt.Seed}
	if spec.seed != nil {
		j.seed = *spec.seed
	}
	return j
}

// data returns what a job has to say beside the numbers.
func (j *job) data() *Data {
	set := j.spec.set
	return &Data{
		Name: set.Name, Params: j.args(), Extents: Extents{N: j.n}, Source: set.Source, Known: j.known, Notes: j.notes,
	}
}

// length returns the number of terms, for which there must be memory.
func (s Spec) length(opt Options) (int, error) {
	n, err := s.size(opt)
	if err != nil {
		return 0, err
	}
	if err := CheckMemory(int64(n) * 8 * s.set.family.vectors); err != nil {
		return 0, usagef("%s: n=%d: %s", s.set.Name, n, err)
	}
	return n, nil
}

func (s Spec) size(opt Options) (int, error) {
	asked := s.n
	if asked == 0 {
		if asked = opt.N; asked < 0 || asked > MaxN {
			return 0, usagef("n=%d: want an integer from 1 to 2^40", asked)
		}
	}
	fixed := 0
	if s.set.FixedN != nil {
		fixed = s.set.FixedN(s.value)
	}
	switch {
	case fixed != 0 && asked != 0 && asked != fixed:
		return 0, usagef("%s: n=%d: this set has %d terms by definition", s, asked, fixed)
	case fixed != 0:
		return fixed, nil
	case asked == 0:
		return s.set.DefaultN, nil
	case s.set.sparse != nil && asked > numbers.MostColumns:
		return 0, usagef("%s: n=%d: want at most 2^31 - 1", s.set.Name, asked)
	case asked < s.set.MinN:
		return 0, usagef("%s: n=%d: want at least %d terms", s.set.Name, asked, s.set.MinN)
	}
	return asked, nil
}

// args lists all parameters but n, in the registry's order.
func (j *job) args() []Arg {
	var args []Arg
	for _, p := range j.spec.set.Params {
		args = append(args, Arg{p.Name, j.spec.value(p.Name)})
	}
	if j.spec.set.Seeded {
		args = append(args, Arg{"seed", strconv.FormatUint(j.seed, 10)})
	}
	return args
}

// The accessors below read parameters that Parse has checked.

func (j *job) text(name string) string { return j.spec.value(name) }

func (j *job) int(name string) int {
	v, err := strconv.Atoi(j.spec.value(name))
	if err != nil {
		panic(err) // Parse admits integers only
	}
	return v
}

func (j *job) real(name string) float64 {
	v, err := strconv.ParseFloat(j.spec.value(name), 64)
	if err != nil {
		panic(err) // Parse admits numbers only
	}
	return v
}

// knownIs records the exact sum where the definition gives it.
func (j *job) knownIs(v exact.Value) { j.known = &v }

// random returns the job's random source; try distinguishes the attempts of a generator that may have to draw again.
func (j *job) random(try uint64) *source { return newSource(j.seed, j.spec.set.Name, try) }

// source makes random numbers from the integer output of a PCG generator. It uses none of math/rand's derived
// distributions, so the numbers depend on the documented PCG stream only.
type source struct{ pcg rand.PCG }

// newSource seeds a source. The set's name and the attempt choose the second word of the seed, so that two sets with
// the same seed are not made of the same numbers.
func newSource(seed uint64, name string, try uint64) *source {
	h := fnv.New64a()
	h.Write([]byte(name))
	s := new(source)
	s.pcg.Seed(seed, h.Sum64()+try)
	return s
}

// uint64 returns 64 random bits.
func (s *source) uint64() uint64 { return s.pcg.Uint64() }

// unit returns a uniform multiple of 2^-53 in [0, 1).
func (s *source) unit() float64 { return float64(float64(s.uint64()>>11) * 0x1p-53) }

// symmetric returns 2u - 1 for such a u: a uniform multiple of 2^-52 in [-1, 1), exactly.
func (s *source) symmetric() float64 {
	return float64(float64(int64(s.uint64()>>11)-1<<52) * 0x1p-52)
}

// below returns a uniform integer in [0, n), n > 0. The bias, at most n * 2^-64, is of no consequence here.
func (s *source) below(n int) int {
	hi, _ := bits.Mul64(s.uint64(), uint64(n))
	return int(hi)
}

// shuffle permutes xs uniformly (Fisher and Yates).
func (s *source) shuffle(xs []float64) {
	for i := len(xs) - 1; i > 0; i-- {
		j := s.below(i + 1)
		xs[i], xs[j] = xs[j], xs[i]
	}
}
