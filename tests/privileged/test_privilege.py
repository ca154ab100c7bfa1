# SPDX-License-Identifier: MIT
"""
The tracer with only the capabilities it needs, what it tells when one is missing, and what it keeps
once its hooks are attached.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import *

TRACER = os.path.join(os.environ["MAGNET_BUILD"], "kernel-tracer", "magnet-kernel-tracer")
BITS = {"dac_override": 1, "net_admin": 12, "sys_ptrace": 19, "sys_admin": 21, "perfmon": 38, "bpf": 39}
NEEDED = ("bpf", "perfmon", "net_admin")
# before 5.11 BPF takes locked memory
ALSO = ("sys_resource",) if [int(n) for n in os.uname().release.split(".")[:2]] < [5, 11] else ()
NOBODY = 65534


def with_only(capabilities, user=0):
    """The start of a command line that leaves a program these."""
    names = ",".join(["-all", *("+" + c for c in (*capabilities, *ALSO))])
    if user:
        return ["setpriv", "--reuid", str(user), "--regid", str(user), "--clear-groups",
                "--inh-caps", names, "--ambient-caps", names]
    return ["setpriv", "--inh-caps", names, "--bounding-set", names]


def capabilities_of(pid):
    status = dict(line.rstrip("\n").split(":\t", 1) for line in open(f"/proc/{pid}/status") if ":\t" in line)
    bits = int(status["CapEff"], 16)
    check(status["CapPrm"] == status["CapEff"], "what it may use is all it has")
    names = {name for name, bit in BITS.items() if bits >> bit & 1}
    check(not bits & ~sum(1 << bit for bit in BITS.values()), f"it has {sorted(names)} and nothing else")
    return names


def started(start, *options, user=0):
    """Returns a tracer's message when it begins, and the capabilities it has then."""
    with tempfile.TemporaryDirectory() as top:
        os.chmod(top, 0o711)
        os.mkdir(top + "/out")
        os.chown(top + "/out", user, user)
        p = subprocess.Popen([*start, TRACER, "-o", top + "/out/t", "--pid", "1", "--control-fd", "1",
                              *options], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        said = json.loads(p.stdout.readline() or "{}")
        kept = capabilities_of(p.pid) if "ready" in said else None
        stop(p)
        p.stdout.close()
        return said, kept


need_kernel_side()
need_program("setpriv")
if run(*with_only(NEEDED), "true", check=False).returncode:
    skip("setpriv does not know these capabilities")

for user in (0, NOBODY):
    said, kept = started(with_only(NEEDED, user), user=user)
    check("ready" in said, f"user {user} can record with {', '.join(NEEDED)}: {said.get('error')}")
    check(kept == {"bpf", "perfmon", "net_admin"}, f"and keeps {sorted(kept)}")
    failed = [h for h in said["hooks"] if h["status"] and not h["netns"]]
    check(all(h["by"] for h in said["hooks"] if not h["status"]), "each hook tells what it is attached to")
    check(all(h["why"] for h in failed), f"and each of the {len(failed)} that are not, why")

def hook(said, name):
    """The outcome of an event's hooks: which, or why none."""
    of = [h for h in said["hooks"] if h["hook"].startswith(name)]
    check(of, f"{name} is told of")
    return of[0]["why"] if of[0]["status"] else of[0]["by"]


for missing in ("bpf", "perfmon"):
    said, _ = started(with_only([c for c in NEEDED if c != missing]))
    name = "CAP_" + missing.upper()
    check(name in said.get("error", "") and not any(
        "CAP_" + other.upper() in said["error"] for other in NEEDED if other != missing),
        f"without {name} alone: {said.get('error')}")
said, kept = started(with_only(["bpf", "perfmon"]))
check(kept == {"bpf", "perfmon"}, f"without CAP_NET_ADMIN it records: {said.get('error')}")
how = hook(said, "ip_out")
check(how.startswith("fentry") or "CAP_NET_ADMIN" in how or "6.4" in how, f"and IP's hooks are by: {how}")
said, _ = started(with_only([], NOBODY), user=NOBODY)
check(all("CAP_" + c.upper() in said.get("error", "") for c in NEEDED),
      f"without any: {said.get('error')}")

said, kept = started([])
netfilter = any(h["by"].startswith("netfilter") for h in said["hooks"] if not h["status"])
expected = {"bpf", "perfmon", "net_admin"} | ({"sys_admin", "sys_ptrace"} if netfilter else set())
check(kept == expected, f"root's tracer keeps {sorted(kept)}")
said, kept = started([], "--without", "netfilter")
check(kept == {"bpf", "perfmon", "net_admin"}, "and without netfilter's hooks no more than it needs")
how = hook(said, "ip_out")
check(how.startswith("fentry") or "--without netfilter" in how, f"ip_out is by: {how}")

# sudo in one's home, whose directory root's tracer cannot enter once it has given up what it does not need
with tempfile.TemporaryDirectory() as top:
    os.chmod(top, 0o711)
    for mode in (0o700, 0o750):
        home = f"{top}/{mode:o}"
        os.mkdir(home, mode)
        os.chown(home, NOBODY, NOBODY)
        for name, *options in (("whole",), ("parts", "--rotate", "64K"), ("flight", "--flight", "10s")):
            d = f"{home}/{name}"
            p = run(MAGNET, "record", "-o", d, *options, "--", PYTHON, "-c", "import socket\n"
                    "a, b = socket.socketpair()\nfor _ in range(500): a.send(b'x'); b.recv(1)")
            r = json.loads(run(MAGNET, "report", "--json", d).stdout)
            sides = r["session"]["sides"]
            said = [line for line in p.stderr.splitlines() if "not ready yet" not in line]  # on a slow machine
            check(len(said) == 1 and sides["kernel"]["complete"] and sides["app"]["complete"]
                  and r["events"]["kernel"] > 2000, f"root records in a home of mode {mode:o}, {name}: {said}, {r['events']}")

def confined(pid, what):
    """All its threads gain no privilege by a program, and have few system calls."""
    for task in os.listdir(f"/proc/{pid}/task"):
        status = open(f"/proc/{pid}/task/{task}/status").read()
        check("NoNewPrivs:\t1\n" in status and "Seccomp:\t2\n" in status, f"{what}: no new privileges, a filter")


def descriptors(pid):
    found = set()
    for fd in os.listdir(f"/proc/{pid}/fd"):
        try:
            found.add(os.readlink(f"/proc/{pid}/fd/{fd}"))
        except OSError:
            pass
    return found


# Both recorders at work: what is left to them, and what others had open is the program's alone.
with tempfile.TemporaryDirectory() as top, open(top + "/secret", "w") as secret:
    p = subprocess.Popen([MAGNET, "record", "-q", "-o", top + "/t", "--", "sh", "-c", "echo $$; exec sleep 60"],
                         stdout=subprocess.PIPE, text=True, pass_fds=[secret.fileno()])
    program = int(p.stdout.readline())
    children = {}
    for pid in open(f"/proc/{p.pid}/task/{p.pid}/children").read().split():
        children[open(f"/proc/{pid}/comm").read().strip()] = int(pid)
    check(set(children) >= {"magnet", "magnet-kernel-t"}, f"both run: {children}")
    for name, allowed in (("magnet", set()), ("magnet-kernel-t", expected)):
        pid = children[name]
        confined(pid, name)
        check(capabilities_of(pid) == allowed, "no capability is left to the collector" if not allowed else
              "the tracer has those of later commands")
        check(secret.name not in descriptors(pid), f"{name} has no copy of what others have open")
    check(secret.name in descriptors(program), "which the program keeps")
    os.kill(program, 15)
    p.wait(60)
    p.stdout.close()
    check(p.returncode == 143 and json.loads(run(MAGNET, "report", "--json", top + "/t").stdout)
          ["session"]["ended_in_order"], "and both end in order")

    d = top + "/alone"
    p = subprocess.Popen([TRACER, "-o", d, "--", "sh", "-c", "echo $$; exec sleep 60"], stdout=subprocess.PIPE,
                         text=True, pass_fds=[secret.fileno()])
    program = int(p.stdout.readline())
    confined(p.pid, "the tracer alone")
    check(secret.name not in descriptors(p.pid) and secret.name in descriptors(program), "the tracer alone has none either")
    os.kill(program, 15)
    p.wait(60)
    p.stdout.close()

with tempfile.TemporaryDirectory() as top:
    os.mkdir(top + "/target", 0o755)
    os.symlink(top + "/target", top + "/link")
    p = run(MAGNET, "record", "-o", top + "/link", "--", "true", check=False)
    check(p.returncode == 1 and "is a link" in p.stderr and os.stat(top + "/target").st_mode & 0o777 == 0o755
          and not os.listdir(top + "/target"), f"a link is not followed: {p.stderr.strip()}")
    p = run(TRACER, "-o", top + "/link", "--", "true", check=False)
    check(p.returncode == 1 and "is a link" in p.stderr and not os.listdir(top + "/target"),
          f"nor by the tracer alone: {p.stderr.strip()}")
