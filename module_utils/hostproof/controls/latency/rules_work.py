# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""How much the databases of the reports did: for each core, before and after, by instance."""

from typing import Any, Dict, List, Optional, Tuple

from ...collect.answer import known
from ...errors import Unanswered
from ...evaluate.checking import Rules, Skip, Subjects, Verdict
from ...evaluate.finding import FAIL, PASS, SKIP, WARN
from .facts import Facts
from .measurement import work
from .measurement.work import Run
from .parsers import slob_conf
from .policy import NAME, Policy
from .subjects import REPORTS, Probed

rules = Rules(NAME)

_SLOB = (
    "K. Closson, SLOB: The Silly Little Oracle Benchmark, README; slob.conf and misc/awr_info.sh"
)
_SETTINGS = work.SETTING.strip()

#: Of logical reads: with more requests to the disks a run tells of those, not of processors.
_MOST_READS = 0.01

_LOGICAL, _REQUESTS = "logical reads", "read requests"

#: How many runs a finding tells.
_SHOWN = 6


def _with(option: str, why: str) -> Subjects:
    """The reports that have an option."""

    def find(facts: Facts, policy: Policy) -> List[Probed]:
        found = [one for one in REPORTS.find(facts, policy) if one.probe.options[option]]
        if not found:
            raise Skip(why)
        return found

    return Subjects(find, name=lambda subject: str(subject.path))


def _told(subject: Probed) -> work.Figures:
    told = known(subject.answer).figures
    if told is None:
        raise Unanswered(subject.key, "it was recorded without figures; record it again")
    return told


def _runs(subject: Probed, prefix: str = "") -> List[Run]:
    runs = work.runs_of(_told(subject), work.RUN, prefix)
    if not runs and prefix:
        raise Unanswered(subject.key, "what was before tells no reads a second")
    if not runs:
        raise Skip("It tells no logical reads and no read requests a second.", (subject.key,))
    return runs


def _merit(runs: List[Run]) -> str:
    """What runs are measured by: logical reads where the disks had next to nothing to do."""
    busy = any(one.reads and one.reads > _MOST_READS * (one.logical or 0) for one in runs)
    return _REQUESTS if busy else _LOGICAL


def _numbers(runs: List[Run], merit: str) -> List[Tuple[Run, float]]:
    numbers = [(one, one.logical if merit == _LOGICAL else one.reads) for one in runs]
    return [(one, value) for one, value in numbers if value is not None]


def _listed(numbers: List[Tuple[Run, float]], merit: str, cores: Optional[int]) -> str:
    shown = []
    for run, value in numbers[:_SHOWN]:
        who = f"{run.sessions:g} sessions: " if run.sessions else ""
        each = f", {value / cores:,.0f} a core" if cores else ""
        shown.append(f"{who}{value:,.0f} {merit} a second{each}")
    more = len(numbers) - _SHOWN
    return "; ".join(shown + ([f"and {more} more"] if more > 0 else []))


