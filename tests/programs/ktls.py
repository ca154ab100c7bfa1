# SPDX-License-Identifier: MIT
"""
A connection whose ends let the kernel encrypt, with keys known beforehand: `plain` bytes first, then
`calls` sends of `size` bytes. What each end did is printed as JSON. Exit 77 where the kernel has no TLS.
  ktls.py PORT PLAIN CALLS SIZE
"""
import json
import os
import socket
import struct
import sys

TCP_ULP, SOL_TLS, TLS_TX, TLS_RX = 31, 282, 1, 2
TLS_1_2, AES_GCM_128 = 0x0303, 51


def tls(s, way):
    """One way's key: version, cipher, initialization vector, key, salt, sequence number."""
    s.setsockopt(SOL_TLS, way, struct.pack("=HH8s16s4s8s", TLS_1_2, AES_GCM_128, b"i" * 8, b"k" * 16,
                                           b"s" * 4, b"\0" * 8))


def upper_layer(s):
    try:
        s.setsockopt(socket.IPPROTO_TCP, TCP_ULP, b"tls")
    except OSError as e:
        print(f"no TLS in this kernel: {e}", file=sys.stderr)
        os._exit(77)


def receive(s, size):
    calls = got = 0
    while got < size:
        data = s.recv(min(65536, size - got))
        if not data:
            sys.exit(f"it ended after {got} of {size} bytes")
        calls += 1
        got += len(data)
    return calls


port, plain, calls, size = map(int, sys.argv[1:])
listener = socket.create_server(("127.0.0.1", port))
if os.fork() == 0:
    s = socket.create_connection(("127.0.0.1", port))
    s.sendall(b"p" * plain)
    s.recv(1)  # the other end is ready
    upper_layer(s)
    tls(s, TLS_TX)
    for _ in range(calls):
        s.sendall(b"x" * size)
    s.shutdown(socket.SHUT_WR)
    s.recv(1)
    os._exit(0)
s, _ = listener.accept()
plain_calls = receive(s, plain)
upper_layer(s)
tls(s, TLS_RX)
s.sendall(b"r")
tls_calls = receive(s, calls * size)
s.close()
status = os.waitstatus_to_exitcode(os.wait()[1])
print(json.dumps({"plain": plain_calls, "tls": tls_calls}))
sys.exit(status)
