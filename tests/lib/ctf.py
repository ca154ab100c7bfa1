# SPDX-License-Identifier: MIT
"""Small CTF 1.8 traces made by hand, in the form LTTng's tracers write them."""
import os
import struct
import uuid

TYPES = {"u8": ("integer { size = 8; align = 8; signed = false; }", "<B"),
         "u16": ("integer { size = 16; align = 8; signed = false; }", "<H"),
         "u32": ("integer { size = 32; align = 8; signed = false; }", "<I"),
         "u64": ("integer { size = 64; align = 8; signed = false; }", "<Q"),
         "s32": ("integer { size = 32; align = 8; signed = true; }", "<i"),
         "s64": ("integer { size = 64; align = 8; signed = true; }", "<q"),
         "be16": ("integer { size = 16; align = 8; signed = false; byte_order = be; }", ">H"),
         "be32": ("integer { size = 32; align = 8; signed = false; byte_order = be; }", ">I"),
         "comm": ("integer { size = 8; align = 8; signed = false; encoding = UTF8; }", "16s"),
         "string": ("string", None), "ipv4": (None, None)}

# what net_dev_queue and the like hold of a packet, if it is IPv4 with TCP
HEADERS = """
        enum : u8 { _unknown = 0, _ipv4 = 1, _ipv6 = 2 } _network_header_type;
        variant <_network_header_type> {
            struct {} _unknown;
            struct {
                integer { size = 4; align = 4; signed = 0; byte_order = be; } _version;
                integer { size = 4; align = 4; signed = 0; byte_order = be; } _ihl;
                u8 _tos; be16 _tot_len; be16 _id; be16 _frag_off; u8 _ttl; u8 _protocol; be16 _checksum;
                u8 _saddr[4]; u8 _daddr[4];
                enum : u8 { _unknown = 0, _tcp = 1, _udp = 2, _icmp = 3 } _transport_header_type;
                variant <_transport_header_type> {
                    struct {} _unknown;
                    struct {
                        be16 _source_port; be16 _dest_port; be32 _seq; be32 _ack_seq;
                        integer { size = 4; align = 4; signed = 0; byte_order = be; } _data_offset;
                        integer { size = 3; align = 1; signed = 0; byte_order = be; } _reserved;
                        integer { size = 9; align = 1; signed = 0; byte_order = be; } _flags;
                        be16 _window_size; be16 _checksum; be16 _urg_ptr;
                    } _tcp;
                    struct { be16 _source_port; be16 _dest_port; be16 _len; be16 _check; } _udp;
                    struct { u8 _type; u8 _code; } _icmp;
                } _transport_header;
            } _ipv4;
            struct {} _ipv6;
        } _network_header;
"""


def ipv4(length, src, dst, sport, dport, seq, ack, flags=0x10):
    """Headers of a TCP segment of `length` bytes."""
    address = [bytes(map(int, a.split("."))) for a in (src, dst)]
    return (b"\1" + struct.pack(">BBHHHBBH", 0x45, 0, 40 + length, 1, 0, 64, 6, 0)
            + address[0] + address[1] + b"\1"
            + struct.pack(">HHIIHHHH", sport, dport, seq, ack, 0x5000 | flags, 1000, 0, 0))


class Trace:
    """Events go to a stream a CPU, in packets of so many; times are nanoseconds."""

    def __init__(self, path, events, tracer="lttng-modules", domain="kernel", context=(),
                 packet_events=50, offset_s=0, boot=None, trace_uuid=None):
        os.makedirs(path)
        self.path, self.events, self.context = path, dict(events), context
        self.ids = {name: n for n, name in enumerate(self.events)}
        self.uuid, self.packet_events = trace_uuid or uuid.uuid4(), packet_events
        self.streams = {}
        text = "/* CTF 1.8 */\n"
        text += "".join(f"typealias {t} := {name};\n" for name, (t, f) in TYPES.items()
                        if t and name not in ("comm", "string"))
        text += (f'trace {{ major = 1; minor = 8; uuid = "{self.uuid}"; byte_order = le;\n'
                 "packet.header := struct { u32 magic; u8 uuid[16]; u32 stream_id; "
                 "u64 stream_instance_id; }; };\n"
                 f'env {{ hostname = "h"; domain = "{domain}"; tracer_name = "{tracer}"; }};\n'
                 f'clock {{ name = monotonic; uuid = "{boot or uuid.UUID(int=7)}"; '
                 f"freq = 1000000000; offset_s = {offset_s}; absolute = true; }};\n"
                 "typealias integer { size = 64; align = 8; signed = false; "
                 "map = clock.monotonic.value; } := ns;\n"
                 "stream { id = 0; packet.context := struct { ns timestamp_begin; ns timestamp_end; "
                 "u64 content_size; u64 packet_size; u64 packet_seq_num; u64 events_discarded; "
                 "u32 cpu_id; };\nevent.header := struct { u16 id; ns timestamp; };\n")
        if context:
            text += "event.context := struct { " + "".join(f"{t} _{n}; " for n, t in context) + "};\n"
        text += "};\n"
        for name, fields in self.events.items():
            text += f'event {{ name = "{name}"; id = {self.ids[name]}; stream_id = 0; fields := struct {{\n'
            for field, kind in fields:
                text += (HEADERS if kind == "ipv4" else f"\t{TYPES['comm'][0]} _{field}[16];\n"
                         if kind == "comm" else f"\t{kind} _{field};\n")
            text += "};\n};\n"
        with open(path + "/metadata", "w") as f:
            f.write(text)

    @staticmethod
    def _field(kind, value):
        if kind == "ipv4":
            return value if value else b"\0"
        if kind == "string":
            return value.encode() + b"\0"
        return struct.pack(TYPES[kind][1], value.encode() if kind == "comm" else value)

    def add(self, ns, cpu, name, *values, context=()):
        data = struct.pack("<HQ", self.ids[name], ns)
        data += b"".join(self._field(t, v) for (_, t), v in zip(self.context, context))
        data += b"".join(self._field(t, v) for (_, t), v in zip(self.events[name], values))
        self.streams.setdefault(cpu, []).append((ns, data))

    def write(self):
        for cpu, events in self.streams.items():
            with open(f"{self.path}/channel0_{cpu}", "wb") as f:
                for seq, at in enumerate(range(0, len(events), self.packet_events)):
                    some = events[at:at + self.packet_events]
                    body = b"".join(data for _, data in some)
                    bits = (4 + 16 + 4 + 8 + 6 * 8 + 4 + len(body)) * 8
                    f.write(struct.pack("<I", 0xC1FC1FC1) + self.uuid.bytes
                            + struct.pack("<IQQQQQQQI", 0, cpu, some[0][0], some[-1][0], bits, bits,
                                          seq, 0, cpu) + body)
