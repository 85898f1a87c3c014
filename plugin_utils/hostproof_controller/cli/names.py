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


class CheckIds(click.ParamType):
    """Names of controls and checks, with commas between them; the command rejects unknown ones."""

    name = "checks"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        from ansible.module_utils.hostproof.controls.registry import NAMES, check_ids

        begin, comma, last = incomplete.rpartition(",")
        known = (*NAMES, *sorted(check_ids()))
        return [CompletionItem(begin + comma + name) for name in known if name.startswith(last)]


class SetName(click.ParamType):
    """The name of a set of checks. A site can have its own sets, so any name is accepted here."""

    name = "set"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        from ..selection import built_in_sets

        return [
            CompletionItem(name, help=entry["title"])
            for name, entry in built_in_sets().items()
            if name.startswith(incomplete)
        ]


class ProfileName(click.ParamType):
    """A profile (``hostproof_profile``)."""

    name = "profile"

    def __init__(self, left_out: str | None = None) -> None:
        self._left_out = left_out

    def _names(self) -> list[str]:
        from ansible.module_utils.hostproof.evaluate.profiles import PROFILES

        return sorted(set(PROFILES) - {self._left_out})

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> str:
        known = self._names()
        if value not in known:
            from .suggestions import did_you_mean, quoted

            hint = did_you_mean(str(value), known) or f"; there are {', '.join(known)}"
            self.fail(f"there is no profile {quoted(str(value))}{hint}", param, ctx)
        return str(value)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        return [CompletionItem(name) for name in self._names() if name.startswith(incomplete)]
