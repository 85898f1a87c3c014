# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether oranfstab is right, and which one counts."""

from typing import Dict, List, NamedTuple, Optional

from ...collect.answer import attempt, if_known, known
from ...errors import Absent, HostproofError, Unanswered
from ...evaluate.advice import Advice, Ask, Edit, Wait
from ...evaluate.checking import Judged, Rules, Skip, Verdict, undetermined, verdict_or_error
from ...evaluate.finding import ERROR, FAIL, PASS, SKIP, WARN
from ...parsers.net.address import is_address
from ...parsers.net.ip_addr import Address
from ...parsers.nfs import nfs_options
from ...probes.nfs.nfs_mounted import Mounted
from .checked_mounts import judged_mounts
from .facts import Facts
from .homes import FORBIDDEN, database_homes, first_file, no_home, skip_unless_judged
from .parsers import oranfstab as parser
from .policy import NAME, Policy
from .probes import direct_nfs
from .probes.direct_nfs import GLOBAL_FILE, HomeDirectNfs
from .subjects import INSTALLATION, NETAPP

rules: Rules[Facts, Policy] = Rules(NAME)

#: A file with more mistakes than this is not an oranfstab; the rest is only counted.
MOST_SHOWN = 20
_NO_MISTAKE = "no mistake"


@rules.check(
    "nfs_mounts.oranfstab",
    "oranfstab is valid",
    "oranfstab contains an error",
    severity="high",
    takes_effect="instance_restart",
    why="The instance hangs at startup, or silently falls back to kernel NFS.",
    reference=INSTALLATION + ", Creating an oranfstab File; " + NETAPP + ", Direct NFS",
)
def oranfstab(facts: Facts, policy: Policy) -> Judged:
    """A verdict for each mistake of each oranfstab, or one for a file without any."""
    _skip_unless_judged(facts, policy)
    verdicts: List[Verdict] = []
    for path, tab in sorted(facts.direct_nfs.files.items()):
        if not isinstance(tab, HostproofError):
            verdicts += _judge_tab(path, tab, facts)
        elif not isinstance(tab, Absent):
            verdicts.append(undetermined(tab, of=path))
    return verdicts or _judge_no_tab(facts, policy)


def _skip_unless_judged(facts: Facts, policy: Policy) -> None:
    skip_unless_judged(facts, policy)
    if policy.direct_nfs == FORBIDDEN:
        raise Skip("nfs_mounts_direct_nfs is forbidden: no oranfstab may count.")


class _Fault(NamedTuple):
    """Something wrong with a line of a file; ``status`` as in a finding."""

    line: int
    status: str
    why: str


def _judge_tab(path: str, tab: parser.Parsed, facts: Facts) -> List[Verdict]:
    faults = [
        _Fault(mistake.line, FAIL if mistake.certain else WARN, mistake.problem)
        for mistake in tab.mistakes
    ]
    for look in (_against_mounts, _against_names, _against_networks):
        answer = attempt(look, tab, facts)
        if isinstance(answer, HostproofError):
            faults.append(_Fault(0, ERROR, str(answer)))
        else:
            faults += answer
    faults.sort()
    verdicts = [_of_fault(path, fault) for fault in faults[:MOST_SHOWN]]
    if len(faults) > MOST_SHOWN:
        more = f"{len(faults) - MOST_SHOWN} more mistakes are not shown"
        verdicts.append(_of_fault(path, _Fault(0, FAIL, more)))
    if verdicts:
        return verdicts
    servers = ", ".join(server.name for server in tab.servers)
    mounts = ", ".join(export.mount for server in tab.servers for export in server.exports)
    return [
        Verdict(
            PASS,
            of=path,
            desired=_NO_MISTAKE,
            persisted=f"{servers} for {mounts}" if mounts else "no server",
            evidence=[direct_nfs.tab_key(path)],
        )
    ]


def _of_fault(path: str, fault: _Fault) -> Verdict:
    place = f"{path}:{fault.line}" if fault.line else path
    if fault.status == ERROR:
        return undetermined(Unanswered(direct_nfs.tab_key(path), fault.why), of=place)
    return Verdict(
        fault.status,
        of=place,
        why=fault.why if fault.why.endswith("?") else fault.why.rstrip(".") + ".",
        advice=Advice(
            [
                Edit(place, what=f"correct {place}: {fault.why.rstrip('.')}"),
                Wait("instance_restart", "the instances that use Direct NFS by this file"),
            ]
        ),
        desired=_NO_MISTAKE,
        persisted=fault.why,
        evidence=[direct_nfs.tab_key(path)],
    )


