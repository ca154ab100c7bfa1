# SPDX-License-Identifier: MIT
"""Bad traces: one clear line and exit 1, or an honest partial report; never a crash or a hang."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import *
from lttng import LttngSession

EXCHANGE = os.path.join(os.path.dirname(__file__), "..", "programs", "exchange.py")
LIBMAGNET = os.path.join(os.environ.get("MAGNET_BUILD", ""), "preload/libmagnet.so")
TOP = scratch()


def refused(what, *args, status=1):
    for command in ("report", "show"):
        p = run(MAGNET, command, *args, check=False)
        lines = p.stderr.strip().splitlines()
        check(p.returncode == status and len(lines) == 1 and lines[0].startswith("magnet: "),
              f"{what}: {command} exits {p.returncode}: {p.stderr.strip()}")


def copy(rec, name):
    shutil.copytree(rec.dir, f"{TOP}/{name}")
    return f"{TOP}/{name}"


def find(directory, suffix):
    """The largest file whose name ends so."""
    paths = [os.path.join(at, n) for at, _, names in os.walk(directory) for n in names
             if n.endswith(suffix)]
    return max(paths, key=os.path.getsize)


try:
    os.mkdir(TOP + "/empty")
    refused("nothing there", TOP + "/absent")
    refused("no trace in it", TOP + "/empty")
    check(run(MAGNET, "show", TOP + "/absent", check=False).stdout == "", "nothing is shown of nothing")
    p = run(MAGNET, "show", TOP + "/empty", "--from", "2", "--to", "1", check=False)
    check(p.returncode == 2 and "--from is not before --to" in p.stderr, "a time that cannot be")
    open(TOP + "/file", "w").close()
    refused("no directory", TOP + "/file")
    refused("no argument", status=2)
    for quantile in ("99", "p0", "p100", "p9x", ""):
        p = run(MAGNET, "report", "--waterfall", quantile, TOP + "/empty", check=False)
        check(p.returncode == 2 and len(p.stderr.splitlines()) == 1 and "quantile" in p.stderr,
              f"no quantile: {p.stderr.strip()}")
    os.mkdir(TOP + "/garbage")
    open(TOP + "/garbage/metadata", "w").write("this is no metadata\n")
    refused("garbage metadata", TOP + "/garbage")

    with Recording(PYTHON, EXCHANGE, "50", options=("-q",)) as rec:
        good = rec.report()
        for option, status, hint in (("--folded", 1, "magnet record --stacks"), ("--full", 2, "--json")):
            p = run(MAGNET, "report", option, rec.dir, check=False)
            check(p.returncode == status and not p.stdout and len(p.stderr.splitlines()) == 1 and hint in p.stderr,
                  f"{option} alone, without stacks: {p.stderr.strip()}")
        if good["events"]["kernel"]:
            d = copy(rec, "truncated")
            path = find(d, "cpu0") if os.path.exists(d + "/kernel/cpu0") else find(d, "cpu1")
            os.truncate(path, os.path.getsize(path) - 10)
            refused("truncated stream", d)
            d = copy(rec, "magic")
            with open(find(d + "/kernel", ""), "r+b") as f:
                f.write(b"\0\0\0\0")
            if run(MAGNET, "report", d, check=False).returncode == 0:  # newer babeltrace2 minds not
                check(json.loads(run(MAGNET, "report", "--json", d).stdout)["events"]
                      == good["events"], "wrong magic: read in full")
            else:
                refused("wrong magic", d)
            d = copy(rec, "app-only")
            shutil.rmtree(d + "/kernel")
            r = json.loads(run(MAGNET, "report", "--json", d).stdout)
            check(r["events"]["kernel"] == 0 and r["flows"] == [], "application trace only: partial")
            d = copy(rec, "sizes")
            with open(find(d + "/kernel", ""), "r+b") as f:
                f.seek(55)  # of the first packet: the highest byte of its size
                f.write(b"\x80")
            p = run(MAGNET, "report", d, check=False)
            check(p.returncode == 1 and p.stderr.strip().splitlines()[-1].startswith("magnet: "),
                  f"sizes that cannot be: {p.stderr.strip()}")
            d = copy(rec, "foreign")
            shutil.copytree(d + "/kernel", d + "/lttng-kernel")
            with open(d + "/lttng-kernel/metadata", "r+b") as f:
                text = f.read().replace(b"magnet-kernel-tracer", b"lttng-modules")
                f.seek(0)
                f.truncate()
                f.write(text)
            check(json.loads(run(MAGNET, "report", "--json", d).stdout)["events"] == good["events"],
                  "another tracer's events of the same name are not taken for ours")
            d = copy(rec, "kernel-only")
            shutil.rmtree(d + "/app")
            r = json.loads(run(MAGNET, "report", "--json", d).stdout)
            check(all(c["kernel_only"] for c in r["calls"]) and
                  sum(f["bytes"] for f in r["flows"]) == sum(f["bytes"] for f in good["flows"]),
                  "kernel trace only: partial, with all bytes")
            run(MAGNET, "report", d)
        d = copy(rec, "metadata")
        os.truncate(d + "/app/metadata", 903)
        refused("metadata cut off", d)
        open(d + "/session.json", "w").write("{ not json")
        refused("and session.json damaged too", d)
        d = copy(rec, "session")
        open(d + "/session.json", "w").write("{ not json")
        p = run(MAGNET, "report", d)
        check("damaged" in p.stderr, "a damaged session.json is told and done without")
        os.unlink(d + "/session.json")
        check(run(MAGNET, "report", d).returncode == 0, "no session.json: reported")
        several = TOP + "/several"
        os.mkdir(several)
        for name in ("one", "below/two"):
            shutil.copytree(rec.dir, f"{several}/{name}")
        p = run(MAGNET, "report", several, check=False)
        check(p.returncode == 1 and not p.stdout and p.stderr == f"magnet: {several} holds 2 recordings: "
              "below/two, one; give one, or compare them with --against\n",
              f"two recordings in one directory: {p.stderr.strip()}")
        refused("and to show them", several)
        alone = run(MAGNET, "report", "--json", rec.dir).stdout
        check(run(MAGNET, "report", "--json", several + "/below").stdout == alone,
              "one that lies deeper is read with its session.json")
        sides = sorted({"app", "kernel"} & set(os.listdir(rec.dir)))
        for name in ("one", "below/two"):
            os.unlink(f"{several}/{name}/session.json")
        refused("two without session.json", several)
        if len(sides) == 2:
            for side, name in (("app", "one"), ("kernel", "below/two")):
                shutil.rmtree(f"{several}/{name}/{side}")
            events = lambda *d: json.loads(run(MAGNET, "report", "--json", *d).stdout)["events"]
            check(events(several) == good["events"], "one side here, the other there: one recording")
            check(events(*(f"{rec.dir}/{side}" for side in sides)) == good["events"], "both sides named by hand")
        with Recording(PYTHON, EXCHANGE, "5", options=("--app-only",)) as later:
            for command in ("report", "show"):
                p = run(MAGNET, command, rec.dir, later.dir, check=False)
                check(p.returncode == 1 and not p.stdout and later.dir in p.stderr
                      and "different times" in p.stderr, f"one after the other: {p.stderr.strip()}")
        p = run(MAGNET, "report", rec.dir, "--flow", "1/xx", check=False)
        check(p.returncode == 1 and "1/xx" in p.stderr, "a flow that is not there")
        for figures in ("nothing", "ks,", "bursts:gap=x", "ks:gap=1"):
            p = run(MAGNET, "report", rec.dir, "--on-demand", figures, check=False)
            check(p.returncode == 2 and len(p.stderr.splitlines()) == 1 and not p.stdout,
                  f"--on-demand {figures}: {p.stderr.strip()}")
        p = run(MAGNET, "report", rec.dir, "--on-demand", "ks", "--against", rec.dir, check=False)
        check(p.returncode == 2 and "--against" in p.stderr, "--on-demand and --against: " + p.stderr.strip())
        check("variance-time" in run(MAGNET, "report", "--on-demand", "list").stdout, "list names the figures")
        run(MAGNET, "report", rec.dir, "--on-demand", "all")
        p = run("sh", "-c", f"{MAGNET} show {rec.dir} > /dev/full", check=False)
        check(p.returncode == 1 and "cannot write" in p.stderr, "a full output is told")

    # of these babeltrace2 itself would never return, or abort
    if shutil.which("lttng-sessiond"):
        with LttngSession() as session:
            run(PYTHON, EXCHANGE, "50", env=dict(os.environ, LD_PRELOAD=LIBMAGNET, **session.env))
            session.end()
            for name in ("lttng-metadata", "lttng-index"):
                shutil.copytree(session.trace, f"{TOP}/{name}")
        os.truncate(find(TOP + "/lttng-metadata", "metadata"), 903)
        refused("LTTng's metadata cut off", TOP + "/lttng-metadata")
        with open(find(TOP + "/lttng-index", ".idx"), "r+b") as f:
            f.seek(16)  # where the first packet is
            f.write(b"\1")
        refused("an index that points outside", TOP + "/lttng-index")
finally:
    shutil.rmtree(TOP)
