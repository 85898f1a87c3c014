# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""``./hostproof baseline``: measure latency as a baseline for compare."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import options

if TYPE_CHECKING:
    from .ansible_options import AnsibleOptions


@options.command("baseline", exits=options.ANSIBLE, hosts=True)
@options.with_verdict
def command(ansible: AnsibleOptions, **values: Any) -> int:
    from .play import Play

    return Play("baseline", ansible, **values).run()
