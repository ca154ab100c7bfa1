# SPDX-License-Identifier: MIT
"""
The kernel's own transmit timestamps (--layers timestamps): each send has its times, they agree with the events
of the same bytes at the same places, and they are those that a delayed acknowledgement, a token bucket and a lost
segment make.
"""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import *
from tracer import tracer_of

DROP = sys.argv[1]
PROGRAM = os.path.join(os.path.dirname(__file__), "..", "programs", "timed.py")
PORT = 5640
SIZE, BURST = 60000, 3028  # bytes of a send through a token bucket, and of the bucket
OUTCOMES = ("acknowledged", "acknowledged_later", "merged", "left", "unfinished", "lost")
ALONE, BESIDE = ("-q", "--layers", "timestamps"), ("-q", "--layers", "+timestamps")


def recorded(net, server, client, options, to=None):
    """Returns a recording of both ends, and how often the client says that it has sent."""
    to = to or net.B
    shell = (f"nsenter --net=/run/netns/{net.b} {PYTHON} {PROGRAM} {server[0]} {to} {PORT} {' '.join(server[1:])} "
             f">/dev/null & nsenter --net=/run/netns/{net.a} {PYTHON} {PROGRAM} {client[0]} {to} {PORT} "
             f"{' '.join(client[1:])}; wait")
    rec = Recording("sh", "-c", shell, options=options)
    return rec, int(rec.p.stdout.split()[-1])


def hooks_of(rec):
    """The hooks with their reasons, as the tracer reported them."""
    with open(rec.dir + "/session.json") as f:
        return json.load(f)["kernel_side"]["hooks"]


def facts(rec, *options):
    """Facts of timed sends as dicts of text."""
    said = run(MAGNET, "show", rec.dir, "--facts", "timed_send", *options).stdout.splitlines()
    names = [n.split(":")[0] for n in said[0].split("\t")]
    return [dict(zip(names, row.split("\t"))) for row in said[1:]]


def stages(f):
    return {s["stage"]: s for s in f["timed_sends"]["stages_ns"]}


def all_are_told(rec, n):
    """Each of the client's sends is one fact, and the figures are those of the facts."""
    report = rec.report()
    f = flow(report, "tx", PORT, comm=report["flows"][0]["comm"], bytes=max(x["bytes"] for x in report["flows"]))
    told, rows = f["timed_sends"], facts(rec, "--flow", f["id"])
    check(told["n"] == len(rows) == n, f"{told['n']} timed sends, {len(rows)} facts, {n} calls")
    check(told["n"] == sum(told[k] for k in OUTCOMES), "each has one outcome")
    check(not told["at_least"], "no event of them is missing")
    sums = [(sum(float(r[f"stage_{s}_ns"]) for s in ("send_buffer", "queue", "network")), float(r["total_ns"]))
            for r in rows if r["outcome"] == "acknowledged"]
    check(all(abs(parts - total) <= 1 for parts, total in sums), "the stages of each send sum to its total")
    return f, rows


def times(events, kind, end):
    """Times at which events of a kind have the byte before `end`."""
    return [int(e["time_ns"]) for e in events if e["event"] == kind and e["offset"] and e["length"]
            and int(e["offset"]) < end <= int(e["offset"]) + int(e["length"])]


def beside_the_layers(net, to):
    """A stamp comes between the events of the layers around it, of the same byte."""
    rec, n = recorded(net, ("sink",), ("apart", "40", "3000", "0.002"), BESIDE, to)
    with rec:
        f, rows = all_are_told(rec, n)
        check(f["timed_sends"]["acknowledged"] == n, "all are acknowledged")
        events = list(rec.events("--flow", f["id"]))
        seen, apart = 0, []
        for row in rows:
            sent, end = int(row["begin_ns"]), int(row["end"])
            queue = sent + float(row["stage_send_buffer_ns"])
            driver = queue + float(row["stage_queue_ns"])
            around = {k: times(events, k, end) for k in ("ip_post", "dev_queue", "dev_xmit", "dev_done")}
            if not all(around.values()):
                continue  # a hook was not run there: some machines do that
            seen += 1
            # both are of the same instant to a nanosecond or two, which rounding takes
            if not (sent <= around["ip_post"][0] and around["ip_post"][0] <= queue + 2
                    and queue <= around["dev_queue"][0] + 2 and around["dev_xmit"][0] <= driver + 2
                    and driver <= around["dev_done"][0] + 2):
                apart.append((end, sent, queue, driver, around))
        check(not apart, f"each stamp lies between the events around it, but for {apart[:2]}")
        check(seen > n / 2, f"{seen} of {n} sends have the events of the layers around them")
        check("Latency by stage" in rec.text() and "by the kernel's timestamps" in rec.text(), "the text has both")


