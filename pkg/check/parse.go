package check

import (
	"fmt"
	"io"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"mpbench/internal/suggest"
	"mpbench/pkg/op"
	"mpbench/pkg/record"
)

// maxPlanBytes bounds a plan: it is written by hand.
const maxPlanBytes = 1 << 20

// Parse reads a plan in YAML or JSON, which is a part of YAML. path is what errors name and what relative paths in the
// plan are relative to. Keys of a check that the plan itself does not know are settings of its command; they are
// checked by those who know the command. Every error is an *Error with file, line and key.
func Parse(r io.Reader, path string) (*Plan, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxPlanBytes+1))
	if err != nil {
		return nil, &Error{Path: path, Text: err.Error()}
	}
	if len(text) > maxPlanBytes {
		return nil, &Error{Path: path, Text: fmt.Sprintf("has more than %d bytes; want a plan", maxPlanBytes)}
	}
	var root yaml.Node
	if err := yaml.Unmarshal(text, &root); err != nil {
		return nil, syntaxError(path, err)
	}
	p := parser{path: path}
	if len(root.Content) == 0 {
		return nil, p.errorf(nil, "", "is empty; want a plan with schema: %s and checks:", Schema)
	}
	return p.plan(root.Content[0])
}

var yamlLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?`)

// syntaxError puts the line that the YAML library names where an editor looks for it.
func syntaxError(path string, err error) error {
	text := err.Error()
	e := &Error{Path: path, Text: "no valid YAML: " + yamlLine.ReplaceAllString(text, "")}
	if m := yamlLine.FindStringSubmatch(text); m != nil {
		e.Line, _ = strconv.Atoi(m[1])
	}
	return e
}

// parser turns nodes into a plan.
type parser struct{ path string }

func (p *parser) errorf(n *yaml.Node, key, format string, args ...any) error {
	e := &Error{Path: p.path, Key: key, Text: fmt.Sprintf(format, args...)}
	if n != nil {
		e.Line = n.Line
	}
	return e
}

type entry struct {
	name  string
	key   *yaml.Node
	value *yaml.Node
}

// entries returns the keys of a mapping in order; each occurs once.
func (p *parser) entries(n *yaml.Node, key string) ([]entry, error) {
	n = resolve(n)
	if n.Kind != yaml.MappingNode {
		return nil, p.errorf(n, key, "want keys with values, have %s", kind(n))
	}
	var list []entry
	seen := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k := resolve(n.Content[i])
		if k.Kind != yaml.ScalarNode {
			return nil, p.errorf(k, key, "want a key, have %s", kind(k))
		}
		if line, twice := seen[k.Value]; twice {
			return nil, p.errorf(k, k.Value, "the key stands in line %d already", line)
		}
		seen[k.Value] = k.Line
		list = append(list, entry{k.Value, k, resolve(n.Content[i+1])})
	}
	return list, nil
}

func resolve(n *yaml.Node) *yaml.Node {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return n
}

func kind(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.MappingNode:
		return "keys with values"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case n.Tag == "!!null":
		return "nothing"
	}
	return strconv.Quote(clip(n.Value))
}

func clip(text string) string {
	if len(text) > 40 {
		return text[:37] + "..."
	}
	return text
}

func (p *parser) plan(n *yaml.Node) (*Plan, error) {
	list, err := p.entries(n, "")
	if err != nil {
		return nil, err
	}
	plan := &Plan{Path: p.path, Baseline: DefaultBaseline(p.path)}
	hasSchema := false
	var limits Limits
	var checks *yaml.Node
	for _, e := range list {
		switch e.name {
		case "schema":
			hasSchema = true
			if e.value.Value != Schema {
				return nil, p.errorf(e.key, "schema", "%s is not known; want %s", kind(e.value), Schema)
			}
		case "baseline":
			var path string
			if path, err = p.text(e); err == nil {
				plan.Baseline = p.relative(path)
			}
		case "limits":
			err = p.limits(e, &limits)
		case "checks":
			checks = e.value
		default:
			keys := []string{"schema", "baseline", "limits", "checks"}
			err = p.errorf(e.key, e.name, "%s", suggest.Unknown("key", e.name, keys))
		}
		if err != nil {
			return nil, err
		}
	}
	if !hasSchema {
		return nil, p.errorf(n, "schema", "missing; want schema: %s", Schema)
	}
	if checks == nil || checks.Kind != yaml.SequenceNode || len(checks.Content) == 0 {
		return nil, p.errorf(n, "checks", "want a list of checks")
	}
	if err := p.checks(plan, checks, limits); err != nil {
		return nil, err
	}
	return plan, nil
}

// checks reads the checks, whose limits are the given ones but for their own.
func (p *parser) checks(plan *Plan, list *yaml.Node, limits Limits) error {
	names := map[string]int{}
	for i, n := range list.Content {
		c := Check{Name: fmt.Sprintf("check %d", i+1), Line: n.Line, Limits: limits}
		if err := p.check(resolve(n), &c); err != nil {
			return err
		}
		if line, twice := names[c.Name]; twice {
			return p.errorf(n, "name", "%q is the name of the check in line %d already", c.Name, line)
		}
		names[c.Name] = c.Line
		plan.Checks = append(plan.Checks, c)
	}
	return nil
}

// Commands are the commands that a check can run: the operations.
var Commands = op.Names()

func (p *parser) check(n *yaml.Node, c *Check) error {
	list, err := p.entries(n, "")
	if err != nil {
		return err
	}
	for _, e := range list {
		switch e.name {
		case "name":
			c.Name, err = p.text(e)
		case "command":
			c.Command = e.value.Value
			if !slices.Contains(Commands, c.Command) {
				err = p.errorf(e.key, "command", "%s", suggest.Unknown("command", c.Command, Commands))
			}
		case "scan":
			c.Scans, err = p.scans(e)
		case "values":
			c.Values, err = p.setting(e)
			c.Values.Value = p.relative(c.Values.Value)
		case "against":
			c.Against, err = p.setting(e)
			c.Against.Value = p.against(c.Against.Value)
		case "limits":
			err = p.limits(e, &c.Limits)
		case "input":
			err = p.inputs(e, c)
		default:
			var s Setting
			s, err = p.setting(e)
			c.Settings = append(c.Settings, s)
		}
		if err != nil {
			return err
		}
	}
	return p.complete(n, c)
}

// complete finds what is missing in a check, and what does not go together.
func (p *parser) complete(n *yaml.Node, c *Check) error {
	values := c.Values.Value != "" || c.Against.Value != ""
	switch {
	case !values && c.Command == "":
		return p.errorf(n, "command", "missing; want one of %s, or values: and against:", strings.Join(Commands, ", "))
	case values && c.Command != "":
		return p.errorf(n, "values", "a check has either a command or values of its own")
	case values && c.Against.Value == "":
		return p.errorf(n, "against", "missing; want what the values are results of, as sum:input.npy")
	case values && c.Values.Value == "":
		return p.errorf(n, "values", "missing; want the file of the results")
	case values && c.Limits.Time != nil:
		return p.errorf(n, "time", "values from a file have no time")
	case !values && c.Limits.WithinMethod != nil:
		return p.errorf(n, "within", "is for values; the methods of a command have bounds of their own: within-bound")
	case values && c.Limits == (Limits{}):
		return p.errorf(n, "limits", "missing; values without limits cannot fail")
	}
	if text := c.Limits.Contradiction(); text != "" {
		return p.errorf(n, "limits", "%s", text)
	}
	if !values {
		for i, s := range c.Settings {
			if strings.HasPrefix(s.Key, "input") {
				c.Settings[i].Value = p.relative(s.Value)
			}
		}
		return nil
	}
	for _, s := range c.Settings {
		switch s.Key {
		case "reading":
			c.Reading = s
		case "transpose":
			var err error
			if c.Transpose, err = strconv.ParseBool(s.Value); err != nil {
				return &Error{Path: p.path, Line: s.Line, Key: s.Key, Text: "want true or false, have " + strconv.Quote(s.Value)}
			}
		case "alpha", "beta":
			c.Factors = append(c.Factors, s)
		default:
			keys := []string{"name", "values", "against", "reading", "transpose", "alpha", "beta", "limits"}
			return &Error{Path: p.path, Line: s.Line, Key: s.Key, Text: suggest.Unknown("key", s.Key, keys)}
		}
	}
	return nil
}

// relative makes a path in the plan one of the working directory.
func (p *parser) relative(path string) string {
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(filepath.Dir(p.path), path)
}

// against makes the files in "sum:a.npy" or "dot:x.npy,y.npy" relative to the plan; data sets stay.
func (p *parser) against(text string) string {
	command, list, ok := strings.Cut(text, ":")
	if !ok {
		return text
	}
	files := strings.Split(list, ",")
	for i, f := range files {
		if IsFile(f) {
			files[i] = p.relative(f)
		}
	}
	return command + ":" + strings.Join(files, ",")
}

// IsFile tells a file from a data set in an against: it has a slash or an ending that is read, perhaps with a part.
func IsFile(text string) bool { return strings.ContainsAny(text, `/\`) || fileEnding.MatchString(text) }

var fileEnding = regexp.MustCompile(`(?i)\.(npy|txt|(npz|csv)(:.*)?)$`)

// text returns a value that is one text.
func (p *parser) text(e entry) (string, error) {
	if e.value.Kind != yaml.ScalarNode || e.value.Value == "" {
		return "", p.errorf(e.key, e.name, "want a text, have %s", kind(e.value))
	}
	return e.value.Value, nil
}

// setting returns a value as it stands on the command line: a list with commas.
func (p *parser) setting(e entry) (Setting, error) {
	s := Setting{e.name, e.value.Value, e.key.Line}
	switch {
	case e.value.Kind == yaml.SequenceNode:
		var items []string
		for _, item := range e.value.Content {
			if item = resolve(item); item.Kind != yaml.ScalarNode {
				return s, p.errorf(item, e.name, "want a list of texts or numbers, have %s in it", kind(item))
			}
			items = append(items, item.Value)
		}
		s.Value = strings.Join(items, ",")
	case e.value.Kind != yaml.ScalarNode || e.value.Tag == "!!null":
		return s, p.errorf(e.key, e.name, "want a text, a number or a list, have %s", kind(e.value))
	}
	if s.Value == "" {
		return s, p.errorf(e.key, e.name, "is empty")
	}
	return s, nil
}

// items are the parts of a list, or the one value.
func (e entry) items() []*yaml.Node {
	if e.value.Kind == yaml.SequenceNode {
		return e.value.Content
	}
	return []*yaml.Node{e.value}
}

// inputs reads one file or a list of them, each a setting of its own.
func (p *parser) inputs(e entry, c *Check) error {
	for _, n := range e.items() {
		path, err := p.text(entry{e.name, e.key, resolve(n)})
		if err != nil {
			return err
		}
		c.Settings = append(c.Settings, Setting{e.name, path, e.key.Line})
	}
	return nil
}

// scans reads one scan, or a list of them.
func (p *parser) scans(e entry) ([]Setting, error) {
	var list []Setting
	for _, n := range e.items() {
		n = resolve(n)
		if n.Kind != yaml.ScalarNode {
			return nil, p.errorf(n, e.name, "want name=values, as cond=1e5..1e20:x1e5, or a list of that")
		}
		list = append(list, Setting{"scan", n.Value, n.Line})
	}
	return list, nil
}

var limitNames = []string{"within-bound", "correct-bits", "bits-lost", "rel-error", "ulp", "result-hash", "within",
	"time"}

// limits reads limits over those that are there.
func (p *parser) limits(e entry, l *Limits) error {
	list, err := p.entries(e.value, e.name)
	if err != nil {
		return err
	}
	for _, e := range list {
		if e.name == "time" {
			l.Time, err = p.timeLimit(e)
		} else if e.value.Kind != yaml.ScalarNode {
			err = p.errorf(e.key, e.name, "want one value, have %s", kind(e.value))
		} else if text := l.Set(e.name, e.value.Value, e.key.Line); text != "" {
			err = p.errorf(e.key, e.name, "%s", text)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// maxBits is the greatest number of correct bits that can be asked for.
const maxBits = 1 << 16

// Contradiction says which limits exclude each other, "" if none do.
func (l Limits) Contradiction() string {
	if l.WithinBound != nil && !l.WithinBound.Value && l.WithinMethod != nil {
		return "within-bound: false and within: " + l.WithinMethod.Value + " exclude each other"
	}
	return ""
}

var hashPattern = regexp.MustCompile(`^[0-9a-f]{16}$`)

// Set sets the limit of a name, which is none of time. It returns what is wrong, or "".
func (l *Limits) Set(name, value string, line int) string {
	switch name {
	case "within-bound":
		b, err := strconv.ParseBool(value)
		if err != nil {
			return "want true or false, have " + strconv.Quote(clip(value))
		}
		l.WithinBound = &Flag{b, line}
	case "correct-bits":
		l.CorrectBits = &CorrectBits{Number{0, line}, value == "exact"}
		if x, ok := number(value); ok && x <= maxBits {
			l.CorrectBits.Value = x
		} else if ok {
			return fmt.Sprintf("no method has more than %d bits; want fewer, or exact, have %s", maxBits, clip(value))
		} else if value != "exact" {
			return "want a number of bits or exact, have " + strconv.Quote(clip(value))
		}
	case "bits-lost", "ulp":
		x, ok := number(value)
		if !ok {
			return "want a number of at least 0, have " + strconv.Quote(clip(value))
		}
		if name == "ulp" {
			l.ULP = &Number{x, line}
		} else {
			l.BitsLost = &Number{x, line}
		}
	case "rel-error":
		if d, err := record.ParseDecimal(value); err != nil || !d.IsFinite() || d.Neg {
			return "want a number of at least 0, as 1e-30, have " + strconv.Quote(clip(value))
		}
		l.RelError = &Text{value, line}
	case "result-hash":
		if value != FromBaseline && !hashPattern.MatchString(value) {
			return "want 16 hexadecimal digits or baseline, have " + strconv.Quote(clip(value)) +
				" (quote digits that look like a number)"
		}
		l.ResultHash = &Text{value, line}
	case "within":
		l.WithinMethod = &Text{value, line}
	default:
		return suggest.Unknown("limit", name, limitNames)
	}
	return ""
}

// number reads a finite number of at least 0.
func number(text string) (float64, bool) {
	x, err := strconv.ParseFloat(text, 64)
	return x, err == nil && x >= 0 && !math.IsInf(x, 0)
}

var timeNames = []string{"relative-to", "at-most", "slower"}

func (p *parser) timeLimit(e entry) (*TimeLimit, error) {
	list, err := p.entries(e.value, e.name)
	if err != nil {
		return nil, err
	}
	t := &TimeLimit{}
	for _, e := range list {
		switch e.name {
		case "relative-to":
			t.RelativeTo.Line = e.key.Line
			t.RelativeTo.Value, err = p.text(e)
		case "at-most":
			x, ok := number(e.value.Value)
			if t.AtMost = (&Number{x, e.key.Line}); !ok || x == 0 || e.value.Kind != yaml.ScalarNode {
				err = p.errorf(e.key, e.name, "want a ratio above 0, as 1.5, have %s", kind(e.value))
			}
		case "slower":
			x, ok := number(strings.TrimRight(strings.TrimSuffix(e.value.Value, "%"), " "))
			percent := e.value.Kind == yaml.ScalarNode && strings.HasSuffix(e.value.Value, "%")
			if t.Slower = (&Number{x, e.key.Line}); !ok || !percent {
				err = p.errorf(e.key, e.name, "want how much slower than in the baseline, as 15%%, have %s", kind(e.value))
			}
		default:
			err = p.errorf(e.key, e.name, "%s", suggest.Unknown("key", e.name, timeNames))
		}
		if err != nil {
			return nil, err
		}
	}
	if t.RelativeTo.Value == "" {
		return nil, p.errorf(e.key, "relative-to", "missing; want the method to compare times with")
	}
	if t.AtMost == nil && t.Slower == nil {
		return nil, p.errorf(e.key, "time", "want at-most: a ratio, or slower: a percentage, as 15%%")
	}
	return t, nil
}
