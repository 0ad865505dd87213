package krylov

// bicgstab2 is BiCGstab(2) of G. L. G. Sleijpen, D. R. Fokkema, ETNA 1 (1993) 11-32, as H. A. van der Vorst writes it
// (Iterative Krylov Methods for Large Linear Systems, 2003, figure 9.1, DOI 10.1017/CBO9780511615115), with the shadow
// residual b: two steps of BiCG and then a minimisation over two dimensions. It solves A M^-1 y = b, x = M^-1 y.
func (it *iteration[V, S]) bicgstab2() Status {
	list := it.vectors(8)
	it.turn = 2
	status := it.turns(list)
	it.copy(it.x, it.precondition(list[1], list[0]))
	return status
}

// turns sets the first vector to y. A turn takes four products, as two iterations of BiCGStab, and counts as two.
func (it *iteration[V, S]) turns(list []V) Status {
	y, z, r, u, v, s, w, t := list[0], list[1], list[2], list[3], list[4], list[5], list[6], list[7]
	product := func(to, x V) { it.product(to, it.precondition(z, x)) }
	subtract := func(x V, a S, y V) { it.axpy(x, it.negative(a), y, x) }
	it.copy(r, it.b)
	rho, alpha, omega := it.number(1), it.number(0), it.number(1)
	for {
		rho = it.negative(it.mul(omega, rho))
		next := it.dot(it.b, r)
		if it.sign(rho) == 0 || it.sign(next) == 0 {
			return BreakRho
		}
		beta := it.div(it.mul(alpha, next), rho)
		rho = next
		it.axpy(u, it.negative(beta), u, r)
		product(v, u)
		below := it.dot(it.b, v)
		if it.sign(below) == 0 {
			return BreakAlpha
		}
		alpha = it.div(rho, below)
		subtract(r, alpha, v)
		product(s, r)
		it.axpy(y, alpha, u, y) // r is the residual of y

		next = it.dot(it.b, s)
		beta = it.div(it.mul(alpha, next), rho)
		rho = next
		it.axpy(v, it.negative(beta), v, s)
		product(w, v)
		below = it.dot(it.b, w)
		if it.sign(below) == 0 {
			if status, end := it.step(r); end {
				return status
			}
			return BreakAlpha
		}
		alpha = it.div(rho, below)
		it.axpy(u, it.negative(beta), u, r)
		subtract(r, alpha, v)
		subtract(s, alpha, w)
		product(t, s)
		it.axpy(y, alpha, u, y) // again

		first, second := it.minimum(r, s, t)
		omega = second
		it.axpy(y, first, r, y)
		it.axpy(y, second, s, y)
		subtract(r, first, s)
		subtract(r, second, t)
		subtract(u, first, v)
		subtract(u, second, w)
		if status, end := it.step(r); end {
			return status
		}
	}
}

// minimum returns the factors that make r - first*s - second*t least; 0 for what s and t do not span.
func (it *iteration[V, S]) minimum(r, s, t V) (first, second S) {
	less := func(x, y S) S { return it.add(x, it.negative(y)) }
	first, second = it.dot(r, s), it.number(0)
	mu, nu, tau := it.dot(s, s), it.dot(s, t), it.dot(t, t)
	if it.sign(mu) == 0 {
		return second, second
	}
	if tau = less(tau, it.div(it.mul(nu, nu), mu)); it.sign(tau) != 0 {
		second = it.div(less(it.dot(r, t), it.div(it.mul(nu, first), mu)), tau)
	}
	return it.div(less(first, it.mul(nu, second)), mu), second
}
