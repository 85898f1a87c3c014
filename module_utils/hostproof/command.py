# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A command that is run as the owner of what it looks at or changes (``sqlplus``, ``lsnrctl``).

It gets an environment of its own, for that of whoever runs Hostproof could lead it elsewhere
(TWO_TASK, TNS_ADMIN), and never a secret: ``argv``, ``environment`` and ``stdin`` are kept.
"""

import errno
import os
import pwd
import re
import resource
import subprocess
import tempfile
from contextlib import ExitStack
from functools import partial
from typing import Any, Dict, NamedTuple, Optional, Tuple

from .errors import HostproofError

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

#: A command that prints more than this has not answered the question.
OUTPUT_LIMIT = 8 * 1024 * 1024

UNLIMITED = -1

#: It starts the command: a program on a server that does not answer then blocks a child, which the
#: time limit ends, and not us. What it exits with where it cannot start the command.
_ENV = "/usr/bin/env"
_NOT_STARTED = {126: errno.EACCES, 127: errno.ENOENT}


class Command(NamedTuple):
    """``name`` says in words what it does; it stands for the command in evidence and messages.

    ``user`` runs it, None for whoever runs Hostproof. ``expected`` is a regular expression
    (MULTILINE) that what it prints must hold, errors included; of a look, the first group is the
    state. ``codes`` are the exit codes that are no failure. ``limits`` are resource limits by the
    end of their name in the module resource ("NOFILE"), soft and hard, UNLIMITED for none.
    ``squeezed`` makes one blank of many: columns are as wide as their longest value, so a state
    could not be told in advance.
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

    def as_dict(self):
        # type: () -> Dict[str, Any]
        """As JSON holds it."""
        return dict(self._asdict())


def from_dict(record):
    # type: (Any) -> Command
    """The Command that ``as_dict`` gave; KeyError, TypeError or ValueError for anything else."""
    command = Command(**record)
    texts = [command.name, command.stdin, command.expected] + list(command.argv)
    texts += [text for pair in command.environment.items() for text in pair]
    if command.user is not None:
        texts.append(command.user)
    numbers = list(command.codes) + [one for pair in command.limits.values() for one in pair]
    if not command.argv or not all(isinstance(text, str) for text in texts):
        raise ValueError("no command")
    if not all(isinstance(number, int) for number in numbers + [int(command.timeout)]):
        raise ValueError("no command")
    try:
        re.compile(command.expected)
    except re.error as problem:
        raise ValueError("no expected output: {0}".format(problem)) from problem
    return command._replace(
        argv=tuple(command.argv),
        codes=tuple(command.codes),
        limits={name: (pair[0], pair[1]) for name, pair in command.limits.items()},
    )


class Failed(HostproofError):
    """A command ended with an exit code that says that it failed."""


class Output(NamedTuple):
    """What a command answered."""

    rc: int
    stdout: str
    stderr: str


def run(command):
    # type: (Command) -> Output
    """Run it to its end; OSError, ValueError or a subprocess.SubprocessError where that fails.

    Its output goes to files, not pipes: a daemon that it starts would keep a pipe open.
    """
    _check_user(command.user)
    with ExitStack() as files:
        given, out, err = [files.enter_context(tempfile.TemporaryFile()) for _ in range(3)]
        given.write(command.stdin.encode("utf-8", "surrogateescape"))
        given.seek(0)
        process = subprocess.Popen(
            [_ENV] + list(command.argv),
            stdin=given,
            stdout=out,
            stderr=err,
            env=_environment(command),
            cwd="/",
            close_fds=True,
            start_new_session=True,
            preexec_fn=partial(_become, command.user, dict(command.limits)),
        )
        try:
            rc = process.wait(timeout=command.timeout)
        except subprocess.TimeoutExpired:
            # Not its group: a daemon that it has started already is not to die with it.
            process.kill()
            process.wait()
            raise
        said = _text_of(err)
        if rc in _NOT_STARTED and said.startswith(_ENV + ": "):
            raise OSError(_NOT_STARTED[rc], os.strerror(_NOT_STARTED[rc]), command.argv[0])
        return Output(rc, _text_of(out), said)


def state_of(command, printed):
    # type: (Command, Output) -> str
    """What ``expected`` finds (its first group, if it has one); HostproofError if it finds nothing,
    and Failed if the command failed."""
    found = re.search(command.expected, printed.stdout + printed.stderr, re.MULTILINE)
    if printed.rc not in command.codes or found is None:
        said = " ".join((printed.stdout + printed.stderr).split())[-400:]
        problem = HostproofError if printed.rc in command.codes else Failed
        raise problem("{0}: {1}".format(command.name, said or "ended with {0}".format(printed.rc)))
    state = found.group(1) if found.re.groups and found.group(1) is not None else found.group(0)
    return squeezed(state) if command.squeezed else state


def squeezed(text):
    # type: (str) -> str
    """One blank for many, none at the ends of lines, and no empty lines."""
    lines = [" ".join(line.split()) for line in text.split("\n")]
    return "\n".join(line for line in lines if line)


def _environment(command):
    # type: (Command) -> Dict[str, str]
    account = _account(command.user)
    environment = {"PATH": PATH, "LC_ALL": "C", "LANG": "C"}
    if account is not None:
        environment.update(HOME=account.pw_dir, USER=account.pw_name, LOGNAME=account.pw_name)
    environment.update(command.environment)
    return environment


def _account(user):
    # type: (Optional[str]) -> Optional[pwd.struct_passwd]
    try:
        return pwd.getpwuid(os.geteuid()) if user is None else pwd.getpwnam(user)
    except KeyError:
        if user is None:
            return None
        raise ValueError("there is no user {0}".format(user)) from None


def _check_user(user):
    # type: (Optional[str]) -> None
    account = _account(user)
    if user is not None and account is not None and os.geteuid() not in (0, account.pw_uid):
        raise PermissionError(errno.EPERM, "only root may run it as {0}".format(user))


def _become(user, limits):
    # type: (Optional[str], Dict[str, Tuple[int, int]]) -> None
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


def _limit(value):
    # type: (int) -> int
    return resource.RLIM_INFINITY if value == UNLIMITED else value


def _text_of(stream):
    # type: (Any) -> str
    stream.seek(0)
    text = stream.read(OUTPUT_LIMIT + 1)
    if len(text) > OUTPUT_LIMIT:
        raise ValueError("printed more than {0} bytes".format(OUTPUT_LIMIT))
    return str(text.decode("utf-8", "surrogateescape"))
