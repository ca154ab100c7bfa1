# SPDX-License-Identifier: MIT
"""
Makes one file of the parts of a page: styles and scripts are written into the HTML, which says by
their hashes that no others may run. The scripts are modules for the linters and tests; in the page
they are one script. The page of two hosts has pages of one host within, which obey its policy too.
Usage: frame.py DYGRAPHS-DIRECTORY OUTPUT HOSTS-OUTPUT PAGE.html STYLE.css HOSTS.html HOSTS.css SCRIPT.mjs...
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


def policy(rest, scripts, styles):
    return (f"{rest}; script-src {' '.join(map(hashed, scripts))}; style-src {' '.join(map(hashed, styles))}; "
            "style-src-attr 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'")


def fill(output, page, texts):
    frame = SPDX.sub("", read(page))
    for name, text in texts.items():
        mark = f"<!--build {name}-->"
        if frame.count(mark) != 1:
            sys.exit(f"{page}: {mark} is not there once")
        frame = frame.replace(mark, text)
    with open(output, "w", encoding="utf-8") as f:
        f.write(frame)


def main():
    library, output, hosts_output, page, style, hosts_page, hosts_style, *scripts = sys.argv[1:]
    texts = {
        "library": read(library, "dygraph.min.js"),
        "script": '"use strict";\nconst modules = {};\n' + "".join(script_of(scripts)),
        "style": read(library, "dygraph.min.css") + "\n" + SPDX.sub("", read(style)),
        "hosts style": SPDX.sub("", read(hosts_style)),
    }
    for name, text in texts.items():
        texts[name] = re.sub(r"\n?/[/*][#@] sourceMappingURL=.*", "", text)
        if "</script" in text or "</style" in text or "<!--" in text:
            sys.exit(f"{name} cannot be written into HTML")
    own_style = texts.pop("hosts style")
    both = [texts["library"], texts["script"]]
    fill(output, page, {**texts, "policy": policy("default-src 'none'", both, [texts["style"]])})
    # no default: that would forbid the pages within
    nothing = "; ".join(f"{what}-src 'none'" for what in ("connect", "font", "manifest", "media", "object", "worker"))
    fill(hosts_output, hosts_page,
         {"hosts style": own_style, "policy": policy(nothing, both, [own_style, texts["style"]])})


main()
