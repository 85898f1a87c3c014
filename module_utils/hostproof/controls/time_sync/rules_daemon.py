# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The daemon that synchronizes the clock, and whether it may step it."""

import re
from typing import Dict, List, Optional, Tuple

from ...collect.answer import if_known, known, unless_absent
from ...errors import Unanswered
from ...evaluate.advice import Advice, Apply, Ask, Run, Step
from ...evaluate.checking import Layer, Rules, Skip, Verdict, failing, layered
from ...evaluate.finding import FAIL, PASS, WARN
from .facts import SHOW, Daemon, Facts, Unit, feeds
from .parsers.chrony_conf import MakeStep
from .policy import ANY, CHRONYD, NAME, NTPD, PTP, TIMESYNCD, Policy
from .subjects import BOOK, ctss_alone, is_node, is_too_long, other_steps, steps

rules: Rules[Facts, Policy] = Rules(NAME)

_UNITS = "command:" + " ".join(SHOW)
#: Options of ntpd without a value, one of which is x (ntpd(8)); several can be together.
_SLEW = re.compile(r"-[46AabdgLmNnqx]*x[46AabdgLmNnqx]*\Z")
#: Options of phc2sys and ptp4l with a threshold or a file; others without a value can be before.
_THRESHOLD_OF_PHC2SYS = re.compile(r"-[arwmqvxh]*S(.*)\Z")
_FILE_OF_PTP = re.compile(r"-[246AEPHSarwmqsvxhl]*f")
_STEP_THRESHOLD = "--step_threshold"
NO_DAEMON = (
    "None of the daemons that Hostproof knows sets the clock (chronyd, ntpd, systemd-timesyncd, "
    "phc2sys, ptp4l)."
)
_STALE = "chronyd started before its configuration was written, and may not have read that"


@rules.check(
    "time_sync.one_daemon",
    "Exactly one time service is running and enabled",
    "No time service, or more than one, is running or enabled",
    severity="critical",
    takes_effect="now",
    why="Two services undo each other's corrections. Without a service, the clock drifts until "
    "nodes are evicted.",
    reference=BOOK + "; systemd-timesyncd.service(8), Conflicts",
)
def one_daemon(facts: Facts, policy: Policy) -> Verdict:
    running = sorted(known(facts.keepers))
    units = _enabled_units(running, facts)
    wrong_now = len(running) != 1 or policy.daemon not in (ANY, *running)
    status, why = _judge_daemons(running, units, facts, policy)
    return layered(
        persisted=Layer(
            ", ".join(unit.id for unit in units) or "no unit is enabled",
            PASS if wrong_now else status,
        ),
        running=Layer(", ".join(running) or "none", status if wrong_now else PASS),
        advice=_advice(running, units, facts, policy),
        why=why,
        desired="one daemon" if policy.daemon == ANY else policy.daemon,
        evidence=["processes:keepers", _UNITS],
    )


_RESTART = "restart chronyd while no database runs here"
#: A daemon may step the clock when it starts (makestep), and a step can evict a node of a cluster.
_ALONE = "while neither Clusterware nor a database runs here: it may step the clock when it starts"


def _enabled_units(running: List[str], facts: Facts) -> List[Unit]:
    units = [unit for unit in known(facts.units) if unit.enabled]
    if not running or PTP in running:
        return units
    return [unit for unit in units if not feeds(if_known(unit.argv, ()))]


def _judge_daemons(
    running: List[str], units: List[Unit], facts: Facts, policy: Policy
) -> Tuple[str, Optional[str]]:
    """(status, why)."""
    # Whether Clusterware keeps the clocks alike decides only where nothing else does.
    if not running and not units and unless_absent(facts.ctss, None) == "Active":
        status, sentence = ctss_alone(facts, policy)
        return status, f"Only Clusterware's own service (CTSS) keeps the clocks alike. {sentence}"
    why = _fault(running, sorted({unit.daemon for unit in units}), policy)
    return (FAIL if why else PASS), why


def _fault(running: List[str], enabled: List[str], policy: Policy) -> Optional[str]:
    """What is wrong; None if nothing is."""
    if len(running) > 1:
        return f"{' and '.join(running)} set the clock at once."
    if policy.daemon not in (ANY, *running):
        found = f"{running[0]} keeps the clock" if running else NO_DAEMON[:-1]
        return f"{found}, and time_sync_daemon is {policy.daemon}."
    if not running:
        return NO_DAEMON
    if len(enabled) > 1:
        return f"The next reboot starts {' and '.join(enabled)}."
    if enabled != running:
        what = enabled[0] if enabled else "none"
        return f"{running[0]} runs, and the next reboot starts {what}."
    return None


