# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""``./hostproof test``: the test runner, which parses its arguments itself."""

from __future__ import annotations

import os
import sys

import click

from ..layout import IS_CHECKOUT
from . import options
from .environment import ROOT, child_environment, environment_folder
from .errors import Refused


class _Raw(options.Command):
    """Everything after the command goes to the test runner as it was typed."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.params["words"] = list(args)
        return []


@options.command("test", cls=_Raw, exits={0: "no test failed", 1: "a test failed"})
@click.option("--quick", is_flag=True, help="skip tests that need virtual machines")
@click.option("--all", is_flag=True, help="run every stage")
@click.option("--within", metavar="SECONDS", type=int, help="end after this time")
@click.argument("stages", metavar="[STAGE]...", nargs=-1, help="test stages to run")
def command(words: list[str]) -> int:
    if not IS_CHECKOUT:
        raise Refused("test needs a checkout of Hostproof: the installed package has no tests")
    programs = environment_folder() / "bin"
    environment = child_environment()
    environment["PATH"] = f"{programs}:{environment.get('PATH', os.defpath)}"
    line = [str(programs / "python"), str(ROOT / "tests/run"), *words]
    sys.stdout.flush()
    os.execve(line[0], line, environment)
