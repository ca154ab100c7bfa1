# SPDX-License-Identifier: MIT
"""
Programs with little room, in a sandbox, with other libraries preloaded, or without the rings they
were told of; and what a program can see of itself.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from lives import *

OWN = {"send": 3}


def seen():
    """Descriptors, signals, errno, interrupted calls: as without magnet."""
    with Life(LIVES, "state") as life:
        check(life.lost() == 0, "nothing was lost")


def sandboxed():
    """A filter that kills whoever does more than read, write, send and receive."""
    for how in ("prctl", "seccomp", "prctl by number"):
        with Life(LIVES, "sandbox", how) as life:
            check(life.p.returncode == 7, "it lives as long as it should")
            life.check_calls(SINK, {"write": 2, "send": 4, "recv": 1})
        with Life(LIVES, "sandboxed_child", how) as life:
            life.check_calls(SINK, {"write": 1})
    with Life(LIVES, "sandboxed_parent") as life:
        life.check_calls(SINK, SINK, {"send": 5, "close": 1})


def without_counter():
    """Who reads the cycle counter is killed: calls are counted, and told as lost."""
    def check_untimed(life, expected, untimed):
        names = life.names()
        check(names == expected, f"{life.what}: the calls are {expected}"
              + ("" if names == expected else f", not {names}"))
        lost = sum(int(e["fields"]["count"]) for e in life.events() if e["event"] == "lost")
        check(lost == life.lost() == untimed and life.losses() == {UNTIMED},
              f"{life.what}: {untimed} calls have no time, {lost} are told")
        check(f"{untimed} calls of programs that have forbidden themselves the cycle counter"
              in life.warned and "counter forbidden" in life.text(), f"in words, too: {life.warned}")

    for how in ("strict", "strict by number", "seccomp"):
        with Life(LIVES, "strict", how, may_lose=True) as life:
            check(life.p.returncode == 7, "it lives as long as it should")
            check_untimed(life, {"socketpair": 1, "write": 2}, 4)
    for how in ("prctl", "prctl by number"):
        with Life(LIVES, "no_counter", how, may_lose=True) as life:
            check(life.p.returncode == 7, "it lives as long as it should")
            check_untimed(life, plus(SINK, {"send": 1}), 8)
        with Life(LIVES, "no_counter", how, "for a while", may_lose=True) as life:
            check_untimed(life, plus(SINK, {"send": 4}), 5)
    with Life(LIVES, "childs_counter", may_lose=True) as life:
        check(life.p.returncode == 7, "what a child may is not what its parent may")
        check_untimed(life, plus(SINK, {"send": 3}), 5)
    with Life(LIVES, "counter_stays") as life:
        life.check_calls(SINK, {"send": 3})


def memory():
    check_life("sh", "-c", 'ulimit -v 400000; exec "$0" memory 300', LIVES,
               expected=[SINK, {"send": 7}])
    check_life(LIVES, "limit", 600, expected=[SINK, SINK, {"send": 9}])
    check_life("sh", "-c", 'ulimit -n 4; exec "$0" brief', LIVES, expected=[SINK, OWN])
    if os.geteuid() == 0:
        check_life(LIVES, "lock", expected=[SINK, SINK, {"send": 8}])


def companions():
    """Libraries preloaded by the program's user, before and after ours."""
    found = 0
    for name in ("libjemalloc.so.2", "libtcmalloc_minimal.so.4"):
        if run("sh", "-c", 'LD_PRELOAD=$0 true', name).stderr:
            continue
        if "ASAN_OPTIONS" in os.environ:  # magnet's own allocator is the sanitizer's, and bears no other
            continue
        found += 1
        for order in (name, LIBMAGNET + ":" + name):
            env = {"LD_PRELOAD": order}
            check_life(LIVES, "threads", 20, env=env, expected=[SINK, {"send": 100}])
            check_life(LIVES, "fork", env=env, expected=[SINK, {"send": 6}])
            check_life(LIVES, "sandbox", "seccomp", env=env,
                       expected=[SINK, {"write": 2, "send": 4, "recv": 1}])
    print(f"{found} allocators")
    early = os.path.join(PROGRAMS, "liblives-early.so")
    for order in (early, LIBMAGNET + ":" + early):
        with Life(LIVES, "brief", env={"LD_PRELOAD": order}) as life:
            life.check_calls(SINK, SINK, {"send": 9, "close": 1})


def no_rings():
    """MAGNET_RINGS leads nowhere, or to something else: then nothing is recorded, and no harm done."""
    with tempfile.TemporaryDirectory(prefix="magnet-test-") as top:
        files = {"missing": None, "empty": b"", "short": b"x" * 100, "random": os.urandom(4 << 20),
                 "zeros": bytes(4 << 20)}
        magic = (0x6d61676e).to_bytes(4, "little")
        for version in (0, 1, 2, 3, 0xffffffff):
            files[f"version {version}"] = magic + version.to_bytes(4, "little") + os.urandom(4 << 20)
            files[f"version {version}, zeros"] = magic + version.to_bytes(4, "little") + bytes(4 << 20)
        for name, content in files.items():
            if content is not None:
                with open(os.path.join(top, name), "wb") as f:
                    f.write(content)
        os.mkdir(top + "/directory")
        os.mkfifo(top + "/fifo")
        os.symlink(top + "/random", top + "/link")
        for path in [os.path.join(top, name) for name in (*files, "directory", "fifo", "link")] + \
                ["", "/dev/null", "/dev/zero"]:
            env = dict(os.environ, LD_PRELOAD=LIBMAGNET, MAGNET_RINGS=path)
            p = bare(LIVES, "threads", "5", env=env)
            if p.returncode or p.stdout or p.stderr:
                sys.exit(f"FAILED: rings {path!r}: exit {p.returncode} {p.stdout} {p.stderr}")
        print("ok: no harm by rings that are none")


own_network()
for test in (seen, sandboxed, without_counter, memory, companions, no_rings):
    print("---", test.__name__)
    test()
