# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Initialization parameters of the instances of a host: in force, and of the next start.

A running instance is queried (sqlplus.py); for one that is down, the file is read that a plain
startup takes: spfileSID.ora, spfile.ora, initSID.ora in the dbs directory of its home. What is in
ASM only the instance can tell. Source: Oracle Database Administrator's Guide, About Initialization
Parameter Files and Startup; Oracle Database Installation Guide, About orabasetab."""

import re
from typing import Dict, List, NamedTuple, Optional, Tuple

from ...collect.answer import attempt, known
from ...collect.command import Command, state_of
from ...collect.host import Host
from ...errors import (
    Absent,
    HostproofError,
    NotRecorded,
    ParseError,
    Unanswered,
    kind_of,
    name_or_kind,
)
from ...parsers.number import integer
from ...parsers.oracle import orabasetab, pfile, spfile, sqlplus_rows
from ...parsers.unix import getent
from ..nfs import nfs_files
from .sqlplus import PROGRAM, Target, query

_DEEPEST_IFILE = 3

Version = Tuple[int, ...]


class Asked(NamedTuple):
    """What a running instance answered. ``stored`` are the entries of its spfile.

    ``full`` is the release with its update (19.22.0.0.0), which instances show since 18c, else
    None. ``spfile`` is None where it was started with a text file. ``seconds`` is the duration of
    the logon with its queries.
    """

    version: Version
    full: Optional[Version]
    status: str
    running: Dict[str, Optional[str]]
    stored: List[pfile.Entry]
    spfile: Optional[str]
    trace: Optional[str]
    key: str
    seconds: Optional[float] = None


class ParameterFile(NamedTuple):
    """The file that a plain startup takes, and those next to it that it does not reach.

    ``source`` is where the entries really are: an entry SPFILE= leads to another file.
    """

    path: str
    source: str
    entries: List[pfile.Entry]
    unused: List[str]

    @property
    def is_text(self) -> bool:
        """Whether a person may edit it: an spfile is changed by an instance only."""
        name = self.source.rpartition("/")[2]
        return self.source == self.path and not name.startswith("spfile")


#: The number of fields the rows have that sqlplus is required.
_FIELDS = {"instance": 3, "full": 1, "running": 2, "stored": 3, "trace": 1}


def version_of(text: str) -> Version:
    """ "19.0.0.0.0" as numbers; ParseError for anything else."""
    if not re.match(r"^\d+(\.\d+)+$", text):
        raise ParseError("release", f"not numbers between dots: {kind_of(text)}")
    return tuple(integer(number) for number in text.split("."))


def ask(host: Host, target: Target, names: Tuple[str, ...], timeout: float) -> Asked:
    """Ask a running instance. Unanswered says what sqlplus said where it failed."""
    command = query(target, names + ("spfile",), timeout)
    key = "command:" + command.name
    rows = rows_of(host, target.sid, command, _FIELDS)
    of_kind = _by_kind(rows)
    instances = of_kind.get("instance", [])
    if len(instances) != 1 or not instances[0][1]:
        raise Unanswered(key, f"sqlplus of {target.sid} told no release")
    running = {str(name): value for name, value in of_kind.get("running", [])}
    stored = [
        pfile.Entry(str(sid), str(name), value or "", 0)
        for sid, name, value in of_kind.get("stored", [])
    ]
    full = [version for (version,) in of_kind.get("full", []) if version]
    trace = [folder for (folder,) in of_kind.get("trace", [])]
    return Asked(
        version=version_of(instances[0][1]),
        full=version_of(full[0]) if full else None,
        status=instances[0][2] or "",
        running=running,
        stored=[entry for entry in stored if entry.name != "spfile"],
        spfile=running.get("spfile"),
        trace=trace[0] if trace else None,
        key=key,
        seconds=host.seconds_of(command),
    )


def _by_kind(rows: List[sqlplus_rows.Row]) -> Dict[str, List[Tuple[Optional[str], ...]]]:
    of_kind: Dict[str, List[Tuple[Optional[str], ...]]] = {}
    for row in rows:
        of_kind.setdefault(row.kind, []).append(row.fields)
    return of_kind


def rows_of(
    host: Host, sid: str, command: Command, fields: Dict[str, int]
) -> List[sqlplus_rows.Row]:
    """The rows of a query; each kind has that number of fields. Unanswered if it failed."""
    key = "command:" + command.name
    output = host.ask(command)
    problems = sqlplus_rows.errors(output.stdout + output.stderr)
    if output.rc != 0 or problems:
        message = "; ".join(problems) or " ".join((output.stdout + output.stderr).split())[-200:]
        raise Unanswered(
            key, "sqlplus of {0} ended with {1}: {2}".format(sid, output.rc, message or "?")
        )
    rows = sqlplus_rows.parse(output.stdout)
    short = [row.kind for row in rows if len(row.fields) != fields.get(row.kind, len(row.fields))]
    if short:
        raise Unanswered(
            key, f"sqlplus of {sid} told a row {name_or_kind(short[0])} that is not whole"
        )
    return list(rows)


def release_of_home(host: Host, target: Target) -> Version:
    """What ``sqlplus -V`` says, run as the owner: it is none of root's programs.

    Since 18c a second line has the release with its update: ``Version 19.22.0.0.0``.
    """
    command = Command(
        name=f"sqlplus -V of {target.home}",
        argv=(f"{target.home}/{PROGRAM}", "-V"),
        user=target.user,
        environment={"ORACLE_HOME": target.home, "LD_LIBRARY_PATH": target.home + "/lib"},
        expected=r"^SQL\*Plus: Release ([\d.]+)",
        timeout=20.0,
    )
    key = "command:" + command.name
    output = host.ask(command)
    try:
        version = version_of(state_of(command, output))
        full = re.search(r"^Version (\d+(?:\.\d+)+)\s*$", output.stdout, re.MULTILINE)
        return version if full is None else version_of(full.group(1))
    except ParseError as problem:
        raise Unanswered(key, str(problem)) from problem
    except HostproofError as problem:
        raise Unanswered(key, str(problem)) from problem


def owner_of(host: Host, home: str) -> str:
    """The one account that owns the home, its bin and its sqlplus."""
    path = f"{home}/{PROGRAM}"
    key = "program:" + path
    owner = attempt(host.program_owner, path)
    if isinstance(owner, NotRecorded):
        return _owner_of_old(host, home)
    argv = ["getent", "passwd", str(known(owner))]
    accounts = getent.parse_passwd(host.run(argv).stdout)
    if not accounts:
        raise Unanswered(key, f"the owner of {path} has no account")
    return _no_root(key, path, accounts[0].name)


def _owner_of_old(host: Host, home: str) -> str:
    """As records before 0.2.0 have it: the owner of what sqlplus led to."""
    argv = ["stat", "-L", "-c", "%U", f"{home}/{PROGRAM}"]
    output = host.run(argv, nfs_files.TIMEOUT)
    name = output.stdout.strip()
    key = "command:" + " ".join(argv)
    if "No such file" in output.stderr:
        raise Absent(key, f"{home} has no {PROGRAM}")
    if output.rc != 0 or not name or name == "UNKNOWN":
        raise Unanswered(key, f"the owner of {argv[-1]} is not known")
    return _no_root(key, argv[-1], name)


def _no_root(key: str, path: str, name: str) -> str:
    if name == "root":
        # An account that can write oratab must not control what root runs and reads.
        raise Unanswered(key, f"{path} belongs to root, which owns no database home")
    return name


# -- files ----------------------------------------------------------------------------------------


def read_parameter_file(host: Host, home: str, sid: str, user: str) -> ParameterFile:
    """The first file that a plain startup finds; Absent if it finds none.

    All are read as the owner, who chose where they lead: root would read more than that.
    """
    directory = dbs_folder(host, home, user)
    names = [f"spfile{sid}.ora", "spfile.ora", f"init{sid}.ora"]
    present: List[Tuple[str, str]] = []
    for name in names:
        path = f"{directory}/{name}"
        is_text = name.startswith("init")
        text = attempt(
            nfs_files.read_text, host, path, user, record=pfile.kept if is_text else None
        )
        if not isinstance(text, Absent):
            present.append((path, known(text)))
    if not present:
        raise Absent(
            f"command:cat {directory}/{names[0]}",
            f"{directory} holds no parameter file of {sid}",
        )
    path, text = present[0]
    unused = [other for other, _text in present[1:]]
    entries = _parse(host, path, text, user, 0)
    pointer = pfile.effective(entries, "spfile", sid)
    if pointer is None:
        return ParameterFile(path, path, entries, unused)
    source = pointer.value
    if not source.startswith("/"):
        raise Unanswered(
            "command:cat " + path,
            f"{path} leads to {source}, which only the instance can read",
        )
    stored = spfile.parse(nfs_files.read_text(host, source, user))
    # The last of several entries for one parameter counts, wherever SPFILE= is among them.
    at = entries.index(pointer)
    around = [entry for entry in entries if entry.name != "spfile"]
    before = [entry for entry in entries[:at] if entry.name != "spfile"]
    return ParameterFile(path, source, before + stored + around[len(before) :], unused)


def sids_with_files(host: Host, home: str, user: str) -> List[str]:
    """The instances that the home has a parameter file for; Absent if it has no such
    directory."""
    names = [entry.name for entry in nfs_files.list_files(host, dbs_folder(host, home, user))]
    matches = [re.match(r"(?:spfile|init)(.+)\.ora$", name) for name in names]
    return sorted({match.group(1) for match in matches if match})


def dbs_folder(host: Host, home: str, user: str) -> str:
    """Where the parameter files of a home lie: ORACLE_BASE/dbs if the home is read-only."""
    text = attempt(nfs_files.read_text, host, home + "/install/orabasetab", user)
    if not isinstance(text, Absent):
        tab = orabasetab.parse(known(text), home)
        if tab is not None and tab.read_only:
            return tab.base + "/dbs"
    return home + "/dbs"


def _parse(host: Host, path: str, text: str, user: str, depth: int) -> List[pfile.Entry]:
    if path.rpartition("/")[2].startswith("spfile"):
        return spfile.parse(text)
    if depth > _DEEPEST_IFILE:
        raise Unanswered("command:cat " + path, f"{path}: IFILE leads too deep")
    entries = []
    for entry in pfile.parse(text):
        if entry.name != "ifile":
            entries.append(entry)
        else:
            inner = nfs_files.read_text(host, entry.value, user, record=pfile.kept)
            entries.extend(_parse(host, entry.value, inner, user, depth + 1))
    return entries
