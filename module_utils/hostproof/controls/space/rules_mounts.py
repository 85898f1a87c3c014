# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Mount options, /dev/shm, /proc, /boot, and the modes of system directories."""

from typing import List, Optional, Sequence

from ...collect.answer import Answer, attempt, if_known, known, unless_newer
from ...errors import Absent
from ...evaluate.advice import Advice, Ask, Edit, Run, Step, Wait
from ...evaluate.checking import Layer, Rules, Skip, Subjects, Verdict, layered
from ...evaluate.finding import FAIL, PASS, WARN
from ...parsers.mounts.mountinfo import Mount
from ...parsers.systemd import systemd_unit
from .facts import DIRECTORIES, FSTAB, Facts
from .policy import NAME, Policy
from .subjects import EVIDENCE, FILE_SYSTEMS, WITH_SOFTWARE, FileSystem, at_boot

rules: Rules[Facts, Policy] = Rules(NAME)

_SHM, _PROC, _BOOT, _TMP = "/dev/shm", "/proc", "/boot", "/tmp"
_HIDEPID = "hidepid="
#: Options of mount(8) to the options they imply.
_IMPLIED = {
    "user": ("noexec", "nosuid"),
    "users": ("noexec", "nosuid"),
    "owner": ("nosuid",),
    "group": ("nosuid",),
}
_OPPOSITES = {"exec": "noexec", "suid": "nosuid", "rw": "ro"}
_STICKY = 0o1777
_EVERYBODY_READS = 0o555
_OTHERS_WRITE = 0o022


@rules.check(
    "space.mount_options",
    "No mount option blocks the use of the file system by Oracle",
    "Mount option blocks the use of the file system by Oracle",
    severity="high",
    takes_effect="remount",
    why="The installer, OPatch and dbca run programs from /tmp. In a home noexec and nosuid keep "
    "oracle, oradism and extjob from running with their rights.",
    reference="mount(8); Cluster Verification Utility, File system mount options for path",
    each=FILE_SYSTEMS,
)
def mount_options(file_system: FileSystem, facts: Facts, _policy: Policy) -> Verdict:
    unwanted = sorted({option for demand in file_system.demands for option in demand.blocking})
    at_next = attempt(at_boot, facts, file_system.mount.path)
    shown = attempt(lambda: ",".join(known(at_next)))
    persisted = if_known(at_next, ())
    effective = _effective(persisted)
    now = _among(unwanted, file_system.mount)
    then = [option for option in unwanted if option in effective]
    sentences = [f"It is mounted with {', '.join(now)}."] if now else []
    if then:
        sentences.append(f"{FSTAB} sets {', '.join(then)} for the next mount.")
    return layered(
        persisted=Layer(shown, WARN if then else PASS) if shown else None,
        running=Layer(file_system.mount.options, FAIL if now else PASS),
        advice=_steps_of_options(file_system.mount.path, now, persisted, then),
        why=" ".join(
            [*sentences, f"Paths: {', '.join(each.path for each in file_system.demands)}."]
        ),
        desired=f"none of {', '.join(unwanted)}" if unwanted else None,
        evidence=EVIDENCE,
    )


def _steps_of_options(
    path: str, now: List[str], persisted: Sequence[str], then: List[str]
) -> Advice:
    """A file system that became read-only has errors: writing to it can destroy more."""
    edit = _edit_of_line(path, persisted, then)
    others = [option for option in now if option != "ro"]
    remount: List[Step] = []
    if others and not ("ro" in now and "ro" not in then):
        remount = [_remount(path, others, "them")]
    broken: List[Step] = []
    if "ro" in now and "ro" not in then:
        broken = [
            Run("journalctl", "-k", "--no-pager", "-n", "200", text="find in the kernel log why"),
            Ask(
                f"if the kernel reported an error of {path}, stop what uses it, unmount it, and "
                "check it (xfs_repair -n, fsck -n) before it is mounted for writing again"
            ),
        ]
    elif "ro" in now:
        remount = [Wait("remount", path)]
    return Advice(
        both=[*broken, edit, *remount],
        persisted=[edit],
        running=[
            *broken,
            *(
                [Ask(f"find what mounts {path} with {', '.join(others)}: a mount unit or a script")]
                if others
                else []
            ),
            *remount,
        ],
    )


def _among(options: Sequence[str], mount: Mount) -> List[str]:
    """Those of the options that the mount has."""
    return [option for option in options if option in _options(mount)]


def _options(mount: Mount) -> List[str]:
    return f"{mount.options},{mount.super_options}".split(",")


