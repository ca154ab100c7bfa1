# SPDX-License-Identifier: MIT
"""Turns stored columns into values: which are known, and the words that numbers stand for."""
import ipaddress
from dataclasses import dataclass
from typing import Any, List, Optional, Sequence, Tuple

import numpy as np
from numpy.typing import NDArray

from .schema import KNOWN, PORT, RX, Column, Layout

Bools = NDArray[np.bool_]


@dataclass
class Values:
    """A column as users see it.

    `kind` is "number", "flag", "time" (nanoseconds of CLOCK_MONOTONIC) or "category". Of categories
    `values` are indices into `categories`. `known` is None if all values are known.
    """

    name: str
    kind: str
    values: NDArray[Any]
    known: Optional[Bools] = None
    categories: Optional[List[str]] = None

    def numpy(self) -> NDArray[Any]:
        """Return an array: NaN, NaT or None stands for what is not known."""
        known = self.known
        if self.kind == "category":
            words = np.array([*(self.categories or []), None], dtype=object)
            index = self.values if known is None else np.where(known, self.values, len(words) - 1)
            return np.asarray(words[index])
        if self.kind == "time":
            times = self.values.astype("timedelta64[ns]")
            if known is not None:
                times[~known] = np.timedelta64("NaT")
            return times
        if self.kind == "flag":
            if known is None:
                return self.values.astype(np.bool_)
            return np.where(known, self.values.astype(np.float64), np.nan)
        if known is None or known.all() or self.values.dtype.kind == "f":
            return self.values
        return np.where(known, self.values.astype(np.float64), np.nan)


def known_mask(stored: NDArray[Any], c: Column) -> Optional[Bools]:
    """Return which values of a stored column are known; None: all are."""
    if c.unknown is None:
        return None
    if isinstance(c.unknown, float) and np.isnan(c.unknown):
        return np.asarray(~np.isnan(stored))
    return np.asarray(stored != np.array(c.unknown).astype(stored.dtype))


def address_text(packed: bytes) -> str:
    """Return an address as it is written; IPv4 is stored within IPv6."""
    ip = ipaddress.IPv6Address(packed)
    return str(ip.ipv4_mapped or ip)


# sockets without a cookie, by a bit of their number: those known by inode, and those of LTTng's events
_FLOW_PREFIXES = ((62, "ino:"), (61, "lttng:"))
# added to the cookie of a TCP socket for each connection that it had before
_CONNECTION = 1 << 44


def flow_text(sock: int, rx: bool) -> str:
    """Return the name of a flow as magnet prints it, such as "4097/tx", "4097.2/tx" or "ino:530676/rx"."""
    end = "rx" if rx else "tx"
    for bit, prefix in _FLOW_PREFIXES:
        if sock >> bit & 1:
            return f"{prefix}{sock & ~(1 << bit)}/{end}"
    before, cookie = divmod(sock, _CONNECTION)
    return f"{cookie}.{before + 1}/{end}" if before and not sock >> 61 else f"{sock}/{end}"


def flow_key(text: str) -> Tuple[int, bool]:
    """Return the socket and direction of a flow's name; ValueError if it is none."""
    sock, _, end = text.partition("/")
    for bit, prefix in _FLOW_PREFIXES:
        if sock.startswith(prefix):
            return int(sock[len(prefix):]) | 1 << bit, end == "rx"
    cookie, _, connection = sock.partition(".")
    return int(cookie) + (int(connection or 1) - 1) * _CONNECTION, end == "rx"


def _compact(keys: NDArray[Any], text: Any) -> Tuple[NDArray[Any], List[str]]:
    """Return indices into the distinct texts of keys."""
    distinct, index = np.unique(keys, return_inverse=True)
    return index.reshape(len(keys)).astype(np.int32), [text(k) for k in distinct]


def _flow(array: NDArray[Any], c: Column) -> Values:
    keys = np.zeros(len(array), dtype=[("sock", "<u8"), ("rx", "u1")])
    keys["sock"] = array[c.name]
    keys["rx"] = array[c.name + RX]
    index, texts = _compact(keys, lambda k: flow_text(int(k["sock"]), bool(k["rx"])))
    return Values(c.name, "category", index, known_mask(array[c.name], c), texts)


def _address(array: NDArray[Any], layout: Layout, c: Column) -> Values:
    base = layout.shown_name(c)
    keys = np.zeros(len(array), dtype=[("addr", "V16"), ("port", "<u2")])
    keys["addr"] = array[c.name]
    keys["port"] = array[base + PORT]
    both = np.frombuffer(keys.tobytes(), dtype="S18") if len(keys) else np.zeros(0, "S18")

    def text(key: bytes) -> str:
        whole = bytes(key).ljust(18, b"\0")
        host = address_text(whole[:16])
        port = int.from_bytes(whole[16:], "little")
        return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"

    index, texts = _compact(both, text)
    known = array[base + KNOWN] != 0 if layout.has(base + KNOWN) else None
    return Values(base, "category", index, known, texts)


def _bytes(stored: NDArray[Any], c: Column) -> Values:
    keys = np.frombuffer(stored.tobytes(), dtype="S16") if len(stored) else np.zeros(0, "S16")
    index, texts = _compact(keys, lambda k: address_text(bytes(k).ljust(16, b"\0")))
    known = np.asarray(keys != b"")
    return Values(c.name, "category", index, None if known.all() else known, texts)


def _words(stored: NDArray[Any], c: Column) -> Values:
    words = list(c.words)
    while words and words[-1] is None:
        words.pop()
    known = known_mask(stored, c)
    named = stored < len(words)
    known = named if known is None else known & named
    index = np.where(known, stored, 0).astype(np.int32)
    return Values(c.name, "category", index, known, [w or "" for w in words])


def _names(stored: NDArray[Any], c: Column) -> Values:
    index, texts = _compact(stored, lambda v: c.names.get(int(v), str(int(v))))
    return Values(c.name, "category", index, known_mask(stored, c), texts)


def _strings(stored: NDArray[Any], c: Column, strings: Sequence[str]) -> Values:
    index, texts = _compact(stored, lambda v: strings[int(v)])
    return Values(c.name, "category", index, known_mask(stored, c), texts)


TEXTS = ("TEXT", "FUNCTION", "EVENTS", "LAYERS")


def values_of(array: NDArray[Any], layout: Layout, c: Column, strings: Sequence[str]) -> Values:
    """Return a column as users see it."""
    stored = array[c.name]
    if c.type == "FLOW" and layout.has(c.name + RX):
        return _flow(array, c)
    if layout.is_address(c):
        return _address(array, layout, c)
    if c.type in TEXTS:
        return _strings(stored, c, strings)
    if c.words:
        return _words(stored, c)
    if c.names:
        return _names(stored, c)
    if stored.dtype.kind == "V":
        return _bytes(stored, c)
    known = known_mask(stored, c)
    if c.type in ("TIME", "NS"):
        return Values(c.name, "time", stored.astype(np.int64), known)
    if c.type in ("FLAG", "MAYBE"):
        return Values(c.name, "flag", stored, known)
    return Values(c.name, "number", stored, known)
