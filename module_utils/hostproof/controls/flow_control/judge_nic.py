# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Judges the host's own end: what is set, in force and persisted, and what was counted."""

from typing import Optional, Tuple

from ...answer import if_known, known
from ...errors import Absent
from ...finding import ERROR, FAIL, PASS, WARN, Check, Finding, found
from ...parsers import link_file
from ...parsers.ethtool_pause import Direction, PauseSettings
from ...parsers.nfs_options import LINUX
from ...probes.nic_pause import NEGOTIATION_OF_LINK, OFFER_BOTH, Traffic
from ...probes.pause_persisted import Setting
from . import checks
from .facts import Facts, NicFacts, link_path
from .judging import bad, capital, evidence_of, has_link, on_off, skipped, why_left_alone
from .links import not_one_cable
from .policy import OFF, ON, Policy
from .wanted import Wanted, given_by_boot, ports_of, wanted_of

#: What a boot sets: autoneg, rx, tx.
_Boot = Tuple[Optional[bool], Optional[bool], Optional[bool]]
_APPLY = "./hostproof apply --tags flow_control"
_RULES = "give a rule in flow_control_wanted, then " + _APPLY


def _fix(one, policy):
    # type: (NicFacts, Policy) -> str
    if one.by_hand:
        return one.by_hand
    return _RULES if policy.wanted is None else _APPLY


def _set_text(one, pause):
    # type: (NicFacts, PauseSettings) -> str
    """What is set; only Linux tells what is set of its negotiation."""
    autoneg = "autonegotiation {0}, ".format(on_off(pause.autoneg)) if one.system == LINUX else ""
    return "{0}rx {1}, tx {2}".format(autoneg, on_off(pause.rx), on_off(pause.tx))


def judge_supported(one, _facts, _policy):
    # type: (NicFacts, Facts, Policy) -> Finding
    pause = one.pause
    if isinstance(pause, Absent):
        kind = "driver {0}".format(one.nic.driver) if one.nic.driver else "a virtual interface"
        return skipped(checks.SUPPORTED, "{0}: {1}.".format(kind, pause), evidence_of(one)[:1])
    known(pause)
    return found(
        checks.SUPPORTED,
        PASS,
        running="driver {0}, {1}".format(one.nic.driver, ", ".join(one.roles) or "no role"),
        evidence=evidence_of(one)[:1],
    )


def judge_wanted(one, facts, policy):
    # type: (NicFacts, Facts, Policy) -> Finding
    alone = why_left_alone(one)
    if alone:
        return skipped(checks.WANTED, alone)
    if not has_link(one):
        return skipped(
            checks.WANTED, "The link is down: what the driver shows then is not what it will use."
        )
    wanted = wanted_of(one, facts)
    pause = known(one.pause)
    negotiates = wanted.autoneg not in (ON, OFF) or pause.autoneg == (wanted.autoneg == ON)
    # While PAUSE is negotiated, rx and tx only say what is offered; what comes of it is judged by
    # flow_control.negotiated.
    set_so = wanted.met_by(Direction(pause.rx, pause.tx)) or (
        pause.autoneg and wanted.met_by(if_known(one.in_force, Direction(pause.rx, pause.tx)))
    )
    wrong = [] if negotiates else ["autonegotiation is {0}".format(on_off(pause.autoneg))]
    if not set_so:
        wrong += [
            "{0} is {1}".format(name, on_off(value))
            for name, value, want in (("rx", pause.rx, wanted.rx), ("tx", pause.tx, wanted.tx))
            if want not in (None, value)
        ]
    danger = ""
    if wanted.tx is False and pause.tx:
        danger = ": if this host stalls, it makes the switch hold up what others send"
    return found(
        checks.WANTED,
        bad(policy) if wrong else PASS,
        why="{0}, and {1} is wanted{2}.".format(capital(" and ".join(wrong)), wanted.text, danger),
        fix=_fix(one, policy),
        desired=wanted.text,
        running=_set_text(one, pause),
        evidence=evidence_of(one),
    )


