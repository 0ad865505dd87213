// Package method is the contract between what computes and everything that measures, tests, advises or prints: a
// [Method] is a row of a table, an [Engine] is a method made ready for one problem, a [Catalog] is the table.
//
// The package links no method and no device. The catalog of all methods is made in package methods.
package method

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"mpbench/pkg/bound"
	"mpbench/pkg/device"
	"mpbench/pkg/op"
)

// New makes an Engine.
type New func(Config) (Engine, error)

// Method is one row of the table: an algorithm for an operation in a number format.
type Method struct {
	Operation *op.Operation
	Name      string
	Summary   string // one line
	Format    string
	Bits      int    // precision of a fixed format, 0 when the user chooses it between Least and Most
	Number    string // how a number is stored: "2 x 8 bytes"; "" where nothing is known
	Least     int
	Most      int
	Bound     bound.Bound
	Options   []Option
	Threads   bool   // uses Config.Threads
	Merges    bool   // its engines are Mergers
	Exact     bool   // its engines are Exact
	Extra     bool   // run only where it is named
	Advised   bool   // considered where a method is looked for, though it is Extra
	Group     string // a name for it and others together, "" for none
	// Available returns an error that wraps ErrUnavailable, and says what is missing, if the method cannot run on this
	// computer; nil where it always can.
	Available func() error
	On        map[device.Kind]New
	Streams   []device.Kind // on which it works on arrays that are not in its memory, see Config.Stream
}

// Option is a choice that a method offers: a flag of commands, a part of what tells one case from another.
type Option struct {
	Name, Default, Usage string
	Values               []string // that there are; nil for integers
	Least, Most          int      // of integers
	PowerOfTwo           bool     // of integers
	On                   []device.Kind
	Neutral              bool // never changes a result
}

// Check returns an error that says what is wanted instead of a value.
func (o Option) Check(value string) error {
	if o.Values != nil {
		if !slices.Contains(o.Values, value) {
			return fmt.Errorf("want %s", list(o.Values, "or"))
		}
		return nil
	}
	n, err := strconv.Atoi(value)
	if err == nil && o.Least <= n && n <= o.Most && (!o.PowerOfTwo || n&(n-1) == 0) {
		return nil
	}
	what := "an integer"
	if o.PowerOfTwo {
		what = "a power of two"
	}
	return fmt.Errorf("want %s from %d to %d", what, o.Least, o.Most)
}

// list joins names by commas and a word.
func list(names []string, word string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " " + word + " " + names[last]
}

// Error is an error about a choice that a method cannot work with.
type Error struct{ Method, Text string }

func (e *Error) Error() string { return e.Method + ": " + e.Text }

// Errorf returns an *Error.
func (m Method) Errorf(format string, args ...any) error {
	return &Error{m.Name, fmt.Sprintf(format, args...)}
}

// ErrUnavailable is wrapped by the error of a method whose library or device is missing: left out of "all", an error
// by name.
var ErrUnavailable = errors.New("not available")

// RoundsOnce tells whether the method's error does not depend on the condition of a problem.
func (m Method) RoundsOnce() bool {
	return m.Bound.Proved() && !m.Bound.Uses("S") && !m.Bound.Uses("P")
}

// Accepts returns an *Error if the method cannot work at the precision p. Methods of a fixed format accept any.
func (m Method) Accepts(p int) error {
	if m.Bits == 0 && (p < m.Least || p > m.Most) {
		return m.Errorf("precision %d is outside its range, %d to %d bits", p, m.Least, m.Most)
	}
	return nil
}

// Complete returns the configuration with the method's defaults in place of options that are not there, or an
// *Error about the first choice that the method cannot work with.
func (m Method) Complete(c Config) (Config, error) {
	if err := m.Accepts(c.Precision); err != nil {
		return c, err
	}
	if m.Bits != 0 {
		c.Precision = m.Bits
	}
	if !m.Runs(c.Devices) {
		return c, m.Errorf("does not run on %s; it runs on %s", c.Devices, strings.Join(m.Kinds(), ", "))
	}
	if c.Stream && !slices.Contains(m.Streams, c.Devices.Kind()) {
		return c, m.Errorf("needs all numbers in its memory on %s", c.Devices)
	}
	options := map[string]string{}
	for _, o := range m.Options {
		value, ok := c.Options[o.Name]
		if !ok {
			value = o.Default
		}
		if err := o.Check(value); err != nil {
			return c, m.Errorf("%s %s: %v", o.Name, value, err)
		}
		options[o.Name] = value
	}
	c.Options = options
	return c, nil
}

// New returns an engine for the devices of the configuration: what was written for their kind or, for several devices,
// one engine each that share the problem, where the operation allows it.
func (m Method) New(c Config) (Engine, error) {
	c, err := m.Complete(c)
	if err != nil {
		return nil, err
	}
	if err := m.Missing(); err != nil {
		return nil, err
	}
	if make := m.On[c.Devices.Kind()]; make != nil {
		return make(c)
	}
	return NewShared(m, c)
}

// CheckMemory returns a *MemoryError if the method is known to have too little memory for a problem, of which no
// number is read.
func (m Method) CheckMemory(c Config, p *op.Problem) error {
	e, err := m.New(c.Beside(p))
	if err != nil {
		return err
	}
	if sized, ok := e.(Sized); ok {
		err = sized.CheckMemory(p)
	}
	return errors.Join(err, e.Close())
}

