# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The databases that run or can be started here, the parameters of each one's next start, and what
starts it at boot time: units, cron, Clusterware. The same for the listeners, with their files.

Sources: systemd.exec(5), LimitMEMLOCK= and PAMName=; Oracle Grid Infrastructure,
crs/install/s_crsconfig_HOST_env.txt and /etc/init.d/ohasd (CRS_LIMIT_MEMLOCK).
"""

import re
from typing import Dict, List, NamedTuple, Optional, Tuple

from ...collect.answer import Answer, attempt, if_known, known
from ...collect.host import Host
from ...errors import Absent, HostproofError, NotRecorded, ParseError, Unanswered, kind_of
from ...parsers.oracle import oratab
from ...parsers.systemd import systemd_unit
from ..systemd import conf_files, unit_files, unit_limits
from ..unix import pam
from . import clusterware, listeners, next_start, oracle_homes, oracle_parameters, starters
from .instances import Instance, find_instances
from .listeners import Listener
from .next_start import Asking, Database
from .starters import CLUSTERWARE, DATABASE, LISTENER, Starter

_HOST_NAME = "/proc/sys/kernel/hostname"
_OF_CLUSTERWARE = r"^[ \t]*CRS_LIMIT_MEMLOCK[ \t]*="
_SUFFIXES = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40, "P": 1 << 50}


class WillStart(NamedTuple):
    """``running`` are the databases that run, ``stopped`` the others of oratab; ``at_boot`` are
    those that oratab marks for dbstart and those that units name. ``hidden`` is the error where
    Clusterware knows others."""

    running: Answer[List[Database]]
    stopped: Answer[List[Database]]
    at_boot: Answer[List[str]]
    hidden: Answer[None]


def read(host: Host, asking: Asking) -> WillStart:
    instances = attempt(lambda: next_start.running_databases(find_instances(host)))
    running = attempt(_running, host, asking, instances)
    stopped = attempt(_stopped, host, asking, instances)
    hidden = attempt(_check_hidden, host, running, stopped)
    return WillStart(running, stopped, attempt(at_boot, host, stopped), hidden)


def read_stopped(host: Host, asking: Asking) -> WillStart:
    """As ``read``, without the parameters of those that run."""
    instances = attempt(lambda: next_start.running_databases(find_instances(host)))
    stopped = attempt(_stopped, host, asking, instances)
    return WillStart([], stopped, attempt(at_boot, host, stopped), None)


def _running(host: Host, asking: Asking, running: Answer[Dict[str, Instance]]) -> List[Database]:
    return [
        next_start.read_database(host, asking, sid, one)
        for sid, one in sorted(known(running).items())
    ]


def _stopped(host: Host, asking: Asking, running: Answer[Dict[str, Instance]]) -> List[Database]:
    stopped = next_start.stopped_of_oratab(host, asking, known(running))
    listed = list(next_start.homes_of_oratab(host))
    databases = [
        next_start.read_database(host, asking, sid, None, home)
        for sid, home in sorted(stopped.items())
    ]
    return [database for database in databases if not _has_no_file(database, listed)]


def _has_no_file(database: Database, listed: List[str]) -> bool:
    """Whether a start finds no parameter file and fails; Clusterware may know one elsewhere."""
    return isinstance(database.file, Absent) and not any(sid.startswith("+") for sid in listed)


def at_boot(host: Host, stopped: Answer[List[Database]]) -> List[str]:
    """The databases that start together: marked in oratab, or named by a unit or by cron.

    Raises Unanswered where the one that starts databases does not show which."""
    entries = next_start.entries_of_oratab(host)
    marked = [entry.sid for entry in entries if entry.starts]
    others = [one.sid for one in if_known(stopped, []) if one.sid not in marked]
    starts = attempt(read_starts, host) if len(others) > 1 else None
    if starts is None or isinstance(starts, NotRecorded):
        return marked
    for starter in known(starts).starters:
        named = _named(starter, entries)
        marked += [sid for sid in named or () if sid in others]
        is_open = DATABASE in starter.starts and not {"dbstart", "srvctl"} & set(starter.programs)
        if named is None and is_open:
            why = f"{starter.why} starts databases, and which of {', '.join(others)} is not known"
            raise Unanswered(starters.KEY, why)
    return marked


def _check_hidden(
    host: Host, running: Answer[List[Database]], stopped: Answer[List[Database]]
) -> None:
    sids = [database.sid for database in known(running) + known(stopped)]
    next_start.check_clusterware(host, sids, "list each in oratab")


class Sizes(NamedTuple):
    """Bytes of the SGAs in SysV segments, and processes, of databases that are down and start
    together: all that start at boot, and the largest of the others.

    ``unknown`` is the first error: the numbers are then without that database. ``uncounted`` is the
    first error of the number of processes of a database whose SGA is known."""

    sga: int
    largest: int
    processes: Tuple[int, ...]
    sids: Tuple[str, ...]
    unknown: Optional[HostproofError]
    uncounted: Optional[HostproofError] = None


def sizes_of_stopped(coming: WillStart) -> Sizes:
    """The sizes of databases that are down. Only one counts of those that a person or a cluster
    starts, because the others may run elsewhere."""
    databases = if_known(coming.stopped, [])
    boot = if_known(coming.at_boot, [])
    sizes = {database.sid: attempt(next_start.next_sga, database) for database in databases}
    known_sizes = {
        sid: size.size for sid, size in sizes.items() if not isinstance(size, HostproofError)
    }
    together = [sid for sid in known_sizes if sid in boot]
    others = sorted((sid for sid in known_sizes if sid not in boot), key=known_sizes.__getitem__)
    together += others[-1:]
    answers: List[object] = [coming.stopped, coming.at_boot, *sizes.values()]
    problems = [answer for answer in answers if isinstance(answer, HostproofError)]
    counts = [
        attempt(next_start.next_size, database, "processes")
        for database in databases
        if database.sid in together
    ]
    return Sizes(
        sga=sum(known_sizes[sid] for sid in together),
        largest=max([known_sizes[sid] for sid in together], default=0),
        processes=tuple(count for count in counts if isinstance(count, int)),
        sids=tuple(together),
        unknown=problems[0] if problems else None,
        uncounted=next((count for count in counts if isinstance(count, HostproofError)), None),
    )


# -- what starts them -----------------------------------------------------------------------------


class By(NamedTuple):
    """What starts an instance at boot time.

    ``name`` is the unit, "cron" or "Clusterware", ``why`` its evidence. ``memlock`` is the soft
    limit of locked memory in bytes that this start gives, None for no limit; Absent where limits.d
    or Clusterware's own default counts. ``slice`` is the group of control of a unit.
    """

    name: str
    why: str
    memlock: Answer[Optional[int]]
    slice: str
    evidence: Tuple[str, ...]


class Starts(NamedTuple):
    """What starts Oracle's software at boot time, and the lines of oratab."""

    starters: List[Starter]
    given: Dict[str, By]
    clusterware: Optional[By]
    entries: List[oratab.Entry]


