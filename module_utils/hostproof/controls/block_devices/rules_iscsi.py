# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks of iSCSI sessions: the login at boot, and the time until a path fails."""

import re
from typing import Dict, List, Optional, Tuple

from ...collect.answer import if_known, known
from ...errors import HostproofError, Unanswered
from ...evaluate.advice import Advice, Ask, Run, Step
from ...evaluate.checking import Layer, Rules, Skip, Verdict, layered
from ...evaluate.finding import FAIL, PASS, WARN, status_for
from .facts import Facts
from .policy import NAME, Policy
from .probes import iscsi
from .probes.iscsi import Session
from .subjects import SESSIONS

rules: Rules[Facts, Policy] = Rules(NAME)

#: Seconds after which Clusterware gives up an unavailable voting disk (css disktimeout).
_DISKTIMEOUT = 200
#: Seconds that a database waits for another path without a warning. open-iscsi recommends 5 to 15
#: with multipath; some arrays recommend 20 to 30.
_LONG = 30
#: Parameters with which the initramfs logs in: to the target in them, or to those of the firmware.
_BOOTS = ("netroot=iscsi:", "rd.iscsi.target.name=", "iscsi_target_name=", "ISCSI_TARGET_NAME=")
_BY_FIRMWARE = ("rd.iscsi.firmware", "rd.iscsi.ibft", "iscsi_firmware", "ip=ibft", "ISCSI_AUTO")
_ON = ("enabled", "static", "alias", "indirect", "generated")


@rules.check(
    "block_devices.iscsi_login",
    "iSCSI session of a disk in use starts at boot",
    "iSCSI session of a disk in use does not start at boot",
    severity="critical",
    takes_effect="reboot",
    why="After a reboot the host does not log in to the target, and the disk is missing.",
    reference="iscsiadm(8), node.startup; open-iscsi README, iSCSI system startup",
    each=SESSIONS,
)
def iscsi_login(session: Session, facts: Facts, _policy: Policy) -> Verdict:
    parameter = _by_initramfs(session, facts)
    if parameter is not None:
        raise Skip(f"The initramfs logs in to it: {parameter} of the kernel command line.")
    records = session.own_records()
    values = [(record.path, record.values.get(iscsi.STARTUP, "manual")) for record in records]
    started = [path for path, value in values if value in ("automatic", "onboot")]
    texts = [f"{iscsi.STARTUP} {value} in {path}" for path, value in values]
    if not records:
        texts = ["open-iscsi has no record of its target"]
    steps: List[Step] = []
    if not started:
        _raise_by_firmware(session, facts)
        steps.append(_log_in(session, bool(records)))
    services = if_known(facts.logins, {})
    if services and not any(word.startswith(_ON) for word in services.values()):
        texts.append(_states(services))
        steps.append(_enable(services))
    return layered(
        persisted=Layer("; ".join(texts), status_for(steps), "after a reboot"),
        running=Layer("logged in"),
        also=[("the service that logs in", facts.logins)],
        advice=Advice(persisted=steps),
        why=f"{'; '.join(texts)}: a reboot does not log in to it, and {session.disk} is missing.",
        desired=f"{iscsi.STARTUP} automatic, and a service that logs in",
        evidence=[*(f"file:{path}" for path, _value in values), session.key],
    )


def _log_in(session: Session, has_record: bool) -> Step:
    if not has_record:
        return Ask("discover the target again (iscsiadm -m discovery), and log in to it")
    target, portal = known(session.target), known(session.portal)
    line = ("iscsiadm", "-m", "node", "-T", target, "-p", portal, "-o", "update")
    return Run(*line, "-n", iscsi.STARTUP, "-v", "automatic", text="log in at boot")


def _states(services: Dict[str, str]) -> str:
    words = (f"{unit} is {word or 'not known to systemd'}" for unit, word in services.items())
    return " and ".join(words)


