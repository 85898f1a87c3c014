# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Single paths of multipath maps: whether Oracle uses one, and whether the map is made at boot."""

import re
from typing import Dict, List, Optional, Sequence, Set, Tuple

from ...collect.answer import attempt, existing, if_known, known, unless_newer
from ...errors import Absent, HostproofError, NotRecorded, Unanswered
from ...evaluate.advice import Advice, Ask, Run, Step, Wait
from ...evaluate.checking import Layer, Rules, Skip, Verdict, layered
from ...evaluate.finding import PASS, status_for
from ...parsers.number import integer
from .discovery import discovered, named_string
from .facts import ASM_KEY, MULTIPATH_CONF, WWIDS, Facts, Used
from .parsers import multipath_conf
from .policy import NAME, Policy
from .probes.disks import Disk, outside_maps
from .probes.same_disk import NVME_PATH, PSEUDO
from .scanning import label_of, scanned
from .scanning import steps as scan_steps
from .subjects import IN_USE, MAPS

rules: Rules[Facts, Policy] = Rules(NAME)

#: How udev marks a path, and the type that multipath gives it.
_MARK, _MEMBER = "DM_MULTIPATH_DEVICE_PATH", "mpath_member"
#: Other names of one disk that a text holds.
_MOST = 8
_OFF = (
    *("nompath", "multipath=off"),
    *("systemd.mask=multipathd.service", "systemd.mask=multipathd"),
)
#: How multipath excludes a path: the path and the entry.
_WHY = {
    multipath_conf.LISTED: "{1} excludes {0}",
    multipath_conf.BUILT_IN: "multipath itself excludes {0} ({1}), and no exception allows it",
    multipath_conf.MISSING: "{0} has no property that the exception {1} requires",
}
_ENCODED = re.compile(r"\\x([0-9a-f]{2})")
_NO_CONF = multipath_conf.Conf([], [], {})
#: Values of find_multipaths with which multipathd makes every map, and those of several paths.
_EVERY, _SEVERAL = ("no", "off", "greedy"), ("yes", "on", "smart")
#: Without a line: strict since multipath-tools 0.7.8, and the major version of the distribution
#: that has it. Red Hat and SUSE keep the earlier default, with which every map is made.
_STRICT = {"debian": 10, "ubuntu": 19}
_RED_HAT = frozenset({"rhel", "fedora", "ol", "centos"})
_EARLIER = _RED_HAT | {"sles", "suse"}


@rules.check(
    "block_devices.single_path",
    "Oracle uses the multipath map, not one of its paths",
    "Oracle uses one path of a multipath map",
    severity="critical",
    takes_effect="cluster_restart",
    why="The disk is lost if this path fails, although the other paths work. ASM also finds the "
    "same disk several times.",
    reference="Oracle Grid Infrastructure Installation Guide for Linux, Using Oracle ASM with "
    "multipath disks; Oracle Automatic Storage Management Administrator's Guide, Disk Discovery "
    "Rules; udev properties of multipath-tools (11-dm-mpath.rules, 60-multipath.rules)",
    each=IN_USE,
)
def single_path(used: Used, facts: Facts, _policy: object) -> Verdict:
    below = [facts.disks[name] for name in used.below]
    above = _map_of(below)
    signs = [(disk, attempt(_sign_of, disk, facts)) for disk in _alone(used, facts)]
    unknown = [sign for _disk, sign in signs if isinstance(sign, HostproofError)]
    paths = [(disk.name, str(sign)) for disk, sign in signs if if_known(sign, None)]
    later, why, steps = _next_search(used, facts, above, bool(paths))
    shown = f"{above} is below it" if above else f"{used.by} uses {used.node}"
    if paths:
        text = "; ".join(f"{name} {sign}" for name, sign in paths)
        shown = f"{used.by} uses {used.node}; {text}"
        why = f"{text}, and {used.by} uses it directly."
    return layered(
        in_use=Layer(unknown[0] if unknown and not paths else shown, status_for(paths), "the disk"),
        persisted=later,
        advice=Advice(persisted=steps, in_use=_steps(used, facts, paths)),
        why=why or None,
        desired="a multipath map, or a disk that is not a path of one",
        evidence=[ASM_KEY, *(f"file:{_record_of(disk)}" for disk in below)],
    )


