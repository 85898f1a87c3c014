# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""``./hostproof catalogue diff OLD``: what this version changes for evidence packs."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..layout import WORKPLACE
from ..report.text import shorten
from . import options, terminal
from .environment import ROOT, environment_folder, named_inventories
from .errors import Refused

if TYPE_CHECKING:
    from ..catalogue_diff import Change

HEADS = ("", "check", "before", "now", "hosts")
#: Hosts that a line of text names, and characters of a value.
MOST_NAMES = 5
MOST_TEXT = 60


@options.command("catalogue")
@click.option(
    "--evidence",
    metavar="DIR",
    type=options.DIRECTORY,
    help="directory of the evidence packs (default: the latest pack of each host in evidence/)",
)
@click.option(
    "-i",
    "--inventory",
    "inventories",
    metavar="INVENTORY",
    multiple=True,
    type=options.PATH,
    help="use the variables of this inventory for both versions",
)
@click.option("--json", "as_json", is_flag=True, help="print JSON, with all hosts")
@click.argument("action", metavar="diff", type=click.Choice(("diff",)), help="the action")
@click.argument(
    "old",
    metavar="OLD",
    help="another Hostproof: checkout, collection, package, virtualenv or git revision",
)
def command(
    action: str, old: str, evidence: str | None, inventories: tuple[str, ...], as_json: bool
) -> int:
    """Audits evidence packs with OLD and with this version, and lists what differs.

    The code of OLD runs on this machine, with the ansible-core of this version.
    """
    from .. import catalogue_diff, other_version
    from .. import inventories as looked_at

    programs = environment_folder() / "bin"
    named = [*inventories] or named_inventories(os.environ)
    try:
        looked_at.check([word for inventory in named for word in ("-i", inventory)])
    except looked_at.Unsafe as problem:
        raise Refused(str(problem)) from None
    with tempfile.TemporaryDirectory(prefix="hostproof-") as folder:
        scratch = Path(folder)
        before = other_version.installed(old, scratch, ROOT, programs)
        now = other_version.installed(str(ROOT), scratch, ROOT, programs)
        packs = scratch / "packs"
        count = copy_packs(Path(evidence) if evidence else None, packs)
        sources = [str(ROOT / "inventories/evidence.py"), *named]
        results = [
            other_version.audit(version, packs, sources, scratch / name, programs)
            for name, version in (("old", before), ("new", now))
        ]
        changes = catalogue_diff.changes(before, now, *results)
    if as_json:
        record = {
            "old": before.version,
            "new": now.version,
            "packs": count,
            "changes": [change._asdict() for change in changes],
        }
        print(json.dumps(record, indent=1))
        return 0
    if changes:
        terminal.table(HEADS, [row(change) for change in changes])
        terminal.say("")
    counts = _counted(changes)
    update = f"{shorten(old, MOST_TEXT)} ({before.version}) to {now.version}, {count} packs"
    terminal.say(f"{update}: {counts or 'no difference'}")
    return 0


def row(change: Change) -> tuple[str, ...]:
    more = len(change.hosts) - MOST_NAMES
    names = ", ".join(change.hosts[:MOST_NAMES]) + (f" and {more} more" if more > 0 else "")
    hosts = f"{len(change.hosts)}: {names}" if change.hosts else ""
    return (
        change.kind,
        change.name,
        shorten(change.before, MOST_TEXT),
        shorten(change.now, MOST_TEXT),
        hosts,
    )


def _counted(changes: Sequence[Change]) -> str:
    from ..catalogue_diff import KINDS

    kinds = Counter(change.kind for change in changes)
    return ", ".join(f"{kinds[kind]} {kind}" for kind in KINDS if kinds[kind])


def copy_packs(evidence: Path | None, into: Path) -> int:
    """Copy the packs, by default the latest of each host; return their number."""
    if evidence is None:
        evidence = Path(os.environ.get("HOSTPROOF_RECORDS") or WORKPLACE / "evidence")
        # The names of the directories of record begin with the time.
        paths = sorted(evidence.glob("*/*.json"))
    else:
        paths = sorted(evidence.glob("*.json"))
    packs = {path.name: path for path in paths if path.is_file()}
    if not packs:
        raise Refused(f"{evidence} contains no evidence pack; ./hostproof record writes them")
    into.mkdir()
    for name, path in packs.items():
        shutil.copyfile(path, into / name)
    return len(packs)
