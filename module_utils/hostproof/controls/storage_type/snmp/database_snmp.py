# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The database host's side: how Oracle requires storage over SNMP, and whether it can.

The database writer loads ``libnetsnmp.so`` by that very name and asks the NFS server; both leave
lines in its trace file. Sources: Oracle Database Installation Guide, "Enabling HCC on Direct NFS
Client"; M. Przepiorowski, "HCC on non-Exadata - How Oracle is detecting storage type" (2012), for
the trace lines; ld.so(8) for where a name is searched for."""

import re
from typing import List, NamedTuple, Optional, Tuple

from ....collect.answer import attempt, if_known, known
from ....collect.host import Host
from ....errors import Absent, HostproofError, Unanswered
from ....probes.nfs import nfs_files
from ....probes.oracle.oracle_homes import OracleHome
from ..parsers import ldconfig

LIBRARY = "libnetsnmp.so"
#: Where a 64-bit program finds a name that is not in the linker's cache, on EL and SUSE.
FOLDERS = ("/lib64", "/usr/lib64")
LDCONFIG = ["ldconfig", "-p"]
#: Exists where the storage is Exadata: its cells send traps and answer no GET.
CELLS = "/etc/oracle/cell/network-config/cellip.ora"


class Library(NamedTuple):
    """``path`` is what the name leads to. ``versions`` are files that only lack the name."""

    path: Optional[str]
    broken: Tuple[str, ...]
    versions: Tuple[str, ...]
    evidence: Tuple[str, ...]


class Line(NamedTuple):
    """A line of a trace file. ``server`` is the one that did not answer, "" for the library."""

    path: str
    text: str
    server: str


def read_library(host: Host, homes: List[OracleHome]) -> Library:
    """Where the database finds libnetsnmp.so: lib/ of its home, the linker's cache and
    directories."""
    places = []
    broken = []
    for home in homes:
        path = f"{home.path}/lib/{LIBRARY}"
        if not isinstance(attempt(nfs_files.real_path, host, path, home.named_by), HostproofError):
            places.append(path)
    cached = attempt(_read_cache, host)
    libraries = if_known(cached, [])
    for path in [one.path for one in libraries if one.name == LIBRARY] + [
        f"{folder}/{LIBRARY}" for folder in FOLDERS
    ]:
        target = attempt(host.real_path, path)
        if isinstance(target, Absent):
            if not isinstance(attempt(nfs_files.link_target, host, path), HostproofError):
                broken.append(path)
        else:
            known(target)
            places.append(path)
    if not places:
        known(cached)
    versions = [
        one.path
        for one in libraries
        if re.match(re.escape(LIBRARY) + r"\.\d+$", one.name) and "64" in one.flags
    ]
    return Library(
        path=places[0] if places else None,
        broken=tuple(dict.fromkeys(broken)),
        versions=tuple(versions),
        evidence=(
            "command:" + " ".join(LDCONFIG),
            f"link:{FOLDERS[1]}/{LIBRARY}",
        ),
    )


def _read_cache(host: Host) -> List[ldconfig.Library]:
    output = host.run(LDCONFIG)
    if output.rc != 0:
        key = "command:" + " ".join(LDCONFIG)
        raise Unanswered(key, f"ldconfig ended with {output.rc}")
    return ldconfig.parse(output.stdout)


# -- trace files ----------------------------------------------------------------------------------

_SETUP = re.compile(r"skgnfs_setup_snmp\S{0,100} (.*)$")
_QUERY = re.compile(r"skgnfs_query_snmp\S{0,100} (.*?)(?: for server (\S+))?$")


def trace_argv(folder: str) -> List[str]:
    return [
        "grep",
        "-r",
        "-s",
        "-E",
        "-m",
        "5",
        "--include=*_dbw*.trc",
        "skgnfs_(setup|query)_snmp",
        folder,
    ]


def read_trace(host: Host, folder: str) -> List[Line]:
    """What the database writers wrote about SNMP, some lines a file; Absent without the
    directory."""
    nfs_files.real_path(host, folder)
    argv = trace_argv(folder)
    output = host.run_as_reader(argv, [folder], 60.0)
    if output.rc not in (0, 1) and not output.stdout:
        raise Unanswered(
            "command:" + " ".join(argv), f"{folder} could not be searched for trace lines"
        )
    lines = []
    for row in output.stdout.splitlines():
        path, _, text = row.partition(":")
        setup, query = _SETUP.search(text), _QUERY.search(text)
        if query is not None:
            lines.append(Line(path, query.group(1), query.group(2) or "?"))
        elif setup is not None:
            lines.append(Line(path, setup.group(1), ""))
    return lines


def read_cells(host: Host) -> List[str]:
    """The addresses of the Exadata cells that this host uses; Absent where it uses none."""
    lines = re.findall(r'cell\s*=\s*"?([^"\s]+)', host.read_text(CELLS))
    return [address for line in lines for address in line.split(";") if address]
