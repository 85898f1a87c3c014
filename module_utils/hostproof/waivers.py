# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Waivers: a warning or failure that somebody answers for, with a reason and an end.

A waiver never hides a finding (it stays in every report as ``waived``) and never covers an
``error``: what could not be determined cannot be accepted. The state of the waivers themselves is
judged too, in findings of the control ``waiver``.
"""

import datetime
import fnmatch
from typing import Any, Dict, Iterable, List, NamedTuple, Optional, Tuple

from .errors import PolicyError
from .finding import ERROR, FAIL, WAIVED, WARN, Check, found

#: Where a finding about a waiver stands that concerns no host in particular.
WAIVERS_HOST = "(waivers)"

#: The control of findings about the waivers.
CONTROL = "waiver"

_KEYS = ("check", "hosts", "owner", "reason", "expires")
_WAIVABLE = (WARN, FAIL)
_REFERENCE = "README, waivers"

_EXPIRED = Check(
    "waiver.expired",
    "A waiver has expired",
    "high",
    "now",
    "The waiver no longer covers anything: what it accepted counts again.",
    _REFERENCE,
)
_EXPIRES_SOON = Check(
    "waiver.expires_soon",
    "A waiver expires soon",
    "medium",
    "now",
    "After that day what it covers counts again.",
    _REFERENCE,
)
_UNKNOWN_CHECK = Check(
    "waiver.unknown_check",
    "A waiver names a check that exists",
    "high",
    "now",
    "No check has this id, so the waiver can never cover anything.",
    _REFERENCE,
)
_MATCHES_NOTHING = Check(
    "waiver.matches_nothing",
    "A waiver covers something",
    "low",
    "now",
    "A waiver that is not needed can hide a failure that comes later.",
    _REFERENCE,
)


class Waiver(NamedTuple):
    """One entry of a waiver file: ``hosts`` are shell patterns, ``expires`` the last valid day."""

    check: str
    hosts: Tuple[str, ...]
    owner: str
    reason: str
    expires: datetime.date

    def covers_host(self, host):
        # type: (str) -> bool
        return any(fnmatch.fnmatchcase(host, pattern) for pattern in self.hosts)

    def covers(self, host, finding):
        # type: (str, Dict[str, Any]) -> bool
        """Whether it accepts this finding, were it not for the date."""
        return (
            finding["check"] == self.check
            and finding["status"] in _WAIVABLE
            and self.covers_host(host)
        )

    @property
    def named_hosts(self):
        # type: () -> Optional[Tuple[str, ...]]
        """The hosts if each is named exactly, None if any is a pattern."""
        return None if any(set(name) & set("*?[") for name in self.hosts) else self.hosts

    def __str__(self):
        # type: () -> str
        return "{0} on {1}".format(self.check, ", ".join(self.hosts))


def parse_waivers(data):
    # type: (Any) -> List[Waiver]
    """The waivers in the loaded content of a waiver file: a list of mappings.

    Each has ``check``, ``hosts`` (a host name or shell pattern, or a list of them), ``owner``,
    ``reason`` and ``expires`` (YYYY-MM-DD). Anything else raises PolicyError. An empty file
    waives nothing.
    """
    if data is None:
        return []
    if not isinstance(data, list):
        raise PolicyError("waivers: must be a list of entries with {0}".format(", ".join(_KEYS)))
    waivers = []  # type: List[Waiver]
    for number, entry in enumerate(data, 1):
        waiver = _parse_entry("waivers, entry {0}".format(number), entry)
        for pattern in waiver.hosts:
            if any(waiver.check == other.check and pattern in other.hosts for other in waivers):
                raise PolicyError(
                    "waivers, entry {0}: {1} on {2} is waived by an earlier entry already".format(
                        number, waiver.check, pattern
                    )
                )
        waivers.append(waiver)
    return waivers


def apply_waivers(
    findings_by_host,  # type: Dict[str, List[Dict[str, Any]]]
    waivers,  # type: List[Waiver]
    today,  # type: datetime.date
    known_checks,  # type: Iterable[str]
    soon_days=30,  # type: int
):
    # type: (...) -> Tuple[Dict[str, List[Dict[str, Any]]], Dict[str, List[Dict[str, Any]]]]
    """The findings with ``waivers`` applied, and the findings about the waivers, both by host.

    What an earlier application did is undone first, so that applying twice is applying once.
    Findings stay in their order, except that those of the control ``waiver`` are left out.
    """
    bare = {
        host: [_unwaived(finding) for finding in findings if finding["control"] != CONTROL]
        for host, findings in findings_by_host.items()
    }
    valid = [waiver for waiver in waivers if today <= waiver.expires]
    waived = {
        host: [_waived(host, finding, valid) for finding in findings]
        for host, findings in bare.items()
    }
    about = {}  # type: Dict[str, List[Dict[str, Any]]]
    known = set(known_checks)
    for waiver in waivers:
        for host, finding in _judge_waiver(waiver, bare, today, known, soon_days):
            about.setdefault(host, []).append(finding)
    return waived, about


def _parse_entry(where, entry):
    # type: (str, Any) -> Waiver
    if not isinstance(entry, dict):
        raise PolicyError("{0}: must be a mapping with {1}".format(where, ", ".join(_KEYS)))
    for key in entry:
        if key not in _KEYS:
            raise PolicyError(
                "{0}: unknown key {1!r}, known are {2}".format(where, key, ", ".join(_KEYS))
            )
    for key in _KEYS:
        if key not in entry:
            raise PolicyError("{0}: {1} is missing".format(where, key))
    texts = [_parse_text(where, key, entry[key]) for key in ("check", "owner", "reason")]
    hosts = _parse_hosts(where, entry["hosts"])
    return Waiver(texts[0], hosts, texts[1], texts[2], _parse_date(where, entry["expires"]))


def _parse_text(where, key, value):
    # type: (str, str, Any) -> str
    if not isinstance(value, str) or not value.strip():
        raise PolicyError("{0}: {1} must be a text, not {2!r}".format(where, key, value))
    return value.strip()


def _parse_hosts(where, value):
    # type: (str, Any) -> Tuple[str, ...]
    names = value if isinstance(value, list) else [value]
    if not names:
        raise PolicyError("{0}: hosts is empty; '*' covers every host".format(where))
    hosts = tuple(_parse_text(where, "hosts", name) for name in names)
    if len(set(hosts)) < len(hosts):
        raise PolicyError("{0}: hosts names a host twice".format(where))
    return hosts


def _parse_date(where, value):
    # type: (str, Any) -> datetime.date
    # YAML loads an unquoted date as a date; a datetime is a date too, but not a day.
    if isinstance(value, datetime.date) and not isinstance(value, datetime.datetime):
        return value
    try:
        if not isinstance(value, str) or len(value) != len("2026-01-31"):
            raise ValueError
        return datetime.datetime.strptime(value, "%Y-%m-%d").date()
    except ValueError:
        raise PolicyError(
            "{0}: expires must be a day, YYYY-MM-DD, not {1!r}".format(where, value)
        ) from None


def _unwaived(finding):
    # type: (Dict[str, Any]) -> Dict[str, Any]
    if finding["status"] != WAIVED:
        return finding
    return dict(finding, status=finding["waiver"]["was"], waiver=None)


def _waived(host, finding, waivers):
    # type: (str, Dict[str, Any], List[Waiver]) -> Dict[str, Any]
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


def _judge_waiver(
    waiver,  # type: Waiver
    findings_by_host,  # type: Dict[str, List[Dict[str, Any]]]
    today,  # type: datetime.date
    known_checks,  # type: Any
    soon_days,  # type: int
):
    # type: (...) -> List[Tuple[str, Dict[str, Any]]]
    """What is to be said about one waiver, each with the host where it stands."""
    covered = [
        host
        for host, findings in findings_by_host.items()
        if any(waiver.covers(host, finding) for finding in findings)
    ]
    days = (waiver.expires - today).days
    if waiver.check not in known_checks:
        return [(WAIVERS_HOST, _unknown_check(waiver))]
    if days < 0:
        # Whoever reads the host's failure asks why the waiver did not cover it.
        return [(host, _expired(waiver, days)) for host in covered or [WAIVERS_HOST]]
    if not covered:
        return [(WAIVERS_HOST, _matches_nothing(waiver, findings_by_host))]
    if days <= soon_days:
        hosts = covered if waiver.named_hosts else [WAIVERS_HOST]
        return [(host, _expires_soon(waiver, days, len(covered))) for host in hosts]
    return []


def _unknown_check(waiver):
    # type: (Waiver) -> Dict[str, Any]
    return found(
        _UNKNOWN_CHECK,
        ERROR,
        desired="a check id of this Hostproof",
        running=waiver.check,
        why="No check is called {0}, so this waiver (owner {1}) covers nothing.".format(
            waiver.check, waiver.owner
        ),
        fix="correct or remove the waiver of {0}".format(waiver),
    ).as_dict()


def _expired(waiver, days):
    # type: (Waiver, int) -> Dict[str, Any]
    return found(
        _EXPIRED,
        WARN,
        desired="a waiver that is valid today",
        running="expired {0}, {1} ago".format(waiver.expires.isoformat(), _days(-days)),
        why="The waiver of {0} (owner {1}) no longer covers anything.".format(waiver, waiver.owner),
        fix="fix the finding, or ask {0} to renew or remove the waiver of {1}".format(
            waiver.owner, waiver
        ),
    ).as_dict()


def _expires_soon(waiver, days, hosts):
    # type: (Waiver, int, int) -> Dict[str, Any]
    return found(
        _EXPIRES_SOON,
        WARN,
        desired="a waiver that stays valid",
        running="expires {0}, in {1}".format(waiver.expires.isoformat(), _days(days)),
        why="From then on {0} counts again on {1} host{2} (owner {3}: {4}).".format(
            waiver.check, hosts, "" if hosts == 1 else "s", waiver.owner, waiver.reason
        ),
        fix="fix the finding, or ask {0} to renew the waiver of {1}".format(waiver.owner, waiver),
    ).as_dict()


def _matches_nothing(waiver, findings_by_host):
    # type: (Waiver, Dict[str, List[Dict[str, Any]]]) -> Dict[str, Any]
    hosts = [host for host in findings_by_host if waiver.covers_host(host)]
    judged = [
        finding
        for host in hosts
        for finding in findings_by_host[host]
        if finding["check"] == waiver.check
    ]
    if not hosts:
        actual = "no host of this run is named so"
    elif not judged:
        actual = "the check was not judged on {0}".format(_hosts(len(hosts)))
    else:
        actual = "the check neither warned nor failed on {0}".format(_hosts(len(hosts)))
    return found(
        _MATCHES_NOTHING,
        WARN,
        desired="a warning or failure that the waiver covers",
        running=actual,
        why="The waiver of {0} (owner {1}) covers nothing in this run.".format(
            waiver, waiver.owner
        ),
        fix="remove the waiver of {0}, or correct its hosts".format(waiver),
    ).as_dict()


def _days(count):
    # type: (int) -> str
    return "1 day" if count == 1 else "{0} days".format(count)


def _hosts(count):
    # type: (int) -> str
    return "1 host" if count == 1 else "{0} hosts".format(count)
