# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A message about new findings, and its form for webhooks and e-mail.

A message has host, check, status, severity and problem of each finding. It has no evidence, no
measured value and no command: it leaves the house.
"""

from __future__ import annotations

from collections.abc import Callable
from email.message import EmailMessage
from typing import Any, NamedTuple

from ansible.module_utils.hostproof import VERSION

from ..report.text import one_line, shorten

#: Findings that a message lists; more are counted.
MOST_FINDINGS = 50
_LONGEST = 200
_CARD = "application/vnd.microsoft.card.adaptive"


class New(NamedTuple):
    """A finding that is a problem and was none in the run before."""

    host: str
    check: str
    status: str
    severity: str
    problem: str

    def line(self) -> str:
        return f"{self.status} ({self.severity}) {self.host} {self.check}: {self.problem}"


class Message(NamedTuple):
    """``run`` is the name of the run, ``report`` where its report is; ``fixed`` is a number."""

    run: str
    report: str
    new: tuple[New, ...]
    fixed: int

    @property
    def title(self) -> str:
        findings = _counted(len(self.new), "new finding")
        hosts = _counted(len({finding.host for finding in self.new}), "host")
        return f"Hostproof: {findings} on {hosts}"

    def lines(self) -> list[str]:
        shown = [finding.line() for finding in self.new[:MOST_FINDINGS]]
        rest = len(self.new) - len(shown)
        return [*shown, *([f"and {rest} more"] if rest else []), f"Report: {self.report}"]


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def new_of(host: str, finding: dict[str, Any]) -> New:
    """The part of a finding that a message contains."""
    # Reports of earlier versions have no problem.
    text = finding.get("problem") or finding["title"]
    words = (host, finding["check"], finding["status"], finding["severity"], text)
    return New(*(shorten(one_line(str(word)), _LONGEST) for word in words))


def as_json(message: Message) -> dict[str, Any]:
    """The generic form."""
    return {
        "hostproof": VERSION,
        "title": message.title,
        "run": message.run,
        "report": message.report,
        "counts": {"new": len(message.new), "fixed": message.fixed},
        "new": [finding._asdict() for finding in message.new[:MOST_FINDINGS]],
    }


def as_slack(message: Message) -> dict[str, Any]:
    """For an incoming webhook of Slack. Its three control characters are escaped."""
    text = "\n".join([f"*{message.title}*", *message.lines()])
    for character, entity in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;")):
        text = text.replace(character, entity)
    return {"text": text}


def as_teams(message: Message) -> dict[str, Any]:
    """For a webhook of Microsoft Teams (Workflows): an adaptive card."""
    body = [{"type": "TextBlock", "text": message.title, "weight": "bolder", "wrap": True}]
    # A name of a host or an instance must not become a link.
    lines = (line.replace("](", "] (") for line in message.lines())
    body += [{"type": "TextBlock", "text": line, "wrap": True} for line in lines]
    card = {
        "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
        "type": "AdaptiveCard",
        "version": "1.4",
        "body": body,
    }
    attachment = {"contentType": _CARD, "content": card}
    return {"type": "message", "attachments": [attachment]}


FORMS: dict[str, Callable[[Message], dict[str, Any]]] = {
    "json": as_json,
    "slack": as_slack,
    "teams": as_teams,
}


def as_mail(message: Message, recipients: tuple[str, ...]) -> EmailMessage:
    mail = EmailMessage()
    mail["Subject"] = message.title
    mail["To"] = ", ".join(recipients)
    mail.set_content("\n".join(message.lines()) + "\n")
    return mail
