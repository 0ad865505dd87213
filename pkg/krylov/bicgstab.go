package krylov

// Algorithm is a Krylov subspace method.
type Algorithm string

// The algorithms.
const (
	BiCGStab  Algorithm = "bicgstab"
	BiCGStab2 Algorithm = "bicgstab2"
	CG        Algorithm = "cg"
)

// Algorithms lists them.
func Algorithms() []string { return []string{string(BiCGStab), string(BiCGStab2), string(CG)} }

// bicgstab is the method of H. A. van der Vorst, SIAM J. Sci. Stat. Comput. 13 (1992) 631-644, DOI 10.1137/0913035,
// preconditioned from the right, with x = 0 and the shadow residual b to begin with:
//
//	rho = (b, r), beta = (rho/rho')(alpha/omega), p = r + beta (p - omega v), v = A M^-1 p, alpha = rho/(b, v),
//	s = r - alpha v, t = A M^-1 s, omega = (t, s)/(t, t), x = x + alpha M^-1 p + omega M^-1 s, r = s - omega t
func (it *iteration[V, S]) bicgstab() Status {
	list := it.vectors(7)
	r, p, v, s, t, y, z := list[0], list[1], list[2], list[3], list[4], list[5], list[6]
	one := it.number(1)
	it.copy(r, it.b)
	rho, alpha, omega := one, one, one
	for first := true; ; first = false {
		next := it.dot(it.b, r)
		if it.sign(next) == 0 {
			return BreakRho
		}
		if first {
			it.copy(p, r)
		} else {
			beta := it.mul(it.div(next, rho), it.div(alpha, omega))
			it.axpy(p, it.negative(omega), v, p)
			it.axpy(p, beta, p, r)
		}
		rho = next
		direction := it.precondition(y, p)
		it.product(v, direction)
		below := it.dot(it.b, v)
		if it.sign(below) == 0 {
			return BreakAlpha
		}
		alpha = it.div(rho, below)
		it.axpy(s, it.negative(alpha), v, r)
		it.axpy(it.x, alpha, direction, it.x)
		direction = it.precondition(z, s)
		it.product(t, direction)
		above, square := it.dot(t, s), it.dot(t, t)
		if it.sign(square) == 0 || it.sign(above) == 0 {
			if status, end := it.step(s); end { // s is the residual of x
				return status
			}
			return BreakOmega
		}
		omega = it.div(above, square)
		it.axpy(it.x, omega, direction, it.x)
		it.axpy(r, it.negative(omega), t, s)
		if status, end := it.step(r); end {
			return status
		}
	}
}