def _edit_of_line(path: str, persisted: Sequence[str], unwanted: List[str]) -> Edit:
    # Some options imply others: name the words of the line.
    words = [word for word in persisted if {*unwanted} & {*_IMPLIED.get(word, (word,))}]
    return Edit(FSTAB, what=f"remove {', '.join(words)} from the line of {path} in {FSTAB}")


def _remount(path: str, unwanted: List[str], without: str) -> Run:
    """``without`` names the options in the text of the step."""
    opposite = {value: key for key, value in _OPPOSITES.items()}
    options = ",".join(["remount", *(opposite[option] for option in unwanted)])
    return Run("mount", "-o", options, path, text=f"mount it again without {without}")


@rules.check(
    "space.mounted_at_boot",
    "File system of a home is mounted at boot",
    "File system of a home is not mounted at boot",
    severity="critical",
    takes_effect="reboot",
    why="After a reboot its paths are not there. Without its home or a destination of its "
    "parameters, a database does not start.",
    reference="fstab(5), noauto; systemd.mount(5)",
    each=WITH_SOFTWARE,
)
def mounted_at_boot(file_system: FileSystem, facts: Facts, _policy: Policy) -> Verdict:
    path = file_system.mount.path
    options = at_boot(facts, path)
    units = unless_newer(facts.units.get(path, []), [])
    name = systemd_unit.unit_name(path)
    by_fstab = path not in facts.units
    is_masked = _is_masked(facts, path)
    if is_masked:
        text = f"{name} is masked"
    elif units:
        text = ", ".join(units)
    else:
        text = f"{FSTAB}: {','.join(options)}" if options else f"no line of {FSTAB}"
    is_right = not is_masked and (by_fstab or bool(units))
    source = file_system.mount.source
    edit: Step = Edit(FSTAB, what=f"remove noauto from the line of {path} in {FSTAB}")
    if not options:
        # A reboot can change the name of a disk.
        edit = Ask(
            f"add a line for {path} to {FSTAB}: the UUID of {source} (blkid {source}), its type "
            f"{file_system.mount.fstype} and its options, with _netdev if the disk is on a network"
        )
    return layered(
        persisted=Layer(text, PASS if is_right else FAIL),
        running=Layer("mounted", PASS),
        advice=Advice(
            persisted=[_unmask(name)] * is_masked + [edit] * (not by_fstab and not units)
        ),
        why=(
            f"{name} is masked, so systemd does not mount {path}. "
            if is_masked
            else f"{path} has {'noauto' if options else 'no line'} in {FSTAB}, and no enabled unit "
            "is known that mounts it. "
        )
        + f"Paths: {', '.join(each.path for each in file_system.demands)}.",
        desired="a line of fstab without noauto, an enabled mount unit or an automount",
        evidence=[*EVIDENCE, f"command:systemctl is-enabled {name}"],
    )


def _is_masked(facts: Facts, path: str) -> bool:
    return bool(unless_newer(facts.masked.get(path, False), False))


def _unmask(name: str) -> Step:
    return Ask(f"unmask {name} (systemctl unmask {name})")


def _effective(options: Sequence[str]) -> List[str]:
    """Effective options of fstab. A later option overrides an earlier one."""
    result: List[str] = []
    for option in options:
        opposite = _OPPOSITES.get(option)
        result = [word for word in result if word != opposite]
        result += _IMPLIED.get(option, (option,))
    return result


@rules.check(
    "space.shm",
    "/dev/shm is a tmpfs for all users",
    "/dev/shm is not a tmpfs, or its options block Oracle",
    severity="high",
    takes_effect="remount",
    why="Automatic Memory Management keeps the SGA there, and the Java VM of the database its "
    "compiled code. With noexec that code cannot run.",
    reference="Database Installation Guide for Linux, shared memory mounting; CVU, PRVE-0421",
)
def shm(facts: Facts, _policy: Policy) -> Verdict:
    mount = _mounted(facts, _SHM)
    persisted = at_boot(facts, _SHM)
    is_tmpfs = mount is not None and mount.fstype == "tmpfs"
    now = _among(("ro", "noexec"), mount) if mount else []
    then = sorted({"noexec", "ro"} & set(_effective(persisted)))
    problems = [] if is_tmpfs else ["no tmpfs is mounted there"]
    problems += [f"it is mounted {option}" for option in now]
    if then:
        problems.append(f"{FSTAB} sets {', '.join(then)} for the next mount")
    edit = _edit_of_line(_SHM, persisted, then)
    # A second mount would hide the memory of the instances that run.
    mounted: Step = Ask(f"mount a tmpfs at {_SHM} while no instance runs")
    if is_tmpfs:
        mounted = _remount(_SHM, now, ", ".join(now))
    return layered(
        persisted=Layer(",".join(persisted), _grade_of_shm(then)) if persisted else None,
        running=Layer(
            f"{mount.fstype}, {mount.options}" if mount else "not mounted",
            _grade_of_shm(now) if is_tmpfs else FAIL,
        ),
        advice=Advice(
            both=[edit, mounted],
            persisted=[edit],
            running=[
                *(
                    [Ask(f"find what mounts it with {', '.join(now)}: a mount unit or a script")]
                    if now
                    else []
                ),
                mounted,
            ],
        ),
        why=f"{_SHM}: {'; '.join(problems) or 'it is a tmpfs'}.",
        desired="tmpfs, rw, without noexec",
        evidence=EVIDENCE,
    )


