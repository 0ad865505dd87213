package datasets

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"mpbench/pkg/numbers"
)

const nepCollection = "Bai, Day, Demmel, Dongarra, A Test Matrix Collection for Non-Hermitian Eigenvalue " +
	"Problems, 1997"

// sparseSets are sparse matrices, n x n, with vectors x and y of uniform numbers in [-1, 1).
func sparseSets() []*Set {
	sets := []*Set{
		{
			Name: "brusselator",
			Summary: "Jacobian of the Brusselator wave model, reaction and diffusion of two substances on a square grid of " +
				"g x g points, n = 2 g^2; n=800 and n=3200 are RDB800L and RDB3200L",
			Source: nepCollection, DefaultN: 800, sparse: brusselator,
		},
		{
			Name: "convdiff",
			Summary: "central differences of a convection-diffusion equation with variable coefficients on a grid of g x g " +
				"points, n = g^2, to 12 decimal digits; n=900 is PDE900 but for the last digit of one number",
			Source: nepCollection, DefaultN: 900, sparse: convectionDiffusion,
			Params: []Param{{
				Name: "beta", Meaning: "strength of the convection", Default: "20", Kind: Real, Min: -1e6, Max: 1e6,
			}},
		},
		{
			Name: "dominant",
			Summary: "diagonally dominant rows: uniform numbers in [-1, 1) in random columns, the sum of their magnitudes " +
				"times 1 + margin on the diagonal",
			Source: "own", DefaultN: 1000, sparse: dominant,
			Params: []Param{
				{Name: "row", Meaning: "numbers of a row beside the diagonal", Default: "8", Kind: Int, Max: 1 << 16},
				{Name: "margin", Meaning: "by how much the diagonal is larger", Default: "0.1", Kind: Real, Max: 1e6},
			},
		},
		{
			Name:    "olmstead",
			Summary: "Jacobian of the Olmstead flow model on n/2 points, to 9 decimal digits; n=500 is OLM500",
			Source:  nepCollection, DefaultN: 500, MinN: 2, sparse: olmstead,
		},
		{
			Name: "tridiagonal",
			Summary: "symmetric and positive definite, -1 beside a diagonal d = 2 cos(pi/(n+1)) (cond+1)/(cond-1), whose " +
				"condition number is cond but for the rounding of d",
			Source:   "eigenvalues d - 2 cos(k pi/(n+1)): Smith, Numerical Solution of Partial Differential Equations, 1985",
			DefaultN: 1000, MinN: 2, sparse: tridiagonal,
			Params: []Param{{
				Name: "cond", Meaning: "condition number", Default: "1e+06", Kind: Real, Min: 1.001, Max: 1e12,
			}},
		},
	}
	for _, s := range sets {
		s.Seeded = true
	}
	return sets
}

// sparseJob is one generation, row by row.
type sparseJob struct {
	job
	draw   *source
	values []float64
	rows   numbers.Pattern
}

func generateSparse(spec Spec, opt Options) (*Data, error) {
	n, err := spec.length(opt)
	if err != nil {
		return nil, err
	}
	j := &sparseJob{job: newJob(spec, opt, n)}
	j.draw = j.random(0)
	j.rows.Start = make([]int, 1, n+1)
	x, y := make([]float64, n), make([]float64, n)
	each(x, j.draw.symmetric)
	each(y, j.draw.symmetric)
	if err := spec.set.sparse(j); err != nil {
		return nil, usagef("%s: %s", spec.set.Name, err)
	}
	d := j.data()
	d.Extents = Extents{M: n, N: n, Trans: opt.Trans}
	d.A, d.X, d.Y, d.Pattern = float64s(j.values), float64s(x), float64s(y), &j.rows
	d.A.SHA256 = hashPattern(d.Pattern, d.A.SHA256)
	return d, nil
}

// put adds an element to the current row; columns come in order.
func (j *sparseJob) put(column int, x float64) {
	j.rows.Column, j.values = append(j.rows.Column, int32(column)), append(j.values, x)
}

// end ends the current row.
func (j *sparseJob) end() { j.rows.Start = append(j.rows.Start, len(j.values)) }

// decimal rounds to so many decimal digits, as files have them.
func decimal(x float64, digits int) float64 {
	v, err := strconv.ParseFloat(strconv.FormatFloat(x, 'e', digits-1, 64), 64)
	if err != nil {
		panic(err) // what has been written is a number
	}
	return v
}

// side returns g with n = times*g^2.
func (j *sparseJob) side(times int) (int, error) {
	g := int(math.Sqrt(float64(j.n / times)))
	for times*(g+1)*(g+1) <= j.n {
		g++
	}
	if times*g*g != j.n {
		text := "a square"
		if times > 1 {
			text = fmt.Sprintf("%d times a square", times)
		}
		return 0, usagef("n=%d: want %s, such as %d or %d", j.n, text, times*g*g, times*(g+1)*(g+1))
	}
	return g, nil
}

