# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Direct NFS: is its library linked in, is oranfstab right, which one counts, and is it used."""

import difflib
from typing import Any, Dict, List, NamedTuple, Optional, Set, Tuple

from ...answer import attempt, if_known, known
from ...errors import Absent, HostproofError
from ...finding import ERROR, FAIL, PASS, SKIP, WARN, Check, Finding, found
from ...parsers import nfs_options, oranfstab
from ...probes import direct_nfs
from ...probes.direct_nfs import GLOBAL_FILE, HomeDirectNfs
from ...probes.nfs_mounted import LINUX, Mounted
from ...probes.oracle_homes import LISTED
from .checks import DIRECT_NFS_IN_USE, DIRECT_NFS_LIBRARY, ORANFSTAB, ORANFSTAB_ORDER
from .facts import Facts, JudgedMount, is_beneath
from .judging import undetermined
from .policy import Policy

#: A file with more mistakes than this is no oranfstab; the rest is only counted.
MOST_SHOWN = 20
ASK_THE_DATABASE = "select * from v$dnfs_servers; select * from v$dnfs_channels;"

_NO_MISTAKE = "no mistake"
_REQUIRED, _FORBIDDEN = "required", "forbidden"
_FORBIDDEN_TEXT = "nfs_mounts_direct_nfs is forbidden: no oranfstab may count."
_DESIRED = {
    _REQUIRED: "Direct NFS (nfs_mounts_direct_nfs is required)",
    _FORBIDDEN: "no Direct NFS (nfs_mounts_direct_nfs is forbidden)",
}


def judge_library(facts, policy, judged):
    # type: (Facts, Policy, List[JudgedMount]) -> List[Finding]
    """One finding for each Oracle home with a database."""
    reason = _not_judged(facts, policy)
    if reason:
        return [found(DIRECT_NFS_LIBRARY, SKIP, why=reason)]
    homes = _database_homes(facts)
    if not homes:
        return [_no_home(DIRECT_NFS_LIBRARY, policy)]
    return [_of_home(DIRECT_NFS_LIBRARY, one, _judge_library, facts, policy) for one in homes]


def judge_oranfstab(facts, policy, judged):
    # type: (Facts, Policy, List[JudgedMount]) -> List[Finding]
    """One finding for each mistake of each oranfstab, or one for a file without any."""
    reason = _not_judged(facts, policy)
    if reason:
        return [found(ORANFSTAB, SKIP, why=reason)]
    if policy.direct_nfs == _FORBIDDEN:
        return [found(ORANFSTAB, SKIP, why=_FORBIDDEN_TEXT)]
    findings = []  # type: List[Finding]
    for path, tab in sorted(facts.direct_nfs.files.items()):
        if isinstance(tab, HostproofError):
            if not isinstance(tab, Absent):
                findings.append(_undetermined(ORANFSTAB, path, tab))
        else:
            findings.extend(_judge_tab(path, tab, facts))
    if findings:
        return findings
    return [_judge_no_tab(facts, judged)]


def judge_oranfstab_order(facts, policy, judged):
    # type: (Facts, Policy, List[JudgedMount]) -> List[Finding]
    """One finding for each Oracle home that finds an oranfstab or has Direct NFS linked in."""
    reason = _not_judged(facts, policy)
    if reason:
        return [found(ORANFSTAB_ORDER, SKIP, why=reason)]
    if policy.direct_nfs == _FORBIDDEN:
        return [found(ORANFSTAB_ORDER, SKIP, why=_FORBIDDEN_TEXT)]
    homes = _database_homes(facts)
    if not homes:
        return [_no_home(ORANFSTAB_ORDER, policy)]
    return [_of_home(ORANFSTAB_ORDER, one, _judge_order, facts, policy) for one in homes]


def judge_in_use(facts, policy, judged):
    # type: (Facts, Policy, List[JudgedMount]) -> List[Finding]
    """One finding for each running instance: only connections of its own prove Direct NFS."""
    reason = _not_judged(facts, policy)
    if reason:
        return [found(DIRECT_NFS_IN_USE, SKIP, why=reason)]
    connected = channels(facts)
    on_nfs = _instances_on_nfs(facts)
    sids = sorted({process.sid for process in known(facts.direct_nfs.processes)} | set(on_nfs))
    if not sids:
        # A process of a home that nobody named may run all the same.
        why = "No database process has a known home, a connection or a file on NFS open."
        return [found(DIRECT_NFS_IN_USE, SKIP, why=why)]
    return [
        _judge_instance(sid, connected.get(sid, []), on_nfs.get(sid, []), facts, policy)
        for sid in sids
    ]


