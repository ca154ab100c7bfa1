# SPDX-License-Identifier: MIT
"""Traces of LTTng's own kernel tracer, alone and beside the program's own events: what they tell."""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from ctf import Trace, ipv4
from fixture import *

TOP = scratch()
SCHED = {"sched_switch": [("prev_comm", "comm"), ("prev_tid", "s32"), ("prev_prio", "s32"),
                          ("prev_state", "s64"), ("next_comm", "comm"), ("next_tid", "s32"),
                          ("next_prio", "s32")],
         "sched_wakeup": [("comm", "comm"), ("tid", "s32"), ("prio", "s32"), ("target_cpu", "s32")],
         "lttng_statedump_process_state": [("tid", "s32"), ("vtid", "s32"), ("pid", "s32"),
                                           ("name", "comm")]}
WAKING = {"sched_waking": SCHED["sched_wakeup"]}
CALLS = {"syscall_entry_write": [("fd", "u32"), ("buf", "u64"), ("count", "u64")],
         "syscall_exit_write": [("ret", "s64")],
         "syscall_entry_recvfrom": [("fd", "s32"), ("size", "u64"), ("flags", "u32")],
         "syscall_exit_recvfrom": [("ret", "s64")],
         "syscall_entry_getpid": [], "syscall_exit_getpid": [("ret", "s64")]}
OLD_CALLS = {"sys_sendto": [("fd", "s32"), ("len", "u64"), ("flags", "u32")],
             "exit_syscall": [("ret", "s64")]}
IRQS = {"irq_softirq_entry": [("vec", "u32")], "irq_softirq_exit": [("vec", "u32")],
        "irq_handler_entry": [("irq", "s32"), ("name", "string")],
        "irq_handler_exit": [("irq", "s32"), ("ret", "s32")]}
PACKET = [("skbaddr", "u64"), ("len", "u32"), ("name", "string")]
XMIT = [("skbaddr", "u64"), ("rc", "s32"), ("len", "u32"), ("name", "string")]
NET = {"net_dev_queue": PACKET + [("header", "ipv4")], "net_dev_xmit": XMIT,
       "net_if_receive_skb": PACKET + [("header", "ipv4")], "net_if_rx": PACKET + [("header", "ipv4")]}
OLD_NET = {"net_dev_queue": PACKET, "net_dev_xmit": XMIT, "netif_receive_skb": PACKET}
SEGMENT = [("sk", "u64"), ("seq", "be32"), ("ack_seq", "be32"), ("check", "be16"),
           ("window", "be16"), ("flags", "be16")]
INET = {"inet_sock_local_out": SEGMENT, "inet_sock_local_in": SEGMENT}
CALL = [("enter", "u64"), ("exit", "u64"), ("asked", "u64"), ("ret", "s64"), ("fd", "s32"),
        ("error", "s32"), ("tid", "u32"), ("pid", "u32"), ("flags", "u32"), ("logged", "u32"),
        ("bytes", "u32"), ("kind", "u8")]
MS, US = 1000000, 1000
S = 5000 * MS  # when it begins


def report(directory, code=0):
    p = run(MAGNET, "report", "--json", directory, check=False)
    check(p.returncode == code, f"report of {os.path.basename(directory)} exits {code}: {p.stderr}")
    run(MAGNET, "report", directory, check=code == 0)
    return json.loads(p.stdout)


def switch(t, ns, cpu, prev, state, following):
    t.add(ns, cpu, "sched_switch", f"t{prev}", prev, 20, state, f"t{following}", following, 20)


def flow_of(r, direction, **match):
    return next(f for f in r["flows"] if f["direction"] == direction and
                all(f[k] == v for k, v in match.items()))


def layer(f, name):
    return next(l for l in f["layers"] if l["name"] == name)