def _next_search(
    used: Used, facts: Facts, above: Optional[str], is_path: bool
) -> Tuple[Optional[Layer], str, Sequence[Step]]:
    """The layer of the next discovery or scan, why it is wrong, and the steps."""
    scan = scanned(used, facts, above)
    why = "" if scan is None else scan.why
    found = discovered(used, facts, above, is_path)
    if found is None:
        return None if scan is None else scan.layer, why, scan_steps(used, facts)
    if not why and found.layer.status != PASS:
        why = f"{found.layer.shown}."
    return found.layer, why, found.steps


def _map_of(below: List[Disk]) -> Optional[str]:
    """The map of multipath-tools, or else the pseudo device of PowerPath, among the disks."""
    names = [disk.title for disk in below if disk.is_multipath]
    names += [disk.name for disk in below if PSEUDO.match(disk.name)]
    return names[0] if names else None


def _alone(used: Used, facts: Facts) -> List[Disk]:
    """The lowest disks below no map: a logical volume can have more than the map."""
    return [
        facts.disks[name]
        for name in outside_maps(used.below, facts.disks)
        if not PSEUDO.match(name)
    ]


def _record_of(disk: Disk) -> str:
    number = if_known(attempt(lambda: known(disk.known).number), "")
    return f"/run/udev/data/b{number}"


def _sign_of(disk: Disk, facts: Facts) -> Optional[str]:
    """The sign that a disk is a path; None for a disk that is not one.

    An unknown source does not hide the sign of another one.
    """
    sources = (_by_name, _by_udev, _by_holder, _by_powerpath, _by_wwid)
    answers = [attempt(source, disk, facts) for source in sources]
    sign = next((answer for answer in answers if if_known(answer, None)), None)
    return sign if isinstance(sign, str) else next(filter(None, map(known, answers)), None)


def _by_name(disk: Disk, _facts: Facts) -> Optional[str]:
    path = NVME_PATH.match(disk.name)
    return None if path is None else f"is a path of nvme{path.group(1)}{path.group(2)}"


def _by_udev(disk: Disk, _facts: Facts) -> Optional[str]:
    properties = known(disk.known).properties
    if properties.get(_MARK) == "1":
        return f"is a path for udev ({_MARK}=1)"
    is_member = properties.get("ID_FS_TYPE") == _MEMBER
    return f"is a path for udev (ID_FS_TYPE={_MEMBER})" if is_member else None


def _by_holder(disk: Disk, facts: Facts) -> Optional[str]:
    holder = unless_newer(facts.holders.get(disk.name), None)
    return None if holder is None else f"is a path of {holder} for the kernel"


def _by_powerpath(disk: Disk, facts: Facts) -> Optional[str]:
    if not disk.name.startswith("sd"):
        return None
    pseudo = known(facts.pseudo).get(disk.name)
    return None if pseudo is None else f"is a path of {pseudo} of PowerPath"


def _by_wwid(disk: Disk, facts: Facts) -> Optional[str]:
    wwid, others = known(facts.twins.get(disk.name, ("", ())))
    return f"is the same disk as {', '.join(others[:_MOST])} ({wwid})" if others else None


def _steps(used: Used, facts: Facts, paths: List[Tuple[str, str]]) -> List[Step]:
    if label_of(used) is not None:
        return [
            *scan_steps(used, facts),
            Wait("cluster_restart", "Clusterware, which scans the disks again,"),
        ]
    signs = " ".join(sign for _name, sign in paths)
    begin: List[Step]
    if "PowerPath" in signs:
        begin = [Run("powermt", "display", "dev=all", text="find the pseudo device of this path")]
        device, names = "the pseudo device", "emcpower*"
    elif any(name.startswith("nvme") for name, _sign in paths):
        begin = [
            Ask(
                "set nvme_core.multipath=Y on the kernel command line and reboot, or create a "
                "multipath map of both"
            )
        ]
        device, names = "the multipath device", "it"
    else:
        is_same = "same disk" in signs
        begin = [
            Run("multipath", "-ll", text="find the map of this path")
            if not is_same
            else Ask("create a multipath map of all its paths (multipath.conf, multipathd)")
        ]
        device, names = "the map", "dm-*"
    string = named_string(used, facts)
    change = "" if string is None else f"let asm_diskstring find only such devices{string}, "
    return [
        *begin,
        Ask(
            f"give {device} the owner of ASM in a udev rule for {names}, {change}and remove the "
            "rule that gives ASM the path"
        ),
        Wait("cluster_restart", "ASM"),
    ]


