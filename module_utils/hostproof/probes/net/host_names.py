# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Name resolution of a host as every program does it: the results of getent.

getent resolves names by /etc/hosts, DNS, and other sources of nsswitch.conf. It has a limit of
``SECONDS``, and all names are resolved in parallel, so that an unreachable server does not delay
the run.
"""

import re
from functools import partial
from typing import Any, Callable, Dict, NamedTuple, Sequence, Tuple

from ...collect.answer import Answer, attempt
from ...collect.host import Host
from ...errors import ParseError, Unanswered, kind_of
from ...parsers.unix import getent

#: Seconds that a name may take.
SECONDS = 6.0
_AT_A_TIME = 24
#: Names that are safe as an argument of a command.
_NAME = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9_.-]{0,251}[A-Za-z0-9_.])?\Z")
_NOT_FOUND = 2


class Found(NamedTuple):
    """``addresses`` in the order in which a program tries them; none where it is unknown the name.
    ``name`` is the canonical one."""

    name: str
    addresses: Tuple[str, ...]


def is_name(text: str) -> bool:
    return _NAME.match(text) is not None


def look_up(host: Host, names: Sequence[str]) -> Dict[str, Answer[Found]]:
    return side_by_side(partial(_look_up, host), names)


def look_back(host: Host, addresses: Sequence[str]) -> Dict[str, Answer[Tuple[str, ...]]]:
    """The names of each address, the canonical one first; none where it is unknown it."""
    return side_by_side(partial(_look_back, host), addresses)


def side_by_side(ask: Callable[[object], object], subjects: Sequence[object]) -> Dict[Any, Any]:
    if not subjects:
        return {}
    # Hosts without Oracle require nothing, and each import costs an audit time.
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(max_workers=_AT_A_TIME) as several:
        return dict(zip(subjects, several.map(partial(attempt, ask), subjects)))


def _look_up(host: Host, name: str) -> Found:
    output = _getent(host, "ahosts", name)
    return Found(*getent.parse_ahosts(output))


def _look_back(host: Host, address: str) -> Tuple[str, ...]:
    lines = _getent(host, "hosts", address).split("\n")
    return tuple(name for line in lines for name in line.split()[1:] if is_name(name))


def _getent(host: Host, database: str, what: str) -> str:
    """The output, or "" if the name is not found."""
    argv = ["getent", database, what]
    key = "command:" + " ".join(argv)
    if not is_name(what) and ":" not in what:
        raise ParseError("name", f"{kind_of(what)} is none, and is not looked up")
    output = host.run(argv, SECONDS)
    if output.rc not in (0, _NOT_FOUND):
        raise Unanswered(key, f"getent ended with {output.rc}: {output.stderr.strip()[:200]}")
    return output.stdout
