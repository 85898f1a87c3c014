# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs functions in a child process, as another account or if they may block forever.

If a server is unreachable, every process that accesses a file on it blocks, and only SIGKILL ends
it. So calls that may block run in a child. The child returns JSON, because it may run as an account
that is not trusted.
"""

import errno
import json
import os
import pwd
import select
import signal
import time
from typing import Any, Callable, Dict, List, NoReturn, Optional

from ..errors import HostproofError

#: Bytes of an answer: a file of 8 MiB as base64 is less.
ANSWER_LIMIT = 64 * 1024 * 1024

#: Seconds that a killed child is waited for. One that the kernel does not let go is left behind:
#: it holds nothing of ours open.
PARTING = 2.0

_PIECE = 64 * 1024

#: Group of the child if no account has the uid of the directory's owner.
_NO_GROUP = 65534


class Untrusted(HostproofError):
    """Access is rejected because an untrusted account could control its effect."""


class Late(HostproofError):
    """It did not come back in time."""


def call(
    function: Callable[[], object],
    seconds: float,
    what: str,
    uid: Optional[int] = None,
    gid: Optional[int] = None,
) -> Any:
    """The return value of ``function``, which must be JSON, from a child with a time limit.

    ``uid`` is the account that the child switches to permanently, None for the current account.
    ``gid`` is its only group, None for the groups of the account. OSError, Untrusted and
    HostproofError of the function are raised here. ``what`` describes the call for error messages.
    """
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        _work(function, uid, gid, writing)
    os.close(writing)
    try:
        answer = _read_answer(reading, seconds, what)
    finally:
        os.close(reading)
        end(pid)
    return _result(answer, what)


def become(uid: int, gid: Optional[int] = None) -> None:
    """Be that account for good, with its groups, or with ``gid`` as its only group."""
    if gid is not None:
        os.setgroups([])
        os.setgid(gid)
        os.setuid(uid)
        return
    try:
        account = pwd.getpwuid(uid)
    except KeyError:
        os.setgroups([])
        os.setgid(_NO_GROUP)
        os.setuid(uid)
        return
    os.initgroups(account.pw_name, account.pw_gid)
    os.setgid(account.pw_gid)
    os.setuid(uid)


def end(pid: int) -> Optional[int]:
    """Kill a child and return its exit status; None if the kernel does not end it."""
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return None
    until = time.monotonic() + PARTING
    pause = 0.0005
    while True:
        try:
            ended, status = os.waitpid(pid, os.WNOHANG)
        except ChildProcessError:
            return None
        if ended:
            return status
        if time.monotonic() > until:
            return None
        time.sleep(pause)
        pause = min(0.05, pause * 2)


def detach(keep: List[int]) -> None:
    """In a child: close everything inherited, or processes that wait for the parent wait for us."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nothing, number)
    close_others(keep)
    for name in ("SIGALRM", "SIGTERM", "SIGINT", "SIGHUP", "SIGPIPE"):
        signal.signal(getattr(signal, name), signal.SIG_DFL)


def close_others(keep: List[int]) -> None:
    """Close every descriptor but the three streams and those to keep."""
    start = 3
    for number in sorted(handle for handle in keep if handle > 2):
        os.closerange(start, number)
        start = number + 1
    os.closerange(start, max(start, _most_files()))


def problem_of(error: Exception) -> Dict[str, Any]:
    """An exception as JSON holds it."""
    if isinstance(error, OSError):
        return {"errno": error.errno or errno.EIO, "text": error.strerror or str(error)}
    kind = "untrusted" if isinstance(error, Untrusted) else "error"
    return {kind: str(error) or type(error).__name__}


def _work(
    function: Callable[[], object], uid: Optional[int], gid: Optional[int], writing: int
) -> NoReturn:
    try:
        detach([writing])
        if uid is not None and uid != os.geteuid():
            become(uid, gid=gid)
        try:
            answer = {"value": function()}
        except Exception as error:
            answer = problem_of(error)
        write_all(writing, json.dumps(answer).encode("ascii"))
    finally:
        # Nothing that the parent registered for its own end is for the child to do.
        os._exit(0)


def write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def _read_answer(descriptor: int, seconds: float, what: str) -> bytes:
    pieces: List[bytes] = []
    length = 0
    until = time.monotonic() + seconds
    while True:
        ready, _, _ = select.select([descriptor], [], [], max(0.0, until - time.monotonic()))
        if not ready:
            raise Late(f"{what}: no answer in {seconds:g} seconds")
        piece = os.read(descriptor, _PIECE)
        if not piece:
            return b"".join(pieces)
        pieces.append(piece)
        length += len(piece)
        if length > ANSWER_LIMIT:
            raise HostproofError(f"{what}: its answer is too long")


def _result(answer: bytes, what: str) -> Any:
    try:
        result = json.loads(answer.decode("ascii"))
    except ValueError:
        raise HostproofError(f"{what}: the process ended without an answer") from None
    if "value" in result:
        return result["value"]
    if "errno" in result:
        # The subclass that the number represents: PermissionError, FileNotFoundError.
        raise OSError(int(result["errno"]), str(result["text"]))
    if "untrusted" in result:
        raise Untrusted(str(result["untrusted"]))
    raise HostproofError("{0}: {1}".format(what, result.get("error", "no answer")))


def _most_files() -> int:
    """One more than the highest descriptor that is open."""
    try:
        return max(int(name) for name in os.listdir("/proc/self/fd")) + 1
    except (OSError, ValueError):
        return 4096
