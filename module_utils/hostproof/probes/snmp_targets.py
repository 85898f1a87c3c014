# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whom to ask over SNMP and how, as people write it down: addresses, and credentials by name.

The control and the module take the same words. Every ValueError says what is wrong where, and
never what a secret holds.
"""

import re
from typing import Any, Dict, NamedTuple, Optional, Sequence, Tuple

from . import snmp
from .snmp import Credentials, Target

#: Names of credentials: for every address that names none, and for the database's own question.
DEFAULT, DATABASE = "default", "database"

_WITH_PORT = re.compile(r"(?:\[([^\]]+)\]|([^:]+)):(-?[0-9]+)$")


class Address(NamedTuple):
    """Whom to ask. ``port`` None is the usual one; ``credentials`` is a name."""

    address: str
    port: Optional[int] = None
    credentials: str = DEFAULT


def credentials_by_name(value):
    # type: (Any) -> Dict[str, Credentials]
    """Credentials from {name: plain values}; the name DEFAULT must be there."""
    if not isinstance(value, dict) or not all(isinstance(one, dict) for one in value.values()):
        raise ValueError("must be a dictionary of names, each with a dictionary")
    read = {}
    for name, one in value.items():
        try:
            read[str(name)] = snmp.credentials_from(one)
        except ValueError as problem:
            raise ValueError("{0}: {1}".format(name, problem)) from problem
    if DEFAULT not in read:
        raise ValueError("must have the name {0}".format(DEFAULT))
    if DATABASE in read and read[DATABASE].version == "3":
        raise ValueError("{0}: the database asks with version 1".format(DATABASE))
    return read


def addresses_from(value, names):
    # type: (Any, Sequence[str]) -> Tuple[Address, ...]
    """Addresses from a list of texts and dictionaries; ``names`` are those of the credentials."""
    if not isinstance(value, (list, tuple)):
        raise ValueError("must be a list of addresses")
    return tuple(_address(item, names) for item in value)


def _address(item, names):
    # type: (Any, Sequence[str]) -> Address
    entry = item if isinstance(item, dict) else {"address": item}
    unknown = sorted(set(map(str, entry)) - {"address", "port", "credentials"})
    if unknown or not entry.get("address"):
        raise ValueError(
            "has {0!r}, which must be an address or have address, and may have port and "
            "credentials (a name)".format(sorted(map(str, entry)))
        )
    text = str(entry["address"])
    name = str(entry.get("credentials") or DEFAULT)
    if name not in names:
        raise ValueError("{0}: there are no credentials of the name it asks for".format(text))
    written = _WITH_PORT.match(text)
    bare, port = text, entry.get("port")
    if written is not None:
        if port is not None:
            raise ValueError("{0}: has a port twice".format(text))
        bare, port = written.group(1) or written.group(2), written.group(3)
    elif text.startswith("[") and text.endswith("]"):
        bare = text[1:-1]
    if port is not None and not (str(port).isdecimal() and 0 < int(port) < 65536):
        raise ValueError("{0}: port must be 1 to 65535".format(text))
    return Address(snmp.check_address(bare), None if port is None else int(port), name)


def target_of(address, credentials, port, timeout, retries):
    # type: (Address, Dict[str, Credentials], int, float, int) -> Target
    """The agent at ``address``; ``port`` is that of every address that names none."""
    how = credentials[address.credentials]
    return Target(address.address, address.port or port, how, timeout, retries)


def oracle_credentials(credentials, usual):
    # type: (Dict[str, Credentials], Credentials) -> Credentials
    """What the database asks with: its own entry, or else ``usual``."""
    return credentials.get(DATABASE, usual)
