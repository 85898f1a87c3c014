# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks of the listener process, its configuration file, and whether it read the current file."""

import time
from typing import List, Optional

from ...collect import shell
from ...collect.answer import Answer, if_known, known
from ...errors import Absent, HostproofError, ParseError
from ...evaluate.advice import Advice, Ask, Edit, Step
from ...evaluate.checking import Layer, Rules, Skip, Verdict, layered
from ...evaluate.finding import FAIL, PASS, WARN
from ...probes.oracle import listeners as probe
from ...probes.oracle.listeners import Listener
from .edit import is_stale, may_be_replaced
from .endpoints import Endpoint, endpoints, twice_in_an_address
from .facts import SOCKETS, Facts, grid_reasons
from .listener_fixes import before_a_start
from .policy import NAME, OVER_TCP, Policy
from .subjects import LISTENERS, NETAG, NETRF, Subject, file_keys, running, with_file

rules: Rules[Facts, Policy] = Rules(NAME)

#: Lines that a sentence names.
_MOST_NOTES = 3


@rules.check(
    "listener_rate_limit.listener_runs",
    "Listener runs, and starts at boot time",
    "Listener does not run, or nothing starts it at boot time",
    severity="high",
    takes_effect="listener_restart",
    why="Clients cannot connect, and no rate limit applies.",
    reference=NETAG + ", Starting Oracle Net Listener; systemd.unit(5), [Install]",
    each=LISTENERS,
)
def listener_runs(subject: Subject, facts: Facts, _policy: Policy) -> Verdict:
    listener, name = subject.listener, subject.name
    starters = if_known(subject.by, [])
    is_by_hand = subject.by == []
    persisted = _starts_at_boot(subject, facts)
    start = Ask(
        f"start the listener {name} with srvctl if Grid Infrastructure manages it, otherwise with "
        "lsnrctl of its home as its owner; or "
        + (
            "remove it from listener_rate_limit_listeners if it is obsolete"
            if subject.wanted is not None
            else "remove its start at boot time if it is obsolete"
        )
    )
    enable = Ask(
        f"enable a unit that runs 'lsnrctl start {name}' as the owner of the home, or waive the "
        "finding if a person starts it"
    )
    before = [] if subject.stopped is None else before_a_start(subject.stopped, facts)
    stopped = "it does not run" if listener is None else ""
    return layered(
        persisted=None
        if isinstance(persisted, Absent)
        else Layer(persisted, WARN if is_by_hand else PASS, "what starts it at boot time"),
        running=_process(subject),
        why=_sentence([stopped, _BY_HAND if is_by_hand else ""]),
        advice=Advice(both=[*before, start, enable], persisted=[enable], running=[*before, start]),
        desired=None if subject.wanted is None else f"listener {name}",
        evidence=[probe.PROCESSES, *(key for one in starters for key in one.evidence)],
    )


def _starts_at_boot(subject: Subject, facts: Facts) -> Answer[str]:
    """The starts of the listener at boot time, and its definitions if it does not run."""
    texts = [
        f"started at boot time by {one.name}" + (f" ({one.why})" if one.why else "")
        for one in if_known(subject.by, [])
    ]
    if subject.listener is None:
        places = known(facts.definitions.get(subject.name, []))
        if places or subject.stopped is None:
            defined = "defined in " + ", ".join(places)
            texts.append(defined if places else "not defined in a listener.ora")
    if isinstance(subject.by, HostproofError) and not texts:
        return subject.by
    return "; ".join(texts) or "nothing starts it at boot time"


def _process(subject: Subject) -> Layer:
    listener = subject.listener
    if listener is None:
        return Layer("not running", WARN if subject.wanted is None else FAIL)
    return Layer(f"pid {listener.pid} of {listener.home or 'an unknown home'}", PASS)


#: What is known of a listener that only a person starts.
_BY_HAND = "no enabled unit, script of SysV or line of cron starts it after a reboot"


def _sentence(problems: List[str]) -> Optional[str]:
    text = "; ".join(filter(None, problems))
    return f"{text[:1].upper()}{text[1:]}." if text else None


