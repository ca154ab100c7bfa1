# SPDX-License-Identifier: MIT
"""Requests a second that a web server keeps while it is recorded."""
from observers import *
from web_server import CONNECTIONS, TURN_S, Server

SECONDS = duration(150)
PORT = 5480
SAMPLE = ("--sample", "20")
Tracer.always = ()  # the server listens already


class Sampled(Tracer):
    name = "1 connection in 20"
    options = SAMPLE


class SampledLight(Tracer):
    name = "1 in 20, light"
    options = LightTracer.options + SAMPLE


class OtherSampled(OtherTracer):
    name = "other build: 1 in 20"
    options = SAMPLE


class SampledTimestamps(Sampled):
    name = "1 in 20, timestamps"
    options = TimestampsTracer.options + SAMPLE


class AppOnly(Bare):
    name = "application side only"


def measure(plain, wrapped):
    kinds = [Bare, EmptyHooks, EmptyEvents, EmptyLight, EmptyEventsLight, Tracer, LightTracer,
             TimestampsTracer, Sampled, SampledLight, SampledTimestamps, AppOnly, TcpdumpShort]
    if OTHER_TRACER:
        kinds += OTHER_KINDS + [OtherSampled]
    kinds = [k for k in kinds if k is not TcpdumpShort or k.works()]
    series, notes = {k.name: [] for k in kinds}, {}
    for n in rounds(SECONDS):
        for kind in in_turn(n, kinds):
            with kind(plain.pid) as observer:
                series[kind.name].append((wrapped if kind is AppOnly else plain).ask())
            notes[kind.name] = observer.note
    kept = {name: ratios(values, series["bare"]) for name, values in series.items()}
    table(f"{CONNECTIONS} connections, {len(series['bare'])} turns of {TURN_S} s",
          ("", "requests/s", "of bare", "last turn"),
          [(name, Figure(v).text(0), Figure(kept[name]).text(3), notes.get(name) or "")
           for name, v in series.items()])
    for name, values in kept.items():
        result(f"nginx: {name}", values)
    if OTHER_TRACER:
        for new, old in ((Tracer, OtherTracer), (LightTracer, OtherLight), (Sampled, OtherSampled)):
            r = ratios(series[new.name], series[old.name])
            print(f"  {new.name}: {Figure(r).text(3)} of the other build's requests")


need_kernel_side()
need_app_side()
need_program("nginx")
need_program("wrk")
begin("Requests a second of nginx with one worker, bare and recorded.",
      f"wrk -t1 -c{CONNECTIONS} -d{TURN_S}s http://127.0.0.1:{PORT}/",
      "magnet-kernel-tracer -o DIR --pid NGINX [--layers light|timestamps] [--sample 20]",
      "magnet record --app-only -o DIR -- nginx", "tcpdump -i lo -s 96 -w /dev/null")
with Server(PORT) as server, Place() as where:
    for empty, kind in ((EmptyHooks, Tracer), (EmptyEvents, Tracer), (EmptyLight, LightTracer)):
        with kind(server.pid) as t:
            empty.places = sorted(set(t.places().values()))
    with Server(PORT + 1, MAGNET, "record", "--app-only", "-q", "-o", where + "/t", "--") as app:
        measure(server, app)
how_to_read(f"""
nginx runs on CPU {WATCHED}, wrk and whoever watches on CPU {WATCHING}. "Empty programs": BPF programs
of two instructions at the tracer's places.
""")