def _grade_of_shm(unwanted: List[str]) -> str:
    return FAIL if "ro" in unwanted else WARN if unwanted else PASS


def _mounted(facts: Facts, path: str) -> Optional[Mount]:
    mounts = [mount for mount in known(facts.mounts) if mount.path == path]
    return mounts[-1] if mounts else None


@rules.check(
    "space.tmp",
    "/tmp is a separate file system",
    "/tmp is not a separate file system",
    severity="low",
    takes_effect="reboot",
    why="Any account can fill /tmp. If it is part of the root file system, logs and the agents of "
    "Clusterware then have no space either.",
    reference="ORAchk, /tmp on dedicated filesystem",
)
def tmp(facts: Facts, _policy: Policy) -> Verdict:
    place = known(facts.places[_TMP])
    mount, root = _mounted(facts, place), _mounted(facts, "/")
    # /tmp may be a link to a directory of another file system.
    path = _TMP if place == "/" else place
    persisted = at_boot(facts, path)
    # A bind mount or a subvolume of the root file system shares its space.
    is_separate = mount and not (root and root.device == mount.device)
    is_masked, name = _is_masked(facts, path), systemd_unit.unit_name(path)
    steps: List[Step] = [_unmask(name)] * is_masked
    if persisted and path in facts.units:
        steps.append(Edit(FSTAB, what=f"remove noauto from the line of {path} in {FSTAB}"))
    return layered(
        persisted=_tmp_at_boot(facts, path, persisted),
        running=Layer(
            f"{mount.fstype}, {mount.options}" if mount and is_separate else "not mounted",
            PASS if is_separate else WARN,
        ),
        advice=Advice(
            both=[
                *steps,
                Ask(f"mount a file system or a tmpfs of at least 1 GiB at {_TMP} at boot"),
            ],
            persisted=steps if persisted else [*steps, _line_of_tmp(mount)],
        ),
        why="It is part of another file system."
        if not is_separate
        else f"{name} is masked, so systemd does not mount it after a reboot."
        if is_masked
        else f"Neither {FSTAB} nor {name} mounts it after a reboot.",
        desired="a mount point",
        evidence=EVIDENCE,
    )


def _tmp_at_boot(facts: Facts, path: str, options: Sequence[str]) -> Layer:
    """``options`` are those of its line in fstab."""
    name = systemd_unit.unit_name(path)
    if _is_masked(facts, path):
        return Layer(f"{name} is masked", WARN)
    mounted_by: Answer[str] = ",".join(options)
    if path in facts.units:
        mounted_by = attempt(lambda: ", ".join(known(facts.units[path])))
    if mounted_by:
        return Layer(mounted_by)
    return Layer(f"{'noauto in' if options else 'no line of'} {FSTAB}, no enabled {name}", WARN)


def _line_of_tmp(mount: Optional[Mount]) -> Step:
    if mount and mount.fstype == "tmpfs":
        return Edit(FSTAB, f"tmpfs {_TMP} tmpfs rw,nosuid,nodev,size=2g 0 0")
    return Ask(f"add the file system of {_TMP} to {FSTAB}")