@rules.check(
    "listener_rate_limit.config_file",
    "Configuration file of the listener is known",
    "Listener parameters exist in a file that is not read",
    severity="medium",
    takes_effect="listener_restart",
    why="Changes go to a file that no listener reads. TNS_ADMIN, a read-only home or Grid "
    "Infrastructure change the location of listener.ora.",
    reference=NETRF + ", Overview; Parameters and their default locations (TNS_ADMIN)",
    each=LISTENERS,
    because_of=("listener_rate_limit.listener_runs",),
)
def config_file(subject: Subject, _facts: Facts, _policy: Policy) -> Verdict:
    listener = with_file(subject)
    main = known(listener.main)
    others = known(listener.others)
    text = f"{main.path} ({listener.why_there})"
    if isinstance(main.text, Absent):
        text = f"none: {main.path} does not exist, so defaults are in use"
    else:
        known(main.text)
    return Verdict(
        WARN if others else PASS,
        persisted=text,
        why="Parameters of {0} are also in {1}, which the listener does not read. A change there "
        "has no effect.".format(listener.name, ", ".join(others)),
        advice=Advice(
            [
                Edit(
                    path,
                    what=f"move the parameters of {listener.name} that it must have from {path} to "
                    f"{main.path}, and remove the others",
                )
                for path in others
            ]
        ),
        evidence=file_keys(listener),
    )


@rules.check(
    "listener_rate_limit.syntax",
    "listener.ora has no syntax errors",
    "Syntax or layout of listener.ora is not that of the manual",
    severity="critical",
    takes_effect="listener_restart",
    why="The listener does not start at its next restart.",
    reference=NETRF + "; Syntax Rules for Configuration Files",
    each=LISTENERS,
    because_of=("listener_rate_limit.config_file",),
)
def syntax(subject: Subject, _facts: Facts, _policy: Policy) -> Verdict:
    listener = with_file(subject)
    main = known(listener.main)
    if isinstance(main.net, Absent):
        raise Skip("There is no listener.ora: defaults are in use.")
    try:
        count = sum(len(known(net_file.net).parameters) for net_file in listener.files())
    except ParseError as problem:
        return Verdict(
            FAIL,
            persisted=str(problem),
            why="The file cannot be parsed, and the next start of the listener may fail: "
            f"{problem}.",
            advice=Advice(
                [
                    Edit(
                        main.path,
                        what="correct the syntax at that place before the next start of the "
                        "listener; Hostproof does not change a file that it cannot parse",
                    )
                ]
            ),
            evidence=file_keys(listener),
        )
    notes = [
        "{}, {}".format(net_file.path.rpartition("/")[2], note)
        for net_file in listener.files()
        for note in known(net_file.net).style
    ]
    return Verdict(
        WARN if notes else PASS,
        severity="low" if notes else None,
        why="The manual forbids this layout ({}). No listener is known to reject it.".format(
            "; ".join(notes[:_MOST_NOTES])
        ),
        advice=Advice(
            [
                Edit(
                    main.path,
                    what="begin each parameter in the first column and each continuation with a "
                    "blank when the file is changed next",
                )
            ]
        ),
        persisted="{0} parameters in {1}".format(
            count, ", ".join(net_file.path for net_file in listener.files())
        ),
        evidence=file_keys(listener),
    )


@rules.check(
    "listener_rate_limit.duplicate_parameters",
    "No parameter is set twice in listener.ora",
    "A parameter is set twice in listener.ora",
    severity="medium",
    takes_effect="listener_restart",
    why="Only one of the two values applies, and Oracle does not document which.",
    reference=NETRF + "; Syntax Rules for Configuration Files",
    each=LISTENERS,
    because_of=("listener_rate_limit.syntax",),
)
def duplicate_parameters(subject: Subject, _facts: Facts, _policy: Policy) -> Verdict:
    listener = with_file(subject)
    names = [
        parameter.name.upper()
        for net_file in listener.files()
        for parameter in known(net_file.net).parameters
        if parameter.name.upper() != "IFILE"
    ]
    twice = sorted({name for name in names if names.count(name) > 1 and _is_ours(name, listener)})
    twice += twice_in_an_address(listener)
    return Verdict(
        WARN if twice else PASS,
        persisted="twice: " + ", ".join(twice) if twice else "each once",
        advice=Advice(
            [
                Edit(
                    known(listener.main).path,
                    what=f"keep one of {', '.join(twice)} in {known(listener.main).path}",
                )
            ]
        ),
        evidence=file_keys(listener),
    )


