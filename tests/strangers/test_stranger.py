# SPDX-License-Identifier: MIT
"""
test_stranger.py NAME...: programs of strangers.py by name (all without any) print the same, and end the
same, under `magnet record` as without; and the recording is sound.
"""
import sys

from strangers import EXPECT, OWN_PIDS, STRANGERS, UNSEEN
from fixture import *
from programs import Surroundings, path, script_of
from sound import sound


def once(program):
    """Run a program bare and recorded, and compare."""
    top = tempfile.mkdtemp(prefix="magnet-test-")
    env = {**os.environ, "LC_ALL": "C.UTF-8", "HOME": top}
    try:
        with Surroundings(top, [program]):
            script = script_of(program, top)
            bare = run("sh", "-c", script, check=False, env=env)
            check(bare.returncode == 0, f"{program.name} {program.version_text()}: runs bare: "
                  f"{bare.stdout[-300:]}{bare.stderr[-300:]}")
            with Recording("sh", "-c", script, options=("-q",), ok=None, env=env) as rec:
                check(rec.p.returncode == 0, f"{program.name}: ends as without magnet: {rec.p.stderr[-500:]}")
                check(rec.p.stdout == bare.stdout,
                      f"{program.name}: prints the same {len(bare.stdout)} bytes: {rec.p.stdout[-300:]!r}")
                sound(rec, program.name, 1, joined=program.name not in OWN_PIDS)
                report = rec.report()
                check(program.name in UNSEEN or report["events"]["app"] > 0,
                      f"{program.name}: {report['events']['app']} application events")
                if program.name in EXPECT:
                    EXPECT[program.name](rec, report)
    finally:
        shutil.rmtree(top, ignore_errors=True)


def main():
    os.environ["PATH"] = path()
    chosen = [p for p in STRANGERS if p.name in sys.argv[1:] or len(sys.argv) == 1]
    need_kernel_side()
    absent = sorted({m for p in chosen for m in p.missing()})
    if absent and len(chosen) == 1:
        skip(f"not installed: {' '.join(absent)} (scripts/strangers installs what this suite needs)")
    for program in chosen:
        if program.missing():
            print(f"--- {program.name}: not installed: {' '.join(program.missing())}")
        else:
            print("---", program.name, flush=True)
            once(program)


main()
