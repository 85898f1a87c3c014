# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""``./hostproof sign``: sign a report with an SSH key."""

from __future__ import annotations

import getpass
import os

import click

from . import options


@options.command("sign")
@click.option(
    "--key",
    metavar="FILE",
    type=options.FILE,
    required=True,
    help="SSH private key, or the public key of a key in ssh-agent",
)
@click.option("--signer", metavar="NAME", help="name of the signer (default: USER@HOST)")
@click.option(
    "--policy",
    metavar="PATH",
    type=options.PATH,
    multiple=True,
    help="inventory whose files are included in the signature",
)
@click.argument("directory", metavar="DIR", type=options.DIRECTORY, help="report directory")
def command(directory: str, key: str, signer: str | None, policy: tuple[str, ...]) -> int:
    """Writes seal.json and its ssh-keygen signature.

    seal.json has the SHA-256 of each report, policy and code file, the signer and the time.
    """
    from .signing import sign

    return sign(directory, key, signer or f"{getpass.getuser()}@{os.uname().nodename}", policy)
