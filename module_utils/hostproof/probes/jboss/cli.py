# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The management interface of WildFly and JBoss EAP, through the classes of jboss-cli.

They run as the account of the server: local authentication accepts every account that can read the
challenge directory. The script jboss-cli.sh is not used: it expects its home next to itself, which
fails when it is run by descriptor."""

from typing import NamedTuple, Sequence

from ...collect.command import Command


class Management(NamedTuple):
    """``home`` is where the server is installed, ``user`` runs it, ``controller`` is its address
    and port. ``java`` is the program that asks, without links."""

    home: str
    user: str
    controller: str
    java: str


def command(at: Management, name: str, operations: Sequence[str], seconds: float) -> Command:
    """Ask or tell the server; operations hold no secret: all see the arguments of a process."""
    return Command(
        name=name,
        argv=(
            at.java,
            "-Xmx128m",
            "-XX:TieredStopAtLevel=1",
            f"-Dlogging.configuration=file:{at.home}/bin/jboss-cli-logging.properties",
            "-jar",
            at.home + "/jboss-modules.jar",
            "-mp",
            at.home + "/modules",
            "org.jboss.as.cli",
            "--connect",
            "--controller=" + at.controller,
            "--output-json",
            "--commands=" + ",".join(operations),
        ),
        user=at.user,
        timeout=seconds,
    )
