# SPDX-License-Identifier: MIT
"""Python text of programs under test that use one socket for several connections."""

SIZE = 100  # bytes of a message

TALK = f"""
import ctypes, socket, threading
def answer(c):
    try:
        while data := c.recv({SIZE}, socket.MSG_WAITALL):
            c.sendall(data)
    except ConnectionResetError:
        pass
def serve(l):
    while True:
        answer(l.accept()[0])
def trips(c, n):
    for _ in range(n):
        c.sendall(bytes({SIZE}))
        c.recv({SIZE}, socket.MSG_WAITALL)
def disconnect(c):
    if ctypes.CDLL(None).connect(c.fileno(), bytes(16), 16):  # AF_UNSPEC
        raise OSError("connect")
"""
