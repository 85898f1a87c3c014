# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which ways into a host open their sessions with a module of PAM (pam.conf(5)).

A service's stack is a file of /etc/pam.d; what it includes counts as if it stood there.
"""

import re
from typing import Dict, List, Tuple

from ...answer import Answer, attempt, known
from ...errors import Absent, Unanswered
from ...host import Host

FOLDER = "/etc/pam.d"
#: The ways in, as Linux distributions name them; of cron's two a host has one.
SERVICES = ("login", "sshd", "su", "su-l", "crond", "cron")
_INCLUDED = re.compile(r"@include\s+(\S+)|-?session\s+(?:include|substack)\s+(\S+)")
#: How deep files may include one another (libpam has the same).
_DEEPEST = 16


def read_services(host: Host, module: str) -> Dict[str, Answer[bool]]:
    """Of each service that the host has, whether its sessions go through the module."""
    found: Dict[str, Answer[bool]] = {}
    for service in SERVICES:
        answer = attempt(_has, host, service, module, ())
        if not isinstance(answer, Absent):
            found[service] = answer
    return found


def _has(host: Host, name: str, module: str, above: Tuple[str, ...]) -> bool:
    path = name if name.startswith("/") else f"{FOLDER}/{name}"
    if len(above) >= _DEEPEST or path in above:
        raise Unanswered("file:" + path, f"{path} includes itself")
    included: List[str] = []
    text = attempt(host.read_text, path)
    if isinstance(text, Absent) and above:
        raise Unanswered("file:" + path, f"{path}, which {above[-1]} includes, is not there")
    for line in str(known(text)).replace("\\\n", " ").split("\n"):
        words = line.partition("#")[0].strip()
        if re.match(r"-?session\s", words) and re.search(
            r"\s(?:/\S*/)?" + re.escape(module) + r"(?:\s|$)", words
        ):
            return True
        match = _INCLUDED.match(words)
        if match is not None:
            included.append(match.group(1) or match.group(2))
    return any(_has(host, one, module, (*above, path)) for one in included)
