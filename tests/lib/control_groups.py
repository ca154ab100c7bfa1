# SPDX-License-Identifier: MIT
"""Control groups, of whichever version a controller is in here."""


def hierarchy(controller):
    """(version, directory) of the hierarchy that has the controller; the version is None and says why if there is none."""
    why = f"no hierarchy of control groups with the controller {controller} is mounted"
    with open("/proc/self/mounts") as f:
        mounts = [line.split() for line in f]
    for _, at, kind, options, *_ in mounts:
        if kind == "cgroup" and controller in options.split(","):
            return kind, at
    for _, at, kind, *_ in mounts:
        if kind != "cgroup2":
            continue
        with open(at + "/cgroup.controllers") as f:
            if controller not in f.read().split():
                continue
        try:
            with open(at + "/cgroup.subtree_control", "w") as f:
                f.write(f"+{controller}")
            return kind, at
        except OSError as e:
            why = f"{at}: {e.strerror}"
    return None, why