def scheduler(directory, waking):
    """A thread blocks for 3 ms in each of 20 calls, and runs 40 us after it is woken."""
    t = Trace(directory, {**SCHED, **(WAKING if waking else {}), **CALLS, **IRQS})
    t.add(S, 0, "lttng_statedump_process_state", 100, 100, 99, "worker")
    switch(t, S + 1, 0, 0, 0, 100)
    for i in range(20):
        at = S + (i + 1) * 10 * MS
        t.add(at, 0, "syscall_entry_recvfrom", 5, 1000, 0)
        switch(t, at + 10 * US, 0, 100, 1, 0)
        if waking:
            t.add(at + 3010 * US, 1, "sched_waking", "t100", 100, 20, 0)
        t.add(at + 3020 * US, 1, "sched_wakeup", "t100", 100, 20, 0)
        switch(t, at + 3050 * US, 0, 0, 0, 100)
        t.add(at + 3060 * US, 0, "irq_softirq_entry", 3)
        t.add(at + 3063 * US, 0, "irq_softirq_exit", 3)
        t.add(at + 3070 * US, 0, "syscall_exit_recvfrom", 700)
        t.add(at + 3080 * US, 0, "syscall_entry_getpid")
        t.add(at + 3081 * US, 0, "syscall_exit_getpid", 1)
        # preempted: the one bit above all states
        switch(t, at + 4000 * US, 0, 100, 4096, 7)
        switch(t, at + 4100 * US, 0, 7, 1, 100)
    t.write()
    r = report(directory)
    check(r["session"]["kernel_tracer"] == "lttng-modules" and r["clock"]["ns_only"] and
          r["session"]["cut_off"] is None, "the tracer is named")
    check(sum(s["n"] for s in r["scheduler"]["switches"]) == 81, "every sched_switch counts")
    # without sched_waking (Linux before 4.3) a wake-up begins when it is on the run queue
    near(r["scheduler"]["wakeup_ns"]["p50"], 40 * US if waking else 30 * US, 0.002, "wake-up")
    call = next(c for c in r["calls"] if c["name"] == "recvfrom")
    check(call["kernel_only"] and (call["n"], call["bytes"], call["blocked_n"]) == (20, 14000, 20)
          and call["overhead_ns"]["p50"] is None, "system calls, without the program's own")
    near(call["total_ns"]["p50"], 3070 * US, 0.001, "a call's time")
    check([c["name"] for c in r["calls"]] == ["recvfrom"], "of calls that are known to the core")
    check(r["flows"] == [], "no flow without packets")
    check("tracer" in r["scheduler"]["no_durations"] and
          all(s["p50_ns"] is None for s in r["scheduler"]["switches"]),
          "how long a switch takes is not available, and why")


def joined(directory):
    """The program's own calls beside them: by thread and time, states that sum to the call."""
    os.mkdir(directory)
    t = Trace(directory + "/kernel", {**SCHED, **WAKING, **CALLS})
    app = Trace(directory + "/app", {"magnet:write": CALL}, tracer="lttng-ust", domain="ust")
    switch(t, S, 0, 0, 0, 100)
    for i in range(50):
        at = S + (i + 1) * 10 * MS
        t.add(at + 200, 0, "syscall_entry_write", 5, 0, 1000)
        switch(t, at + 20 * US, 0, 100, 1, 0)
        t.add(at + 50 * US, 1, "sched_waking", "t100", 100, 20, 0)
        switch(t, at + 60 * US, 0, 0, 0, 100)
        t.add(at + 70 * US, 0, "syscall_exit_write", 1000)
        # a counter of two cycles a nanosecond
        end = at + 70 * US + 300
        app.add(end, 0, "magnet:write", 2 * at, 2 * end, 1000, 1000, 5, 0, 100, 100, 0, 0, 0, 2)
    t.write()
    app.write()
    r = report(directory)
    call = next(c for c in r["calls"] if c["name"] == "write" and not c["kernel_only"])
    check(r["unjoined_calls"] == 0 and call["n"] == 50 and call["flow_kind"] == "tcp" and
          not [c for c in r["calls"] if c["kernel_only"]], "all calls are joined to their system calls")
    check(r["state_sum_mismatches"] == 0, "states sum to the call")
    near(call["states_ns"]["blocked"], 30 * US, 0.001, "blocked")
    near(call["states_ns"]["wakeup"], 10 * US, 0.001, "wake-up")
    near(sum(v or 0 for v in call["states_ns"].values()), 70 * US + 300, 0.001, "all states")


def packets(directory):
    """Headers tell the connection and its bytes; devices are told apart from them."""
    t = Trace(directory, NET)
    for i in range(30):
        at, skb = S + i * MS, 0xffff888000000000 + i % 4 * 256
        head = ipv4(1000, "10.0.0.1", "10.0.0.2", 5000, 80, 77 + 1000 * i, 9)
        t.add(at, 0, "net_dev_queue", skb, 1054, "eth0", head)
        t.add(at + 2 * US, 0, "net_dev_xmit", skb, 0, 1054, "eth0")
        answer = ipv4(10, "10.0.0.2", "10.0.0.1", 80, 5000, 9 + 10 * i, 77 + 1000 * i)
        t.add(at + 300 * US, 0, "net_if_rx", skb + 64, 50, "eth0", answer)
        t.add(at + 301 * US, 0, "net_if_receive_skb", skb + 64, 50, "eth0", answer)
        t.add(at + 400 * US, 0, "net_dev_queue", skb + 128, 42, "eth0", None)  # ARP, say
    # again from the begin: the same ports, but another connection
    t.add(S + 100 * MS, 0, "net_dev_queue", 1, 54, "eth0",
          ipv4(0, "10.0.0.1", "10.0.0.2", 5000, 80, 500000, 0, flags=2))
    t.add(S + 101 * MS, 0, "net_dev_queue", 2, 154, "eth0",
          ipv4(100, "10.0.0.1", "10.0.0.2", 5000, 80, 500001, 1))
    t.write()
    r = report(directory)
    out = flow_of(r, "tx", local="10.0.0.1:5000", bytes=30000)
    check(out["remote"] == "10.0.0.2:80" and out["proto"] == "tcp" and out["id"].startswith("lttng:"),
          "a connection by its addresses")
    queue = next(l for l in out["layers"] if "queue" in l["name"] or l["n"])
    check((queue["n"], queue["bytes"], queue["mean_size"]) == (30, 30000, 1000), "segments by headers")
    near(queue["mean_spacing_ns"], MS, 1e-6, "their spacing")
    check(sum(l["n"] for l in out["layers"] if l["n"]) == 60, "queued, and taken by the driver")
    check(out["residence"] == [] or all(s["mean_ns"] is None for s in out["residence"]) and
          out["modulation"]["M"] is None, "what needs the program's calls is not available")
    back = flow_of(r, "rx", local="10.0.0.1:5000")
    check(back["bytes"] == 300 and sum(l["n"] for l in back["layers"] if l["n"]) == 30,
          "received once, not again from the backlog")
    check(flow_of(r, "tx", local="10.0.0.1:5000", bytes=100), "a SYN begins another connection")
    other = flow_of(r, "tx", local="eth0")
    check(other["bytes"] == 30 * 42 and other["proto"] == "other", "frames of no connection, by device")
    shown = run(MAGNET, "show", "--tsv", "--flow", out["id"], directory).stdout.splitlines()
    check(len(shown) == 61 and "\t1000\t1000\t" in shown[3], "show lists the flow's events")


