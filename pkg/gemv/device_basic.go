package gemv

import (
	"math/big"

	"mpbench/pkg/exact"
	"mpbench/pkg/gpu"
	"mpbench/pkg/rns/rnsgpu"
)

// deviceBasic is basic on a GPU: one thread for each component, which does every operation whole.
type deviceBasic struct {
	deviceResidues
	products, sums *rnsgpu.Vector // one of each a component
}

func newDeviceBasic(o Options) (Engine, error) {
	r, err := newDeviceResidues(o)
	return &deviceBasic{deviceResidues: r}, err
}

func (e *deviceBasic) Load(p Problem) error {
	e.Close()
	err := e.loadOnto(p, "rns-basic", 2*int64(p.Rows())*int64(e.context.Base().TermBytes()), func() (err error) {
		e.steps, err = e.makeSteps()
		return err
	})
	if err != nil {
		e.Close()
	}
	return err
}

func (e *deviceBasic) Close() {
	if e.base != nil {
		e.device.Do(func() error {
			e.products.Free()
			e.sums.Free()
			return nil
		})
	}
	e.products, e.sums = nil, nil
	e.deviceResidues.Close()
}

// basicThreads is the number of threads of a block: few, so that the rows reach many multiprocessors.
const basicThreads = 32

// basicPhase is the method's only phase.
const basicPhase = "gemv"

// basicParameters are those of gemvBasicProducts.
type basicParameters struct {
	Base     rnsgpu.BaseParameter
	Scratch  rnsgpu.ScratchParameter
	Products productParameters
}

// rowsParameters are those of gemvBasicRows.
type rowsParameters struct {
	Base    rnsgpu.BaseParameter
	Scratch rnsgpu.ScratchParameter
	Rows    struct {
		Products    productParameters
		Sums, Y     rnsgpu.VectorParameter
		Add, Unused uint32
	}
}

func (e *deviceBasic) makeSteps() (steps []step, err error) {
	add := func(s step, failed error) {
		steps = append(steps, s)
		if err == nil {
			err = failed
		}
	}
	isFull := e.problem.work() == full
	longest := max(e.problem.Rows(), e.problem.Terms())
	if err := e.ensureScratch(ceilDiv(max(longest, 1), basicThreads) * basicThreads); err != nil {
		return nil, err
	}
	if isFull {
		add(e.scaleStep("d", scaled(e.dD, e.factors[0], e.dX)))
	}
	if e.scaleY {
		add(e.scaleStep("y", scaled(e.dResult, e.factors[1], e.dY)))
	}
	if isFull {
		add(e.rowsStep())
	}
	return steps, err
}

func basicLaunch(n int) gpu.Launch {
	return gpu.Launch{Grid: gpu.Dim{X: ceilDiv(n, basicThreads)}, Block: gpu.Dim{X: basicThreads}}
}

func (e *deviceBasic) scaleStep(array string, p productParameters) (step, error) {
	bytes := 2 * p.numbers() * int64(e.context.Base().TermBytes())
	return newStep(&e.deviceResidues, basicPhase, "gemvBasicProducts", array, basicLaunch(int(p.Rows)), basicParameters{e.base.Parameter(), e.scratch.Parameter(), p}, bytes)
}

func (e *deviceBasic) rowsStep() (s step, err error) {
	rows := e.problem.Rows()
	if e.products, err = e.base.NewInterleaved(rows); err != nil {
		return s, err
	}
	if e.sums, err = e.base.NewInterleaved(rows); err != nil {
		return s, err
	}
	p := rowsParameters{Base: e.base.Parameter(), Scratch: e.scratch.Parameter()}
	p.Rows.Products = e.matrixProducts(e.products.Parameter())
	if e.problem.Op == Trans { // rows of op(A) are columns of A
		q := &p.Rows.Products
		q.Rows, q.Columns = q.Columns, q.Rows
		q.LeftRow, q.LeftColumn = q.LeftColumn, q.LeftRow
		q.RightRow, q.RightColumn = q.RightColumn, q.RightRow
	}
	p.Rows.Sums, p.Rows.Y = e.sums.Parameter(), e.dResult.Parameter()
	if e.scaleY {
		p.Rows.Add = 1
	}
	numbers := p.Rows.Products.numbers() + int64(e.problem.Terms()) + int64(rows)*int64(1+p.Rows.Add)
	return newStep(&e.deviceResidues, basicPhase, "gemvBasicRows", "y", basicLaunch(rows), p, numbers*int64(e.context.Base().TermBytes()))
}

func (e *deviceBasic) Phases() []Phase {
	return []Phase{{basicPhase, "the whole operation", e.times.Kernels}}
}

// ErrorBound is that of the CPU's basic.
func (e *deviceBasic) ErrorBound(_ int, s exact.Summary) *big.Rat {
	return e.bound(e.problem.Terms(), s)
}

func (e *deviceBasic) Format() Format { return e.deviceFormat() }
