# SPDX-License-Identifier: MIT
"""Reads a page of `magnet report --html` without a browser: its elements, its JSON and the numbers of its charts."""
import base64
import html.parser
import json
import re
import zlib

LINKS = ("src", "href", "action", "data", "poster", "srcset", "formaction", "background")
VOID = ("meta", "br", "hr", "img", "input", "link")


class Elements(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.ids, self.links, self.scripts, self.problems = {}, [], [], []
        self.policy, self.texts, self.open, self.within = None, [], [], []
        self.feed(text)
        self.close()
        if self.open:
            self.problems.append(f"not closed: {self.open}")

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.links += [attrs[a] for a in LINKS if a in attrs]
        self.problems += [f"{tag} {a}" for a in attrs if a.startswith("on") or a == "style"]
        if "srcdoc" in attrs:
            self.within.append(Page(attrs["srcdoc"]))
        if attrs.get("http-equiv") == "Content-Security-Policy":
            self.policy = attrs["content"]
        if tag not in VOID:
            self.open.append((tag, attrs))
        if "id" in attrs:
            if attrs["id"] in self.ids:
                self.problems.append(f"two elements have the id {attrs['id']}")
            self.ids[attrs["id"]] = ""

    def handle_endtag(self, tag):
        if not self.open or self.open[-1][0] != tag:
            self.problems.append(f"</{tag}> in {self.open[-1:]}")
        else:
            self.open.pop()

    def handle_data(self, data):
        tag, attrs = self.open[-1] if self.open else ("", {})
        if tag == "script" and "type" not in attrs:
            self.scripts.append(data)
        elif tag not in ("script", "style"):
            self.texts.append(data)
        for _, around in self.open:
            if "id" in around:
                self.ids[around["id"]] += data


class Page(Elements):
    """The page of one host."""

    def __init__(self, text):
        super().__init__(text)
        self.report = json.loads(self.ids["report"])
        self.index = json.loads(self.ids["index"])

    def tracks(self, kind, **match):
        """Numbers of the tracks of a kind; `match` gives flow, layer or thread."""
        return [i for i, t in enumerate(self.index["tracks"])
                if t["kind"] == kind and all(t.get(k) == v for k, v in match.items())]

    def rows(self, number):
        """Rows of a track as dicts; times are those of the system's clock, None is not known."""
        track = self.index["tracks"][number]
        numbers = list(variable(zlib.decompress(base64.b64decode(self.ids[f"track-{number}"]))))
        n, at, rows = track["rows"], self.index["begin_ns"], []
        if len(numbers) != n * len(track["columns"]):
            raise ValueError(f"track {number} has {len(numbers)} numbers")
        for i in range(n):
            at += -(numbers[i] + 1) // 2 if numbers[i] % 2 else numbers[i] // 2
            row = {"time": at}
            for k, column in enumerate(track["columns"][1:], 1):
                value = numbers[k * n + i]
                row[column["name"]] = None if value == 0 else value - 1 + (at if column["type"] == "time" else 0)
                if column["type"] == "text" and value:
                    row[column["name"]] = self.index["texts"][value - 1]
            rows.append(row)
        return rows


def read_page(path, kind=Page):
    with open(path, encoding="utf-8") as f:
        return kind(f.read())


def variable(data):
    """Numbers of seven bits a byte, the lowest first."""
    value = shift = 0
    for byte in data:
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            yield value
            value = shift = 0


def outside(page):
    """Tell what a page could load from elsewhere."""
    return [link for link in page.links if not link.startswith("#")] + \
        re.findall(r"@import[^;]*|url\((?!['\"]?data:)[^)]*\)", "".join(page.texts))
