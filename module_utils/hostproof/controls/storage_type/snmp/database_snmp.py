# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Facts on the database host: the SNMP library of the database, and its trace files.

The database writer loads ``libnetsnmp.so`` by exactly this name and queries the NFS server. Both
steps write lines to its trace file. Sources: Oracle Database Installation Guide, "Enabling HCC on
Direct NFS Client"; M. Przepiorowski, "HCC on non-Exadata - How Oracle is detecting storage type"
(2012), for the trace lines; ld.so(8) for the search path."""

import re
from typing import List, NamedTuple, Optional, Tuple

from ....collect.answer import attempt, if_known, known
from ....collect.host import Host
from ....errors import Absent, HostproofError, Unanswered
from ....probes.nfs import nfs_files
from ....probes.oracle.oracle_homes import OracleHome
from ..parsers import ldconfig

LIBRARY = "libnetsnmp.so"
#: Directories that a 64-bit program searches after the linker's cache, on EL and SUSE.
FOLDERS = ("/lib64", "/usr/lib64")
LDCONFIG = ["ldconfig", "-p"]
#: Exists on Exadata, whose cells send traps but do not answer GET requests.
CELLS = "/etc/oracle/cell/network-config/cellip.ora"


class Library(NamedTuple):
    """``path`` is the library. ``broken`` are links without a target. ``versions`` are library
    files without the symlink."""

    path: Optional[str]
    broken: Tuple[str, ...]
    versions: Tuple[str, ...]
    evidence: Tuple[str, ...]


class Line(NamedTuple):
    """A line of a trace file. ``server`` did not answer; "" if the library was not loaded."""

    path: str
    text: str
    server: str


def read_library(host: Host, homes: List[OracleHome]) -> Library:
    """The libnetsnmp.so that the database finds: in lib/ of its home, in the linker's cache, or in
    the linker's directories."""
    places = []
    broken = []
    for home in homes:
        path = f"{home.path}/lib/{LIBRARY}"
        if not isinstance(attempt(nfs_files.real_path, host, path, home.named_by), HostproofError):
            places.append(path)
    cached = attempt(_read_cache, host)
    libraries = if_known(cached, [])
    for path in [library.path for library in libraries if library.name == LIBRARY] + [
        f"{directory}/{LIBRARY}" for directory in FOLDERS
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
        library.path
        for library in libraries
        if re.match(re.escape(LIBRARY) + r"\.\d+$", library.name) and "64" in library.flags
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
    return ldconfig.parse(host.read_output(LDCONFIG))


# -- trace files ----------------------------------------------------------------------------------

_SETUP = re.compile(r"skgnfs_setup_snmp\S{0,100} (.*)$")
_QUERY = re.compile(r"skgnfs_query_snmp\S{0,100} (.*?)(?: for server (\S+))?$")


def trace_argv(directory: str) -> List[str]:
    return [
        "grep",
        "-r",
        "-s",
        "-E",
        "-m",
        "5",
        "--include=*_dbw*.trc",
        "skgnfs_(setup|query)_snmp",
        directory,
    ]


def read_trace(host: Host, directory: str) -> List[Line]:
    """The first lines about SNMP in each trace file of a database writer. Absent if the directory
    does not exist."""
    nfs_files.real_path(host, directory)
    argv = trace_argv(directory)
    output = host.run_as_reader(argv, [directory], 60.0)
    if output.rc not in (0, 1) and not output.stdout:
        raise Unanswered(
            "command:" + " ".join(argv), f"{directory} could not be searched for trace lines"
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
    """The addresses of the Exadata cells that this host uses. Absent without Exadata storage."""
    lines = re.findall(r'cell\s*=\s*"?([^"\s]+)', host.read_text(CELLS))
    return [address for line in lines for address in line.split(";") if address]