def _advice(running: List[str], units: List[Unit], facts: Facts, policy: Policy) -> Advice:
    """Never a second daemon: one that is enabled or runs is used, if the policy takes it."""
    taken = [unit.id for unit in units if policy.daemon in (ANY, unit.daemon)]
    if not running:
        if len(taken) == 1:
            log = f"see in its log why {taken[0]} does not run"
            return Advice([Ask(f"{log}, and start it {_ALONE}")])
        if not units:
            daemon = CHRONYD if policy.daemon == ANY else policy.daemon
            return Advice([Ask(f"install and enable {daemon}, and start it {_ALONE}")])
    keepers = known(facts.keepers)
    if len(running) == 1 and policy.daemon in (ANY, *running):
        return Advice(_enable_only(running[0], keepers[running[0]].unit, units))
    there = {*(unit.id for unit in units), *(keepers[name].unit or name for name in running)}
    keep = "one of them" if policy.daemon == ANY else policy.daemon
    others = ", ".join(sorted(there))
    return Advice([Ask(f"keep {keep}, and stop and disable the others of {others}")])


def _enable_only(daemon: str, own: Optional[str], units: List[Unit]) -> List[Step]:
    """``own`` is the unit that runs the daemon, as far as it is known."""
    others = [unit.id for unit in units if unit.daemon != daemon]
    steps: List[Step] = [
        Run("systemctl", "disable", other, text=f"disable {other}") for other in others
    ]
    if all(unit.daemon != daemon for unit in units):
        steps.append(
            Run("systemctl", "enable", own, text=f"enable {own}")
            if own
            else Ask(f"enable the unit of {daemon}")
        )
    return steps


@rules.check(
    "time_sync.never_steps",
    "Clock is slewed, not stepped, while databases run",
    "Clock can be stepped while databases run",
    severity="high",
    takes_effect="service_restart",
    why="A time step can evict a node, and makes timestamps in logs and redo go backwards.",
    reference="Cluster Verification Utility, PRVF-5439 and PRVF-5470; chrony.conf(5), makestep; "
    "MOS 2422934.1",
)
def never_steps(facts: Facts, policy: Policy) -> Verdict:
    verdict = _daemon_steps(facts, policy)
    if verdict.status != PASS or not known(facts.steppers):
        return verdict
    places = ", ".join(known(facts.steppers)[:5])
    return verdict._replace(
        status=_grade_of_step(facts, policy),
        why=f"cron steps the clock: {places}.",
        advice=Advice([Ask(f"remove {places}: the daemon keeps the clock")]),
        evidence=[*verdict.evidence, "lines:clock_steps"],
        failing_layer="persisted",
    )


def _grade_of_step(facts: Facts, policy: Policy) -> str:
    return FAIL if is_node(facts, policy) else WARN


def _daemon_steps(facts: Facts, policy: Policy) -> Verdict:
    keepers = known(facts.keepers)
    if not keepers:
        raise Skip(NO_DAEMON)
    if len(keepers) > 1:
        raise Skip("Several daemons set the clock: see time_sync.one_daemon.")
    (name,) = keepers
    if name == CHRONYD:
        return _chrony_steps(keepers, facts, policy)
    if name == NTPD:
        return _ntp_steps(keepers[NTPD], facts, policy)
    bad = _grade_of_step(facts, policy)
    if name == TIMESYNCD:
        return Verdict(
            WARN if is_node(facts, policy) else PASS,
            "systemd-timesyncd steps the clock where it is far off.",
            advice=Advice(
                [Ask(f"install chronyd in place of systemd-timesyncd, and start it {_ALONE}")]
            ),
            desired="slewed",
            running=TIMESYNCD,
            evidence=["processes:keepers"],
        )
    by = _threshold(keepers[PTP].name, known(keepers[PTP].arguments))
    return Verdict(
        bad if by else PASS,
        f"{keepers[PTP].name} has {by}: it steps the clock from that offset on." if by else None,
        advice=Advice(
            [
                Ask(f"remove {by} from the options of {keepers[PTP].name}"),
                Ask(f"restart {keepers[PTP].name} while no database runs here"),
            ]
        ),
        desired="slewed after the start",
        running=" ".join((keepers[PTP].name, *known(keepers[PTP].arguments))),
        evidence=["processes:keepers"],
    )


def _threshold(name: str, arguments: Tuple[str, ...]) -> str:
    """The option by which phc2sys or ptp4l steps the clock; "" where none does.

    -S is software time stamping for ptp4l. Raises if only a configuration file has the answer.
    """
    for number, word in enumerate(arguments):
        option, equals, value = word.partition("=")
        short = _THRESHOLD_OF_PHC2SYS.match(word) if name == "phc2sys" else None
        if short:
            value = short.group(1)
        # A long option may be abbreviated (getopt_long(3)).
        elif not (option.startswith("--step_t") and _STEP_THRESHOLD.startswith(option)):
            continue
        if not value and not equals:
            value = "".join(arguments[number + 1 : number + 2])
        if _is_zero(value):
            return ""
        return "-S" if short else _STEP_THRESHOLD
    if any(_FILE_OF_PTP.match(word) for word in arguments):
        why = f"the step_threshold in the configuration file of {name} is not read"
        raise Unanswered("processes:keepers", why)
    return ""


def _is_zero(threshold: str) -> bool:
    """Whether it is the threshold that never steps."""
    try:
        return float(threshold) == 0
    except ValueError:
        return False