@rules.check(
    "block_devices.maps_at_boot",
    "Multipath map in use is created at boot",
    "Multipath map in use is not created at boot",
    severity="critical",
    takes_effect="reboot",
    why="The running map stays until the reboot. After it the paths appear as single disks, and "
    "nothing makes the map.",
    reference="multipath.conf(5), blacklist and find_multipaths; multipath(8), -a; "
    "multipathd.service, ConditionKernelCommandLine and ConditionPathExists",
    each=MAPS,
    because_of=("block_devices.multipathd",),
)
def maps_at_boot(disk: Disk, facts: Facts, _policy: object) -> Verdict:
    if not disk.slaves:
        raise Skip("It has no path.")
    switched_off = attempt(_switched_off, facts)
    excluded = attempt(_excluded, disk, facts)
    unfound = attempt(_unfound, disk, facts)
    off, rows = if_known(switched_off, None), if_known(excluded, [])
    missing = if_known(unfound, None)
    unknown = _first_unknown(excluded, switched_off, unfound)
    texts = [f"the kernel parameter {off} switches it off"] if off else []
    texts += [_WHY[why].format(name, entry.text()) for name, why, entry in rows]
    texts += [missing] if missing else []
    persisted = "; ".join(texts) or "no path is excluded, and multipathd creates the map"
    steps: List[Step] = []
    if off:
        steps.append(Ask(f"remove {off} from the kernel command line of the bootloader"))
    if rows:
        steps += _unlist(rows)
        steps.append(Run("multipath", "-t", text="check the merged configuration"))
    if missing:
        steps.append(_keep_map(disk, facts))
    return layered(
        persisted=Layer(
            unknown if unknown is not None and not texts else persisted,
            status_for(texts),
            "after a reboot",
        ),
        advice=Advice(persisted=steps),
        why=f"{persisted[:1].upper()}{persisted[1:]}: a reboot makes no such map.",
        desired="all paths of the map are allowed, and multipathd creates the map",
        evidence=["file:" + MULTIPATH_CONF, "file:" + WWIDS, "file:/proc/cmdline"],
    )


def _first_unknown(*answers: object) -> Optional[HostproofError]:
    """The first error; one that is newer than the recording only where there is no other."""
    unknown = [one for one in answers if isinstance(one, HostproofError)]
    return min(unknown, key=lambda one: isinstance(one, NotRecorded), default=None)


def _keep_map(disk: Disk, facts: Facts) -> Step:
    """The step with which multipathd creates the map at boot time."""
    if not _has_main(facts):
        return Ask(f"restore {MULTIPATH_CONF}, for example from a backup")
    return Run("multipath", "-a", f"/dev/{disk.slaves[0]}", text=f"add its WWID to {WWIDS}")


def _switched_off(facts: Facts) -> Optional[str]:
    for name, value in known(facts.cmdline):
        text = name if value is None else f"{name}={value}"
        if text in _OFF:
            return text
    return None


def _unfound(disk: Disk, facts: Facts) -> Optional[str]:
    """Why multipathd does not create the map at boot; None if it does."""
    if not _has_main(facts) and _needs_file(facts):
        return f"there is no {MULTIPATH_CONF}, without which multipathd does not start"
    wwid = disk.dm_uuid.replace("mpath-", "", 1)
    if _is_listed(wwid, facts):
        return None
    conf = _conf(facts)
    if conf.defaults.get(multipath_conf.WWIDS, WWIDS) != WWIDS:
        raise Unanswered("file:" + MULTIPATH_CONF, "it names another file for the WWIDs")
    mode = conf.defaults.get(multipath_conf.FIND) or _built_in(facts)
    if mode in _EVERY or (mode in _SEVERAL and len(disk.slaves) > 1):
        return None
    if mode not in (*_SEVERAL, "strict"):
        raise Unanswered("file:" + MULTIPATH_CONF, f"the value of find_multipaths is {mode or '-'}")
    few = ", one path alone is not enough" if mode in _SEVERAL else ""
    return f"find_multipaths is {mode}{few}, and {WWIDS} does not contain {wwid}"


