"""Runs a program in a network of its own, in which 127.0.0.1:PORT leads to a Unix socket and nothing else answers.

Usage, as the root of a new network namespace: only-router.py SOCKET PORT PROGRAM [ARGUMENT…]
"""

import asyncio
import fcntl
import socket
import struct
import sys

SET_FLAGS, UP_AND_RUNNING = 0x8914, 0x41


def raise_loopback():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, SET_FLAGS, struct.pack("16sh", b"lo", UP_AND_RUNNING))


async def copy(reader, writer):
    try:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    except ConnectionError:
        pass
    finally:
        writer.close()


async def main(path, port, program):
    async def forward(reader, writer):
        to_router, from_router = None, None
        from_router, to_router = await asyncio.open_unix_connection(path)
        await asyncio.gather(copy(reader, to_router), copy(from_router, writer))

    raise_loopback()
    await asyncio.start_server(forward, "127.0.0.1", port)
    running = await asyncio.create_subprocess_exec(*program)
    return await running.wait()


sys.exit(asyncio.run(main(sys.argv[1], int(sys.argv[2]), sys.argv[3:])))
