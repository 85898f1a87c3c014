# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Types of values that the shell completes with names: of controls and of checks."""

from __future__ import annotations

import click
from click.shell_completion import CompletionItem


class ControlName(click.ParamType):
    """The name of a control; the command itself rejects an unknown one."""

    name = "control"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        from ansible.module_utils.hostproof.controls.registry import NAMES

        return [CompletionItem(name) for name in NAMES if name.startswith(incomplete)]


class CheckId(click.ParamType):
    """The id of a check; the command itself rejects an unknown one."""

    name = "check"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        from ansible.module_utils.hostproof.controls.registry import check_ids

        return [CompletionItem(check) for check in check_ids() if check.startswith(incomplete)]
