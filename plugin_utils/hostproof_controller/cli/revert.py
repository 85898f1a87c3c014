# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""``./hostproof revert``: restore what apply changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from . import options

if TYPE_CHECKING:
    from .ansible_options import AnsibleOptions


@options.command("revert", exits=options.ANSIBLE, hosts=True)
@options.with_verdict
@click.option(
    "--gate",
    metavar="DIR",
    type=options.NEW_DIRECTORY,
    help="restore the batches that this gate did not keep",
)
def command(ansible: AnsibleOptions, **values: Any) -> int:
    from .play import Play

    return Play("revert", ansible, **values).run()
