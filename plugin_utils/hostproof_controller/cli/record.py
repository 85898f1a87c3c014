# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""``./hostproof record``: write an evidence pack for each host."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import options

if TYPE_CHECKING:
    from .ansible_options import AnsibleOptions


@options.command("record", exits=options.ANSIBLE, hosts=True)
@options.with_profile
@options.with_verdict
@options.with_selection
def command(ansible: AnsibleOptions, **values: Any) -> int:
    from .play import Play

    return Play("record", ansible, **values).run()
