# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Valid node checking of a listener: the lists of its sqlnet.ora, and the addresses of their names.

An entry is a name, an address, a network (``10.1.0.0/16``) or an address with ``*`` for its last
parts (Net Services Reference, sqlnet.ora, TCP.INVITED_NODES). TCP.INVITED_NODES takes precedence
over TCP.EXCLUDED_NODES.
"""

import fnmatch
import ipaddress
import re
from typing import Dict, List, NamedTuple, Optional, Tuple

from ...collect.answer import Answer, attempt, known
from ...collect.host import Host
from ...errors import ParseError
from ...parsers.oracle import oracle_net
from ...probes.net import devices, host_names
from ...probes.net.host_names import Found
from ...probes.oracle import listeners as probe
from ...probes.oracle.listeners import Listener
from .endpoints import TRUE

#: More names than a list has; each one is a process for a moment.
_MOST = 128


class Nodes(NamedTuple):
    """``path`` is the file that sets the lists. ``found`` has each of their names. ``own`` and
    ``addresses`` are those of this host. They are read only if the listener checks nodes."""

    path: str
    is_on: bool
    invited: Tuple[str, ...]
    excluded: Tuple[str, ...]
    own: Answer[str] = ""
    addresses: Answer[Tuple[str, ...]] = ()
    found: Dict[str, Answer[Found]] = {}

    def unresolved(self) -> List[str]:
        """The entries that are not addresses and that no source of this host resolves."""
        answers = self.found.items()
        names = [
            name for name, found in answers if isinstance(found, Found) and not found.addresses
        ]
        entries = dict.fromkeys((*self.invited, *self.excluded))
        return [*names, *(one for one in entries if not is_address(one) and one not in self.found)]

    def stops_the_start(self) -> bool:
        """Whether a start of the listener is known to end with TNS-00584."""
        if not self.is_on or not (self.invited or self.excluded):
            return False
        invites = attempt(self.invites_own) if self.invited else True
        return bool(self.unresolved()) or invites is False

    def invites_own(self) -> bool:
        """Whether an entry is this host; raises what is unknown if none is known to be it."""
        return bool(self._own_entries(self.invited))

    def denied_by(self) -> Tuple[str, ...]:
        """The entries that exclude this host; a list of invited nodes makes the other one void."""
        return () if self.invited else self._own_entries(self.excluded)

    def _own_entries(self, entries: Tuple[str, ...]) -> Tuple[str, ...]:
        answers = {entry: attempt(self._is_own, entry) for entry in entries}
        own = tuple(entry for entry, answer in answers.items() if answer is True)
        for answer in () if own else answers.values():
            known(answer)
        return own

    def _is_own(self, entry: str) -> bool:
        own, other = known(self.own).lower(), entry.lower()
        if other == own or ("." not in other or "." not in own) and _short(other) == _short(own):
            return True
        # A connection to an address of this host comes from that address.
        addresses = [each for each in known(self.addresses) if not is_loopback(each)]
        if entry not in self.found:
            return any(_matches(entry, address) for address in addresses)
        return bool(set(known(self.found[entry]).addresses) & set(addresses))


def read(host: Host, listener: Listener) -> Nodes:
    """Absent where there is no sqlnet.ora."""
    settings: Dict[str, oracle_net.Pair] = {}
    paths: Dict[str, str] = {}
    files = probe.read_sqlnet(host, listener)
    for path, net in files:
        for parameter in net.parameters:
            settings[parameter.name.upper()] = parameter
            paths[parameter.name.upper()] = path
    checking = settings.get(oracle_net.NODE_CHECKING)
    nodes = Nodes(
        path=paths.get(oracle_net.INVITED) or paths.get(oracle_net.EXCLUDED) or files[0][0],
        is_on=any(word.lower() in TRUE for word in _entries(checking)),
        invited=_entries(settings.get(oracle_net.INVITED)),
        excluded=_entries(settings.get(oracle_net.EXCLUDED)),
    )
    if not nodes.is_on or not (nodes.invited or nodes.excluded):
        return nodes
    names = _names((*nodes.invited, *nodes.excluded))
    if len(names) > _MOST:
        raise ParseError(nodes.path, f"more than {_MOST} names of nodes")
    return nodes._replace(
        own=attempt(probe.node_name, host),
        addresses=attempt(
            lambda: tuple(address.address for address in devices.read_addresses(host))
        ),
        found=host_names.look_up(host, names),
    )


def _names(entries: Tuple[str, ...]) -> List[str]:
    return [
        entry
        for entry in dict.fromkeys(entries)
        if not is_address(entry) and host_names.is_name(entry) and not _is_digits(entry)
    ]


def is_address(entry: str) -> bool:
    """Whether an entry is an address, a network, or an IPv4 address with ``*``, which nothing
    resolves. A name with ``*`` and an address that does not exist are none."""
    if "*" in entry:
        return re.match(r"(?:\d{1,3}|\*)(?:\.(?:\d{1,3}|\*)){0,3}\Z", entry) is not None
    try:
        ipaddress.ip_network(entry.strip("[]"), strict=False)
    except ValueError:
        return False
    return True


def _is_digits(entry: str) -> bool:
    return entry.replace(".", "").isdecimal()


def is_loopback(address: str) -> bool:
    return address.startswith("127.") or address == "::1"


def _entries(parameter: Optional[oracle_net.Pair]) -> Tuple[str, ...]:
    if parameter is None:
        return ()
    words = [item.text for item in parameter.items] or [parameter.value or ""]
    return tuple(entry for word in words for entry in word.replace(",", " ").split())


def _matches(entry: str, address: str) -> bool:
    if "*" in entry:
        return fnmatch.fnmatchcase(address.lower(), entry.lower())
    try:
        return ipaddress.ip_address(address) in ipaddress.ip_network(
            entry.strip("[]"), strict=False
        )
    except ValueError:
        return False


def _short(name: str) -> str:
    return name.partition(".")[0]
