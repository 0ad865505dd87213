package main

import (
	"fmt"
	"math"
	"strconv"
)

// number takes the literals of templates, which are int or float64.
func number(value any) (float64, error) {
	switch v := value.(type) {
	case int:
		return float64(v), nil
	case int64:
		return float64(v), nil
	case float64:
		return v, nil
	}
	return 0, fmt.Errorf("%v is no number", value)
}

// num prints three significant digits, and all digits before the point.
func num(value any) (string, error) {
	v, err := number(value)
	if err != nil || v == 0 {
		return "0", err
	}
	digits := 2 - int(math.Floor(math.Log10(math.Abs(v))))
	return strconv.FormatFloat(v, 'f', max(digits, 0), 64), nil
}

// duration prints nanoseconds in the unit that fits.
func duration(value any) (string, error) {
	ns, err := number(value)
	if err != nil {
		return "", err
	}
	for _, u := range []struct {
		name string
		ns   float64
	}{{"s", 1e9}, {"ms", 1e6}, {"µs", 1e3}} {
		if ns >= u.ns {
			text, err := num(ns / u.ns)
			return text + " " + u.name, err
		}
	}
	text, err := num(ns)
	return text + " ns", err
}

func verdict(value, limit any, met func(value, limit float64) bool) (string, error) {
	a, errA := number(value)
	b, errB := number(limit)
	switch {
	case errA != nil:
		return "", errA
	case errB != nil:
		return "", errB
	case met(a, b):
		return "met", nil
	}
	return "**missed**", nil
}

func operation(f func(a, b float64) float64) func(a, b any) (float64, error) {
	return func(x, y any) (float64, error) {
		a, err := number(x)
		if err != nil {
			return 0, err
		}
		b, err := number(y)
		return f(a, b), err
	}
}

// dict makes a map, which templates go through by its sorted keys.
func dict(pairs ...string) (map[string]string, error) {
	if len(pairs)%2 != 0 {
		return nil, fmt.Errorf("dict: %d keys and values, which is odd", len(pairs))
	}
	m := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i]] = pairs[i+1]
	}
	return m, nil
}
