# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Sends a message to a webhook or through the sendmail program of this machine."""

from __future__ import annotations

import http.client
import ipaddress
import json
import os
import re
import ssl
import stat
import subprocess
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Sequence
from email.message import EmailMessage
from typing import Any

from ansible.module_utils.hostproof.errors import HostproofError

from ..report.text import one_line, shorten

#: Seconds for one wait of an attempt, and the pauses before further attempts.
TIMEOUT = 10
PAUSES = (1, 5, 15)
#: Seconds for a message with all attempts, whatever the server does.
DEADLINE = 60
_LONGEST = 4096
#: Without an account, a fragment, a blank or a control character; the rest is ASCII as well.
_WEBHOOK = re.compile(
    r"(?P<scheme>https?)://(?P<host>[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?|\[[0-9a-fA-F:.]+\])"
    r"(?::(?P<port>[0-9]{1,5}))?(?:[/?][!-\"$-~]*)?"
)
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_SENDMAIL = ("/usr/sbin/sendmail", "/usr/lib/sendmail")


class NotSent(HostproofError):
    """The message did not arrive; the text never has the address of the webhook."""


def webhook_in(path: str) -> str:
    """The address of a webhook from a file that only its owner can read: it is a secret.

    No message has a part of it, or of an exception, which could have one.
    """
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(handle, "rb") as stream:
            state = os.fstat(handle)
            if not stat.S_ISREG(state.st_mode):
                raise NotSent(f"{path} is not a regular file")
            content = stream.read(_LONGEST + 1)
    except OSError as problem:
        raise NotSent(f"{path} cannot be read: {problem.strerror}") from None
    if state.st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise NotSent(f"{path} can be read by other accounts: chmod 600 {path}")
    return _address_in(path, content)


def _address_in(path: str, content: bytes) -> str:
    text = content.decode("latin-1").strip(" \t\r\n")
    if not text or len(content) > _LONGEST or len(text.split()) != 1:
        raise NotSent(f"{path} must hold one address, of up to {_LONGEST} characters")
    if not text.startswith(("https://", "http://")):
        raise NotSent(f"{path} must hold an address that begins with https://")
    address = _WEBHOOK.fullmatch(text)
    if address is None or not _is_host(address["host"]) or not _is_port(address["port"]):
        raise NotSent(
            f"{path} must hold an address of the form https://HOST[:PORT]/PATH, in ASCII, without "
            "an account (USER@), a fragment (#) or a control character"
        )
    if address["scheme"] == "http" and address["host"].strip("[]") not in _LOOPBACK:
        raise NotSent(f"{path}: only https:// keeps the address secret on the network")
    return text


def _is_host(host: str) -> bool:
    if host.startswith("["):
        try:
            ipaddress.IPv6Address(host[1:-1])
        except ValueError:
            return False
        return True
    return all(0 < len(label) <= 63 for label in host.split("."))


def _is_port(port: str | None) -> bool:
    return port is None or 0 < int(port) < 65536


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A redirect would send the message to another address."""

    def redirect_request(self, *_: object, **__: object) -> None:
        return None


def post(
    address: str,
    content: dict[str, Any],
    pauses: Sequence[float] = PAUSES,
    deadline: float = DEADLINE,
) -> None:
    """POST as JSON. A server that is busy or not reachable is tried again after each pause.

    A server that sends a byte now and then, or a name server that does not answer, would hold the
    caller. So the attempts are made in a thread, which the end of this process ends as well.
    """
    failures: list[NotSent] = []
    worker = threading.Thread(
        target=_post, args=(address, content, pauses, failures), daemon=True, name="webhook"
    )
    worker.start()
    worker.join(deadline)
    if worker.is_alive():
        raise NotSent(f"the webhook did not take the message within {deadline} s")
    if failures:
        raise failures[0]


def _post(
    address: str, content: dict[str, Any], pauses: Sequence[float], failures: list[NotSent]
) -> None:
    try:
        _try_repeatedly(address, content, pauses)
    except NotSent as problem:
        failures.append(problem)
    except Exception as problem:
        # Its text, and a trace with its values, could have the address.
        failures.append(NotSent(f"the message was not sent: {type(problem).__name__}"))


def _try_repeatedly(address: str, content: dict[str, Any], pauses: Sequence[float]) -> None:
    request = urllib.request.Request(  # noqa: S310 - webhook_in takes http and https alone
        address,
        data=json.dumps(content).encode(),
        headers={"Content-Type": "application/json", "User-Agent": "hostproof"},
    )
    handlers: list[Any] = [_NoRedirect]
    if request.type == "http":
        # A proxy would get the address of this machine's own server, in plain text.
        handlers.append(urllib.request.ProxyHandler({}))
    opener = urllib.request.build_opener(*handlers)
    for pause in (*pauses, None):
        try:
            with opener.open(request, timeout=TIMEOUT):
                return
        except urllib.error.HTTPError as problem:
            reason = f"HTTP status {problem.code}"
            is_final = problem.code < 500 and problem.code != 429
        except (OSError, ValueError, http.client.HTTPException) as problem:
            reason, is_final = _reason(problem), False
        if is_final or pause is None:
            raise NotSent(f"the webhook did not take the message: {reason}") from None
        time.sleep(pause)


def _reason(problem: Exception) -> str:
    """The cause, without the text of an exception, which may have a part of the address."""
    cause = getattr(problem, "reason", problem)
    if isinstance(cause, ssl.SSLError):
        return "no TLS connection (certificate, host name or protocol)"
    if isinstance(cause, http.client.HTTPException):
        return "its answer is not HTTP, or a proxy has no valid address"
    if isinstance(cause, TimeoutError):
        return f"no answer within {TIMEOUT} s"
    if isinstance(cause, OSError) and cause.errno is not None and cause.errno > 0:
        return os.strerror(cause.errno)
    return "its host name has no address" if isinstance(cause, OSError) else "no valid answer"


def mail(message: EmailMessage) -> None:
    """Hand the message to sendmail, which takes the recipients from it."""
    program = next((path for path in _SENDMAIL if os.access(path, os.X_OK)), None)
    if program is None:
        raise NotSent("there is no sendmail program on this machine: install a mail server")
    # A program that sendmail leaves behind would keep a pipe open, but not the end of a file.
    with tempfile.TemporaryFile() as errors:
        try:
            done = subprocess.run(
                [program, "-t", "-oi"],
                input=message.as_bytes(),
                stdout=subprocess.DEVNULL,
                stderr=errors,
                timeout=DEADLINE,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise NotSent(f"sendmail did not take the message within {DEADLINE} s") from None
        except OSError as problem:
            raise NotSent(f"{program} does not run: {problem.strerror}") from None
        errors.seek(0)
        text = shorten(one_line(errors.read(1000).decode("utf-8", "backslashreplace")), 200)
    if done.returncode:
        raise NotSent(f"sendmail ended with exit code {done.returncode}: {text or 'no message'}")
