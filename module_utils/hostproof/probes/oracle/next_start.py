# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The databases of a host with their parameters, and the SGA that each one's next start takes.

A start takes the larger of SGA_MAX_SIZE and SGA_TARGET, in whole granules; with neither it takes
the sum of its pools, and with MEMORY_TARGET no SysV memory at all. Sources: Oracle Database
Administrator's Guide, Managing Memory ("The SGA_MAX_SIZE Initialization Parameter"); Oracle
Database Reference, SGA_MAX_SIZE, SGA_TARGET and MEMORY_TARGET; ORA-00823 and ORA-00837; My Oracle
Support 947152.1 for the granules.
"""

import re
from typing import Dict, List, NamedTuple, Optional, Tuple

from ...collect.answer import Answer, attempt, if_known, known, unless_absent
from ...collect.host import Host
from ...errors import Absent, HostproofError, Unanswered, kind_of
from ...parsers.oracle import oratab, pfile
from ...parsers.size import human, parse_size
from ..nfs import nfs_files
from . import clusterware
from . import oracle_parameters as parameters_probe
from .instances import Instance
from .monitors import PMON_KEY
from .oracle_parameters import Asked, ParameterFile, Version
from .sqlplus import Target

#: What a database without SGA_TARGET and SGA_MAX_SIZE adds up.
POOLS = (
    "db_16k_cache_size",
    "db_2k_cache_size",
    "db_32k_cache_size",
    "db_4k_cache_size",
    "db_8k_cache_size",
    "db_cache_size",
    "db_keep_cache_size",
    "db_recycle_cache_size",
    "inmemory_size",
    "java_pool_size",
    "large_pool_size",
    "log_buffer",
    "shared_pool_size",
    "streams_pool_size",
)
#: The parameters that decide how an instance takes its SGA.
PARAMETERS = (
    "pre_page_sga",
    "use_large_pages",
    "lock_sga",
    "memory_target",
    "memory_max_target",
    "sga_max_size",
    "sga_target",
) + POOLS
#: The parameters that limit the memory of its sessions.
SESSION_PARAMETERS = ("pga_aggregate_target", "pga_aggregate_limit", "processes")
#: Those that decide how it does its input and output. Every control queries all parameters: one
#: question has one place in the evidence.
IO_PARAMETERS = ("filesystemio_options", "disk_asynch_io", "dbwr_io_slaves")
#: Hidden parameters that switch the prefetch of blocks off when they are 0. v$parameter has a
#: hidden parameter only if it is set.
PREFETCH_PARAMETERS = (
    "_db_block_prefetch_limit",
    "_db_block_prefetch_quota",
    "_db_file_noncontig_mblock_read_count",
)
#: Those that decide how LOBs are made and how space for them is found, and how blocks are read.
WAIT_PARAMETERS = ("compatible", "db_securefile", "event") + PREFETCH_PARAMETERS
SIZES = ("memory_target", "memory_max_target", "sga_max_size", "sga_target") + POOLS

#: The addresses of the interconnect, instead of those that Clusterware gives an instance.
CLUSTER_PARAMETERS = ("cluster_interconnects",)

#: The kinds of process monitors that are databases.
KINDS = ("ora", "db")
#: The parameters with the names that Clusterware gives a database in oratab.
NAMES = ("db_unique_name", "db_name")
#: How the names of ASM (+ASM1), its proxy (+APX1) and the management repository (-MGMTDB) begin.
#: "*" is a home without a database.
NO_DATABASE = ("+", "-", "*")

_MIB, _GIB = 1 << 20, 1 << 30
#: An SGA of at most the first number has granules of the second.
_GRANULES = (
    (1 * _GIB, 4 * _MIB),
    (8 * _GIB, 16 * _MIB),
    (16 * _GIB, 32 * _MIB),
    (32 * _GIB, 64 * _MIB),
    (64 * _GIB, 128 * _MIB),
    (128 * _GIB, 256 * _MIB),
)
_LARGEST_GRANULE = 512 * _MIB

_REMOVED = " (deleted)"
_ORACLE = "/bin/oracle"


class Database(NamedTuple):
    """A database instance. What could not be read holds the error instead (answer.py).

    ``running`` is None for one that is down. ``asked`` is Absent for it, and Unanswered where the
    policy forbids to ask.
    """

    sid: str
    running: Optional[Instance]
    home: Answer[str]
    target: Answer[Target]
    version: Answer[Version]
    asked: Answer[Asked]
    file: Answer[ParameterFile]


class Asking(NamedTuple):
    """How running instances are queried. ``forbidden_by`` names the variable that forbids it."""

    seconds: float
    forbidden_by: Optional[str]


# -- reading --------------------------------------------------------------------------------------


def running_databases(instances: List[Instance]) -> Dict[str, Instance]:
    """By SID. ASM and the like take no part."""
    ones = [instance for instance in instances if instance.kind in KINDS]
    running = {instance.sid: instance for instance in ones}
    if len(running) < len(ones):
        raise Unanswered(PMON_KEY, "two running instances have one SID")
    return running


def entries_of_oratab(host: Host) -> List[oratab.Entry]:
    texts = [unless_absent(attempt(host.read_text, path), "") for path in oratab.PATHS]
    return [entry for text in texts for entry in oratab.parse(text)]


def homes_of_oratab(host: Host) -> Dict[str, str]:
    return {entry.sid: entry.home for entry in entries_of_oratab(host)}


def stopped_of_oratab(host: Host, asking: Asking, running: Dict[str, Instance]) -> Dict[str, str]:
    """Home by SID of each database that oratab lists and that does not run here.

    Under Clusterware, oratab contains databases, not instances. An entry without a known instance
    keeps the name in oratab; its parameter file is then Absent or Unanswered, so its start is
    unknown. A home without sqlplus or without a dbs directory has no database."""
    homes = homes_of_oratab(host)
    waiting = not_running(homes, running)
    names = _names_of_running(host, asking, running) if waiting else []
    stopped = {}
    for name in waiting:
        sid = None
        if name.lower() not in names:
            sid = _sid_of_start(host, name, homes)
        if sid is not None and sid not in running:
            stopped[sid] = homes[name]
    return stopped


def not_running(homes: Dict[str, str], running: Dict[str, Instance]) -> List[str]:
    """The entries of oratab whose names are not those of running instances."""
    return [
        name
        for name in homes
        if name[0] not in NO_DATABASE
        and name not in running
        and not any(_may_be_of(name, sid, homes) for sid in running)
    ]


def check_clusterware(host: Host, sids: List[str], fix: str) -> None:
    """Unanswered if oratab names none of ``sids``, and Clusterware can start other databases."""
    homes = homes_of_oratab(host)
    names = [name for name in homes if name[0] not in NO_DATABASE]
    if names and sids:
        return
    files = [path for path in clusterware.FILES if if_known(attempt(host.read_text, path), "")]
    if len(names) == len(homes) and not files:
        return
    hidden = _hidden(host, sids, homes)
    if hidden:
        raise Unanswered(
            "file:" + (files or oratab.PATHS)[0],
            "the SGA of databases that only Clusterware knows is unknown "
            f"({', '.join(hidden)}): {fix}",
        )


def _hidden(host: Host, sids: List[str], homes: Dict[str, str]) -> List[str]:
    """The databases of Clusterware that none of ``sids`` may belong to."""
    hidden = ["not listed"]
    for daemon in clusterware.css_daemons(host):
        hidden = [
            name
            for name in clusterware.databases(host, daemon)
            if not any(sid.lower() == name or _may_be_of(name, sid.lower(), homes) for sid in sids)
        ]
    return hidden


def listed_in_oratab(host: Host, asking: Asking, running: Dict[str, Instance]) -> Dict[str, str]:
    """Home by SID of what oratab lists and runs, or could be started here."""
    listed = {sid: home for sid, home in homes_of_oratab(host).items() if sid in running}
    listed.update(stopped_of_oratab(host, asking, running))
    return listed


def _names_of_running(host: Host, asking: Asking, running: Dict[str, Instance]) -> List[str]:
    """The names, in small letters, that running databases have in oratab under Clusterware."""
    names = []
    for sid, instance in running.items():
        home = attempt(_home_of, host, sid, instance, None)
        target = attempt(_target_of, host, sid, instance, home)
        answer = attempt(_ask, host, asking, sid, instance, target)
        if not isinstance(answer, HostproofError):
            names += [(answer.running.get(name) or "").lower() for name in NAMES]
    return [name for name in names if name]


def _may_be_of(name: str, sid: str, homes: Dict[str, str]) -> bool:
    """Whether an instance is of the database that oratab names: PROD1, or PROD_1 of RAC One Node.

    Outside of RAC an instance with a separate entry is a separate database.
    """
    numbered = re.match(r"_?[0-9]+$", sid[len(name) :]) is not None
    return sid.startswith(name) and numbered and (sid not in homes or _is_rac(homes))


def _is_rac(homes: Dict[str, str]) -> bool:
    return any(re.match(r"\+ASM[0-9]+$", name) for name in homes)


def _sid_of_start(host: Host, name: str, homes: Dict[str, str]) -> Optional[str]:
    """The instance that a start of the database makes here; ``name`` where it is not known, None
    where the home holds no database."""
    home = homes[name]
    owner = attempt(parameters_probe.owner_of, host, home)
    if isinstance(owner, Absent):
        return None
    parameters = attempt(
        lambda: parameters_probe.read_parameter_file(host, home, name, known(owner))
    )
    exact = not isinstance(parameters, Absent)
    if exact and not _is_rac(homes):
        return name
    sids = attempt(_numbered, host, name, home, homes, owner)
    if isinstance(sids, Absent):
        return None
    numbered = if_known(sids, [])
    return numbered[0] if len(numbered) == 1 else name


def _numbered(
    host: Host, name: str, home: str, homes: Dict[str, str], owner: Answer[str]
) -> List[str]:
    """The instances of a database that the home has a parameter file for."""
    sids = parameters_probe.sids_with_files(host, home, known(owner))
    return [sid for sid in sids if _may_be_of(name, sid, homes)]


def _file_of(host: Host, sid: str, home: str, user: str, is_down: bool) -> ParameterFile:
    """Unanswered for a database that is down and has files of several instances."""
    answer = attempt(parameters_probe.read_parameter_file, host, home, sid, user)
    if is_down and isinstance(answer, Absent):
        numbered = if_known(attempt(_numbered, host, sid, home, homes_of_oratab(host), user), [])
        if len(numbered) > 1:
            files = " and ".join(sorted(numbered)[:3])
            why = f"the home of {sid} has parameter files of {files}: which starts is not known"
            raise Unanswered(answer.key, why)
    return known(answer)


def read_database(
    host: Host,
    asking: Asking,
    sid: str,
    running: Optional[Instance],
    home: Optional[str] = None,
    version: Optional[Version] = None,
) -> Database:
    """A database; ``home`` and ``version`` are what the policy states of it."""
    home_answer = attempt(_home_of, host, sid, running, home)
    target = attempt(_target_of, host, sid, running, home_answer)
    answer = attempt(_ask, host, asking, sid, running, target)
    return Database(
        sid=sid,
        running=running,
        home=home_answer,
        target=target,
        version=attempt(_version_of, host, asking, sid, version, target, answer),
        asked=answer,
        file=attempt(
            lambda: _file_of(host, sid, known(home_answer), known(target).user, running is None)
        ),
    )


def _home_of(host: Host, sid: str, running: Optional[Instance], listed: Optional[str]) -> str:
    """The policy's home, else that of the program that runs, else oratab's."""
    if listed is not None:
        return listed
    if running is not None:
        link = f"/proc/{running.pid}/exe"
        program = if_known(attempt(nfs_files.link_target, host, link), "")
        if program.endswith(_REMOVED):
            program = program[: -len(_REMOVED)]
        if program.endswith(_ORACLE):
            return str(program[: -len(_ORACLE)])
    homes = homes_of_oratab(host)
    if sid not in homes:
        raise Unanswered(
            "file:" + oratab.PATHS[0],
            f"the home of {sid} is not known: neither its program nor oratab tells it (for the "
            "control pre_page_sga pre_page_sga_instances can)",
        )
    return homes[sid]


def _target_of(host: Host, sid: str, running: Optional[Instance], home: Answer[str]) -> Target:
    if running is not None:
        return Target(sid, known(home), known(running.user))
    return Target(sid, known(home), parameters_probe.owner_of(host, known(home)))


def _ask(
    host: Host, asking: Asking, sid: str, running: Optional[Instance], target: Answer[Target]
) -> Asked:
    key = f"command:sqlplus {sid}: release and parameters"
    if running is None:
        raise Absent(key, f"{sid} does not run")
    if asking.forbidden_by is not None:
        raise Unanswered(key, f"{asking.forbidden_by} is false: what {sid} runs with is not known")
    names = PARAMETERS + SESSION_PARAMETERS + IO_PARAMETERS + WAIT_PARAMETERS
    names_of_all = names + NAMES + CLUSTER_PARAMETERS
    return parameters_probe.ask(host, known(target), names_of_all, asking.seconds)


def _version_of(
    host: Host,
    asking: Asking,
    sid: str,
    listed: Optional[Version],
    target: Answer[Target],
    answer: Answer[Asked],
) -> Version:
    """The version that the instance reports, otherwise the policy or the sqlplus of the home.

    Since 18c, the release does not contain the release update (19.0.0.0.0). If the instance does
    not report the full version, the policy or sqlplus of the home may.
    """
    if isinstance(answer, HostproofError):
        if listed is not None:
            return listed
        if asking.forbidden_by is not None:
            raise Unanswered(
                "command:sqlplus -V",
                f"{asking.forbidden_by} is false, so no program of the home of {sid} is run: give "
                "its version in the policy",
            )
        return parameters_probe.release_of_home(host, known(target))
    version = answer.version
    if answer.full is not None:
        return answer.full
    if version[0] >= 18:
        for full in (listed, attempt(parameters_probe.release_of_home, host, known(target))):
            if isinstance(full, tuple) and full[0] == version[0] and any(full[1:]):
                return full
    return version


# -- the next start -------------------------------------------------------------------------------


class NextSga(NamedTuple):
    """The SGA of the next start in bytes, whole granules; 0 if it uses no SysV memory.

    ``stated`` is the size according to the entries. ``exact`` is False if the entries specify only
    a part of it. ``only`` is True if the start uses no small pages. ``refused`` is the reason why
    the start fails regardless of the host.
    """

    size: int
    stated: int
    exact: bool
    source: str
    only: bool
    refused: Optional[str]


def next_entries(database: Database) -> List[pfile.Entry]:
    """The entries that the next start takes: of the spfile in use, else of the file it finds."""
    if database.running is not None:
        answer = known(database.asked)
        if answer.spfile is not None:
            return list(answer.stored)
    return list(known(database.file).entries)


def next_place(database: Database) -> str:
    """The file that the next start takes its parameters from."""
    if not isinstance(database.asked, HostproofError) and database.asked.spfile is not None:
        return str(database.asked.spfile)
    return str(known(database.file).source)


def next_size(database: Database, name: str) -> Optional[int]:
    """Bytes that an entry sets for the next start; None where none does."""
    entry = pfile.effective(next_entries(database), name, database.sid)
    return None if entry is None else bytes_of(name, entry.value)


def running_size(database: Database, name: str) -> Optional[int]:
    """Bytes in force; None where the instance is down or does not tell the parameter."""
    if database.running is None:
        return None
    value = known(database.asked).running.get(name)
    return None if value is None else bytes_of(name, value)


def running_sga(database: Database) -> Optional[int]:
    """The SGA by the parameters in force; None for an instance that is down."""
    if database.running is None:
        return None
    sizes = [running_size(database, name) for name in ("sga_max_size", "sga_target")]
    if sizes == [None, None]:
        answer = known(database.asked)
        raise Unanswered(answer.key, f"{database.sid} tells no sga_max_size")
    return max(size or 0 for size in sizes)


def refuses_large_pages(database: Database) -> bool:
    """Whether the next start takes no huge page at all: use_large_pages=FALSE."""
    entry = pfile.effective(next_entries(database), "use_large_pages", database.sid)
    return entry is not None and entry.value.upper() == "FALSE"


def runs_without_large_pages(database: Database) -> bool:
    """Whether a running instance states that it takes no huge page; False where it is not known."""
    answer = if_known(database.asked, None)
    return answer is not None and (answer.running.get("use_large_pages") or "").upper() == "FALSE"


def change_of_parameter(database: Database, name: str, value: Optional[str]) -> str:
    """How an administrator sets a parameter for the next start; None resets it.

    An entry for the SID beats the one for all, so it goes. A text file is edited manually: ALTER
    SYSTEM ends with ORA-32001 for an instance that was started with one."""
    answer = if_known(database.asked, None)
    file = if_known(database.file, None)
    entries = if_known(attempt(next_entries, database), [])
    own = {entry.sid for entry in pfile.for_instance(entries, name, database.sid)}
    resets = sorted(own - {pfile.ALL} if value is not None else own)
    uses_text = answer.spfile is None if answer is not None else file is not None and file.is_text
    if uses_text:
        place = if_known(attempt(next_place, database), "its parameter file")
        return _change_of_text(place, name, value, resets)
    statements = []
    if value is not None:
        statements.append(f"ALTER SYSTEM SET {name}={value} SCOPE=SPFILE SID='*'")
    for sid in resets:
        statements.append(f"ALTER SYSTEM RESET {name} SCOPE=SPFILE SID='{sid}'")
    return "as SYSDBA: " + " and ".join(statements) if statements else ""


def _change_of_text(place: str, name: str, value: Optional[str], resets: List[str]) -> str:
    words = [f"write *.{name}={value} into {place}"] if value is not None else []
    if resets:
        lines = " and ".join(f"{sid}.{name}" for sid in resets)
        words.append(f"delete the lines {lines} from {place}")
    return " and ".join(words)


def next_sga(database: Database) -> NextSga:
    """What the next start takes; raises what is unknown."""
    sizes = {name: next_size(database, name) for name in SIZES}
    only = _takes_only_large_pages(database)
    refused = _refusal(sizes)
    if sizes["memory_target"]:
        return NextSga(0, 0, True, _source(database, sizes, ["memory_target"]), only, refused)
    maximum, target = sizes["sga_max_size"] or 0, sizes["sga_target"] or 0
    pools = [name for name in POOLS if sizes[name]]
    if maximum or target:
        # The pools count where they are what makes up the SGA, and then even beyond its maximum.
        size = max(maximum, target or sum(sizes[name] or 0 for name in pools))
        names = [name for name in ("sga_max_size", "sga_target") if sizes[name]]
        return _next_sga(size, True, _source(database, sizes, names), only, refused)
    return _without_target(database, sizes, pools, only, refused)


def _takes_only_large_pages(database: Database) -> bool:
    pages = pfile.effective(next_entries(database), "use_large_pages", database.sid)
    return pages is not None and pages.value.upper() in ("ONLY", "AUTO_ONLY")


def _next_sga(size: int, exact: bool, source: str, only: bool, refused: Optional[str]) -> NextSga:
    return NextSga(whole_granules(size), size, exact, source, only, refused)


def grows_to(now: int, coming: NextSga) -> int:
    """The SGA of the next start where it is larger than now, else 0."""
    # An instance rounds an odd size up to whole granules.
    same = coming.stated <= now or is_rounded(now, coming.stated)
    return 0 if same else coming.size


def _without_target(
    database: Database,
    sizes: Dict[str, Optional[int]],
    pools: List[str],
    only: bool,
    refused: Optional[str],
) -> NextSga:
    """Each pool has its own size; those that nothing sets have defaults that no entry tells."""
    source = _source(database, sizes, pools) or "neither sga_target nor sga_max_size is set"
    total = sum(sizes[name] or 0 for name in pools)
    now = running_sga(database)
    same = not running_size(database, "sga_target") and not running_size(database, "memory_target")
    if now is None or not same:
        return _next_sga(total, False, source, only, refused)
    growth, exact = 0, True
    for name in pools:
        running = running_size(database, name)
        exact = exact and running is not None
        growth += max((sizes[name] or 0) - (running or 0), 0) if running is not None else 0
    return _next_sga(max(now + growth, total), exact, source, only, refused)


def _refusal(sizes: Dict[str, Optional[int]]) -> Optional[str]:
    """Why the start fails before it takes any memory."""
    for name, limit, code in (
        ("sga_target", "sga_max_size", "ORA-00823"),
        ("memory_target", "memory_max_target", "ORA-00837"),
    ):
        size, most = sizes[name], sizes[limit]
        if size and most and size > most:
            return (
                f"{name} ({human(size)}) is larger than {limit} ({human(most)}), which stops the "
                f"start: {code}"
            )
    return None


def _source(database: Database, sizes: Dict[str, Optional[int]], names: List[str]) -> str:
    entries = next_entries(database)
    texts = []
    for name in names:
        entry = pfile.effective(entries, name, database.sid)
        if entry is not None:
            texts.append(f"{entry.sid}.{name}={human(sizes[name] or 0)}")
    return "{0} in {1}".format(", ".join(texts), next_place(database)) if texts else ""


def bytes_of(name: str, value: str) -> int:
    try:
        return parse_size(value)
    except ValueError as problem:
        raise Unanswered("policy", f"{name} is not a size: {kind_of(value)}") from problem


def whole_granules(size: int) -> int:
    """An SGA of that size as the instance makes it."""
    granule = _LARGEST_GRANULE
    for most, smaller in reversed(_GRANULES):
        if size <= most:
            granule = smaller
    return -(-size // granule) * granule


def is_rounded(running: int, stored: int) -> bool:
    """Whether a value in force is a stored one in whole granules, whatever the granule is."""
    granules = [granule for _most, granule in _GRANULES] + [_LARGEST_GRANULE]
    return running == stored or any(running == -(-stored // g) * g for g in granules)


def evidence_of(database: Database) -> Tuple[str, ...]:
    """The keys of what the next start was checked by."""
    keys = []
    if not isinstance(database.asked, HostproofError):
        keys.append(database.asked.key)
    if not isinstance(database.file, HostproofError):
        keys.append("command:cat " + database.file.source)
    return tuple(keys)
