# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Single paths of multipath maps: whether Oracle uses one, and whether the map is made at boot."""

from typing import List, Optional, Tuple

from ...collect.answer import attempt, if_known, known
from ...errors import HostproofError
from ...evaluate.advice import Advice, Ask, Run, Step, Wait
from ...evaluate.checking import Layer, Rules, Skip, Verdict, layered
from ...evaluate.finding import FAIL, PASS
from .facts import ASM_KEY, MULTIPATH_CONF, Facts, Used
from .parsers import multipath_conf
from .policy import NAME
from .probes.disks import Disk
from .subjects import IN_USE, MAPS

rules = Rules(NAME)

#: How udev marks a path, and the type that multipath gives it.
_MARK, _MEMBER = "DM_MULTIPATH_DEVICE_PATH", "mpath_member"
_OFF = ("nompath", "multipath=off")


@rules.check(
    "block_devices.single_path",
    "Oracle uses the multipath map, not one of its paths",
    "Oracle uses one path of a multipath map",
    severity="critical",
    takes_effect="cluster_restart",
    why="The disk is lost if this path fails, although the other paths work. ASM also finds the "
    "same disk several times.",
    reference="Oracle Grid Infrastructure Installation Guide for Linux, Using Oracle ASM with "
    "multipath disks; udev properties of multipath-tools (11-dm-mpath.rules, 60-multipath.rules)",
    each=IN_USE,
)
def single_path(used: Used, facts: Facts, _policy: object) -> Verdict:
    below = [facts.disks[name] for name in used.below]
    if any(disk.is_multipath for disk in below):
        return Verdict(PASS, running="a multipath map is below it")
    unknown = [disk.known for disk in below if isinstance(disk.known, HostproofError)]
    marked = [(disk, _sign_of(disk)) for disk in below]
    paths = [(disk, sign) for disk, sign in marked if sign]
    if not paths and unknown:
        raise unknown[0]
    text = ", ".join(f"{disk.name} is a path ({sign})" for disk, sign in paths)
    scan = if_known(facts.scan, [])
    return layered(
        in_use=Layer(
            f"{used.by} uses {used.node}" + (f"; {text}" if text else ""), FAIL if paths else PASS
        ),
        persisted=Layer("; ".join(scan), PASS) if scan and _label_of(used) else None,
        advice=Advice(in_use=_steps(used)),
        why=f"{text}. udev marks it as a path of a multipath map, and {used.by} uses it directly.",
        desired="a multipath map, or a disk that is not a path of one",
        evidence=[ASM_KEY, *(f"file:{_record_of(disk)}" for disk in below)],
    )


def _record_of(disk: Disk) -> str:
    number = if_known(attempt(lambda: known(disk.known).number), "")
    return f"/run/udev/data/b{number}"


def _sign_of(disk: Disk) -> Optional[str]:
    """The property that marks a path; None for a disk that is not one."""
    properties = known(disk.known).properties if not isinstance(disk.known, HostproofError) else {}
    if properties.get(_MARK) == "1":
        return f"{_MARK}=1"
    return f"ID_FS_TYPE={_MEMBER}" if properties.get("ID_FS_TYPE") == _MEMBER else None


def _label_of(used: Used) -> Optional[str]:
    prefix = "ASM (label "
    return used.by[len(prefix) : -1] if used.by.startswith(prefix) else None


def _steps(used: Used) -> List[Step]:
    if _label_of(used) is not None:
        return [
            Ask(
                "ASMLIB: set ORACLEASM_SCANORDER to the names of the maps (dm) and "
                "ORACLEASM_SCANEXCLUDE to those of the paths (sd) in /etc/sysconfig/oracleasm; "
                "ASMFD: set its discovery string to the maps (asmcmd afd_dsset)"
            ),
            Wait("cluster_restart", "Clusterware, which scans the disks again,"),
        ]
    return [
        Run("multipath", "-ll", text="find the map of this path"),
        Ask(
            "give the map the owner of ASM in a udev rule for dm-*, let asm_diskstring find only "
            "the maps, and remove the rule that gives ASM the path"
        ),
        Wait("cluster_restart", "ASM"),
    ]


@rules.check(
    "block_devices.maps_at_boot",
    "multipath.conf does not exclude the paths of a map in use",
    "multipath.conf excludes paths of a map in use",
    severity="critical",
    takes_effect="reboot",
    why="The running map stays until the reboot. After it the paths appear as single disks, and "
    "nothing makes the map.",
    reference="multipath.conf(5), blacklist; multipathd.service, ConditionKernelCommandLine",
    each=MAPS,
    because_of=("block_devices.multipathd",),
)
def maps_at_boot(disk: Disk, facts: Facts, _policy: object) -> Verdict:
    if not disk.slaves:
        raise Skip("It has no path.")
    switched_off = attempt(_switched_off, facts)
    excluded = attempt(_excluded, disk, facts)
    off, rows = if_known(switched_off, None), if_known(excluded, [])
    unknown = [one for one in (excluded, switched_off) if isinstance(one, HostproofError)]
    texts = [f"the kernel parameter {off} switches it off"] if off else []
    texts += [f"{entry.text()} excludes {name}" for name, entry in rows]
    persisted = "; ".join(texts) or "no path is excluded"
    is_wrong = bool(texts)
    steps: List[Step] = []
    if off:
        steps.append(Ask(f"remove {off} from the kernel command line of the bootloader"))
    if rows:
        line = ", ".join(sorted({f"'{entry.text()}'" for _name, entry in rows}))
        steps.append(
            Ask(
                f"remove {line} from the blacklist in {MULTIPATH_CONF} or its conf.d, or add an "
                "exception with the same keyword to blacklist_exceptions; then make the initramfs "
                "again if the host boots from such a disk"
            )
        )
        steps.append(Run("multipath", "-t", text="check the merged configuration"))
    return layered(
        persisted=Layer(
            unknown[0] if unknown and not is_wrong else persisted,
            FAIL if is_wrong else PASS,
            "after a reboot",
        ),
        advice=Advice(persisted=steps),
        why=f"{persisted[:1].upper()}{persisted[1:]}: a reboot makes no such map.",
        desired="all paths of the map are allowed",
        evidence=["file:" + MULTIPATH_CONF, "file:/proc/cmdline"],
    )


def _switched_off(facts: Facts) -> Optional[str]:
    for name, value in known(facts.cmdline):
        text = name if value is None else f"{name}={value}"
        if text in _OFF:
            return text
    return None


def _excluded(disk: Disk, facts: Facts) -> List[Tuple[str, multipath_conf.Entry]]:
    """Paths of the map that multipath.conf excludes, with the entry."""
    blacklist = known(facts.blacklist)
    wwid = disk.dm_uuid.replace("mpath-", "", 1)
    found = []
    for name in disk.slaves:
        properties = known(facts.disks[name].known).properties
        path = multipath_conf.Path(
            name,
            wwid,
            properties,
            properties.get("SCSI_VENDOR", properties.get("ID_VENDOR")),
            properties.get("SCSI_MODEL", properties.get("ID_MODEL")),
        )
        entry = multipath_conf.excluded_by(path, blacklist)
        found += [] if entry is None else [(name, entry)]
    return found
