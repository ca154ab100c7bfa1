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
