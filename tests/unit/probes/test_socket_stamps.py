"""Stamps of this host's kernel on loopback, and of what comes beside data."""

import socket
import struct
import time

import pytest
from ansible.module_utils.hostproof.controls.latency.measurement import socket_stamps
from cases import cases

STAMP = struct.pack("@llllll", 1700000000, 5, 0, 0, 0, 0)
LATER = struct.pack("@llllll", 1700000000, 6, 0, 0, 0, 0)


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


@cases(
    "ancillary",
    [],
    beside(STAMP[:8]),
    beside(b"\0" * 48),
    beside(STAMP, level=socket.IPPROTO_IP),
    beside(STAMP, kind=29),
)
def test_no_stamp_is_none(ancillary):
    assert socket_stamps.received(ancillary) is None


def test_stamps_of_what_was_sent():
    queue = Queue([*beside(STAMP), error(11)], [*beside(LATER), error(23)])
    assert socket_stamps.sent(queue) == {11: 1700000000000000005, 23: 1700000000000000006}
    assert queue.messages == []


def test_what_was_sent_twice_has_the_first_stamp():
    queue = Queue([*beside(STAMP), error(11)], [*beside(LATER), error(11)])
    assert socket_stamps.sent(queue) == {11: 1700000000000000005}


@cases(
    "message",
    [*beside(STAMP), error(23, origin=2)],
    [*beside(STAMP), error(23, info=1)],
    [error(23)],
    beside(STAMP),
    [*beside(b"\0" * 48), error(23)],
)
def test_no_stamp_of_what_was_sent(message):
    assert socket_stamps.sent(Queue(message)) == {}


def test_stamps_of_this_kernel():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        client = socket.create_connection(listener.getsockname())
        other, _ = listener.accept()
    with client, other:
        other.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if not socket_stamps.prepare(client):
            pytest.skip("this kernel has no SO_TIMESTAMPING")
        total = 0
        for size in (12, 250, 1):
            for enabled in (True, False):
                socket_stamps.ask(client, enabled)
                began = time.time_ns()
                client.sendall(b"x" * size)
                total += size
                other.sendall(other.recv(size))
                _, ancillary, _, _ = client.recvmsg(size, socket_stamps.ROOM)
                sent, received = socket_stamps.sent(client), socket_stamps.received(ancillary)
                if enabled:
                    # What was sent without a stamp is numbered as well.
                    assert list(sent) == [total - 1]
                    assert received is not None
                    assert began < sent[total - 1] < received < time.time_ns()
                else:
                    assert (sent, received) == ({}, None)
