package krylov

// cg is the conjugate gradient method of M. R. Hestenes, E. Stiefel, J. Res. Nat. Bur. Standards 49 (1952) 409-436,
// DOI 10.6028/jres.049.044, for symmetric positive definite matrices, preconditioned, with x = 0 to begin with:
//
//	z = M^-1 r, p = z + (rho/rho') p with rho = (r, z), alpha = rho/(p, A p), x = x + alpha p, r = r - alpha A p
func (it *iteration[V, S]) cg() Status {
	list := it.vectors(4)
	r, p, q, y := list[0], list[1], list[2], list[3]
	it.copy(r, it.b)
	rho := it.number(1)
	for first := true; ; first = false {
		z := it.precondition(y, r)
		next := it.dot(r, z)
		if it.sign(next) <= 0 {
			return Indefinite
		}
		if first {
			it.copy(p, z)
		} else {
			it.axpy(p, it.div(next, rho), p, z)
		}
		rho = next
		it.product(q, p)
		below := it.dot(p, q)
		if it.sign(below) <= 0 {
			return Indefinite
		}
		alpha := it.div(rho, below)
		it.axpy(it.x, alpha, p, it.x)
		it.axpy(r, it.negative(alpha), q, r)
		if status, end := it.step(r); end {
			return status
		}
	}
}
