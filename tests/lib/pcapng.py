# SPDX-License-Identifier: MIT
"""A strict reader and writer of captures (pcapng and pcap), independent of magnet's own."""
import struct

SECTION, INTERFACE, OLD_PACKET, SIMPLE_PACKET, PACKET = 0x0a0d0d0a, 1, 2, 3, 6
COMMENT, NAME, RESOLUTION = 1, 2, 9


class Block:
    """One block: its type, its bytes, and of a packet time, data and options."""

    def __init__(self, order, raw):
        self.order, self.raw = order, raw
        self.type, length = struct.unpack_from(order + "II", raw)
        assert length == len(raw) and length % 4 == 0, "a block's length"
        assert struct.unpack_from(order + "I", raw, length - 4)[0] == length, "a block's second length"
        fixed = {SECTION: 24, INTERFACE: 16, PACKET: 28}.get(self.type)
        self.options = []
        if self.type == PACKET:
            self.interface, high, low, captured, self.original = struct.unpack_from(order + "5I", raw, 8)
            self.ticks = high << 32 | low
            self.data = raw[28:28 + captured]
            assert len(self.data) == captured
            fixed += captured + (-captured % 4)
        elif self.type == INTERFACE:
            self.link, self.snaplen = struct.unpack_from(order + "HxxI", raw, 8)
        if fixed:
            self.options = list(self._options(raw[fixed:-4]))

    def _options(self, raw):
        while raw:
            code, size = struct.unpack_from(self.order + "HH", raw)
            if code == 0:
                assert size == 0 and len(raw) == 4, "the end of options is the end of the block"
                return
            assert 4 + size + (-size % 4) <= len(raw), "an option's length"
            yield code, raw[4:4 + size]
            raw = raw[4 + size + (-size % 4):]

    def comments(self):
        return [value.decode() for code, value in self.options if code == COMMENT]


def blocks(path):
    """All blocks of a pcapng file, which must be whole."""
    with open(path, "rb") as f:
        raw = f.read()
    at, order, found = 0, "<", []
    while at < len(raw):
        if raw[at:at + 4] == b"\n\r\r\n":
            order = "<" if raw[at + 8:at + 12] == bytes.fromhex("4d3c2b1a") else ">"
        length = struct.unpack_from(order + "I", raw, at + 4)[0]
        assert length >= 12 and at + length <= len(raw), "a block ends within the file"
        found.append(Block(order, raw[at:at + length]))
        at += length
    return found


def packets(path):
    """The packets of a pcapng file: each with its time in ns."""
    interfaces, found = [], []
    for b in blocks(path):
        if b.type == SECTION:
            interfaces = []
        elif b.type == INTERFACE:
            interfaces.append(b)
        elif b.type == PACKET:
            power = dict(interfaces[b.interface].options).get(RESOLUTION, b"\x06")[0]
            b.link = interfaces[b.interface].link
            b.ns = b.ticks * 10 ** (9 - power)
            found.append(b)
    return found


def parsed(b):
    """The headers of a packet of IP, as a dict; None for others."""
    data = b.data
    if b.link == 1:
        kind, data = struct.unpack(">H", data[12:14])[0], data[14:]
        if kind not in (0x800, 0x86dd):
            return None
    f = {"ns": b.ns}
    if data[0] >> 4 == 4:
        size, f["length"], f["id"] = (data[0] & 15) * 4, *struct.unpack(">HH", data[2:6])
        f["proto"], f["from"], f["to"] = data[9], data[12:16], data[16:20]
        f["sum"] = sum(struct.unpack(f">{size // 2}H", data[:size]))
        f["payload"] = f["length"] - size
    else:
        size, f["payload"], f["proto"] = 40, struct.unpack(">H", data[4:6])[0], data[6]
        f["length"], f["id"], f["from"], f["to"] = f["payload"] + 40, 0, data[8:24], data[24:40]
    data = data[size:]
    if f["proto"] == 6:
        f["sport"], f["dport"], f["seq"], f["ack"], words, f["flags"] = struct.unpack(">HHIIBB", data[:14])
        f["payload"] -= words >> 4 << 2
    elif f["proto"] == 17:
        f["sport"], f["dport"] = struct.unpack(">HH", data[:4])
        f["payload"] -= 8
    return f


class Writer:
    """Writes blocks of a byte order."""

    def __init__(self, f, order):
        self.f, self.order = f, order
        self.block(SECTION, struct.pack(order + "IHHq", 0x1a2b3c4d, 1, 0, -1))

    def option(self, code, value):
        return struct.pack(self.order + "HH", code, len(value)) + value + bytes(-len(value) % 4)

    def block(self, kind, body):
        length = len(body) + 12
        self.f.write(struct.pack(self.order + "II", kind, length) + body + struct.pack(self.order + "I", length))

    def interface(self, link, snaplen=0):
        """An interface whose time stamps are nanoseconds."""
        self.block(INTERFACE, struct.pack(self.order + "HHI", link, 0, snaplen) +
                   self.option(RESOLUTION, b"\x09") + self.option(0, b""))

    def packet(self, interface, ns, data, original, options=()):
        self.block(PACKET, struct.pack(self.order + "5I", interface, ns >> 32, ns & 0xffffffff, len(data), original) +
                   data + bytes(-len(data) % 4) + b"".join(self.option(*o) for o in options) +
                   (self.option(0, b"") if options else b""))


def written(path, link, parts):
    """Writes packets, each its time, its bytes and its length."""
    with open(path, "wb") as f:
        w = Writer(f, "<")
        w.interface(link)
        for ns, data, original in parts:
            w.packet(0, ns, data, original)


def rewritten(path, to, clock, order="<", extra=()):
    """
    Copies a file: `clock` maps each time, `order` is the copy's byte order, each packet gets the options
    `extra`, and a block of an unknown type follows.
    """
    with open(to, "wb") as f:
        w = Writer(f, order)
        for b in blocks(path):
            if b.type == INTERFACE:
                w.interface(b.link, b.snaplen)
        for p in packets(path):
            w.packet(p.interface, clock(p.ns), p.data, p.original, extra)
        w.block(0x0bad, b"kept" * 3)
