# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Requests and answers on one connection to our responder, timed by this process and by the kernel.

Kernel time stamps add some microseconds to a request, a fifth of a round trip on loopback. Requests
are therefore possible with and without time stamps, and the caller selects the kind.

The loops are the timed part. They contain only the code that must be timed.
"""

import errno
import socket
from typing import Any, Callable, List, Optional, Tuple

from ....latency import hello as latency_hello
from . import socket_stamps


class Exchange:
    """One connection to a responder, and what was sent on it. Every wait is bounded by the socket.

    ``stamps``: whether the kernel may give time stamps. ``clock`` is in nanoseconds."""

    def __init__(
        self, stream: socket.socket, request_size: int, reply_size: int, clock: Callable[[], int]
    ) -> None:
        self.stream = stream
        self.request_size = request_size
        self.reply_size = reply_size
        self.clock = clock
        self.stamps = False
        self._request = b"\x55" * request_size
        self._sent = 0
        stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def greet(self) -> bytes:
        """Send the sizes and return the answer, latency_hello.WELCOME for a responder that accepts.
        OSError without an answer."""
        greeting = b""
        self.stream.sendall(latency_hello.hello(self.request_size, self.reply_size))
        while len(greeting) < len(latency_hello.WELCOME):
            piece = self.stream.recv(len(latency_hello.WELCOME) - len(greeting))
            if not piece:
                break
            greeting += piece
        if greeting == latency_hello.WELCOME:
            # The welcome acknowledged all that was sent: stamps count bytes from here.
            self.stamps = socket_stamps.prepare(self.stream)
        return greeting

    def without_stamps(
        self, count: int, wait: Callable[[], int], last: int, took: List[int]
    ) -> None:
        """Append the times (nanoseconds) of this number of requests to ``took``.

        ``wait()`` returns when a request was to begin, which is from when it is timed. None begins
        at ``last`` or later. OSError where an answer does not come.
        """
        send, receive, clock, append = self.stream.send, self.stream.recv, self.clock, took.append
        request, request_size, reply_size = self._request, self.request_size, self.reply_size
        for _ in range(count):
            begin = wait()
            if begin >= last:
                break
            sent = send(request)
            if sent != request_size:
                self.stream.sendall(request[sent:])
            data = receive(reply_size)
            end = clock()
            while len(data) != reply_size:
                piece = receive(reply_size - len(data))
                end = clock()
                data += _some(piece)
            self._sent += request_size
            append(end - begin)

    def with_stamps(
        self, count: int, wait: Callable[[], int], last: int, took: List[Tuple[int, Optional[int]]]
    ) -> None:
        """As without_stamps(), with the kernel's time (nanoseconds) next to, where it has
        stamps."""
        send, receive, clock = self.stream.send, self.stream.recvmsg, self.clock
        request, request_size, reply_size = self._request, self.request_size, self.reply_size
        answers: List[Tuple[int, int, Any]] = []
        socket_stamps.ask(self.stream, True)
        try:
            for _ in range(count):
                begin = wait()
                if begin >= last:
                    break
                sent = send(request)
                if sent != request_size:
                    self.stream.sendall(request[sent:])
                data, ancillary, _, _ = receive(reply_size, socket_stamps.ROOM)
                end = clock()
                while len(data) != reply_size:
                    piece, ancillary, _, _ = receive(reply_size - len(data), socket_stamps.ROOM)
                    end = clock()
                    data += _some(piece)
                self._sent += request_size
                answers.append((end - begin, self._sent - 1, ancillary))
        finally:
            stamps = socket_stamps.sent(self.stream)
            socket_stamps.ask(self.stream, False)
            for user, last_byte, ancillary in answers:
                began = stamps.get(last_byte & socket_stamps.LARGEST)
                ended = socket_stamps.received(ancillary)
                kernel = None if began is None or ended is None else ended - began
                took.append((user, kernel))


def _some(data: bytes) -> bytes:
    if not data:
        raise OSError(errno.ECONNRESET, "the responder closed the connection")
    return data
