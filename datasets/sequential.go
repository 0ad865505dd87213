package datasets

import (
	"io"
	"sync"
)

// sequence is numbers that are read one after the other.
type sequence interface {
	next(x []float64) error
	io.Closer
}

// sequential is the n numbers of a file that can only be read from the first to the last, or from some places on: runs
// in ascending order are read once, a run before the last one makes it begin again.
type sequential struct {
	n int
	io.Closer
	open func(from int) (s sequence, at int, err error) // at a place at <= from

	mutex   sync.Mutex
	current sequence // nil before the first run
	at      int      // the number that comes next
}

func (s *sequential) readRun(x []float64, from int) error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.current == nil || from != s.at {
		if err := s.seek(from); err != nil {
			return err
		}
	}
	s.at += len(x)
	err := s.current.next(x)
	if err != nil || s.at == s.n {
		s.stop()
	}
	return err
}

// seek makes number from the next one.
func (s *sequential) seek(from int) (err error) {
	if s.current == nil || from < s.at {
		s.stop()
		if s.current, s.at, err = s.open(from); err != nil {
			s.current = nil
			return err
		}
	}
	var skipped [1 << 12]float64
	for err == nil && s.at < from {
		n := min(len(skipped), from-s.at)
		err = s.current.next(skipped[:n])
		s.at += n
	}
	return err
}

func (s *sequential) stop() {
	if s.current != nil {
		s.current.Close() // of a file that is only read
		s.current = nil
	}
}

// Close closes what is open.
func (s *sequential) Close() error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.stop()
	return s.Closer.Close()
}
