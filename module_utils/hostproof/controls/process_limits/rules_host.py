# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What takes from a running database: logind IPC objects and processes, a cleaner sockets."""

from typing import FrozenSet, List, Optional

from ...collect.answer import attempt, if_known, known, unless_absent
from ...errors import Absent, Denied, Unanswered
from ...evaluate.advice import Advice, Ask, Edit, Step, Wait
from ...evaluate.checking import Judged, Rules, Skip, Verdict, failing, verdict_or_error
from ...evaluate.finding import FAIL, PASS, WARN
from ...parsers import glob_pattern
from ...parsers.kernel import proc_cgroup
from ...parsers.systemd import systemd_unit, tmpfiles_d
from ...parsers.unix.distribution import EL_IDS
from .drop_ins import set_in_drop_in
from .facts import CLEANER, KILLS, LOGIND, REMOVE_IPC, Facts
from .parsers import temp_cleaners
from .policy import NAME, Policy
from .subjects import accounts_of

rules: Rules[Facts, Policy] = Rules(NAME)

#: The highest uid that most builds of systemd take for an account of the system.
_SYSTEM = 999
#: Where Oracle's software keeps its sockets; /usr/tmp is a link to /var/tmp where it is.
SOCKETS = ("/tmp/.oracle", "/var/tmp/.oracle")
_FOLDER = "/etc/systemd/logind.conf.d"
_TMPFILES = "/etc/tmpfiles.d/oracle.conf"
#: What distributions build RemoveIPC= with (logind.conf(5) of each).
_BUILT_IN = {"no": EL_IDS, "yes": ("debian", "ubuntu")}
#: Types of tmpfiles.d whose lines have an age that counts for what is in the directory.
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
        raise Skip("busctl was not found, or shows no logind.")
    now = known(facts.remove_ipc)
    setting = systemd_unit.last(known(facts.logind), "Login", "RemoveIPC")
    at_risk = [account.name for account in accounts_of(facts, policy) if account.uid > _SYSTEM]
    built = _built_in(facts)
    coming = built if setting is None else _boolean(setting.value)
    wrong = [f"logind has {now}"] if now == "yes" else []
    if coming == "yes":
        wrong.append("a reboot sets yes")
    status = PASS
    if wrong:
        status = FAIL if at_risk else WARN
    elif coming is None:
        status = WARN
        wrong.append("no file sets it, so a reboot has what systemd was built with")
    return Verdict(
        status,
        why=f"{'; '.join(wrong)}; it is about {', '.join(at_risk) or 'no account yet'}.",
        advice=_advice_of_logind(
            "RemoveIPC=no",
            setting,
            f"end no session of {' or '.join(at_risk) or 'its account'} before the reboot",
        ),
        wrong=_wrong_layers(now, wrong),
        right=_right_layers(now, wrong),
        desired="no",
        persisted=_persisted(setting, built),
        running=now,
        evidence=["command:" + " ".join(REMOVE_IPC), "file:" + LOGIND],
        failing_layer=failing(running=now == "yes", persisted=bool(wrong)),
    )


def _advice_of_logind(line: str, setting: Optional[systemd_unit.Assignment], before: str) -> Advice:
    """logind reads its files when the host starts; a restart of it would end sessions."""
    edit = set_in_drop_in(_FOLDER, "Login", line, setting)
    later: List[Step] = [Ask(before), Wait("reboot")]
    return Advice(both=[edit, *later], persisted=[edit], running=later)


def _wrong_layers(now: str, wrong: List[str]) -> FrozenSet[str]:
    is_later = len(wrong) > (now == "yes")
    return frozenset(["running"] * (now == "yes") + ["persisted"] * is_later)


def _right_layers(now: str, wrong: List[str]) -> FrozenSet[str]:
    return frozenset(["running", "persisted"]) - _wrong_layers(now, wrong)


def _boolean(text: str) -> str:
    return "yes" if text.lower() in systemd_unit.TRUE else "no"


