package check

import (
	"math"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"mpbench/internal/suggest"
	"mpbench/pkg/record"
)

// limitNames are the keys of limits.
var limitNames = []string{"within-bound", "correct-bits", "bits-lost", "rel-error", "ulp", "result-hash", "within", "time"}

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
		if x, ok := number(value); ok {
			l.CorrectBits.Value = x
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
			return "want 16 hexadecimal digits or baseline, have " + strconv.Quote(clip(value)) + " (quote digits that look like a number)"
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
			if t.Slower = (&Number{x, e.key.Line}); !ok || e.value.Kind != yaml.ScalarNode || !strings.HasSuffix(e.value.Value, "%") {
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
