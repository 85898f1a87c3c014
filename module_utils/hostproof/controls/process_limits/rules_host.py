# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What takes away what a running database needs: logind its IPC objects, a cleaner its sockets."""

from typing import List, Optional

from ...collect.answer import if_known, known, unless_absent
from ...errors import Absent
from ...evaluate.checking import Judged, Rules, Skip, Verdict, judged
from ...evaluate.finding import FAIL, PASS, WARN
from ...parsers import glob_pattern
from ...parsers.systemd import systemd_unit, tmpfiles_d
from .facts import CLEANER, LOGIND, REMOVE_IPC, Facts
from .policy import NAME, Policy
from .subjects import accounts_of

rules = Rules(NAME)

#: The highest uid that most builds of systemd take for an account of the system.
_SYSTEM = 999
#: Where Oracle's software keeps its sockets; /usr/tmp is a link to /var/tmp where it is.
SOCKETS = ("/tmp/.oracle", "/var/tmp/.oracle")
#: Types of tmpfiles.d whose lines have an age that counts for what lies in the folder.
_AGED = "dDevqQ"


@rules.check(
    "process_limits.remove_ipc",
    "systemd-logind keeps IPC objects when a session ends",
    "RemoveIPC of systemd-logind is on",
    severity="critical",
    takes_effect="reboot",
    why="The end of the account's last session removes the semaphores of its instances, which "
    "then fail (ORA-27157, ORA-27300: semop failed with status 43).",
    reference="logind.conf(5), RemoveIPC=; MOS 2081410.1",
)
def remove_ipc(facts: Facts, policy: Policy) -> Verdict:
    if isinstance(facts.remove_ipc, Absent):
        raise Skip("There is no logind here: systemd does not run, or there is no busctl.")
    now = known(facts.remove_ipc)
    setting = systemd_unit.last(known(facts.logind), "Login", "RemoveIPC")
    coming = None if setting is None else _boolean(setting.value)
    at_risk = [one.name for one in accounts_of(facts, policy) if one.uid > _SYSTEM]
    built = _built_in(facts)
    wrong = [f"logind has {now}"] if now == "yes" else []
    if coming == "yes" or (coming is None and built == "yes"):
        wrong.append("the next boot sets yes")
    status = PASS
    if wrong:
        status = FAIL if at_risk else WARN
    elif coming is None and built is None:
        status = WARN
        wrong.append("no file sets it, so the next boot has what systemd was built with")
    return Verdict(
        status,
        why=f"{'; '.join(wrong)}; it is about {', '.join(at_risk) or 'no account yet'}.",
        fix="write '[Login]' and 'RemoveIPC=no' to /etc/systemd/logind.conf.d/oracle.conf and "
        "restart the host; until then no session of the account should end",
        desired="no",
        persisted=_persisted(setting, built),
        running=now,
        evidence=["command:" + " ".join(REMOVE_IPC), "file:" + LOGIND],
    )


def _boolean(text: str) -> str:
    return "yes" if text.lower() in ("1", "yes", "y", "true", "t", "on") else "no"


def _built_in(facts: Facts) -> Optional[str]:
    """A package's file shows what is built in as a comment; its own head says so."""
    for line in unless_absent(facts.logind_text, "").split("\n"):
        name, equals, value = line.lstrip("# ").partition("=")
        if line.startswith("#") and name == "RemoveIPC" and equals:
            return _boolean(value.strip())
    return None


def _persisted(setting: Optional[systemd_unit.Assignment], built: Optional[str]) -> str:
    if setting is not None:
        return f"{_boolean(setting.value)} from {setting.path}:{setting.line}"
    return "nothing sets it" + (f" (built in: {built})" if built else "")


@rules.check(
    "process_limits.sockets_kept",
    "systemd-tmpfiles keeps Oracle's sockets and lock files",
    "systemd-tmpfiles deletes Oracle's sockets and lock files",
    severity="critical",
    takes_effect="now",
    why="Clients and Clusterware can no longer connect to running processes (ORA-29701). Files "
    "in .oracle are deleted by age.",
    reference="tmpfiles.d(5), x and age; MOS 370605.1",
)
def sockets_kept(facts: Facts, _policy: Policy) -> Judged:
    entries = known(facts.tmpfiles)
    return [judged(_judge_folder, folder, entries, facts, of=folder) for folder in SOCKETS]


def _judge_folder(folder: str, entries: List[tmpfiles_d.Entry], facts: Facts) -> Verdict:
    cleaning = [one for one in _first_lines(entries) if _ages(one, folder)]
    kept = [one for one in entries if one.type[0] == "x" and glob_pattern.fits(folder, one.target)]
    threat = ", ".join(f"{one.target} after {one.age} ({_place(one)})" for one in cleaning)
    status = PASS
    if cleaning and not kept:
        status = FAIL if unless_absent(facts.cleaner, "") == "active" else WARN
    return Verdict(
        status,
        why=f"{threat} is cleaned, and no x line keeps {folder}.",
        fix=f"write 'x {folder}*' to a file of /etc/tmpfiles.d, which counts at the next cleaning",
        desired=f"an x line for {folder}*, or no age for what it lies in",
        persisted=f"{_place(kept[0])} keeps it" if kept else threat or "nothing cleans it by age",
        running=f"systemd-tmpfiles-clean.timer is {if_known(facts.cleaner, 'not known')}",
        evidence=["dir:/etc/tmpfiles.d", "dir:/usr/lib/tmpfiles.d", "command:" + " ".join(CLEANER)],
    )


def _first_lines(entries: List[tmpfiles_d.Entry]) -> List[tmpfiles_d.Entry]:
    """Of several lines for one path the first counts; systemd drops the others."""
    seen = set()
    found = []
    for one in entries:
        if one.type[0] in _AGED and one.target not in seen:
            seen.add(one.target)
            found.append(one)
    return found


def _ages(one: tmpfiles_d.Entry, folder: str) -> bool:
    """Whether a line cleans the folder, or what lies above it, by age."""
    above = [folder, *("/".join(folder.split("/")[:count]) for count in (2, 3))]
    is_glob = one.type[0] == "e"
    fits = any(
        glob_pattern.fits(path, one.target) if is_glob else path == one.target for path in above
    )
    return bool(one.age) and fits


def _place(one: tmpfiles_d.Entry) -> str:
    return f"{one.path}:{one.line}"