def _is_ours(name: str, listener: Listener) -> bool:
    return name == listener.name or name.endswith("_" + listener.name)


@rules.check(
    "listener_rate_limit.loaded",
    "Listener uses the current listener.ora",
    "Listener may not use the current listener.ora",
    severity="high",
    takes_effect="listener_restart",
    why="New endpoints and rates are not in use. A listener reads them only when it starts.",
    reference=NETAG + ", Listener Control utility, RELOAD and START",
    each=LISTENERS,
    because_of=("listener_rate_limit.config_file",),
)
def loaded(subject: Subject, facts: Facts, _policy: Policy) -> Verdict:
    listener = running(subject)
    started = known(listener.started)
    files = [(known(net_file.changed), net_file.path) for net_file in listener.files()]
    if not files:
        raise Skip("There is no listener.ora.")
    changed, path = max(files)
    stale = is_stale(listener)
    before = before_a_start(listener, facts)
    silent = [] if stale else _not_listening(listener, facts)
    if silent:
        return _silent(listener, silent, before)
    replaced = [] if stale else may_be_replaced(listener)
    if (stale or replaced) and grid_reasons(listener, known(facts.clusterware)):
        raise Skip("The agent of Grid Infrastructure changes this file while listeners run.")
    if replaced:
        return Verdict(
            WARN,
            persisted=f"{', '.join(replaced)}: changed after the start",
            running=f"started {_utc(started)}",
            why=f"The inode of {', '.join(replaced)} changed after the start of the listener (mv, "
            "cp -p, rsync -a or chmod).",
            advice=Advice(
                [
                    *before,
                    Ask(
                        f"restart {listener.name} in a maintenance window if the content changed "
                        "since its start"
                    ),
                ]
            ),
            evidence=file_keys(listener),
        )
    return Verdict(
        FAIL if stale else PASS,
        persisted=f"{path} changed {_utc(changed)}",
        running=f"started {_utc(started)}",
        why=f"The listener was started {_span(changed - started)} before {path} changed: it uses "
        "the old content. A reload does not read endpoints and rates.",
        advice=Advice(
            [
                *before,
                Step(
                    f"restart {listener.name} in a maintenance window (sessions remain, new "
                    "connections are not possible during the restart); or set "
                    "listener_rate_limit_allow_restart: true and apply the control",
                    () if before else _restart_commands(listener),
                ),
            ]
        ),
        evidence=file_keys(listener),
    )


def _silent(listener: Listener, silent: List[Endpoint], before: List[Ask]) -> Verdict:
    names = ", ".join(endpoint.name() for endpoint in silent)
    return Verdict(
        FAIL,
        persisted=names,
        running="no listening socket",
        why=f"No process listens on {names}: the listener was started with another file, or could "
        "not open that port.",
        advice=Advice(
            [
                Ask("read the log of the listener for the reason"),
                *before,
                Step(
                    f"restart {listener.name} in a maintenance window",
                    () if before else _restart_commands(listener),
                ),
            ]
        ),
        evidence=file_keys(listener) + [SOCKETS],
    )


def _not_listening(listener: Listener, facts: Facts) -> List[Endpoint]:
    """TCP endpoints of the file without a listening socket on the host."""
    ones = [
        endpoint
        for endpoint in endpoints(listener)
        if endpoint.port and endpoint.protocol in OVER_TCP
    ]
    ports = {socket.port for socket in known(facts.sockets)} if ones else set()
    return [endpoint for endpoint in ones if endpoint.port not in ports]


def _restart_commands(listener: Listener) -> List[str]:
    unit = if_known(listener.unit, None)
    if unit is not None:
        return [shell.line("systemctl", "restart", unit)]
    user = if_known(listener.user, None)
    if user is None or not listener.home:
        return []
    program = (f"ORACLE_HOME={listener.home}", listener.home + "/bin/lsnrctl")
    return [shell.line_as(user, "env", *program, verb, listener.name) for verb in ("stop", "start")]


def _utc(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(seconds))


def _span(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    if seconds < 7200:
        return f"{seconds / 60:.0f} minutes"
    return f"{seconds / 3600:.0f} hours"
