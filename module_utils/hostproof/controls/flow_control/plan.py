# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Plans flow control as the policy requires it: with ethtool now, and with a .link file at boot.

udev uses only the first matching .link file. Hostproof's file sorts first, so it copies the whole
[Link] section of the file that it hides: without NamePolicy= the interface would get another name.
Interfaces are changed one after the other. Before a member of a bond is changed, the other members
must carry the bond. After the change, the member must carry it again.
"""

from functools import partial
from typing import Dict, List, NamedTuple, Optional, Tuple

from ...apply.change import Change, CommandChange, FileChange, Plan, Refusal, idle, independent
from ...collect.answer import if_known, known, unless_absent
from ...collect.command import Command
from ...errors import Absent, Unanswered
from ...parsers.net.bonding import Bond
from ...parsers.net.ethtool_pause import PauseSettings
from ...parsers.nfs.nfs_options import LINUX
from ...parsers.systemd import link_file
from . import link_waits
from .facts import Facts
from .nics import NicFacts, has_link, link_path, on_off, rule_path, why_left_alone
from .policy import INTERCONNECT, KEEP, OFF, ON, Policy
from .probes.nic_pause import NEGOTIATION_OF_LINK, NEVER_NEGOTIATE, OFFER_BOTH, argv_pause
from .probes.pause_persisted import FIRST_SYSTEMD, LINK, RULE, LinkFile, Setting
from .required_settings import Target, Wanted, boot_target_of, target_of, wanted_of

_BOUNCE = "allow_link_down"
#: Output of ethtool -a in every version: the state before and after the change.
_STATE = r"^(Autonegotiate:\s+\w+\s+RX:\s+\w+\s+TX:\s+\w+)\b"
#: The same for drivers that show the result of a negotiation, which can change.
_STATE_IN_FORCE = r"^(Autonegotiate:\s+on|Autonegotiate:\s+off\s+RX:\s+\w+\s+TX:\s+\w+)\b"


class _Work(NamedTuple):
    files: List[Change]
    commands: List[Change]
    refusals: List[Refusal]
    pending: List[str]


def plan(facts: Facts, policy: Policy) -> Plan:
    """The changes that make flow control match the policy. Raises if required facts are unknown."""
    interfaces = facts.interfaces
    if isinstance(interfaces, Absent):
        return idle(f"{interfaces}: nothing is changed.")
    known(interfaces)
    if policy.rules is None:
        return idle("flow_control_rules is auto: nothing is changed.")
    if facts.system != LINUX:
        return Plan([], _by_hand(facts), [], [])
    decided = independent(
        (name, partial(_plan_part, nics, facts, policy)) for name, nics in _parts(facts)
    )
    # All files are written before the first link goes down.
    return decided._replace(
        changes=sorted(decided.changes, key=lambda change: isinstance(change, CommandChange))
    )


def _by_hand(facts: Facts) -> List[Refusal]:
    """Rejections for systems on which apply does not set flow control, if it differs."""
    refusals = []
    for name in sorted(facts.nics):
        nic = facts.nics[name]
        if nic.rule.keeps or why_left_alone(nic):
            continue
        required = wanted_of(nic, facts)
        rx, tx = nic.persisted.at_boot()[1:]
        boot = required.rx in (None, rx) and required.tx in (None, tx)
        if not boot or not required.met_by(known(nic.in_force)):
            refusals.append(
                Refusal(
                    "{0}: {1} is required, and flow control of {2} is not set by apply: {3}".format(
                        name,
                        required.text,
                        nic.system,
                        "; ".join((nic.by_hand,) + nic.by_hand_commands),
                    ),
                    None,
                )
            )
    return refusals


def _parts(facts: Facts) -> List[Tuple[str, List[NicFacts]]]:
    """Interfaces that are changed or rejected together: the members of a bond stay alike."""
    parts: Dict[str, List[NicFacts]] = {}
    for name in sorted(facts.nics):
        nic = facts.nics[name]
        parts.setdefault(nic.nic.bond or name, []).append(nic)
    return list(parts.items())


def _plan_part(nics: List[NicFacts], facts: Facts, policy: Policy) -> Plan:
    work = _Work([], [], [], [])
    for nic in nics:
        if not nic.rule.keeps:
            _add(nic, facts, policy, work)
    return Plan(work.files + work.commands, work.refusals, work.pending, [])


def _add(nic: NicFacts, facts: Facts, policy: Policy, work: _Work) -> None:
    alone = why_left_alone(nic)
    if alone:
        work.pending.append(f"{nic.name} is not changed. {alone}")
        return
    required = wanted_of(nic, facts)
    if not required.anything:
        return
    pause = known(nic.pause)
    if not has_link(nic):
        # Without a link the driver does not show the mode that it will use: set it only at boot.
        target = _without_link(nic, required)
        work.pending.append(f"{nic.name} has no link: it is set for the next reboot, not now.")
    else:
        target = target_of(nic, required)
        if target != Target(pause.autoneg, pause.rx, pause.tx):
            work.refusals.extend(_guards(nic, facts, policy))
            work.commands.append(_command(nic, pause, target, facts, policy))
            if nic.nic.bond is None:
                work.pending.append(
                    f"The link of {nic.name} may go down for some seconds while it is set."
                )
        target = boot_target_of(nic, required, target)
    if nic.nic.driver in OFFER_BOTH and target.tx and not target.autoneg:
        work.pending.append(
            f"{nic.name}: the driver {nic.nic.driver} sets tx again each time the link comes up; "
            "check again after a reboot."
        )
    _plan_boot(nic, target, required, work)


def _without_link(nic: NicFacts, required: Wanted) -> Target:
    if required.rx is None or required.tx is None:
        raise Unanswered(
            f"file:/sys/class/net/{nic.name}/carrier",
            f"{nic.name} has no link, so what it keeps is not known: give rx and tx both, or plug "
            "it in",
        )
    both = required.rx and required.tx
    if required.autoneg == KEEP and nic.nic.driver in OFFER_BOTH and not both:
        raise Unanswered(
            "policy",
            f"{nic.name}: the driver {nic.nic.driver} offers both directions while it negotiates: "
            "autoneg: off in flow_control_rules sets it",
        )
    autoneg = known(nic.pause).autoneg
    if required.autoneg in (ON, OFF):
        autoneg = required.autoneg == ON
    elif nic.nic.driver in OFFER_BOTH and not both:
        autoneg = False
    return Target(autoneg, required.rx, required.tx)


# -- guards ---------------------------------------------------------------------------------------


def _guards(nic: NicFacts, facts: Facts, policy: Policy) -> List[Refusal]:
    """Rejections if the host would lose a path while the link is down for seconds."""
    if policy.allow_link_down:
        return []
    interfaces = known(facts.interfaces)
    bond: Optional[Bond] = None
    if nic.nic.bond is not None:
        answer = interfaces.bonds[nic.nic.bond]
        if isinstance(answer, Absent):
            return [
                _refusal(
                    f"{nic.name} is a member of {nic.nic.bond}, which is not a bond of the kernel: "
                    "it is unknown whether its other members carry it"
                )
            ]
        bond = known(answer)
    if bond is not None:
        others = [item.name for item in bond.members if item.name != nic.name]
        working = [name for name in others if bond.works(name)]
        if not working:
            return [
                _refusal(
                    f"{nic.name} is the only member of {nic.nic.bond} that carries it "
                    f"({len(others)} others, 0 in use): all of the bond would go down at once"
                )
            ]
        if not bond.monitored:
            return [
                _refusal(
                    f"{nic.nic.bond} does not notice that a member is down (neither miimon nor ARP "
                    f"monitoring): what goes over {nic.name} would be lost meanwhile"
                )
            ]
        if not bond.works(nic.name):
            return [
                _refusal(
                    f"{nic.name} is not in use by {nic.nic.bond} now, so it cannot be waited for "
                    "after the change"
                )
            ]
        return []
    refusals = []
    logins = known(interfaces.logins)
    if nic.name in logins:
        refusals.append(
            _refusal(f"{nic.name} is the only path of the ssh connection that this runs over")
        )
    if INTERCONNECT in nic.roles:
        refusals.append(
            _refusal(
                f"{nic.name} carries the interconnect without a bond: a node that is "
                "unreachable for 30 "
                "seconds (misscount) is evicted"
            )
        )
    return refusals


def _refusal(reason: str) -> Refusal:
    return Refusal("the link goes down for seconds when flow control is set: " + reason, _BOUNCE)


# -- now ------------------------------------------------------------------------------------------


def _command(
    nic: NicFacts, pause: PauseSettings, target: Target, facts: Facts, policy: Policy
) -> CommandChange:
    name = nic.name
    before = Target(pause.autoneg, pause.rx, pause.tx)
    shows_result = nic.nic.driver in OFFER_BOTH
    look = Command(
        f"flow control of {name} now",
        tuple(argv_pause(name)),
        expected=_STATE_IN_FORCE if shows_result else _STATE,
    )
    first, last = _waits(nic, facts, policy, back=False)
    before_back, after_back = _waits(nic, facts, policy, back=True)
    return CommandChange(
        name=f"flow control of {name}",
        before=_state(before, shows_result),
        after=_state(target, shows_result),
        look=look,
        make=first + (_set(name, target, before),) + last,
        undo=before_back + (_set(name, before, target),) + after_back,
    )


def _state(target: Target, shows_result: bool) -> str:
    """A pattern for the output of ethtool -a, which contains tabs (pause.c of ethtool)."""
    if shows_result and target.autoneg:
        return "Autonegotiate:\ton"
    return "Autonegotiate:\t{0}\nRX:\t\t{1}\nTX:\t\t{2}".format(*(on_off(flag) for flag in target))


def _set(name: str, target: Target, now: Target) -> Command:
    """The command ethtool -A. Old versions exit with 78 or 79 if a value is unchanged; this is
    accepted because the result is read again."""
    argv = ["ethtool", "-A", name]
    for option, value in (("autoneg", target.autoneg), ("rx", target.rx), ("tx", target.tx)):
        argv += [option, on_off(value)]
    return Command(
        f"set flow control of {name} ({target.text}, was {now.text})",
        tuple(argv),
        codes=(0, 78, 79),
    )


def _waits(
    nic: NicFacts, facts: Facts, policy: Policy, back: bool
) -> Tuple[Tuple[Command, ...], Tuple[Command, ...]]:
    """Commands that wait before the change and after it. ``back``: those of the restore."""
    seconds = policy.link_wait_seconds
    link = link_waits.for_link(nic.name, seconds)
    interfaces = known(facts.interfaces)
    bond = None if nic.nic.bond is None else if_known(interfaces.bonds.get(nic.nic.bond), None)
    if not isinstance(bond, Bond) or nic.nic.bond is None:
        return (), (link,)
    others = [item.name for item in bond.members if item.name != nic.name and bond.works(item.name)]
    first = (link_waits.for_members(nic.nic.bond, bond, others, seconds, back),) if others else ()
    last: Tuple[Command, ...] = ()
    if bond.works(nic.name):
        last = (link_waits.for_members(nic.nic.bond, bond, [nic.name], seconds, back),)
    return first, (link,) + last


# -- at boot --------------------------------------------------------------------------------------


def _plan_boot(nic: NicFacts, target: Target, required: Wanted, work: _Work) -> None:
    contrary = _contrary(nic, target, required)
    if contrary:
        work.refusals.extend(Refusal(reason, None) for reason in contrary)
        return
    if _is_persisted(nic, target, required):
        return
    mac = nic.nic.permanent_mac
    if not mac:
        raise Unanswered(
            "command:ethtool -P " + nic.name,
            f"ethtool -P does not show the permanent MAC address of {nic.name}, which identifies "
            "it at boot",
        )
    if known(nic.persisted.systemd) >= FIRST_SYSTEMD:
        base = _base(nic)
        sections = [] if base is None else link_file.other_sections(base.units)
        if base is not None and sections:
            work.refusals.append(_cannot_take_over(nic, base, sections, target))
            return
        path, content = link_path(nic.name), _link_text(nic, mac, base, target)
    else:
        path, content = rule_path(nic.name), _rule_text(nic, mac, target)
    before = unless_absent(nic.persisted.texts[path], None)
    if before != content:
        work.files.append(FileChange(path, content, before))


def _is_persisted(nic: NicFacts, target: Target, required: Wanted) -> bool:
    """Whether a reboot already results in the target."""
    autoneg, rx, tx = nic.persisted.at_boot(certain=True)
    pairs = ((rx, target.rx, required.rx), (tx, target.tx, required.tx))
    for value, goal, requested in pairs:
        if (requested is not None or value is not None) and value != goal:
            return False
    if autoneg is not None:
        return autoneg == target.autoneg
    if nic.nic.driver in NEVER_NEGOTIATE or nic.nic.driver in NEGOTIATION_OF_LINK:
        return True
    return target.autoneg and required.autoneg not in (ON, OFF) and nic.nic.driver not in OFFER_BOTH


def _contrary(nic: NicFacts, target: Target, required: Wanted) -> List[str]:
    """Rejections for settings that are applied after Hostproof's file at boot and contradict it."""
    reasons = []
    requested = {"rx": required.rx, "tx": required.tx}
    if required.autoneg in (ON, OFF) or target.autoneg is False:
        requested["autoneg"] = target.autoneg
    rule = rule_path(nic.name)
    own = (link_path(nic.name), rule)
    for item in known(nic.persisted.settings):
        if item.ignored or item.kind == LINK or item.place.rpartition(":")[0] in own:
            continue
        old = known(nic.persisted.systemd) < FIRST_SYSTEMD
        # udev runs rules in the order of their file names, whatever the directory.
        if old and item.kind == RULE and _file_name(item.place) < _file_name(rule):
            continue  # Hostproof's rule runs later
        wrong = _contradicting(item, requested)
        if wrong:
            reasons.append(
                "{0} {1} sets {2} of {3} at boot, after any .link file: remove that first".format(
                    item.kind, item.place, ", ".join(wrong), nic.name
                )
            )
    return reasons


