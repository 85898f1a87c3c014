"""Servers for the tests of latency probes: our responder, and ones that misbehave."""

import contextlib
import socket
import threading
import time
from collections.abc import Callable, Iterator

from ansible.module_utils.hostproof.controls.latency.measurement import (
    responder as latency_responder,
)
from ansible.module_utils.hostproof.controls.latency.measurement import tcp_latency
from ansible.module_utils.hostproof.controls.latency.measurement.responder import (
    Responder,
    Settings,
)
from ansible.module_utils.hostproof.latency import hello as latency_hello

SETTINGS = Settings("127.0.0.1", 0, ["127.0.0.1/32"], 60, 4, 1 << 24)


@contextlib.contextmanager
def responder(settings: Settings = SETTINGS) -> Iterator[Responder]:
    """A responder in a process of its own, as the module starts it."""
    process = latency_responder.start(settings)
    try:
        yield process
    finally:
        for left in latency_responder.running(process.port):
            latency_responder.stop(left)


@contextlib.contextmanager
def server(serve: Callable[[socket.socket], None]) -> Iterator[tcp_latency.Target]:
    """Calls ``serve`` with each connection, one after the other."""
    listener = socket.create_server(("127.0.0.1", 0))

    def accept() -> None:
        with contextlib.suppress(OSError):
            while True:
                stream, _ = listener.accept()
                with stream, contextlib.suppress(OSError):
                    serve(stream)

    thread = threading.Thread(target=accept, daemon=True)
    thread.start()
    try:
        yield tcp_latency.resolve(*listener.getsockname())
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join(5)


def greet(stream: socket.socket) -> tuple[int, int]:
    """Agree to what the probe wants; the sizes."""
    sizes = latency_hello.parse(stream.recv(latency_hello.HELLO_LENGTH))
    stream.sendall(latency_hello.WELCOME)
    return sizes


def pace(samples: int, interval: float = 0.0, seconds: float = 30.0) -> tcp_latency.Pace:
    return tcp_latency.Pace(samples, interval, 5.0, time.monotonic() + seconds)
