# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Valid node checking of a listener: the lists of its sqlnet.ora, and the addresses of their names.

An entry is a name, an address, a network (``10.1.0.0/16``) or an address with ``*`` for its last
parts (Net Services Reference, sqlnet.ora, TCP.INVITED_NODES). TCP.INVITED_NODES takes precedence
over TCP.EXCLUDED_NODES.
"""

import fnmatch
import ipaddress
from typing import Dict, List, NamedTuple, Optional, Tuple

from ...collect.answer import Answer, attempt, known
from ...collect.host import Host
from ...errors import HostproofError, ParseError
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
        """The names of the lists that no source of this host resolves."""
        answers = self.found.items()
        return [name for name, found in answers if isinstance(found, Found) and not found.addresses]

    def stops_the_start(self) -> bool:
        """Whether a start of the listener is known to end with TNS-00584."""
        if not self.is_on or not (self.invited or self.excluded):
            return False
        invites = attempt(self.invites_own) if self.invited else True
        return bool(self.unresolved()) or invites is False

    def invites_own(self) -> bool:
        """Whether an entry is this host; raises what is unknown if no entry is known to be it."""
        unknown: List[HostproofError] = []
        for entry in self.invited:
            answer = attempt(self._is_own, entry)
            if isinstance(answer, HostproofError):
                unknown.append(answer)
            elif answer:
                return True
        if unknown:
            raise unknown[0]
        return False

    def _is_own(self, entry: str) -> bool:
        own, other = known(self.own).lower(), entry.lower()
        if other == own or ("." not in other or "." not in own) and _short(other) == _short(own):
            return True
        if not host_names.is_name(entry) or is_address(entry):
            return any(_matches(entry, address) for address in known(self.addresses))
        addresses = known(self.found[entry]).addresses
        return bool(addresses) and bool(set(addresses) & set(known(self.addresses)))


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
        is_on=checking is not None and (checking.value or "").lower() in TRUE,
        invited=_entries(settings.get(oracle_net.INVITED)),
        excluded=_entries(settings.get(oracle_net.EXCLUDED)),
    )
    names = [
        entry for entry in dict.fromkeys((*nodes.invited, *nodes.excluded)) if not is_address(entry)
    ]
    if not nodes.is_on or not (nodes.invited or nodes.excluded):
        return nodes
    if len(names) > _MOST:
        raise ParseError(nodes.path, f"more than {_MOST} names of nodes")
    return nodes._replace(
        own=attempt(probe.node_name, host),
        addresses=attempt(
            lambda: tuple(address.address for address in devices.read_addresses(host))
        ),
        found=host_names.look_up(host, names),
    )


def is_address(entry: str) -> bool:
    """Whether an entry is an address, a network, or an address with ``*``: nothing resolves it."""
    return "*" in entry or ":" in entry or "/" in entry or entry.replace(".", "").isdecimal()


def _entries(parameter: Optional[oracle_net.Pair]) -> Tuple[str, ...]:
    if parameter is None:
        return ()
    words = [item.text for item in parameter.items] or [parameter.value or ""]
    return tuple(entry for word in words for entry in word.replace(",", " ").split())


def _matches(entry: str, address: str) -> bool:
    if "*" in entry:
        return fnmatch.fnmatchcase(address.lower(), entry.lower())
    try:
        return ipaddress.ip_address(address) in ipaddress.ip_network(entry, strict=False)
    except ValueError:
        return False


def _short(name: str) -> str:
    return name.partition(".")[0]
