# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Start files of a login, and the central inventory."""

import re
from typing import Dict, List, Optional, Tuple

from ...collect.answer import Answer, attempt, if_known, known
from ...errors import Absent, HostproofError, Unanswered
from ...evaluate.advice import Advice, Ask, Edit, Step
from ...evaluate.checking import Layer, Rules, Skip, Verdict, by_layers, known_or_skip, layered
from ...evaluate.finding import FAIL, PASS, WARN, status_for
from ...probes.oracle import time_zones
from . import login
from .facts import LOGIN_DEFS, PASSWD, Entry, Facts, Inventory, Owner, Running, gecos_mask
from .login import Start
from .pam_masks import with_own_group
from .parsers.shell_profile import COMPUTED, Settings
from .policy import NAME, OINSTALL, Policy, wanted
from .subjects import OWNERS, entry_of

rules: Rules[Facts, Policy] = Rules(NAME)

_GUIDE = "Oracle Database Installation Guide for Linux, "
_WANTED = 0o022


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


def _start(owner: Owner, facts: Facts) -> Start:
    """Raises for a shell whose start files are not read."""
    entry = entry_of(owner)
    shell = entry.passwd.shell.rpartition("/")[2]
    if shell in login.NOT_READ:
        raise Unanswered(f"command:getent passwd {owner.name}", f"start files of {shell} decide")
    return Start(
        entry.passwd.home,
        shell,
        entry.groups[:1] == (owner.name,),
        known(facts.system),
        owner.own,
        owner.listed,
    )


def _masks(owner: Owner, facts: Facts) -> List[Tuple[str, str]]:
    """The umasks that a login can end with, each with the place that sets it."""
    start = _start(owner, facts)
    result = login.of_login(start)
    if result.mask_unknown is not None:
        raise result.mask_unknown
    found = list(result.masks)
    if result.is_set:
        return found
    entry = entry_of(owner)
    mask = gecos_mask(entry)
    if mask is not None:
        return [*found, (mask, f"umask= of {owner.name} in {PASSWD}")]
    default = known(facts.default_umask)[start.has_own_group]
    by_module = known(facts.pam_masks)
    if not by_module:
        return [*found, (default, LOGIN_DEFS)]
    for path, module_mask, usergroups in by_module:
        place = LOGIN_DEFS if module_mask is None else path
        mask = module_mask or default
        found.append((with_own_group(mask) if usergroups and start.has_own_group else mask, place))
    return list(dict.fromkeys(found))


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
    entry_of(owner)
    decided = attempt(_masks, owner, facts)
    masks: List[Tuple[str, str]] = if_known(decided, [])
    values = {_octal(mask) for mask, _place in masks}
    status = PASS
    if values - {_WANTED}:
        status = WARN if values & {_WANTED, -1} else FAIL
    in_use, wrong = _umasks_in_use(owner)
    problems = [f"{name} has {mask}" for name, mask in wrong]
    by_place: Dict[str, List[str]] = {}
    for mask, place in masks:
        by_place.setdefault(place, []).append(mask)
    problems += [
        f"{place} sets umask {', '.join(dict.fromkeys(set_here))}"
        for place, set_here in by_place.items()
        if status != PASS
    ]
    text = "; ".join(f"{', '.join(set_here)} ({place})" for place, set_here in by_place.items())
    steps = _umask_steps(owner, by_place)
    names = ", ".join(name for name, _mask in wrong)
    again = Ask(
        f"set UMask=0022 in the unit that starts {names}, if one does, and restart its instance or "
        f"listener from that unit or a new login of {owner.name}"
    )
    return layered(
        persisted=Layer(
            decided if isinstance(decided, HostproofError) else text, status, "umask of a login"
        ),
        in_use=Layer(in_use, status_for(wrong), "umask of an instance") if owner.running else None,
        why=("; ".join(problems) or f"{', '.join(by_place)} gives 022") + ".",
        advice=Advice(both=steps, persisted=steps, in_use=[again]),
        desired="022",
        evidence=[*map(_key, by_place), "processes:oracle"],
    )