# -- what all of them need


def _not_judged(facts, policy):
    # type: (Facts, Policy) -> Optional[str]
    """Why Direct NFS is not judged at all."""
    if policy.direct_nfs == "unmanaged":
        return "nfs_mounts_direct_nfs is unmanaged."
    system = known(facts.system)
    if system != LINUX:
        return "Direct NFS is judged on Linux only, this is {0}.".format(system)
    return None


def _database_homes(facts):
    # type: (Facts) -> List[HomeDirectNfs]
    """The homes to judge: those of Clusterware have no database, those of clients no libnfsodm.

    A home that the policy lists is judged, so that a wrong path does not go unnoticed.
    """
    known(facts.homes)
    return [
        one
        for one in facts.direct_nfs.homes
        if not one.home.clusterware
        and (not isinstance(one.library, Absent) or LISTED in one.home.places)
    ]


def _no_home(check, policy):
    # type: (Check, Policy) -> Finding
    text = (
        "No Oracle home with a database is known: none in oratab, in the inventory, of a running "
        "instance or in nfs_mounts_oracle_homes."
    )
    if policy.direct_nfs == _REQUIRED:
        return found(
            check,
            ERROR,
            why=text,
            fix="nfs_mounts_oracle_homes: [/path/of/the/home]",
            desired=_DESIRED[_REQUIRED],
        )
    return found(check, SKIP, why=text)


def _of_home(check, one, judge, facts, policy):
    # type: (Check, HomeDirectNfs, Any, Facts, Policy) -> Finding
    try:
        finding = judge(one, facts, policy)  # type: Finding
        return finding
    except HostproofError as problem:
        return _undetermined(check, one.home.path, problem)


def _undetermined(check, subject, problem):
    # type: (Check, str, HostproofError) -> Finding
    return undetermined(check, problem)._replace(title=_title(check, subject))


def _title(check, subject):
    # type: (Check, str) -> str
    return "{0}: {1}".format(subject, check.title)


# -- the library


def _judge_library(one, facts, policy):
    # type: (HomeDirectNfs, Facts, Policy) -> Finding
    library = known(one.library)
    running = attempt(_instances_of, one, facts)
    states = if_known(running, {})
    seen = set(states.values())
    wanted = {_REQUIRED: True, _FORBIDDEN: False}.get(policy.direct_nfs)
    tab = _first_file(one, facts)
    status, why, fix = PASS, None, None  # type: str, Optional[str], Optional[str]
    if wanted is not None and library.linked != wanted:
        status, fix = FAIL, _relink(one, wanted)
        why = "The policy wants it {0}: {1}.".format("on" if wanted else "off", library.proof)
    elif (not library.linked) in seen:
        status = WARN if wanted is None else FAIL
        fix = "restart {0}".format(_names(states, not library.linked))
        why = "{0} started before the library was changed and runs {1} Direct NFS.".format(
            _names(states, not library.linked), "without" if library.linked else "with"
        )
    elif None in seen:
        status = WARN
        fix = "restart {0}".format(_names(states, None))
        why = "The ODM library that {0} has mapped was replaced since it started.".format(
            _names(states, None)
        )
    elif wanted is None and not library.linked and tab is not None:
        status, fix = WARN, _relink(one, True) + " (or remove {0})".format(tab)
        why = "{0} is there, but without its library Direct NFS reads no oranfstab.".format(tab)
    elif isinstance(running, HostproofError):
        known(running)
    elif wanted is None and not library.linked:
        status = SKIP
        why = "Direct NFS is not linked in, and no oranfstab asks for it."
    return found(
        DIRECT_NFS_LIBRARY,
        status,
        title=_title(DIRECT_NFS_LIBRARY, one.home.path),
        why=why,
        fix=fix,
        desired=_DESIRED.get(policy.direct_nfs),
        persisted="{0} ({1})".format("linked in" if library.linked else "off", library.proof),
        running=_show_states(states),
        evidence=one.evidence() + (direct_nfs.PROCESSES_KEY,),
    )


def _relink(one, on):
    # type: (HomeDirectNfs, bool) -> str
    return "stop every instance of the home; cd {0}/rdbms/lib && make -f ins_rdbms.mk {1}".format(
        one.home.path, "dnfs_on" if on else "dnfs_off"
    )


