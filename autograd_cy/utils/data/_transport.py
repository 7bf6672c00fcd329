"""
Objects from one process to another: a pickle through a socket, its tensors in memory of both.

Buffers of a pickle (protocol 5) go into an anonymous file in memory (``memfd_create``), whose
descriptor travels beside the pickle: they are written once, and mapped by whoever reads. It has no
name, so nothing is left behind when a process is killed.
"""

from __future__ import annotations

import copyreg
import io
import mmap
import os
import pickle
import socket
from multiprocessing.connection import Connection
from typing import Any

from autograd_cy import Tensor

ALIGNMENT = 64
SMALL = 1 << 15  # bytes; less than this goes through the socket


def _reduce_tensor(x: Tensor) -> Any:
    """Reduce a tensor for pickle; a small window on large memory takes only itself along."""
    if x.requires_grad and not x.is_leaf:
        raise RuntimeError(
            f"a tensor of shape {tuple(x.shape)} that requires grad and is not a leaf can't go to "
            "another process: its graph would be lost; send x.detach()"
        )
    used = x.numel() * x.element_size()
    if x.device.type == "cpu" and x.untyped_storage().nbytes() > 2 * used + 4096:
        x = x.detach().clone().requires_grad_(x.requires_grad)
    return x.__reduce_ex__(5)


class _Pickler(pickle.Pickler):
    dispatch_table = {**copyreg.dispatch_table, Tensor: _reduce_tensor}  # noqa: RUF012


def pack(obj: Any) -> tuple[bytes, list[memoryview]]:
    """The pickle of an object, and the buffers that it left out."""
    buffers: list[memoryview] = []
    file = io.BytesIO()
    _Pickler(file, 5, buffer_callback=lambda b: buffers.append(b.raw())).dump(obj)
    return file.getvalue(), buffers


def send(connection: Connection, label: Any, packed: tuple[bytes, list[memoryview]]) -> None:
    """Send what `pack` made, and a label that is known without unpickling the rest."""
    body, buffers = packed
    sizes = [b.nbytes for b in buffers]
    places, end = _offsets(sizes)
    if end < SMALL or not hasattr(os, "memfd_create"):
        connection.send((label, sizes, None))
        connection.send_bytes(body)
        for buffer in buffers:
            connection.send_bytes(buffer)
        return
    fd = os.memfd_create("autograd_cy", os.MFD_CLOEXEC)
    try:
        os.ftruncate(fd, end)
        for buffer, place in zip(buffers, places):
            done = 0
            while done < buffer.nbytes:
                done += os.pwrite(fd, buffer[done:], place + done)
        connection.send((label, sizes, end))
        connection.send_bytes(body)
        _send_descriptor(connection, fd)
    finally:
        os.close(fd)


def receive(connection: Connection) -> tuple[Any, tuple[bytes, list[Any]]]:
    """The label, and what `unpack` takes."""
    label, sizes, end = connection.recv()
    body = connection.recv_bytes()
    if end is None:
        return label, (body, [bytearray(connection.recv_bytes()) for _ in sizes])
    fd = _receive_descriptor(connection)
    try:
        memory = _memory_of(fd, end)
    finally:
        os.close(fd)
    places, _ = _offsets(sizes)
    return label, (body, [memory[a : a + n] for a, n in zip(places, sizes)])


def _memory_of(fd: int, size: int) -> memoryview:
    """The file's memory, for which Python keeps another descriptor; a copy where many are open."""
    import resource

    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    # The lowest number that is free is given: this one tells how many are taken.
    if limit == resource.RLIM_INFINITY or fd < limit // 2:
        flags = mmap.MAP_SHARED | getattr(mmap, "MAP_POPULATE", 0)
        return memoryview(mmap.mmap(fd, size, flags))
    memory = memoryview(mmap.mmap(-1, size))
    done = 0
    while done < size:
        got = os.preadv(fd, [memory[done:]], done)
        if not got:
            raise EOFError
        done += got
    return memory


def unpack(packed: tuple[bytes, list[Any]]) -> Any:
    """The object again."""
    body, buffers = packed
    return pickle.loads(body, buffers=buffers)


# Not those of multiprocessing.reduction: since Python 3.14 the sender waits there for a byte of the
# receiver, from which messages of its own may come on this socket at any time.
def _send_descriptor(connection: Connection, fd: int) -> None:
    with _socket(connection) as plain:
        socket.send_fds(plain, [b"\0"], [fd])


def _receive_descriptor(connection: Connection) -> int:
    with _socket(connection) as plain:
        message, fds, _, _ = socket.recv_fds(plain, 1, 1)
    if not message:
        raise EOFError
    if not fds:  # what the kernel leaves out where a process has no number left for it
        raise RuntimeError(
            "received 0 items of ancdata: a tensor of another process did not come, as too many "
            "files are open here; raise the limit (ulimit -n) or keep fewer batches"
        )
    return fds[0]


def _socket(connection: Connection) -> socket.socket:
    """Another descriptor of the connection's socket, as a socket."""
    return socket.fromfd(connection.fileno(), socket.AF_UNIX, socket.SOCK_STREAM)


def _offsets(sizes: list[int]) -> tuple[list[int], int]:
    places, end = [], 0
    for size in sizes:
        places.append(end)
        end += -(-size // ALIGNMENT) * ALIGNMENT
    return places, end
