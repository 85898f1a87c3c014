# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Sends a message to a webhook or through the sendmail program of this machine."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Sequence
from email.message import EmailMessage
from pathlib import Path
from typing import Any

from ansible.module_utils.hostproof.errors import HostproofError

from ..report.text import one_line, shorten

#: Seconds for one attempt, and the pauses before further attempts.
TIMEOUT = 10
PAUSES = (1, 5, 15)
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_SENDMAIL = ("/usr/sbin/sendmail", "/usr/lib/sendmail")


class NotSent(HostproofError):
    """The message did not arrive; the text never has the address of the webhook."""


def webhook_in(path: str) -> str:
    """The address of a webhook from a file that only its owner can read: it is a secret."""
    state = os.stat(path)
    if state.st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise NotSent(f"{path} can be read by other accounts: chmod 600 {path}")
    lines = Path(path).read_text(encoding="utf-8").split()
    if len(lines) != 1:
        raise NotSent(f"{path} must hold one address")
    parts = urllib.parse.urlsplit(lines[0])
    if parts.scheme not in ("https", "http") or not parts.hostname:
        raise NotSent(f"{path} must hold an address that begins with https://")
    if parts.scheme == "http" and parts.hostname not in _LOOPBACK:
        raise NotSent(f"{path}: only https:// keeps the address secret on the network")
    return lines[0]


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A redirect would send the message to another address."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


def post(address: str, content: dict[str, Any], pauses: Sequence[float] = PAUSES) -> None:
    """POST as JSON. A server that is busy or not reachable is tried again after each pause."""
    request = urllib.request.Request(  # noqa: S310 - webhook_in takes http and https alone
        address,
        data=json.dumps(content).encode(),
        headers={"Content-Type": "application/json", "User-Agent": "hostproof"},
    )
    opener = urllib.request.build_opener(_NoRedirect)
    host = urllib.parse.urlsplit(address).hostname
    for pause in (*pauses, None):
        try:
            with opener.open(request, timeout=TIMEOUT):
                return
        except urllib.error.HTTPError as problem:
            reason = f"HTTP status {problem.code}"
            is_final = problem.code < 500 and problem.code != 429
        except (OSError, ValueError) as problem:
            cause = getattr(problem, "reason", problem)
            reason, is_final = shorten(one_line(str(cause)), 200), False
        if is_final or pause is None:
            raise NotSent(f"the webhook at {host} did not take the message: {reason}")
        time.sleep(pause)


def mail(message: EmailMessage) -> None:
    """Hand the message to sendmail, which takes the recipients from it."""
    program = next(
        (path for path in _SENDMAIL if os.access(path, os.X_OK)), shutil.which("sendmail")
    )
    if program is None:
        raise NotSent("there is no sendmail program on this machine: install a mail server")
    argv = [program, "-t", "-oi"]
    done = subprocess.run(
        argv, input=message.as_bytes(), capture_output=True, timeout=60, check=False
    )
    if done.returncode:
        text = shorten(one_line(done.stderr.decode("utf-8", "backslashreplace")), 200)
        raise NotSent(f"sendmail ended with exit code {done.returncode}: {text or 'no message'}")