def _instances_of(one, facts):
    # type: (HomeDirectNfs, Facts) -> Dict[str, Optional[bool]]
    """The running instances of a home, and whether each has Direct NFS loaded."""
    states = {}  # type: Dict[str, Optional[bool]]
    for process in known(facts.direct_nfs.processes):
        if process.home == one.path or (process.libraries and process.sid in one.home.sids):
            state = process.has_direct_nfs(_copies(facts))
            if process.sid not in states or state:
                states[process.sid] = state
            elif state is None and not states[process.sid]:
                states[process.sid] = None
    return states


def _copies(facts):
    # type: (Facts) -> Set[str]
    libraries = [if_known(one.library, None) for one in facts.direct_nfs.homes]
    return {library.copy for library in libraries if library is not None} - {""}


def _names(states, state):
    # type: (Dict[str, Optional[bool]], Optional[bool]) -> str
    return ", ".join(sorted(sid for sid in states if states[sid] is state))


def _show_states(states):
    # type: (Dict[str, Optional[bool]]) -> Optional[str]
    words = {True: "with Direct NFS", False: "without Direct NFS", None: "library replaced"}
    shown = ["{0} {1}".format(sid, words[states[sid]]) for sid in sorted(states)]
    return ", ".join(shown) or None


# -- oranfstab


class _Fault(NamedTuple):
    """Something wrong with a line of a file; ``status`` as in a finding."""

    line: int
    status: str
    why: str


def _judge_tab(path, tab, facts):
    # type: (str, oranfstab.Parsed, Facts) -> List[Finding]
    faults = [
        _Fault(mistake.line, FAIL if mistake.certain else WARN, mistake.problem)
        for mistake in tab.mistakes
    ]
    for look in (_against_mounts, _against_names, _against_networks):
        try:
            faults += look(tab, facts)
        except HostproofError as problem:
            faults.append(_Fault(0, ERROR, "Could not be determined: {0}".format(problem)))
    faults.sort()
    findings = [_of_fault(path, fault) for fault in faults[:MOST_SHOWN]]
    if len(faults) > MOST_SHOWN:
        more = "{0} more mistakes are not shown".format(len(faults) - MOST_SHOWN)
        findings.append(_of_fault(path, _Fault(0, FAIL, more)))
    if findings:
        return findings
    servers = ", ".join(server.name for server in tab.servers)
    mounts = ", ".join(export.mount for server in tab.servers for export in server.exports)
    return [
        found(
            ORANFSTAB,
            PASS,
            title=_title(ORANFSTAB, path),
            desired=_NO_MISTAKE,
            persisted="{0} for {1}".format(servers, mounts) if mounts else "no server",
            evidence=[direct_nfs.tab_key(path)],
        )
    ]


def _of_fault(path, fault):
    # type: (str, _Fault) -> Finding
    place = "{0}:{1}".format(path, fault.line) if fault.line else path
    return found(
        ORANFSTAB,
        fault.status,
        title=_title(ORANFSTAB, place),
        why=fault.why.rstrip(".") + ".",
        fix=None if fault.status == ERROR else "edit {0}, then restart the instances".format(place),
        desired=_NO_MISTAKE,
        persisted=fault.why,
        evidence=[direct_nfs.tab_key(path)],
    )


def _judge_no_tab(facts, judged):
    # type: (Facts, List[JudgedMount]) -> Finding
    """Without a file the mounts of the kernel count, and then only NFSv3 is spoken."""
    linked = [
        one.home.path
        for one in _database_homes(facts)
        if not isinstance(one.library, HostproofError) and one.library.linked
    ]
    newer = [
        one.mounted.path
        for one in judged
        if one.mounted is not None and _version(one.mounted).startswith("4")
    ]
    if linked and newer:
        return found(
            ORANFSTAB,
            WARN,
            why="Direct NFS of {0} is linked in, and without nfs_version in an oranfstab it speaks "
            "NFSv3 to {1}, which the kernel has mounted as NFSv4.".format(
                ", ".join(linked), ", ".join(newer)
            ),
            fix="nfs_version: NFSv4.1 in " + GLOBAL_FILE,
            evidence=[direct_nfs.tab_key(GLOBAL_FILE)],
        )
    return found(
        ORANFSTAB,
        SKIP,
        why="There is no oranfstab: Direct NFS would take the mounts of /etc/mtab.",
        evidence=[direct_nfs.tab_key(GLOBAL_FILE)],
    )


