# SPDX-License-Identifier: MIT
"""
Hidden causes in real servers: the first screen names what took the time of typical and of slow
requests, or says that it cannot know. Names of scenes as arguments choose some of them.
"""
import os
import re
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
import services
from delay import Delay
from fixture import *

REORDER = os.path.join(os.path.dirname(__file__), "..", "programs", "reorder.py")
LOSSY = """
table inet lossy {{
  chain in {{
    type filter hook input priority 0
    tcp sport {port} numgen random mod 100 < {percent} drop
  }}
}}
"""


class Scene:
    """
    `script` makes what is recorded. `median` and `slow` are the causes that may come first there (None: any),
    `words` what the first screen has to say.
    """

    def __init__(self, name, script, needs=(), median=None, slow=None, words=(), role="client", port=services.PORT):
        self.name, self.script, self.needs, self.words = name, script, needs, words
        self.median, self.slow, self.role, self.port = median, slow, role, port

    def columns(self, report):
        groups = [g for g in report["exchanges"] if g["role"] == self.role and g["answer"] and
                  (g["port"] == self.port or (g["address"] or "").endswith(f":{self.port}"))]
        check(groups, f"{self.name}: exchanges with port {self.port}")
        return {c["title"].split()[0] if c["title"] != "slowest" else "the slowest": c["causes"][0]
                for c in max(groups, key=lambda g: g["answered"])["answer"]}

    def judge(self, rec):
        first = self.columns(rec.report())
        told = {title: f"{c['at']} {c['cause']} {c['share']:.0%}" for title, c in first.items()}
        for title, wanted in (("median", self.median), ("slowest", self.slow), ("the slowest", self.slow)):
            if wanted and title in first:
                check(f"{first[title]['at']} {first[title]['cause']}" in wanted, f"{self.name}, {title}: {told}")
        text = run(MAGNET, "report", rec.dir, env={**os.environ, "COLUMNS": "80"}).stdout
        screen = " ".join(" ".join(text.splitlines()[:30]).split())
        for words in self.words:
            check(words in screen, f"{self.name}: the first screen says: {words}" +
                  ("" if words in screen else "\n" + "\n".join(text.splitlines()[:30])))

    def __call__(self, net=None):
        print(f"-- {self.name}")
        if [p for p in self.needs if not shutil.which(p, path=os.environ["PATH"] + ":/usr/sbin")]:
            print(f"left out: {self.needs} is not here")
            return
        # storage that syncs, which /tmp may not be
        with tempfile.TemporaryDirectory(dir="/var/tmp", prefix="magnet-test-") as top:
            script = self.script(top, net) if net else self.script(top)
            with Recording("sh", "-c", script, ok=None, env={**os.environ, "PATH": os.environ["PATH"] + ":/usr/sbin"}) as rec:
                self.judge(rec)


def hidden(cause, n):
    return lambda top: services.hidden(cause, n)


PROGRAM = ["server program"]
SCENES = [
    Scene("lock", hidden("lock", 40), slow=PROGRAM, words=["blocked in futex", "a lock, or a result"]),
    Scene("log that is synced", hidden("fsync", 20), median=PROGRAM, slow=PROGRAM,
          words=["blocked in fsync", "Storage is slow to sync"]),
    Scene("few threads", hidden("pool", 10), median=["server reader"], slow=["server reader"],
          words=["data were there, but were not read", "Use more workers"]),
    Scene("client that sleeps", hidden("late", 20), median=["client reader"], slow=["client reader"],
          words=["the reader was blocked in clock_nanosleep", "Read before that, or in another thread"]),
    Scene("client that computes", hidden("late-cpu", 20), median=["client reader"], slow=["client reader"],
          words=["the reader was on the CPU", "read before that work, or in another thread"]),
    Scene("busy CPU", services.hogged, ["taskset"], median=PROGRAM, slow=PROGRAM + ["server run_queue"],
          words=["waiting for a CPU", "The CPUs are busy with other threads"]),
    Scene("full listening queue", hidden("backlog", 10), median=["server reader"], slow=["network lost", "server reader"],
          words=["The queue of a listening socket was full", "to connect took "]),
    Scene("slow back end", services.slow_back_end, ["nginx"], median=PROGRAM, slow=PROGRAM,
          words=[f"waiting for 127.0.0.1:{services.BACK}", "The service that it waits for, python3, was blocked in "
                 "clock_nanosleep for most of its time"]),
    Scene("queue of a back end", services.queue_of_back_end, ["nginx"], median=PROGRAM, slow=PROGRAM,
          words=[f"waiting for 127.0.0.1:{services.BACK}", "did not read for most of the time, while data were there",
                 "Use more workers"]),
    Scene("slow script in redis", services.redis_script, ["redis-server", "redis-benchmark"],
          slow=["server reader", "server program", "server run_queue"], words=["The reader "]),
    Scene("redis that syncs its log", services.redis_log, ["redis-server", "redis-benchmark"], median=PROGRAM,
          slow=PROGRAM + ["server run_queue"], words=["fdatasync"]),
    Scene("pauses in node", services.node, ["node"], slow=["server reader"], words=["the reader was on the CPU"]),
    Scene("row lock in PostgreSQL", services.postgres_lock, ["psql"] if services.postgres_bin() else ["postgres"],
          slow=PROGRAM, words=["blocked in epoll_wait"]),
    Scene("slow name server", services.slow_names, median=PROGRAM, slow=PROGRAM, port=services.BACK,
          words=[f"exchanges with 127.0.0.1:{services.BACK}", "blocked in clock_nanosleep"]),
]


def in_network(cause, n, host=Network.A):
    def script(top, net):
        inside = [f"nsenter --net=/run/netns/{ns}" for ns in (net.a, net.b)]
        return services.hidden(cause, n, host=host, inside=inside)
    return script


def small_receive_buffer():
    with Network() as net, Delay(net, 0.01):
        Scene("small receive buffer", in_network("rcvbuf", 5, Delay.A), median=["server peer_window"],
              slow=["server peer_window"], words=["the peer's receive window was full", "SO_RCVBUF"])(net)


def reordered():
    """Each 150th segment takes 20 ms more than the others: TCP takes it for lost and sends it again."""
    with Network() as net:
        way = subprocess.Popen([PYTHON, REORDER, net.a, "10.79.0.1", net.b, "10.79.0.2", "150", "20", "0"],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        try:
            if way.stdout.readline() != "ready\n":
                skip("no tun device can be made")
            # TCP takes reordering for loss, and makes the congestion window smaller
            Scene("reordered segments", in_network("reorder", 40, "10.79.0.1"),
                  slow=["client order", "network lost", "server cwnd"], words=["sent again had arrived, too"])(net)
        finally:
            way.communicate()


def lossy(percent):
    with Network(gso_max_segs=1) as net, tempfile.NamedTemporaryFile("w", suffix=".nft") as rules:
        rules.write(LOSSY.format(port=services.PORT, percent=percent))
        rules.flush()
        run(*net.inside(net.b, "nft", "-f", rules.name))
        Scene(f"{percent} % of packets lost", in_network("loss", 60), slow=["network lost"],
              words=["waiting for a retransmission", "Packets were lost on this host at netfilter"])(net)


need_kernel_side()
chosen = sys.argv[1:]
for scene in SCENES:
    if not chosen or scene.name in chosen:
        patiently(scene)
if not chosen or "buffer" in chosen:
    patiently(small_receive_buffer)
if not chosen or "reorder" in chosen:
    patiently(reordered)
if shutil.which("nft") and (not chosen or "loss" in chosen):
    patiently(lambda: lossy(1))
    patiently(lambda: lossy(3))
