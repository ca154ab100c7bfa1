# SPDX-License-Identifier: MIT
"""The source tree in a root, and files there by pattern."""
import glob
import os
import subprocess

from roots import check


def copy_source(source, to):
    """Copy the files that git has or would take."""
    names = subprocess.run(["git", "-C", source, "ls-files", "-coz", "--exclude-standard"], capture_output=True, check=True).stdout
    os.makedirs(to)
    tar = subprocess.Popen(["tar", "-C", source, "--null", "-T", "-", "-c"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    untar = subprocess.Popen(["tar", "-C", to, "-x"], stdin=tar.stdout)
    tar.stdin.write(names)
    tar.stdin.close()
    check(untar.wait() == 0, "the source is copied")


def glob_in(root, pattern):
    return [path[len(root.path):] for path in glob.glob(root.path + pattern)]
