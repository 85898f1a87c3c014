# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Start files of a login, and the central inventory."""

import re
from typing import Dict, List, Tuple

from ...collect.answer import known
from ...errors import Absent, Unanswered
from ...evaluate.checking import Rules, Verdict, failing, known_or_skip
from ...evaluate.finding import FAIL, PASS, WARN
from ...probes.oracle import time_zones
from .facts import LOGIN_DEFS, Facts, Owner
from .parsers.shell_profile import COMPUTED, Settings
from .policy import NAME, OINSTALL, Policy, wanted
from .subjects import OWNERS, entry_of

rules = Rules(NAME)

_GUIDE = "Oracle Database Installation Guide for Linux, "
_WANTED = 0o022
#: A login of bash reads the first of these that exists, one of the other shells only the last.
_LOGIN_FILES = (".bash_profile", ".bash_login", ".profile")
_PROFILE_ONLY = ("", "sh", "dash", "ksh", "ksh93", "mksh")
_NOT_READ = ("csh", "tcsh", "zsh", "fish")


def _octal(text: str) -> int:
    """The mask; -1 for a symbolic one that does not set all rights of owner, group and others."""
    if text.isdecimal():
        return int(text, 8)
    rights: Dict[str, str] = {}
    for part in text.split(","):
        match = re.match(r"([ugoa]+)=([rwx]*)\Z", part)
        if match is None:
            return -1
        rights.update(dict.fromkeys(match.group(1).replace("a", "ugo"), match.group(2)))
    if len(rights) < len("ugo"):
        return -1
    masks = [7 - sum(4 >> "rwx".index(right) for right in set(rights[who])) for who in "ugo"]
    return int("".join(map(str, masks)), 8)


def _key(path: str) -> str:
    return "file:" + path if path.startswith("/etc/") else "command:cat " + path


def _own(owner: Owner) -> Dict[str, Settings]:
    """The start files that a login of the account reads, in order."""
    read: Dict[str, Settings] = {}
    shell = entry_of(owner).passwd.shell.rpartition("/")[2]
    if shell in _NOT_READ:
        raise Unanswered(f"command:getent passwd {owner.name}", f"start files of {shell} decide")
    for path, answer in owner.own.items():
        name = path.rpartition("/")[2]
        if shell in _PROFILE_ONLY and name != ".profile":
            continue
        if name in _LOGIN_FILES and any(other.endswith(_LOGIN_FILES) for other in read):
            continue
        read[path] = known(answer)
    return read


def _masks(owner: Owner, facts: Facts) -> Tuple[str, List[str]]:
    """The file that decides the umask, and the masks in it. The account's own files win."""
    entry = entry_of(owner)
    for path, settings in _own(owner).items():
        if settings.umasks:
            return path, list(settings.umasks)
    masks: List[str] = []
    source = ""
    has_own_group = entry.groups[:1] == (owner.name,)
    for path, answer in known(facts.system).items():
        umasks = list(known(answer).umasks)
        if {"002", "022"} <= {mask.zfill(3) for mask in umasks} and not has_own_group:
            # The stock files of Red Hat: 002 is for a primary group named like the account.
            umasks = [mask for mask in umasks if mask.zfill(3) != "002"]
        if umasks:
            source, masks = path, masks + umasks
    return (source, masks) if masks else (LOGIN_DEFS, [known(facts.default_umask)[has_own_group]])


@rules.check(
    "accounts.umask",
    "umask is 022 at login and in the running instance",
    "umask is not 022 at login or in the running instance",
    severity="medium",
    takes_effect="instance_restart",
    why="Files that Oracle creates are closed to other owners, or writable by all accounts.",
    reference=_GUIDE + "Configuring Oracle Installation Owner Environments; CVU User Mask",
    each=OWNERS,
)
def umask(owner: Owner, facts: Facts, _policy: Policy) -> Verdict:
    source, masks = _masks(owner, facts)
    running = [known(process) for process in owner.running]
    shown = [(process.name, process.umask) for process in running if process.umask is not None]
    wrong = [f"{name} has {mask}" for name, mask in shown if _octal(mask) != _WANTED]
    values = {_octal(mask) for mask in masks}
    problems = list(wrong)
    if values != {_WANTED}:
        problems.append(f"{source} sets umask {', '.join(dict.fromkeys(masks))}")
    status = PASS
    if problems:
        unclear = not wrong and (_WANTED in values or -1 in values)
        status = WARN if unclear else FAIL
    in_use = ", ".join(f"{name} {mask}" for name, mask in shown)
    if running and not shown:
        in_use = "not shown by this kernel (before 4.7)"
    return Verdict(
        status,
        ("; ".join(problems) or f"{source} gives 022") + ".",
        fix=f"write the line umask 022 into ~{owner.name}/.bash_profile, then restart the instance "
        "from a new login",
        desired="022",
        persisted=f"{', '.join(masks)} ({source})",
        in_use=in_use or None,
        evidence=[_key(source), "processes:oracle"],
        failing_layer=failing(in_use=bool(wrong), persisted=True),
    )


