# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""``ethtool -i``: the driver of an interface and the firmware of its card (ethtool(8))."""

from typing import NamedTuple, Optional

from ....errors import ParseError, kind_of


class Driver(NamedTuple):
    """``firmware`` is None if the driver shows none, for example a driver of a virtual machine."""

    name: str
    version: str
    firmware: Optional[str]


def parse(text: str) -> Driver:
    rows = {}
    for line in text.splitlines():
        name, colon, value = line.partition(":")
        if colon:
            rows[name.strip()] = value.strip()
    if not rows.get("driver"):
        raise ParseError("ethtool -i", f"no driver in {kind_of(text)}")
    firmware = rows.get("firmware-version", "")
    return Driver(
        rows["driver"], rows.get("version", ""), None if firmware in ("", "N/A") else firmware
    )