def _against_mounts(tab, facts):
    # type: (oranfstab.Parsed, Facts) -> List[_Fault]
    mounted = {mount.path: mount for mount in known(facts.mounted)}
    faults = []
    for server in tab.servers:
        for export in server.exports:
            mount = mounted.get(export.mount)
            if mount is not None:
                faults += _against_mount(server, export, mount, facts)
                continue
            clean = export.mount.rstrip("/")
            if clean in mounted:
                text = "mount {0} is written {1} where it is mounted"
                faults.append(_Fault(export.line, WARN, text.format(export.mount, clean)))
                continue
            near = difflib.get_close_matches(export.mount, sorted(mounted), 1)
            faults.append(
                _Fault(
                    export.line,
                    FAIL,
                    "mount {0} is no NFS mount of this host{1}".format(
                        export.mount, ", did you mean {0}?".format(near[0]) if near else ""
                    ),
                )
            )
    return faults


def _against_mount(server, export, mount, facts):
    # type: (oranfstab.Server, oranfstab.Export, Mounted, Facts) -> List[_Fault]
    faults = []
    host, _, folder = mount.source.partition(":/")
    folder = ("/" + folder).rstrip("/") or "/"
    kernel = _version(mount)
    if not _same_version(server.version(), kernel):
        line = server.settings["nfs_version"].line if "nfs_version" in server.settings else 0
        faults.append(
            _Fault(
                line or export.line,
                WARN,
                "Direct NFS speaks NFSv{0} to {1}, the kernel has mounted it as NFSv{2}".format(
                    server.version(), mount.path, kernel
                ),
            )
        )
    if (export.export.rstrip("/") or "/") != folder:
        # A server may show its exports below another root to NFSv4 than to NFSv3.
        faults.append(
            _Fault(
                export.line,
                WARN if faults else FAIL,
                "export {0} is not what is mounted on {1}: {2}".format(
                    export.export, mount.path, mount.source
                ),
            )
        )
    if server.paths and not _is_of_server(server, host, mount, facts):
        faults.append(
            _Fault(
                export.line,
                WARN,
                "{0} is mounted from {1}, and nothing shows that {2} is the same server".format(
                    mount.path, host, ", ".join(named.value for named in server.paths)
                ),
            )
        )
    return faults


def _version(mount):
    # type: (Mounted) -> str
    return nfs_options.parse(mount.options).get("vers", "3")


def _same_version(direct, kernel):
    # type: (str, str) -> bool
    if direct == "4":
        return kernel in ("4", "4.0")
    if direct in ("4.1", "pnfs"):
        return kernel in ("4.1", "4.2")
    return direct == kernel


def _is_of_server(server, host, mount, facts):
    # type: (oranfstab.Server, str, Mounted, Facts) -> bool
    """Whether the host that a mount names, or its address, is the server or one of its paths."""
    options = nfs_options.parse(mount.options)
    names = {host.strip("[]"), options.get("addr", "")} - {""}
    ours = {server.name}
    for named in server.paths:
        ours.add(named.value)
        ours.update(if_known(facts.direct_nfs.addresses.get(named.value, ()), ()))
    return bool(names & ours)


def _against_names(tab, facts):
    # type: (oranfstab.Parsed, Facts) -> List[_Fault]
    """Names that stand for no address, or for several that take turns."""
    faults = []
    for server in tab.servers:
        for kind, named in [("path", n) for n in server.paths] + [
            ("local", n) for n in server.locals
        ]:
            if direct_nfs.is_address(named.value):
                continue
            found_there = facts.direct_nfs.addresses[named.value]
            subject = "{0} {1}".format(kind, named.value)
            if isinstance(found_there, HostproofError):
                text = "Could not be determined: {0}: {1}".format(subject, found_there)
                faults.append(_Fault(named.line, ERROR, text))
            elif not found_there:
                faults.append(_Fault(named.line, FAIL, subject + " is no name of a host"))
            elif len(found_there) > 1:
                text = "{0} is a DNS round robin of {1}: it must be one address"
                why = text.format(subject, ", ".join(found_there))
                faults.append(_Fault(named.line, FAIL, why))
    return faults


