# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The accounts of a host, according to its name service."""

from ...collect.host import Host
from ...errors import Absent
from ...parsers.unix import getent


def user_name(host: Host, uid: int) -> str:
    """The name of an account; Absent where no account has the uid."""
    argv = ["getent", "passwd", str(uid)]
    output = host.run(argv)
    accounts = getent.parse_passwd(output.stdout) if output.rc == 0 else []
    if not accounts:
        raise Absent("command:" + " ".join(argv), f"no account has uid {uid}")
    return str(accounts[0].name)
