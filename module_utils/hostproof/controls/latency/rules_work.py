# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks of the work of databases in reports: per core, before and after, and by instance."""

from typing import Any, Dict, List, Optional, Tuple

from ...collect.answer import known
from ...errors import Unanswered
from ...evaluate.advice import Advice, Ask, Wait
from ...evaluate.checking import Rules, Skip, Subjects, Verdict
from ...evaluate.finding import FAIL, PASS, SKIP, WARN
from .facts import Facts
from .measurement import lobs, work
from .measurement.median import median
from .measurement.work import Run
from .parsers import slob_conf
from .policy import NAME, Policy
from .subjects import REPORTS, SOURCES, Probed, Source, recorded_figures

rules: Rules[Facts, Policy] = Rules(NAME)

_SLOB = (
    "K. Closson, SLOB: The Silly Little Oracle Benchmark, README; slob.conf and misc/awr_info.sh"
)

#: Of logical reads: with more requests to the disks a run tells of those, not of processors.
_MOST_READS = 0.01

_LOGICAL, _REQUESTS = "logical reads", "read requests"

#: Number of runs a finding shows.
_SHOWN = 6


def _with(option: str, why: str) -> Subjects[Facts, Policy, Probed]:
    """The reports that have an option."""

    def find(facts: Facts, policy: Policy) -> List[Probed]:
        subjects = [
            subject
            for subject in map(known, REPORTS.find(facts, policy))
            if subject.probe.options[option]
        ]
        if not subjects:
            raise Skip(why)
        return subjects

    return Subjects(find, name=lambda subject: str(subject.path))


def _runs(subject: Probed, prefix: str = "") -> List[Run]:
    runs = work.runs_of(recorded_figures(subject), work.RUN, prefix)
    if not runs and prefix:
        raise Unanswered(subject.key, "the earlier result has no reads per second")
    if not runs:
        raise Skip("It has no logical reads and no read requests per second.", (subject.key,))
    return runs


def _merit(runs: List[Run]) -> str:
    """The unit of work: logical reads if there were few disk reads, otherwise read requests."""
    busy = any(run.reads and run.reads > _MOST_READS * (run.logical or 0) for run in runs)
    return _REQUESTS if busy else _LOGICAL


