# SPDX-License-Identifier: MIT
"""A recording as a host with another clock would have made it: all times of its traces are changed."""
import os
import re
import struct

SIZES = {"u8": 1, "u16": 2, "u32": 4, "u64": 8, "x8": 1, "x32": 4, "x64": 8, "s32": 4, "s64": 8, "utf8": 1,
         "ns_t": 8}
FIELD = re.compile(r"(\w+) (\w+)(?:\[(\d+)\])?;")


class Layout:
    """Field name -> (place, bytes), of a struct of fixed size."""

    def __init__(self, text):
        self.at, self.size = {}, 0
        for kind, name, count in FIELD.findall(text):
            self.at[name] = self.size
            self.size += SIZES[kind] * int(count or 1)


def struct_of(name, text):
    m = re.search(re.escape(name) + r" := struct \{(.*?)\};", text, re.S)
    return Layout(m.group(1) if m else "")


def change(data, at, clock):
    struct.pack_into("<Q", data, at, clock(struct.unpack_from("<Q", data, at)[0]))


def reclock_stream(path, head, context, event_head, event_context, events, clock):
    with open(path, "rb") as f:
        data = bytearray(f.read())
    packet = 0
    while packet < len(data):
        at = packet + head.size
        content, size = (struct.unpack_from("<Q", data, at + context.at[k])[0] // 8
                         for k in ("content_size", "packet_size"))
        for name in ("timestamp_begin", "timestamp_end"):
            change(data, at + context.at[name], clock)
        at += context.size
        while at < packet + content:
            number = struct.unpack_from("<H", data, at + event_head.at["id"])[0]
            change(data, at + event_head.at["timestamp"], clock)
            at += event_head.size + event_context.size
            fields = events[number]
            for name in ("_mono_ns", "_from_ns", "_to_ns"):
                if name in fields.at:
                    change(data, at + fields.at[name], clock)
            at += fields.size
        packet += size
    with open(path, "wb") as f:
        f.write(data)


def reclock(trace, clock):
    """`clock` gives what the other clock shows when ours shows that many ns."""
    for part in ("app", "kernel"):
        with open(f"{trace}/{part}/metadata") as f:
            text = f.read()
        SIZES.update((tag, SIZES[of]) for of, tag in re.findall(r"typealias enum : (\w+) \{[^}]*\} := (\w+);", text))
        head, context = struct_of("packet.header", text), struct_of("packet.context", text)
        by_stream = {}
        for block in re.findall(r"\nstream \{.*?\n\};", text, re.S):
            number = int(re.search(r"\bid = (\d+);", block).group(1))
            by_stream[number] = (struct_of("packet.context", block), struct_of("event.header", block),
                                 struct_of("event.context", block))
        events = {}
        for block in re.findall(r"\nevent \{.*?\n\};", text, re.S):
            key = tuple(int(re.search(rf"\b{k} = (\d+);", block).group(1)) for k in ("stream_id", "id"))
            events.setdefault(key[0], {})[key[1]] = struct_of("fields", block)
        for name in os.listdir(f"{trace}/{part}"):
            path = f"{trace}/{part}/{name}"
            if name == "metadata" or not os.path.getsize(path):
                continue
            with open(path, "rb") as f:
                stream = struct.unpack_from("<I", f.read(head.size), head.at["stream_id"])[0]
            reclock_stream(path, head, *by_stream[stream], events[stream], clock)
