# SPDX-License-Identifier: MIT
"""Reports as JSON have the form that docs/report.schema.json, made from the table of figures, says."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import *

try:
    import jsonschema
except ImportError:
    skip("without python3-jsonschema")
PROGRAMS = os.path.join(os.path.dirname(__file__), "..", "programs")
EXCHANGE = [PYTHON, PROGRAMS + "/exchange.py", "300"]
CONNECTIONS = """
import socket
s = socket.create_server(("127.0.0.1", 0))
for _ in range(700):
    a = socket.create_connection(s.getsockname())
    b, _ = s.accept()
    a.sendall(b"x")
    b.recv(1)
    a.close()
    b.close()
"""
RECORDINGS = (
    ("all but a few layers", EXCHANGE, ()),
    ("datagrams and UNIX sockets", [PYTHON, PROGRAMS + "/messages.py"], ("--level", "full", "--layers", "+switch")),
    ("no layer", EXCHANGE, ("--layers", "none")),
    ("the application alone", EXCHANGE, ("--app-only",)),
    ("the kernel alone", EXCHANGE, ("--kernel-only",)),
    ("too small a buffer", EXCHANGE, ("--buffer", "64K")),
    ("many connections", [PYTHON, "-c", CONNECTIONS], ()),
)


def problems(report):
    # the first flows, as to check thousands takes long
    report = report | {"flows": report["flows"][:200]}
    return [f"{'.'.join(map(str, e.absolute_path))}: {e.message[:200]}" for e in validator.iter_errors(report)]


need_kernel_side()
with open(os.path.join(os.environ["MAGNET_BUILD"], "docs", "report.schema.json")) as f:
    schema = json.load(f)
jsonschema.Draft202012Validator.check_schema(schema)
validator = jsonschema.Draft202012Validator(schema)
for what, command, options in RECORDINGS:
    with Recording(*command, options=("-q", *options)) as rec:
        for more in ((), ("--on-demand", "all"), ("--against", rec.dir)):
            if more[:1] == ("--on-demand",) and command[-1] == CONNECTIONS:
                continue  # on demand each flow of many has the form of one
            report = json.loads(run(MAGNET, "report", "--json", *more, rec.dir).stdout)
            wrong = problems(report)
            check(not wrong, f"{what} {' '.join(more[:1])}: as the schema says; not so: {wrong[:5]}")
report["scheduler"]["migrations"] = "many"
report["flows"][0]["new"] = 1
del report["clock"]
check(len(problems(report)) == 3, "and a report of another form is found out")