def read_starts(host: Host) -> Starts:
    """Raises what is unknown: a unit or table of cron that cannot be read may start a database."""
    cron = starters.read_cron(host)
    units = starters.read(host)
    given = {starter.why: _given(host, starter) for starter in units}
    for starter in cron:
        given[starter.why] = _given(host, starter)._replace(name="cron")
    home = clusterware.read_home(host)
    by_clusterware = None
    if home is not None or any(CLUSTERWARE in starter.starts for starter in units):
        by_clusterware = _by_clusterware(host, home)
    return Starts(units + cron, given, by_clusterware, next_start.entries_of_oratab(host))


def started_by(starts: Starts, sid: str, account: Answer[str]) -> List[By]:
    """What starts an instance at boot time; nothing where only a person does."""
    found = [
        starts.given[starter.why]
        for starter in starts.starters
        if _does_start(starter, starts.entries, sid, account)
    ]
    return found + ([starts.clusterware] if starts.clusterware is not None else [])


class NextListener(NamedTuple):
    """A listener that runs, or that something starts at boot time; ``by`` is what does so, nothing
    where only a person does. It is Absent where that is not known of this kind of host."""

    listener: Listener
    by: Answer[List[By]]


def read_listeners(
    host: Host, starts: Answer[Starts], running: List[Listener]
) -> List[NextListener]:
    """Those that run, and those that are down and that a unit or cron starts at boot time."""
    found = [NextListener(one, attempt(_starters_of, host, starts, one)) for one in running]
    there = {(one.name, one.home) for one in running}
    every = if_known(starts, None)
    if every is None:
        return found
    for starter in every.starters:
        for named, name in starter.listeners:
            homes = {entry.home for entry in every.entries}
            home = named or (homes.pop() if len(homes) == 1 else "")
            if not name or (name, home) in there:
                continue
            there.add((name, home))
            one = read_stopped_listener(host, name, home, starter.tns_admin)
            found.append(NextListener(one, attempt(_starters_of, host, starts, one)))
    return found


def read_stopped_listener(host: Host, name: str, home: str, tns_admin: str = "") -> Listener:
    user: Answer[str] = Absent("", "the home of the listener is not known")
    if home:
        user = attempt(oracle_parameters.owner_of, host, home)
    environment = {"TNS_ADMIN": tns_admin} if tns_admin else {}
    return listeners.read_stopped(host, name, home, user, environment)


def _starters_of(host: Host, starts: Answer[Starts], listener: Listener) -> List[By]:
    every = known(starts)
    unit_limits.needs_systemd(host)
    if listener.pid and not any(
        listener.home == home.path for home in oracle_homes.read_homes(host, ())
    ):
        raise Absent("", "its home is neither in oratab nor in the inventory")
    found = [
        every.given[starter.why] for starter in every.starters if _does_listen(starter, listener)
    ]
    return found + ([every.clusterware] if every.clusterware is not None else [])


