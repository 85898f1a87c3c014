# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""``./hostproof notify``: send the new findings of the latest run."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..layout import WORKPLACE
from . import options, terminal
from .errors import Refused

if TYPE_CHECKING:
    from ..notify.message import Message

_ADDRESS = re.compile(r"[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9.-]{1,255}\Z")


def _check_addresses(mail: tuple[str, ...]) -> None:
    for recipient in mail:
        if not _ADDRESS.match(recipient):
            raise Refused(f"--mail: {recipient!r} is not an e-mail address")


@options.command("notify", exits={0: "sent, or nothing is new", 1: "not sent; see the message"})
@click.option(
    "--webhook-file",
    metavar="FILE",
    type=options.FILE,
    help="file with the address of a webhook (mode 0600)",
)
@click.option(
    "--webhook-format",
    type=click.Choice(("json", "slack", "teams")),
    default="json",
    help="form of the webhook's message (default: json)",
)
@click.option("--mail", metavar="ADDRESS", multiple=True, help="send an e-mail through sendmail")
@click.option("--link", metavar="URL", help="address of the reports directory in the message")
@click.option("--try", "trial", is_flag=True, help="send a message even if nothing is new")
@click.option("--print", "prints", is_flag=True, help="print the message and send nothing")
@click.argument(
    "reports",
    metavar="[REPORTS]",
    type=click.Path(file_okay=False),
    required=False,
    help="directory that contains the runs (default: HOSTPROOF_REPORTS, or reports/)",
)
def command(
    reports: str | None,
    webhook_file: str | None,
    webhook_format: str,
    mail: tuple[str, ...],
    link: str | None,
    trial: bool,
    prints: bool,
) -> int:
    """Compares the two latest runs of a directory and sends the findings that are new.

    Nothing is sent if nothing is new, or if there is only one run. A message has host, check,
    status, severity and problem of each finding, and no evidence.
    """
    from ..notify import message as forms
    from ..notify import sending

    _check_addresses(mail)
    if not (webhook_file or mail or prints):
        raise Refused("notify needs --webhook-file, --mail or --print")
    address = sending.webhook_in(webhook_file) if webhook_file else None
    parent = Path(reports or os.environ.get("HOSTPROOF_REPORTS") or WORKPLACE / "reports")
    message = message_of(parent, link)
    if prints:
        print(json.dumps(forms.FORMS[webhook_format](message), indent=1))
        return 0
    if not message.new and not trial:
        terminal.say("Nothing is new: no message was sent")
        return 0
    if address is not None:
        sending.post(address, forms.FORMS[webhook_format](message))
    if mail:
        sending.mail(forms.as_mail(message, mail))
    terminal.say(f"Sent: {message.title}")
    return 0


def message_of(parent: Path, link: str | None = None) -> Message:
    """What is new in the latest run of a directory; nothing is, where there is one run alone."""
    from ..history.trend import folders
    from ..notify.message import Message, new_of
    from .diff import FIXED, NEW, differences, read

    if not parent.is_dir():
        raise Refused(f"there is no directory {parent}")
    runs = list(folders(parent, 2))
    if not runs:
        raise Refused(f"{parent} has no run")
    latest = runs[-1]
    report = f"{link.rstrip('/')}/{latest.name}/" if link else str(latest)
    if len(runs) == 1:
        return Message(latest.name, report, (), 0)
    before, now = read(str(runs[0])), read(str(latest))
    changes = list(differences(before, now))
    new_keys = {
        (change.host, change.check, change.title) for change in changes if change.kind == NEW
    }
    new = tuple(
        new_of(state.name, finding)
        for state in now.states
        for finding in state.findings
        if (state.name, finding["check"], finding["title"]) in new_keys
    )
    return Message(latest.name, report, new, sum(change.kind == FIXED for change in changes))