def _against_networks(tab, facts):
    # type: (oranfstab.Parsed, Facts) -> List[_Fault]
    """Locals that are not here, and several paths through one network."""
    faults = []
    for server in tab.servers:
        if not server.locals and len(server.paths) < 2:
            continue
        own = known(facts.direct_nfs.own)
        here = {one.address: one.network for one in own}
        networks = {}  # type: Dict[str, Tuple[str, int]]
        for named in server.locals or server.paths:
            address = _one_address(named.value, facts)
            if address is None:
                continue
            if server.locals and address not in here:
                text = "local {0} is no address of this host".format(named.value)
                faults.append(_Fault(named.line, FAIL, text))
                continue
            network = str(here.get(address) or direct_nfs.network_of(address, own) or "")
            if network and network in networks and networks[network][0] != address:
                faults.append(_Fault(named.line, WARN, _one_network(server, named, network)))
            if network:
                networks.setdefault(network, (address, named.line))
    return faults


def _one_network(server, named, network):
    # type: (oranfstab.Server, oranfstab.Named, str) -> str
    return (
        "{0} is in the network {1}, as another {2} of server {3} is: Linux sends both through one "
        "interface, so they are no second path".format(
            named.value, network, "local" if server.locals else "path", server.name
        )
    )


def _one_address(name, facts):
    # type: (str, Facts) -> Optional[str]
    if direct_nfs.is_address(name):
        return name
    addresses = if_known(facts.direct_nfs.addresses[name], ())
    return addresses[0] if len(addresses) == 1 else None


# -- the search order


def _judge_order(one, facts, policy):
    # type: (HomeDirectNfs, Facts, Policy) -> Finding
    order = known(one.order)
    places = [path for path in order.places if _is_there(path, facts)]
    ignored = [path for path in order.ignored if _is_there(path, facts)]
    status, why, fix = PASS, None, None  # type: str, Optional[str], Optional[str]
    if ignored:
        status = WARN
        why = (
            "The home is read-only: Direct NFS looks into {0}, so what stands in {1} is changed "
            "in vain.".format(order.places[0], ", ".join(ignored))
        )
        fix = "move {0} to {1}".format(ignored[0], order.places[0])
    elif len(places) > 1:
        why = _why_shadowed(places, one, facts)
        if why:
            status = WARN
            fix = "keep each mount in one file only: {0}".format(" or ".join(places))
    elif not places:
        status = SKIP
        why = "There is no oranfstab: the home would take the mounts of /etc/mtab."
    return found(
        ORANFSTAB_ORDER,
        status,
        title=_title(ORANFSTAB_ORDER, one.home.path),
        why=why,
        fix=fix,
        desired="one file",
        persisted="{0} counts{1}".format(
            places[0], "".join(", then " + path for path in places[1:])
        )
        if places
        else "none",
        evidence=[direct_nfs.tab_key(path) for path in order.places + order.ignored],
    )


def _is_there(path, facts):
    # type: (str, Facts) -> bool
    tab = facts.direct_nfs.files[path]
    if isinstance(tab, Absent):
        return False
    known(tab)
    return True


def _first_file(one, facts):
    # type: (HomeDirectNfs, Facts) -> Optional[str]
    """The oranfstab that counts for a home, as far as it is known."""
    order = if_known(one.order, direct_nfs.Order((GLOBAL_FILE,), ()))
    there = [
        path
        for path in order.places
        if not isinstance(facts.direct_nfs.files[path], HostproofError)
    ]
    return there[0] if there else None


def _why_shadowed(places, one, facts):
    # type: (List[str], HomeDirectNfs, Facts) -> Optional[str]
    """Why two files are one too many for a home; None where each has its own mounts and users."""
    first, second = [
        {
            export.mount: export.line
            for server in known(facts.direct_nfs.files[path]).servers
            for export in server.exports
        }
        for path in places[:2]
    ]
    both = sorted(set(first) & set(second))
    if both:
        return "{0} is in both; {1} counts, line {2} of {3} is shadowed.".format(
            ", ".join(both), places[0], second[both[0]], places[1]
        )
    others = [
        other
        for other in _database_homes(facts)
        if other is not one and _first_file(other, facts) == places[1]
    ]
    if others:
        return None
    return (
        "{0} counts first, and no other home needs {1}: the guide does not say that its mounts "
        "are read too.".format(places[0], places[1])
    )


# -- in use


def channels(facts):
    # type: (Facts) -> Dict[str, List[str]]
    """The addresses of the servers that each instance is connected to, one for each channel."""
    processes = [one for one in known(facts.direct_nfs.processes) if one.sockets]
    if not processes:
        return {}
    connections = {one.inode: one for one in known(facts.direct_nfs.connections) if one.inode}
    found_there = {}  # type: Dict[str, List[str]]
    for process in processes:
        for inode in process.sockets:
            if inode in connections:
                found_there.setdefault(process.sid, []).append(connections[inode].remote)
    return found_there