def _built_in(facts: Facts) -> Optional[str]:
    """A package's file shows what is built in as a comment, as its own head states. Without one the
    distribution decides: Red Hat builds with no, systemd's own default is yes."""
    for line in unless_absent(facts.logind_text, "").split("\n"):
        name, equals, value = line.lstrip("# ").partition("=")
        if line.startswith("#") and name == "RemoveIPC" and equals:
            return _boolean(value.strip())
    release = if_known(facts.os, {})
    names = f"{release.get('ID', '')} {release.get('ID_LIKE', '')}".split()
    for built, families in _BUILT_IN.items():
        if any(name in families for name in names):
            return built
    return None


def _persisted(setting: Optional[systemd_unit.Assignment], built: Optional[str]) -> str:
    if setting is not None:
        return f"{_boolean(setting.value)} from {setting.path}:{setting.line}"
    return "nothing sets it" + (f" (built in: {built})" if built else "")


@rules.check(
    "process_limits.session_processes",
    "systemd-logind does not kill instances when a session ends",
    "systemd-logind kills instances when a session ends",
    severity="critical",
    takes_effect="reboot",
    why="The end of the session that started the instance kills all its processes, as with "
    "SHUTDOWN ABORT.",
    reference="logind.conf(5), KillUserProcesses=, KillOnlyUsers=, KillExcludeUsers=",
)
def session_processes(facts: Facts, _policy: Policy) -> Verdict:
    if isinstance(facts.kills, Absent):
        raise Skip("busctl was not found, or shows no logind.")
    now = known(facts.kills)
    setting = systemd_unit.last(known(facts.logind), "Login", "KillUserProcesses")
    coming = "no" if setting is None else _boolean(setting.value)
    wrong = [f"logind has {now}"] if now == "yes" else []
    wrong += ["the configuration files set yes"] if coming == "yes" else []
    at_risk = _in_sessions(facts) if wrong else []
    text = ", ".join(at_risk) or "no process of Oracle is in a session now"
    return Verdict(
        FAIL if at_risk else WARN if wrong else PASS,
        why=f"{' and '.join(wrong)}; {text}." if wrong else None,
        advice=_advice_of_logind(
            "KillUserProcesses=no",
            setting,
            "do not end the session that started the instances before the reboot",
        ),
        wrong=_wrong_layers(now, wrong),
        right=_right_layers(now, wrong),
        desired="no, or no instance in a session",
        persisted="nothing sets it"
        if setting is None
        else f"{coming} from {setting.path}:{setting.line}",
        running=now,
        in_use=", ".join(at_risk) or None,
        evidence=["command:" + " ".join(KILLS), "file:" + LOGIND, "processes:oracle"],
        failing_layer=failing(running=now == "yes", persisted=coming == "yes"),
    )


def _in_sessions(facts: Facts) -> List[str]:
    """The processes whose session logind would kill; raises where a group is not known."""
    only, excluded = (_users(facts, name) for name in ("KillOnlyUsers", "KillExcludeUsers"))
    names = []
    for program in known(facts.running):
        user = if_known(program.user, str(program.process.uid))
        is_spared = user in (excluded or ["root"]) or bool(only and user not in only)
        parts = proc_cgroup.path_of_unit(known(program.groups)).split("/")
        scopes = [part for part in parts if part.startswith("session-")]
        if scopes and not is_spared:
            names.append(f"{program.name} in {scopes[-1]}")
    return names


def _users(facts: Facts, name: str) -> List[str]:
    setting = systemd_unit.last(known(facts.logind), "Login", name)
    return [] if setting is None else setting.value.split()


@rules.check(
    "process_limits.sockets_kept",
    "No cleaner deletes Oracle's sockets and lock files",
    "A cleaner deletes Oracle's sockets and lock files",
    severity="critical",
    takes_effect="now",
    why="Clients and Clusterware can no longer connect to running processes (ORA-29701). Files "
    "in .oracle are deleted by age.",
    reference="tmpfiles.d(5), x and age; tmpwatch(8); find(1), -delete; MOS 370605.1",
)
def sockets_kept(facts: Facts, _policy: Policy) -> Judged:
    return [verdict_or_error(_judge_sockets, folder, facts, of=folder) for folder in SOCKETS]


