# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A small server that answers the requests of latency probes and exits after a time limit.

It listens on one address and answers only the configured clients. Connections and bytes are
limited. The kernel ends the process at its time limit (SIGALRM). It writes no files. Hostproof
finds a running responder by its abstract Linux socket, which exists only as long as the process.
"""

import ipaddress
import json
import os
import re
import select
import signal
import socket
import struct
import sys
import threading
import time
from typing import Any, Dict, List, NamedTuple, Optional, Sequence

from ....errors import HostproofError, ParseError
from ....latency import hello as latency_hello

#: The name of the abstract socket: user and port.
_NAME = "hostproof-latency-responder/{0}/{1}"
_UNIX_SOCKETS = "/proc/net/unix"

#: Idle timeout of a connection.
_IDLE_SECONDS = 60
#: Timeout for the first message and for the end of a responder.
_PATIENCE = 5.0
#: struct ucred: pid, uid, gid.
_PEER = struct.Struct("=iII")


class CannotRespond(HostproofError):
    """The responder cannot be started, queried or ended; the message contains the reason."""


class Settings(NamedTuple):
    """``clients`` are addresses or networks. ``seconds``: time limit. ``port`` 0: any port."""

    address: str
    port: int
    clients: List[str]
    seconds: int
    connections: int
    most_bytes: int


class Responder(NamedTuple):
    """A responder that runs. ``ends_in`` is seconds, ``moved`` the bytes both ways until now."""

    pid: int
    address: str
    port: int
    clients: List[str]
    connections: int
    most_bytes: int
    moved: int
    ends_in: float


# -- starting, finding and ending -----------------------------------------------------------------


def start(settings: Settings) -> Responder:
    """Start one that outlives this process; CannotRespond where it could not be."""
    _needs_linux()
    networks = [ipaddress.ip_network(client) for client in settings.clients]
    listener = _listener(settings)
    port = int(listener.getsockname()[1])
    control = _control(port)
    child = os.fork()
    if not child:
        _become_a_server(listener, control, networks, settings._replace(port=port))
    os.waitpid(child, 0)
    listener.close()
    control.close()
    # It has answered once, or it does not run.
    return _ask(port, "status")


def running(port: Optional[int] = None) -> List[Responder]:
    """The responders of this user, on that port or on any."""
    _needs_linux()
    responders = []
    for number in [port] if port is not None else _ports():
        try:
            responders.append(_ask(number, "status"))
        except _Nobody:
            continue
    return responders


def extend(port: int, seconds: int) -> Responder:
    """Move the end of one that runs to ``seconds`` from now."""
    return _ask(port, f"extend {seconds}")


def stop(responder: Responder) -> None:
    """End it, and wait until it has."""
    _ask(responder.port, "end")
    patience = _Patience()
    while _runs(responder.pid):
        patience.wait(
            f"the responder on port {responder.port} does not end (process {responder.pid})"
        )


def _runs(pid: int) -> bool:
    """True if a process runs. A zombie has ended, but keeps its process ID.

    In a container whose first process is not an init, each orphan becomes a zombie.
    """
    try:
        with open(f"/proc/{pid}/stat", errors="replace") as stream:
            # The name before the state may contain any character, also blanks, brackets: proc(5).
            state = stream.read().rpartition(")")[2].split()[:1]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state not in (["Z"], ["X"])


class _Nobody(CannotRespond):
    """No responder of this user is on that port."""


class _Patience:
    """A wait that has an end."""

    def __init__(self) -> None:
        self._end = time.monotonic() + _PATIENCE

    def wait(self, problem: str) -> None:
        if time.monotonic() > self._end:
            raise CannotRespond(problem)
        time.sleep(0.02)


def _needs_linux() -> None:
    if not sys.platform.startswith("linux"):
        raise CannotRespond(f"the responder needs Linux; this is {sys.platform}")


def _listener(settings: Settings) -> socket.socket:
    address = ipaddress.ip_address(settings.address)
    family = socket.AF_INET if address.version == 4 else socket.AF_INET6
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((settings.address, settings.port))
        listener.listen(settings.connections)
    except OSError as problem:
        listener.close()
        raise CannotRespond(
            f"cannot listen on {settings.address} port {settings.port}: {problem.strerror}"
        ) from problem
    return listener


def _control(port: int) -> socket.socket:
    """The socket that the responder of this user and port is found by."""
    control = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        control.bind("\0" + _NAME.format(os.geteuid(), port))
        control.listen(4)
    except OSError as problem:
        control.close()
        raise CannotRespond(
            f"another responder of this user is on port {port}, on another address: end it first "
            "(state: absent) or take another port"
        ) from problem
    return control


def _ports() -> List[int]:
    """Ports of this user's responders, of the names of the host's sockets."""
    pattern = re.compile("@" + _NAME.format(os.geteuid(), r"(\d+)") + "$", re.MULTILINE)
    with open(_UNIX_SOCKETS) as stream:
        return sorted({int(port) for port in pattern.findall(stream.read())})


def _ask(port: int, request: str) -> Responder:
    name = "\0" + _NAME.format(os.geteuid(), port)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as stream:
        stream.settimeout(_PATIENCE)
        try:
            stream.connect(name)
            if _peer_uid(stream) != os.geteuid():
                raise CannotRespond(f"the responder on port {port} belongs to another user")
            stream.sendall(request.encode("ascii") + b"\n")
            with stream.makefile("r") as answer:
                return Responder(**json.loads(answer.readline()))
        except ConnectionRefusedError as problem:
            raise _Nobody(f"no responder of this user is on port {port}") from problem
        except (OSError, TypeError, ValueError) as problem:
            raise CannotRespond(
                f"the responder on port {port} does not say how it is: {problem}"
            ) from problem


def _peer_uid(stream: socket.socket) -> int:
    data = stream.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _PEER.size)
    return int(_PEER.unpack(data)[1])


# -- the server -----------------------------------------------------------------------------------


def _become_a_server(
    listener: socket.socket, control: socket.socket, networks: Sequence[Any], settings: Settings
) -> None:
    """Leave the caller's session and streams, and serve. Never returns."""
    try:
        os.setsid()
        if os.fork():
            os._exit(0)
        os.chdir("/")
        kept = {listener.fileno(), control.fileno()}
        _close_all_but(kept)
        nothing = os.open(os.devnull, os.O_RDWR)
        for number in (0, 1, 2):
            os.dup2(nothing, number)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, [])
        _Server(listener, control, networks, settings).serve()
    finally:
        os._exit(0)


