# SPDX-License-Identifier: MIT
"""
talk.py ssl CERT KEY | asyncio | requests CERT URL...: what Python programs do with the network, both
ends in one process but for requests.
"""
import asyncio
import socket
import sys
import threading


def serve_once(listener, wrap):
    connection, _ = listener.accept()
    with wrap(connection) as s:
        while data := s.recv(4096):
            s.sendall(data)


def over_ssl(cert, key):
    import ssl
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(cert, key)
    client = ssl.create_default_context(cafile=cert)
    listener = socket.create_server(("127.0.0.1", 0))
    thread = threading.Thread(
        target=serve_once, args=(listener, lambda s: server.wrap_socket(s, server_side=True)))
    thread.start()
    with socket.create_connection(listener.getsockname()) as bare:
        with client.wrap_socket(bare, server_hostname="localhost") as s:
            for n in range(100):
                s.sendall(b"x" * n * 100)
                left = n * 100
                while left:
                    left -= len(s.recv(left))
    thread.join()


async def serve(reader, writer):
    while data := await reader.read(4096):
        writer.write(data.upper())
        await writer.drain()
    writer.close()


async def ask(host, port, n):
    reader, writer = await asyncio.open_connection(host, port)
    for i in range(50):
        writer.write(b"message %d of client %d\n" % (i, n))
        await writer.drain()
        assert await reader.readline() == b"MESSAGE %d OF CLIENT %d\n" % (i, n)
    writer.close()
    await writer.wait_closed()


async def over_asyncio():
    server = await asyncio.start_server(serve, "localhost", 0, family=socket.AF_INET)
    host, port = server.sockets[0].getsockname()
    await asyncio.gather(*[ask("localhost" if n % 2 else host, port, n) for n in range(10)])
    child = await asyncio.create_subprocess_exec("true")  # its end comes by a socket pair
    await child.wait()
    server.close()


def over_requests(cert, *urls):
    import requests
    with requests.Session() as session:
        for url in urls * 5:
            answer = session.get(url, verify=cert)
            assert answer.status_code == 200 and answer.content
    for url in urls:
        requests.get(url, verify=cert)


what, *rest = sys.argv[1:]
if what == "asyncio":
    asyncio.run(over_asyncio())
else:
    {"ssl": over_ssl, "requests": over_requests}[what](*rest)