def _judge_no_tab(facts: Facts, policy: Policy) -> Verdict:
    """Without a file the mounts of the kernel count, and then only NFSv3 is spoken."""
    linked = [
        home.home.path
        for home in database_homes(facts)
        if not isinstance(home.library, HostproofError) and home.library.linked
    ]
    newer = [
        mount.mounted.path
        for mount in judged_mounts(facts, policy)
        if mount.mounted is not None and _version(mount.mounted).startswith("4")
    ]
    if linked and newer:
        return Verdict(
            WARN,
            why="Direct NFS of {0} is linked in, and without nfs_version in an oranfstab it speaks "
            "NFSv3 to {1}, which the kernel has mounted as NFSv4.".format(
                ", ".join(linked), ", ".join(newer)
            ),
            advice=Advice(
                [
                    Edit(
                        GLOBAL_FILE,
                        what="describe the server of {0} in {1}: server, path, export, mount, and "
                        "as nfs_version the version of the kernel's mount".format(
                            ", ".join(newer), GLOBAL_FILE
                        ),
                    ),
                    Wait("instance_restart", "the instances of these homes"),
                ]
            ),
            evidence=[direct_nfs.tab_key(GLOBAL_FILE)],
        )
    raise Skip(
        "There is no oranfstab: Direct NFS would take the mounts of /etc/mtab.",
        [direct_nfs.tab_key(GLOBAL_FILE)],
    )


def _against_mounts(tab: parser.Parsed, facts: Facts) -> List[_Fault]:
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
            import difflib  # few hosts need it

            near = difflib.get_close_matches(export.mount, sorted(mounted), 1)
            faults.append(
                _Fault(
                    export.line,
                    FAIL,
                    "mount {0} is not an NFS mount of this host{1}".format(
                        export.mount, f", did you mean {near[0]}?" if near else ""
                    ),
                )
            )
    return faults