def judge_negotiated(one, facts, policy):
    # type: (NicFacts, Facts, Policy) -> Finding
    alone = why_left_alone(one)
    if alone:
        return skipped(checks.NEGOTIATED, alone)
    pause = known(one.pause)
    if not pause.autoneg and one.system != LINUX:
        return skipped(
            checks.NEGOTIATED,
            "{0} does not tell what was negotiated; what it shows is judged by "
            "flow_control.wanted.".format(one.system),
        )
    if not pause.autoneg:
        return skipped(checks.NEGOTIATED, "PAUSE is not negotiated here: what is set is in force.")
    if not has_link(one):
        return skipped(checks.NEGOTIATED, "The link is down: nothing is negotiated.")
    wanted = wanted_of(one, facts)
    force = known(one.in_force)
    return found(
        checks.NEGOTIATED,
        PASS if wanted.met_by(force) else bad(policy),
        why="Negotiated is rx {0}, tx {1}, and {2} is wanted.".format(
            on_off(force.rx), on_off(force.tx), wanted.text
        ),
        fix=_fix(one, policy),
        desired=wanted.text,
        running="rx {0}, tx {1} set".format(on_off(pause.rx), on_off(pause.tx)),
        in_use="rx {0}, tx {1} negotiated".format(on_off(force.rx), on_off(force.tx)),
        evidence=evidence_of(one),
    )


# -- the next boot --------------------------------------------------------------------------------


def judge_persisted(one, facts, policy):
    # type: (NicFacts, Facts, Policy) -> Finding
    alone = why_left_alone(one)
    if alone:
        return skipped(checks.PERSISTED, alone)
    wanted = wanted_of(one, facts)
    if not wanted.anything:
        return skipped(checks.PERSISTED, "Nothing is wanted of it that a boot could change.")
    status, why = _persisted_verdict(one, wanted, policy)
    settings = [item for item in known(one.persisted.settings) if not item.ignored]
    return found(
        checks.PERSISTED,
        status,
        why=why,
        fix=_fix(one, policy),
        desired=wanted.text,
        persisted="; ".join(_setting_text(item) for item in settings)
        or "nothing sets it: the driver's default",
        running=None if isinstance(one.in_force, Exception) else _direction(known(one.in_force)),
        evidence=[key for item in settings for key in item.evidence] or evidence_of(one)[:1],
    )


def _persisted_verdict(one, wanted, policy):
    # type: (NicFacts, Wanted, Policy) -> Tuple[str, str]
    """What only may run is no ground for a pass, and none for a fail against what surely runs."""
    sure = _verdict_of_boot(one, one.persisted.at_boot(certain=True), wanted, policy)
    whole = _verdict_of_boot(one, one.persisted.at_boot(), wanted, policy)
    if PASS not in (sure[0], whole[0]) or sure == whole:
        return whole
    places = [
        "{0} {1}".format(item.kind, item.place)
        for item in known(one.persisted.settings)
        if not item.certain and not item.ignored
    ]
    return WARN, "{0} seems to set {1}; only a boot proves it.".format(
        " and ".join(places), wanted.text if whole[0] == PASS else "something else"
    )


def _verdict_of_boot(one, boot, wanted, policy):
    # type: (NicFacts, _Boot, Wanted, Policy) -> Tuple[str, str]
    autoneg, rx, tx = boot
    wrong = [
        "{0} {1}".format(name, on_off(bool(value)))
        for name, value, want in (("rx", rx, wanted.rx), ("tx", tx, wanted.tx))
        if want is not None and value is not None and value != want
    ]
    if wanted.autoneg in (ON, OFF) and autoneg not in (None, wanted.autoneg == ON):
        wrong.append("autonegotiation {0}".format(on_off(bool(autoneg))))
    if wrong:
        return bad(policy), "A boot sets {0}, and {1} is wanted.".format(
            ", ".join(wrong), wanted.text
        )
    missing = [
        name
        for name, value, want in (("rx", rx, wanted.rx), ("tx", tx, wanted.tx))
        if want is not None and value is None
    ]
    if missing:
        running = if_known(one.in_force, None)
        status = WARN if running is not None and wanted.met_by(running) else bad(policy)
        return status, "Nothing sets {0} at boot: then the driver's default counts.".format(
            " and ".join(missing)
        )
    both = wanted.rx is not False and wanted.tx is not False
    if autoneg is not False and one.nic.driver in OFFER_BOTH and not both:
        return bad(policy), (
            "A boot sets {0} but does not turn its negotiation off, and the driver {1} offers "
            "both while it negotiates.".format(wanted.text, one.nic.driver)
        )
    refused = autoneg not in (None, known(one.pause).autoneg)
    if refused and one.nic.driver in NEGOTIATION_OF_LINK:
        return bad(policy), (
            "A boot sets autonegotiation {0}, and the driver {1}, whose negotiation is that of the "
            "link, refuses this with the rest.".format(on_off(bool(autoneg)), one.nic.driver)
        )
    given = given_by_boot(one, autoneg, rx, tx)
    if given is None:
        return WARN, (
            "A boot sets {0} and negotiates with it, and what the other end offers is not "
            "known.".format(wanted.text)
        )
    unmet = sorted(direction for direction in given if not wanted.met_by(direction))
    if unmet:
        return bad(policy) if len(unmet) == len(given) else WARN, (
            "A boot sets {0} but does not turn its negotiation off, and what the other end offers "
            "makes {1} of it.".format(wanted.text, _direction(unmet[0]))
        )
    hidden = hidden_link(one)
    if hidden:
        return WARN, hidden
    return PASS, ""