def _enable(services: Dict[str, str]) -> Step:
    unit = next((unit for unit, word in services.items() if word), "")
    if not unit:
        return Ask("install the service that logs in (iscsi-initiator-utils or open-iscsi)")
    if services[unit].startswith("masked"):
        return Ask(f"unmask and enable {unit}")
    return Run("systemctl", "enable", unit, text="enable the service that logs in")


def _parameters(facts: Facts) -> List[str]:
    return [name if value is None else f"{name}={value}" for name, value in known(facts.cmdline)]


def _by_initramfs(session: Session, facts: Facts) -> Optional[str]:
    """The kernel parameter with which the initramfs logs in to the target of the session."""
    target = if_known(session.target, "")
    for text in _parameters(facts):
        if (
            text.startswith(_BOOTS)
            and target
            and target in re.split(r"[=:]{1,2}(?=iqn|eui|naa)", text)
        ):
            return text.partition("=")[0]
    return None


def _raise_by_firmware(session: Session, facts: Facts) -> None:
    for text in _parameters(facts):
        if text.startswith(_BY_FIRMWARE):
            raise Unanswered(
                "file:/proc/cmdline",
                f"with {text} the initramfs logs in to the targets of the firmware, and whether "
                f"{session.name} is one of them was not read",
            )


@rules.check(
    "block_devices.iscsi_timeout",
    "iSCSI path of a multipath map fails in time",
    "iSCSI path of a multipath map fails too late",
    severity="high",
    takes_effect="now",
    why="Requests wait on the failed path for this time before multipath sends them over another.",
    reference="open-iscsi README, iSCSI settings for dm-multipath (replacement_timeout); "
    "multipath.conf(5), fast_io_fail_tmo; Oracle Clusterware, css disktimeout",
    each=SESSIONS,
)
def iscsi_timeout(session: Session, facts: Facts, _policy: Policy) -> Verdict:
    if not any(session.disk in disk.slaves for disk in facts.maps()):
        raise Skip("Its disk is not a path of a multipath map.")
    seconds = known(session.timeout)
    status, words = _judged(seconds)
    later = _later(session, facts, seconds)
    return layered(
        running=Layer(f"recovery_tmo {words}", status),
        persisted=None if later is None else Layer(later[1], later[0], "after a new login"),
        advice=Advice(both=[*_steps(session), _AGAIN], persisted=_steps(session)),
        why=f"A failed path fails after {words}"
        + (f"; after a new login: {later[1]}" if later and later[0] != PASS else "")
        + ".",
        desired=f"at most {_LONG} seconds",
        evidence=[session.key],
        values={"seconds": seconds},
    )


def _judged(seconds: int) -> Tuple[str, str]:
    if seconds < 0:
        return FAIL, "no time: it never fails"
    return FAIL if seconds >= _DISKTIMEOUT else WARN if seconds > _LONG else PASS, (
        f"{seconds} seconds"
    )


def _later(session: Session, facts: Facts, running: int) -> Optional[Tuple[str, str]]:
    """(status, text) of the record. None where it is not known, or where multipathd sets the time
    of each path: fast_io_fail_tmo."""
    fast = if_known(facts.daemon.fast_fail, frozenset()) if facts.daemon is not None else ()
    if running in fast:
        return None
    try:
        records = session.own_records()
    except HostproofError:
        return None
    texts = {record.values.get(iscsi.TIMEOUT, "") for record in records} - {""}
    if len(texts) != 1:
        return None
    text = texts.pop()
    if not text.lstrip("-").isdecimal():
        return None
    status, _words = _judged(int(text))
    return status, f"{iscsi.TIMEOUT} {text}"


_AGAIN = Ask("log in again on one path after the other")


def _steps(session: Session) -> List[Step]:
    return [
        Ask(
            f"set {iscsi.TIMEOUT} to 15 for {session.name} (iscsiadm -m node -o update), or "
            "fast_io_fail_tmo in multipath.conf, which multipathd sets for each path"
        )
    ]
