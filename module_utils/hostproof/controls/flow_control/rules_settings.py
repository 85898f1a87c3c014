# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks of the host's interfaces: flow control configured, in force, and after reboot."""

from typing import Optional, Tuple

from ...collect.answer import if_known, known
from ...errors import Absent
from ...evaluate.checking import Rules, Skip, Verdict
from ...evaluate.finding import PASS, WARN
from ...parsers.net.ethtool_pause import Direction, PauseSettings
from ...parsers.nfs.nfs_options import LINUX
from ...parsers.systemd import link_file
from .facts import Facts
from .interface_fix import bad, commands_of, fix_of
from .nics import (
    NicFacts,
    capital,
    direction_text,
    evidence_of,
    has_link,
    link_path,
    on_off,
    skip_if_left_alone,
)
from .policy import NAME, OFF, ON, Policy
from .probes.nic_pause import NEGOTIATION_OF_LINK, OFFER_BOTH
from .probes.pause_persisted import LinkFile, Setting
from .required_settings import Wanted, given_by_boot, wanted_of
from .subjects import CASE, IEEE_802_3, NICS, NICS_AND_UNKNOWN, NTAP, SYSTEMD_LINK

rules: Rules[Facts, Policy] = Rules(NAME)

ETHTOOL = "ethtool(8), --pause; kernel include/uapi/linux/ethtool.h, struct ethtool_pauseparam"


def _set_text(nic: NicFacts, pause: PauseSettings) -> str:
    """The configured mode as text. Only Linux shows the setting of autonegotiation."""
    autoneg = f"autonegotiation {on_off(pause.autoneg)}, " if nic.system == LINUX else ""
    return autoneg + direction_text(pause)


@rules.check(
    "flow_control.supported",
    "Interface supports flow control",
    "Interface does not support flow control",
    severity="low",
    takes_effect="now",
    why="The interface ignores PAUSE from a congested switch and cannot slow down a fast sender.",
    reference=ETHTOOL,
    each=NICS_AND_UNKNOWN,
)
def supported(nic: NicFacts, _facts: Facts, _policy: Policy) -> Verdict:
    pause = nic.pause
    if isinstance(pause, Absent):
        if nic.nic.speed is not None and nic.nic.speed <= _SLOW and nic.roles:
            return _slow_without(nic)
        kind = f"driver {nic.nic.driver}" if nic.nic.driver else "a virtual interface"
        raise Skip(f"{kind}: {pause}.", evidence_of(nic)[:1])
    known(pause)
    return Verdict(
        PASS,
        running="driver {0}, {1}".format(nic.nic.driver, ", ".join(nic.roles) or "no role"),
        evidence=evidence_of(nic)[:1],
    )


#: Mb/s. A link of this speed in front of a faster server needs PAUSE most.
_SLOW = 100


def _slow_without(nic: NicFacts) -> Verdict:
    return Verdict(
        WARN,
        f"The link has {nic.nic.speed} Mb/s and no PAUSE: a faster server overruns the buffers of "
        "the switch port.",
        fix="use an adapter with the speed of the server; until then NFS over TCP",
        reference=CASE,
        evidence=nic.nic.evidence,
    )


