# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Blanks what is secret in a file before it leaves the host, in evidence or in a difference.

Source: Oracle Database Net Services Reference, listener.ora PASSWORDS_listener_name (to 11.2).
"""

import re

_SECRET = re.compile(
    r"^((?:PASSWORDS?_|WALLET_PASSWORD)[^\s=]*[ \t]*=)[^\n]*(?:\n(?=[ \t])[^\n]*)*",
    re.IGNORECASE | re.MULTILINE,
)


def masked(name, text):
    # type: (str, str) -> str
    """The text of an Oracle Net file without its passwords; any other text as it is.

    ``name`` is the path of the file, or the evidence key that ends with it.
    """
    if not name.lower().endswith(".ora"):
        return text
    return _SECRET.sub(r"\1 (***)", text)
