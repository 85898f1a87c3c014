# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks of multipath maps: multipathd, number of paths, and queueing without a path."""

from typing import Dict, List, Optional, Tuple

from ...collect.answer import Answer, if_known, known
from ...errors import Unanswered
from ...evaluate.checking import Rules, Skip, Verdict, failing
from ...evaluate.finding import FAIL, PASS, WARN, status_for
from .facts import CONFIG, DAEMON, QUEUEING, STATUS, TABLE, Facts
from .parsers.dm_multipath import Queueing
from .policy import EXTERNAL, NAME, Policy
from .probes import disks
from .probes.disks import Disk
from .required_values import targets
from .subjects import MAPS

rules: Rules[Facts, Policy] = Rules(NAME)

#: Seconds after which Clusterware gives up an unavailable voting disk (css disktimeout).
_DISKTIMEOUT = 200
_CONF = "multipath.conf(5), no_path_retry"
#: Values that must be the same on all paths: the map uses the smallest, or requests fail.
_ALIKE = ("size", disks.LOGICAL, disks.PHYSICAL, disks.SECTORS, disks.DEPTH, disks.ROTATIONAL)


@rules.check(
    "block_devices.multipathd",
    "multipathd is running and enabled",
    "multipathd is not running or not enabled",
    severity="high",
    takes_effect="now",
    why="A failed path stays out of use after it recovers, until no path remains.",
    reference="multipathd(8); the array's host guide",
)
def multipathd(facts: Facts, _policy: Policy) -> Verdict:
    daemon = facts.daemon
    if daemon is None:
        known(facts.found)
        raise Skip("No disk that Oracle uses is on a multipath map.")
    enabled, active = known(daemon.enabled), known(daemon.active)
    problems = [] if active == "active" else [f"it is {active or 'not known to systemd'}"]
    if enabled == "enabled-runtime":
        problems.append("it is not started at boot: its link is in /run")
    elif not enabled.startswith(("enabled", "static", "alias", "indirect")):
        problems.append(f"it is not started at boot ({enabled or 'not known to systemd'})")
    is_masked = enabled.startswith("masked")
    return Verdict(
        FAIL if problems else PASS,
        why="; ".join(problems) + ".",
        # systemctl enable ends with an error while the unit is masked.
        fix=f"unmask {DAEMON}, then enable and start it" if is_masked else "enable and start it",
        commands=[] if is_masked else [f"systemctl enable --now {DAEMON}"],
        desired="enabled and active",
        persisted=enabled,
        running=active,
        evidence=[f"command:systemctl {verb} {DAEMON}" for verb in ("is-enabled", "is-active")],
        failing_layer=failing(running=active != "active", persisted=True),
    )


@rules.check(
    "block_devices.paths",
    "All multipath paths are up, and there are enough",
    "A multipath path is down, or there are too few",
    severity="high",
    takes_effect="now",
    why="With only one path left, the next fault disconnects the disk.",
    reference="dmsetup(8), multipath target; the array's host guide",
    each=MAPS,
    because_of=("block_devices.multipathd",),
)
def paths(disk: Disk, facts: Facts, policy: Policy) -> Verdict:
    states = known(facts.states)
    if disk.dm_name not in states:
        raise Unanswered("command:" + " ".join(STATUS), f"dmsetup does not show {disk.title}")
    path_states = states[str(disk.dm_name)]
    numbers = {known(facts.disks[name].known).number: facts.disks[name] for name in disk.slaves}
    words, working = _condition(path_states, numbers)
    hosts = {path.host for path in working if path.host is not None}
    down = len(path_states) - len(working)
    problems = [f"{down} of {len(path_states)} paths do not work"] if down else []
    if len(working) < policy.min_paths:
        problems.append(f"{len(working)} work, and {policy.min_paths} are required")
    single = len(working) > 1 and len(hosts) == 1
    status = status_for(problems, single)
    if single:
        problems.append("all of them use one adapter")
    return Verdict(
        status,
        why="; ".join(problems) + ".",
        fix="find the adapter, switch or array port that failed",
        commands=["multipath -ll"],
        desired=f"all, and at least {policy.min_paths}",
        running=", ".join(words),
        evidence=["command:" + " ".join(STATUS)]
        + ["file:" + path.file("device/state") for path in numbers.values()],
        values={"paths": len(path_states), "working": len(working)},
    )


def _condition(
    path_states: Dict[str, bool], numbers: Dict[str, Disk]
) -> Tuple[List[str], List[Disk]]:
    """The state of each path in words, and the paths that work."""
    words, working = [], []
    for number, is_well in sorted(path_states.items()):
        path = numbers.get(number)
        state = "" if path is None else if_known(path.values["device/state"], "")
        is_well = is_well and state in ("", "running", "live")
        name = number if path is None else path.title
        words.append(f"{name} {'works' if is_well else 'failed'}" + (f" ({state})" * bool(state)))
        if is_well and path is not None:
            working.append(path)
    return words, working


