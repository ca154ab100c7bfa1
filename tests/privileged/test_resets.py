# SPDX-License-Identifier: MIT
"""Resets, sent and received, with the reason where the kernel gives one."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import *

PROGRAM = os.path.join(os.path.dirname(__file__), "..", "programs", "tcp_state.py")
# later kernels tell more; the close that lingers for no time disconnects, of which the state is why
REASONS = ({"no_socket"}, {"state", "abort_on_linger", "not_specified"},
           {"abort_on_close", "not_specified"})

need_kernel_side()
with undisturbed(lambda: Recording(PYTHON, PROGRAM, "resets")) as rec:
    said = [json.loads(line) for line in rec.p.stdout.splitlines()]
    resets = [e for e in rec.events() if e["event"] == "tcp_reset"]
    hooks = [h for h in rec.report()["hooks"] if h["hook"].startswith("tcp_reset")]
    check(sum(h["status"] == 0 for h in hooks) == 2, "both ways are observed")
    # kernels that give no reason tell nothing of resets without a socket either
    silent = any(h["status"] != 0 for h in hooks)
    port = {e["flow"]: e["fields"]["lport"] for e in rec.events()
            if e["event"] == "sock_state" and e["fields"]["lport"] != "0"}
    ways = [(e["fields"]["sent"], e["fields"]["lport"], e["fields"]["rport"]) for e in resets]
    check(len(resets) == 6 - silent, f"three resets were sent and received: {ways}")
    # on loopback one that a program sends is received before sending it returns
    sent = [e for e in resets if e["fields"]["sent"] == "1"]
    received = [e for e in resets if e["fields"]["sent"] == "0"]
    check(len(sent) == 3 - silent and len(received) == 3, "each both ways")
    check(received[0]["flow"] and received[0]["fields"]["state"] == "syn_sent" and
          received[0]["fields"]["rport"] == "1", "the first by the one that connects, in SYN_SENT")
    own = [f["local"] for f in rec.report()["flows"] if f["id"] == received[0]["flow"].split("/")[0] + "/tx"]
    check(own == ["127.0.0.1:" + received[0]["fields"]["lport"]], f"the refused connection has its port: {own}")
    if silent:
        sent.insert(0, None)
    check(all(not s or (s["fields"]["lport"], s["fields"]["rport"]) ==
              (r["fields"]["rport"], r["fields"]["lport"]) for s, r in zip(sent, received)),
          "with the same ports")
    check(silent or sent[0]["flow"] == "", "the first is sent by no socket")
    for s, r, x in zip(sent[1:], received[1:], said):
        check((port[s["flow"]], port[r["flow"]]) == (str(x["port"]), str(x["peer"])),
              f"one by the client's socket, received by the server's: {s['flow']}, {r['flow']}")
    for s, possible in zip(sent, REASONS):
        why = s["fields"]["reason"] if s else "unknown"
        check(why in ({"unknown"} if silent else possible), f"why: {why}")
    check(all(e["fields"]["reason"] == "unknown" for e in received),
          "of a received one no kernel tells why")

with Recording(PYTHON, PROGRAM, "resets", options=["--anonymize"]) as rec:
    ports = {e["fields"][p] for e in rec.events() if e["event"] == "tcp_reset"
             for p in ("lport", "rport")}
    check(ports == {"0"}, "anonymized they have no ports")

with Recording(PYTHON, PROGRAM, "resets", options=["--port", "1"]) as rec:
    seen = [e["fields"] for e in rec.events() if e["event"] == "tcp_reset"]
    check(seen and all("1" in (r["lport"], r["rport"]) for r in seen),
          f"filtered by port there are those of the port: {len(seen)}")
with Recording(PYTHON, PROGRAM, "resets", options=["--port", "2"]) as rec:
    check(not any(e["event"] == "tcp_reset" for e in rec.events()), "and of another none")

# what lies in the send buffer as the connection is reset never leaves: the kernel says how much that is
THROWN_AWAY = """
import fcntl, socket, struct, time
SIOCOUTQNSD = 0x894B
l = socket.create_server(("127.0.0.1", 0))
l.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 20000)
s = socket.create_connection(l.getsockname())
c, _ = l.accept()
s.send(b"x" * 400000)
time.sleep(0.3)
s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
print(struct.unpack("i", fcntl.ioctl(s, SIOCOUTQNSD, bytes(4)))[0])
s.close()
"""
with undisturbed(lambda: Recording(PYTHON, "-c", THROWN_AWAY)) as rec:
    unsent, tx = int(rec.p.stdout), flow(rec.report(), "tx")
    check(unsent > 100000 and tx["unsent_bytes"] == unsent, f"{unsent} bytes never left")
    check(tx["complete_bytes"] == tx["bytes"] - unsent and tx["coverage"] == 1,
          f"the others have all their boundaries: coverage {tx['coverage']}")
    check("never left the send buffer or a queue" in rec.text(), "the text says so")
