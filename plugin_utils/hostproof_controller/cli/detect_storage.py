# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""``./hostproof detect-storage``: identify storage systems over SNMP."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import options

if TYPE_CHECKING:
    from .ansible_options import AnsibleOptions


@options.command("detect-storage", exits=options.ANSIBLE, hosts=True)
@options.with_verdict
def command(ansible: AnsibleOptions, **values: Any) -> int:
    """Identify storage systems over SNMP (docs/controls/storage_type.md)."""
    from .play import Play

    return Play("detect_storage", ansible, **values).run()
