# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Direct NFS, the NFS client inside the database: linked in, configured by what, in use.

Direct NFS is on where the oracle program loads libnfsodm. ``make -f ins_rdbms.mk dnfs_on`` copies
it to rdbms/lib/odm (12.1 and later), or in place of libodm11.so (11.2); manually libodm of any
release is replaced or linked. It falls back to the kernel's client silently, so only its own
connections show that it is in use. Sources: Oracle Database Installation Guide for Linux 11.2 to
23ai, Enabling and Disabling Direct NFS Client Control of NFS, and About Direct NFS Client Mounts.
"""

import ipaddress
from collections import OrderedDict
from typing import Dict, List, NamedTuple, Optional, Set, Tuple

from ....collect.answer import Answer, attempt, if_known, known, unless_absent
from ....collect.host import Host
from ....errors import Absent, HostproofError, Unanswered
from ....parsers.net import ip_addr, proc_net_tcp
from ....parsers.net.address import is_address
from ....parsers.oracle import orabasetab
from ....probes.nfs import nfs_files
from ....probes.nfs.direct_nfs_processes import DIRECT, PLAIN, DatabaseProcess, read_processes
from ....probes.nfs.nfs_connections import read_connections
from ....probes.oracle.oracle_homes import OracleHome
from ..parsers import oranfstab

GLOBAL_FILE = "/etc/oranfstab"

#: The attribute whose value no evidence may hold: it opens the SNMP of the server.
_SECRET = "community"

_ODM_FOLDER = "rdbms/lib/odm"


class Library(NamedTuple):
    """Whether oracle of a home loads Direct NFS when it starts, and the sentence that proves it.

    ``copy`` is the libodm that is a copy of libnfsodm, "" if none is: mapped, it looks like any
    libodm.
    """

    linked: bool
    proof: str
    copy: str


class Order(NamedTuple):
    """Paths where oracle of a home reads oranfstab, first wins; ``ignored`` are not read.

    ``named_by`` are the files in the home that contained these paths.
    """

    places: Tuple[str, ...]
    ignored: Tuple[str, ...]
    named_by: Tuple[str, ...] = ()


class HomeDirectNfs(NamedTuple):
    """One home. ``path`` is without links. Library is Absent where no database is installed."""

    home: OracleHome
    path: Answer[str]
    library: Answer[Library]
    order: Answer[Order]

    def evidence(self) -> Tuple[str, ...]:
        path = if_known(self.path, self.home.path)
        folders = (f"{path}/lib/", f"{path}/{_ODM_FOLDER}/")
        return tuple("command:ls -Lin " + folder for folder in folders)


class DirectNfs(NamedTuple):
    """What a host shows of Direct NFS.

    ``files`` holds every oranfstab of a search order, Absent where there is none. ``connections``
    are the established ones to port 2049. ``addresses`` are those of the host names in oranfstab,
    ``own`` those of this host.
    """

    homes: Tuple[HomeDirectNfs, ...]
    files: Dict[str, Answer[oranfstab.Parsed]]
    processes: Answer[List[DatabaseProcess]]
    connections: Answer[List[proc_net_tcp.Socket]]
    addresses: Dict[str, Answer[Tuple[str, ...]]]
    own: Answer[List[ip_addr.Address]]


def read_direct_nfs(host: Host, homes: List[OracleHome]) -> DirectNfs:
    """Everything about Direct NFS on a host; an error is where something was not read."""
    looked_at = _one_for_each_path([_read_home(host, home) for home in homes])
    files = {GLOBAL_FILE: attempt(_read_tab, host, GLOBAL_FILE, ())}
    for entry in looked_at:
        order = if_known(entry.order, Order((), ()))
        named_by = (*entry.home.named_by, *order.named_by)
        for path in order.places + order.ignored:
            if path not in files:
                files[path] = attempt(_read_tab, host, path, named_by)
    tabs = [tab for tab in files.values() if isinstance(tab, oranfstab.Parsed)]
    paths = [entry.path for entry in looked_at if not isinstance(entry.path, HostproofError)]
    return DirectNfs(
        homes=looked_at,
        files=files,
        processes=attempt(read_processes, host, paths),
        connections=attempt(read_connections, host),
        addresses={name: attempt(_resolve, host, name) for name in _names(tabs)},
        own=attempt(_read_own, host) if tabs else [],
    )


def mount_points(direct: DirectNfs) -> Set[str]:
    """Every mount that an oranfstab of the host names."""
    return {
        export.mount.rstrip("/") or "/"
        for tab in direct.files.values()
        for server in if_known(tab, oranfstab.Parsed([], [])).servers
        for export in server.exports
    }


def tab_key(path: str) -> str:
    """The evidence key of an oranfstab."""
    return "command:" + " ".join(nfs_files.argv_without(_SECRET, path))


def network_of(address: str, own: List[ip_addr.Address]) -> Optional[ip_addr.Network]:
    """The attached network that an address is in; None where a router is in between."""
    for interface in own:
        if ipaddress.ip_address(address) in interface.network:
            return interface.network
    return None


# -- a home


def _read_home(host: Host, home: OracleHome) -> HomeDirectNfs:
    path = attempt(nfs_files.real_path, host, home.path, home.named_by)
    return HomeDirectNfs(
        home=home,
        path=path,
        library=attempt(lambda: _read_library(host, known(path), home.named_by)),
        order=attempt(lambda: _read_order(host, home, known(path))),
    )


def _one_for_each_path(homes: List[HomeDirectNfs]) -> Tuple[HomeDirectNfs, ...]:
    """Homes that are one and the same behind links, as one."""
    merged: Dict[str, HomeDirectNfs] = OrderedDict()
    for entry in homes:
        path = if_known(entry.path, entry.home.path)
        if path in merged:
            first = merged[path].home
            home = first._replace(
                sids=first.sids + tuple(sid for sid in entry.home.sids if sid not in first.sids),
                places=first.places + entry.home.places,
                clusterware=first.clusterware or entry.home.clusterware,
            )
            merged[path] = merged[path]._replace(home=home)
        else:
            merged[path] = entry
    return tuple(merged.values())


def _read_library(host: Host, home: str, named_by: Tuple[str, ...]) -> Library:
    directory = home + "/lib"
    files = {file.name: file for file in nfs_files.list_files(host, directory, named_by)}
    direct = sorted(name for name in files if DIRECT.match(name))
    if not direct:
        raise Absent(f"command:ls -Lin {directory}/", f"{directory} holds no libnfsodm")
    odm = f"{home}/{_ODM_FOLDER}"
    loaded = unless_absent(attempt(nfs_files.list_files, host, odm, named_by), [])
    for file in loaded:
        if DIRECT.match(file.name) and file.size:
            return Library(True, f"{odm}/{file.name} is there", "")
    why_not = f"{odm} holds no libnfsodm, and libodm in {directory} is another file"
    return _replaced(host, directory, files, named_by) or Library(False, why_not, "")


def _replaced(
    host: Host, directory: str, files: Dict[str, nfs_files.File], named_by: Tuple[str, ...]
) -> Optional[Library]:
    """The libodm that is libnfsodm. None if none is."""
    for name in sorted(files):
        plain = PLAIN.match(name)
        other = f"libnfsodm{plain.group(1)}.so" if plain else ""
        if other not in files:
            continue
        path, two = f"{directory}/{name}", f"{directory}/{other}"
        if files[name].inode == files[other].inode:
            return Library(True, f"{path} leads to {other}", path)
        is_as_long = files[name].size == files[other].size
        if is_as_long and nfs_files.same_content(host, path, two, named_by):
            return Library(True, f"{path} is a copy of {other}", path)
    return None


def _read_order(host: Host, named: OracleHome, home: str) -> Order:
    """The search order. A read-only home has its dbs directory in ORACLE_BASE_HOME.

    The guides name ORACLE_BASE_HOME/dbs for oranfstab, but ORACLE_BASE/dbs for all else in dbs:
    a file there is reported, not trusted.
    """
    own = home + "/dbs/oranfstab"
    base_tab = home + "/install/orabasetab"
    text = attempt(nfs_files.read_text, host, base_tab, None, named.named_by)
    if isinstance(text, Absent):
        return Order((own, GLOBAL_FILE), ())
    tab = orabasetab.parse(known(text), named.path) or orabasetab.parse(known(text), home)
    if tab is None or not tab.read_only:
        return Order((own, GLOBAL_FILE), ())
    base_home = tab.base_home() + "/dbs/oranfstab"
    ignored = (tab.base + "/dbs/oranfstab", own)
    return Order((base_home, GLOBAL_FILE), ignored, named_by=(base_tab,))


def _read_tab(host: Host, path: str, named_by: Tuple[str, ...]) -> oranfstab.Parsed:
    return oranfstab.parse(nfs_files.read_text_without(host, _SECRET, path, named_by))


# -- names and networks


def _names(tabs: List[oranfstab.Parsed]) -> List[str]:
    """The host names that are where an address may stand."""
    return sorted(
        {
            named.value
            for tab in tabs
            for server in tab.servers
            for named in server.paths + server.locals
            if not is_address(named.value)
        }
    )


def _resolve(host: Host, name: str) -> Tuple[str, ...]:
    """The IPv4 addresses of a name, or its others if it has none; () if it is not a name."""
    for database in ("ahostsv4", "ahosts"):
        argv = ["getent", database, name]
        output = host.run(argv, nfs_files.TIMEOUT)
        if output.rc not in (0, 2):
            key = "command:" + " ".join(argv)
            raise Unanswered(key, f"{key} ended with {output.rc}")
        if output.rc == 0:
            lines = [line.split() for line in output.stdout.splitlines()]
            return tuple(sorted({words[0] for words in lines if words}))
    return ()


def _read_own(host: Host) -> List[ip_addr.Address]:
    argv = ["ip", "-o", "addr", "show"]
    return ip_addr.parse(host.read_output(argv))