def old(directory):
    """Without headers the device is all that is known; of TCP the addon has numbers, no lengths."""
    t = Trace(directory, {**SCHED, **OLD_CALLS, **OLD_NET, **INET})
    switch(t, S, 0, 0, 0, 100)
    for i in range(20):
        at = S + (i + 1) * MS
        t.add(at, 0, "sys_sendto", 3, 500, 0)
        t.add(at + US, 0, "inet_sock_local_out", 0xffff880012345678, 1000 + 500 * i, 7, 0, 0, 0x5018)
        t.add(at + 2 * US, 0, "net_dev_queue", 0x1000 + i, 554, "eth0")
        t.add(at + 3 * US, 0, "net_dev_xmit", 0x1000 + i, 0, 554, "eth0")
        t.add(at + 10 * US, 0, "exit_syscall", 500)
        t.add(at + 500 * US, 0, "netif_receive_skb", 0x9000, 40, "eth0")
        t.add(at + 501 * US, 0, "inet_sock_local_in", 0xffff880012345678, 7, 1500 + 500 * i, 0, 0, 0x5010)
    t.write()
    r = report(directory)
    call = next(c for c in r["calls"] if c["name"] == "sendto")
    check((call["n"], call["bytes"]) == (20, 10000), "old names of system calls")
    device = flow_of(r, "tx", local="eth0")
    check([l["n"] for l in device["layers"] if l["n"]] == [20, 20] and device["bytes"] == 20 * 554,
          "frames by device")
    tcp = flow_of(r, "tx", proto="tcp")
    check(tcp["bytes"] == 19 * 500 and [l["n"] for l in tcp["layers"] if l["n"]] == [19],
          "lengths by the next segment's number; the last one's is not known")


def backwards(directory):
    t = Trace(directory, SCHED)
    switch(t, S, 0, 0, 0, 100)
    switch(t, S + 50 * US, 0, 100, 1, 0)
    switch(t, S + 40 * US, 0, 0, 0, 100)
    t.write()
    r = report(directory, code=1)
    p = run(MAGNET, "report", directory, check=False)
    check("goes back by 10000 ns" in r["session"]["cut_off"] and len(p.stderr.splitlines()) == 1 and
          "READ IN PART" in p.stdout, f"time that goes back: {p.stderr.strip()}")
    shown = run(MAGNET, "show", "--tsv", directory, check=False)
    check(shown.returncode == 1 and shown.stdout.count("sched_switch\t") >= 1, "and show says so too")


def public(top):
    """Traces others have recorded, where they are at hand."""
    for at, _, files in os.walk(top):
        if "metadata" not in files:
            continue
        r = json.loads(run(MAGNET, "report", "--json", at, check=False).stdout or "null")
        lines = run("babeltrace2", at, check=False).stdout
        if r and r["session"]["kernel_tracer"]:
            check(sum(s["n"] for s in r["scheduler"]["switches"]) ==
                  len(re.findall(r" sched_switch: ", lines)), f"{at}: all switches that can be read")


try:
    scheduler(TOP + "/sched", waking=True)
    scheduler(TOP + "/wakeup", waking=False)
    joined(TOP + "/joined")
    packets(TOP + "/packets")
    old(TOP + "/old")
    backwards(TOP + "/backwards")
    if os.environ.get("MAGNET_PUBLIC_TRACES"):
        public(os.environ["MAGNET_PUBLIC_TRACES"])
finally:
    shutil.rmtree(TOP)
