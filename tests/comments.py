# SPDX-License-Identifier: MIT
"""
No comment of C and BPF sources, and no docstring or comment of Python's, begins with a pronoun or
preposition that leaves open who acts. Usage: comments.py SOURCE-ROOT
"""
import io
import os
import re
import sys
import tokenize

OPENERS = re.compile(r"(?:Of|What|It|Its|These)\b")
C_TOKEN = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|/\*.*?\*/|//[^\n]*', re.S)


def c_comments(text):
    """The line and the words of each comment."""
    for token in C_TOKEN.finditer(text):
        if token.group().startswith("/"):
            yield text.count("\n", 0, token.start()) + 1, token.group()[2:].lstrip("* \n\t")


def python_comments(text):
    """The line and the words of each block of comments, and of each docstring."""
    last, fresh = None, True
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            if last != token.start[0] - 1:
                yield token.start[0], token.string.lstrip("# !")
            last = token.start[0]
        elif token.type == tokenize.STRING and fresh:
            yield token.start[0], token.string.lstrip("rfbu\"'\n ")
        if token.type not in (tokenize.COMMENT, tokenize.NL):
            fresh = token.type in (tokenize.INDENT, tokenize.NEWLINE, tokenize.ENCODING)


top = sys.argv[1]
found = []
for at, folders, names in os.walk(top):
    folders[:] = [f for f in folders if not f.startswith((".", "build")) and f != "subprojects"]
    for name in sorted(names):
        path = os.path.relpath(os.path.join(at, name), top)
        is_c, is_python = name.endswith((".c", ".h")), name.endswith(".py")
        if not (is_c or is_python):
            continue
        text = open(os.path.join(top, path), encoding="utf-8").read()
        found += [f"{path}:{line}: {words.splitlines()[0][:80]}"
                  for line, words in (c_comments if is_c else python_comments)(text)
                  if OPENERS.match(words)]
print("\n".join(found) or "every comment begins with what it is about")
sys.exit(f"{len(found)} comments begin with Of, What, It, Its or These: say who does what" if found else 0)