def _is_listed(wwid: str, facts: Facts) -> bool:
    """Whether multipath knows the map: its file, or parameters that it adds to the file."""
    added = [value for name, value in known(facts.cmdline) if name == "mpath.wwid"]
    return wwid in added or wwid in known(facts.wwids)


def _has_main(facts: Facts) -> bool:
    return not isinstance(facts.conf, Absent) and known(facts.conf).has_main


def _needs_file(facts: Facts) -> bool:
    """Whether the unit of this distribution has ConditionPathExists=/etc/multipath.conf."""
    return bool(_RED_HAT & _systems(facts))


def _systems(facts: Facts) -> Set[str]:
    variables = known(facts.system)
    return {variables.get("ID", ""), *variables.get("ID_LIKE", "").split()}


def _conf(facts: Facts) -> multipath_conf.Conf:
    return _NO_CONF if isinstance(facts.conf, Absent) else known(facts.conf)


def _built_in(facts: Facts) -> str:
    """find_multipaths without a line: what multipathd shows, or the default of a distribution."""
    daemon = existing(facts.daemon)
    if known(daemon.active) == "active":
        return known(daemon.finding) or ""
    variables = known(facts.system)
    for name, since in _STRICT.items():
        if variables.get("ID") == name:
            major = variables.get("VERSION_ID", "").partition(".")[0]
            return "strict" if major.isdecimal() and integer(major) >= since else ""
    return "off" if _EARLIER & _systems(facts) else ""


def _excluded(disk: Disk, facts: Facts) -> List[Tuple[str, str, multipath_conf.Entry]]:
    """Paths of the map that multipath excludes: (path, why, entry)."""
    conf = _conf(facts)
    if conf.exceptions and not _RED_HAT & _systems(facts):
        conf = conf._replace(exceptions=[*conf.exceptions, multipath_conf.UPSTREAM])
    wwid = disk.dm_uuid.replace("mpath-", "", 1)
    found = []
    for name in disk.slaves:
        path = facts.disks[name]
        properties = known(path.known).properties
        path_of_conf = multipath_conf.Path(
            name,
            wwid,
            properties,
            "NVME" if name.startswith("nvme") else _exact(properties, "VENDOR"),
            _exact(properties, "MODEL"),
            path.protocol,
        )
        why = multipath_conf.excluded_by(path_of_conf, conf)
        found += [] if why is None else [(name, *why)]
    return found


def _exact(properties: Dict[str, str], name: str) -> Optional[str]:
    """A name of the disk as multipath reads it; None where udev may have replaced its blanks."""
    for kind in ("SCSI_", "ID_"):
        encoded = properties.get(f"{kind}{name}_ENC")
        if encoded is not None:
            return _ENCODED.sub(lambda match: chr(integer(match.group(1), 16)), encoded).rstrip()
        plain = properties.get(kind + name)
        if plain is not None:
            return None if "_" in plain else plain
    return None


def _unlist(rows: List[Tuple[str, str, multipath_conf.Entry]]) -> List[Step]:
    """The changes of multipath.conf that allow the excluded paths again."""
    again = "; then make the initramfs again if the host boots from such a disk"
    steps: List[Step] = []
    listed = [row for row in rows if row[1] == multipath_conf.LISTED]
    for section in sorted({entry.section for _name, _why, entry in listed}):
        words = _texts([row for row in listed if row[2].section == section])
        steps.append(
            Ask(
                f"remove {words} from {section} in {MULTIPATH_CONF} or its conf.d, or add an "
                f"exception with the same keyword to blacklist_exceptions{again}"
            )
        )
    names = [name for name, why, _entry in rows if why == multipath_conf.BUILT_IN]
    if names:
        lines = ", ".join(f"'devnode ^{name}$'" for name in sorted(names))
        steps.append(Ask(f"add {lines} to blacklist_exceptions in {MULTIPATH_CONF}{again}"))
    needed = _texts([row for row in rows if row[1] == multipath_conf.MISSING])
    if needed:
        steps.append(
            Ask(
                f"remove {needed} from blacklist_exceptions in {MULTIPATH_CONF} or its conf.d, or "
                f"add a property that all paths have (udevadm info --query=property){again}"
            )
        )
    return steps


def _texts(rows: List[Tuple[str, str, multipath_conf.Entry]]) -> str:
    return ", ".join(sorted({f"'{entry.text()}'" for _name, _why, entry in rows}))
