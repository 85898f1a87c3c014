# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The platform against Oracle's books: distribution, kernel, release update."""

from datetime import date, timedelta
from typing import Dict, Iterable, List, Optional, Tuple

from ...collect.answer import known
from ...errors import Absent, HostproofError
from ...evaluate.advice import Advice, Ask, Wait
from ...evaluate.checking import Layer, Rules, Skip, Verdict, layered
from ...evaluate.finding import ERROR, FAIL, PASS, WARN
from ...parsers.unix.distribution import EL, Distribution, clean, numbers
from ...probes.oracle.releases import Release, dotted
from . import supported_systems
from .facts import CLOCK, GRUBBY, OS_RELEASE, RUNNING_KERNEL, UNAME, Facts
from .policy import NAME, Policy
from .subjects import RELEASES, contradiction, fits, line_of, target_of
from .supported_systems import Row

rules: Rules[Facts, Policy] = Rules(NAME)

_BOOKS = (
    "Oracle Database installation guides for Linux, supported distributions (supported_systems.py)"
)
_CONSISTENCY = "platform.consistency"
#: Days after which a row of the table has to be read again.
_OLD = 365
_EPOCH = date(1970, 1, 1)


@rules.check(
    "platform.consistency",
    "The distribution and the running kernel match",
    "os-release and the running kernel contradict each other",
    severity="high",
    takes_effect="reboot",
    why="A kernel of another distribution means a container, or that one of the two was not read "
    "from this host. The other results of this control are then not reliable.",
    reference="os-release(5); release tags of kernel packages (elN, fcN)",
)
def consistency(facts: Facts, _policy: Policy) -> Verdict:
    problem = contradiction(facts)
    return Verdict(
        ERROR if problem else PASS,
        f"{problem}." if problem else None,
        advice=Advice(
            [
                Ask(
                    "audit the host of the container instead; on a host, boot the kernel of the "
                    "installed distribution"
                )
            ]
        ),
        running=clean(known(facts.kernel)),
        persisted=clean(known(facts.os).get("PRETTY_NAME", "")) or None,
        evidence=["file:" + OS_RELEASE, "file:" + RUNNING_KERNEL],
    )


@rules.check(
    "platform.distribution",
    "Oracle lists this distribution for the release",
    "Oracle does not list this distribution for the release",
    severity="high",
    takes_effect="reboot",
    why="On a distribution that Oracle does not list for the release, the installer stops, or My "
    "Oracle Support declines the case.",
    reference=_BOOKS,
    each=RELEASES,
    because_of=(_CONSISTENCY,),
)
def distribution(release: Release, facts: Facts, policy: Policy) -> Verdict:
    system = target_of(facts, policy)
    architecture = clean(known(facts.architecture))
    rows = _rows(release, system, architecture)
    status, why = _listed(release, system, architecture, rows)
    return Verdict(
        status,
        why,
        advice=Advice(
            [
                Ask(
                    "search for this distribution on the certification page of My Oracle Support, "
                    "which is newer than the books; without an entry there, plan a host with a "
                    "listed distribution"
                )
            ]
        ),
        desired=_distributions(supported_systems.ROWS, release),
        running=None if system.planned else f"{system.text}, {architecture}",
        reference=_sources(rows),
        evidence=["file:" + OS_RELEASE, "command:" + " ".join(UNAME)],
    )


def _listed(
    release: Release, system: Distribution, architecture: str, rows: List[Row]
) -> Tuple[str, str]:
    oldest = supported_systems.OLDEST_EL.get(release.name)
    if oldest is not None and system.name in EL and system.version[0] < oldest:
        return (
            FAIL,
            f"{system.text} is older than EL {oldest}, the oldest for {release.name}.",
        )
    if not rows:
        known_ones = _distributions(supported_systems.ROWS, release) or "none"
        return WARN, (
            f"The table has no row for {release.name} on {system.text} ({architecture}). "
            f"Listed: {known_ones}."
        )
    lowest = min((row.version for row in rows), key=numbers)
    has_minor = len(system.version) > 1 or not (system.rebuild or system.planned)
    if has_minor and not fits(system.version, lowest):
        return FAIL, f"{system.text} is older than {lowest}, the oldest listed update."
    if system.rebuild:
        return (
            WARN,
            f"No book lists {system.text}. It is checked as {system.name} {system.version[0]}.",
        )
    return PASS, ""


@rules.check(
    "platform.kernel",
    "The kernel is at least the listed build",
    "Kernel is older than the listed build, or not listed",
    severity="high",
    takes_effect="reboot",
    why="Older builds lack corrections that Oracle requires. CVU requires less: it compares only "
    "the upstream version.",
    reference=_BOOKS,
    each=RELEASES,
    because_of=("platform.distribution", _CONSISTENCY),
)
def kernel(release: Release, facts: Facts, policy: Policy) -> Verdict:
    system = target_of(facts, policy)
    rows = _rows(release, system, known(facts.architecture))
    if system.planned:
        least = "; ".join(f"{row.line} {row.kernel}" for row in rows) or "no kernel is listed"
        raise Skip(f"{system.text} is not installed yet. It needs at least: {least}.")
    running = clean(known(facts.kernel))
    later = facts.default_kernel
    status, why = _build(running, "running", system, rows)
    whys = [why]
    persisted: Optional[Layer] = None
    if isinstance(later, HostproofError):
        if not isinstance(later, Absent):
            persisted = Layer(later, PASS, "default boot")
    elif later is not None:
        default = clean(later)
        status_later, why_later = _build(default, "default boot", system, rows)
        persisted = Layer(default, status_later, "default boot")
        whys.append(why_later)
    least = "; ".join(f"{row.line} {row.kernel}" for row in rows)
    install = Ask(f"install a kernel of {least} or later, and make it the default (grubby)")
    if not rows:
        install = Ask(
            "search for this distribution on the certification page of My Oracle Support, which is "
            "newer than the books"
        )
    keep = Ask(f"make the running kernel {running} the default (grubby --set-default)")
    both = [install, Wait("reboot")] if rows else [install]
    return layered(
        persisted=persisted,
        running=Layer(running, status),
        why=" ".join(filter(None, whys)),
        advice=Advice(both=both, persisted=[keep], running=[] if persisted else both),
        desired=least or None,
        reference=_sources(rows),
        evidence=["file:" + RUNNING_KERNEL, "command:" + " ".join(GRUBBY)],
    )


