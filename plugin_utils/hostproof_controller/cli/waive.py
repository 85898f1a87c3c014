# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""``./hostproof waive``: add an entry to a waiver file; its comments stay."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import click
import yaml
from ansible.module_utils.hostproof.collect.bounded import open_regular
from ansible.module_utils.hostproof.errors import HostproofError

from ..report.waiver_file import load_waivers
from ..report.waivers import Waiver, parse_waivers
from . import options, terminal
from .errors import Refused
from .explain import explained
from .names import CheckId

NAME = "waivers.yml"


@options.command("waive")
@click.option(
    "--host",
    "hosts",
    metavar="HOST",
    multiple=True,
    required=True,
    help="host or pattern, for example db03.example.com or 'test*'; can be repeated",
)
@click.option(
    "--subject",
    "subjects",
    metavar="NAME",
    multiple=True,
    help="only this mount, instance or device, or a pattern; can be repeated",
)
@click.option("--until", metavar="DATE", required=True, help="the last day, YYYY-MM-DD")
@click.option("--owner", metavar="NAME", required=True, help="who answers for it")
@click.option("--reason", metavar="TEXT", required=True, help="why it is accepted")
@click.option(
    "--waivers",
    metavar="FILE",
    type=options.NEW_FILE,
    envvar="HOSTPROOF_WAIVERS",
    default=NAME,
    show_default=True,
    help="the waiver file; it is created if it does not exist",
)
@options.own_checks_option
@click.argument("check", metavar="CHECK", type=CheckId(), help="check id")
def command(
    check: str,
    hosts: tuple[str, ...],
    subjects: tuple[str, ...],
    until: str,
    owner: str,
    reason: str,
    waivers: str,
    inventories: tuple[str, ...],
) -> int:
    """Adds a waiver to a file: a warning or failure that an owner accepts until a date."""
    entry: dict[str, Any] = {
        "check": explained(check, inventories).check.id,
        "hosts": hosts[0] if len(hosts) == 1 else list(hosts),
        **({"subject": list(subjects)} if subjects else {}),
        "owner": owner,
        "reason": reason,
        "expires": until,
    }
    try:
        (waiver,) = parse_waivers([entry])
    except HostproofError as problem:
        text = str(problem).removeprefix("waivers, entry 1: ").replace("expires", "--until", 1)
        raise Refused(text) from None
    if waiver.expires < datetime.date.today():
        raise Refused(f"--until: {waiver.expires} is over")
    entry["expires"] = waiver.expires
    _add(Path(waivers), waiver, yaml.safe_dump([entry], sort_keys=False, allow_unicode=True))
    terminal.say(f"{waivers}: {waiver} until {waiver.expires} ({waiver.owner})")
    terminal.say(f"It applies with --waivers {waivers}, on audit, verify, apply and report.")
    return 0


def _check_new(path: Path, known: list[Waiver], waiver: Waiver) -> None:
    """Refused if the file has a waiver of this check for one of these hosts and subjects."""
    for other in known:
        shared = set(other.hosts) & set(waiver.hosts)
        whose = set(other.subjects or [""]) & set(waiver.subjects or [""])
        if other.check == waiver.check and shared and whose:
            name = f"{waiver.check} on {', '.join(sorted(shared))}"
            raise Refused(f"{path} has a waiver of {name} already: change its entry")


def _add(path: Path, waiver: Waiver, text: str) -> None:
    """Append the entry. Refused, without a change, where the result would not be a waiver file."""
    before, known = "", []
    try:
        if path.exists():
            known = load_waivers(str(path))
            _check_new(path, known, waiver)
            with open_regular(str(path)) as stream:
                before = stream.read().decode("utf-8")
        begin = "---\n" if not before else "" if before.endswith("\n") else "\n"
        if not _holds(before + begin + text, len(known) + 1):
            raise Refused(f"{path}: an entry cannot be added to this form of a list")
        with open(path, "a", encoding="utf-8") as stream:
            stream.write(begin + text)
    except HostproofError as problem:
        raise Refused(str(problem)) from None
    except OSError as problem:
        raise Refused(f"{path}: {problem.strerror or problem}") from None


def _holds(text: str, count: int) -> bool:
    """Whether the text is a waiver file with this number of entries."""
    try:
        return len(parse_waivers(yaml.safe_load(text))) == count
    except (HostproofError, yaml.YAMLError):
        return False
