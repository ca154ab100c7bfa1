# SPDX-License-Identifier: MIT
"""docs/performance.md and the runner that writes its table say the same: groups, benchmarks, rows."""
import importlib.util
import os
import re
import subprocess
import sys
import tempfile

ROOT = sys.argv[1]
RUNNER = ROOT + "/tests/bench/performance.py"
spec = importlib.util.spec_from_file_location("performance", RUNNER)
performance = importlib.util.module_from_spec(spec)
sys.dont_write_bytecode = True
spec.loader.exec_module(performance)


def check(condition, what):
    print(("ok: " if condition else "FAILED: ") + what)
    if not condition:
        sys.exit(1)


text = open(ROOT + "/docs/performance.md").read()
for group, (_, script, *args) in performance.GROUPS.items():
    check(os.path.exists(f"{ROOT}/tests/bench/{script}"), f"{group}: there is {script}")
    name = " ".join([script, *args])
    check(f"| {group} | `tests/bench/{name}` |" in text, f"{group}: the page says what it runs")
    check(re.search(rf"^\| .* \| {group} \|$", text, re.M), f"{group}: the page has rows of it")
    check(any(row[0] == group for row in performance.ROWS), f"{group}: rows are made of it")
rows = re.findall(r"^\| (.*?) \| (.*?) \| .* \|.*\| ([a-z0-9-]+) \|$", text, re.M)
rows = [row for row in rows if row[2] != "group"]  # the heading
known = {(what, unit, group) for group, what, _, unit, _ in performance.ROWS}
check(all(row in known for row in rows), "the page has no row that is not measured again")
check(sum(seconds for seconds, *_ in performance.GROUPS.values()) < 600,
      "all turns together leave time for starting them in thirteen minutes")

benchmarks = re.findall(r"^  '(\w+)',$", open(ROOT + "/tests/bench/meson.build").read(), re.M)
unnamed = [b for b in benchmarks if not re.search(rf"\b{b}\b", text)]
check(benchmarks and not unnamed, f"the page names each benchmark {unnamed or ''}")

# a figure's key is what a benchmark calls it
calls = "".join(open(f"{ROOT}/tests/bench/{s[1]}").read() for s in performance.GROUPS.values())
kinds = {re.split(r"[:,]", name)[0] for row in performance.ROWS for _, name in row[4]}
missing = [k for k in kinds if not re.search(r'result\(f"' + re.escape(k.split(" ")[0]), calls)
           and not k.startswith(("bulk", "writes of"))]
check(not missing, f"each figure of a row is one that a benchmark notes {missing or ''}")

figures = {"event, one CPU": [70.4, 60, 80.6, 9]}
made = performance.rows("trip", figures)
check(made == ["| kernel event, above empty programs | ns | **70** [60 81] |  | trip |"], f"a row: {made}")
with tempfile.NamedTemporaryFile("w+") as f:
    f.write("| a | b | c | trip |\n| d | e | f | trip |\n| x | y | z | bulk |\n")
    f.flush()
    performance.DOCUMENT = f.name
    performance.write("trip", made)
    check(open(f.name).read() == made[0] + "\n| x | y | z | bulk |\n", "--write replaces a group's rows")

p = subprocess.run([sys.executable, RUNNER, "nothing"], text=True, capture_output=True, check=False)
check(p.returncode == 1 and "no such group: nothing" in p.stderr, "an unknown group is refused")
p = subprocess.run([sys.executable, RUNNER, "--list"], text=True, capture_output=True, check=False)
check(len(p.stdout.splitlines()) == len(performance.GROUPS), "--list names all groups")
