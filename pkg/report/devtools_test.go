package report

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"
)

// devtools speaks the DevTools protocol with a browser over a pipe: one JSON object after the other, each ended by a
// zero byte.
//
// Protocol: https://chromedevtools.github.io/devtools-protocol/
type devtools struct {
	t       *testing.T
	send    *os.File
	receive *bufio.Reader
	last    int
	session string
}

// open starts the browser with a page.
func (b browser) open(t *testing.T, url string) *devtools {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the browser is not spoken to: Go passes no pipes to programs on Windows")
	}
	commands, send, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	receive, answers, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(b.path, append(b.arguments(t), "--remote-debugging-pipe")...)
	cmd.ExtraFiles = []*os.File{commands, answers} // descriptors 3 and 4
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = commands.Close()
	_ = answers.Close()
	_ = receive.SetReadDeadline(time.Now().Add(time.Minute))
	d := &devtools{t: t, send: send, receive: bufio.NewReader(receive)}
	t.Cleanup(func() { d.close(cmd) })
	var target struct{ TargetID string }
	d.call("Target.createTarget", map[string]any{"url": url}, &target)
	var session struct{ SessionID string }
	d.call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &session)
	d.session = session.SessionID
	return d
}

// close lets the browser end by itself, which leaves nobody to write into its folder, or ends it after a while.
func (d *devtools) close(cmd *exec.Cmd) {
	_, _ = d.send.WriteString(`{"id":0,"method":"Browser.close"}` + "\x00")
	timer := time.AfterFunc(10*time.Second, func() { _ = cmd.Process.Kill() })
	_, _ = io.Copy(io.Discard, d.receive)
	_ = cmd.Wait()
	timer.Stop()
	_ = d.send.Close()
}

// call sends a command and waits for its answer.
func (d *devtools) call(method string, params map[string]any, result any) {
	d.t.Helper()
	d.last++
	message := map[string]any{"id": d.last, "method": method, "params": params}
	if d.session != "" {
		message["sessionId"] = d.session
	}
	text, err := json.Marshal(message)
	if err != nil {
		d.t.Fatal(err)
	}
	if _, err := d.send.Write(append(text, 0)); err != nil {
		d.t.Fatal(err)
	}
	for {
		text, err := d.receive.ReadBytes(0)
		if err != nil {
			d.t.Fatalf("%s: %v", method, err)
		}
		var answer struct {
			ID     int
			Error  *struct{ Message string }
			Result json.RawMessage
		}
		if err := json.Unmarshal(text[:len(text)-1], &answer); err != nil {
			d.t.Fatal(err)
		}
		if answer.ID != d.last { // an event
			continue
		}
		if answer.Error != nil {
			d.t.Fatalf("%s: %s", method, answer.Error.Message)
		}
		if result != nil {
			if err := json.Unmarshal(answer.Result, result); err != nil {
				d.t.Fatal(err)
			}
		}
		return
	}
}

// eval returns the value of an expression as text.
func (d *devtools) eval(expression string) string {
	d.t.Helper()
	var answer struct {
		Result           struct{ Value any }
		ExceptionDetails any
	}
	d.call("Runtime.evaluate", map[string]any{"expression": "String(" + expression + ")"}, &answer)
	if answer.ExceptionDetails != nil {
		d.t.Fatalf("%s: %v", expression, answer.ExceptionDetails)
	}
	text, _ := answer.Result.Value.(string)
	return text
}

// wait waits until an expression is true.
func (d *devtools) wait(expression string) {
	d.t.Helper()
	for range 200 {
		if d.eval(expression) == "true" {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	d.t.Fatalf("%s does not become true", expression)
}

// press presses a key and lets it go, as a keyboard does.
func (d *devtools) press(key string, code int, text string) {
	d.t.Helper()
	for _, kind := range []string{"keyDown", "keyUp"} {
		params := map[string]any{"type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code}
		if text != "" && kind == "keyDown" {
			params["text"] = text
		}
		d.call("Input.dispatchKeyEvent", params, nil)
	}
}

// TestBrowserKeyboard goes to a heading with the tab key and sorts with Enter.
func TestBrowserKeyboard(t *testing.T) {
	t.Parallel()
	url := serve(t, map[string]string{"/": htmlOf(t, sortingRun(), Options{})})
	d := findBrowser(t).open(t, url)
	d.wait(`document.readyState === 'complete' && document.querySelectorAll('th button').length > 0`)
	const focus = `document.activeElement.textContent + ' ' + document.activeElement.tagName`
	for i := 0; d.eval(focus) != "rel. error BUTTON"; i++ {
		if i == 100 {
			t.Fatal("the tab key does not come to the heading")
		}
		d.press("Tab", 9, "")
	}
	const names = `Array.from(document.querySelectorAll('section[aria-labelledby=results] tbody th'))` +
		`.map(function (c) { return c.textContent; }).join(' ')`
	for _, want := range []string{"m1 m2 m3 m4 m10 m8 m5 m9 m6 m7", "m6 m9 m5 m8 m10 m4 m3 m2 m1 m7",
		"m10 m2 m7 m1 m3 m4 m5 m6 m8 m9"} {
		d.press("Enter", 13, "\r")
		if got := d.eval(names); got != want {
			t.Errorf("rows %s, want %s", got, want)
		}
	}
	if focus := d.eval(`document.activeElement.textContent`); !strings.HasPrefix(focus, "rel. error") {
		t.Errorf("the focus moved to %q", focus)
	}
}

// TestBrowserMedia: a dark desktop has a dark page with light text, and paper is white whatever the desktop.
func TestBrowserMedia(t *testing.T) {
	t.Parallel()
	url := serve(t, map[string]string{"/": htmlOf(t, testRun(), Options{})})
	d := findBrowser(t).open(t, url)
	d.wait(`document.readyState === 'complete' && document.querySelector('h1') !== null`)
	for _, c := range []struct{ media, scheme, paper, ink string }{
		{"screen", "light", "rgb(255, 255, 255)", "rgb(28, 28, 28)"},
		{"screen", "dark", "rgb(21, 21, 21)", "rgb(232, 232, 232)"},
		{"print", "dark", "rgb(255, 255, 255)", "rgb(0, 0, 0)"},
	} {
		d.call("Emulation.setEmulatedMedia", map[string]any{"media": c.media,
			"features": []map[string]string{{"name": "prefers-color-scheme", "value": c.scheme}}}, nil)
		got := d.eval(`getComputedStyle(document.body).backgroundColor + ' ' + getComputedStyle(document.body).color`)
		if got != c.paper+" "+c.ink {
			t.Errorf("%s, %s: %s, want %s %s", c.media, c.scheme, got, c.paper, c.ink)
		}
	}
}