def _contradicting(item: Setting, requested: Dict[str, Optional[bool]]) -> List[str]:
    return [
        f"{name} {on_off(bool(value))}"
        for name, value in (("rx", item.rx), ("tx", item.tx), ("autoneg", item.autoneg))
        if value is not None and requested.get(name) not in (None, value)
    ]


def _file_name(path: str) -> str:
    return path.rpartition("/")[2]


_HEAD = (
    "# Flow control of {0}, written by hostproof ({1}).\n"
    "# RxFlowControl= is what ethtool calls rx, TxFlowControl= what it calls tx: systemd.link(5)\n"
    "# describes them the other way round.\n"
)


def _base(nic: NicFacts) -> Optional[LinkFile]:
    """The .link file that applies without Hostproof's, else None."""
    own = link_path(nic.name)
    links = [link for link in known(nic.persisted.links) if link.path != own]
    if not links:
        return None
    if links[0].fits == link_file.YES:
        return links[0]
    winner = known(nic.persisted.winner)
    if winner is None or winner.path == own:
        raise Unanswered(
            "file:" + links[0].path,
            f"whether {links[0].path} is for {nic.name} is not known, and our file would hide it",
        )
    return winner


def _cannot_take_over(
    nic: NicFacts, base: LinkFile, sections: List[str], target: Target
) -> Refusal:
    return Refusal(
        "{0} counts for {1} and has {2}, which no other file can take over: put {3} into [Link] of "
        "it yourself".format(
            base.path,
            nic.name,
            " and ".join(f"[{name}]" for name in sections),
            " ".join(_flow_control_of(nic, target)),
        ),
        None,
    )


