"""Stamps of this host's kernel on loopback, and of what comes beside data."""

import socket
import struct
import time

import pytest
from ansible.module_utils.hostproof.probes import socket_stamps

STAMP = struct.pack("@llllll", 1700000000, 5, 0, 0, 0, 0)


def beside(data, level=socket.SOL_SOCKET, kind=socket_stamps.SO_TIMESTAMPING):
    return [(level, kind, data)]


def error(number, origin=4, info=0):
    data = struct.pack("=IBBBBII", 42, origin, 0, 0, 0, info, number) + b"\0" * 16
    return (socket.IPPROTO_IP, 11, data)


class Queue:
    """A socket with these messages in its error queue."""

    def __init__(self, *messages):
        self.messages = list(messages)

    def recvmsg(self, *_):
        if not self.messages:
            raise BlockingIOError
        return b"", self.messages.pop(0), 0, None


def test_a_received_stamp():
    assert socket_stamps.received(beside(STAMP)) == 1700000000000000005


@pytest.mark.parametrize(
    "ancillary",
    [
        [],
        beside(STAMP[:8]),
        beside(b"\0" * 48),
        beside(STAMP, level=socket.IPPROTO_IP),
        beside(STAMP, kind=29),
    ],
)
def test_no_stamp_is_none(ancillary):
    assert socket_stamps.received(ancillary) is None


def test_the_stamp_of_the_byte_that_was_asked_for():
    queue = Queue([*beside(STAMP), error(11)], [*beside(STAMP), error(23)])
    assert socket_stamps.sent(queue, 23) == 1700000000000000005
    assert queue.messages == []


def test_numbers_of_bytes_wrap():
    queue = Queue([*beside(STAMP), error(4)])
    assert socket_stamps.sent(queue, 2**32 + 4) is not None


@pytest.mark.parametrize(
    "message",
    [
        [*beside(STAMP), error(11)],
        [*beside(STAMP), error(23, origin=2)],
        [*beside(STAMP), error(23, info=1)],
        [error(23)],
        beside(STAMP),
        [*beside(b"\0" * 48), error(23)],
    ],
)
def test_no_stamp_of_that_byte(message):
    assert socket_stamps.sent(Queue(message), 23) is None


def test_stamps_of_this_kernel():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        client = socket.create_connection(listener.getsockname())
        other, _ = listener.accept()
    with client, other:
        other.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if not socket_stamps.switch_on(client):
            pytest.skip("this kernel has no SO_TIMESTAMPING")
        total = 0
        for size in (12, 250, 1):
            began = time.time_ns()
            client.sendall(b"x" * size)
            total += size
            other.sendall(other.recv(size))
            _, ancillary, _, _ = client.recvmsg(size, socket_stamps.ROOM)
            sent = socket_stamps.sent(client, total - 1)
            received = socket_stamps.received(ancillary)
            assert sent is not None and received is not None
            assert began < sent < received < time.time_ns()