def _build(kernel: str, which: str, system: Distribution, rows: List[Row]) -> Tuple[str, str]:
    """(status, one sentence) of one kernel."""
    line = line_of(kernel, system)
    of_line = [row for row in rows if row.line == line]
    if not of_line:
        listed = ", ".join(sorted({row.line for row in rows})) or "none"
        return WARN, f"The {which} kernel {kernel} is not of a listed line (listed: {listed})."
    minimum, update = of_line[0].kernel, of_line[0].version
    if not fits(numbers(kernel), minimum):
        return FAIL, f"The {which} kernel {kernel} is older than {minimum} ({line})."
    if len(system.version) > 1 and not fits(system.version, update):
        return WARN, f"The {which} kernel {kernel} is listed from update {update} on ({line})."
    return PASS, ""


@rules.check(
    "platform.release_update",
    "The home has the release update the system needs",
    "Home has an older release update than the system needs",
    severity="high",
    takes_effect="instance_restart",
    why="Newer distributions require a minimum release update. Older software fails to link or to "
    "start there.",
    reference=_BOOKS,
    each=RELEASES,
    because_of=(_CONSISTENCY,),
)
def release_update(release: Release, facts: Facts, policy: Policy) -> Verdict:
    system = target_of(facts, policy)
    rows = [row for row in _rows(release, system, known(facts.architecture)) if row.update]
    if not system.planned:
        line = line_of(known(facts.kernel), system)
        rows = [row for row in rows if row.line == line] or rows
    if not rows:
        raise Skip(f"The table has no minimum release update for {release.name} on {system.text}.")
    minimum = max((row.update for row in rows), key=numbers)
    if release.installed is None:
        for home in known(facts.software.homes).values():
            known(home)
        raise Skip(
            f"No home of {release.name} is installed yet; {system.text} needs {minimum} or later."
        )
    return Verdict(
        PASS if fits(release.installed, minimum) else FAIL,
        f"The home has {dotted(release.installed)}, and {system.text} needs {minimum} or later.",
        advice=Advice([Ask(f"install release update {minimum} or later in the home")]),
        desired=f"at least {minimum}",
        running=dotted(release.installed),
        reference=_sources(rows),
        evidence=["file:" + OS_RELEASE],
    )


@rules.check(
    "platform.table_age",
    "The table of platforms is at most a year old",
    "Rows of the platform table are older than a year",
    severity="low",
    takes_effect="now",
    why="Oracle adds distributions and raises minimum kernels. An old table may pass or reject too "
    "much.",
    reference=_BOOKS,
    each=RELEASES,
)
def table_age(release: Release, facts: Facts, _policy: Policy) -> Verdict:
    rows = [row for row in supported_systems.ROWS if row.release == release.name]
    if not rows:
        raise Skip(f"The table has no row for {release.name}.")
    today = _EPOCH + timedelta(seconds=known(facts.now))
    oldest = min(row.seen for row in rows)
    seen = date(*(int(part) for part in oldest.split("-")))
    return Verdict(
        WARN if (today - seen).days > _OLD else PASS,
        f"Rows for {release.name} were read on {oldest}, more than a year before {today}.",
        advice=Advice(
            [Ask("update Hostproof, and compare with the certification page of My Oracle Support")]
        ),
        desired=f"read at most {_OLD} days ago",
        running=f"read on {oldest}",
        evidence=["command:" + " ".join(CLOCK)],
    )


def _rows(release: Release, system: Distribution, architecture: str) -> List[Row]:
    return [
        row
        for row in supported_systems.ROWS
        if (row.release, row.distribution, row.architecture)
        == (release.name, system.name, architecture)
        and numbers(row.version)[0] == system.version[0]
    ]


def _distributions(rows: Iterable[Row], release: Release) -> Optional[str]:
    """Such as "OL 8.6 x86_64, OL 9.2 x86_64": the oldest update of each major release."""
    lowest: Dict[Tuple[str, int, str], str] = {}
    for row in rows:
        if row.release == release.name:
            key = (row.distribution, numbers(row.version)[0], row.architecture)
            lowest[key] = min(lowest.get(key, row.version), row.version, key=numbers)
    return ", ".join(f"{key[0]} {lowest[key]} {key[2]}" for key in sorted(lowest)) or None


def _sources(rows: List[Row]) -> Optional[str]:
    references = sorted({f"Oracle {row.source}, read {row.seen}" for row in rows})
    return "; ".join(references) or None
