package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mpbench/pkg/comm/commtest"
)

// twoHosts makes two network namespaces that a virtual cable joins, and a program that stands for ssh: it runs its
// arguments in the namespace of an address, with a name of the host of its own. It skips the test with the reason
// where that is not allowed.
func twoHosts(t *testing.T) (agent string) {
	t.Helper()
	name := func(host string) string { return fmt.Sprintf("mpbench-%d-%s", os.Getpid(), host) }
	t.Cleanup(func() {
		for _, host := range []string{"a", "b"} {
			_ = exec.Command("ip", "netns", "del", name(host)).Run()
		}
	})
	cable := fmt.Sprintf("mpb%d", os.Getpid()%100000)
	for _, line := range []string{
		"netns add " + name("a"), "netns add " + name("b"),
		"-n " + name("a") + " link add " + cable + " type veth peer name " + cable + " netns " + name("b"),
		"-n " + name("a") + " address add 10.77.0.1/24 dev " + cable,
		"-n " + name("b") + " address add 10.77.0.2/24 dev " + cable,
		"-n " + name("a") + " link set " + cable + " up", "-n " + name("b") + " link set " + cable + " up",
		"-n " + name("a") + " link set lo up", "-n " + name("b") + " link set lo up",
	} {
		if out, err := exec.Command("ip", strings.Fields(line)...).CombinedOutput(); err != nil {
			t.Skipf("no two hosts here: ip %s: %v %s", line, err, out)
		}
	}
	if out, err := exec.Command("unshare", "-u", "true").CombinedOutput(); err != nil {
		t.Skipf("no host gets a name here: unshare -u: %v %s", err, out)
	}
	agent = filepath.Join(t.TempDir(), "agent")
	script := fmt.Sprintf(`#!/bin/sh
while [ "${1#-}" != "$1" ]; do shift; done
host=a; [ "$1" = 10.77.0.2 ] && host=b
shift
exec ip netns exec mpbench-%d-$host unshare -u sh -c "hostname host-$host; $*"
`, os.Getpid())
	if err := os.WriteFile(agent, []byte(script), 0o777); err != nil {
		t.Fatal(err)
	}
	return agent
}

// TestRanksTwoHosts: the bits of one process over two hosts, and records with the names of both.
func TestRanksTwoHosts(t *testing.T) {
	launchers := commtest.Launchers(t)
	agent := twoHosts(t)
	args := []string{"gemv", "-q", "-d", "gengemv:cond=1e20", "-m", "deferred,dd", "-n", "31", "-p", "106", "--runs", "1",
		"--warmup", "0", "--min-time", "0", "-o"}
	single := filepath.Join(t.TempDir(), "single.jsonl")
	output(t, append(args, single)...)
	want := hashes(t, single)
	program, err := exec.LookPath("mpbench") // orted and hydra_pmi_proxy start it where there is no PATH
	if err != nil {
		t.Fatal(err)
	}
	flags := map[string][]string{
		"openmpi": {"--mca", "plm_rsh_agent", agent, "--mca", "oob_tcp_if_include", "10.77.0.0/24", "--mca",
			"btl_tcp_if_include", "10.77.0.0/24", "--mca", "btl", "tcp,self", "--mca", "pml", "ob1", "--host",
			"10.77.0.1:2,10.77.0.2:1"},
		"mpich": {"-launcher", "ssh", "-launcher-exec", agent, "-hosts", "10.77.0.1:2,10.77.0.2:1"},
	}
	for _, l := range launchers {
		path := filepath.Join(t.TempDir(), "ranks.jsonl")
		r := l.Command(t, 3, flags[l.Name], append(append([]string{program}, args...), path)...)
		r.Args = append([]string{"sh", agent, "10.77.0.1"}, r.Args...)
		if r.Path, err = exec.LookPath("sh"); err != nil {
			t.Fatal(err)
		}
		if code := r.Code(t); code != 0 {
			t.Errorf("%s: exit code %d\n%s%s", l.Name, code, r.Stdout.String(), r.Stderr.String())
			continue
		}
		got := hashes(t, path)
		for c, hash := range want {
			if got[c] != hash {
				t.Errorf("%s: %s is %q, want %q", l.Name, c, got[c], hash)
			}
		}
		run, err := readRun(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		hosts := run.Records[0].Ranks.Hosts
		slices.Sort(hosts)
		if !slices.Equal(slices.Compact(hosts), []string{"host-a", "host-b"}) {
			t.Errorf("%s: hosts %v", l.Name, hosts)
		}
	}
}