@rules.check(
    "latency.logical_reads",
    "Logical reads per core reach the expected rate",
    "Logical reads per core are below the expected rate",
    severity="medium",
    takes_effect="now",
    why="CPUs or memory are slower than expected. Logical reads per second and core do not "
    "depend on disks.",
    reference=_SLOB,
    each=REPORTS,
)
def logical_reads(subject: Probed, _facts: Facts, policy: Policy) -> Verdict:
    cores = subject.probe.options["cores"]
    runs = _runs(subject)
    merit = _merit(runs)
    numbers = _numbers(runs, merit)
    most = max(value for _, value in numbers)
    name = merit.replace(" ", "_")
    values: Dict[str, Any] = {name: round(most, 1), "unit": "per second"}
    if cores:
        values[name + "_a_core"] = round(most / cores, 1)
    least = policy.logical_reads_per_core
    verdict = Verdict(
        PASS if least else SKIP,
        why=None if least else "latency_logical_reads_per_core is 0: there is no limit.",
        desired=f"{least:,.0f} logical reads a second and core, or more" if least else None,
        in_use=_listed(numbers, merit, cores),
        values=values,
        evidence=(subject.key,),
    )
    if not least:
        return verdict
    if not cores:
        raise Unanswered(subject.key, "nobody says on how many cores: give cores to the probe")
    if merit != _LOGICAL:
        raise Unanswered(
            subject.key,
            "the disks were read more than once in a hundred logical reads, so that it does not "
            "tell what the processors can: use a buffer cache that holds all",
        )
    if most / cores >= least:
        return verdict
    return verdict._replace(
        status=FAIL,
        why=f"At most {most / cores:,.0f} logical reads a second and core: {least:,.0f} are "
        "wanted.",
        fix="see hugepages.in_use and pre_page_sga of this node first, then what else runs on its "
        "processors and how fast they are allowed to be (governor, hypervisor)",
    )


@rules.check(
    "latency.throughput_change",
    "Database throughput did not drop after the change",
    "Database throughput dropped after the change",
    severity="high",
    takes_effect="now",
    why="The change costs a few percent of all work, which no single run shows.",
    reference="B. L. Welch, Biometrika 34 (1947); " + _SLOB,
    each=_with("before", "No report names a before to compare with."),
)
def throughput_change(subject: Probed, _facts: Facts, _policy: Policy) -> Verdict:
    unlike = _unlike(_told(subject))
    if unlike:
        raise Unanswered(subject.key, "the runs did not do the same: " + "; ".join(unlike))
    after, before = _runs(subject), _runs(subject, work.BEFORE)
    merit = _merit(before + after)
    found, few = _changes(_numbers(before, merit), _numbers(after, merit))
    worse = [one for one in found.values() if one.high < 0]
    told = [
        f"{name}{one.percent:+.1f} % ({one.low:+.1f} to {one.high:+.1f} %)"
        for name, one in found.items()
    ]
    if not worse and (few or not found):
        raise Unanswered(
            subject.key,
            f"runs of the same differ by 2 to 3 %, so that it takes {work.FEWEST_RUNS} of each "
            "number of sessions before and after: " + ", and ".join(told + few),
        )
    return Verdict(
        FAIL if worse else PASS,
        why="It does less than before, by more than runs differ." if worse else None,
        fix="revert the change, or find what it cost: hugepages, pre_page_sga and processors first",
        desired="no fewer " + merit,
        in_use="; ".join(told + [f"too few to tell: {one}" for one in few]),
        values=dict(
            {(name + "change").replace(": ", " "): one.percent for name, one in found.items()},
            unit="percent",
        ),
        evidence=(subject.key,),
    )


def _changes(
    before: List[Tuple[Run, float]], after: List[Tuple[Run, float]]
) -> Tuple[Dict[str, work.Change], List[str]]:
    """By the number of sessions; and of which there are too few runs."""
    sides: Dict[Optional[float], Tuple[List[float], List[float]]] = {}
    for place, side in enumerate((before, after)):
        for run, value in side:
            sides.setdefault(run.sessions, ([], []))[place].append(value)
    found: Dict[str, work.Change] = {}
    few = []
    for sessions, (one, other) in sides.items():
        name = f"{sessions:g} sessions: " if sessions else ""
        if min(len(one), len(other)) < work.FEWEST_RUNS or not sum(one):
            few.append(f"{name}{len(one)} before, {len(other)} after")
        else:
            found[name] = work.change(one, other)
    return found, few