def _against_mount(
    server: parser.Server, export: parser.Export, mount: Mounted, facts: Facts
) -> List[_Fault]:
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
                f"Direct NFS speaks NFSv{server.version()} to {mount.path}, the kernel has "
                f"mounted it as NFSv{kernel}",
            )
        )
    if (export.export.rstrip("/") or "/") != folder:
        # A server may show its exports below another root to NFSv4 than to NFSv3.
        faults.append(
            _Fault(
                export.line,
                WARN if faults else FAIL,
                f"export {export.export} is not what is mounted on {mount.path}: {mount.source}",
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


def _version(mount: Mounted) -> str:
    return nfs_options.parse(mount.options).get("vers", "3")


def _same_version(direct: str, kernel: str) -> bool:
    if direct == "4":
        return kernel in ("4", "4.0")
    if direct in ("4.1", "pnfs"):
        return kernel in ("4.1", "4.2")
    return direct == kernel


def _is_of_server(server: parser.Server, host: str, mount: Mounted, facts: Facts) -> bool:
    """Whether the host that a mount names, or its address, is the server or one of its paths."""
    options = nfs_options.parse(mount.options)
    names = {host.strip("[]"), options.get("addr", "")} - {""}
    ours = {server.name}
    for named in server.paths:
        ours.add(named.value)
        ours.update(if_known(facts.direct_nfs.addresses.get(named.value, ()), ()))
    return bool(names & ours)


def _against_names(tab: parser.Parsed, facts: Facts) -> List[_Fault]:
    """Names that represent no address, or for several that take turns."""
    faults = []
    for server in tab.servers:
        for kind, named in [("path", n) for n in server.paths] + [
            ("local", n) for n in server.locals
        ]:
            if is_address(named.value):
                continue
            found_there = facts.direct_nfs.addresses[named.value]
            subject = f"{kind} {named.value}"
            if isinstance(found_there, HostproofError):
                faults.append(_Fault(named.line, ERROR, f"{subject}: {found_there}"))
            elif not found_there:
                faults.append(_Fault(named.line, FAIL, subject + " is not the name of a host"))
            elif len(found_there) > 1:
                text = "{0} is a DNS round robin of {1}: it must be one address"
                why = text.format(subject, ", ".join(found_there))
                faults.append(_Fault(named.line, FAIL, why))
    return faults


def _against_networks(tab: parser.Parsed, facts: Facts) -> List[_Fault]:
    """Locals that are not here, and several paths through one network."""
    faults = []
    for server in tab.servers:
        if server.locals or len(server.paths) > 1:
            faults += _network_faults(server, known(facts.direct_nfs.own), facts)
    return faults


def _network_faults(server: parser.Server, own: List[Address], facts: Facts) -> List[_Fault]:
    """The faults of one server; ``own`` are the addresses of this host."""
    faults = []
    here = {entry.address: entry.network for entry in own}
    first_in: Dict[str, str] = {}
    for named in server.locals or server.paths:
        address = _one_address(named.value, facts)
        if address is None:
            continue
        if server.locals and address not in here:
            text = f"local {named.value} is not an address of this host"
            faults.append(_Fault(named.line, FAIL, text))
            continue
        network = str(here.get(address) or direct_nfs.network_of(address, own) or "")
        if network and first_in.setdefault(network, address) != address:
            faults.append(_Fault(named.line, WARN, _one_network(server, named, network)))
    return faults


def _one_network(server: parser.Server, named: parser.Named, network: str) -> str:
    return (
        "{0} is in the network {1}, as another {2} of server {3} is: Linux sends both through one "
        "interface, so they are not a second path".format(
            named.value, network, "local" if server.locals else "path", server.name
        )
    )


def _one_address(name: str, facts: Facts) -> Optional[str]:
    if is_address(name):
        return name
    addresses = if_known(facts.direct_nfs.addresses[name], ())
    return addresses[0] if len(addresses) == 1 else None


# -- the search order -----------------------------------------------------------------------------


@rules.check(
    "nfs_mounts.oranfstab_order",
    "Only one oranfstab is in use",
    "Several oranfstab files list a mount, or one is not read",
    severity="medium",
    takes_effect="instance_restart",
    why="Changes to the other files have no effect. Direct NFS reads only the first file in "
    "the search order.",
    reference=INSTALLATION + ", About Direct NFS Client: dbs/oranfstab, /etc/oranfstab, /etc/mtab",
)
def oranfstab_order(facts: Facts, policy: Policy) -> Judged:
    """A verdict for each Oracle home that finds an oranfstab or has Direct NFS linked in."""
    _skip_unless_judged(facts, policy)
    homes = database_homes(facts)
    if not homes:
        return no_home(policy)
    return [verdict_or_error(_judge_order, home, facts, of=home.home.path) for home in homes]


def _judge_order(home: HomeDirectNfs, facts: Facts) -> Verdict:
    order = known(home.order)
    places = [path for path in order.places if _is_there(path, facts)]
    ignored = [path for path in order.ignored if _is_there(path, facts)]
    status, why, step = PASS, "", ""
    if ignored:
        status = WARN
        why = (
            "The home is read-only: Direct NFS looks into {0}, so changes in {1} have "
            "no effect.".format(order.places[0], ", ".join(ignored))
        )
        step = f"move {ignored[0]} to {order.places[0]}"
        if order.places[0] in places:
            step = f"write what is missing in {order.places[0]}, then remove {ignored[0]}"
    elif len(places) > 1:
        why = _why_shadowed(places, home, facts)
        if why:
            status = WARN
            step = "keep each mount in one file only: {0}".format(" or ".join(places))
    elif not places:
        status = SKIP
        why = "There is no oranfstab: the home would take the mounts of /etc/mtab."
    return Verdict(
        status,
        why=why,
        advice=Advice(
            [Ask(step), Wait("instance_restart", "the instances of the home that use Direct NFS")]
        ),
        desired="one file",
        persisted=", then ".join([places[0] + " counts"] + places[1:]) if places else "none",
        evidence=[direct_nfs.tab_key(path) for path in order.places + order.ignored],
    )


def _is_there(path: str, facts: Facts) -> bool:
    tab = facts.direct_nfs.files[path]
    if isinstance(tab, Absent):
        return False
    known(tab)
    return True


def _why_shadowed(places: List[str], home: HomeDirectNfs, facts: Facts) -> str:
    """Why two files are one too many for a home; empty where each has its own mounts and users."""
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
        for other in database_homes(facts)
        if other is not home and first_file(other, facts) == places[1]
    ]
    if others:
        return ""
    return (
        f"{places[0]} counts first, and no other home needs {places[1]}: the guide does not say "
        "that its mounts are read too."
    )