def delayed_acknowledgement(net):
    """The second send of a request waits for the acknowledgement of the first, which the peer delays."""
    rec, n = recorded(net, ("answer",), ("split", "12"), ALONE)
    with rec:
        f, rows = all_are_told(rec, n)
        late = 0
        for first, second in zip(rows[::2], rows[1::2]):
            waited = float(second["stage_send_buffer_ns"])
            acked = int(first["begin_ns"]) + float(first["total_ns"])
            if waited > 20e6:
                late += 1
                left = int(second["begin_ns"]) + waited
                check(0 <= left - acked < 1e6, f"a send waited {waited / 1e6:.1f} ms, and left {left - acked:.0f} ns "
                      "after the one before was acknowledged")
        check(late >= 3, f"{late} of {n // 2} sends waited for a delayed acknowledgement")
        figure = stages(f)["send_buffer"]
        near(figure["max"], max(float(r["stage_send_buffer_ns"]) for r in rows), 0.001, "the longest wait")
        near(figure["mean"], sum(float(r["stage_send_buffer_ns"]) for r in rows) / n, 0.001, "the mean wait")


def at_rate(mbit):
    """Returns a recording of six sends through a token bucket, and how often the client says that it has sent."""
    with Network(rate=f"{mbit}mbit", burst=str(BURST), gso_max_segs=1) as net:
        run(*net.inside(net.a, "sysctl", "-qw", "net.ipv4.tcp_congestion_control=reno"))
        return recorded(net, ("sink",), ("apart", "6", str(SIZE), "0.2"), ALONE)