@rules.check(
    "flow_control.configured",
    "Flow control settings match the policy",
    "Flow control settings differ from the policy",
    severity="medium",
    takes_effect="now",
    why="A stalled host that sends PAUSE (tx) blocks the switch and the filer, and with them "
    "every other host.",
    reference=NTAP,
    each=NICS,
)
def configured(nic: NicFacts, facts: Facts, policy: Policy) -> Verdict:
    skip_if_left_alone(nic)
    if not has_link(nic):
        raise Skip("The link is down: what the driver shows then is not what it will use.")
    goal = wanted_of(nic, facts)
    pause = known(nic.pause)
    negotiates = goal.autoneg not in (ON, OFF) or pause.autoneg == (goal.autoneg == ON)
    # While PAUSE is negotiated, rx and tx are only an offer; flow_control.negotiated checks the
    # result.
    set_so = goal.met_by(Direction(pause.rx, pause.tx)) or (
        pause.autoneg and goal.met_by(if_known(nic.in_force, Direction(pause.rx, pause.tx)))
    )
    wrong = [] if negotiates else [f"autonegotiation is {on_off(pause.autoneg)}"]
    if not set_so:
        wrong += [
            f"{name} is {on_off(value)}"
            for name, value, want in (("rx", pause.rx, goal.rx), ("tx", pause.tx, goal.tx))
            if want not in (None, value)
        ]
    danger = ""
    if goal.tx is False and pause.tx:
        danger = ": if this host stalls, it makes the switch hold up what others send"
    return Verdict(
        bad(policy) if wrong else PASS,
        why="{0}, and {1} is required{2}.".format(capital(" and ".join(wrong)), goal.text, danger),
        fix=fix_of(nic, policy),
        commands=commands_of(nic, policy),
        part=nic.name,
        desired=goal.text,
        running=_set_text(nic, pause),
        evidence=evidence_of(nic),
    )


@rules.check(
    "flow_control.negotiated",
    "Flow control in use matches the policy",
    "Flow control in use differs from the policy",
    severity="medium",
    takes_effect="now",
    why="Where PAUSE is negotiated, the link uses what both ends advertise, not what is "
    "configured on this host.",
    reference=IEEE_802_3,
    each=NICS,
    because_of=("flow_control.configured", "flow_control.speed_duplex", "flow_control.full_duplex"),
)
def negotiated(nic: NicFacts, facts: Facts, policy: Policy) -> Verdict:
    skip_if_left_alone(nic)
    pause = known(nic.pause)
    if not pause.autoneg and nic.system != LINUX:
        raise Skip(
            f"{nic.system} does not show the negotiated mode; flow_control.configured checks the "
            "configured one."
        )
    if not pause.autoneg:
        raise Skip("PAUSE is not negotiated here: the configured mode is in force.")
    if not has_link(nic):
        raise Skip("The link is down: nothing is negotiated.")
    goal = wanted_of(nic, facts)
    force = known(nic.in_force)
    return Verdict(
        PASS if goal.met_by(force) else bad(policy),
        why=f"The negotiated mode is {direction_text(force)}, but {goal.text} is required.",
        fix=fix_of(nic, policy),
        commands=commands_of(nic, policy),
        part=nic.name,
        desired=goal.text,
        running=f"{direction_text(pause)} set",
        in_use=f"{direction_text(force)} negotiated",
        evidence=evidence_of(nic),
        failing_layer="in_use",
    )


#: Values after a reboot: autoneg, rx, tx.
_Boot = Tuple[Optional[bool], Optional[bool], Optional[bool]]
#: A status, and why.
_Grade = Tuple[str, str]


@rules.check(
    "flow_control.persisted",
    "Flow control settings persist across reboots",
    "Flow control settings change at the next reboot",
    severity="medium",
    takes_effect="reboot",
    why="Settings made with ethtool are lost at reboot. The first matching .link file and "
    "later boot steps then set flow control.",
    reference=SYSTEMD_LINK + "; nm-settings(5), ethtool",
    each=NICS,
    because_of=("flow_control.link_file_inverted", "flow_control.ignored_settings"),
)
def persisted(nic: NicFacts, facts: Facts, policy: Policy) -> Verdict:
    skip_if_left_alone(nic)
    required = wanted_of(nic, facts)
    if not required.anything:
        raise Skip("The policy requires nothing that a reboot could change.")
    status, why = _persisted_verdict(nic, required, policy)
    settings = [item for item in known(nic.persisted.settings) if not item.ignored]
    return Verdict(
        status,
        why=why,
        fix=fix_of(nic, policy),
        commands=commands_of(nic, policy),
        part=nic.name,
        desired=required.text,
        persisted="; ".join(_setting_text(item) for item in settings)
        or "nothing sets it: the driver's default",
        running=None
        if isinstance(nic.in_force, Exception)
        else direction_text(known(nic.in_force)),
        evidence=[key for item in settings for key in item.evidence] or evidence_of(nic)[:1],
        failing_layer="persisted",
    )