def _umasks_in_use(owner: Owner) -> Tuple[Answer[str], List[Tuple[str, str]]]:
    """The text of the layer, and the instances with another umask."""
    running = [process for process in owner.running if isinstance(process, Running)]
    unread = next((one for one in owner.running if isinstance(one, HostproofError)), None)
    shown = [(process.name, process.umask) for process in running if process.umask is not None]
    wrong = [(name, mask) for name, mask in shown if _octal(mask) != _WANTED]
    if unread is not None and not wrong:
        return unread, wrong
    if running and not shown:
        return "not shown by this kernel (before 4.7)", wrong
    return ", ".join(f"{name} {mask}" for name, mask in shown), wrong


def _umask_steps(owner: Owner, by_place: Dict[str, List[str]]) -> List[Step]:
    """What the login needs: the line in the file that decides, or one in the file of the account
    that is read first."""
    if not isinstance(owner.entry, Entry):
        return []
    own = [
        place
        for place, masks in by_place.items()
        if place in owner.own and {_octal(mask) for mask in masks} != {_WANTED}
    ]
    if own:
        return [Edit(place, what=f"set umask 022 in {place}") for place in own]
    shell = owner.entry.passwd.shell.rpartition("/")[2]
    start = Start(owner.entry.passwd.home, shell, False, {}, owner.own)
    path = login.first_of(start)
    return [Edit(path, what=f"add the line umask 022 at the end of {path}")]


def _key(place: str) -> str:
    return login.key_of(place if place.startswith("/") else PASSWD)


@rules.check(
    "accounts.silent_start",
    "Start files print nothing in a session without a terminal",
    "Start files print text in a session without a terminal",
    severity="high",
    takes_effect="login",
    why="bash reads .bashrc for each command over ssh. Text that it prints breaks scp and the ssh "
    "checks of the installer (INS-06006, PRVF-5428).",
    reference=_GUIDE + "Preventing Installation Errors Caused by Terminal Output Commands",
    each=OWNERS,
)
def silent_start(owner: Owner, facts: Facts, _policy: Policy) -> Verdict:
    start = _start(owner, facts)
    if start.shell in login.PROFILE_ONLY:
        raise Skip(f"{start.shell or 'sh'} reads no start file for a command over ssh.")
    result = login.of_command(start)
    found = _programs(result)
    text = "; ".join(f"{path} runs {names}" for path, names in found.items())
    is_sure = any(step.is_sure for step, _path in result.prints)
    unknown = _not_read(result)
    return layered(
        persisted=Layer(text, status_for(is_sure, found))
        if found
        else Layer(unknown or "prints nothing", PASS, "start files"),
        also=[("start files", unknown)],
        why=text + ("." if is_sure else " under a condition."),
        advice=Advice(
            persisted=[
                Edit(path, what=f"put {names} in {path} between 'if [ -t 0 ]; then' and 'fi'")
                for path, names in found.items()
            ]
        ),
        desired="no output without a terminal",
        evidence=[_key(path) for path in found or (f"{start.home.rstrip('/')}/.bashrc",)],
    )


def _programs(result: login.Login) -> Dict[str, str]:
    """The programs that print, by the file that runs them."""
    found: Dict[str, List[str]] = {}
    for step, path in result.prints:
        found.setdefault(path, []).append(step.value)
    return {path: ", ".join(dict.fromkeys(names)) for path, names in found.items()}


def _not_read(result: login.Login) -> Optional[HostproofError]:
    """The reason that a start file was not read whole; None without one."""
    for path, settings in result.files.items():
        if not settings.is_whole:
            return Unanswered(_key(path), f"the recording has only the settings of {path}")
    return result.unread


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
    start = _start(owner, facts)
    # A command over ssh has the variables of other files, and a login those of the last one.
    results = [login.of_login(start)]
    if start.shell not in login.PROFILE_ONLY:
        results.insert(0, login.of_command(start))
    files: Dict[str, Settings] = {}
    for result in results:
        files = {path: one for path, one in files.items() if path not in result.files}
        files.update(result.files)
    variables = {name: path for path, profile in files.items() for name in profile.variables}
    listed = ", ".join(f"{name} ({path})" for name, path in sorted(variables.items()))
    # Once software is there these variables are custom. ORA_CRS_HOME is never right.
    ahead = isinstance(facts.inventory, Absent)
    status = status_for("ORA_CRS_HOME" in variables, variables and ahead)
    zone, problem = ("", "") if status == FAIL else _zone(files, facts)
    why = f"Set: {listed}." if variables else "None of the variables is set."
    verdict = Verdict(
        WARN if problem else status,
        f"{problem} {why}".lstrip(),
        advice=Advice(_environment_steps(variables, status, zone if problem else "")),
        desired="ORA_CRS_HOME never; no variable of Oracle before an installation; no other TZ",
        persisted=", ".join(text for text in (listed, zone) if text) or "none",
    )
    return by_layers(verdict, [("start files", result.unread) for result in results])