def _flow_control_of(nic: NicFacts, target: Target) -> List[str]:
    """Flow control lines of [Link]. Drivers that negotiate PAUSE with the link reject all settings
    if AutoNegotiationFlowControl= differs when udev sets it, so it is omitted for them."""
    values = [(link_file.AUTONEG, target.autoneg)]
    if nic.nic.driver in NEGOTIATION_OF_LINK:
        values = []
    values += [(link_file.RX, target.rx), (link_file.TX, target.tx)]
    return ["{0}={1}".format(key, "yes" if value else "no") for key, value in values]


def _link_text(nic: NicFacts, mac: str, base: Optional[LinkFile], target: Target) -> str:
    """The .link file: all settings of the hidden file, and flow control.

    It matches the permanent MAC address: a bond or a profile can set another address before udev
    matches again. The driver is the name that udev reads (mlx4_en), not the directory in sysfs
    (mlx4_core)."""
    lines = [_HEAD.format(nic.name, "flow_control_rules")]
    if base is not None:
        lines.append(f"# The rest of [Link] is that of {base.path}.\n")
    lines += ["[Match]\n", f"PermanentMACAddress={mac}\n"]
    if nic.persisted.device.driver:
        lines.append(f"Driver={nic.persisted.device.driver}\n")
    lines.append("\n[Link]\n")
    if base is not None:
        for item in link_file.link_settings(base.units):
            lines.append(f"{item.key}={item.value}\n")
    return "".join(lines + [line + "\n" for line in _flow_control_of(nic, target)])


def _rule_text(nic: NicFacts, mac: str, target: Target) -> str:
    options = f"rx {on_off(target.rx)} tx {on_off(target.tx)}"
    if nic.nic.driver not in NEGOTIATION_OF_LINK:
        options = f"autoneg {on_off(target.autoneg)} {options}"
    return (
        "# Flow control, written by hostproof: this systemd's .link files do not know it.\n"
        f'ACTION=="add", SUBSYSTEM=="net", ATTR{{address}}=="{mac}", '
        f'DRIVERS=="{nic.nic.driver}", '
        f'RUN+="{known(nic.persisted.ethtool)} -A $name {options}"\n'
    )