@rules.check(
    "accounts.environment",
    "Start files set no variable that breaks an installation",
    "Start files set variables that can break an installation",
    severity="medium",
    takes_effect="login",
    why="A variable of another home makes the installer and tools use that home's files. With "
    "another TZ, an instance that is started from this account has another local time.",
    reference=_GUIDE + "unset ORACLE_HOME and others; ORAchk ORA_CRS_HOME, GI/CRS software owner "
    "time zone",
    each=OWNERS,
)
def environment(owner: Owner, facts: Facts, _policy: Policy) -> Verdict:
    entry_of(owner)
    files = {**{path: known(answer) for path, answer in known(facts.system).items()}, **_own(owner)}
    variables = {name: path for path, profile in files.items() for name in profile.variables}
    listed = ", ".join(f"{name} ({path})" for name, path in sorted(variables.items()))
    # Once software is there these variables are custom. ORA_CRS_HOME is never right.
    ahead = isinstance(facts.inventory, Absent)
    status = PASS
    if "ORA_CRS_HOME" in variables:
        status = FAIL
    elif variables and ahead:
        status = WARN
    zone, problem = ("", "") if status == FAIL else _zone(files, facts)
    why = f"Set: {listed}." if variables else "None of the variables is set."
    return Verdict(
        WARN if problem else status,
        f"{problem} {why}" if problem else why,
        fix="remove ORA_CRS_HOME, and a TZ that differs; unset the others before you start the "
        "installer",
        desired="ORA_CRS_HOME never; no variable of Oracle before an installation; no other TZ",
        persisted=", ".join(text for text in (listed, zone) if text) or "none",
    )


def _zone(files: Dict[str, Settings], facts: Facts) -> Tuple[str, str]:
    """TZ of a login, and its problem. The last file that sets it decides."""
    path, zones = next(
        (
            (path, settings.zones)
            for path, settings in reversed(list(files.items()))
            if settings.zones
        ),
        ("", ()),
    )
    if not zones:
        return "", ""
    if COMPUTED in zones:
        raise Unanswered(_key(path), f"{path} sets TZ to a value that only the shell knows")
    system, clusterware = known(facts.zones)
    expected = {"the system": system}
    if clusterware not in (None, time_zones.NOT_SET):
        expected["Clusterware"] = str(clusterware)
    shown = f"TZ={', '.join(dict.fromkeys(zones))} ({path})"
    names = {_name_of(zone, system) for zone in zones}
    others = [
        f"{who} has {zone}" for who, zone in expected.items() if names != {_name_of(zone, system)}
    ]
    return shown, f"{shown}, and {' and '.join(others)}." if others else ""


def _name_of(zone: str, system: str = "") -> str:
    """The zone by its name in the database (tzset(3)): empty is UTC, a path is allowed."""
    text = zone.lstrip(":")
    if text == time_zones.SYSTEM:
        return _name_of(system)
    name = text.rpartition("/zoneinfo/")[2]
    return (name[4:] if name.startswith("Etc/") else name) or "UTC"


@rules.check(
    "accounts.inventory",
    "Central inventory is usable and lists the Grid home",
    "Central inventory is not usable or does not list the Grid home",
    severity="high",
    takes_effect="now",
    why="Installer, OPatch and CVU do not find homes, or cannot write to the inventory.",
    reference=_GUIDE + "The Oracle Inventory Directory; CVU PRVH-01508",
)
def inventory(facts: Facts, policy: Policy) -> Verdict:
    location = known_or_skip(facts.inventory)
    groups = {account.group for account in wanted(policy)} or {OINSTALL}
    owners = [owner for owner in known(facts.owners) if not isinstance(owner.entry, Absent)]
    problems: List[str] = []
    hints: List[str] = []
    if any(ord(character) > 127 for character in location.path):
        problems.append("its path has characters that are not ASCII")
    if not location.group:
        problems.append(f"{location.file} has no inst_group")
    elif location.group not in groups:
        (problems if wanted(policy) else hints).append(
            f"inst_group is {location.group}, not {' or '.join(sorted(groups))}"
        )
    if isinstance(location.directory, Absent):
        problems.append(f"{location.path} does not exist")
        state = "missing"
    else:
        uid, gid, mode = known(location.directory)
        state = f"uid {uid}, gid {gid}, mode {mode:o}"
        if mode & 0o002:
            problems.append(f"{location.path} is writable by all accounts")
        entries = [entry_of(owner) for owner in owners]
        by_group = any(gid in (entry.passwd.gid, *entry.gids) for entry in entries)
        by_owner = any(uid == entry.passwd.uid for entry in entries)
        if entries and not (by_owner and mode & 0o200 or by_group and mode & 0o020):
            problems.append(f"no Oracle account may write to {location.path}")
    grid = known(location.grid_home)
    if grid is not None and grid not in known(location.listed):
        problems.append(f"the inventory does not list the Grid home {grid}")
    status = WARN if hints else PASS
    return Verdict(
        FAIL if problems else status,
        ("; ".join(problems + hints) or f"{location.path} is owned and listed as it should be")
        + ".",
        fix="correct oraInst.loc or the owner of the directory; attach a missing home with "
        "runInstaller -attachHome",
        desired=f"inst_group {' or '.join(sorted(groups))}, a directory writable by the owners",
        persisted=f"{location.path}, inst_group {location.group or 'none'}, {state}",
        evidence=["file:" + location.file, "command:stat -L -c %u %g %a " + location.path],
    )
