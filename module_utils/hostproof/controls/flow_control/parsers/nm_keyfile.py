# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Profiles of NetworkManager (keyfile): their interface and the PAUSE that they set.

A profile can contain passwords: read only the lines that match LINES. Sources:
nm-settings-keyfile(5); nm-settings(5), connection and ethtool; GLib key files."""

from typing import Dict, NamedTuple, Optional

from ....errors import ParseError, kind_of

_WHAT = "NetworkManager profile"

#: Pattern for grep -E: section headers and the settings that are read here.
LINES = (
    r"^[[:space:]]*(\[[A-Za-z0-9_-]+\]|(id|uuid|type|interface-name|autoconnect|mac-address|"
    r"master|controller|slave-type|port-type|pause-(autoneg|rx|tx))[[:space:]]*=)"
)

_TRUTH = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}


class Profile(NamedTuple):
    """A profile. None: the profile does not set the value."""

    name: str
    uuid: str
    kind: str
    interface: Optional[str]
    mac: Optional[str]
    autoconnect: bool
    autoneg: Optional[bool]
    rx: Optional[bool]
    tx: Optional[bool]


def parse(text: str) -> Profile:
    sections: Dict[str, Dict[str, str]] = {}
    current: Optional[Dict[str, str]] = None
    for number, line in enumerate(text.split("\n"), 1):
        line = line.strip()
        if not line or line.startswith(("#", ";")):
            continue
        if line.startswith("["):
            if not line.endswith("]"):
                raise ParseError(_WHAT, "the section header does not end", number)
            current = sections.setdefault(line[1:-1], {})
            continue
        key, equals, value = line.partition("=")
        if current is None or not equals or not key.strip():
            raise ParseError(_WHAT, f"no setting: {kind_of(key)}", number)
        current[key.strip()] = value.strip()
    if "connection" not in sections:
        raise ParseError(_WHAT, "there is no section connection")
    connection = sections["connection"]
    ethtool = sections.get("ethtool", {})
    wired = sections.get("ethernet", sections.get("802-3-ethernet", {}))
    return Profile(
        name=connection.get("id", ""),
        uuid=connection.get("uuid", ""),
        kind=connection.get("type", ""),
        interface=connection.get("interface-name") or None,
        mac=wired.get("mac-address", "").lower() or None,
        autoconnect=_TRUTH.get(connection.get("autoconnect", "true").lower(), True),
        autoneg=_flag(ethtool, "pause-autoneg"),
        rx=_flag(ethtool, "pause-rx"),
        tx=_flag(ethtool, "pause-tx"),
    )


def _flag(section: Dict[str, str], name: str) -> Optional[bool]:
    if name not in section:
        return None
    value = _TRUTH.get(section[name].lower())
    if value is None:
        raise ParseError(_WHAT, f"{name} is neither true nor false")
    return value
