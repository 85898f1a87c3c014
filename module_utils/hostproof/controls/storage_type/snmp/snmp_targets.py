# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads SNMP targets from variables: addresses, and credentials by name.

The control and the module use the same format. Every ValueError names the entry and its defect, but
never the value of a secret.
"""

import re
from typing import Any, Dict, NamedTuple, Optional, Sequence, Tuple

from ....evaluate.policy import is_whole
from ....snmp import tools as snmp
from ....snmp.tools import Credentials, Target

#: Names of credentials: for addresses without ``credentials``, and for the database's own query.
DEFAULT, DATABASE = "default", "database"

_WITH_PORT = re.compile(r"(?:\[([^\]]+)\]|([^:]+)):(-?[0-9]+)\Z")


class Address(NamedTuple):
    """The address of an agent. ``port`` None: the default port. ``credentials`` is a name."""

    address: str
    port: Optional[int] = None
    credentials: str = DEFAULT


def bare_address(name: str) -> str:
    """The address in the name of a target ("10.0.0.5:1161", "[fd00::5]:1161", "fd00::5")."""
    written = _WITH_PORT.match(name)
    return name if written is None else written.group(1) or written.group(2)


def credentials_by_name(value: Any) -> Dict[str, Credentials]:
    """Credentials from {name: plain values}. The name DEFAULT is required."""
    check_names_of_credentials(value)
    return {str(name): credentials_of(str(name), fields) for name, fields in value.items()}


def check_names_of_credentials(value: Any) -> None:
    if not isinstance(value, dict):
        raise ValueError("must be a dictionary of names, each with a dictionary")
    if DEFAULT not in value:
        raise ValueError(f"must have the name {DEFAULT}")


def credentials_of(name: str, value: Any) -> Credentials:
    """The credentials with this name. Error messages never contain their values."""
    if not isinstance(value, dict):
        raise ValueError(f"{name}: must be a dictionary")
    try:
        read = snmp.credentials_from(value)
    except ValueError as problem:
        raise ValueError(f"{name}: {problem}") from problem
    if name == DATABASE and read.version == "3":
        raise ValueError(f"{DATABASE}: the database uses version 1")
    return read


def addresses_from(value: Any, names: Sequence[str]) -> Tuple[Address, ...]:
    """Addresses from a list of texts and dictionaries. ``names``: the names of the credentials."""
    if not isinstance(value, (list, tuple)):
        raise ValueError("must be a list of addresses")
    return tuple(address_of(item, names) for item in value)


def address_of(item: Any, names: Sequence[str]) -> Address:
    """An address from a text or a dictionary."""
    entry = item if isinstance(item, dict) else {"address": item}
    unknown = sorted(set(map(str, entry)) - {"address", "port", "credentials"})
    if unknown or not entry.get("address"):
        raise ValueError(
            f"must be an address, or a dictionary with address and optionally port and credentials "
            f"(a name), not with {sorted(map(str, entry))!r}"
        )
    text = str(entry["address"])
    name = str(entry.get("credentials") or DEFAULT)
    if name not in names:
        raise ValueError(f"{text}: the named credentials do not exist or cannot be used")
    bare, port = _split(text, entry.get("port"))
    if port is not None and not (is_whole(port) and 0 < int(port) < 65536):
        raise ValueError(f"{text}: port must be 1 to 65535")
    return Address(snmp.check_address(bare), None if port is None else int(port), name)


def _split(text: str, port: Any) -> Tuple[str, Any]:
    """The address in the text, and the port in it or next to it."""
    written = _WITH_PORT.match(text)
    if written is None:
        return (text[1:-1] if text.startswith("[") and text.endswith("]") else text), port
    if port is not None:
        raise ValueError(f"{text}: the port is set twice")
    return written.group(1) or written.group(2), written.group(3)


def target_of(
    address: Address, credentials: Dict[str, Credentials], port: int, timeout: float, retries: int
) -> Target:
    """The agent at ``address``. ``port`` is the default port."""
    how = credentials[address.credentials]
    return Target(address.address, address.port or port, how, timeout, retries)


def oracle_credentials(credentials: Dict[str, Credentials], usual: Credentials) -> Credentials:
    """The credentials of the database: entry DATABASE, otherwise ``usual``."""
    return credentials.get(DATABASE, usual)