// brusselator has u_t = a (u_xx + u_yy) + (B-1) u + A^2 v, v_t = 2a (v_xx + v_yy) - B u - A^2 v with a = 0.004, A = 2,
// B = 5.45 on g x g inner points of the unit square; u and v take turns.
func brusselator(j *sparseJob) error {
	const tidy = 15 // digits, more than those of the products below
	g, err := j.side(2)
	if err != nil {
		return err
	}
	step := float64((g + 1) * (g + 1))
	for i := range j.n {
		point, substance := i/2, i%2
		flow := decimal(0.004*float64(1+substance)*step, tidy)
		neighbour := func(there bool, distance int) {
			if there {
				j.put(i+2*distance, flow)
			}
		}
		neighbour(point >= g, -g)
		neighbour(point%g > 0, -1)
		if substance == 0 {
			j.put(i, decimal(4.45-float64(4*flow), tidy))
			j.put(i+1, 4)
		} else {
			j.put(i-1, -5.45)
			j.put(i, decimal(-4-float64(4*flow), tidy))
		}
		neighbour(point%g < g-1, 1)
		neighbour(point < g*(g-1), g)
		j.end()
	}
	return nil
}

// olmstead has u_t = B u_xx + (1-B) v_xx + R u, 2 v_t = u - v with B = 0.1, R = 4.7 on n/2 inner points of an
// interval of length pi; u and v take turns.
func olmstead(j *sparseJob) error {
	const digits = 9
	if j.n%2 == 1 {
		return usagef("n=%d: want an even number", j.n)
	}
	points := j.n / 2
	step := float64(points+1) / math.Pi
	step *= step
	u, v := float64(0.1*step), float64(0.9*step)
	for p := range points {
		i := 2 * p
		side := func(at int) {
			j.put(at, decimal(u, digits))
			j.put(at+1, decimal(v, digits))
		}
		if p > 0 {
			side(i - 2)
		}
		j.put(i, decimal(4.7-2*u, digits))
		j.put(i+1, decimal(-2*v, digits))
		if p < points-1 {
			side(i + 2)
		}
		j.end()
		j.put(i, 0.5)
		j.put(i+1, -0.5)
		j.end()
	}
	return nil
}

// convectionDiffusion has -(b u_x)_x - (c u_y)_y - (d u)_x - d u_x + f u with b = exp(-xy), c = exp(xy),
// d = beta (x+y), f = 1/(1+x+y), times h^2, on g x g inner points of the unit square, h = 1/(g+1).
func convectionDiffusion(j *sparseJob) error {
	const digits = 12
	g, err := j.side(1)
	if err != nil {
		return err
	}
	beta, h := j.real("beta"), 1/float64(g+1)
	for i := range j.n {
		col, row := float64(i%g+1), float64(i/g+1) // x = col*h, y = row*h
		diffusion := func(x, y, sign float64) float64 { return exp(float64(sign * float64(float64(x*h)*float64(y*h)))) }
		east, west := diffusion(col+0.5, row, -1), diffusion(col-0.5, row, -1)
		north, south := diffusion(col, row+0.5, 1), diffusion(col, row-0.5, 1)
		d := func(col float64) float64 { return float64(beta * float64(float64(col*h)+float64(row*h))) }
		convection := func(to float64) float64 { return float64(h / 2 * float64(d(col+to)+d(col))) }
		if i >= g {
			j.put(i-g, decimal(-south, digits))
		}
		if i%g > 0 {
			j.put(i-1, decimal(convection(-1)-west, digits))
		}
		f := float64(h*h) / (1 + float64((col+row)*h))
		j.put(i, decimal(east+west+north+south+f, digits))
		if i%g < g-1 {
			j.put(i+1, decimal(-convection(1)-east, digits))
		}
		if i < g*(g-1) {
			j.put(i+g, decimal(-north, digits))
		}
		j.end()
	}
	return nil
}

func dominant(j *sparseJob) error {
	count, margin := j.int("row"), j.real("margin")
	if count >= j.n {
		return usagef("row=%d: want fewer than the %d columns", count, j.n)
	}
	for i := range j.n {
		columns := []int{i}
		for len(columns) <= count {
			if c := j.draw.below(j.n); !slices.Contains(columns, c) {
				columns = append(columns, c)
			}
		}
		slices.Sort(columns)
		sum, diagonal := 0.0, 0
		for _, c := range columns {
			x := 0.0
			if c == i {
				diagonal = len(j.values)
			} else {
				x = j.draw.symmetric()
				sum += math.Abs(x)
			}
			j.put(c, x)
		}
		j.values[diagonal] = float64(sum * (1 + margin))
		if count == 0 {
			j.values[diagonal] = 1
		}
		j.end()
	}
	return nil
}

func tridiagonal(j *sparseJob) error {
	cond := j.real("cond")
	d := 2 * cos2pi(1, 2*int64(j.n+1)) * ((cond + 1) / (cond - 1))
	for i := range j.n {
		if i > 0 {
			j.put(i-1, -1)
		}
		j.put(i, d)
		if i < j.n-1 {
			j.put(i+1, -1)
		}
		j.end()
	}
	return nil
}
