# SPDX-License-Identifier: MIT
"""
The contract of the command lines: each option and each form of it that was ever taken is taken. A line is
tried with --help behind it, which is printed if all before it is accepted.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import *

TRACER = os.path.join(os.environ.get("MAGNET_BUILD", ""), "kernel-tracer/magnet-kernel-tracer")

# of magnet record and of the tracer
BOTH = """
    -o d|-od|--output d|--output=d|--out d|-p 1|-p1|--pid 1|--pid=1|-a|--all|--al|-l tcp|-ltcp|--layers tcp|--lay tcp
    --layers none|--layers light|--layers light,ip|--layers +switch|--layers=+gro,netfilter|--layers syscall,socket,tcp,ip,netfilter,device,gro,sched,switch
    -b 4096|-b4K|--buffer 512M|--buffer 4k|--buf 1m|-d 1|-d1|--drain 10000|--dr 20|--duration 1|--duration 1000000|--duration 0.5|--duration 500ms|--duration 2m|--duration 277h|--du 3
    --cgroup /|--cgroup x/y|--cg /|--max-size 64K|--max-size 65536|--max-size 1048576G|--max 1g|--rotate 64K|--rotate 1s
    --rotate 1000000s|--ro 1G|--keep 1|--keep 1000000|--kee 2|--flight 1M|--flight 30s|--fl 2G|--trigger lost
    --trigger retransmission|--trigger latency>100ms|--trigger latency>1us|--trigger latency>1000000s|--trigger latency=5ms|--trigger latency=0.5s|-e a:b|-ea:b|--tr lost
    --trigger lost --trigger retransmission|--event a:b|--event a:b/c>1/:d,e|--event a:* --event c:d|--ev a:b|--level none
    --level light|--level full|--le full|--without fentry|--without fentry,fexit --without netfilter|--protocol tcp
    --protocol tcp,udp,unix,raw,icmp,netlink,vsock|--proto any|--netns 4026531833|--netns any|--ne 1|--port 80
    --port 80,443|--port 1 --port 65535|--port any|--po 1|--address 10.0.0.0/8,fd00::/8|--address any|--ad ::1|--sample 16
    --port 1,2,3,4,5,6,7,8 --port any --port 9|--sample any|--sa 1|--interface lo|--interface any|--in lo|--anonymize|--an|--stacks|--stacks=5ms|--stacks=1us -a|--st|-a -d 5 -b 1M
"""
RECORD = """
    --app-only|--app|--kernel-only|--ker|--calls send|--calls send,recv,read|--ca send|--waits|--wa|--entries|--ent|-q
    --quiet|-qa|-qd5|-f|--follow|-fq|--repeat 1|--repeat=999|--rep 5
"""
TRACED = "--fresh|--fr|--with-app|--with-a|--control /x|--control=x|--control-fd 0|--control-fd 2147483647"
REPORT = """
    --calls --modulation --explain|--all --no-pager|--color=auto|--color always --color never
    --json|--js|--json --full|--json --fu|--flow 1/tx|--flow=1/tx|--fl 1/tx|--against d|--ag d|--waterfall p99
    --waterfall p99.9|--waterfall=p0.1|--wat p50|--on-demand ks|--on-demand all|--on-demand ks,bursts:gap=5
    --stacks|--stacks=drop|--folded|--folded=call|--on ks --on bursts|d --json|--json d --flow 1/tx e
"""
FILTERS = """
    --process 1|--process nginx,12 --process python3|--proc 7|--thread 1,2|--th 3|--port 80|--port 80,443 --port 1|--po 65535
    --peer 10.0.0.1|--peer 10.0.0.0/8,10.0.0.1:80|--peer=::1|--peer [fd00::1]:80|--pe fd00::/8|--protocol tcp,udp
    --protocol unix|--direction sent|--dir received,sent|--from 0|--from 1.5|--from 250ms --to 10s|--from 1e-3|--to 2|--to 2.5|--fr 1 --to 2
"""
SHOW = """
    --event tcp_send|--event drop,lost --event sched:sched_switch|--ev ip_out|--layer tcp,ip|--la app|--setup|--se
    --color=never|--color always --no-pager
    --tsv|--ts|--flow 1/tx|--fl 1/tx|--bytes 0-99
    --bytes 0+100|--byte 0|--byte 7|--bytes 5-5|d --tsv e|--facts call
    --fa range|--exchange 4097/tx@1200|--exch ino:4711/rx@0|--exchange 7.2/tx@18446744073709551615
"""

BAD_BOTH = """
    -p 0|--pid x|-l wire|--layers|--layers tcp,|-b 4095|-b 513M|-b 1X|-d 0|-d 10001|-d x|--duration 0|--duration 1000001|--duration 5x|--duration 1s1
    --max-size 1|--max-size 63K|--rotate 1K|--rotate 0s|--keep 0|--flight 1K|--all=x|--nothing|-x|--a|--c /
    --port http|--port 0|--port=|--port 1,2,3,4,5,6,7,8,9|--port 1,2,3,4 --port 5,6,7,8 --port 9
    --address example.org|--address 10.0.0.0/33|--address=|--address ::1,::2,::3 --address ::4,::5|--sample 0|--sample 1,2
    --protocol sctp|--interface a-name-that-is-too-long|--trigger never|--trigger latency>1|--without kprobe|--event a
    --stacks=|--stacks=much|--stacks=0|--stacks=2h