def _close_all_but(kept: Any) -> None:
    """Close the streams and files of the process that started this one, pipes of ssh among them."""
    for name in os.listdir("/proc/self/fd"):
        if int(name) not in kept:
            try:
                os.close(int(name))
            except OSError:
                pass


class _Server:
    """Answers requests, one thread a connection, until the time or the bytes are used up."""

    def __init__(
        self,
        listener: socket.socket,
        control: socket.socket,
        networks: Sequence[Any],
        settings: Settings,
    ) -> None:
        self._listener = listener
        self._control = control
        self._networks = networks
        self._settings = settings
        self._lock = threading.Lock()
        self._connections = 0
        self._moved = 0
        self._live(settings.seconds)

    def _live(self, seconds: int) -> None:
        """The kernel ends this process then."""
        signal.alarm(seconds)
        self._end = time.monotonic() + seconds

    def serve(self) -> None:
        """Wait for connections and for the one who started this; returns when it is to end."""
        while True:
            ready, _, _ = select.select([self._listener, self._control], [], [])
            if self._control in ready and self._told_to_end():
                return
            if self._listener in ready:
                self._accept()

    def _accept(self) -> None:
        try:
            stream, peer = self._listener.accept()
        except OSError:
            return
        with self._lock:
            welcome = self._knows(peer[0]) and self._connections < self._settings.connections
            self._connections += welcome
        if not welcome:
            stream.close()
            return
        thread = threading.Thread(target=self._answer, args=(stream,))
        thread.daemon = True
        thread.start()

    def _knows(self, peer: str) -> bool:
        address: object = ipaddress.ip_address(peer.split("%")[0])
        address = getattr(address, "ipv4_mapped", None) or address
        return any(address in network for network in self._networks)

    def _answer(self, stream: socket.socket) -> None:
        """Answer one client until it leaves."""
        try:
            with stream:
                bound = struct.pack("@ll", _IDLE_SECONDS, 0)
                stream.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, bound)
                stream.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, bound)
                stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                request_size, reply_size = latency_hello.parse(
                    _whole(stream, latency_hello.HELLO_LENGTH)
                )
                stream.sendall(latency_hello.WELCOME)
                reply = b"\xaa" * reply_size
                both = request_size + reply_size
                buffer = bytearray(request_size)
                view = memoryview(buffer)
                receive, send = stream.recv_into, stream.sendall
                while self._may_move(both):
                    missing = request_size - receive(buffer)
                    if missing == request_size:
                        return
                    while missing:
                        piece = receive(view[request_size - missing :])
                        if not piece:
                            return
                        missing -= piece
                    send(reply)
        except (OSError, ParseError):
            # A client that left, fell silent, or is none: it is unknown.
            pass
        finally:
            with self._lock:
                self._connections -= 1

    def _may_move(self, both: int) -> bool:
        """Whether a request more is allowed; it is counted."""
        with self._lock:
            if self._moved + both > self._settings.most_bytes:
                return False
            self._moved += both
            return True

    def _told_to_end(self) -> bool:
        """Answer a request to end. Only the user of this process is accepted."""
        try:
            stream, _ = self._control.accept()
            with stream:
                stream.settimeout(_PATIENCE)
                if _peer_uid(stream) != os.geteuid():
                    return False
                with stream.makefile("r") as lines:
                    words = lines.readline().split()
                if words[:1] == ["extend"]:
                    self._live(int(words[1]))
                stream.sendall(json.dumps(self._status()).encode("ascii") + b"\n")
                return words == ["end"]
        except (OSError, ValueError, IndexError):
            return False

    def _status(self) -> Dict[str, Any]:
        settings = self._settings
        return {
            "pid": os.getpid(),
            "address": settings.address,
            "port": settings.port,
            "clients": settings.clients,
            "connections": settings.connections,
            "most_bytes": settings.most_bytes,
            "moved": self._moved,
            "ends_in": round(self._end - time.monotonic(), 1),
        }


def _whole(stream: socket.socket, length: int) -> bytes:
    data = b""
    while len(data) < length:
        piece = stream.recv(length - len(data))
        if not piece:
            raise OSError("closed")
        data += piece
    return data