def token_bucket(mbit, rec, sends):
    """Each send takes as long to leave as the bucket has it take, and its acknowledgement comes soon after."""
    f, rows = all_are_told(rec, sends)
    frames = -(-SIZE // 1448)
    ideal = ((SIZE + frames * 66) * 8 - BURST * 8) / mbit * 1e3
    times = sorted(float(r["stage_send_buffer_ns"]) + float(r["stage_queue_ns"]) for r in rows[1:])
    # where it takes long to copy the bytes of a call, the first leave before it has the last
    near(times[len(times) // 2], ideal, 0.03 if SLOWER == 1 else 0.1, f"until the last byte of {SIZE} left at {mbit} Mbit/s, ns")
    check(stages(f)["network"]["p50"] < 0.1 * ideal, "and little time after that")
    return stages(f)


def both_rates():
    """Two recordings beside each other: the comparison has the means of both reports."""
    fast, sends = at_rate(8)
    with fast:
        before = token_bucket(8, fast, sends)
        slow, sends = at_rate(3)
        with slow:
            now = token_bucket(3, slow, sends)
            p = run(MAGNET, "report", "--json", slow.dir, "--against", fast.dir)
            check(re.search(rf"\nSummary: sends to {Network.B}:{PORT} were acknowledged after (at most )?[\d.]+ ms on "
                            r"average.\n\d+ % of their time: (send buffer|queue \(qdisc\)).\n→ ", slow.text()),
                  "the report begins with the stage that took longest")
            told = {f["stage"]: f for f in json.loads(p.stdout)["comparison"]["figures"] if f["figure"] == "timed_sends"}
            whole = [f for f in json.loads(p.stdout)["comparison"]["figures"] if f["figure"] == "timed_sends_at_most"]
    check(set(told) == {"send_buffer", "queue", "network"} and len(whole) == 1, f"all stages are compared: {set(told)}")
    told["at_most"] = whole[0]
    for stage, f in told.items():
        near(f["before"], before[stage]["mean"], 0.001, f"{stage} before")
        near(f["now"], now[stage]["mean"], 0.001, f"{stage} now")


def merged(net):
    """Small sends that wait for an acknowledgement leave together: one of them has the timestamps."""
    rec, n = recorded(net, ("sink",), ("burst", "300", "20"), ALONE)
    with rec:
        f, _ = all_are_told(rec, n)
        told = f["timed_sends"]
        check(told["merged"] > 0 and told["acknowledged"] > 1, f"{told['merged']} of {n} sends left with a later one")
        check(f"{told['merged']:,} merged into a later send's segment" in rec.text(), "which the text says")
        check(stages(f)["at_most"]["n"] == told["acknowledged"] + told["acknowledged_later"] + told["merged"],
              "it is known how long they took at most")
        check(stages(f)["at_most"]["mean"] > stages(f)["total"]["mean"], "which is longer, as they waited for the others")
        run(MAGNET, "report", "--html", rec.top + "/page.html", rec.dir)
        with open(rec.top + "/page.html") as page:
            check("network, until the ACK" in page.read(), "and the page has the stages")


def flood(net):
    """Where a send takes less than asked, its bytes may be on their way already: no time is known of these."""
    rec, n = recorded(net, ("sink",), ("flood", "80"), ALONE)
    with rec:
        f, _ = all_are_told(rec, n)
        told = f["timed_sends"]
        check(told["left"] > 0, f"{told['left']} of {n} sends had left before the call ended")
        check(stages(f)["total"]["n"] == told["acknowledged"], "and have no part in the total")


def lost_segment(net):
    """A segment that is sent again comes to the queue again: its send is told as such."""
    run("tc", "-n", net.b, "qdisc", "add", "dev", net.b, "clsact")
    p = run("tc", "-n", net.b, "filter", "add", "dev", net.b, "ingress", "bpf", "da", "obj", DROP, "sec",
            "tc/every13", check=False)
    if p.returncode:
        skip("tc cannot load a BPF program: " + p.stderr.strip())
    rec, n = recorded(net, ("sink",), ("apart", "60", "1448", "0.002"), ALONE)
    with rec:
        f, rows = all_are_told(rec, n)
        again = [r for r in rows if int(r["queued"] or 0) > 1]
        check(f["timed_sends"]["unfinished"] == 0, "each is known to be acknowledged")
        check(len(again) == f["timed_sends"]["queued_again"] > 0, f"{len(again)} sends came to the queue again")
        check(max(float(r["total_ns"] or 0) for r in again) > 1.5 * stages(f)["total"]["p50"], "and took longer")


def stacked():
    """A bridge and the device below it have a queue each: the sends have all stages, and none is sent again."""
    with Network() as net:
        if run("ip", "-n", net.a, "link", "add", "bridge9", "type", "bridge", check=False).returncode:
            print("not tried: this kernel has no bridges")
            return
        run("ip", "-n", net.a, "link", "set", net.a, "master", "bridge9")
        run("ip", "-n", net.a, "link", "set", "bridge9", "up")
        run("ip", "-n", net.a, "addr", "add", "10.78.0.1/24", "dev", "bridge9")
        run("ip", "-n", net.b, "addr", "add", "10.78.0.2/24", "dev", net.b)
        rec, n = recorded(net, ("sink",), ("apart", "6", "1000", "0.02"), ALONE, to="10.78.0.2")
        with rec:
            queues = [e["event"] for e in rec.events()].count("stamp_queue")
            check(queues >= 2 * n, f"{queues} times a segment of {n} sends came to a queue")
            f, _ = all_are_told(rec, n)
            check(f["timed_sends"]["queued_again"] == 0, "none was sent again")
            check({stages(f)[s]["n"] for s in ("send_buffer", "queue", "network")} == {n}, "all have their stages")


def sampled(net):
    """Nothing is recorded of connections that the sample leaves out."""
    n = 60
    rec, sends = recorded(net, ("sink", str(n)), ("many", str(n)), (*ALONE, "--sample", "4"))
    with rec:
        flows = [f for f in rec.report()["flows"] if f["direction"] == "tx" and f["timed_sends"]]
        check(0 < len(flows) < n / 2, f"{len(flows)} of {n} connections are recorded")
        check(all(f["timed_sends"]["n"] == 2 for f in flows), "with both sends each")
        check({e["flow"].split("/")[0] for e in rec.events() if e["event"].startswith("stamp_")}
              == {f["id"].split("/")[0] for f in flows}, "and no event of another one")


def running(net, whom, client_role, late=""):
    """
    A server that listens before, and with the role `later` has a connection before; with `late`, that is what
    is set to choose it, while the recording runs.
    """
    server = net.popen(net.b, PYTHON, PROGRAM, "answer", net.B, str(PORT), stdout=subprocess.PIPE)
    other = net.popen(net.b, PYTHON, PROGRAM, "answer", net.B, str(PORT + 1), stdout=subprocess.PIPE)
    clients = []
    try:
        for one, port in ((server, PORT), (other, PORT + 1)):
            one.stdout.readline()
            if client_role == "later":
                clients.append(net.popen(net.a, PYTHON, PROGRAM, "later", net.B, str(port), "5", stdin=subprocess.PIPE,
                                         stdout=subprocess.PIPE))
                clients[-1].stdout.readline()
        with tempfile.TemporaryDirectory() as top:
            options = ("--pid", str(server.pid)) if whom == "pid" else ("--all", "--port", str(9 if "port" in late else PORT))
            recorder = subprocess.Popen([MAGNET, "record", "-o", top + "/t", "--layers",
                                         "ip" if "layers" in late else "ip,timestamps" if late else "timestamps",
                                         *options],
                                        stderr=subprocess.PIPE, text=True)
            check(any("recording" in line for line in recorder.stderr), f"{whom}, {client_role} {late}: it is being recorded")
            if late:
                run(MAGNET, "ctl", "--pid", tracer_of(recorder.pid), "set", late)
            if client_role != "later":
                clients = [net.popen(net.a, PYTHON, PROGRAM, client_role, net.B, str(port), "5",
                                     stdout=subprocess.PIPE) for port in (PORT, PORT + 1)]
            if whom == "pid":  # sockets are chosen again, each when it is next used
                run(MAGNET, "ctl", "--pid", tracer_of(recorder.pid), "set", "protocol=tcp")
            if client_role == "later":  # these stay open until the recording has ended
                for c in clients:
                    c.stdin.write("\n")
                    c.stdin.flush()
                    check(c.stdout.readline() == "done\n", "its requests are answered")
                time.sleep(0.2)  # the last acknowledgement, which may be delayed
            else:
                for one in (*clients, server, other):
                    one.wait(20)
            recorder.send_signal(signal.SIGINT)
            recorder.communicate(timeout=30)
            flows = [f for f in json.loads(run(MAGNET, "report", "--json", top + "/t").stdout)["flows"]
                     if f["timed_sends"]]
            ends = sorted(f["local"].rsplit(":", 1)[1] == str(PORT) for f in flows)
            check(ends == ([True] if whom == "pid" else [False, True]), f"{len(flows)} flows, of the chosen connection")
            f = next(f for f in flows if f["local"].endswith(f":{PORT}"))
            check(f["timed_sends"]["n"] == f["timed_sends"]["acknowledged"] == 5, "each of its 5 replies is timed")
            check(f["offsets"] == "from_connection", "and has its place in the connection")
    finally:
        for p in (server, other, *clients):
            stop(p)


def right_is_given_up(net):
    """Without netfilter's hooks the tracer cannot enter other namespaces later, and says so."""
    server = net.popen(net.b, PYTHON, PROGRAM, "answer", net.B, str(PORT), stdout=subprocess.PIPE)
    server.stdout.readline()
    client = net.popen(net.a, PYTHON, PROGRAM, "later", net.B, str(PORT), "5", stdin=subprocess.PIPE,
                       stdout=subprocess.PIPE)
    client.stdout.readline()
    try:
        with tempfile.TemporaryDirectory() as top:
            recorder = subprocess.Popen([MAGNET, "record", "-o", top + "/t", "--layers", "tcp", "--pid", str(server.pid)],
                                        stderr=subprocess.PIPE, text=True)
            check(any("recording" in line for line in recorder.stderr), "it is being recorded")
            run(MAGNET, "ctl", "--pid", tracer_of(recorder.pid), "set", "layers=timestamps")
            recorder.send_signal(signal.SIGINT)
            said = recorder.communicate(timeout=30)[1]
            check(said.count("cannot enter network namespace") == 1 and "which the tracer keeps only if" in said and
                  "cannot return" not in said, f"a namespace that cannot be entered is told: {said}")
    finally:
        for p in (client, server):
            stop(p)


def layer_is_missing():
    with Recording("true", options=("--layers", "timestamps", "--without", "sockops")) as rec:
        check("the layer timestamps is not recorded: --without sockops" in rec.p.stderr, "a missing layer is named")
        said = run(MAGNET, "report", rec.dir).stdout
        check("not observed: stamp_send (--without sockops)\n" in said, "and the report has the reason, too")
    caps = "-all,+bpf,+perfmon,+sys_ptrace,+dac_override,+dac_read_search,+setuid,+setgid"
    top = scratch()
    p = run("setpriv", "--bounding-set", caps, "--inh-caps", "-all", MAGNET, "record", "-o", top + "/t", "--layers",
            "+timestamps", "--", "true")
    check("the layer timestamps is not recorded: sockops takes CAP_NET_ADMIN" in p.stderr, "so is the privilege it takes")


def no_cgroups_mounted():
    """As `ip netns exec` runs its program: nothing is mounted below /sys but sysfs."""
    top = scratch()
    p = run("unshare", "-m", "sh", "-c", "umount -l /sys; mount -t sysfs none /sys && exec \"$@\"", "sh", MAGNET,
            "record", "-q", "-o", top + "/t", "--layers", "timestamps", "--", "true")
    with open(top + "/t/session.json") as f:
        hooks = json.load(f)["kernel_side"]["hooks"]
    check(not p.stderr and not any(h["status"] for h in hooks), f"cgroup v2 need not be mounted {p.stderr.strip()}")


def cgroup_namespace():
    """The recorder sees a part of the cgroups alone, and says so."""
    with open("/proc/self/mounts") as f:
        roots = [line.split()[1] for line in f if line.split()[2] == "cgroup2"]
    with open("/proc/self/cgroup") as f:
        own = next(line.split("::")[1].strip() for line in f if line.startswith("0::"))
    part, top = f"{roots[0]}/magnet-test-{os.getpid()}", scratch()
    os.mkdir(part)
    try:
        inside = (f"mount -t cgroup2 none {top}/cgroups && umount -l {roots[0]} && "
                  f"{MAGNET} record -o {top}/t --layers timestamps -- true")
        os.mkdir(top + "/cgroups")
        p = run("sh", "-c", f"echo $$ > {part}/cgroup.procs; unshare -C -m sh -c '{inside}'; "
                f"echo $$ > {roots[0]}{own}/cgroup.procs")
        check("in this cgroup namespace timestamps are recorded of its own cgroups' sockets alone" in p.stderr,
              f"a part of the cgroups is named: {p.stderr.strip()}")
    finally:
        for _ in range(50):
            try:
                os.rmdir(part)
                break
            except OSError:
                time.sleep(0.1)


need_kernel_side()
with Recording("true", options=ALONE) as tried:
    why = [h["why"] for h in hooks_of(tried) if h["layer"] == "timestamps" and h["status"]]
    if why:
        skip("; ".join(why))
layer_is_missing()
no_cgroups_mounted()
cgroup_namespace()
with Network() as net:
    for to in (net.B, net.B6):
        patiently(lambda: beside_the_layers(net, to))
    patiently(lambda: delayed_acknowledgement(net))
    patiently(lambda: merged(net))
    patiently(lambda: flood(net))
    patiently(lambda: sampled(net))
    for whom, role in (("pid", "split"), ("pid", "later"), ("all", "later")):
        patiently(lambda: running(net, whom, role))
    for whom, late in (("pid", "layers=timestamps"), ("all", "layers=timestamps"), ("all", f"port={PORT}")):
        patiently(lambda: running(net, whom, "later", late))
    right_is_given_up(net)
    patiently(lambda: lost_segment(net))
patiently(both_rates)
patiently(stacked)
