package comm

import (
	"bytes"
	"context"
	"sync"
)

// hub is where ranks that are goroutines of one process meet.
type hub struct {
	size    int
	mutex   sync.Mutex
	waiting int
	round   chan struct{} // closed when all have come
	slots   [][]byte      // what each rank shows the others
	aborted chan struct{}
	abort   sync.Once
}

type goroutine struct {
	*hub
	rank int
}

// Goroutines returns the communicators of n ranks in this process.
func Goroutines(n int) []Communicator {
	h := &hub{size: n, slots: make([][]byte, n), round: make(chan struct{}), aborted: make(chan struct{})}
	ranks := make([]Communicator, n)
	for i := range ranks {
		ranks[i] = &goroutine{h, i}
	}
	return ranks
}

func (g *goroutine) Rank() int       { return g.rank }
func (g *goroutine) Size() int       { return g.size }
func (g *goroutine) Library() string { return "" }
func (g *goroutine) Hosts() []string { return make([]string, g.size) }
func (g *goroutine) Abort(int)       { g.abort.Do(func() { close(g.aborted) }) }

func (g *goroutine) Close(ctx context.Context) error { return g.Barrier(ctx) }

func (g *goroutine) Barrier(ctx context.Context) error {
	g.mutex.Lock()
	round := g.round
	if g.waiting++; g.waiting == g.size {
		g.waiting, g.round = 0, make(chan struct{})
		close(round)
	}
	g.mutex.Unlock()
	select {
	case <-round:
		return nil
	case <-g.aborted:
		return ErrAborted
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// exchange shows data to all ranks, which look at those of the others between two barriers.
func (g *goroutine) exchange(ctx context.Context, data []byte, look func()) error {
	g.slots[g.rank] = data
	err := g.Barrier(ctx)
	if err == nil {
		look()
		err = g.Barrier(ctx)
	}
	return err
}

func (g *goroutine) Broadcast(ctx context.Context, data []byte, root int) (got []byte, err error) {
	err = g.exchange(ctx, data, func() { got = bytes.Clone(g.slots[root]) })
	return got, err
}

func (g *goroutine) Gather(ctx context.Context, data []byte, root int) (all [][]byte, err error) {
	err = g.exchange(ctx, data, func() {
		for _, part := range g.slots {
			if g.rank == root {
				all = append(all, bytes.Clone(part))
			}
		}
	})
	return all, err
}
