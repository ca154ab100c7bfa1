# SPDX-License-Identifier: MIT
"""
Every command the README shows for use runs as written, in order, in one shell, from the source
directory, with the programs on the path as `meson devenv` has them. (scripts/demo has a test of its
own; scripts/test is what runs this.)
"""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import *

ROOT = os.path.realpath(os.path.join(os.path.dirname(__file__), "..", ".."))
BUILD = os.environ["MAGNET_BUILD"]
KERNEL = not no_kernel_side()

readme = open(ROOT + "/README.md").read()
blocks = re.findall(r"```sh\n(.*?)```", readme, re.S)
check(len(blocks) >= 5, f"the README shows {len(blocks)} blocks of commands")
commands = "".join(blocks)
for page in re.findall(r"(magnet[a-z-]*|libmagnet)\(\d\)", readme):
    check(any(n.startswith(page + ".") for n in
              os.listdir(ROOT + "/docs") + os.listdir(BUILD + "/docs")), f"there is a page {page}")

waits = re.search("^while kill -0 .*done", commands, re.M)[0]  # for the hooks
check("\n# " + waits + "\n" in open(ROOT + "/docs/libmagnet.7").read(), "libmagnet(7) waits for the tracer in the same way")

for row in re.findall(r"\|([^|]*)\|$", open(ROOT + "/docs/validation.md").read(), re.M)[2:]:
    for test in re.findall(r"`(unit )?(\w+)`", row):
        name = f"test_{test[1]}.{'c' if test[0] else 'py'}"
        check(any(name in files for _, _, files in os.walk(ROOT + "/tests")), f"there is {name}")

need_program("lttng-sessiond", "lttng", "babeltrace2")
if not KERNEL:
    commands = re.sub(r"^(magnet-kernel-tracer|while kill -0).*\n", "", commands, flags=re.M)
    commands = re.sub(r"^magnet show polls.*\n", "", commands, flags=re.M)
    # flows are the kernel side's
    commands = re.sub(r"^(flow=|magnet show trace --flow).*\n", "", commands, flags=re.M)
    commands = commands.replace(" kernel/", "").replace(" app kernel", " app")
    commands = re.sub(r"^magnet doctor$", "magnet doctor || [ $? = 1 ]", commands, flags=re.M)  # partial
top = scratch()
try:
    os.mkdir(top + "/here")
    for name in ("tests", "build"):
        os.symlink(ROOT + "/tests" if name == "tests" else BUILD, f"{top}/here/{name}")
    script = f"""
set -ex
cd {top}/here
trap 'kill $(cat $pidfile) 2>/dev/null' EXIT
{commands}
"""
    if os.geteuid() == 0:  # a session daemon of the machine's own is left alone
        script = ("mkdir -p /run/lttng; mount -t tmpfs tmpfs /run/lttng\n"
                  "pidfile=/run/lttng/lttng-sessiond.pid\n" + script)
        shell = ["unshare", "-m", "sh", "-c", script]
    else:
        script = f"export LTTNG_HOME={top}\npidfile=$LTTNG_HOME/.lttng/lttng-sessiond.pid\n" + script
        shell = ["sh", "-c", script]
    path = f"{BUILD}/cli:{BUILD}/kernel-tracer:{os.environ['PATH']}"
    env = dict(os.environ, PATH=path, BABELTRACE_PLUGIN_PATH=BUILD + "/correlate")
    p = run(*shell, check=False, env=env)
    print(p.stdout + p.stderr)
    check(p.returncode == 0, "all commands succeed")
    check(p.stdout.count("System calls") >= 3, "each report is one")
    check(json.load(open(top + "/here/report.json"))["events"]["app"] > 0, "report.json holds events")
    check(open(top + "/here/events.tsv").readline().startswith("time_ns\tcycles"), "events.tsv too")
    if KERNEL:
        by_hand = json.loads(run(MAGNET, "report", "--json", top + "/here/app", top + "/here/kernel").stdout)
        send = next(c for c in by_hand["calls"] if c["name"] == "send" and not c["kernel_only"])
        check(send["joined"] == send["n"] > 0 and by_hand["session"]["sides"]["kernel"]["complete"],
              f"the tracer started by hand was attached before the {send['n']} sends: {send['joined']} are joined")
    check(" magnet:send: " in open(top + "/here/merged.txt").read(), "merged.txt too")
finally:
    shutil.rmtree(top)
