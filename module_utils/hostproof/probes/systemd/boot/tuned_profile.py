# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The active profile of TuneD with all that it includes, and the commands of its scripts."""

import os.path
from typing import List, Optional, Sequence, Tuple

from ....collect.answer import Answer, attempt, if_known, known, unless_absent
from ....collect.host import Host
from ....errors import Absent, HostproofError, Unanswered
from ....parsers.kernel import kernel_cmdline
from ....parsers.shell import script_lines
from ....parsers.systemd import tuned
from .. import boot_scripts, boot_services
from ..boot_scripts import Command
from .model import NO_TUNED, Tuned

PROFILE_FOLDERS = ("/etc/tuned/profiles", "/etc/tuned", "/usr/lib/tuned/profiles", "/usr/lib/tuned")


def read_tuned(host: Host) -> Tuned:
    """The active profile with what it includes; none where TuneD is not started at boot."""
    active = attempt(host.read_text, "/etc/tuned/active_profile")
    if isinstance(active, Absent):
        return NO_TUNED
    names = tuned.active_profiles(known(active))
    is_chosen = bool(names) or _chooses_itself(host)
    if is_chosen and not _starts_tuned(host):
        # The file stays behind when the service is switched off.
        return NO_TUNED._replace(names=[name + " (tuned is not started at boot)" for name in names])
    if not names and is_chosen:
        raise Unanswered(
            "file:/etc/tuned/active_profile",
            "no profile of TuneD is set, so it takes the one that it recommends at its start: set "
            "one with tuned-adm profile, or none with tuned-adm off",
        )
    mode = attempt(_mode_of, host)
    if names and mode == "auto":
        names = _recommended(host)
    more = attempt(host.read_text, "/etc/tuned/post_loaded_profile")
    if not isinstance(more, HostproofError):
        names = names + tuned.active_profiles(more)
    if not names:
        return NO_TUNED._replace(known_whole=unless_unseen(more))
    main = unless_absent(attempt(host.read_text, "/etc/tuned/tuned-main.conf"), "")
    profiles: List[Tuple[str, tuned.Profile]] = []
    _load_profiles(host, names, tuned.folders(main, PROFILE_FOLDERS), profiles, [])
    units = tuned.merge(profiles)
    values = attempt(
        tuned.variables,
        units,
        lambda path: unless_absent(attempt(host.read_text, os.path.normpath(path)), None),
    )
    return Tuned(
        names=names,
        units=units,
        variables=values,
        reapply_sysctl=tuned.reapply_sysctl(main),
        machine=attempt(_read_machine, host, units),
        commands=attempt(_read_tuned_scripts, host, profiles, units),
        known_whole=mode if isinstance(mode, HostproofError) else unless_unseen(more),
    )


def unless_unseen(answer: Answer[str]) -> Answer[bool]:
    """True where a file was read or is not there; else its error."""
    return attempt(lambda: unless_absent(answer, "") is not None)


def _chooses_itself(host: Host) -> bool:
    """Whether TuneD without an active profile takes the one that it recommends."""
    # Without the file an empty profile counts as none chosen manually.
    return _mode_of(host) != "manual"


def _mode_of(host: Host) -> str:
    return str(unless_absent(attempt(host.read_text, "/etc/tuned/profile_mode"), "")).strip()


def _recommended(host: Host) -> List[str]:
    """The profile that TuneD takes at its start in the mode auto, whichever is active now."""
    argv = ["tuned-adm", "recommend"]
    output = host.run(argv)
    names = tuned.active_profiles(output.stdout)
    if output.rc or not names:
        raise Unanswered(
            "command:" + " ".join(argv),
            "TuneD takes the profile that it recommends at its start (profile_mode is auto), and "
            "tuned-adm recommend does not show one: set a profile with tuned-adm profile",
        )
    return names


def _load_profiles(
    host: Host,
    names: Sequence[str],
    folders: Sequence[str],
    profiles: List[Tuple[str, tuned.Profile]],
    loaded: List[str],
) -> None:
    """Included profiles first. A profile may include the profile with the same name in the next
    directory."""
    for name in names:
        pair = _read_profile(host, name, folders, loaded)
        if pair is None:
            continue
        path, profile = pair
        loaded.append(path)
        if any("${" in include for include in profile.includes):
            raise Unanswered("file:" + path, f"{path} includes a profile by a variable or function")
        _load_profiles(host, profile.includes, folders, profiles, loaded)
        profiles.append((path, profile))


def _read_machine(host: Host, units: Sequence[tuned.Unit]) -> str:
    """The uname string of TuneD, if a section matches it."""
    if not any("uname_regex" in unit.about for unit in units):
        return ""
    output = attempt(host.run, ["uname", "-snrvm"])
    if not isinstance(output, HostproofError) and output.rc == 0:
        return str(output.stdout.strip())
    # Enough for the usual regex, which names an architecture.
    release = host.read_text("/proc/sys/kernel/osrelease").strip()
    if release.rpartition(".")[2] in ("x86_64", "aarch64", "ppc64le", "s390x"):
        return "Linux {0} {1}".format(release, release.rpartition(".")[2])
    return str(known(output).stdout)


def _read_tuned_scripts(
    host: Host, profiles: Sequence[Tuple[str, tuned.Profile]], units: Sequence[tuned.Unit]
) -> List[Command]:
    """The commands of the scripts of every loaded profile, and of those that they call."""
    running = {unit.name for unit in units if unit.enabled}
    commands: List[Command] = []
    scripts: List[str] = []
    for path, profile in profiles:
        folder = path.rpartition("/")[0]
        for name, options in profile.sections.items():
            if name not in running:
                continue
            for option in ("script", "script_pre", "script_post"):
                if option in options:
                    script = options[option].replace("${i:PROFILE_DIR}", folder)
                    if "${" in script:
                        raise Unanswered("file:" + path, f"{path} runs a script by a variable")
                    script = os.path.normpath(os.path.join(folder, script))
                    text = unless_absent(
                        attempt(host.read_text, script, record=script_lines.kept), ""
                    )
                    commands.extend(boot_scripts.of_script(script, text, "TuneD"))
                    scripts.append(script)
    return commands + (boot_scripts.read_called(host, scripts, "TuneD") if scripts else [])


def _starts_tuned(host: Host) -> bool:
    """Whether the next reboot starts tuned.service (systemctl(1), is-enabled)."""
    output = host.run(["systemctl", "is-enabled", "tuned.service"])
    if not boot_services.is_enabled("tuned.service", output):
        return False
    cmdline = attempt(lambda: kernel_cmdline.parse(host.read_text("/proc/cmdline")))
    return not boot_services.why_idle(host, "tuned.service", if_known(cmdline, []))


def _read_profile(
    host: Host, name: str, folders: Sequence[str], loaded: Sequence[str]
) -> Optional[Tuple[str, tuned.Profile]]:
    """None where it is loaded already, or is not there and may be missing (-NAME)."""
    missing = None
    is_loaded = False
    for folder in folders:
        path = "{0}/{1}/tuned.conf".format(folder, name.lstrip("-").rpartition("/")[2])
        if path in loaded:
            is_loaded = True
            continue
        text = attempt(host.read_text, path)
        if not isinstance(text, Absent):
            return path, tuned.parse_profile(known(text), path)
        missing = missing or text
    if is_loaded or name.startswith("-"):
        return None
    raise Absent(
        missing.key if missing else name,
        f"tuned's active profile {name} is in none of its directories; set one with tuned-adm",
    )