def hidden_link(one):
    # type: (NicFacts) -> str
    """That our own .link file hides settings of the file that would count without it, or ""."""
    links = if_known(one.persisted.links, [])
    own = [link for link in links if link.path == link_path(one.name)]
    others = [link for link in links if link.path != link_path(one.name)]
    if not own or not others or others[0].fits != link_file.YES:
        return ""
    mine = [(item.key, item.value) for item in link_file.link_settings(own[0].units)]
    theirs = [(item.key, item.value) for item in link_file.link_settings(others[0].units)]
    sections = link_file.other_sections(others[0].units)
    if mine == theirs and sections == link_file.other_sections(own[0].units):
        return ""
    return "{0} was changed after {1} took over its settings, and is hidden by it.".format(
        others[0].path, own[0].path
    )


def _setting_text(item):
    # type: (Setting) -> str
    values = [
        "{0} {1}".format(name, on_off(value))
        for name, value in (
            ("autonegotiation", item.autoneg),
            ("rx", item.rx),
            ("tx", item.tx),
        )
        if value is not None
    ]
    return "{0} {1}{2}: {3}".format(
        item.kind, item.place, "" if item.certain else " (perhaps)", ", ".join(values) or "nothing"
    )


def _direction(value):
    # type: (Direction) -> str
    return "rx {0}, tx {1}".format(on_off(value.rx), on_off(value.tx))


def judge_link_file_inverted(one, facts, policy):
    # type: (NicFacts, Facts, Policy) -> Finding
    check = checks.LINK_FILE_INVERTED
    winner = known(one.persisted.winner)
    flow = {} if winner is None else link_file.flow_control(winner.units)
    rx, tx = flow.get(link_file.RX), flow.get(link_file.TX)
    if winner is None or rx is None or tx is None:
        return skipped(check, "No .link file sets both directions of this interface.")
    text = "{0}: RxFlowControl={1} TxFlowControl={2}".format(
        winner.path, *("yes" if value else "no" for value in (rx, tx))
    )
    if rx == tx:
        return found(check, PASS, persisted=text, evidence=winner.evidence)
    wanted = wanted_of(one, facts)
    asked = (wanted.rx is not None, wanted.tx is not None)
    turned = (wanted.rx in (None, tx) and wanted.tx in (None, rx)) and any(asked)
    right = (wanted.rx in (None, rx) and wanted.tx in (None, tx)) and any(asked)
    status = PASS if right else bad(policy) if turned else WARN
    return found(
        check,
        status,
        why="After a boot ethtool shows rx {0}, tx {1}, whatever systemd.link(5) says of "
        "them{2}.".format(
            on_off(rx),
            on_off(tx),
            "; they are the wrong way round for {0}".format(wanted.text) if turned else "",
        ),
        # Where they are not mixed up, the other way round is the one that nobody wants.
        fix="exchange RxFlowControl= and TxFlowControl= in {0}".format(winner.path)
        if turned
        else _fix(one, policy),
        desired=wanted.text,
        persisted=text,
        evidence=winner.evidence,
    )


def judge_ignored_settings(one, _facts, _policy):
    # type: (NicFacts, Facts, Policy) -> Finding
    check = checks.IGNORED_SETTINGS
    settings = known(one.persisted.settings)
    if not settings:
        return skipped(check, "Nothing on this host sets its flow control at boot.")
    ignored = [item for item in settings if item.ignored]
    return found(
        check,
        WARN if ignored else PASS,
        why="; ".join("{0} is ignored: {1}".format(item.place, item.ignored) for item in ignored)
        + ".",
        fix="remove the setting, or use flow_control_wanted",
        persisted="; ".join(_setting_text(item) for item in settings),
        evidence=[key for item in settings for key in item.evidence],
    )


