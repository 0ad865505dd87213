package suggest

import "testing"

func TestEditDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"a", "", 1}, {"", "abc", 3}, {"kitten", "sitting", 3}, {"mcname1", "mcnamee1", 1},
		{"table", "tabel", 1}, {"smu", "spmv", 2}, {"ca", "abc", 3},
		{"abc", "abc", 0}, {"ab", "ba", 1},
	} {
		if got := editDistance(c.a, c.b); got != c.want {
			t.Errorf("%q to %q: %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

func TestUnknown(t *testing.T) {
	known := []string{"reduce1", "reduce2", "n"}
	if near, ok := Nearest("prec", []string{"n", "precision"}); near != "precision" || !ok {
		t.Errorf("prec is near %q", near)
	}
	if near, ok := Nearest("red", known); ok {
		t.Errorf("red is near %s, and other names begin with it", near)
	}
	for name, want := range map[string]string{
		"reduc1":  `unknown method "reduc1" (did you mean reduce1?)`,
		"REDUCE2": `unknown method "REDUCE2" (did you mean reduce2?)`,
		"fft":     `unknown method "fft" (known: reduce1 reduce2 n)`, "x": `unknown method "x" (known: reduce1 reduce2 n)`,
	} {
		if got := Unknown("method", name, known); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
