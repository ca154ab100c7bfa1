# SPDX-License-Identifier: MIT
"""The components in babeltrace2's own graphs give what the magnet commands give."""
import os
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
