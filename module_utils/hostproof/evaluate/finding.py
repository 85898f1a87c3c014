# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A finding: one checked statement about one host. Published as docs/finding.schema.json."""

from typing import Any, Dict, List, NamedTuple, Optional, Tuple

PASS = "pass"
WARN = "warn"
FAIL = "fail"
ERROR = "error"
SKIP = "skip"
WAIVED = "waived"

#: Worst first: the order in which statuses are summed up, sorted and shown.
STATUSES = (FAIL, ERROR, WARN, WAIVED, SKIP, PASS)
SEVERITIES = ("critical", "high", "medium", "low")
TAKES_EFFECT = (
    "now",
    "login",
    "remount",
    "service_restart",
    "listener_restart",
    "instance_restart",
    "cluster_restart",
    "reboot",
)
LAYERS = ("desired", "persisted", "running", "in_use")
ACTUAL_LAYERS = LAYERS[1:]


class Check(NamedTuple):
    """The static part of a check, independent of its findings.

    ``id`` never changes, because waivers and dashboards refer to it. ``title`` is the state in
    which the check passes, ``problem`` the state in which it fails or warns, ``why`` the
    consequence. ``reference`` is document and section. ``because_of`` are the ids of checks that
    can be the cause of a finding of this check.
    """

    id: str
    title: str
    severity: str
    takes_effect: str
    why: str
    reference: str
    because_of: Tuple[str, ...] = ()
    problem: str = ""

    @property
    def control(self) -> str:
        return self.id.split(".", 1)[0]


class Finding(NamedTuple):
    """One checked statement. Layers that do not exist are None; the others are text for people.

    ``fix`` is prose; ``commands`` are the lines that a shell takes as they are (shell.py makes
    them). ``values`` is what was compared: name to a number or a text, and "unit" where numbers
    have one. ``because_of`` are ids of the checks that cause this finding. ``problem`` takes the
    place of the title where the status is warn or fail; else it is None. ``failing_layer`` is the
    layer with the wrong value; None if the status is not warn or fail, or no layer is named.
    """

    control: str
    check: str
    title: str
    status: str
    severity: str
    desired: Optional[str]
    persisted: Optional[str]
    running: Optional[str]
    in_use: Optional[str]
    takes_effect: Optional[str]
    why: str
    fix: Optional[str]
    reference: str
    evidence: Tuple[str, ...]
    waiver: Optional[Dict[str, Any]]
    values: Optional[Dict[str, Any]] = None
    commands: Tuple[str, ...] = ()
    because_of: Tuple[str, ...] = ()
    problem: Optional[str] = None
    failing_layer: Optional[str] = None

    def as_dict(self) -> Dict[str, Any]:
        record = dict(self._asdict())
        for name in ("evidence", "commands", "because_of"):
            record[name] = list(record[name])
        return record


def make_finding(
    check: Check,
    status: str,
    why: Optional[str] = None,
    fix: Optional[str] = None,
    evidence: Any = (),
    title: Optional[str] = None,
    commands: Any = (),
    values: Any = None,
    because_of: Any = (),
    failing_layer: Optional[str] = None,
    **layers: Optional[str],
) -> Finding:
    """Judge ``check``: a Finding with the check's own words wherever none are given.

    ``layers`` are any of desired, persisted, running, in_use. A pass needs neither ``fix`` nor
    ``commands`` and says what the check guards against: its own words, whatever is given.
    """
    unknown = set(layers) - set(LAYERS)
    if unknown or status not in STATUSES:
        raise ValueError(f"no such layer or status: {sorted(unknown)} {status}")
    because_of = because_of or check.because_of
    if status == PASS:
        why = fix = None
        commands = ()
    if status in (PASS, SKIP):
        because_of = ()
    return Finding(
        control=check.control,
        check=check.id,
        title=title or check.title,
        status=status,
        severity=check.severity,
        desired=layers.get("desired"),
        persisted=layers.get("persisted"),
        running=layers.get("running"),
        in_use=layers.get("in_use"),
        takes_effect=check.takes_effect,
        why=why or check.why,
        fix=fix,
        reference=check.reference,
        evidence=tuple(evidence),
        waiver=None,
        values=values,
        commands=tuple(commands),
        because_of=tuple(because_of),
        problem=check.problem or None if status in (FAIL, WARN) else None,
        failing_layer=_failing_layer(status, failing_layer, layers),
    )


def _failing_layer(
    status: str, given: Optional[str], layers: Dict[str, Optional[str]]
) -> Optional[str]:
    """The layer that fails: the one that is given, or the only one that exists.

    None if the check neither failed nor warned.
    """
    existing = [name for name in ACTUAL_LAYERS if layers.get(name) is not None]
    if given is None and len(existing) == 1:
        given = existing[0]
    return given if status in (FAIL, WARN) and given in existing else None


def subject_of(title: str) -> str:
    """The instance, mount or card that a title begins with; "" for none."""
    subject, colon, _ = title.partition(": ")
    return subject if colon else ""


def keep_failed_causes(findings: List[Finding]) -> List[Finding]:
    """The findings of a host, with ``because_of`` reduced to causes that failed on this host.

    A cause with a finding for the same subject is compared by that finding, otherwise by any. Only
    an error can be the cause of an error.
    """
    by_check: Dict[str, List[Tuple[str, str]]] = {}
    for finding in findings:
        by_check.setdefault(finding.check, []).append((subject_of(finding.title), finding.status))

    def causes(effect: Finding, check: str) -> bool:
        subject = subject_of(effect.title)
        same = [status for name, status in by_check.get(check, []) if name == subject]
        statuses = same or [status for _, status in by_check.get(check, [])]
        return any(
            status in ((ERROR,) if effect.status == ERROR else (FAIL, WARN)) for status in statuses
        )

    return [
        finding._replace(
            because_of=tuple(check for check in finding.because_of if causes(finding, check))
        )
        if finding.because_of
        else finding
        for finding in findings
    ]


def status_for(faults: object, remarks: object = ()) -> str:
    """FAIL where there are faults, else WARN where there are remarks, else PASS."""
    return FAIL if faults else WARN if remarks else PASS


def worst(statuses: List[str]) -> str:
    """The worst of some statuses; an empty list was never checked, so it is an error."""
    return min(statuses, key=STATUSES.index) if statuses else ERROR
