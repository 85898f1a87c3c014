# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Commands that run as the owner of the object that they read or change (``sqlplus``, ``lsnrctl``).

A command gets a separate environment, because variables of the caller (TWO_TASK, TNS_ADMIN) could
redirect it. It never gets a secret: ``argv``, ``environment`` and ``stdin`` are recorded.
"""

import errno
import fcntl
import json
import os
import pwd
import re
import resource
import selectors
import signal
import subprocess
import time
from contextlib import ExitStack
from typing import (
    Any,
    Callable,
    Dict,
    Iterator,
    List,
    NamedTuple,
    NoReturn,
    Optional,
    Sequence,
    Tuple,
)

from ..errors import HostproofError
from . import child, guarded

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

#: A command that prints more than this has not answered the question.
OUTPUT_LIMIT = 8 * 1024 * 1024

_PIECE = 64 * 1024

UNLIMITED = -1

#: Starts the command. If the program is on an unreachable server, this blocks a child, which the
#: time limit ends, instead of the caller. Below: its exit codes if it cannot start the command.
_ENV = "/usr/bin/env"
#: The first descriptor after those of the three streams that is used.
_SPARE = 10
_NOT_STARTED = {126: errno.EACCES, 127: errno.ENOENT}


class Command(NamedTuple):
    """``name`` describes the command and represents it in evidence and messages.

    ``user`` runs it, None for the current account. ``expected`` is a regular expression
    (MULTILINE) that its output must match, errors included; if it reads a state, the first group
    is the state. ``codes`` are the successful exit codes. ``limits`` are resource limits by
    the end of their name in the module resource ("NOFILE"), soft and hard, UNLIMITED for none.
    ``squeezed`` replaces each run of blanks with one blank: the width of a column depends on its
    longest value, so the expected state would not be known in advance.
    """

    name: str
    argv: Tuple[str, ...]
    user: Optional[str] = None
    environment: Dict[str, str] = {}
    stdin: str = ""
    expected: str = ""
    codes: Tuple[int, ...] = (0,)
    timeout: float = 60.0
    limits: Dict[str, Tuple[int, int]] = {}
    squeezed: bool = False

    def as_dict(self) -> Dict[str, Any]:
        """As JSON holds it."""
        return dict(self._asdict())


def _texts_of(command: Command) -> List[str]:
    texts = [command.name, command.stdin, command.expected] + list(command.argv)
    texts += [text for pair in command.environment.items() for text in pair]
    return texts if command.user is None else [*texts, command.user]


def from_dict(record: Any) -> Command:
    """The Command that ``as_dict`` gave; KeyError, TypeError or ValueError for anything else."""
    command = Command(**record)
    texts = _texts_of(command)
    numbers = list(command.codes) + [limit for pair in command.limits.values() for limit in pair]
    if not command.argv or not all(isinstance(text, str) for text in texts):
        raise ValueError("no command")
    if not all(isinstance(number, int) for number in numbers + [int(command.timeout)]):
        raise ValueError("no command")
    try:
        re.compile(command.expected)
    except re.error as problem:
        raise ValueError(f"no expected output: {problem}") from problem
    return command._replace(
        argv=tuple(command.argv),
        codes=tuple(command.codes),
        limits={name: (pair[0], pair[1]) for name, pair in command.limits.items()},
    )


class Failed(HostproofError):
    """A command ended with an exit code that states that it failed."""


class Output(NamedTuple):
    """What a command answered."""

    rc: int
    stdout: str
    stderr: str


def run(command: Command) -> Output:
    """Run it to its end; OSError, ValueError or a subprocess.SubprocessError on failure.

    The output goes to files, not pipes: a daemon that the command starts would keep a pipe open. If
    a user's program is given by its path, it runs only if no other account can change it
    (guarded.py). It is executed by descriptor.
    """
    import tempfile  # few hosts need it, and the import takes 5 ms

    with tempfile.TemporaryFile() as out:
        rc, stderr = _run_child(command, out.fileno())
        return Output(rc, _text_of(out), stderr)


def stamped(command: Command, mark: bytes) -> Tuple[Output, List[int]]:
    """``run``, and when each of its lines came that begins with ``mark``: ns of time.monotonic.

    It is at its end only where nothing holds its output any more.
    """
    printed = bytearray(b"\n")
    stamps: List[int] = []
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb", 0), os.fdopen(writing, "wb", 0) as pipe:

        def follow(until: float, err: int) -> None:
            pipe.close()
            for piece in _pieces(reading, until, command):
                now = int(time.monotonic() * 1e9)
                # The mark may be split between two pieces: search the end of the old one again.
                begin = max(0, len(printed) - len(mark))
                printed.extend(piece)
                stamps.extend([now] * printed.count(b"\n" + mark, begin))
                _check_size(len(printed), os.fstat(err).st_size)

        rc, stderr = _run_child(command, writing, follow)
    return Output(rc, printed[1:].decode("utf-8", "surrogateescape"), stderr), stamps


def _pieces(reading: int, until: float, command: Command) -> Iterator[bytes]:
    """Data from a pipe until no process has it open for writing. Yields b"" after each second
    without data, so that the caller can check other conditions."""
    with selectors.DefaultSelector() as selector:
        selector.register(reading, selectors.EVENT_READ)
        while time.monotonic() < until:
            came = selector.select(min(1.0, max(0.0, until - time.monotonic())))
            piece = os.read(reading, _PIECE) if came else b""
            if came and not piece:
                return
            yield piece
    raise subprocess.TimeoutExpired(list(command.argv), command.timeout)


def _run_child(
    command: Command, out: int, follow: Optional[Callable[[float, int], None]] = None
) -> Tuple[int, str]:
    """The exit code, as subprocess returns it, and the text on stderr.

    ``follow`` gets the deadline (monotonic) and the file of stderr. A caller that sets it reads the
    output from ``out``.
    """
    import tempfile  # as above

    _check_user(command.user)
    environment, account = _environment(command), _account(command.user)
    with ExitStack() as files:
        stdin, err, report = [files.enter_context(tempfile.TemporaryFile()) for _ in range(3)]
        stdin.write(command.stdin.encode("utf-8", "surrogateescape"))
        stdin.seek(0)
        pid = os.fork()
        if pid == 0:
            _start(
                command, environment, account, (stdin.fileno(), out, err.fileno()), report.fileno()
            )
        until = time.monotonic() + command.timeout
        try:
            if follow is not None:
                follow(until, err.fileno())
            rc = _wait(pid, until, [err.fileno()] if follow else [out, err.fileno()], command)
        except BaseException:
            # Not its group: a daemon that it has started already is not to die with it.
            child.end(pid)
            raise
        _raise_told(report, command.argv[0])
        stderr = _text_of(err)
    if rc in _NOT_STARTED and stderr.startswith(_ENV + ": "):
        raise OSError(_NOT_STARTED[rc], os.strerror(_NOT_STARTED[rc]), command.argv[0])
    return rc, stderr


def _wait(pid: int, until: float, files: List[int], command: Command) -> int:
    """Its exit code; TimeoutExpired, or ValueError where it prints too much."""
    pause = 0.001
    while True:
        rc = _exit_code(pid)
        if rc is not None:
            return rc
        _check_size(*[os.fstat(descriptor).st_size for descriptor in files])
        if time.monotonic() > until:
            raise subprocess.TimeoutExpired(list(command.argv), command.timeout)
        time.sleep(pause)
        pause = min(0.05, pause * 1.5)


def _check_size(*sizes: int) -> None:
    if max(sizes) > OUTPUT_LIMIT:
        raise ValueError(f"printed more than {OUTPUT_LIMIT} bytes")


def _exit_code(pid: int) -> Optional[int]:
    """As subprocess has it; None while it runs."""
    ended, status = os.waitpid(pid, os.WNOHANG)
    if not ended:
        return None
    return -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)


def _start(
    command: Command,
    environment: Dict[str, str],
    account: Any,
    streams: Tuple[int, ...],
    report: int,
) -> NoReturn:
    """In the child: nothing here may return or raise."""
    try:
        # Where a stream of ours is closed, one of these may have its number.
        high = [fcntl.fcntl(descriptor, fcntl.F_DUPFD, _SPARE) for descriptor in streams]
        report = fcntl.fcntl(report, fcntl.F_DUPFD, _SPARE)
        for number, stream in enumerate(high):
            os.dup2(stream, number)
        child.close_others([report])
        os.set_inheritable(report, False)
        os.setsid()
        os.chdir("/")
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        _become(command.user, dict(command.limits))
        if command.user is None or not command.argv[0].startswith("/"):
            os.execve(_ENV, [_ENV] + list(command.argv), environment)
        with guarded.program(command.argv[0], account.pw_uid) as handle:
            _execute(handle, command.argv, environment)
    except Exception as problem:
        os.pwrite(report, json.dumps(child.problem_of(problem)).encode("ascii"), 0)
    finally:
        os._exit(126)


def _execute(handle: int, argv: Tuple[str, ...], environment: Dict[str, str]) -> None:
    """Run the file that was checked, even if another file has its name by now.

    If the system cannot run a descriptor (AIX), the path is run: only root and the owner can change
    the file.
    """
    if os.execve in os.supports_fd:
        # A script's interpreter opens it once more, by the number of the descriptor.
        os.set_inheritable(handle, os.pread(handle, 2, 0) == b"#!")
        os.execve(handle, list(argv), environment)
    os.execve(argv[0], list(argv), environment)


def _raise_told(report: Any, program: str) -> None:
    """Raise what kept the child from starting the program."""
    report.seek(0)
    text = report.read(65536).decode("ascii", "replace")
    if not text:
        return
    problem = json.loads(text)
    if "errno" in problem:
        raise OSError(int(problem["errno"]), str(problem["text"]), program)
    raise ValueError(str(problem.get("untrusted", problem.get("error"))))


def read_streams(streams: List[Any], argv: Sequence[str], timeout: float) -> List[bytes]:
    """The output of a command until it closes its streams.

    Replaces Popen.communicate, which polls for the end of the command if it has a timeout, and
    which stores output without a limit.
    """
    deadline = time.monotonic() + timeout
    pieces: List[List[bytes]] = [[] for _stream in streams]
    length = 0
    with selectors.DefaultSelector() as selector:
        for number, stream in enumerate(streams):
            selector.register(stream, selectors.EVENT_READ, pieces[number])
        while selector.get_map():
            ready = selector.select(max(0.0, deadline - time.monotonic()))
            if not ready:
                raise subprocess.TimeoutExpired(list(argv), timeout)
            for key, _events in ready:
                piece = os.read(key.fd, _PIECE)
                key.data.append(piece)
                length += len(piece)
                if not piece:
                    selector.unregister(key.fileobj)
            if length > OUTPUT_LIMIT:
                raise ValueError(f"wrote more than {OUTPUT_LIMIT} bytes, not read")
    return [b"".join(parts) for parts in pieces]


def state_of(command: Command, printed: Output) -> str:
    """What ``expected`` finds (its first group, if it has one); HostproofError if it finds nothing,
    and Failed if the command failed."""
    match = re.search(command.expected, printed.stdout + printed.stderr, re.MULTILINE)
    if printed.rc not in command.codes or match is None:
        message = " ".join((printed.stdout + printed.stderr).split())[-400:]
        problem = HostproofError if printed.rc in command.codes else Failed
        raise problem("{0}: {1}".format(command.name, message or f"ended with {printed.rc}"))
    state = match.group(1) if match.re.groups and match.group(1) is not None else match.group(0)
    return squeezed(state) if command.squeezed else state


def squeezed(text: str) -> str:
    """One blank for many, none at the ends of lines, and no empty lines."""
    lines = [" ".join(line.split()) for line in text.split("\n")]
    return "\n".join(line for line in lines if line)


def _environment(command: Command) -> Dict[str, str]:
    account = _account(command.user)
    environment = {"PATH": PATH, "LC_ALL": "C", "LANG": "C"}
    if account is not None:
        environment.update(HOME=account.pw_dir, USER=account.pw_name, LOGNAME=account.pw_name)
    environment.update(command.environment)
    return environment


def _account(user: Optional[str]) -> Optional[pwd.struct_passwd]:
    try:
        return pwd.getpwuid(os.geteuid()) if user is None else pwd.getpwnam(user)
    except KeyError:
        if user is None:
            return None
        raise ValueError(f"there is no user {user}") from None


def _check_user(user: Optional[str]) -> None:
    account = _account(user)
    if user is not None and account is not None and os.geteuid() not in (0, account.pw_uid):
        raise PermissionError(errno.EPERM, f"only root may run it as {user}")


def _become(user: Optional[str], limits: Dict[str, Tuple[int, int]]) -> None:
    """In the child, before the command: its limits, then its user for good."""
    os.umask(0o022)
    for name, (soft, hard) in limits.items():
        number = getattr(resource, "RLIMIT_" + name)
        resource.setrlimit(number, (_limit(soft), _limit(hard)))
    if user is None:
        return
    account = pwd.getpwnam(user)
    if account.pw_uid == os.geteuid():
        return
    os.initgroups(account.pw_name, account.pw_gid)
    os.setgid(account.pw_gid)
    os.setuid(account.pw_uid)


def _limit(value: int) -> int:
    return resource.RLIM_INFINITY if value == UNLIMITED else value


def _text_of(stream: Any) -> str:
    stream.seek(0)
    text = stream.read(OUTPUT_LIMIT + 1)
    if len(text) > OUTPUT_LIMIT:
        raise ValueError(f"printed more than {OUTPUT_LIMIT} bytes")
    return str(text.decode("utf-8", "surrogateescape"))
