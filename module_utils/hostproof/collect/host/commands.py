# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Commands and datagrams: what is run or sent, and the answer."""

import os
import signal
import socket
import subprocess
import time
from functools import partial
from typing import (
    Any,
    Dict,
    List,
    Optional,
    Tuple,
)

from .. import child, command, guarded_read

#: Seconds that a killed command is waited for.
PARTING = 2.0


def run_command(argv: List[str], timeout: float) -> Dict[str, Any]:
    return run_process(argv, timeout, dict(os.environ), ())


def run_process(
    argv: List[str],
    timeout: float,
    environment: Dict[str, str],
    inherited: Tuple[int, ...],
    reader: Optional[guarded_read.Reader] = None,
) -> Dict[str, Any]:
    environment.update(LC_ALL="C", LANG="C")
    environment["PATH"] = environment.get("PATH", "/usr/bin:/bin") + ":/usr/sbin:/sbin"
    until = time.monotonic() + timeout
    process = subprocess.Popen(
        argv,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
        close_fds=True,
        pass_fds=inherited,
        start_new_session=True,
        preexec_fn=None if reader is None else partial(child.become, reader.uid, gid=reader.gid),
        cwd=None if reader is None else "/",
    )
    try:
        stdout, stderr = command.read_streams([process.stdout, process.stderr], argv, timeout)
        # It may close its streams and live on.
        process.wait(max(0.001, until - time.monotonic()))
    except BaseException:
        _end(process)
        raise
    finally:
        for stream in (process.stdout, process.stderr):
            if stream is not None:
                stream.close()
    return {
        "argv": argv,
        "rc": process.returncode,
        "stdout": stdout.decode("utf-8", "surrogateescape"),
        "stderr": stderr.decode("utf-8", "surrogateescape"),
    }


def _end(process: "subprocess.Popen[bytes]") -> None:
    """Kill a read-only command and its children. A process that the kernel cannot end, because its
    server is unreachable, is left behind."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        process.kill()
    try:
        process.wait(PARTING)
    except subprocess.TimeoutExpired:
        pass


def ask_command(query: command.Command) -> Dict[str, Any]:
    began = time.monotonic()
    output = command.run(query)._asdict()
    seconds = round(time.monotonic() - began, 3)
    return dict(output, argv=list(query.argv), user=query.user, seconds=seconds)


#: Bytes of a datagram, whatever carries it.
_DATAGRAM = 65535


def ask_by_udp(address: str, port: int, message: bytes, timeout: float) -> Dict[str, Any]:
    family, kind, protocol, _name, place = socket.getaddrinfo(
        address, port, type=socket.SOCK_DGRAM
    )[0]
    with socket.socket(family, kind, protocol) as asking:
        asking.settimeout(timeout)
        # Connected: only then the kernel shows that the port is closed.
        asking.connect(place)
        asking.send(message)
        return {"reply": asking.recv(_DATAGRAM).hex()}