// Missing returns why the method cannot run on this computer; nil if it can.
func (m Method) Missing() error {
	if m.Available == nil {
		return nil
	}
	if err := m.Available(); err != nil {
		return fmt.Errorf("%s: %w", m.Name, err)
	}
	return nil
}

// Runs tells whether New can make an engine for a set of devices.
func (m Method) Runs(s device.Set) bool {
	if m.On[s.Kind()] != nil {
		return true
	}
	return s.Kind() == device.Hybrid && m.shares() && !slices.ContainsFunc(s.Members(), func(d device.Member) bool {
		return m.On[d.Kind] == nil
	})
}

// shares tells whether several devices can work on one problem by this method.
func (m Method) shares() bool { return m.Operation.Split == op.ByRow || m.Merges }

// Kinds returns the kinds of devices that the method runs on.
func (m Method) Kinds() (kinds []string) {
	for _, s := range []device.Set{{}, device.GPU(0), device.Of(device.Member{Kind: device.CPU},
		device.Member{Kind: device.CUDA})} {
		if m.Runs(s) {
			kinds = append(kinds, string(s.Kind()))
		}
	}
	return kinds
}

// Case returns what a result or its time depends on beside the data: what tells one case from another. The
// configuration must be complete.
func (m Method) Case(c Config) string {
	text := m.Operation.Name + " " + m.Name + " " + c.Devices.String()
	if m.Bits == 0 {
		text += " p=" + strconv.Itoa(c.Precision)
	}
	for _, o := range m.Options {
		if o.On == nil || slices.Contains(o.On, c.Devices.Kind()) {
			text += " " + o.Name + "=" + c.Options[o.Name]
		}
	}
	if m.Threads {
		text += " threads=" + strconv.Itoa(c.Threads)
	}
	if c.Stream {
		text += " stream"
	}
	return text
}

// Catalog is a table of methods, in the order in which tables show them.
type Catalog []Method

// where returns the methods that f is true of: a method is large, and most are left out.
func (c Catalog) where(f func(*Method) bool) (list Catalog) {
	for i := range c {
		if f(&c[i]) {
			list = append(list, c[i])
		}
	}
	return list
}

// Of returns the methods of an operation.
func (c Catalog) Of(o *op.Operation) Catalog {
	return c.where(func(m *Method) bool { return m.Operation == o })
}

// Usual returns the methods that are run where none is named.
func (c Catalog) Usual() Catalog {
	return c.where(func(m *Method) bool { return !m.Extra })
}

// Group returns the methods of a group.
func (c Catalog) Group(name string) Catalog {
	return c.where(func(m *Method) bool { return m.Group != "" && m.Group == name })
}

// Present returns the methods that can run on this computer.
func (c Catalog) Present() Catalog {
	return c.where(func(m *Method) bool { return m.Missing() == nil })
}

// Operations returns the operations that have methods, in their order.
func (c Catalog) Operations() []*op.Operation {
	return slices.DeleteFunc(op.All(), func(o *op.Operation) bool { return len(c.Of(o)) == 0 })
}

// Candidates returns the methods that are considered where one is looked for.
func (c Catalog) Candidates() Catalog {
	return c.where(func(m *Method) bool { return !m.Extra || m.Advised })
}

// Lookup returns a method.
func (c Catalog) Lookup(o *op.Operation, name string) (Method, bool) {
	i := c.index(o, name)
	if i < 0 {
		return Method{}, false
	}
	return c[i], true
}

func (c Catalog) index(o *op.Operation, name string) int {
	for i := range c {
		if c[i].Operation == o && c[i].Name == name {
			return i
		}
	}
	return -1
}

// Names returns the names of the methods, each once.
func (c Catalog) Names() (names []string) {
	for _, m := range c {
		if !slices.Contains(names, m.Name) {
			names = append(names, m.Name)
		}
	}
	return names
}

// Implementation is a method on a further kind of device.
type Implementation struct {
	Operation *op.Operation
	Name      string
	New       New
}

// With returns the catalog with an implementation of a method for a further kind of device. It panics if there is no
// such method, or if it has an implementation for the kind.
func (c Catalog) With(o *op.Operation, name string, kind device.Kind, new New) Catalog {
	return c.WithAll(kind, []Implementation{{o, name, new}})
}

// WithAll is With of several methods.
func (c Catalog) WithAll(kind device.Kind, list []Implementation) Catalog {
	c = slices.Clone(c)
	for _, add := range list {
		i := c.index(add.Operation, add.Name)
		if i < 0 || c[i].On[kind] != nil {
			panic(fmt.Sprintf("method: no %s of %s that lacks %s", add.Name, add.Operation.Name, kind))
		}
		on := maps.Clone(c[i].On)
		if on == nil {
			on = map[device.Kind]New{}
		}
		on[kind] = add.New
		c[i].On = on
	}
	return c
}

// Run prepares an engine for a problem and runs it once.
func Run(ctx context.Context, e Engine, p *op.Problem) error {
	if err := e.Prepare(ctx, p); err != nil {
		return err
	}
	return e.Run(ctx)
}
