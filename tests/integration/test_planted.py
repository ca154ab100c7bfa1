# SPDX-License-Identifier: MIT
"""
magnet as root runs nobody's code: it loads the plugins that babeltrace2 was installed with, and none
that the environment names, or that lie in a home or the current directory.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from fixture import *

LIBRARY = os.path.join(os.environ["MAGNET_BUILD"], "tests", "programs", "libplanted.so")

if os.geteuid():
    skip("this is about root")
need_program("babeltrace2")
with Recording(PYTHON, "-c", "import socket; a, b = socket.socketpair(); a.send(b'x'); b.recv(1)",
               options=("--app-only",)) as rec:
    top = rec.top + "/planted"
    home = top + "/.local/lib/babeltrace2/plugins"
    os.makedirs(home)
    for directory in (top, home):
        for name in ("babeltrace-plugin-planted.so", "babeltrace-plugin-ctf.so", "babeltrace-plugin-utils.so",
                     "babeltrace2-python-plugin-provider.so"):
            shutil.copy(LIBRARY, f"{directory}/{name}")
    environments = {
        "BABELTRACE_PLUGIN_PATH": dict(BABELTRACE_PLUGIN_PATH=top),
        "LIBBABELTRACE2_PLUGIN_PROVIDER_DIR": dict(LIBBABELTRACE2_PLUGIN_PROVIDER_DIR=top),
        "a home": dict(HOME=top),
        "the current directory": dict(BABELTRACE_PLUGIN_PATH="."),
    }
    for what, more in environments.items():
        witness = rec.top + "/witness"
        env = dict(os.environ, PLANTED=witness, **more)
        run("babeltrace2", "list-plugins", env=env, cwd=top, check=False)
        print(what, "misleads babeltrace2 itself" if os.path.exists(witness) else "leads nowhere here")
        if os.path.exists(witness):
            os.unlink(witness)
        env["MAGNET_READER"] = "babeltrace2"
        p = run(MAGNET, "report", rec.dir, env=env, cwd=top)
        check(not os.path.exists(witness) and p.stdout,
              f"root's report loads nothing from {what}")
        p = run(MAGNET, "record", "-q", "-o", rec.top + "/again", "--", "true", env=env, cwd=top)
        shutil.rmtree(rec.top + "/again")
        check(not os.path.exists(witness), "nor does a recording")
