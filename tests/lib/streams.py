# SPDX-License-Identifier: MIT
"""The streams of magnet's own traces, packet by packet and event by event, as docs and metadata have them."""
import os
import re
import struct

HEAD = 76  # bytes: magic, uuid, stream_id, begin, end, content and packet size, number, discarded, cpu
EVENT_HEAD = 18  # id, time, tid, pid


def streams(directory):
    """Paths of all streams below a directory, those with the most bytes first."""
    paths = [os.path.join(at, n) for at, _, names in os.walk(directory) for n in names
             if re.fullmatch(r"calls|tracer|(cpu|events)\d+", n)]
    return sorted(paths, key=lambda p: (-os.path.getsize(p), p))


def packets(data):
    """(where, bytes of head and events, bytes in all, number) of each."""
    at, found = 0, []
    while at + HEAD <= len(data):
        content, size, number = (n for n in struct.unpack_from("<QQQ", data, at + 40))
        found.append((at, content // 8, size // 8, number))
        at += size // 8
    return found


def event_sizes(directory):
    """Bytes of an event of each number with its head; those of chosen events, which vary, are not there."""
    with open(directory + "/metadata") as f:
        text = f.read()
    bits_of = {tag: bits for bits, tag in re.findall(r"typealias enum : [uxs](\d+) \{[^}]*\} := (\w+);", text)}
    sizes = {}
    for number, fields in re.findall(r"event \{[^}]*?id = (\d+);[^}]*?fields := struct \{(.*?)\n\t\};", text, re.S):
        fields = re.sub(r"\be_\w+", lambda tag: "u" + bits_of[tag[0]], fields) # enumerations by their size
        parts = re.findall(r"(?:utf8|[uxs](\d+)) _\w+(?:\[(\d+)\])?;", fields)
        if len(parts) == fields.count(";"):
            sizes[int(number)] = EVENT_HEAD + sum(int(bits or 8) // 8 * int(n or 1) for bits, n in parts)
    return sizes


def event_spans(data, packet, sizes):
    """(number, from, to) of the events of a packet, up to the first whose size is not known."""
    at, content, _, _ = packet
    end, at, spans = at + content, at + HEAD, []
    while at + EVENT_HEAD <= end:
        (number,) = struct.unpack_from("<H", data, at)
        if number not in sizes:
            break
        spans.append((number, at, at + sizes[number]))
        at += sizes[number]
    return spans


def cut_packets(path, first, count=1):
    """Take packets out of the middle of a stream."""
    with open(path, "rb") as f:
        data = f.read()
    all_of = packets(data)
    begin, last = all_of[first][0], all_of[first + count - 1]
    with open(path, "wb") as f:
        f.write(data[:begin] + data[last[0] + last[2]:])


def cut_event(path, choose):
    """Take one event out of a packet, which keeps its size. Returns the event's number."""
    with open(path, "rb") as f:
        data = bytearray(f.read())
    sizes = event_sizes(os.path.dirname(path))
    at, content, size, _ = packet = choose(packets(data))
    spans = event_spans(data, packet, sizes)
    number, begin, end = choose(spans)
    rest = bytes(data[end:at + content])
    data[begin:at + size] = rest + bytes(at + size - begin - len(rest))
    struct.pack_into("<Q", data, at + 40, (content - (end - begin)) * 8)
    with open(path, "wb") as f:
        f.write(data)
    return number