"""
BAD_RECORD = "--calls nonsense|--calls=|--fresh|--version|--with-app|--control x|--waits=1|--repeat 0|--repeat 1000|--repeat x|--repeat"
BAD_TRACED = "--level much|--quiet|-q|--app-only|--calls send|--control-fd -1|--cgroup="
BAD_REPORT = "--waterfall 99|--waterfall p0|--waterfall p100|--color|--color sometimes|--color=|--calls=1|--on-demand nothing|--on-demand ks,|--json=1|-j|--flow|--stacks=lock|--folded=all"
BAD_FILTERS = """
    --process=|--process 0|--thread x|--thread 0|--port 0|--port http|--port 65536|--peer example.org|--peer 10.0.0.0/33
    --peer 10.0.0.1:0|--protocol sctp|--direction up|--from x|--from -1|--from 1y|--to x|--to 0
"""
BAD_SHOW = "--exchange 1/tx|--exchange tx@1|--exchange 1/tx@|--exchange 1/tx@x|--exchange 1/tx@18446744073709551616|--event nothing|--event=|--layer wire|--setup=1|--color red|--bytes x|--bytes 9-1|--byte x|--tsv=1|-t|--bytes|--facts x"

EXPORT = "--format records -o d|--fo tsv|--format chrome -o -|--format=records --output d|-od|--out d"
BAD_EXPORT = "--format nothing|--format=|--format|-o|--output|--json"


def lines(text):
    return [line.strip().split(" ") for row in text.strip().splitlines() for line in row.split("|") if line.strip()]


def tried(program, accepted, refused):
    for line in lines(accepted):
        p = run(*program, *line, "--help", check=False)
        if p.returncode != 0 or p.stderr or not p.stdout.startswith("usage: "):
            check(False, f"{program} {line} is accepted: exit {p.returncode} {p.stderr.strip()}")
    for line in lines(refused):
        p = run(*program, *line, "--help", check=False)
        if p.returncode != 2 or p.stdout or p.stderr.count("\n") != 1:
            check(False, f"{program} {line} is refused: exit {p.returncode} {p.stderr.strip()}")
    check(True, f"{' '.join(map(os.path.basename, program))}: {len(lines(accepted))} lines are accepted, "
          f"{len(lines(refused))} refused with one line each")


tried((MAGNET, "record"), BOTH + "|" + RECORD, BAD_BOTH + "|" + BAD_RECORD)
tried((MAGNET, "report"), REPORT + "|" + FILTERS, BAD_REPORT + "|" + BAD_FILTERS + "|--event drop|--layer tcp")
tried((MAGNET, "show"), SHOW + "|" + FILTERS, BAD_SHOW + "|" + BAD_FILTERS)
tried((MAGNET, "doctor"), "--json|--js|-v|--verbose|--tune 0|--tune=0.1%|--tune 100",
      "--json=1|-j|--flow 1|--tune|--tune x|--tune 101|--tune -1|--tune 1%%|--tune nan|--verbose=1")
tried((MAGNET, "export"), EXPORT + "|" + FILTERS, BAD_EXPORT + "|" + BAD_FILTERS)
tried((MAGNET, "plot"), "--figure ftp -o x.svg|--figure list|--fi idc --output x.png --flow 1/tx", "--figures x|--flow|-f ftp|-o")
if os.path.exists(TRACER):
    tried((TRACER,), BOTH + "|" + TRACED, BAD_BOTH + "|" + BAD_TRACED)
    tried((TRACER, "ctl"), "--pid 1|--socket /x|--json|--js|--so x --json", "--pid 0|--pid x|--json=1|-j")
    p = run(TRACER, "ctl", "dance", check=False)
    check(p.returncode == 2 and "no command 'dance'" in p.stderr, f"an unknown command: {p.stderr.strip()}")

for name in ("doctor", "export", "plot", "record", "report", "show", *(("ctl",) if os.path.exists(TRACER) else ())):
    p = run(MAGNET, "help", name)
    check(p.stdout.startswith(f"usage: magnet {name}") and p.stdout == run(MAGNET, name, "--help").stdout,
          f"magnet help {name} describes it")
for words in (("recor",), ("help", "recor")):
    p = run(MAGNET, *words, check=False)
    check(p.returncode == 2 and "ctl, doctor, export, plot, record, report, show" in p.stderr, f"{words}: {p.stderr.strip()}")

with tempfile.TemporaryDirectory(prefix="magnet-test-") as top:
    calls = ",".join(["send"] * 1000 + ["recv"])
    p = run(MAGNET, "record", "--app-only", "-q", "-o", top + "/t", "--calls", calls, "--waits", "--", "sh", "-c",
            'printf %s "$MAGNET_CALLS $MAGNET_WAITS $MAGNET_ENTRIES"')
    check(p.stdout == calls + " 1 ", "options for libmagnet.so reach COMMAND as they were given")
