# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The units of systemd and the lines of cron that start Oracle's software at boot time.

The name of a unit does not count. An enabled unit counts if its account owns an Oracle home. It
also counts if its commands, or a script that they call, name a program that starts databases or
listeners, the account "oracle", or a home. Sources: systemd.unit(5), "Specifiers", Wants= and
.wants/; systemd-sysv-generator(8); crontab(5), @reboot; Oracle Database Administrator's Reference
for Linux, dbstart.
"""

import re
from functools import partial
from typing import Callable, Dict, Iterable, List, NamedTuple, Optional, Sequence, Set, Tuple

from ...collect.answer import attempt, if_known, unless_absent
from ...collect.host import FoundLines, Host
from ...errors import Absent, Denied, Unanswered
from ...parsers import kept_lines
from ...parsers.number import clipped
from ...parsers.shell import started_commands
from ...parsers.systemd import systemd_unit
from ..systemd import conf_files, unit_files
from ..unix import accounts
from . import oracle_homes, oracle_parameters

NAME = "oracle_starters"
KEY = "lines:" + NAME
CRON_NAME = "oracle_cron"
BOOTED = "/run/systemd/system"
#: The software that a unit can start.
DATABASE, LISTENER, CLUSTERWARE = "database", "listener", "clusterware"

#: Where the links of scripts of SysV lie.
_RC = tuple(f"{place}/rc{level}.d" for place in ("/etc/rc.d", "/etc") for level in (3, 5, 2, 4))
#: Packages enable few of their units here; each link counts of the other directories.
_VENDOR = ("/usr/lib/systemd/system", "/lib/systemd/system")
_OF_VENDOR = re.compile(r"(?:multi-user|graphical|basic|default)\.target\.\w+$")
_WANTS = re.compile(r"(.+)\.(?:wants|requires|upholds)$")
#: Targets that no boot reaches.
_NOT_AT_BOOT = re.compile(
    r"(?:rescue|emergency|shutdown|reboot|poweroff|halt|kexec|final|umount|sleep|suspend|hibernate"
    r"|hybrid-sleep|exit|initrd|system-update)[\w-]*\.target$"
)
_COMMANDS = ("ExecStartPre", "ExecStart", "ExecStartPost")
_QUESTIONS = r"(?!\s+(?:status|services|version|config|stop|check)\b|\s+-V\b)"
#: The programs by what they start.
_PROGRAMS = (
    (DATABASE, r"(?<![\w.-])(?:dbstart|sqlplus|srvctl)\b" + _QUESTIONS),
    (LISTENER, r"(?<![\w.-])(?:lsnrctl|tnslsnr)\b" + _QUESTIONS),
    (CLUSTERWARE, r"(?<![\w-])ohasd\b|(?<![\w.-])crsctl\b" + _QUESTIONS),
)
#: "oracle" as the account that a command runs as, and as the program or script of a path.
_ORACLE = (
    r"(?<![\w.-])(?:su|runuser|sudo|gosu|su-exec|setpriv)\s[^|;&\n]{0,80}?\boracle(?![\w./@-])"
    r"|--?(?:user|chuid|reuid|u)[ =]oracle(?![\w./@-])|(?<=/)oracle(?=[\s\"']|$)"
)
#: In the command of a unit, also as a separate word.
_ORACLE_IN_UNIT = r"^[ \t]*ExecStart(?:Pre|Post)?[ \t]*=[^\n]*(?<![\w./@-])oracle(?![\w./@:-])"
#: Programs that open a session of PAM for what they start.
_BY_PAM = re.compile(
    r"(?:^|[\s\"'=@+!:;&|({-]|(?<![\w.])/(?:usr/)?s?bin/)(?:(su|runuser|sudo)\s|daemon\s+--user\b)"
)
#: The path of a program or script where a command begins.
_CALLED = re.compile(
    r"(?:^\s*\w+\s*=[-@:+!|\s]*|[;&|({`'\"]\s*|\b(?:su|runuser|[a-z]*sh)\s[^;&|]{0,64}?-\w*c\s+|\s--\s+|(?:^|[\s/;&|'\"])(?:[a-z]*sh"
    r"|exec|sudo|su|runuser|nohup|env|daemon|source|\.)\s+(?:[\w-]{1,64}\s+){0,4}[\"']?)"
    r"(/[\w./+@%-]+)"
)
#: The instance that is started: a name, or what only the shell knows.
_SID = re.compile(r"\bORACLE_SID[ \t]*=[ \t]*[\"']?([^\s\"';&|]*)")
#: The loop of a script over instances: its variable and its words.
_LOOP = re.compile(r"\bfor[ \t]+(\w*(?:[Ss][Ii][Dd]|[Dd][Bb]|[Ii]nst)\w*)[ \t]+in[ \t]+([^;\n]*)")
_IS_SID = re.compile(r"[A-Za-z][\w$#]{0,29}\Z")
#: A listener that is started: by the home of the program, its name; dbstart starts LISTENER of the
#: home that is its argument.
_LISTENER = re.compile(
    r"(?<![\w./+-])([\w./+-]*/bin/)?(lsnrctl[\"']?\s+start|tnslsnr)(?:[ \t]+([A-Za-z$][\w$.{}-]*))?"
    r"|(?<![\w.-])dbstart[ \t]+[\"']?([/$][\w./+${}-]*)"
)
_TNS_ADMIN = re.compile(r"\bTNS_ADMIN[ \t]*=[ \t]*[\"']?([^\s\"';&|]*)")
_STARTS_DATABASES = re.compile(r"(?<![\w.-])(?:dbstart|sqlplus|srvctl)\b")
#: The tables of cron with a column for the account, and those of accounts.
_CRON = ("/etc/crontab", "/etc/cron.d/*")
_CRON_UNITS = ("crond.service", "cron.service")
_ULIMIT = re.compile(r"(?:^|[\s;&|(\"'])ulimit((?:\s+-[HS]*[a-z]\s+[\w$]+)+)")
_OPTION = re.compile(r"-([HS]*)([a-z])\s+([\w$]+)")
#: prlimit(1) before a command, or for a process; its sizes are in bytes.
_PRLIMIT = re.compile(r"(?<![\w.-])prlimit((?:\s+(?:(?:--pid|-p)\s+[\w$]+|-[\w:$={}-]+))+)")
_OF_PRLIMIT = re.compile(
    r"\s(?:--(memlock|nofile|nproc|stack)=|-([lnus]))([\w${}]*)(:?)([\w${}]*)(?=\s|$)"
)
_LETTERS = {"memlock": "l", "nofile": "n", "nproc": "u", "stack": "s"}
_IN_KILOBYTES = ("l", "s")
#: A unit that a script starts.
_STARTS_UNIT = re.compile(
    r"(?<![\w.-])(?:systemctl\s+(?:-\S+\s+){0,4}(?:start|restart|enable\s+--now)\s+(?:-\S+\s+){0,4}"
    r"|service\s+(?=\S+\s+(?:re)?start\b))([\w@:.\\-]+)"
)
#: The settings by which a timer or a path starts its service after every reboot.
_AT_BOOT = {
    "timer": ("OnBootSec", "OnStartupSec", "OnActiveSec"),
    "path": ("PathExists", "PathExistsGlob", "DirectoryNotEmpty"),
}
_RC_LOCAL = ("/etc/rc.local", "/etc/rc.d/rc.local")
#: Commands outside the directories of packages: what a unit runs tells whose a script is.
_OWN_COMMAND = (
    r"^[ \t]*ExecStart(?:Pre|Post)?[ \t]*=[^\n]*?"
    r"(?<![\w./])/(?!(?:usr/)?(?:s?bin|lib(?:64|exec)?)/)[\w.]"
)
_PATTERN = "|".join(
    [
        *(pattern for _what, pattern in _PROGRAMS),
        *(
            _ORACLE,
            _ORACLE_IN_UNIT,
            _OWN_COMMAND,
            r"^[ \t]*User[ \t]*=",
            r"(?:^|[\s;&|(\"'])ulimit\s+-",
            _PRLIMIT.pattern,
            r"\b(?:ORACLE_SID|TNS_ADMIN)[ \t]*=",
            _LOOP.pattern,
        ),
        r"^[ \t]*(?:Wants|Requires|BindsTo|Upholds|Unit|"
        + "|".join(key for keys in _AT_BOOT.values() for key in keys)
        + r")[ \t]*=",
        _STARTS_UNIT.pattern,
    ]
)


class Changed(NamedTuple):
    """A limit that a script changes (ulimit, prlimit): the sides "H" and "S", the option, the
    value in the unit of ulimit."""

    sides: str
    option: str
    value: str
    place: str


class Starter(NamedTuple):
    """A unit that starts Oracle's software at boot.

    ``why`` is the evidence: the words, with the file that contains them. ``starts`` is what it
    starts as far as its commands show. ``session`` is the command that opens a session of PAM for
    all that it starts, "" for none. ``scripts`` are those that a unit calls, and the script of
    SysV. ``sids`` are the instances that its commands name, and ``programs`` the programs.
    ``listeners`` are the home and the name of each listener that they name, "" where only the shell
    knows; ``tns_admin`` is the directory of their files, "" for the usual one.
    """

    unit: str
    why: str
    user: str
    starts: Tuple[str, ...]
    session: str
    changed: Tuple[Changed, ...]
    scripts: Tuple[str, ...]
    sids: Tuple[str, ...] = ()
    programs: Tuple[str, ...] = ()
    listeners: Tuple[Tuple[str, str], ...] = ()
    tns_admin: str = ""

    @property
    def opener(self) -> str:
        """The program that opens its session, or the service that PAMName= names."""
        word, _, service = self.session.partition(" ")[0].partition("=")
        return service or word

    @property
    def is_by_clusterware(self) -> bool:
        """Whether it calls srvctl alone: Clusterware starts the database, with separate limits."""
        return self.programs == ("srvctl",) and self.starts == (DATABASE,)


class _Line(NamedTuple):
    path: str
    number: int
    text: str


def read(host: Host) -> List[Starter]:
    """Every unit that does so, by name; none where systemd is not the first process (sd_booted(3)).

    Raises what is unknown: a unit whose files cannot be read may start a database."""
    if isinstance(attempt(host.list_dir, BOOTED), Absent):
        return []
    homes = _homes(host)
    if not homes:
        return []
    names = unit_files.names_by_folder(host)
    wanted = _wanted(host, names)
    files = {unit: _files(host, names, unit) for unit in wanted | _local(names)}
    scripts = _scripts_of_sysv(host, names)
    places = sorted({path for paths in files.values() for path in paths} | set(scripts.values()))
    of_homes = [re.escape(home) + r"(?![\w.-])" for home in sorted(homes)]
    found = host.find_lines(
        NAME, places, "|".join([_PATTERN, *of_homes]), record=partial(_kept, homes)
    )
    lines = {path: _lines(path, found) for path in found.lines}
    starters = []
    for unit in sorted(_with_reached(wanted, partial(_by_text, files, found, lines))):
        if unit.endswith(".service"):
            _check_readable(files.get(unit, []), lines, found)
            starter = _of_unit(host, unit, files.get(unit, []), found, lines, homes)
            starters += [] if starter is None else [starter]
    return starters + _of_sysv(scripts, found, lines, homes)


def _of_sysv(
    scripts: Dict[str, str],
    found: FoundLines,
    lines: Dict[str, List[_Line]],
    homes: Dict[str, str],
) -> List[Starter]:
    starters = []
    for unit, path in sorted(scripts.items()):
        called = [path, *_called_by([path], found)]
        all_lines = _lines_of(called, lines)
        hits = [line for line in all_lines if _names_oracle(line.text, homes)]
        if hits:
            starters.append(_starter(unit, "", hits, all_lines, tuple(called), ""))
    return starters


def read_cron(host: Host) -> List[Starter]:
    """Every line of cron that starts Oracle's software at boot; ``unit`` is that of cron.

    Raises what is unknown: a table that cannot be read may start a database."""
    # Without the homes: this reading tells first whether a recording has starters at all.
    found = host.find_lines(
        CRON_NAME,
        _CRON + started_commands.CRONTABS_OF_ACCOUNTS,
        r"^[ \t]*@reboot\s|" + _PATTERN,
        record=partial(_kept, ()),
    )
    homes = _homes(host)
    if not homes or not any(line.startswith("@reboot") for line in _texts(found)):
        return []
    if found.unread:
        path = found.unread[0]
        raise Denied("file:" + path, f"{path} may not be read: it may start a database")
    lines = {path: _lines(path, found) for path in found.lines}
    names = unit_files.names_by_folder(host)
    wanted = _wanted(host, names)
    units = [unit for unit in _CRON_UNITS if unit in wanted] or list(_CRON_UNITS[:1])
    starters = []
    for path in sorted(set(lines) - set(found.callers)):
        for line in lines[path]:
            starter = _of_cron(units[0], line, lines, homes)
            starters += [] if starter is None else [starter]
    return starters


def _texts(found: FoundLines) -> List[str]:
    return [text.strip() for rows in found.lines.values() for _number, text in rows]


def _of_cron(
    unit: str, line: _Line, lines: Dict[str, List[_Line]], homes: Dict[str, str]
) -> Optional[Starter]:
    match = re.match(r"@reboot\s+(.*)", line.text)
    if match is None:
        return None
    account, command = line.path.rpartition("/")[2], match.group(1)
    if not line.path.startswith("/var/"):
        account, _, command = command.partition(" ")
    called = [path for path in re.findall(r"/[\w./+@%-]+", command) if path in lines]
    own = line._replace(text=command)
    all_lines = [own] + [each for path in called for each in lines[path]]
    hits = [each for each in all_lines if _names_oracle(each.text, homes)]
    session = f"{unit.partition('.')[0]} ({line.path}:{line.number})"
    return _starter(unit, account, hits, all_lines, tuple(called), session) if hits else None


def changed(
    starter: Optional[Starter],
    option: str,
    soft: Optional[int],
    hard: Optional[int],
    unlimited: Optional[int],
) -> Tuple[Optional[int], Optional[int], str]:
    """The soft and hard limit after ulimit in the scripts, and the last line that changes one.

    Amounts are in the unit of ulimit, ``unlimited`` is the one for no limit. Without root, ulimit
    raises no hard limit: it fails."""
    place = ""
    if starter is None:
        return soft, hard, place
    is_root = starter.user in ("", "root", "0")
    for change in starter.changed:
        if change.option != option:
            continue
        amount = _amount(change, hard, unlimited)
        is_more = hard != unlimited and (amount == unlimited or (amount or 0) > (hard or 0))
        if is_more and not is_root:
            continue
        hard = hard if change.sides == "S" else amount
        soft = soft if change.sides == "H" else amount
        place = change.place
    return soft, hard, place


def _amount(change: Changed, hard: Optional[int], unlimited: Optional[int]) -> Optional[int]:
    if change.value.isdecimal():
        return clipped(change.value)
    if change.value not in ("unlimited", "hard"):
        raise Unanswered(
            "file:" + change.place.rpartition(":")[0],
            f"{change.place} sets a limit (-{change.option}) to a value that is not known",
        )
    return hard if change.value == "hard" else unlimited


def slice_of(service: str, files: Sequence[systemd_unit.Unit]) -> str:
    """The slice that a service runs in (systemd.resource-control(5), Slice=)."""
    chosen = systemd_unit.last(files, "Service", "Slice")
    prefix, instance = service[: -len(".service")].partition("@")[::2]
    name = chosen.value.replace("%i", instance).replace("%p", prefix) if chosen else ""
    if re.match(r"[A-Za-z0-9][^*?[\s]*\.slice\Z", name):
        return name
    # A hyphen would name a slice within another.
    return ("system-" + prefix.replace("-", "\\x2d") if instance else "system") + ".slice"


def _kept(homes: Iterable[str], path: str, line: str) -> str:
    """The line with the words alone that show what it starts, as whom and with which limits."""
    if "/systemd/" in path and re.match(r"[ \t]*(?!Exec|Environment)\w+[ \t]*=", line):
        return line
    return kept_lines.needed_words(line, partial(_reading, sorted(homes)))


def _reading(homes: Sequence[str], line: str) -> object:
    pam = _BY_PAM.search(line)
    found = [match for _what, pattern in _PROGRAMS for match in re.finditer(pattern, line)]
    return (
        re.findall(r"^\s*[\w-]*\s*=?", line),
        _CALLED.findall(line),
        [re.findall(re.escape(home) + r"(?![\w.-])[\w./-]*", line) for home in homes],
        [match.group() for match in found],
        re.search(_ORACLE, line) is not None,
        re.search(_ORACLE_IN_UNIT, line) is not None,
        _ULIMIT.findall(line),
        [_OF_PRLIMIT.findall(options) for options in _PRLIMIT.findall(line)],
        _STARTS_UNIT.findall(line),
        _SID.findall(line),
        _LOOP.findall(line),
        _LISTENER.findall(line),
        _TNS_ADMIN.findall(line),
        pam and (pam.group(1), [match.start() > pam.start() for match in found]),
        "<<" in line,
        line.lstrip()[:1] in ("#", ";"),
    )


def _homes(host: Host) -> Dict[str, str]:
    """The owner by home, "" where that is not known."""
    homes = {}
    for home in oracle_homes.read_homes(host, ()):
        if home.path != "/":
            homes[home.path] = if_known(attempt(oracle_parameters.owner_of, host, home.path), "")
    return homes


def _wanted(host: Host, names: Dict[str, List[str]]) -> Set[str]:
    """The units that the links of targets start at boot, and those that these units want."""
    by_unit = _by_unit(host, names)
    by_targets = {
        unit for above, units in by_unit.items() if above.endswith(".target") for unit in units
    }
    wanted = _with_reached(
        by_targets,
        lambda unit: by_unit.get(unit, set()) | by_unit.get(unit_files.template_of(unit), set()),
    )
    # systemd-rc-local-generator(8): started at boot time if it can be executed.
    stats = [if_known(attempt(host.stat, path), None) for path in _RC_LOCAL]
    return wanted | {"rc-local.service" for stat in stats if stat is not None and stat.mode & 0o111}


def _by_unit(host: Host, names: Dict[str, List[str]]) -> Dict[str, Set[str]]:
    """What the links of each target or unit start."""
    by_unit: Dict[str, Set[str]] = {}
    for folder, listed in names.items():
        for name in listed:
            match = _WANTS.match(name)
            if match is None or (folder in _VENDOR and not _OF_VENDOR.match(name)):
                continue
            if not _NOT_AT_BOOT.match(match.group(1)):
                units = unless_absent(attempt(host.list_dir, f"{folder}/{name}"), [])
                by_unit.setdefault(match.group(1), set()).update(units)
    return by_unit


def _with_reached(units: Set[str], starts: Callable[[str], Set[str]]) -> Set[str]:
    """``units``, what they start, what that starts, and so on."""
    reached, waiting = set(units), list(units)
    while waiting:
        new = starts(waiting.pop()) - reached
        reached |= new
        waiting += new
    return reached


def _local(names: Dict[str, List[str]]) -> Set[str]:
    """The units of the administrator, which another can want by its text."""
    return {
        name
        for folder, listed in names.items()
        if folder not in _VENDOR
        for name in listed
        if re.search(r"[^@]\.(?:service|target|timer|path)$", name)
    }


def _files(host: Host, names: Dict[str, List[str]], unit: str) -> List[str]:
    place = unit_files.place_of(names, unit)
    return [place, *unit_files.drop_ins(host, names, unit)] if place else []


def _scripts_of_sysv(host: Host, names: Dict[str, List[str]]) -> Dict[str, str]:
    """The script by the name of the unit that systemd makes of it at boot time."""
    scripts: Dict[str, str] = {}
    for folder in _RC:
        for link in unless_absent(attempt(host.list_dir, folder), []):
            match = re.match(r"S\d\d(.+)", link)
            unit = f"{match.group(1)}.service" if match else ""
            if unit and not unit_files.place_of(names, unit):
                scripts.setdefault(unit, f"{folder}/{link}")
    return scripts


def _lines(path: str, found: FoundLines) -> List[_Line]:
    return [
        _Line(path, number, text.strip())
        for number, text in found.lines[path]
        if text.lstrip()[:1] not in ("#", ";")
    ]


def _by_text(
    files: Dict[str, List[str]], found: FoundLines, lines: Dict[str, List[_Line]], unit: str
) -> Set[str]:
    """The units that the text of a unit, or of a script that it calls, starts."""
    paths = files.get(unit, [])
    texts = [line.text for line in _lines_of(paths, lines)]
    commands = [text for text in texts if text.startswith("ExecStart")]
    commands += [line.text for line in _lines_of(_called_by(paths, found), lines)]
    return _by_settings(unit, texts) | {
        name if re.search(r"\.[a-z]+$", name) else name + ".service"
        for text in commands
        for name in _STARTS_UNIT.findall(text)
    }


def _by_settings(unit: str, texts: List[str]) -> Set[str]:
    pairs = [tuple(part.strip() for part in text.partition("=")[::2]) for text in texts]
    units = {
        name
        for key, value in pairs
        if key in ("Wants", "Requires", "BindsTo", "Upholds")
        for name in value.split()
    }
    stem, _, kind = unit.rpartition(".")
    if any(key in _AT_BOOT.get(kind, ()) for key, _ in pairs):
        units |= {value for key, value in pairs if key == "Unit"} or {f"{stem}.service"}
    return units


def _check_readable(paths: List[str], lines: Dict[str, List[_Line]], found: FoundLines) -> None:
    texts = " ".join(
        line.text for line in _lines_of(paths, lines) if line.text.startswith("ExecStart")
    )
    words = [word.lstrip("-@:+!|") for word in re.split(r"[\s\"'=;]+", texts)]
    for path in found.unread:
        if path in paths or path in words:
            raise Denied("file:" + path, f"{path} may not be read: it may start a database")


def _of_unit(
    host: Host,
    unit: str,
    paths: List[str],
    found: FoundLines,
    lines: Dict[str, List[_Line]],
    homes: Dict[str, str],
) -> Optional[Starter]:
    """None where nothing tells that it starts software of Oracle."""
    called = _called_by(paths, found) + _shared(paths, found, lines)
    all_lines, own = _lines_of(called, lines), _lines_of(paths, lines)
    hits = [line for line in all_lines if _names_oracle(line.text, homes)]
    if not hits and not any(_is_about(host, line.text, unit, homes) for line in own):
        return None
    texts = conf_files.units_of(host, paths)
    commands = _settings(texts, unit, _COMMANDS)
    all_lines += _settings(texts, unit, ("Environment",))
    direct = [line for line in commands if _names_oracle(line.text, homes)]
    # A script that only the end of the unit runs starts nothing.
    hits = hits if _calls(commands) else []
    account = systemd_unit.last(texts, "Service", "User")
    user = "" if account is None else _user(host, account.value, unit)
    session = _session_of_unit(texts)
    starter = _starter(unit, user, direct + hits, commands + all_lines, tuple(called), session)
    if direct or hits:
        return starter
    why = "" if account is None else _why_by_owner(account, user, homes)
    return starter._replace(why=why) if why else None


def _why_by_owner(account: systemd_unit.Assignment, user: str, homes: Dict[str, str]) -> str:
    owned = [home for home, owner in sorted(homes.items()) if owner and owner == user]
    return f"User={user}, who owns {owned[0]} ({account.path}:{account.line})" if owned else ""


def _session_of_unit(texts: Sequence[systemd_unit.Unit]) -> str:
    pam = systemd_unit.last(texts, "Service", "PAMName")
    return "" if pam is None else f"PAMName={pam.value}"


def _called_by(paths: Sequence[str], found: FoundLines) -> List[str]:
    return [path for path, first in found.callers.items() if first in paths]


def _lines_of(paths: Sequence[str], lines: Dict[str, List[_Line]]) -> List[_Line]:
    return [line for path in paths for line in lines.get(path, [])]


def _settings(texts: Sequence[systemd_unit.Unit], unit: str, keys: Sequence[str]) -> List[_Line]:
    return [
        _Line(setting.path, setting.line, f"{setting.key}={_expanded(setting.value, unit)}")
        for setting in systemd_unit.all_of(texts, "Service", keys)
    ]


def _shared(paths: List[str], found: FoundLines, lines: Dict[str, List[_Line]]) -> List[str]:
    """Scripts that the search came to by another unit first, whose command is the same."""
    own = {word for line in _lines_of(paths, lines) for word in _words(line)}
    return [
        script
        for script, first in found.callers.items()
        if first not in paths
        and own.intersection(word for line in lines.get(first, []) for word in _words(line))
    ]


def _words(line: _Line) -> List[str]:
    """The paths of a command outside the directories of packages."""
    if not re.match(r"ExecStart(?:Pre|Post)?[ \t]*=", line.text):
        return []
    paths = re.findall(r"(?<![\w./])/[\w./+@%-]+", line.text)
    return [path for path in paths if not re.match(r"/(?:usr/)?(?:s?bin|lib(?:64|exec)?)/", path)]


def _user(host: Host, value: str, unit: str) -> str:
    """The account of User=, which may be a number."""
    user = _expanded(value.strip(), unit)
    return (
        if_known(attempt(accounts.user_name, host, int(user)), user) if user.isdecimal() else user
    )


def _is_about(host: Host, text: str, unit: str, homes: Dict[str, str]) -> bool:
    key, _, value = text.partition("=")
    if key.strip() == "User":
        return _user(host, value, unit) in homes.values()
    return key.strip() in _COMMANDS and _names_oracle(_expanded(text, unit), homes)


def _calls(commands: List[_Line]) -> bool:
    """Whether a command is more than a program that only succeeds (true, echo, sleep)."""
    words = [line.text.partition("=")[2].strip(" -@:+!\"'").split()[:1] for line in commands]
    return any(
        word and word[0].rpartition("/")[2] not in ("true", "echo", "sleep", "touch")
        for word in words
    )


def _names_oracle(text: str, homes: Dict[str, str]) -> bool:
    return bool(_what(text)) or (
        re.search(_ORACLE, text) is not None
        or re.search(_ORACLE_IN_UNIT, text) is not None
        or any(re.search(re.escape(home) + r"(?![\w.-])", text) for home in homes)
    )


def _what(text: str) -> List[str]:
    return [what for what, pattern in _PROGRAMS if re.search(pattern, text)]


def _starter(
    unit: str,
    user: str,
    hits: Sequence[_Line],
    all_lines: Sequence[_Line],
    scripts: Tuple[str, ...],
    session: str,
) -> Starter:
    """``hits`` name what is started; ``all_lines`` are all lines of the unit and of its scripts."""
    sure = [line for line in hits if _what(line.text)] or list(hits)
    what = {name for line in sure for name in _what(line.text)}
    programs = {match.group() for line in sure for match in _STARTS_DATABASES.finditer(line.text)}
    return Starter(
        unit=unit,
        why=f"'{sure[0].text[:160]}' ({sure[0].path}:{sure[0].number})" if sure else "",
        user=user,
        starts=tuple(name for name, _pattern in _PROGRAMS if name in what),
        session=session or _session_of_all(sure, all_lines),
        changed=_changed_limits(all_lines),
        scripts=scripts,
        sids=_sids(unit, all_lines),
        programs=tuple(sorted(programs)),
        listeners=tuple(sorted({pair for line in hits for pair in _listeners(line.text)})),
        tns_admin=_tns_admin(all_lines),
    )


def _session_of_all(sure: Sequence[_Line], all_lines: Sequence[_Line]) -> str:
    """The first command that opens a session; "" where one of the lines has no session."""
    opened = [_session_of(line, all_lines) for line in sure]
    return opened[0] if opened and all(opened) else ""


def _tns_admin(all_lines: Sequence[_Line]) -> str:
    admins = [name for line in all_lines for name in _TNS_ADMIN.findall(line.text)]
    return admins[0] if len(set(admins)) == 1 and admins[0].startswith("/") else ""


def _changed_limits(all_lines: Sequence[_Line]) -> Tuple[Changed, ...]:
    changes: List[Changed] = []
    for line in all_lines:
        place = f"{line.path}:{line.number}"
        changes += [
            Changed(match.group(1), match.group(2), match.group(3), place)
            for command in _ULIMIT.finditer(line.text)
            for match in _OPTION.finditer(command.group(1))
        ]
        changes += [
            Changed(sides, option, _of_ulimit(option, value), place)
            for command in _PRLIMIT.finditer(line.text)
            for name, letter, soft, colon, hard in _OF_PRLIMIT.findall(command.group(1))
            for option in [_LETTERS.get(name, letter)]
            for sides, value in ((("H", hard), ("S", soft)) if colon else (("", soft),))
            if value
        ]
    return tuple(changes)


def _of_ulimit(option: str, value: str) -> str:
    """A value of prlimit in the unit of ulimit."""
    if option in _IN_KILOBYTES and value.isdecimal():
        return str(clipped(value) // 1024)
    return value


def _sids(unit: str, all_lines: Sequence[_Line]) -> Tuple[str, ...]:
    """Every ORACLE_SID that the lines set; none if one of them is not a name."""
    loops = {name: words.split() for line in all_lines for name, words in _LOOP.findall(line.text)}
    sids = list(loops.get("ORACLE_SID", []))
    for name in (name for line in all_lines for name in _SID.findall(_expanded(line.text, unit))):
        sids += loops.get(name.strip("${}"), [name]) if name.startswith("$") else [name]
    return tuple(sorted(set(sids))) if all(map(_IS_SID.match, sids)) else ()


def _listeners(text: str) -> List[Tuple[str, str]]:
    found = []
    for program, _verb, name, of_dbstart in _LISTENER.findall(text):
        home = of_dbstart.rstrip("/") or program[: -len("/bin/")]
        home = home if home.startswith("/") else ""
        found.append((home, "" if "$" in name else name.upper() or "LISTENER"))
    return found


def _session_of(line: _Line, all_lines: Sequence[_Line]) -> str:
    """The command that opens a session for what a line starts: before it on the line, before a here
    document that the line is in, or before the call of its script."""
    name = re.compile(re.escape(line.path) + r"(?![\w.-])")
    ends = [
        match.start() for _what, pattern in _PROGRAMS for match in re.finditer(pattern, line.text)
    ]
    for other in all_lines:
        match = _BY_PAM.search(other.text)
        if match is None:
            continue
        if other == line:
            is_before = not ends or match.start() < min(ends)
        elif other.path == line.path:
            is_before = other.number < line.number and "<<" in other.text
        else:
            call = name.search(other.text)
            is_before = call is not None and match.start() < call.start()
        if is_before:
            return f"{match.group(1) or 'runuser'} ({other.path}:{other.number})"
    return ""


def _expanded(value: str, unit: str) -> str:
    """A value with the specifiers that are parts of the unit's name."""
    stem = unit[: -len(".service")]
    prefix, _, instance = stem.partition("@")
    parts = {"i": instance, "I": instance.replace("-", "/"), "p": prefix, "P": prefix}
    parts.update({"n": unit, "N": stem, "%": "%"})
    return re.sub("%(.)", lambda match: parts.get(match.group(1), match.group()), value)
