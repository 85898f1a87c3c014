# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""``./hostproof verify-report``: verify the signature of a report."""

from __future__ import annotations

import click

from . import options


@options.command(
    "verify-report",
    exits={0: "valid signature", 1: "usage or setup error", 2: "unsigned or modified"},
)
@click.option(
    "--allowed-signers",
    metavar="FILE",
    type=options.FILE,
    required=True,
    help='allowed signers of ssh-keygen(1): NAME namespaces="hostproof-report" KEY in each line',
)
@click.option("--signer", metavar="NAME", help="require this signer")
@click.argument(
    "directory", metavar="DIR", type=click.Path(file_okay=False), help="report directory"
)
def command(directory: str, allowed_signers: str, signer: str | None) -> int:
    """Fails if a file was changed, added or removed, or if the signer is not allowed."""
    from .signing import verify

    return verify(directory, allowed_signers, signer)
