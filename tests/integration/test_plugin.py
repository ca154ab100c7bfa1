# SPDX-License-Identifier: MIT
"""The components in babeltrace2's own graphs give what the magnet commands give."""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import *

EXCHANGE = os.path.join(os.path.dirname(__file__), "..", "programs", "exchange.py")
PLUGINS = "--plugin-path=" + os.environ["MAGNET_BUILD"] + "/correlate"


def babeltrace(directory, component, params="", ok=True):
    args = ["babeltrace2", PLUGINS, directory, "--component=" + component]
    return run(*args, *(["--params=" + params] if params else []), check=ok)


need_program("babeltrace2")
with Recording(PYTHON, EXCHANGE, "20", options=("-q",)) as rec:
    p = run("babeltrace2", PLUGINS, "list-plugins")
    check("magnet" in p.stdout and "report" in p.stdout, "babeltrace2 lists the plugin")

    for component in ("sink.magnet.report", "sink.magnet.show", "filter.magnet.flow", "filter.magnet.join"):
        said = run("babeltrace2", PLUGINS, "help", component).stdout
        check("Description" in said and "Parameters" in said and "the magnet authors" in said
              and f"$ babeltrace2 TRACE --component={component}" in said,
              f"the help of {component} has description, author and an example")

    session = f'session="{rec.dir}/session.json"'
    text = babeltrace(rec.dir, "sink.magnet.report", session)
    check("System calls" in text.stdout and "exchange.py" in text.stdout, "sink.magnet.report")

    def figures(j):
        """Without what depends on where the merge puts equal times."""
        return [(f["id"], f["bytes"], f["residence_total_ns"]) for f in j["flows"]], j["events"]

    by_plugin = json.loads(babeltrace(rec.dir, "sink.magnet.report",
                                      'format="json",' + session).stdout)
    check(figures(by_plugin) == figures(rec.report()), "its figures are magnet report's")

    shown = babeltrace(rec.dir, "sink.magnet.show", 'format="tsv",' + session).stdout
    check(shown == run(MAGNET, "show", "--tsv", rec.dir).stdout, "sink.magnet.show is magnet show")

    target = rec.top + "/report.txt"
    babeltrace(rec.dir, "sink.magnet.report", f'path="{target}"')
    check("System calls" in open(target).read(), "path= writes to a file")

    for component, params in (("sink.magnet.report", 'format="xml"'),
                              ("sink.magnet.report", 'fromat="json"'),
                              ("sink.magnet.show", "flow=5"),
                              ("sink.magnet.show", 'session="/nowhere"')):
        p = babeltrace(rec.dir, component, params, ok=False)
        check(p.returncode != 0 and "CAUSED BY" in p.stderr, f"{component} refuses {params}")

    # filter.magnet.flow: in anyone's graph
    def through(*args, ok=True):
        return run("babeltrace2", PLUGINS, rec.dir, *args, check=ok)

    def names(text):
        """Events by their names."""
        return [re.search(r" (\S+): \{", line).group(1) for line in text.splitlines()
                if re.search(r" (\S+): \{", line)]

    filtering = ("--component=filter.magnet.flow",)
    flows = [f["id"] for f in rec.report()["flows"]]
    if flows:
        one = max(rec.report()["flows"], key=lambda f: f["bytes"])["id"]
        shown_one = [e["event"] for e in rec.events() if e["flow"] == one]
        p = through(*filtering, f'--params=flow="{one}",{session}', "--component=sink.text.pretty")
        check(names(p.stdout) == shown_one and len(shown_one) > 10,
              f"only one flow's events pass, in order: {len(shown_one)}")
        both = [e["event"] for e in rec.events() if e["flow"].split("/")[0] == one.split("/")[0]]
        p = through(*filtering, f'--params=flow="{one.split("/")[0]}"', "--component=sink.text.pretty")
        check(sorted(names(p.stdout)) == sorted(both), f"both directions: {len(both)}")
        # behind a trimmer, before another filter and into another trace
        p = through("--begin=1970-01-01", *filtering, f'--params=flow="{one}"',
                    "--component=sink.text.pretty")
        check(sorted(names(p.stdout)) == sorted(shown_one), "behind a trimmer")
        p = through(*filtering, f'--params=flow="{one}"', *filtering, "--params=pid=1",
                    "--component=sink.utils.counter")
        check(re.search(r"^\s+0 Event message", p.stdout, re.M), f"two in a row: {p.stdout}")
        written = rec.top + "/one-flow"
        through(*filtering, f'--params=flow="{one}"', "--component=sink.ctf.fs",
                f'--params=path="{written}"')
        check(sorted(names(run("babeltrace2", written).stdout)) == sorted(shown_one),
              "what passes makes a trace of its own")
        by_flow = json.loads(babeltrace(rec.dir, "sink.magnet.report",
                                        f'format="json",flow="{one}",' + session).stdout)
        check([f["id"] for f in by_flow["flows"]] == [one], "a report of one flow")
        p = babeltrace(rec.dir, "sink.magnet.report", 'flow="1/xx"', ok=False)
        check(p.returncode != 0 and "no flow 1/xx" in p.stderr, "a flow that is not there")
    pid = next(int(e["pid"]) for e in rec.events() if e["event"].startswith("magnet:"))
    p = through(*filtering, f"--params=pid={pid}", "--component=sink.text.pretty")
    check(sorted(names(p.stdout)) ==
          sorted(e["event"] for e in rec.events() if int(e["pid"]) == pid), "one process's events")
    p = babeltrace(rec.dir, "sink.magnet.show", 'format="tsv",from=0.01,to=0.02,' + session)
    check(p.stdout == run(MAGNET, "show", "--tsv", "--from", "0.01", "--to", "0.02", rec.dir).stdout,
          "from and to")
    j = json.loads(babeltrace(rec.dir, "sink.magnet.report",
                              'format="json",on-demand="all",' + session).stdout)
    check(j == {**json.loads(run(MAGNET, "report", "--json", "--on-demand", "all", rec.dir).stdout)}
          or figures(j) == figures(rec.report()), "figures on demand")
    for params in ("", 'flow=5', 'pid="x"', 'flwo="1/tx"', 'pid=1,session="/nowhere"'):
        p = through(*filtering, *([f"--params={params}"] if params else []), ok=False)
        check(p.returncode != 0 and "CAUSED BY" in p.stderr, f"filter.magnet.flow refuses '{params}'")

    # filter.magnet.join: everything passes, and what is known of it comes beside, in order of time
    joining = ("--component=filter.magnet.join", f"--params={session}")
    plain = through("--component=sink.text.pretty", "--params=color=never,no-delta=yes").stdout
    p = through(*joining, "--component=sink.text.pretty", "--params=color=never,no-delta=yes")
    derived = re.compile(r" (magnet:joined_call|magnet:atom_tx|magnet:atom_rx): \{")
    lines = p.stdout.splitlines()
    check([l for l in lines if not derived.search(l)] == plain.splitlines(), "all that was there passes")
    found = [{"event": derived.search(l).group(1),
              **dict(re.findall(r'(\w+) = "?([^",}]*?)"?(?:,| \})', l))} for l in lines if derived.search(l)]
    report = rec.report()
    calls = [c for c in report["calls"] if not c["kernel_only"]]
    if report["events"]["kernel"]:
        joined = [d for d in found if d["event"] == "magnet:joined_call"]
        check(len(joined) == sum(c["n"] for c in calls) - report["unjoined_calls"] > 20,
              f"each joined call has an event: {len(joined)}")
        check(all(abs(sum(int(d[k]) for k in d if k.endswith("_ns") and k not in ("total_ns", "begin_ns"))
                      - int(d["total_ns"])) <= 14 for d in joined), "with states that sum to it")
        for f in report["flows"]:
            if f["proto"] != "tcp" or not f["residence"]:
                continue
            atoms = [d for d in found if d["event"] == "magnet:atom_" + f["direction"]
                     and d["flow"] == f["id"]]
            check(sum(int(a["length"]) for a in atoms) <= f["complete_bytes"] and
                  (sum(int(a["length"]) for a in atoms) > 0) == (f["complete_bytes"] > 0),
                  f"atoms of {f['id']}: {len(atoms)}")
            mean = sum(int(a["total_ns"]) * int(a["length"]) for a in atoms) / \
                max(sum(int(a["length"]) for a in atoms), 1)
            near(mean, f["residence_total_ns"], 0.001, "with the report's mean total")
    times = re.compile(r"^\[(\S+?)\]")
    stamps = [times.match(l).group(1) for l in lines]
    check(stamps == sorted(stamps), "in order of time")
    check(" Event messages" in through(*joining, *filtering, "--params=pid=1",
                                       "--component=sink.utils.counter").stdout, "before another filter")
    written = rec.top + "/joined"
    through(*joining, "--component=sink.ctf.fs", f'--params=path="{written}"')
    check(len(derived.findall(run("babeltrace2", written).stdout)) == len(found), "and as a trace")
    p = through("--component=filter.magnet.join", '--params=flow="1/tx"', ok=False)
    check(p.returncode != 0 and "CAUSED BY" in p.stderr, "filter.magnet.join refuses flow=")