def _does_listen(starter: Starter, listener: Listener) -> bool:
    """Whether its commands name the listener, or may start it because they do not show what."""
    for home, name in starter.listeners:
        if name in ("", listener.name) and home in ("", listener.home):
            return True
    if starter.starts and (LISTENER not in starter.starts or starter.listeners):
        return False
    return starter.user in ("", "root", "0", if_known(listener.user, starter.user))


def _does_start(
    starter: Starter, entries: List[oratab.Entry], sid: str, account: Answer[str]
) -> bool:
    """Whether its commands name the instance, or are for all of dbstart or of the account."""
    named = _named(starter, entries)
    if named is not None:
        return sid in named
    if starter.programs == ("srvctl",):
        return False  # Clusterware starts it
    return starter.user in ("", "root", "0", if_known(account, starter.user))


def _named(starter: Starter, entries: List[oratab.Entry]) -> Optional[List[str]]:
    """The instances that its commands name, or that oratab marks for dbstart; None: not known."""
    if starter.starts and DATABASE not in starter.starts:
        return []
    if starter.sids:
        return list(starter.sids)
    instance = starter.unit.partition("@")[2].rpartition(".")[0]
    if any(entry.sid == instance for entry in entries):
        return [instance]
    if starter.programs == ("dbstart",):
        return [entry.sid for entry in entries if entry.starts]
    return None


def _given(host: Host, starter: Starter) -> By:
    paths = attempt(_paths, host, starter.unit)
    files = attempt(lambda: conf_files.units_of(host, known(paths)))
    memlock: Answer[Optional[int]]
    if starter.session and pam.sets_limits(host, starter.opener):
        memlock = Absent("", f"a session of PAM sets it ({starter.session})")
    else:
        memlock = attempt(lambda: _memlock(host, starter, known(files)))
    return By(
        starter.unit,
        starter.why,
        memlock,
        starters.slice_of(starter.unit, if_known(files, [])),
        (starters.KEY, *("file:" + path for path in if_known(paths, []))),
    )


def _paths(host: Host, unit: str) -> List[str]:
    names = unit_files.names_by_folder(host)
    place = unit_files.place_of(names, unit)
    return ([place] if place else []) + unit_files.drop_ins(host, names, unit)


def _memlock(host: Host, starter: Starter, files: List[systemd_unit.Unit]) -> Optional[int]:
    """Bytes of the soft limit at boot: the unit, system.conf or systemd's default, then ulimit."""
    setting = systemd_unit.last(files, "Service", "LimitMEMLOCK")
    if setting is None:
        system = conf_files.read_settings(host, "system.conf")
        setting = systemd_unit.last(system, "Manager", "DefaultLimitMEMLOCK")
    if setting is not None:
        soft_text, colon, hard_text = setting.value.partition(":")
    else:
        shown = unit_limits.show(host, ["systemctl", "show", unit_limits.SHOW_MANAGER])
        hard_text = shown.get("DefaultLimitMEMLOCK", "")
        soft_text, colon = shown.get("DefaultLimitMEMLOCKSoft", hard_text), ":"
    soft, hard = bytes_of_unit(soft_text), bytes_of_unit(hard_text if colon else soft_text)
    kilobytes = [None if amount is None else amount // 1024 for amount in (soft, hard)]
    changed, _hard, place = starters.changed(starter, "l", kilobytes[0], kilobytes[1], None)
    if not place:
        return soft
    return None if changed is None else changed * 1024


def bytes_of_unit(text: str) -> Optional[int]:
    """An amount of a unit, such as LimitMEMLOCK=, in bytes; None for infinity (systemd.exec(5))."""
    match = re.match(r"(\d{1,18})([KMGTP]?)\Z", text.strip())
    if match is not None:
        amount = int(match.group(1)) * _SUFFIXES[match.group(2)]
        return None if amount >= (1 << 64) - 1 else amount
    if text.strip() in ("infinity", str((1 << 64) - 1)):
        return None
    raise ParseError("limit of a unit", f"{kind_of(text)} is not a limit")


def _by_clusterware(host: Host, home: Optional[str]) -> By:
    memlock: Answer[Optional[int]] = Absent("", "Clusterware starts it without a limit")
    evidence: Tuple[str, ...] = ()
    name = attempt(lambda: host.read_text(_HOST_NAME).strip().partition(".")[0])
    if home is not None and isinstance(name, str) and re.match(r"[\w-]+\Z", name):
        path = f"{home}/crs/install/s_crsconfig_{name}_env.txt"
        lines = attempt(host.read_lines, path, _OF_CLUSTERWARE)
        evidence = (f"file:{_OF_CLUSTERWARE} in {path}",)
        if isinstance(lines, list) and lines:
            value = lines[-1].partition("=")[2].strip()
            memlock = None if value == "unlimited" else attempt(bytes_of_unit, value + "K")
        elif not isinstance(lines, (list, Absent, NotRecorded)):
            memlock = lines
    return By("Clusterware", "", memlock, "", evidence)