@rules.check(
    "space.hidepid",
    "/proc shows all processes to all users",
    "/proc hides processes of other users (hidepid)",
    severity="medium",
    takes_effect="remount",
    why="Agents of Clusterware and scripts of the database check processes of other users. "
    "Where /proc hides them, a running process counts as stopped.",
    reference="proc(5), hidepid; CVU, File system mount option hidepid for proc filesystem",
)
def hidepid(facts: Facts, _policy: Policy) -> Verdict:
    mount = _mounted(facts, _PROC)
    if mount is None:
        raise Skip("No file system is mounted at /proc.")
    running = _hides(_options(mount))
    persisted = _hides(at_boot(facts, _PROC))
    exempt = "gid=" in f"{mount.options},{mount.super_options}"
    why = f"Now: {running or 'all are shown'}. {FSTAB}: {persisted or 'nothing'}."
    edit = Edit(FSTAB, what=f"remove hidepid from the line of /proc in {FSTAB}")
    remount = Run("mount", "-o", "remount,hidepid=0", _PROC, text="mount /proc again without it")
    return layered(
        persisted=Layer(persisted, WARN) if persisted else None,
        running=Layer(running or "hidepid=0", (WARN if exempt else FAIL) if running else PASS),
        advice=Advice(
            both=[edit, remount],
            persisted=[edit],
            running=[
                Ask(f"remove hidepid from the script that sets it: no line of {FSTAB} does"),
                remount,
            ],
        ),
        why=why + (" Members of the group gid= see all processes." if exempt else ""),
        desired="hidepid=0",
        evidence=EVIDENCE,
    )


def _hides(options: Sequence[str]) -> Optional[str]:
    last = ([""] + [option for option in options if option.startswith(_HIDEPID)])[-1]
    return None if last[len(_HIDEPID) :] in ("", "0", "off") else last


@rules.check(
    "space.boot",
    "/boot is mounted if fstab lists it",
    "/boot is listed in fstab but not mounted",
    severity="medium",
    takes_effect="now",
    why="A kernel or its command line that is written now lands in the directory below the mount "
    "point, and is lost after a reboot.",
    reference="fstab(5); Cluster Verification Utility, /boot mount",
)
def boot(facts: Facts, _policy: Policy) -> Verdict:
    options = at_boot(facts, _BOOT)
    if not options:
        raise Skip(f"{FSTAB} has no line for {_BOOT}.")
    is_mounted = _mounted(facts, _BOOT) is not None
    return Verdict(
        PASS if is_mounted or "noauto" in options else WARN,
        f"{FSTAB} lists {_BOOT} ({','.join(options)}), and nothing is mounted there.",
        fix="mount it before anything changes the kernel or its command line",
        commands=["mount /boot"],
        persisted=",".join(options),
        running="mounted" if is_mounted else "not mounted",
        evidence=EVIDENCE,
        failing_layer="running",
    )


DIRECTORY: Subjects[Facts, Policy, str] = Subjects(
    lambda _facts, _policy: DIRECTORIES,
    name=lambda path: path,
    evidence=lambda path: ("stat:" + path,),
)


@rules.check(
    "space.directories",
    "System directory has the owner and mode that Oracle needs",
    "System directory has another owner or mode than Oracle needs",
    severity="high",
    takes_effect="now",
    why="Clusterware and the listener keep their sockets in /var/tmp/.oracle, and the installer "
    "unpacks to /tmp. A missing sticky bit lets any user remove these files.",
    reference="hier(7); CVU, Path existence, ownership, permissions and attributes",
    each=DIRECTORY,
)
def directories(path: str, facts: Facts, _policy: Policy) -> Verdict:
    if path not in facts.directories or isinstance(facts.directories[path], Absent):
        mode = _desired(path).rpartition(" ")[2]
        step = Ask(f"create the directory {path} with owner root and mode {mode}")
        if path == _SHM:
            step = Ask(f"create the directory {path}, and mount a tmpfs there")
        return Verdict(
            FAIL,
            f"{path} does not exist.",
            advice=Advice([step]),
            desired=_desired(path),
            running="does not exist",
        )
    stat = known(facts.directories[path])
    shared = path != "/var"
    fits = stat.mode & _STICKY == _STICKY if shared else not stat.mode & _OTHERS_WRITE
    fits = fits and stat.mode & _EVERYBODY_READS == _EVERYBODY_READS
    mode = _desired(path).rpartition(" ")[2]
    steps: List[Step] = []
    if stat.uid != 0:
        steps.append(Run("chown", "root", path, text="set the owner"))
    if not fits:
        steps.append(Run("chmod", mode, path, text="set the mode"))
    return Verdict(
        FAIL if steps else PASS,
        f"{path} belongs to uid {stat.uid} and has mode {stat.mode:04o}.",
        advice=Advice(steps),
        desired=_desired(path),
        running=f"uid {stat.uid}, mode {stat.mode:04o}",
    )


def _desired(path: str) -> str:
    return "uid 0, mode 1777" if path != "/var" else "uid 0, mode 0755"
