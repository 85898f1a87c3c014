# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the next boot will set: every place that can hold a kernel setting, in the order of boot.

Sources: sysctl.d(5) and tmpfiles.d(5) of systemd; tuned-main.conf(5) (``reapply_sysctl``);
sysctl(8) of procps for hosts without systemd; kernel-parameters.rst (``sysctl.*``).
"""

from typing import Dict, List, NamedTuple, Optional, Sequence, Tuple

from ..answer import Answer, attempt, known, unless_absent
from ..errors import Absent, Unanswered
from ..host import Host
from ..parsers import kernel_cmdline, sysctl_d, tmpfiles_d, tuned

SYSCTL_CONF = "/etc/sysctl.conf"
RC_LOCAL = ("/etc/rc.local", "/etc/rc.d/rc.local")
PROFILE_FOLDERS = ("/etc/tuned/profiles", "/etc/tuned", "/usr/lib/tuned/profiles", "/usr/lib/tuned")


class Setting(NamedTuple):
    """A value and the place that gives it, for people: "/etc/sysctl.d/97-oracle.conf:3"."""

    value: str
    place: str


class SysctlTree(NamedTuple):
    """What sysctl reads at boot (``assignments``, in order) and what it does not read."""

    assignments: List[sysctl_d.Assignment]
    unread: List[sysctl_d.Assignment]


class Tuned(NamedTuple):
    """The active tuned profile with everything it includes, nearest first."""

    names: List[str]
    profiles: List[Tuple[str, tuned.Profile]]
    reapply_sysctl: bool

    def option(self, section, names):
        # type: (str, Sequence[str]) -> Optional[Setting]
        """The value that the profile sets, or None. The including profile wins."""
        for path, profile in self.profiles:
            for name in names:
                if name in profile.sections.get(section, {}):
                    value = profile.sections[section][name]
                    return Setting(value, "tuned profile {0}".format(path))
        return None


class Boot(NamedTuple):
    """Everything that can set a kernel value at boot; unknown parts hold their error."""

    sysctl: Answer[SysctlTree]
    cmdline: Answer[List[Tuple[str, Optional[str]]]]
    tmpfiles: Answer[List[tmpfiles_d.Entry]]
    tuned: Answer[Tuned]
    rc_local: Answer[Dict[str, str]]


def read_boot(host):
    # type: (Host) -> Boot
    return Boot(
        sysctl=attempt(_read_sysctl, host),
        cmdline=attempt(lambda: kernel_cmdline.parse(host.read_text("/proc/cmdline"))),
        tmpfiles=attempt(_read_tmpfiles, host),
        tuned=attempt(read_tuned, host),
        rc_local=attempt(_read_rc_local, host),
    )


def with_sysctl_file(boot, path, text):
    # type: (Boot, str, str) -> Boot
    """What boot would set if the file at ``path`` held ``text``: a plan must know if it wins."""
    tree = known(boot.sysctl)
    others = [assignment for assignment in tree.assignments if assignment.path != path]
    changed = sorted(
        others + list(sysctl_d.parse(text, path).assignments),
        key=lambda assignment: (
            assignment.path == SYSCTL_CONF,
            assignment.path.rsplit("/", 1)[-1],
        ),
    )
    return boot._replace(sysctl=SysctlTree(changed, tree.unread))


class SysctlAtBoot(NamedTuple):
    """``winner`` is None where nothing sets the key. ``losers`` say why they lose."""

    winner: Optional[Setting]
    losers: List[str]


def sysctl_at_boot(boot, key):
    # type: (Boot, str) -> SysctlAtBoot
    """The value of a sysctl key after boot, with the place that wins.

    In the order of boot: ``sysctl.KEY=`` on the kernel command line, sysctl.d, tmpfiles.d
    writes, tuned (unless it applies sysctl.d again), rc.local. Raises what is unknown.
    """
    tree = known(boot.sysctl)
    resolution = sysctl_d.resolve(tree.assignments, key)
    candidates = []  # type: List[Setting]
    from_kernel = kernel_cmdline.last(known(boot.cmdline), "sysctl." + key)
    if from_kernel is not None:
        candidates.append(Setting(from_kernel, "kernel command line sysctl." + key))
    from_sysctl = _setting(resolution.winner)
    if from_sysctl is not None:
        candidates.append(from_sysctl)
    candidates.extend(
        Setting(entry.argument or "", "{0}:{1}".format(entry.path, entry.line))
        for entry in tmpfiles_d.writes(known(boot.tmpfiles), "/proc/sys/" + key.replace(".", "/"))
    )
    candidates.extend(_from_tuned(known(boot.tuned), key, from_sysctl))
    candidates.extend(rc_local_lines(boot, [key, key.replace(".", "/")]))
    overruled = [_setting(assignment) for assignment in resolution.losers] + candidates[:-1]
    losers = ["{0} = {1}".format(one.place, one.value) for one in overruled if one is not None]
    unread = sysctl_d.resolve(tree.unread, key)
    for ignored in [_setting(one) for one in list(unread.losers) + [unread.winner]]:
        if ignored is not None:
            losers.append("{0} = {1} (not read at boot)".format(ignored.place, ignored.value))
    return SysctlAtBoot(candidates[-1] if candidates else None, losers)


def _setting(assignment):
    # type: (Optional[sysctl_d.Assignment]) -> Optional[Setting]
    """An assignment with its place; None where there is none, or one that only excludes a key."""
    if assignment is None or assignment.value is None:
        return None
    return Setting(assignment.value, "{0}:{1}".format(assignment.path, assignment.line))


def _from_tuned(active, key, from_sysctl):
    # type: (Tuned, str, Optional[Setting]) -> List[Setting]
    setting = active.option("sysctl", [key])
    if setting is None:
        return []
    if active.reapply_sysctl and from_sysctl is not None:
        return [setting, from_sysctl]
    return [setting]


def rc_local_lines(boot, names):
    # type: (Boot, Sequence[str]) -> List[Setting]
    """Lines of rc.local that hold any of the names: a shell script, so its value is only quoted."""
    return [
        Setting("'{0}'".format(line.strip()), "{0}:{1}".format(path, number))
        for path, text in sorted(known(boot.rc_local).items())
        for number, line in enumerate(text.splitlines(), 1)
        if not line.lstrip().startswith("#") and any(name in line for name in names)
    ]


def _read_sysctl(host):
    # type: (Host) -> SysctlTree
    paths = conf_files(host, sysctl_d.DIRECTORIES)
    read = sysctl_d.effective_files(paths)
    assignments = []  # type: List[sysctl_d.Assignment]
    real_paths = set()
    for path in read:
        text = _text_of_link(host, path)
        if text is None:
            continue
        real_paths.add(host.real_path(path))
        assignments.extend(sysctl_d.parse(text, path).assignments)
    own = unless_absent(attempt(host.read_text, SYSCTL_CONF), "")
    rest = sysctl_d.parse(own, SYSCTL_CONF).assignments
    if SYSCTL_CONF in real_paths:
        return SysctlTree(assignments, [])
    if unless_absent(attempt(host.list_dir, "/run/systemd/system"), None) is None:
        # Without systemd the boot scripts run procps' sysctl, which reads this file last.
        return SysctlTree(assignments + rest, [])
    return SysctlTree(assignments, rest)


def _read_tmpfiles(host):
    # type: (Host) -> List[tmpfiles_d.Entry]
    paths = tmpfiles_d.effective_files(conf_files(host, tmpfiles_d.DIRECTORIES))
    entries = []  # type: List[tmpfiles_d.Entry]
    for path in paths:
        entries.extend(tmpfiles_d.parse(_text_of_link(host, path) or "", path))
    return entries


def conf_files(host, folders):
    # type: (Host, Sequence[str]) -> List[str]
    """Every *.conf of the folders; a folder that is another folder's link is read once."""
    found = []  # type: List[str]
    seen = set()
    for folder in folders:
        names = unless_absent(attempt(host.list_dir, folder), [])
        if not names:
            continue
        real = host.real_path(folder)
        if real not in seen:
            seen.add(real)
            found.extend("{0}/{1}".format(folder, name) for name in names if name.endswith(".conf"))
    return found