def _instances_on_nfs(facts):
    # type: (Facts) -> Dict[str, List[str]]
    """The NFS mounts on which each database has files open through the kernel, homes aside."""
    mounts = [mount.path for mount in known(facts.mounted)]
    homes = [if_known(one.path, one.home.path) for one in facts.direct_nfs.homes]
    used = {}  # type: Dict[str, Set[str]]
    for process in known(facts.database_files):
        kind, _, rest = process.argv0.partition("_")
        if kind not in ("ora", "db"):
            continue
        sid = rest.partition("_")[2]
        for path in process.paths:
            if any(is_beneath(path, home) for home in homes):
                continue
            above = [mount for mount in mounts if is_beneath(path, mount)]
            if above:
                used.setdefault(sid, set()).add(max(above, key=len))
    return {sid: sorted(paths) for sid, paths in used.items()}


def _judge_instance(sid, connected, on_nfs, facts, policy):
    # type: (str, List[str], List[str], Facts, Policy) -> Finding
    state = _runs_with_direct_nfs(sid, facts)
    status, why, fix = PASS, None, None  # type: str, Optional[str], Optional[str]
    in_use = None
    if connected:
        in_use = "{0} connections to {1}".format(len(connected), ", ".join(sorted(set(connected))))
        if policy.direct_nfs == _FORBIDDEN:
            status = FAIL
            why = "{0} has {1}: it uses Direct NFS.".format(sid, in_use)
            fix = "make -f ins_rdbms.mk dnfs_off in rdbms/lib of its home, instance stopped"
    elif not on_nfs:
        status = SKIP
        why = "{0} has no file open on NFS and no connection to a server of NFS.".format(sid)
    elif state is False:
        in_use = "the kernel's NFS for " + ", ".join(on_nfs)
        if policy.direct_nfs == _REQUIRED:
            status = FAIL
            why = "{0} runs without the library of Direct NFS.".format(sid)
            fix = "make -f ins_rdbms.mk dnfs_on in rdbms/lib of its home, instance stopped"
        elif policy.direct_nfs != _FORBIDDEN:
            status = SKIP
            why = "Direct NFS is not linked in, and the policy does not ask for it."
    elif state is None and policy.direct_nfs == "auto" and not _homes_of(sid, facts):
        status = SKIP
        in_use = "files open on {0}".format(", ".join(on_nfs))
        why = "{0} runs from no known Oracle home, and the policy asks for nothing.".format(sid)
    else:
        status = ERROR
        in_use = "files open on {0}, no connection of its own".format(", ".join(on_nfs))
        why = (
            "{0} {1}, has files open on NFS and no connection of its own to a server: only the "
            "database can tell whether it fell back to the kernel's NFS.".format(
                sid,
                "runs with Direct NFS" if state else "may run with Direct NFS or not",
            )
        )
        fix = "in the database: " + ASK_THE_DATABASE
    return found(
        DIRECT_NFS_IN_USE,
        status,
        title=_title(DIRECT_NFS_IN_USE, sid),
        why=why,
        fix=fix,
        desired=_DESIRED.get(policy.direct_nfs),
        in_use=in_use,
        evidence=[direct_nfs.PROCESSES_KEY, "open_files:database", "file:/proc/net/tcp"],
    )


def _runs_with_direct_nfs(sid, facts):
    # type: (str, Facts) -> Optional[bool]
    """What an instance has mapped says it; where nothing is seen mapped, what its home has."""
    states = {
        process.has_direct_nfs(_copies(facts))
        for process in known(facts.direct_nfs.processes)
        if process.sid == sid and process.libraries
    }
    if states:
        return True if True in states else None if None in states else False
    libraries = [if_known(one.library, None) for one in _homes_of(sid, facts)]
    if len(libraries) != 1 or libraries[0] is None:
        return None
    return bool(libraries[0].linked)


def _homes_of(sid, facts):
    # type: (str, Facts) -> List[HomeDirectNfs]
    """The homes that an instance may run from."""
    seen = {one.home for one in known(facts.direct_nfs.processes) if one.sid == sid}
    return [one for one in _database_homes(facts) if sid in one.home.sids or one.path in seen]
