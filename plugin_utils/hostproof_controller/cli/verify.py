# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""``./hostproof verify``: check hosts again, for example after apply."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import options

if TYPE_CHECKING:
    from .ansible_options import AnsibleOptions


@options.command("verify", exits=options.JUDGED, hosts=True)
@options.with_profile
@options.with_verdict
@options.with_terminal
@options.with_selection
def command(ansible: AnsibleOptions, **values: Any) -> int:
    from .play import Play

    return Play("verify", ansible, **values).run()
