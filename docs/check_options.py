# SPDX-License-Identifier: MIT
"""
Compares a program's --help with its manual page: both must name the same options, with the same
arguments, and the synopsis of the page no other.

    check_options.py PAGE COMMAND [ARG...]      runs COMMAND [ARG...] --help
"""
import re
import subprocess
import sys

OPTION = re.compile(r"(?<![\w-])--?[A-Za-z][\w-]*")
# "  -o, --output DIR    text" and "      --all    text": the line of an option in --help
# and "      --all[=WHAT]  text", whose argument may be left out
LINE = re.compile(r"^ +(?:(-\w), )?(-[\w-]+)(?:(?: |\[=)([A-Z]+)\]?)?(?:  .*)?$")


def of_help(command):
    """Option -> its argument ("" if none), and every option the text names."""
    p = subprocess.run(command + ["--help"], capture_output=True, text=True, timeout=60)
    if p.returncode != 0:
        sys.exit(f"{' '.join(command)} --help: exit {p.returncode}\n{p.stderr}")
    listed = {}
    for line in p.stdout.splitlines():
        m = LINE.match(line)
        if m:
            for name in filter(None, m.group(1, 2)):
                listed[name] = m.group(3) or ""
    named = set(OPTION.findall(p.stdout))
    return {name: listed.get(name, "") for name in named | set(listed)}


def flags(line):
    """The options of a line of mdoc: `Fl o` is -o, `Fl -output` is --output."""
    return ["-" + f for f in re.findall(r"\bFl (-?[A-Za-z][\w-]*)", line)]


def of_page(path):
    """Option -> its argument, from the .It lines; and the options of the synopsis."""
    documented, synopsis, section = {}, set(), ""
    with open(path, encoding="utf-8") as f:
        for line in f:
            if line.startswith(".Sh "):
                section = line[4:].strip()
            elif section == "SYNOPSIS":
                synopsis.update(flags(line))
            elif line.startswith(".It ") and flags(line):
                argument = re.search(r"\bAr (\w+)", line)
                for name in flags(line):
                    documented[name] = argument.group(1) if argument else ""
    return documented, synopsis


def main():
    page, command = sys.argv[1], sys.argv[2:]
    told = of_help(command)
    documented, synopsis = of_page(page)
    problems = [f"--help has {n}, the page has not" for n in told.keys() - documented.keys()]
    problems += [f"the page has {n}, --help has not" for n in documented.keys() - told.keys()]
    problems += [f"the synopsis has {n}, the options have not" for n in synopsis - documented.keys()]
    problems += [f"{n} takes '{told[n]}' in --help, '{documented[n]}' in the page"
                 for n in told.keys() & documented.keys() if told[n] != documented[n]]
    for p in sorted(problems):
        print(p)
    print(f"{page}: {len(documented)} options, {len(problems)} differences")
    sys.exit(bool(problems))


main()