def _chrony_steps(keepers: Dict[str, Daemon], facts: Facts, policy: Policy) -> Verdict:
    if policy.max_step_updates is None:
        raise Skip("time_sync_max_step_updates is unmanaged.")
    chrony = known(facts.chrony)
    makesteps = steps(chrony)
    last = makesteps[-1] if makesteps else None
    too_long = last if is_too_long(last, policy.max_step_updates) else None
    stale = chrony.written > known(facts.booted) + known(keepers[CHRONYD].started)
    others = other_steps(chrony, policy.max_step_updates)
    why = _why_chrony_steps(too_long, others)
    return layered(
        persisted=Layer(
            _text_of_steps(makesteps, others), _grade_of_step(facts, policy) if why else PASS
        ),
        running=Layer(
            "older than the configuration" if stale else "as the configuration",
            WARN if stale and not why else PASS,
        ),
        advice=Advice(
            [
                *([Ask(f"remove {' and '.join(others)}")] if others else []),
                *([Apply(NAME)] if too_long else []),
                Ask(_RESTART),
            ],
            running=[Ask(_RESTART)],
        ),
        why=why or (f"{_STALE}." if stale else None),
        desired=f"no step after {policy.max_step_updates} updates",
        evidence=[
            "processes:keepers",
            "file:/proc/stat",
            *("file:" + path for path in chrony.texts),
        ],
    )


def _why_chrony_steps(too_long: Optional[MakeStep], others: List[str]) -> Optional[str]:
    if too_long is not None:
        updates = too_long.updates
        when = "at any time" if updates < 0 else f"in the first {updates} updates"
        by = f"by {too_long.threshold} s and more"
        return f"{too_long.place} allows chronyd to step the clock {when}, {by}."
    return f"chronyd steps the clock by {' and '.join(others)}." if others else None


def _text_of_steps(makesteps: List[MakeStep], others: List[str]) -> str:
    places = [f"makestep {one.threshold} {one.updates} from {one.place}" for one in makesteps]
    written = "; not used: ".join(reversed(places)) or "; ".join(others)
    return written or "no makestep: it never steps"


def _slews(argv: Tuple[str, ...]) -> bool:
    return any(argument == "--slew" or _SLEW.match(argument) for argument in argv)


def _ntp_steps(daemon: Daemon, facts: Facts, policy: Policy) -> Verdict:
    running = known(daemon.arguments)
    units = [unit for unit in known(facts.units) if unit.daemon == NTPD and unit.enabled]
    argv: Tuple[str, ...] = known(units[0].argv) if len(units) == 1 else ()
    by_unit = bool(argv) and argv[0].rpartition("/")[2] == NTPD
    # The unit of a script does not show its command. one_daemon reports if none is enabled.
    persisted = _slews(argv) if by_unit else None
    well = _slews(running) and persisted is not False
    stepping = [limit.text for limit in known(facts.thresholds) if limit.steps]
    slewing = [limit.text for limit in known(facts.thresholds) if not limit.steps]
    layer = (
        f"{' '.join(argv)} from {', '.join((units[0].id, *units[0].files))}" if by_unit else None
    )
    strict = is_node(facts, policy)
    status, why = _grade_ntp(well, persisted, _slews(running), stepping, slewing, strict)
    files = {"file:" + text.partition(":")[0] for text in stepping + slewing}
    return Verdict(
        status,
        why,
        advice=Advice(_steps_of_ntp(well, _slews(running), stepping)),
        desired="-x",
        persisted=layer,
        running=" ".join((NTPD, *running)),
        evidence=["processes:keepers", _UNITS, *sorted(files)],
        failing_layer=failing(running=not _slews(running), persisted=True),
    )


def _steps_of_ntp(well: bool, runs_well: bool, stepping: List[str]) -> List[Step]:
    steps: List[Step] = [Ask(f"remove {text}") for text in stepping]
    if not (well and stepping):
        steps.append(
            Ask(
                "add -x to the options of ntpd (OPTIONS in /etc/sysconfig/ntpd, NTPD_OPTIONS in "
                "/etc/sysconfig/ntp of SLES, NTPD_OPTS in /etc/default/ntp)"
            )
        )
    # One that slews now needs only its options for the next start.
    if stepping or not runs_well:
        steps.append(Ask("restart ntpd while no database runs here"))
    return steps


def _grade_ntp(
    well: bool,
    persisted: Optional[bool],
    runs_well: bool,
    stepping: List[str],
    slewing: List[str],
    is_strict: bool,
) -> Tuple[str, Optional[str]]:
    """``well``: -x is set now, and not known to be missing at the next start (``persisted``)."""
    if well and stepping:
        why = f"{stepping[-1]} overrides -x: ntpd steps the clock by that offset and more."
        return (FAIL if is_strict else WARN), why
    if well and persisted is None:
        return WARN, "It slews now; how it starts after a reboot is unknown."
    if well:
        return PASS, None
    if slewing and not stepping:
        why = f"{slewing[-1]} keeps ntpd from steps, but the installer of a cluster requires -x."
        return (WARN if is_strict else PASS), why
    where = "runs" if not runs_well else "is started by the next reboot"
    why = f"ntpd {where} without -x, so it steps the clock by offsets of 128 ms and more."
    return (FAIL if is_strict else WARN), why
