# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""``./hostproof compare``: measure latency again and compare it with a baseline."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from . import options

if TYPE_CHECKING:
    from .ansible_options import AnsibleOptions


@options.command("compare", exits=options.JUDGED, hosts=True)
@options.with_verdict
@options.with_terminal
@click.option(
    "--baseline",
    metavar="DIR",
    type=options.DIRECTORY,
    help="baseline directory to compare with",
)
def command(ansible: AnsibleOptions, **values: Any) -> int:
    from .play import Play

    return Play("compare", ansible, **values).run()
