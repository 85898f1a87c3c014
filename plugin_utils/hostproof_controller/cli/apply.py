# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""``./hostproof apply``: configure hosts as the policy requests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from . import options

if TYPE_CHECKING:
    from .ansible_options import AnsibleOptions


@options.command("apply", exits=options.JUDGED, hosts=True)
@options.with_profile
@options.with_verdict
@options.with_terminal
@click.option(
    "--gate",
    is_flag=True,
    help="change in batches, measure each before and after, keep it only if it is no slower",
)
def command(ansible: AnsibleOptions, **values: Any) -> int:
    """Creates a plan, rejects it if it would harm the host, applies it, then verifies."""
    from .play import Play

    return Play("apply", ansible, **values).run()
