# SPDX-License-Identifier: MIT
"""Requests a second that a web server keeps while it is recorded."""
from observers import *

CONNECTIONS = 16
TURN_S = 1
SECONDS = duration(150)
PORT = 5480
SAMPLE = ("--sample", "20")
Tracer.always = ()  # the server listens already
CONFIGURATION = """
daemon off; worker_processes 1; pid {top}/pid; error_log {top}/errors;
events {{ worker_connections 256; }}
http {{ access_log off; keepalive_requests 1000000000;
  client_body_temp_path {top}/a; proxy_temp_path {top}/b; fastcgi_temp_path {top}/c;
  uwsgi_temp_path {top}/d; scgi_temp_path {top}/e;
  server {{ listen 127.0.0.1:{port}; location / {{ return 200 "hello\\n"; }} }} }}
"""


class Server:
    """nginx with one worker, on one CPU; `before` is a command that starts it."""

    def __init__(self, port, *before):
        self.port, self.before = port, before

    def __enter__(self):
        self.top = new_place()
        with open(self.top + "/conf", "w") as f:
            f.write(CONFIGURATION.format(top=self.top, port=self.port))
        self.p = start(*self.before, "taskset", "-c", WATCHED, "nginx", "-c", self.top + "/conf",
                       stderr=subprocess.DEVNULL)
        until = time.monotonic() + 20
        while time.monotonic() < until:
            try:
                socket.create_connection(("127.0.0.1", self.port)).close()
                break
            except OSError:
                time.sleep(0.05)
        with open(self.top + "/pid") as f:
            self.pid = int(f.read())
        return self

    def __exit__(self, *unused):
        os.kill(self.pid, signal.SIGTERM)
        self.p.wait(30)
        shutil.rmtree(self.top, ignore_errors=True)

    def ask(self):
        """Returns the requests answered in a second."""
        said = output("taskset", "-c", WATCHING, "wrk", "-t1", f"-c{CONNECTIONS}", f"-d{TURN_S}s",
                      f"http://127.0.0.1:{self.port}/")
        return float(re.search(r"Requests/sec:\s+([\d.]+)", said)[1])


class Sampled(Tracer):
    name = "1 connection in 20"
    options = SAMPLE


class SampledLight(Tracer):
    name = "1 in 20, light"
    options = LightTracer.options + SAMPLE


class OtherSampled(OtherTracer):
    name = "other build: 1 in 20"
    options = SAMPLE


class AppOnly(Bare):
    name = "application side only"


def measure(plain, wrapped):
    kinds = [Bare, EmptyHooks, EmptyEvents, EmptyLight, EmptyEventsLight, Tracer, LightTracer, Sampled, SampledLight, AppOnly,
             TcpdumpShort]
    if OTHER_TRACER:
        kinds += OTHER_KINDS + [OtherSampled]
    kinds = [k for k in kinds if k is not TcpdumpShort or k.works()]
    series, notes = {k.name: [] for k in kinds}, {}
    for n in rounds(SECONDS):
        k = n % len(kinds)
        for kind in kinds[k:] + kinds[:k]:
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
      "magnet-kernel-tracer -o DIR --pid NGINX [--layers light] [--sample 20]",
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