def _environment_steps(variables: Dict[str, str], status: str, zone: str) -> List[Step]:
    steps: List[Step] = []
    crs = variables.get("ORA_CRS_HOME")
    if crs is not None:
        steps.append(Edit(crs, what=f"remove ORA_CRS_HOME from {crs}"))
    elif status == WARN:
        names = " ".join(sorted(variables))
        steps.append(Ask(f"unset the variables before you start the installer (unset {names})"))
    if zone:
        path = zone.rpartition("(")[2].rstrip(")")
        steps.append(Edit(path, what=f"remove TZ from {path}, or correct the zone that differs"))
    return steps


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
    if re.search(r"[^\x00-\x7f]", location.path):
        problems.append("its path has characters that are not ASCII")
    if not location.group:
        problems.append(f"{location.file} has no inst_group")
    elif location.group not in groups:
        (problems if wanted(policy) else hints).append(
            f"inst_group is {location.group}, not {' or '.join(sorted(groups))}"
        )
    state, faults = _judged_directory(location, owners)
    problems += faults
    grid = known(location.grid_home)
    if grid is not None and grid not in known(location.listed):
        problems.append(f"the inventory does not list the Grid home {grid}")
    return Verdict(
        status_for(problems, hints),
        ("; ".join(problems + hints) or f"{location.path} is owned and listed as it should be")
        + ".",
        advice=Advice(_inventory_steps(location, problems + hints, grid)),
        desired=f"inst_group {' or '.join(sorted(groups))}, a directory writable by the owners",
        persisted=f"{location.path}, inst_group {location.group or 'none'}, {state}",
        evidence=["file:" + location.file, "command:stat -L -c %u %g %a " + location.path],
    )


def _judged_directory(location: Inventory, owners: List[Owner]) -> Tuple[str, List[str]]:
    """The state of the directory, and its faults."""
    path = location.path
    if isinstance(location.directory, Absent):
        return "missing", [f"{path} does not exist"]
    uid, gid, mode = known(location.directory)
    faults = [f"{path} is writable by all accounts"] if mode & 0o002 else []
    entries = [entry_of(owner) for owner in owners]
    by_group = any(gid in (entry.passwd.gid, *entry.gids) for entry in entries)
    by_owner = any(uid == entry.passwd.uid for entry in entries)
    if entries and not (by_owner and mode & 0o200 or by_group and mode & 0o020):
        faults.append(f"no Oracle account may write to {path}")
    return f"uid {uid}, gid {gid}, mode {mode:o}", faults


def _inventory_steps(location: Inventory, problems: List[str], grid: Optional[str]) -> List[Step]:
    """A step for each kind of problem."""
    text = "; ".join(problems)
    steps: List[Step] = []
    if "inst_group" in text:
        steps.append(Edit(location.file, what=f"correct inst_group in {location.file}"))
    if "ASCII" in text or "does not exist" in text:
        what = f"correct inventory_loc in {location.file}, or restore that directory from a backup"
        steps.append(Edit(location.file, what=what))
    if "writable by all" in text or "may write" in text:
        steps.append(
            Ask(
                f"correct owner, group and mode of {location.path} (mode 0770, with the group of "
                f"{location.file})"
            )
        )
    if "Grid home" in text:
        steps.append(Ask(f"attach {grid} to the inventory as its owner (runInstaller -attachHome)"))
    return steps
