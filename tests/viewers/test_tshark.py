# SPDX-License-Identifier: MIT
"""
tshark reads what magnet export and magnet annotate write: fields of each packet are those of the recording's
events, and comments are there.
"""
import json
import signal

from viewers import *

need_viewers("tshark", "tcpdump")
need_kernel_side()
TALK = os.path.join(HERE, "..", "programs", "captured.py")
FIELDS = ("ip.src", "ip.dst", "ip.proto", "ip.id", "tcp.seq_raw", "tcp.ack_raw", "tcp.len", "tcp.flags", "tcp.srcport",
          "udp.length", "frame.len", "frame.time_epoch", "frame.comment", "frame.interface_name")


def read(path):
    """The packets' fields, as tshark has them."""
    options = [o for f in FIELDS for o in ("-e", f)]
    packets = json.loads(run("tshark", "-n", "-r", path, "-T", "json", *options).stdout)
    return [p["_source"]["layers"] for p in packets]


def number(p, field):
    return int(p[field][0], 0) if field in p else None


def of_tshark(packets):
    """Fields by which packets are the same, and their payload."""
    for p in packets:
        proto = number(p, "ip.proto")
        yield (p["ip.src"][0], p["ip.dst"][0], proto, number(p, "tcp.seq_raw"), number(p, "tcp.ack_raw"),
               number(p, "tcp.flags"), number(p, "tcp.len") if proto == 6 else number(p, "udp.length") - 8,
               None if proto == 6 else number(p, "ip.id"))


def of_events(rec):
    """The same of the events: a packet on loopback is the one that was sent, or whose sending is not recorded."""
    sent, received = [], []
    for e in rec.events():
        f = e["fields"]
        if e["event"] not in ("dev_xmit", "dev_recv") or not e["flow"] or f["via"] != "own":
            continue
        tcp = f["proto"] == "tcp"
        (sent if e["event"] == "dev_xmit" else received).append(
            ("127.0.0.1", "127.0.0.1", 6 if tcp else 17, int(f["seq"]) if tcp else None, int(f["ack"]) if tcp else None,
             int(f["tcp_flags"], 0) if tcp else None, int(f["len"]), None if tcp else int(f["ip_id"])))
    for p in sent:
        if p in received:
            received.remove(p)
    return sent + received


def scene(top):
    capture = subprocess.Popen(["tcpdump", "-Z", "root", "-U", "--immediate-mode", "-w", top + "/lo", "-i", "lo", "ip"],
                               stderr=subprocess.PIPE, text=True)
    while "listening on" not in capture.stderr.readline():
        pass
    rec = Recording(PYTHON, TALK, "both", "127.0.0.1")
    size = -1
    while size != os.path.getsize(top + "/lo"):  # on a busy machine tcpdump is late
        size = os.path.getsize(top + "/lo")
        time.sleep(0.5)
    capture.send_signal(signal.SIGINT)
    capture.stderr.read()
    capture.wait(10)
    with rec:
        if rec.report()["loss"]["kernel"] or unseen(rec):
            return False
        run(MAGNET, "export", rec.dir, "--format", "pcapng", "-o", top + "/exported")
        packets = read(top + "/exported")
        found, wanted = sorted(of_tshark(packets), key=str), sorted(of_events(rec), key=str)
        check(len(found) == len(wanted) > 60, f"tshark reads {len(found)} exported packets")
        check(found == wanted, "their addresses, numbers, flags, payload and identifications are the events'")
        check(all(p["frame.comment"][0].startswith("magnet: flow ") for p in packets)
              and {p["frame.interface_name"][0] for p in packets} == {"lo"}, "they have comments and an interface")
        check(not run("tshark", "-n", "-r", top + "/exported", "-Y", "_ws.malformed").stdout,
              "none of them is malformed")
        run(MAGNET, "annotate", top + "/lo", rec.dir, "-o", top + "/annotated")
        before, after = read(top + "/lo"), read(top + "/annotated")
        if len(before) < len(found):  # tcpdump was later than that, or lost some
            return False
        for p in before:
            p.pop("frame.interface_name", None)
        comments = [p.pop("frame.comment", []) for p in after]
        for p in after:
            p.pop("frame.interface_name", None)
        check(before == after, f"of {len(after)} annotated packets all other fields are as they were captured")
        told = sum(any(c.startswith("magnet: flow ") for c in p) for p in comments)
        check(told == len(found), f"{told} of them have comments")
        calls = run("tshark", "-n", "-r", top + "/annotated", "-Y", 'frame.comment contains "sendto()"').stdout
        check(len(calls.splitlines()) >= 20, "tshark finds packets by the call in their comment")
    return True


with tempfile.TemporaryDirectory(prefix="magnet-test-") as directory:
    if not any(scene(directory) for _ in range(5)):
        sys.exit("events, or packets of tcpdump, were lost in each of 5 recordings")
