package main

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"mpbench/pkg/comm/commtest"
)

// launcherNet is the network of the cable that launchers use, rankNet that of the one for ranks.
const launcherNet, rankNet = "10.77.0.", "10.78.0."

// twoHosts makes two network namespaces that two virtual cables join, and a program that stands for ssh: it runs its
// arguments in the namespace of an address, with a name of the host of its own. Of the second cable each host gets a
// route to the other of a kind, "" for one that works; with "refused" other namespaces have the other's address there,
// and nothing listens. It skips the test with the reason where that is not allowed.
func twoHosts(t *testing.T, route string) (agent string) {
	t.Helper()
	name := func(host string) string { return fmt.Sprintf("mpbench-%d-%s", os.Getpid(), host) }
	t.Cleanup(func() {
		for _, host := range []string{"a", "b", "c", "d"} {
			_ = exec.Command("ip", "netns", "del", name(host)).Run()
		}
	})
	in := func(host string) string { return "-n " + name(host) + " " }
	var lines []string
	for _, host := range []string{"a", "b", "c", "d"} {
		lines = append(lines, "netns add "+name(host), in(host)+"link set lo up")
	}
	join := func(cable, net, one, two string) {
		lines = append(lines, in(one)+"link add "+cable+" type veth peer name "+cable+" netns "+name(two),
			in(one)+"address add "+net+"1/24 dev "+cable, in(two)+"address add "+net+"2/24 dev "+cable,
			in(one)+"link set "+cable+" up", in(two)+"link set "+cable+" up")
	}
	join("cable0", launcherNet, "a", "b")
	switch route {
	case "refused":
		join("cable1", rankNet, "a", "d")
		join("cable1", rankNet, "c", "b")
	case "":
		join("cable1", rankNet, "a", "b")
	default:
		join("cable1", rankNet, "a", "b")
		lines = append(lines, in("a")+"route add "+route+" "+rankNet+"2", in("b")+"route add "+route+" "+rankNet+"1")
	}
	for _, line := range lines {
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
host=a; [ "$1" = %s2 ] && host=b
shift
exec ip netns exec mpbench-%d-$host unshare -u sh -c "hostname host-$host; $*"
`, launcherNet, os.Getpid())
	if err := os.WriteFile(agent, []byte(script), 0o777); err != nil {
		t.Fatal(err)
	}
	return agent
}

// overHosts returns n ranks over two hosts, as few on one as on the other.
func overHosts(
	t *testing.T, l commtest.Launcher, agent string, n int, environment []string, args ...string,
) *commtest.Run {
	t.Helper()
	program, err := exec.LookPath("mpbench") // orted and hydra_pmi_proxy start it where there is no PATH
	if err != nil {
		t.Fatal(err)
	}
	hosts := fmt.Sprintf("%[1]s1:%[2]d,%[1]s2:%[2]d", launcherNet, (n+1)/2)
	flags := map[string][]string{
		"openmpi": {"--mca", "plm_rsh_agent", agent, "--mca", "oob_tcp_if_include", launcherNet + "0/24", "--mca",
			"btl_tcp_if_include", rankNet + "0/24", "--mca", "btl", "tcp,self", "--mca", "pml", "ob1", "--host", hosts},
		"mpich": {"-launcher", "ssh", "-launcher-exec", agent, "-hosts", hosts},
	}
	r := l.Command(t, n, flags[l.Name], append([]string{program}, args...)...)
	r.Args = append([]string{"sh", agent, launcherNet + "1"}, r.Args...)
	r.Env = append(r.Env, environment...)
	if r.Path, err = exec.LookPath("sh"); err != nil {
		t.Fatal(err)
	}
	return r
}

// TestRanksTwoHosts: the bits of one process over two hosts, and records with the names of both.
func TestRanksTwoHosts(t *testing.T) {
	launchers := commtest.Launchers(t)
	agent := twoHosts(t, "")
	for _, args := range [][]string{
		{"gemv", "-d", "gengemv:cond=1e20", "-m", "deferred,dd", "-n", "31", "-p", "106"},
		{"dot", "-d", "gendot:cond=1e25", "-m", "deferred", "-n", "3001"},
	} {
		args = append(args, "-q", "--runs", "1", "--warmup", "0", "--min-time", "0", "-o")
		single := filepath.Join(t.TempDir(), "single.jsonl")
		output(t, append(args, single)...)
		want := hashes(t, single)
		for _, l := range launchers {
			for _, n := range rankCounts() {
				path := filepath.Join(t.TempDir(), "ranks.jsonl")
				r := overHosts(t, l, agent, n, nil, append(args, path)...)
				if code := r.Code(t); code != 0 {
					t.Errorf("%s -n %d: exit code %d\n%s%s", l.Name, n, code, r.Stdout.String(), r.Stderr.String())
					continue
				}
				if got := hashes(t, path); !maps.Equal(got, want) {
					t.Errorf("%s -n %d: %q, want %q", l.Name, n, got, want)
				}
				run, err := readRun(t.Context(), path)
				if err != nil {
					t.Fatal(err)
				}
				if n == 1 {
					continue
				}
				hosts := run.Records[0].Ranks.Hosts
				slices.Sort(hosts)
				if !slices.Equal(slices.Compact(hosts), []string{"host-a", "host-b"}) {
					t.Errorf("%s -n %d: hosts %v", l.Name, n, hosts)
				}
			}
		}
	}
}

// TestRanksNoConnection: ranks that are refused, or have no route to each other, end all, and no process is left. What
// there is to say the library says, or, where Open MPI leaves them waiting, each rank in a line.
func TestRanksNoConnection(t *testing.T) {
	launchers := commtest.Launchers(t)
	throughCable1 := []string{"UCX_TLS=tcp", "UCX_NET_DEVICES=cable1", "FI_PROVIDER=tcp", "FI_TCP_IFACE=cable1"}
	for route, reason := range map[string]string{"refused": "not reached each other", "unreachable": "No route to host"} {
		t.Run(route, func(t *testing.T) {
			agent := twoHosts(t, route)
			for _, l := range launchers {
				if l.Name == "mpich" {
					reason = "UCX|ucx|unreachable"
				}
				r := overHosts(t, l, agent, 2, throughCable1, "sum", "-d", "uniform01:n=1000", "-m", "deferred", "-q")
				start := time.Now()
				code, text := r.Code(t), r.Stderr.String()
				t.Logf("%s: exit code %d", l.Name, code)
				if took := time.Since(start); took > 15*time.Second || code == 0 || strings.Count(text, "mpbench: ") > 2 ||
					!regexp.MustCompile(reason).MatchString(text) || strings.Contains(text, "goroutine ") {
					t.Errorf("%s: exit code %d after %v\n%s", l.Name, code, took, text)
				}
			}
		})
	}
}