@rules.check(
    "latency.slob_settings",
    "slob.conf settings give a valid measurement",
    "slob.conf settings distort the measurement",
    severity="medium",
    takes_effect="now",
    why="The run measures sleeping, waiting or ending sessions, not the machine.",
    reference=_SLOB,
    each=_with("slob_conf", "No report names its slob_conf."),
)
def slob_settings(subject: Probed, _facts: Facts, _policy: Policy) -> Verdict:
    told = _told(subject)
    settings = _settings(told)
    if not settings:
        raise Unanswered(subject.key, "the settings of SLOB are not there; record it again")
    wrong = []
    if settings.get("WORK_LOOP", "0") != "0":
        wrong.append(
            "WORK_LOOP={WORK_LOOP} ends each session by itself, and rates are of who is left: set "
            "it to 0 and RUN_TIME".format(**settings)
        )
    for name in slob_conf.PAUSES:
        if settings.get(name, "0") != "0":
            wrong.append(f"{name}={settings[name]} has sessions sleep")
    for name in slob_conf.HOT:
        if settings.get(name, "FALSE").upper() not in ("FALSE", "0"):
            wrong.append(f"{name}={settings[name]} has sessions wait for the same blocks")
    unlike = _unlike(told)
    return Verdict(
        FAIL if unlike else WARN if wrong else PASS,
        why=". ".join(one[:1].upper() + one[1:] for one in unlike + wrong) + "."
        if unlike or wrong
        else None,
        fix="set them so that all sessions work all the time, and alike in all runs that are "
        "compared; then run it again",
        desired="the same work all the time",
        in_use=", ".join(f"{name}={value}" for name, value in sorted(settings.items())),
        evidence=(subject.key,),
    )


def _settings(told: work.Figures, prefix: str = "") -> Dict[str, str]:
    begin = prefix + work.SETTING
    return {name[len(begin) :]: str(one) for name, one in told.items() if name.startswith(begin)}


def _unlike(told: work.Figures) -> List[str]:
    """The settings in which two runs differ, where both are known."""
    now, before = _settings(told), _settings(told, work.BEFORE)
    if not now or not before:
        return []
    return [
        f"{name} was {before.get(name, 'not set')} and is {now.get(name, 'not set')}"
        for name in slob_conf.WORK
        if before.get(name) != now.get(name)
    ]


@rules.check(
    "latency.instances",
    "All instances of the report have similar throughput",
    "An instance of the report has lower throughput than its peers",
    severity="high",
    takes_effect="now",
    why="One slow node lowers the figures of the whole cluster: no huge pages, slower CPUs, or "
    "a longer path to the storage.",
    reference="Oracle Database Performance Tuning Guide, Automatic Workload Repository report of "
    "a cluster (awrgrpt.sql)",
    each=REPORTS,
)
def instances(subject: Probed, _facts: Facts, policy: Policy) -> Verdict:
    found = work.runs_of(_told(subject), work.INSTANCE)
    by_name = {one.name: one.logical for one in found if one.logical is not None}
    if len(by_name) < 2:
        raise Skip("It does not tell the logical reads of several instances.", (subject.key,))
    # Of n values none is further than (n-1)/sqrt(n) deviations from the mean: 2.5 of eight. So
    # each is held against the middle of the others.
    shares = {
        name: 100.0 * value / (_middle([one for key, one in by_name.items() if key != name]) or 1.0)
        for name, value in by_name.items()
    }
    slow = {name: one for name, one in shares.items() if one < 100.0 - policy.instance_percent}
    told = ", ".join(f"{name} {100.0 - one:.1f} % less" for name, one in slow.items())
    return Verdict(
        WARN if slow else PASS,
        why=f"Than the others, {told}." if slow else None,
        fix="compare that node with its peers: ./hostproof explain cluster_nodes.huge_pages, "
        "and latency.disk of both",
        desired=f"within {policy.instance_percent:g} % of the other instances",
        in_use="; ".join(
            f"{name}: {value:,.0f} logical reads/s" for name, value in by_name.items()
        ),
        values=dict(by_name, unit="logical reads/s"),
        evidence=(subject.key,),
    )


def _middle(values: List[float]) -> float:
    ordered = sorted(values)
    half = len(ordered) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2.0
