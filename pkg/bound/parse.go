package bound

import (
	"fmt"
	"math/big"
	"strings"
)

// parser reads sums of products of powers. It panics with a syntaxError.
type parser struct{ text string }

type syntaxError struct{ message string }

func (e syntaxError) Error() string { return e.message }

func fail(format string, args ...any) { panic(syntaxError{fmt.Sprintf(format, args...)}) }

func parse(text string) (n node, err error) {
	defer func() {
		switch e := recover().(type) {
		case nil:
		case syntaxError:
			n, err = nil, e
		default:
			panic(e)
		}
	}()
	p := &parser{text}
	n = p.sum()
	if p.peek() != 0 {
		fail("%q is left over", p.text)
	}
	return n, nil
}

func (p *parser) peek() byte {
	p.text = strings.TrimLeft(p.text, " ")
	if p.text == "" {
		return 0
	}
	return p.text[0]
}

func (p *parser) accept(c byte) bool {
	if p.peek() != c {
		return false
	}
	p.text = p.text[1:]
	return true
}

func (p *parser) want(c byte) {
	if !p.accept(c) {
		fail("%q where %q was expected", p.text, c)
	}
}

func (p *parser) sum() node {
	x := p.product()
	for {
		switch {
		case p.accept('+'):
			x = binary{'+', x, p.product()}
		case p.accept('-'):
			x = binary{'-', x, p.product()}
		default:
			return x
		}
	}
}

func (p *parser) product() node {
	x := p.power()
	for {
		switch c := p.peek(); {
		case p.accept('*'):
			x = binary{'*', x, p.power()}
		case p.accept('/'):
			x = binary{'/', x, p.power()}
		case c == '(' || c == '|' || isLetter(rune(c)): // 3u, 12(n+1)
			x = binary{'*', x, p.power()}
		default:
			return x
		}
	}
}

func (p *parser) power() node {
	x := p.atom()
	if !p.accept('^') {
		return x
	}
	if p.accept('-') {
		return binary{'^', x, binary{'-', number{new(big.Rat)}, p.atom()}}
	}
	return binary{'^', x, p.atom()}
}

func (p *parser) atom() node {
	switch c := p.peek(); {
	case p.accept('('):
		x := p.sum()
		p.want(')')
		return x
	case p.accept('|'):
		return p.magnitude()
	case '0' <= c && c <= '9':
		x, _ := new(big.Rat).SetString(p.take(isDigit))
		return number{x}
	case isLetter(rune(c)):
		return p.named(p.take(func(c rune) bool { return isLetter(c) || isDigit(c) }))
	}
	fail("%q is no formula", p.text)
	return nil
}

// magnitude reads the rest of |s|, |sum|, |x'y| or |y|, which all are the magnitude of the exact result.
func (p *parser) magnitude() node {
	word, rest, ok := strings.Cut(p.text, "|")
	switch word {
	case "s", "sum", "x'y", "y":
	default:
		ok = false
	}
	if !ok {
		fail("|%s is not the magnitude of a result", p.text)
	}
	p.text = rest
	return name("|s|")
}

// named reads what follows a word: the arguments of a function, or nothing for a letter.
func (p *parser) named(word string) node {
	count, isFunction := functions[word]
	switch {
	case word == "log2":
		fail("log2 stands in ceil(log2 x)")
	case isFunction:
		return p.call(word, count)
	case len(word) > 1:
		fail("unknown name %s", word)
	}
	return name(word)
}

func (p *parser) call(function string, count int) node {
	p.want('(')
	c := call{function: function}
	if p.peek(); function == "ceil" && strings.HasPrefix(p.text, "log2") {
		c.function = "log2"
		p.text = p.text[len("log2"):]
	}
	for i := range count {
		if i > 0 {
			p.want(',')
		}
		c.arguments = append(c.arguments, p.sum())
	}
	p.want(')')
	return c
}

func isLetter(c rune) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }
func isDigit(c rune) bool  { return '0' <= c && c <= '9' }

func (p *parser) take(is func(rune) bool) string {
	i := strings.IndexFunc(p.text, func(r rune) bool { return !is(r) })
	if i < 0 {
		i = len(p.text)
	}
	word := p.text[:i]
	p.text = p.text[i:]
	return word
}
