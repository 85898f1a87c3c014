# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A child process that accesses files for LiveHost.

A process that opens, lists or resolves a path on an unreachable server blocks in the kernel, and
only SIGKILL ends that. So a child does it: it is killed after a time limit, and the next request
goes to a new child. The child ends when its parent closes the connection.
"""

import json
import os
import socket
import struct
import threading
import time
from typing import Any, Callable, Dict, NoReturn, Optional

from ..errors import HostproofError
from . import child

_LENGTH = struct.Struct(">Q")


class Late(OSError):
    """No answer in time; the answer, if it comes, is not waited for."""


class Reader:
    """Calls functions of ``table`` (by name) in the child; arguments and answers are JSON's."""

    def __init__(self, table: Callable[[str], Callable[..., Any]]) -> None:
        self._table = table
        self._pid: Optional[int] = None
        self._maker = 0
        self._line: Optional[socket.socket] = None
        self._lock = threading.Lock()

    def call(self, name: str, arguments: object, seconds: float) -> object:
        """The answer; OSError and ValueError of the function are raised here, and Late."""
        with self._lock:
            try:
                answer = self._ask([name, arguments], seconds)
            except BaseException:
                # Whatever is on its way would be taken for the next answer.
                self.close()
                raise
        if "value" in answer:
            return answer["value"]
        if "errno" in answer:
            raise OSError(int(answer["errno"]), str(answer["text"]))
        if "untrusted" in answer:
            raise child.Untrusted(str(answer["untrusted"]))
        if answer["type"] == "ValueError":
            raise ValueError(answer["error"])
        raise RuntimeError("{0}: {1}".format(answer["type"], answer["error"]))

    def close(self) -> None:
        """End the child, if it is ours (and not that of the process that we were forked from)."""
        line, pid = self._line, self._pid
        self._line = self._pid = None
        if line is not None:
            line.close()
        if pid is not None and self._maker == os.getpid():
            child.end(pid)

    def __del__(self) -> None:
        if os is not None and child is not None:
            self.close()

    def _ask(self, question: object, seconds: float) -> Dict[str, Any]:
        if self._line is None or self._maker != os.getpid():
            self._start()
        until = time.monotonic() + seconds
        text = json.dumps(question).encode("ascii")
        if self._line is None:
            raise HostproofError("no process reads files for this one")
        try:
            self._line.settimeout(max(0.001, seconds))
            self._line.sendall(_LENGTH.pack(len(text)) + text)
            length = _LENGTH.unpack(self._take(_LENGTH.size, until))[0]
            if length > child.ANSWER_LIMIT:
                raise ValueError("the answer is too long")
            return dict(json.loads(self._take(length, until).decode("ascii")))
        except socket.timeout:
            raise Late(f"no answer in {seconds:g} seconds") from None

    def _take(self, length: int, until: float) -> bytes:
        pieces = []
        while length:
            if self._line is None:
                raise OSError("the process that reads files has ended")
            self._line.settimeout(max(0.001, until - time.monotonic()))
            piece = self._line.recv(min(length, 1 << 20))
            if not piece:
                raise OSError("the process that reads files ended without an answer")
            pieces.append(piece)
            length -= len(piece)
        return b"".join(pieces)

    def _start(self) -> None:
        self._line = None
        ours, theirs = socket.socketpair()
        pid = os.fork()
        if pid == 0:
            _serve(theirs, self._table)
        theirs.close()
        self._line, self._pid, self._maker = ours, pid, os.getpid()


def _serve(line: socket.socket, table: Callable[[str], Callable[..., object]]) -> NoReturn:
    """In the child, until the parent closes the connection."""
    try:
        child.detach([line.fileno()])
        while True:
            length = _LENGTH.unpack(_exactly(line, _LENGTH.size))[0]
            name, arguments = json.loads(_exactly(line, length).decode("ascii"))
            try:
                answer = {"value": table(name)(*arguments)}
            except Exception as problem:
                answer = dict(child.problem_of(problem), type=_kind_of(problem))
            text = json.dumps(answer).encode("ascii")
            line.sendall(_LENGTH.pack(len(text)) + text)
    finally:
        os._exit(0)


def _kind_of(problem: Exception) -> str:
    known = isinstance(problem, (ValueError, HostproofError))
    return "ValueError" if known else type(problem).__name__


def _exactly(line: socket.socket, length: int) -> bytes:
    pieces = []
    while length:
        piece = line.recv(length)
        if not piece:
            raise EOFError
        pieces.append(piece)
        length -= len(piece)
    return b"".join(pieces)
