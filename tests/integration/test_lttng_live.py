# SPDX-License-Identifier: MIT
"""sink.magnet.show prints the events of a live LTTng session while the program runs."""
import os
import socket
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import *
from lttng import LttngSession

BUILD = os.environ["MAGNET_BUILD"]
PROGRAM = """
import socket, sys
a, b = socket.socketpair()
for turn in range(3):
    for i in range(3):
        a.send(b"x" * 100)
        b.recv(100)
    sys.stdin.readline()
"""
PATIENCE_S = 60


def free_ports(n):
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(n)]
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports


def wait_for(holds, what):
    end = time.monotonic() + PATIENCE_S * SLOWER
    while not holds():
        if time.monotonic() > end:
            check(False, f"{what} within {PATIENCE_S} s")
        time.sleep(0.1)
    check(True, what)


def connects(port):
    try:
        socket.create_connection(("127.0.0.1", port)).close()
        return True
    except OSError:
        return False


need_program("lttng-relayd")
own_network()
control, data, live = free_ports(3)
with tempfile.TemporaryDirectory(prefix="magnet-test-") as top:
    relay = subprocess.Popen(["lttng-relayd", "-o", top, "-C", f"tcp://127.0.0.1:{control}", "-D",
                              f"tcp://127.0.0.1:{data}", "-L", f"tcp://127.0.0.1:{live}"],
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    viewer = program = None
    try:
        wait_for(lambda: connects(live), "the relay listens")
        to = f"-C tcp://127.0.0.1:{control} -D tcp://127.0.0.1:{data}"
        with LttngSession(create=f"--live=200000 {to}") as session:
            program = subprocess.Popen([PYTHON, "-c", PROGRAM], stdin=subprocess.PIPE,
                                       env=dict(os.environ, LD_PRELOAD=BUILD + "/preload/libmagnet.so", **session.env))
            url = f"net://127.0.0.1:{live}/host/{os.uname().nodename}/t"
            with open(top + "/shown", "w") as out:
                viewer = subprocess.Popen(["babeltrace2", "--plugin-path=" + BUILD + "/correlate", "-i", "lttng-live", url,
                                           "--component=sink.magnet.show"], stdout=out)

            def shown():
                with open(top + "/shown") as f:
                    return f.read()

            for sends in (3, 6, 9):  # later events, which do not come yet, are not needed to show these
                wait_for(lambda: shown().count("magnet:send") == sends,
                         f"{sends} calls of a live session are shown while the program waits after them")
                if sends < 9:
                    program.stdin.write(b"more\n")
                    program.stdin.flush()
            check(program.poll() is None and viewer.poll() is None, "the program and the viewer still run")
            program.communicate(b"end\n", timeout=PATIENCE_S)
            session.end()
            check(viewer.wait(timeout=PATIENCE_S) == 0, "the viewer ends with the session")
            check(shown().endswith("\n") and shown().count("magnet:recv") > 5, "and all is printed")
    finally:
        for p in (viewer, program, relay):
            if p and p.poll() is None:
                p.terminate()
                p.wait()