# -- the cable ------------------------------------------------------------------------------------


def judge_speed_duplex(one, facts, _policy):
    # type: (NicFacts, Facts, Policy) -> Finding
    check = checks.SPEED_DUPLEX
    nic = one.nic
    if not has_link(one):
        return skipped(check, "The link is down.")
    if nic.speed is None or nic.duplex is None:
        return _no_speed(check, one)
    ports = ports_of(one, facts)
    text = "{0} Mb/s {1} duplex".format(nic.speed, nic.duplex)
    evidence = list(nic.evidence) + evidence_of(one)[1:]
    if ports:
        port = ports[0].port
        far = "{0}: {1}, {2} duplex".format(
            ports[0].name,
            "{0} Mb/s".format(port.speed) if port.speed else "speed unknown",
            port.duplex or "unknown",
        )
        cable = not_one_cable((one.name, nic.speed), (ports[0].name, port.speed))
        if cable is not None:
            return found(
                check,
                cable.status,
                why=cable.why,
                fix=cable.fix,
                running=text,
                in_use=far,
                evidence=evidence + list(port.evidence),
            )
        if port.duplex not in (None, nic.duplex):
            return found(
                check,
                FAIL,
                why="The host has {0}, the switch port {1}.".format(text, far),
                fix="let both ends negotiate, or force both to the same",
                running=text,
                in_use=far,
                evidence=evidence + list(port.evidence),
            )
        if port.speed is not None and port.duplex is not None:
            return found(
                check, PASS, running=text, in_use=far, evidence=evidence + list(port.evidence)
            )
    settings = known(one.settings)
    if settings.autoneg and settings.partner_modes == "":
        return found(
            check,
            WARN,
            why="This end negotiates and the other offers nothing: it is forced, or does not tell.",
            fix="let the switch port negotiate",
            running=text,
            evidence=evidence,
        )
    if settings.autoneg is False:
        return found(
            check,
            WARN,
            why="Speed and duplex are forced here: where the other end negotiates, it falls back "
            "to half duplex.",
            fix="ethtool -s {0} autoneg on, if the switch port negotiates".format(one.name)
            if one.system == LINUX
            else "let both ends negotiate",
            running=text,
            evidence=evidence,
        )
    if settings.autoneg and settings.partner_modes:
        return found(check, PASS, running=text + ", negotiated", evidence=evidence)
    return skipped(
        check,
        "Only this end is known ({0}): name the switch in flow_control_switches.".format(text),
    )


def _no_speed(check, one):
    # type: (Check, NicFacts) -> Finding
    if isinstance(one.pause, Absent):
        return skipped(check, "The driver {0} tells no speed and no duplex.".format(one.nic.driver))
    return found(
        check,
        ERROR,
        why="Could not be determined: the driver tells no speed or no duplex.",
        evidence=one.nic.evidence,
    )


def judge_half_duplex(one, facts, _policy):
    # type: (NicFacts, Facts, Policy) -> Finding
    check = checks.HALF_DUPLEX
    if not has_link(one):
        return skipped(check, "The link is down.")
    ends = [("the host", one.nic.duplex)]
    ends += [(port.name, port.port.duplex) for port in ports_of(one, facts)]
    half = [name for name, duplex in ends if duplex == "half"]
    if not half and one.nic.duplex is None:
        return _no_speed(check, one)
    evidence = list(one.nic.evidence)
    for port in ports_of(one, facts):
        evidence += port.port.evidence
    return found(
        check,
        FAIL if half else PASS,
        why="{0} has half duplex: it cannot send and receive at once, and PAUSE does not "
        "exist.".format(capital(" and ".join(half))),
        fix="let both ends negotiate, or force both to full duplex",
        desired="full duplex",
        running="{0} duplex".format(one.nic.duplex or "unknown"),
        evidence=evidence,
    )


# -- what was counted -----------------------------------------------------------------------------