def _persisted_verdict(nic: NicFacts, required: Wanted, policy: Policy) -> _Grade:
    """Warns if the result depends on a source that is not certain to run."""
    sure = _verdict_of_boot(nic, nic.persisted.at_boot(certain=True), required, policy)
    whole = _verdict_of_boot(nic, nic.persisted.at_boot(), required, policy)
    if PASS not in (sure[0], whole[0]) or sure == whole:
        return whole
    places = [
        f"{item.kind} {item.place}"
        for item in known(nic.persisted.settings)
        if not item.certain and not item.ignored
    ]
    return WARN, "{0} seems to set {1}; only a reboot proves it.".format(
        " and ".join(places), required.text if whole[0] == PASS else "something else"
    )


def _verdict_of_boot(nic: NicFacts, boot: _Boot, required: Wanted, policy: Policy) -> _Grade:
    return (
        _contrary(boot, required, policy)
        or _left_to_driver(nic, boot, required, policy)
        or _refused_by_driver(nic, boot, required, policy)
        or _as_negotiated(nic, boot, required, policy)
        or _hidden_link(nic)
        or (PASS, "")
    )


def _contrary(boot: _Boot, required: Wanted, policy: Policy) -> Optional[_Grade]:
    autoneg, rx, tx = boot
    wrong = [
        f"{name} {on_off(value)}"
        for name, value, goal in (("rx", rx, required.rx), ("tx", tx, required.tx))
        if goal is not None and value is not None and value != goal
    ]
    if required.autoneg in (ON, OFF) and autoneg not in (None, required.autoneg == ON):
        wrong.append(f"autonegotiation {on_off(bool(autoneg))}")
    if not wrong:
        return None
    return bad(
        policy
    ), f"The settings at boot are {', '.join(wrong)}, but {required.text} is required."


def _left_to_driver(
    nic: NicFacts, boot: _Boot, required: Wanted, policy: Policy
) -> Optional[_Grade]:
    _autoneg, rx, tx = boot
    missing = [
        name
        for name, value, goal in (("rx", rx, required.rx), ("tx", tx, required.tx))
        if goal is not None and value is None
    ]
    if not missing:
        return None
    running = if_known(nic.in_force, None)
    status = WARN if running is not None and required.met_by(running) else bad(policy)
    sides = " and ".join(missing)
    return status, f"Nothing sets {sides} at boot: the default of the driver applies."


def _refused_by_driver(
    nic: NicFacts, boot: _Boot, required: Wanted, policy: Policy
) -> Optional[_Grade]:
    autoneg, driver = boot[0], nic.nic.driver
    both = required.rx is not False and required.tx is not False
    if autoneg is not False and driver in OFFER_BOTH and not both:
        return bad(policy), (
            f"A boot sets {required.text} but does not turn its negotiation off, and the driver "
            f"{driver} offers both while it negotiates."
        )
    refused = autoneg not in (None, known(nic.pause).autoneg)
    if refused and driver in NEGOTIATION_OF_LINK:
        return bad(policy), (
            f"At boot autonegotiation is set to {on_off(bool(autoneg))}, and the driver "
            f"{driver}, whose "
            "negotiation is that of the link, rejects this with the rest."
        )
    return None


def _as_negotiated(
    nic: NicFacts, boot: _Boot, required: Wanted, policy: Policy
) -> Optional[_Grade]:
    directions = given_by_boot(nic, *boot)
    if directions is None:
        return WARN, (
            f"A boot sets {required.text} and negotiates with it, and what the other end offers is "
            "not known."
        )
    unmet = sorted(direction for direction in directions if not required.met_by(direction))
    if not unmet:
        return None
    return bad(policy) if len(unmet) == len(directions) else WARN, (
        f"A boot sets {required.text} but does not turn its negotiation off, and what the other "
        f"end offers makes {direction_text(unmet[0])} of it."
    )


