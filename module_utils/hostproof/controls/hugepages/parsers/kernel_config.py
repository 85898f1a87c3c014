# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""/boot/config-RELEASE: build options of the kernel."""

from typing import Dict

from ....errors import ParseError


def parse(text: str) -> Dict[str, str]:
    """ "CONFIG_X=value" rows; "# CONFIG_X is not set" reads as "n". Quotes are kept."""
    options = {}
    for line in text.splitlines():
        if line.startswith("CONFIG_") and "=" in line:
            name, _, value = line.partition("=")
            options[name] = value.strip()
        elif line.startswith("# CONFIG_") and line.endswith(" is not set"):
            options[line.split()[1]] = "n"
    if not options:
        raise ParseError("kernel config", "no CONFIG_ row in it")
    return options