def judge_pause_frames(one, _facts, policy):
    # type: (NicFacts, Facts, Policy) -> Finding
    check = checks.PAUSE_FRAMES
    if isinstance(one.pause, Absent):
        return skipped(check, "{0}: {1}.".format(one.name, one.pause))
    if isinstance(one.traffic, Absent):
        return skipped(check, "{0}.".format(one.traffic))
    traffic = known(one.traffic)
    if traffic.rx_pause is None and traffic.tx_pause is None and not traffic.anew:
        return skipped(check, "The driver {0} does not count PAUSE frames.".format(one.nic.driver))
    reasons = []
    if (traffic.tx_pause or 0) > policy.pause_frames_limit:
        reasons.append(
            "this host sent {0} PAUSE frames (tx): it takes frames too slowly, and makes the "
            "switch wait".format(traffic.tx_pause)
        )
    if (traffic.rx_pause or 0) > policy.pause_frames_limit:
        reasons.append(
            "this host got {0} PAUSE frames (rx): the switch or what is behind it is "
            "congested".format(traffic.rx_pause)
        )
    text = "{0}, {1} within {2:.1f} s".format(
        _counted("rx", traffic.rx_pause), _counted("tx", traffic.tx_pause), traffic.seconds
    )
    missing = [
        name for name, n in (("rx", traffic.rx_pause), ("tx", traffic.tx_pause)) if n is None
    ]
    if missing and not reasons:
        if traffic.anew:
            return _began_anew(check, traffic, traffic.anew)
        return skipped(
            check,
            "The driver {0} does not count {1}; {2}.".format(
                one.nic.driver, " and ".join(missing), text
            ),
            traffic.evidence,
        )
    return found(
        check,
        WARN if reasons else PASS,
        why=_sentence("; ".join(reasons)),
        fix="relieve the end that sends PAUSE: receive buffers and interrupts of a host, the load "
        "of a filer; flow_control_pause_frames_limit says how many are allowed",
        desired="at most {0} in each direction".format(policy.pause_frames_limit),
        in_use=text,
        evidence=traffic.evidence,
    )


def _began_anew(check, traffic, names):
    # type: (Check, Traffic, Tuple[str, ...]) -> Finding
    return found(
        check,
        ERROR,
        why="Could not be determined: the counters began anew within the sample ({0}).".format(
            ", ".join(names)
        ),
        fix="run again; a driver that is reset over and over says so in dmesg",
        evidence=traffic.evidence,
    )


def _counted(name, number):
    # type: (str, Optional[int]) -> str
    return "{0} not counted".format(name) if number is None else "{0} {1}".format(name, number)


def _sentence(text):
    # type: (str) -> str
    return capital(text) + "."


def judge_drops(one, _facts, policy):
    # type: (NicFacts, Facts, Policy) -> Finding
    check = checks.DROPS
    if isinstance(one.traffic, Absent):
        return skipped(check, "{0}.".format(one.traffic))
    traffic = known(one.traffic)
    if not traffic.drops and not traffic.drops_anew:
        return skipped(check, "Nothing of {0} counts drops.".format(one.name))
    over = {name: n for name, n in sorted(traffic.drops.items()) if n > policy.drops_limit}
    if not over and traffic.drops_anew:
        return _began_anew(check, traffic, traffic.drops_anew)
    without = ""
    if over and not traffic.rx_pause and not traffic.tx_pause:
        without = ", without any PAUSE"
    return found(
        check,
        WARN if over else PASS,
        why="Lost within {0:.1f} s: {1}{2}.".format(
            traffic.seconds,
            ", ".join("{0} {1}".format(name, n) for name, n in over.items()),
            without,
        ),
        fix="more receive buffers{0}, speed and flow control of both ends; the limit is "
        "flow_control_drops_limit".format(
            " (ethtool -g {0})".format(one.name) if one.system == LINUX else ""
        ),
        desired="at most {0} of each kind".format(policy.drops_limit),
        in_use="{0} within {1:.1f} s".format(
            ", ".join("{0} {1}".format(name, n) for name, n in over.items()) or "none",
            traffic.seconds,
        ),
        evidence=traffic.evidence,
    )


def judge_priority(one, _facts, _policy):
    # type: (NicFacts, Facts, Policy) -> Finding
    check = checks.PRIORITY_FLOW_CONTROL
    if isinstance(one.pause, Absent):
        return skipped(check, "{0}: {1}.".format(one.name, one.pause))
    in_use = why_left_alone(one)
    if in_use:
        return skipped(check, in_use)
    if isinstance(one.priorities, Absent):
        return skipped(check, "{0}.".format(one.priorities), [one.priorities.key])
    return found(
        check,
        PASS,
        running="no priority pauses",
        evidence=list(one.evidence) or ["command:dcb pfc show dev {0} prio-pfc".format(one.name)],
    )