@rules.check(
    "block_devices.paths_alike",
    "Paths of a multipath map have the same size and limits",
    "Paths of a multipath map differ in size or limits",
    severity="high",
    takes_effect="now",
    why="A request that one path accepts is rejected by another and lost. Paths of different "
    "sizes are different disks, or a disk resized on some paths only.",
    reference="Linux, Documentation/ABI/stable/sysfs-block; multipath.conf(5), max_sectors_kb",
    each=MAPS,
)
def paths_alike(disk: Disk, facts: Facts, _policy: Policy) -> Verdict:
    members = [facts.disks[name] for name in disk.slaves]
    if not members:
        raise Skip("It has no path.")
    problems = []
    for key in _ALIKE:
        values = {path.name: if_known(path.values[key], "-") for path in members}
        if len(set(values.values())) > 1:
            text = ", ".join(f"{name} {value}" for name, value in sorted(values.items()))
            problems.append(f"{key.rpartition('/')[2]}: {text}")
    for path in members:
        known(path.values["size"])
        if path.number("size") != disk.number("size"):
            problems.append(f"{path.name} is of {path.values['size']} sectors, the map of another")
    return Verdict(
        FAIL if problems else PASS,
        why="; ".join(problems) + ".",
        fix="rescan the paths, and have the map take their size (multipathd resize map)",
        desired="the same on each path",
        running=f"{len(members)} paths of {disk.values['size']} sectors",
        evidence=["file:" + path.file(key) for path in members for key in ("size", disks.SECTORS)],
    )


@rules.check(
    "block_devices.multipath_queueing",
    "Queueing without paths suits the ASM redundancy",
    "Queueing without paths does not suit the redundancy of the disk",
    severity="critical",
    takes_effect="now",
    why="With ASM mirroring, endless queueing hides a failed array from ASM, and everything "
    "hangs. Without mirroring, an I/O error dismounts the disk group.",
    reference=_CONF + "; NetApp, Oracle databases on ONTAP, Multipathing",
    each=MAPS,
    because_of=("block_devices.multipathd",),
)
def multipath_queueing(disk: Disk, facts: Facts, _policy: Policy) -> Verdict:
    seconds, words = _waits(disk, facts)
    redundancy = _redundancy(disk, facts)
    status, why, retries = PASS, "", "12"
    if redundancy is None:
        if seconds is not None:
            raise Skip(
                f"The policy does not say which redundancy ASM has on it: {words}. Name it in "
                "block_devices_devices."
            )
        return _without_redundancy(words)
    if redundancy == EXTERNAL:
        if seconds == 0:
            status, why = WARN, "it fails at once, and nothing mirrors what it holds"
            retries = "queue"
    elif seconds is None:
        status, why = FAIL, f"it waits for ever, and ASM mirrors ({redundancy})"
    elif seconds >= _DISKTIMEOUT:
        status = FAIL
        why = f"it waits {seconds} seconds, and a voting disk may be unavailable for {_DISKTIMEOUT}"
    return Verdict(
        status,
        why=why + ".",
        fix=f"no_path_retry {retries} for it in multipath.conf, and where the host boots from such "
        "a disk make its initramfs again",
        commands=["multipathd reconfigure"],
        desired="to wait" if redundancy == EXTERNAL else "not for ever, and less than 200 seconds",
        running=words,
        evidence=["command:" + " ".join(argv) for argv in (TABLE, QUEUEING, CONFIG)],
        values={"seconds": seconds},
    )


def _without_redundancy(words: str) -> Verdict:
    """Verdict without known redundancy. Unlimited queueing suits file systems and external
    redundancy, but hangs a mirrored disk group. So no value can be recommended."""
    return Verdict(
        WARN,
        why="It waits for ever, which hangs where ASM mirrors; the redundancy is not known.",
        fix="name the disk and the redundancy of its disk group (external, normal or high) in "
        "block_devices_devices; change nothing in multipath.conf before that",
        desired="not known: the policy names no redundancy",
        running=words,
        evidence=["command:" + " ".join(argv) for argv in (TABLE, QUEUEING, CONFIG)],
        values={"seconds": None},
    )


def _redundancy(disk: Disk, facts: Facts) -> Optional[str]:
    matching = [target for target in targets(facts) if target.disk.name == disk.name]
    entry = matching[0].entry if matching else None
    return None if entry is None else entry.redundancy


def _waits(disk: Disk, facts: Facts) -> Tuple[Optional[int], str]:
    """(seconds of queueing without a path, None for unlimited; text). Raises if it is unknown. The
    daemon ends queueing that is unlimited in the table of the map."""
    daemon = facts.daemon
    tables = known(facts.tables)
    if daemon is None or disk.dm_name not in tables:
        raise Unanswered("command:" + " ".join(TABLE), f"dmsetup does not show {disk.title}")
    by_table = tables[str(disk.dm_name)]
    text = "queue_if_no_path" if by_table else "no queue_if_no_path"
    answer: Answer[Optional[Queueing]] = None
    if known(daemon.active) == "active":
        answer = known(daemon.queueing).get(disk.dm_uuid.replace("mpath-", "", 1))
    queueing = known(answer)
    if queueing is None or queueing.kind in ("-", "on", "off"):
        return (None if by_table else 0), f"its table has {text}"
    if not by_table:
        return 0, f"its table has {text} by now"
    if queueing.kind == "sec":
        return queueing.number, f"{queueing.number} seconds are left"
    interval = known(daemon.interval)
    if interval is None:
        raise Unanswered("command:" + " ".join(CONFIG), "multipathd shows no polling_interval")
    seconds = queueing.number * interval
    return seconds, f"{queueing.number} checks, one in {interval} seconds: {seconds} seconds"
