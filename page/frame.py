# SPDX-License-Identifier: MIT
"""
Makes one file of the parts of a page: styles and scripts are written into the HTML, which says by
their hashes that no others may run. The scripts are modules for the linters and tests; in the page
they are one script.
Usage: frame.py DYGRAPHS-DIRECTORY OUTPUT PAGE.html STYLE.css SCRIPT.mjs...
"""
import base64
import hashlib
import os
import re
import sys

IMPORT = re.compile(r'^import (\{[^}]*\}) from "\./([^"]+)";$', re.M)
EXPORT = re.compile(r"^export ((?:async )?function|const|class) (\w+)", re.M)
SPDX = re.compile(r"^(?:/\*|//|<!--) SPDX-License-Identifier: .*\n", re.M)


def read(*path):
    with open(os.path.join(*path), encoding="utf-8") as f:
        return f.read()


def script_of(paths):
    """Each module as a block of its own, which takes what it imports from those before it."""
    known = set()
    for path in paths:
        name, text = os.path.basename(path), SPDX.sub("", read(path))
        unknown = {used for _, used in IMPORT.findall(text)} - known
        if unknown or re.search("^import ", IMPORT.sub("", text), re.M):
            sys.exit(f"{path} imports what is not before it: {', '.join(unknown)}")
        known.add(name)
        exported = ", ".join(what for _, what in EXPORT.findall(text))
        text = EXPORT.sub(r"\1 \2", IMPORT.sub(r'const \1 = modules["\2"];', text))
        yield f'{{\n{text}modules["{name}"] = {{ {exported} }};\n}}\n'


def hashed(text):
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


def main():
    library, output, page, style, *scripts = sys.argv[1:]
    texts = {
        "library": read(library, "dygraph.min.js"),
        "script": '"use strict";\nconst modules = {};\n' + "".join(script_of(scripts)),
        "style": read(library, "dygraph.min.css") + "\n" + SPDX.sub("", read(style)),
    }
    for name, text in texts.items():
        texts[name] = re.sub(r"\n?/[/*][#@] sourceMappingURL=.*", "", text)
        if "</script" in text or "</style" in text or "<!--" in text:
            sys.exit(f"{name} cannot be written into HTML")
    texts["policy"] = ("default-src 'none'; "
                       f"script-src {hashed(texts['library'])} {hashed(texts['script'])}; "
                       f"style-src {hashed(texts['style'])}; style-src-attr 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'")
    frame = SPDX.sub("", read(page))
    for name, text in texts.items():
        mark = f"<!--build {name}-->"
        if frame.count(mark) != 1:
            sys.exit(f"{page}: {mark} is not there once")
        frame = frame.replace(mark, text)
    with open(output, "w", encoding="utf-8") as f:
        f.write(frame)


main()
