# SPDX-License-Identifier: MIT
"""Words for names in facts and figures: the report's for stages, and those of layers and parts."""
from typing import Dict

# as in correlate/facts/stages.h
STAGES: Dict[str, str] = {
    "call": "call to copy",
    "send_buffer": "send buffer",
    "ip": "IP",
    "qdisc": "queue (qdisc)",
    "driver": "driver",
    "device_to_ip": "device to IP",
    "ip_to_tcp": "TCP receive processing",
    "in_order": "in order (head of line)",
    "reader_absent": "socket queue: reader absent",
    "wake": "socket queue: until woken",
    "run_queue": "run queue",
    "poll_return": "woken before, until the call",
    "copy": "call, until the copy",
    "return": "copy and return",
}

# as in correlate/render/names.c: a message is copied before the event that says so
MESSAGE_STAGES: Dict[str, str] = {
    "ip_to_socket": "IP to socket queue",
    "ip_to_tcp": "IP to socket queue",
    "copy": "call and copy",
    "return": "return to the program",
}
STREAMS = ("tcp", "unix_stream")

LAYERS: Dict[str, str] = {
    "call": "application (calls)",
    "copy": "copy",
    "tcp": "TCP",
    "ip": "IP",
    "queue": "queue (qdisc)",
    "device": "network (device)",
    "driver": "driver done",
    "in_order": "in order, readable",
}


# as in correlate/facts/facts.h
PARTS: Dict[str, str] = {
    "request": "request",
    "request_way": "the request's way",
    "program": "in the program",
    "reply_way": "the reply's way",
    "reply": "reply",
}


def stage(name: str, kind: str) -> str:
    """Return the report's words for a stage of a kind of socket."""
    known = STAGES if kind in STREAMS else {**STAGES, **MESSAGE_STAGES}
    return known.get(name, plain(name))


def plain(name: str) -> str:
    """Return a name without underscores: "in order" of in_order."""
    return name.replace("_", " ")
