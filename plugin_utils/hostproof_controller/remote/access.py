# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Why Hostproof could not start on a host that answers: sudo, or no Python. One sentence each.

The texts are those of sudo 1.8 and 1.9, of Ansible 2.16 to 2.21 and of common shells.
"""

from __future__ import annotations

import re

_SENTENCES = (
    (
        re.compile(r"Incorrect \S+ password|incorrect password attempt|Sorry, try again"),
        "sudo rejected the password: correct ansible_become_password, or enter it with "
        "--ask-become-pass (-K)",
    ),
    (
        re.compile(r"Missing \S+ password|password is required|no password was provided"),
        "sudo requires a password: enter it with --ask-become-pass (-K), or set "
        "ansible_become_password",
    ),
    (
        re.compile(r"not in the sudoers file|not allowed to (?:run|execute)|may not run sudo"),
        "the login account is not permitted to use sudo: add it to sudoers on the host, or log in "
        "with another account (-u)",
    ),
    (
        re.compile(r"is ansible_python_interpreter a Python"),
        "no usable Python was found: install Python 3.6 or newer on the host, or set "
        "ansible_python_interpreter to its path",
    ),
)


def no_access(message: str) -> str | None:
    """The sentence for an error of the connection, of sudo or of a shell; None for any other."""
    for pattern, sentence in _SENTENCES:
        if pattern.search(message):
            return sentence
    return None