def _numbers(runs: List[Run], merit: str) -> List[Tuple[Run, float]]:
    numbers = [(run, run.logical if merit == _LOGICAL else run.reads) for run in runs]
    return [(run, value) for run, value in numbers if value is not None]


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
        desired=f"{least:,.0f} logical reads per second and core, or more" if least else None,
        in_use=_listed(numbers, merit, cores),
        values=values,
        evidence=(subject.key,),
    )
    if not least:
        return verdict
    if not cores:
        raise Unanswered(subject.key, "the number of cores is unknown: set cores of the probe")
    if merit != _LOGICAL:
        raise Unanswered(
            subject.key,
            "more than 1% of logical reads were disk reads, so the limit of the processors is "
            "unknown: use a buffer cache that holds all data",
        )
    if most / cores >= least:
        return verdict
    return verdict._replace(
        status=FAIL,
        why=f"At most {most / cores:,.0f} logical reads per second and core: {least:,.0f} are "
        "required.",
        advice=Advice(
            [
                Ask(
                    "see hugepages.sga_in_huge_pages and pre_page_sga of this node first, then "
                    "what else runs on its processors and how fast they are allowed to be "
                    "(governor, hypervisor)"
                )
            ]
        ),
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
    unlike = _unlike(recorded_figures(subject))
    if unlike:
        raise Unanswered(subject.key, "the runs did not do the same: " + "; ".join(unlike))
    after, before = _runs(subject), _runs(subject, work.BEFORE)
    merit = _merit(before + after)
    changes, few = _changes(_numbers(before, merit), _numbers(after, merit))
    worse = [change for change in changes.values() if change.high < 0]
    texts = [
        f"{name}{change.percent:+.1f} % ({change.low:+.1f} to {change.high:+.1f} %)"
        for name, change in changes.items()
    ]
    if not worse and (few or not changes):
        raise Unanswered(
            subject.key,
            f"equal runs differ by 2 to 3%, so {work.FEWEST_RUNS} runs of each number of sessions "
            "are required before and after: " + ", and ".join(texts + few),
        )
    return Verdict(
        FAIL if worse else PASS,
        why="Less work than before, by more than runs differ." if worse else None,
        advice=Advice(
            [
                Ask(
                    "find what the change cost (hugepages, pre_page_sga and processors first), or "
                    "revert it"
                )
            ]
        ),
        desired="no fewer " + merit,
        in_use="; ".join(texts + [f"too few runs: {text}" for text in few]),
        values=dict(
            {
                (name + "change").replace(": ", " "): change.percent
                for name, change in changes.items()
            },
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
    changes: Dict[str, work.Change] = {}
    few = []
    for sessions, (first, other) in sides.items():
        name = f"{sessions:g} sessions: " if sessions else ""
        if min(len(first), len(other)) < work.FEWEST_RUNS or not sum(first):
            few.append(f"{name}{len(first)} before, {len(other)} after")
        else:
            changes[name] = work.change(first, other)
    return changes, few


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
    figures = recorded_figures(subject)
    settings = _settings(figures)
    if not settings:
        raise Unanswered(subject.key, "the settings of SLOB are not there; record it again")
    wrong = _distortions(settings)
    unlike = _unlike(figures)
    return Verdict(
        FAIL if unlike else WARN if wrong else PASS,
        why=". ".join(text[:1].upper() + text[1:] for text in unlike + wrong) + "."
        if unlike or wrong
        else None,
        advice=Advice(
            [
                Ask(
                    "set them so that all sessions work all the time, and alike in all runs that "
                    "are compared; then run it again"
                )
            ]
        ),
        desired="the same work all the time",
        in_use=", ".join(f"{name}={value}" for name, value in sorted(settings.items())),
        evidence=(subject.key,),
    )


def _distortions(settings: Dict[str, str]) -> List[str]:
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
    return wrong


def _settings(figures: work.Figures, prefix: str = "") -> Dict[str, str]:
    begin = prefix + work.SETTING
    return {
        name[len(begin) :]: str(value) for name, value in figures.items() if name.startswith(begin)
    }


def _unlike(figures: work.Figures) -> List[str]:
    """The settings in which two runs differ, where both are known."""
    now, before = _settings(figures), _settings(figures, work.BEFORE)
    if not now or not before:
        return []
    return [
        f"{name} was {before.get(name, 'not set')} and is {now.get(name, 'not set')}"
        for name in slob_conf.WORK
        if before.get(name) != now.get(name)
    ]


def _instance(name: str, figures: work.Figures) -> str:
    """ "instance 2", with its name where the report has its first page."""
    known_as = figures.get(f"{name} {work.KNOWN_AS}")
    return name if known_as is None else f"{name} ({known_as})"


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
    because_of=("cluster_nodes.huge_pages", "hugepages.sga_in_huge_pages"),
)
def instances(subject: Probed, _facts: Facts, policy: Policy) -> Verdict:
    figures = recorded_figures(subject)
    runs = work.runs_of(figures, work.INSTANCE)
    by_name = {_instance(run.name, figures): run.logical for run in runs if run.logical is not None}
    if len(by_name) < 2:
        raise Skip("It does not contain logical reads of several instances.", (subject.key,))
    # Standard deviations detect no outlier among few values: of n values, none is further than
    # (n-1)/sqrt(n) deviations from the mean. So each one is compared with the median of the others.
    shares = {
        name: 100.0
        * value
        / (median(sorted(reads for key, reads in by_name.items() if key != name)) or 1.0)
        for name, value in by_name.items()
    }
    slow = {
        name: share for name, share in shares.items() if share < 100.0 - policy.instance_percent
    }
    text = ", ".join(f"{name} {100.0 - share:.1f} % less" for name, share in slow.items())
    return Verdict(
        WARN if slow else PASS,
        why=f"Compared with the median of the others: {text}." if slow else None,
        of="{0}: {1}".format(subject.path, ", ".join(slow)) if slow else None,
        advice=Advice(
            [
                Ask(
                    "compare that node with its peers: ./hostproof explain "
                    "cluster_nodes.huge_pages, and latency.disk of both"
                )
            ]
        ),
        desired=f"within {policy.instance_percent:g} % of the other instances",
        in_use="; ".join(
            f"{name}: {value:,.0f} logical reads/s" for name, value in by_name.items()
        ),
        values=dict(by_name, unit="logical reads/s"),
        evidence=(subject.key,),
    )


@rules.check(
    "latency.saturation",
    "Throughput still rises with the number of sessions",
    "Throughput no longer rises with the number of sessions",
    severity="medium",
    takes_effect="now",
    why="More sessions only wait longer. Which side is full decides what to buy.",
    reference=_SLOB,
    each=REPORTS,
)
def saturation(subject: Probed, _facts: Facts, _policy: Policy) -> Verdict:
    """From which number of sessions on nothing is gained, and whether CPU or storage is full."""
    runs = sorted(
        (run for run in _runs(subject) if run.sessions), key=lambda run: run.sessions or 0.0
    )
    merit = _merit(runs) if runs else _REQUESTS
    numbers = _numbers(runs, merit)
    if len({run.sessions for run, _ in numbers}) < 3:
        raise Skip("It has no runs with three numbers of sessions.", (subject.key,))
    cores = subject.probe.options["cores"]
    knee = _knee(numbers)
    shown = _listed(numbers, merit, None)
    if knee is None:
        return Verdict(PASS, in_use=shown, evidence=(subject.key,))
    at, last = numbers[knee][0], numbers[-1][0]
    why = f"From {at.sessions:g} sessions on, more sessions add less than {_GAIN:g} % {merit}. "
    return Verdict(
        WARN,
        why=why + _full(at, last, cores),
        advice=Advice(
            [
                Ask(
                    "do not run more sessions than that; where host CPUs are full, lower the work "
                    "per request or add CPUs, where storage is full, add disks, flash or cells"
                )
            ]
        ),
        desired="more sessions, more work",
        in_use=shown,
        values={
            f"{run.sessions:g} sessions {merit} per second": round(value, 1)
            for run, value in numbers
        },
        evidence=(subject.key,),
    )


#: Percent that a step to more sessions must add.
_GAIN = 5.0
#: Busy for this percentage of the time, CPUs are taken for full.
_FULL = 80.0


def _knee(numbers: List[Tuple[Run, float]]) -> Optional[int]:
    """The place of the first run that no later one exceeds by more than _GAIN percent."""
    for place, (_, value) in enumerate(numbers[:-1]):
        if max(later for _, later in numbers[place + 1 :]) <= value * (1.0 + _GAIN / 100.0):
            return place
    return None


def _full(at: Run, last: Run, cores: Optional[int]) -> str:
    waits = ""
    if at.wait_us and last.wait_us and last.wait_us > at.wait_us:
        waits = (
            f"a read takes {at.wait_us / 1000.0:.3g} ms with {at.sessions or 0:g} sessions and "
            f"{last.wait_us / 1000.0:.3g} ms with {last.sessions or 0:g}"
        )
    if at.cpus is None or not cores:
        reason = f" ({waits})" if waits else ""
        return (
            f"It is unknown whether host CPUs or storage are saturated{reason}: use awr_info.sh of "
            "SLOB and set cores of the probe."
        )
    busy = 100.0 * at.cpus / cores
    if busy >= _FULL:
        return f"The host CPUs are full first: the database uses {busy:.0f} % of {cores} cores."
    side = "The storage is full first" if waits else "Something else than host CPUs is full first"
    return f"{side}: the database uses {busy:.0f} % of {cores} cores" + (
        f", and {waits}." if waits else "."
    )


@rules.check(
    "latency.prefetch",
    "Block prefetch is enabled",
    "Hidden parameters disable block prefetch",
    severity="medium",
    takes_effect="instance_restart",
    why="Prefetch combines single-block reads. In one test a node did 140,000 read requests per "
    "second without it, and 250,000 with it.",
    reference="SLOB on Exadata X3-2: Random Read IOPS, 2013; Oracle Support decides on hidden "
    "parameters",
    each=SOURCES,
)
def prefetch(subject: Source, _facts: Facts, _policy: Policy) -> Verdict:
    figures = recorded_figures(subject)
    if lobs.PARAMETERS not in figures:
        raise Skip("The text has no table of parameters.", (subject.key,))
    parameters = {
        name[len(work.PARAMETER) :]: str(value)
        for name, value in figures.items()
        if name.startswith(work.PARAMETER)
    }
    off = [name for name, value in parameters.items() if value == "0"]
    return Verdict(
        WARN if off else PASS,
        why="{0} {1} 0.".format(", ".join(off), "are" if len(off) > 1 else "is") if off else None,
        advice=Advice(
            [
                Ask(
                    "remove the parameters unless Oracle Support requires them; a benchmark of "
                    "single reads may need them, a database does not"
                ),
                Wait("instance_restart"),
            ]
        ),
        desired="not set",
        in_use="; ".join(f"{name}={value}" for name, value in parameters.items()) or "not set",
        evidence=(subject.key,),
    )


@rules.check(
    "latency.flash_cache",
    "The smart flash cache answers most reads",
    "The smart flash cache misses many reads",
    severity="medium",
    takes_effect="now",
    why="A read that misses the flash cache of the cell waits for a hard disk.",
    reference="Oracle Exadata System Software User's Guide, cell flash cache read hits",
    each=REPORTS,
)
def flash_cache(subject: Probed, _facts: Facts, _policy: Policy) -> Verdict:
    figures = recorded_figures(subject)
    hits, reads = (
        figures.get(lobs.TOTAL + work.FLASH_HITS),
        figures.get(lobs.TOTAL + work.ALL_READS),
    )
    if not isinstance(hits, (int, float)) or not isinstance(reads, (int, float)) or not reads:
        raise Skip(
            f"It does not contain '{work.FLASH_HITS}' and '{work.ALL_READS}'.", (subject.key,)
        )
    share = min(100.0, 100.0 * hits / reads)
    return Verdict(
        PASS if share >= _HITS else WARN,
        why=f"{share:.1f} % of {reads:,.0f} read requests were hits." if share < _HITS else None,
        advice=Advice(
            [
                Ask(
                    "see CELL_FLASH_CACHE of the segments that are read most, the size of the "
                    "flash cache, and scans that replace its content"
                )
            ]
        ),
        desired=f"{_HITS:g} % hits or more",
        in_use=f"{hits:,.0f} hits of {reads:,.0f} read requests ({share:.1f} %)",
        values={"hits": float(hits), "read_requests": float(reads), "percent": round(share, 1)},
        evidence=(subject.key,),
    )


#: Percent of read requests; from experience: below it hard disks decide the response time.
_HITS = 80.0


@rules.check(
    "latency.tool_change",
    "Output of the tool shows no slowdown after the change",
    "Output of the tool shows a slowdown after the change",
    severity="high",
    takes_effect="now",
    why="The same work takes longer after the change, or less of it is done.",
    reference="the summaries and figures of the tools; one run each, so that small "
    "differences say nothing",
    each=_with("before", "No report names a before to compare with."),
)
def tool_change(subject: Probed, _facts: Facts, _policy: Policy) -> Verdict:
    """One run of the tool before and one after."""
    figures = recorded_figures(subject)
    after, before = work.tool_figures(figures), work.tool_figures(figures, work.BEFORE)
    if not after and not before:
        raise Skip("It is not a result of a benchmark or of a tool that measures.", (subject.key,))
    changes = _percent_changes(before, after)
    if not changes:
        raise Unanswered(subject.key, "what was before has none of the same figures")
    shown = "; ".join(
        f"{name.replace(work.NEUTRAL, '')} {before[name]:,.6g} to {after[name]:,.6g} "
        f"({change:+.1f} %)"
        for name, change in changes.items()
    )
    watching = figures.get("kind") in work.WATCHING
    worse = [name for name in changes if _worse(name, changes[name], after[name] - before[name])]
    why = f"Got worse by more than {_NOISE:g} %: " + ", ".join(worse) + "."
    if watching:
        why += " The tool watches the host: another load has other figures, too."
    return Verdict(
        PASS if not worse else WARN if watching else FAIL,
        why=why if worse else None,
        advice=Advice(
            [
                Ask(
                    "repeat both runs; if the result stays, revert the change. For AIX see "
                    "io_pacing, for application servers pool_validation, for round trips "
                    "latency.tcp"
                )
            ]
        ),
        desired=f"no figure worse by more than {_NOISE:g} %",
        in_use=shown,
        values={
            f"{name.replace(work.NEUTRAL, '')} change_percent": round(change, 1)
            for name, change in changes.items()
        },
        evidence=(subject.key,),
    )


#: Percent by which single runs of the same differ.
_NOISE = 10.0


def _percent_changes(before: Dict[str, float], after: Dict[str, float]) -> Dict[str, float]:
    """Percent, of the figures that both have."""
    return {
        name: 100.0 * (after[name] - value) / value
        for name, value in before.items()
        if name in after and value
    }


def _worse(name: str, percent: float, more: float) -> bool:
    if work.NEUTRAL in name:
        return False
    if name.endswith(work.IN_WHOLE_MS) and more < 2:
        return False
    return percent > _NOISE if name.endswith(work.LESS_IS_BETTER) else percent < -_NOISE
