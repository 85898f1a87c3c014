# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Waivers: a warning or failure that an owner accepts, with a reason and an end date.

A waiver never hides a finding (every report shows it as ``waived``) and never covers an ``error``:
an undetermined value cannot be accepted. The state of the waivers themselves is checked too, in
findings of the control ``waiver``.
"""

import datetime
import difflib
import fnmatch
from collections.abc import Iterable
from typing import Any, NamedTuple

from ansible.module_utils.hostproof.errors import PolicyError
from ansible.module_utils.hostproof.evaluate.finding import (
    ERROR,
    FAIL,
    WAIVED,
    WARN,
    Check,
    make_finding,
    subject_of,
)

from .renamed import current

#: Where a finding about a waiver stands that concerns no host in particular.
WAIVERS_HOST = "(waivers)"

#: How the ids of a site's own checks begin. A run may leave them out, so each of them may exist.
OWN_CHECKS = "custom."

#: The control of findings about the waivers.
CONTROL = "waiver"

_KEYS = ("check", "hosts", "owner", "reason", "expires")
_OPTIONAL = ("subject",)
_WAIVABLE = (WARN, FAIL)
_REFERENCE = "README, waivers"

_EXPIRED = Check(
    "waiver.expired",
    "No waiver has expired",
    "high",
    "now",
    "The waiver no longer applies: its findings count again.",
    _REFERENCE,
    problem="Waiver has expired",
)
_EXPIRES_SOON = Check(
    "waiver.expires_soon",
    "No waiver expires soon",
    "medium",
    "now",
    "After that day its findings count again.",
    _REFERENCE,
    problem="Waiver expires soon",
)
_UNKNOWN_CHECK = Check(
    "waiver.unknown_check",
    "Waivers name existing checks",
    "high",
    "now",
    "The waiver never applies, because no check has this id.",
    _REFERENCE,
    problem="Waiver names an unknown check",
)
_MATCHES_NOTHING = Check(
    "waiver.matches_nothing",
    "Every waiver is in use",
    "low",
    "now",
    "An unused waiver can hide a later failure.",
    _REFERENCE,
    problem="Waiver matches no finding",
)


class Waiver(NamedTuple):
    """One entry of a waiver file: ``hosts`` are shell patterns, ``expires`` the last valid day.

    ``subjects`` are shell patterns of the mounts, instances or devices that it covers; none: all.
    """

    check: str
    hosts: tuple[str, ...]
    owner: str
    reason: str
    expires: datetime.date
    subjects: tuple[str, ...] = ()

    def covers_host(self, host: str) -> bool:
        return any(fnmatch.fnmatchcase(host, pattern) for pattern in self.hosts)

    def covers(self, host: str, finding: dict[str, Any]) -> bool:
        """Whether it accepts this finding, were it not for the date."""
        return self.is_about(finding) and finding["status"] in _WAIVABLE and self.covers_host(host)

    def is_about(self, finding: dict[str, Any]) -> bool:
        """Whether it names the check and the subject of a finding."""
        if finding["check"] != self.check:
            return False
        subject = subject_of(finding["title"])
        return not self.subjects or any(
            fnmatch.fnmatchcase(subject, pattern) for pattern in self.subjects
        )

    @property
    def named_hosts(self) -> tuple[str, ...] | None:
        """The hosts if each is named exactly, None if any is a pattern."""
        return None if any(set(name) & set("*?[") for name in self.hosts) else self.hosts

    def __str__(self) -> str:
        of = f" of {', '.join(self.subjects)}" if self.subjects else ""
        return f"{self.check}{of} on {', '.join(self.hosts)}"


def parse_waivers(data: object) -> list[Waiver]:
    """The waivers in the loaded content of a waiver file: a list of mappings.

    Each has ``check``, ``hosts`` (a host name or shell pattern, or a list of them), ``owner``,
    ``reason`` and ``expires`` (YYYY-MM-DD), and may have ``subject`` (in the form of ``hosts``).
    Anything else raises PolicyError. An empty file waives nothing.
    """
    if data is None:
        return []
    if not isinstance(data, list):
        raise PolicyError("waivers: must be a list of entries with {0}".format(", ".join(_KEYS)))
    waivers: list[Waiver] = []
    known: set[tuple[str, str, str]] = set()
    for number, entry in enumerate(data, 1):
        waiver = _parse_entry(f"waivers, entry {number}", entry)
        pairs = [(host, subject) for host in waiver.hosts for subject in waiver.subjects or ("",)]
        for host, subject in pairs:
            if (waiver.check, host, subject) in known:
                of = f" of {subject}" if subject else ""
                raise PolicyError(
                    f"waivers, entry {number}: {waiver.check}{of} on {host} is waived by an "
                    "earlier entry already"
                )
        known.update((waiver.check, *pair) for pair in pairs)
        waivers.append(waiver)
    return waivers


class Applied:
    """The application of ``waivers``: it sees all findings once, then says of each what it is.

    An earlier application is undone first, so that the operation is idempotent.
    """

    def __init__(
        self,
        waivers: list[Waiver],
        today: datetime.date,
        known_checks: Iterable[str],
        soon_days: int = 30,
    ) -> None:
        self._waivers = waivers
        self._valid = [waiver for waiver in waivers if today <= waiver.expires]
        self._today = today
        self._known = set(known_checks)
        self._soon_days = soon_days
        self._met = [_WaiverUse([], 0, False) for _ in waivers]

    def see(self, host: str, findings: Iterable[dict[str, Any]]) -> None:
        """Note what the waivers cover of a host."""
        here = [(waiver, met) for waiver, met in zip(self._waivers, self._met, strict=True)
                if waiver.covers_host(host)]  # fmt: skip
        if not here:
            return
        bare = _without_waiver_findings(findings)
        for waiver, met in here:
            met.hosts += 1
            met.judged = met.judged or any(finding["check"] == waiver.check for finding in bare)
            of_check = [finding for finding in bare if waiver.is_about(finding)]
            met.has_subject = met.has_subject or bool(of_check)
            if any(finding["status"] in _WAIVABLE for finding in of_check):
                met.covered.append(host)

    def about(self) -> dict[str, list[dict[str, Any]]]:
        """The findings about the waivers, by host, when all findings were seen."""
        findings: dict[str, list[dict[str, Any]]] = {}
        for waiver, met in zip(self._waivers, self._met, strict=True):
            for host, finding in self._judge(waiver, met):
                findings.setdefault(host, []).append(finding)
        return findings

    def waived(self, host: str, findings: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
        """The findings in their order, those of the control ``waiver`` left out."""
        here = [waiver for waiver in self._valid if waiver.covers_host(host)]
        return [_waived(host, finding, here) for finding in _without_waiver_findings(findings)]

    def _judge(self, waiver: Waiver, met: "_WaiverUse") -> list[tuple[str, dict[str, Any]]]:
        """Findings about one waiver, each with the host that it is shown on."""
        days = (waiver.expires - self._today).days
        if waiver.check not in self._known and not waiver.check.startswith(OWN_CHECKS):
            return [(WAIVERS_HOST, _unknown_check(waiver))]
        if days < 0:
            # The reader sees next to the host's failure why the waiver does not cover it.
            return [(host, _expired(waiver, days)) for host in met.covered or [WAIVERS_HOST]]
        if not met.covered:
            return [(WAIVERS_HOST, _matches_nothing(waiver, met))]
        if days <= self._soon_days:
            hosts = met.covered if waiver.named_hosts else [WAIVERS_HOST]
            finding = _expires_soon(waiver, days, len(met.covered))
            return [(host, dict(finding)) for host in hosts]
        return []


class _WaiverUse:
    """Matches of a waiver: hosts with findings that it covers, the number of hosts that it names,
    whether any of these was audited, and whether it has a subject that the waiver names."""

    def __init__(self, covered: list[str], hosts: int, judged: bool) -> None:
        self.covered = covered
        self.hosts = hosts
        self.judged = judged
        self.has_subject = False


def _without_waiver_findings(findings: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    return [_unwaived(finding) for finding in findings if finding["control"] != CONTROL]


def _parse_entry(where: str, entry: object) -> Waiver:
    if not isinstance(entry, dict):
        raise PolicyError("{0}: must be a mapping with {1}".format(where, ", ".join(_KEYS)))
    known = (*_KEYS, *_OPTIONAL)
    for key in entry:
        if key not in known:
            near = difflib.get_close_matches(str(key), known, 1)
            hint = f"did you mean {near[0]}?" if near else f"known are {', '.join(known)}"
            raise PolicyError(f"{where}: unknown key {str(key)[:80]!r}; {hint}")
    for key in _KEYS:
        if key not in entry:
            raise PolicyError(f"{where}: {key} is missing")
    texts = [_parse_text(where, key, entry[key]) for key in ("check", "owner", "reason")]
    hosts = _parse_names(where, "hosts", entry["hosts"])
    subjects = _parse_names(where, "subject", entry["subject"]) if "subject" in entry else ()
    expires = _parse_date(where, entry["expires"])
    return Waiver(current(texts[0]), hosts, texts[1], texts[2], expires, subjects)


def _parse_text(where: str, key: str, value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        raise PolicyError(f"{where}: {key} must be a text, not {value!r}")
    return value.strip()


def _parse_names(where: str, key: str, value: object) -> tuple[str, ...]:
    names = value if isinstance(value, list) else [value]
    if not names:
        raise PolicyError(f"{where}: {key} is empty; '*' covers each of them")
    texts = tuple(_parse_text(where, key, name) for name in names)
    if len(set(texts)) < len(texts):
        raise PolicyError(f"{where}: {key} names {'a host' if key == 'hosts' else 'one'} twice")
    return texts


def _parse_date(where: str, value: object) -> datetime.date:
    # YAML loads an unquoted date as a date; a datetime is a date too, but not a day.
    if isinstance(value, datetime.date) and not isinstance(value, datetime.datetime):
        return value
    try:
        if not isinstance(value, str) or len(value) != len("2026-01-31"):
            raise ValueError
        return datetime.datetime.strptime(value, "%Y-%m-%d").date()
    except ValueError:
        raise PolicyError(f"{where}: expires must be a day, YYYY-MM-DD, not {value!r}") from None


def _unwaived(finding: dict[str, Any]) -> dict[str, Any]:
    if finding["status"] != WAIVED:
        return finding
    return dict(finding, status=finding["waiver"]["was"], waiver=None)


def _waived(host: str, finding: dict[str, Any], waivers: list[Waiver]) -> dict[str, Any]:
    for waiver in waivers:
        if waiver.covers(host, finding):
            accepted = {
                "owner": waiver.owner,
                "reason": waiver.reason,
                "expires": waiver.expires.isoformat(),
                "was": finding["status"],
            }
            return dict(finding, status=WAIVED, waiver=accepted)
    return finding


def _unknown_check(waiver: Waiver) -> dict[str, Any]:
    return make_finding(
        _UNKNOWN_CHECK,
        ERROR,
        desired="a check id of this Hostproof",
        running=waiver.check,
        why=f"No check is called {waiver.check}, so this waiver (owner {waiver.owner}) covers "
        "nothing.",
        fix=f"correct or remove the waiver of {waiver}",
    ).as_dict()


def _expired(waiver: Waiver, days: int) -> dict[str, Any]:
    return make_finding(
        _EXPIRED,
        WARN,
        desired="a waiver that is valid today",
        running=f"expired {waiver.expires.isoformat()}, {_days(-days)} ago",
        why=f"The waiver of {waiver} (owner {waiver.owner}) no longer covers anything.",
        fix=f"fix the finding, or ask {waiver.owner} to renew or remove the waiver of {waiver}",
    ).as_dict()


def _expires_soon(waiver: Waiver, days: int, hosts: int) -> dict[str, Any]:
    return make_finding(
        _EXPIRES_SOON,
        WARN,
        desired="a waiver that stays valid",
        running=f"expires {waiver.expires.isoformat()}, in {_days(days)}",
        why="From then on {0} counts again on {1} host{2} (owner {3}: {4}).".format(
            waiver.check, hosts, "" if hosts == 1 else "s", waiver.owner, waiver.reason
        ),
        fix=f"fix the finding, or ask {waiver.owner} to renew the waiver of {waiver}",
    ).as_dict()


def _matches_nothing(waiver: Waiver, met: _WaiverUse) -> dict[str, Any]:
    if not met.hosts:
        actual = "no host of this run is named so"
    elif not met.judged:
        actual = f"the check was not evaluated on {_hosts(met.hosts)}"
    elif not met.has_subject:
        actual = f"the check has no such subject on {_hosts(met.hosts)}"
    else:
        actual = f"the check neither warned nor failed on {_hosts(met.hosts)}"
    places = "hosts or subject" if waiver.subjects else "hosts"
    return make_finding(
        _MATCHES_NOTHING,
        WARN,
        desired="a warning or failure that the waiver covers",
        running=actual,
        why=f"The waiver of {waiver} (owner {waiver.owner}) covers nothing in this run.",
        fix=f"remove the waiver of {waiver}, or correct its {places}",
    ).as_dict()


def _days(count: int) -> str:
    return "1 day" if count == 1 else f"{count} days"


def _hosts(count: int) -> str:
    return "1 host" if count == 1 else f"{count} hosts"