def _text_of_link(host, path):
    # type: (Host, str) -> Optional[str]
    """The text of a listed file, or None where a dangling link leads nowhere (systemd skips it)."""
    text = attempt(host.read_text, path)
    return None if isinstance(text, Absent) else str(known(text))


def read_tuned(host):
    # type: (Host) -> Tuned
    """The active profile with what it includes; none where TuneD is not started at boot."""
    active = attempt(host.read_text, "/etc/tuned/active_profile")
    if isinstance(active, Absent):
        return Tuned([], [], True)
    names = tuned.active_profiles(known(active))
    if names and not _starts_tuned(host):
        # The file stays behind when the service is switched off.
        return Tuned([name + " (tuned is not started at boot)" for name in names], [], True)
    main = unless_absent(attempt(host.read_text, "/etc/tuned/tuned-main.conf"), "")
    profiles = []  # type: List[Tuple[str, tuned.Profile]]
    waiting = list(reversed(names))
    seen = set()
    while waiting:
        name = waiting.pop(0)
        if name in seen:
            continue
        seen.add(name)
        path, profile = _read_profile(host, name)
        profiles.append((path, profile))
        waiting.extend(reversed(profile.includes))
    return Tuned(names, profiles, tuned.reapply_sysctl(main))


def _starts_tuned(host):
    # type: (Host) -> bool
    """Whether the next boot starts tuned.service (systemctl(1), is-enabled)."""
    argv = ["systemctl", "is-enabled", "tuned.service"]
    output = host.run(argv)
    state = output.stdout.strip()
    if output.rc == 0:
        return True
    if state in ("disabled", "masked", "masked-runtime", "not-found") or (
        not state and "No such file" in output.stderr
    ):
        return False
    raise Unanswered(
        "command:" + " ".join(argv),
        "systemctl answered {0!r} about tuned.service".format(state or output.stderr.strip()),
    )


def _read_profile(host, name):
    # type: (Host, str) -> Tuple[str, tuned.Profile]
    missing = None
    for folder in PROFILE_FOLDERS:
        path = "{0}/{1}/tuned.conf".format(folder, name)
        text = attempt(host.read_text, path)
        if not isinstance(text, Absent):
            return path, tuned.parse_profile(known(text), path)
        missing = missing or text
    raise Absent(
        missing.key if missing else name,
        "tuned's active profile {0} is in none of its folders; set one with tuned-adm".format(name),
    )


def _read_rc_local(host):
    # type: (Host) -> Dict[str, str]
    """The rc.local scripts that a boot would run: those that are executable."""
    scripts = {}  # type: Dict[str, str]
    real_paths = set()
    for path in RC_LOCAL:
        found = attempt(host.stat, path)
        if isinstance(found, Absent) or not known(found).mode & 0o100:
            continue
        real = host.real_path(path)
        if real not in real_paths:
            real_paths.add(real)
            scripts[path] = host.read_text(path)
    return scripts