def _hidden_link(nic: NicFacts) -> Optional[_Grade]:
    """Warns if Hostproof's .link file hides a file that was changed later."""
    links = if_known(nic.persisted.links, [])
    own = [link for link in links if link.path == link_path(nic.name)]
    others = [link for link in links if link.path != link_path(nic.name)]
    if not own or not others or others[0].fits != link_file.YES:
        return None
    mine = [(item.key, item.value) for item in link_file.link_settings(own[0].units)]
    theirs = [(item.key, item.value) for item in link_file.link_settings(others[0].units)]
    sections = link_file.other_sections(others[0].units)
    if mine == theirs and sections == link_file.other_sections(own[0].units):
        return None
    return WARN, (
        f"{others[0].path} was changed after {own[0].path} took over its settings, and is hidden "
        "by it."
    )


def _setting_text(item: Setting) -> str:
    values = [
        f"{name} {on_off(value)}"
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


def _link_file_with_both(nic: NicFacts) -> Tuple[LinkFile, Direction]:
    """The .link file that applies, and what it sets. Skip where it does not set both directions."""
    winner = known(nic.persisted.winner)
    flow = {} if winner is None else link_file.flow_control(winner.units)
    rx, tx = flow.get(link_file.RX), flow.get(link_file.TX)
    if winner is None or rx is None or tx is None:
        raise Skip("No .link file sets both directions of this interface.")
    return winner, Direction(rx, tx)


@rules.check(
    "flow_control.link_file_inverted",
    "RxFlowControl and TxFlowControl are not swapped",
    "RxFlowControl and TxFlowControl are swapped",
    severity="medium",
    takes_effect="reboot",
    why="After reboot, flow control is on in the wrong direction. systemd.link(5) describes "
    "the two options the wrong way round: RxFlowControl= sets rx.",
    reference=SYSTEMD_LINK
    + ", RxFlowControl=; systemd, ethtool_set_flow_control() in ethtool-util.c",
    each=NICS,
)
def link_file_inverted(nic: NicFacts, facts: Facts, policy: Policy) -> Verdict:
    winner, shown = _link_file_with_both(nic)
    rx, tx = shown
    text = "{0}: RxFlowControl={1} TxFlowControl={2}".format(
        winner.path, *("yes" if value else "no" for value in (rx, tx))
    )
    if rx == tx:
        return Verdict(PASS, persisted=text, evidence=winner.evidence)
    required = wanted_of(nic, facts)
    right = required.sides and required.met_by(shown)
    turned = required.sides and required.met_by(Direction(tx, rx))
    why = (
        f"After a reboot ethtool shows {direction_text(shown)}, whatever "
        "systemd.link(5) says of them"
    )
    if turned:
        why += f"; they are the wrong way round for {required.text}"
    return Verdict(
        PASS if right else bad(policy) if turned else WARN,
        why=why + ".",
        # Swapping the two options is the fix only if the swapped values match the policy.
        fix=f"exchange RxFlowControl= and TxFlowControl= in {winner.path}"
        if turned
        else fix_of(nic, policy),
        commands=() if turned else commands_of(nic, policy),
        part=nic.name,
        desired=required.text,
        persisted=text,
        evidence=winner.evidence,
    )


@rules.check(
    "flow_control.ignored_settings",
    "Every flow control setting is read at boot",
    "A flow control setting is ignored",
    severity="medium",
    takes_effect="reboot",
    why="The setting looks correct in its file but never takes effect.",
    reference=SYSTEMD_LINK
    + "; sysconfig.txt of initscripts, ETHTOOL_OPTS; nm-settings-ifcfg-rh(5)",
    each=NICS,
)
def ignored_settings(nic: NicFacts, _facts: Facts, _policy: Policy) -> Verdict:
    settings = known(nic.persisted.settings)
    if not settings:
        raise Skip("Nothing on this host sets its flow control at boot.")
    ignored = [item for item in settings if item.ignored]
    return Verdict(
        WARN if ignored else PASS,
        why="; ".join(f"{item.place} is ignored: {item.ignored}" for item in ignored) + ".",
        fix="remove the setting, or use flow_control_rules",
        persisted="; ".join(_setting_text(item) for item in settings),
        evidence=[key for item in settings for key in item.evidence],
    )