def _judge_sockets(directory: str, facts: Facts) -> Verdict:
    by_cron = attempt(_by_cron, directory, facts)
    places = if_known(by_cron, [])
    if not places:
        verdict = _judge_tmpfiles(directory, known(facts.tmpfiles), facts)
        if verdict.status == PASS:
            known(by_cron)
        return verdict
    return Verdict(
        FAIL,
        why=f"{'; '.join(places)} deletes files in {directory}.",
        advice=Advice(
            [
                Ask(
                    f"exclude {directory} from what {place.partition(' ')[0]} deletes "
                    f"(tmpwatch: -x {directory}, find: ! -path '*/.oracle/*')"
                )
                for place in places
            ]
        ),
        desired=f"no cleaner takes {directory}",
        persisted="; ".join(places),
        evidence=["lines:temp_cleaners"],
    )


def _by_cron(directory: str, facts: Facts) -> List[str]:
    """The cron commands that delete sockets; raises where one of them is not clear."""
    lines = known(facts.cron)
    places, unclear = [], []
    for path in sorted(lines.lines):
        numbers, read = zip(*lines.lines[path])
        texts = temp_cleaners.with_loops(list(read))
        is_named = any(map(temp_cleaners.names_directory, texts))
        for number, text in zip(numbers, texts):
            answer = not text.lstrip().startswith("#") and temp_cleaners.deletes(text, directory)
            place = f"{path}:{number} '{' '.join(text.split())[:120]}'"
            if answer:
                places.append(place)
            elif answer is None and (is_named or temp_cleaners.is_cleaner(text)):
                unclear.append(place)
    if places:
        return places
    if lines.unread:
        path = sorted(lines.unread)[0]
        raise Denied(
            "file:" + path, f"{path} may not be read: it could delete files in {directory}"
        )
    if unclear:
        raise Unanswered(
            "lines:temp_cleaners", f"{unclear[0]} may delete files in {directory}: check it"
        )
    return []


def _judge_tmpfiles(directory: str, entries: List[tmpfiles_d.Entry], facts: Facts) -> Verdict:
    # A line with ! counts at boot alone, when nothing of Oracle runs.
    entries = [entry for entry in entries if "!" not in entry.type]
    cleaning = [entry for entry in _first_lines(entries) if _ages(entry, directory)]
    kept = [
        entry for entry in entries if entry.type[0] == "x" and _is_kept(directory, entry.target)
    ]
    threat = ", ".join(f"{entry.target} after {entry.age} ({_place(entry)})" for entry in cleaning)
    status = PASS
    if cleaning and not kept:
        status = FAIL if unless_absent(facts.cleaner, "") == "active" else WARN
    return Verdict(
        status,
        why=f"{threat} is cleaned, and no x line excludes {directory}.",
        advice=Advice([Edit(_TMPFILES, f"x {directory}*")]),
        desired=f"an x line for {directory}*, or no age for its parent directory",
        persisted=f"{_place(kept[0])} keeps it" if kept else threat or "nothing cleans it by age",
        running=f"systemd-tmpfiles-clean.timer is {if_known(facts.cleaner, 'not known')}",
        evidence=[
            "dir:/etc/tmpfiles.d",
            "dir:/usr/lib/tmpfiles.d",
            "command:" + " ".join(CLEANER),
            "lines:temp_cleaners",
        ],
    )


def _is_kept(folder: str, target: str) -> bool:
    """An x line keeps a directory with its contents, or each file that its pattern fits."""
    inside = [f"{folder}/{name}" for name in temp_cleaners.NAMES]
    return glob_pattern.fits(folder, target) or all(
        glob_pattern.fits(path, target) for path in inside
    )


def _first_lines(entries: List[tmpfiles_d.Entry]) -> List[tmpfiles_d.Entry]:
    """The first line of each path; systemd ignores the others."""
    seen = set()
    lines = []
    for entry in entries:
        if entry.type[0] in _AGED and entry.target not in seen:
            seen.add(entry.target)
            lines.append(entry)
    return lines


def _ages(entry: tmpfiles_d.Entry, folder: str) -> bool:
    """Whether a line cleans the directory, or what is above it, by age."""
    above = [folder, *("/".join(folder.split("/")[:count]) for count in (2, 3))]
    is_glob = entry.type[0] == "e"
    fits = any(
        glob_pattern.fits(path, entry.target) if is_glob else path == entry.target for path in above
    )
    return bool(entry.age) and fits


def _place(entry: tmpfiles_d.Entry) -> str:
    return f"{entry.path}:{entry.line}"
