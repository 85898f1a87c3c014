# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where Grid Infrastructure is installed, whether it runs, and the interfaces of its interconnect.

Source: Oracle Clusterware Administration, oifcfg; olr.loc is what root.sh writes.
"""

import re
from typing import Any, Callable, List, NamedTuple, Optional

from ...collect import identity
from ...collect.answer import attempt, unless_absent, unless_newer
from ...collect.command import Command
from ...collect.host import Host, Output, Process
from ...errors import HostproofError, Unanswered, kind_of
from ...parsers.unix import getent
from ..nfs import nfs_files

#: The daemon that its owner's home is known by.
_CSS = r"^/\S+/bin/ocssd\.bin$"
#: Of Linux, AIX and Solaris. The two others are what a kernel calls those that it does not name.
_INTERFACE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.:@-]{0,31}$")
_NO_INTERFACES = ("all", "default")
_NETWORKS = "list the networks of Clusterware"
NETWORKS_KEY = f"command:{_NETWORKS} (oifcfg getif)"
#: Where root.sh writes the home: Linux, Solaris.
OLR = ("/etc/oracle/olr.loc", "/var/opt/oracle/olr.loc")
#: A host with one of them has or had Clusterware.
FILES = OLR + ("/etc/oracle/ocr.loc", "/var/opt/oracle/ocr.loc")
#: Daemons that run only in a cluster. ocssd.bin and ohasd.bin run with Oracle Restart too.
_DAEMONS = r"(^|/)(crsd|octssd)\.bin$"
#: Background processes that only instances of a cluster have (Database Reference, Background
#: Processes: LMON and LMSn are those of Oracle RAC).
_OF_RAC = r"^(ora|db|asm)_(lmon|lms\w{1,2})_\S+$"
_LOCAL_ONLY = re.compile(
    r"^[ \t]*local_only[ \t]*=[ \t]*(true|false)[ \t]*$", re.IGNORECASE | re.MULTILINE
)


def read_home(host: Host, read: Callable[[Host, str], str] = nfs_files.read_text) -> Optional[str]:
    """The home that olr.loc names; None where there is none. ``read`` gives the text of a file."""
    home: Optional[str] = None
    for path in OLR:
        text = unless_absent(attempt(read, host, path), "")
        for line in text.split("\n"):
            name, _, value = line.partition("=")
            if name.strip() == "crs_home" and value.strip():
                home = value.strip().rstrip("/")
    return home


def in_cluster(host: Host, announced: Optional[bool] = None) -> Optional[bool]:
    """Whether the host is a node of a cluster: True or False by a sign of it, None without one.

    ``announced`` is what the profile states (Profile.cluster), None without a profile. Signs of a
    cluster are its daemons, the processes of RAC instances, and local_only=FALSE of root.sh; they
    take precedence, because a stack that is down leaves only some of them. Without a sign other
    hosts can share the files: nothing may be changed that protects them. An unknown reading is
    raised if no other one has a sign of a cluster.
    """
    unknown: List[HostproofError] = []
    answers = [announced]
    for name, pattern, program in (
        ("clusterware", _DAEMONS, ""),
        ("rac_instances", _OF_RAC, "oracle"),
    ):
        processes = attempt(host.processes, name, pattern, identity.ORACLE)
        runs = _unless_unknown(unless_newer, processes, [], unknown)
        if any(not program or process.runs(program) is not False for process in runs):
            answers.append(True)
    for path in FILES:
        text = _unless_unknown(unless_absent, attempt(host.read_text, path), "", unknown)
        answers += [value.lower() == "false" for value in _LOCAL_ONLY.findall(text)]
    if True in answers:
        return True
    if unknown:
        raise unknown[0]
    return False if False in answers else None


def may_be_node(host: Host, announced: Optional[bool] = None) -> bool:
    """Whether to treat the host as a node of a cluster: ``in_cluster``, and any Clusterware that
    runs or is installed where no sign shows whether it is Oracle Restart."""
    node = in_cluster(host, announced)
    if node is not None:
        return node
    return bool(css_daemons(host)) or read_home(host) is not None


def _unless_unknown(
    unless: Callable[..., object], answer: object, otherwise: object, unknown: List[HostproofError]
) -> Any:
    value = attempt(unless, answer, otherwise)
    if isinstance(value, HostproofError):
        unknown.append(value)
        return otherwise
    return value


def databases(host: Host, daemon: Process) -> List[str]:
    """The names of all databases of the cluster, in small letters."""
    arguments = ("crsctl", "stat", "res", "-w", "TYPE = ora.database.type")
    output = ask(host, daemon, "list the databases of Clusterware", *arguments)
    return re.findall(r"^NAME=ora\.([\w$#]{1,30})\.db$", output.stdout, re.MULTILINE)


def css_daemons(host: Host) -> List[Process]:
    """Cluster Synchronization Services, without what only has its name."""
    return [
        process
        for process in host.processes("ocssd", _CSS, identity.ORACLE)
        if process.runs("ocssd.bin") is not False
    ]


def home_of(daemon: Process) -> str:
    """The home that Cluster Synchronization Services run from."""
    return daemon.home("ocssd.bin") or daemon.argv0.rpartition("/bin/")[0]


class Network(NamedTuple):
    """A network that Clusterware uses. ``node`` is "global", or the only node that has it."""

    interface: str
    subnet: str
    node: str
    kinds: str


def networks(host: Host) -> List[Network]:
    """The networks that oifcfg lists; none where no CSS runs, or only that of Oracle Restart."""
    daemons = css_daemons(host)
    if not daemons or attempt(in_cluster, host) is False:
        return []
    output = ask(host, daemons[0], _NETWORKS, "oifcfg", "getif")
    lines = [line.split() for line in output.stdout.splitlines()]
    return [Network(*line[:4]) for line in lines if len(line) >= 4]


def private_interfaces(host: Host) -> List[str]:
    """The devices of the cluster interconnect, as oifcfg lists them; none where no CSS runs."""
    names = [
        network.interface for network in networks(host) if "cluster_interconnect" in network.kinds
    ]
    for name in names:
        # Its owner is queried, and root writes to paths that hold these names.
        check_interface(name)
    return names


def check_interface(name: str) -> None:
    """Unanswered if oifcfg shows a name that no interface can have."""
    if not _INTERFACE.match(name) or name in _NO_INTERFACES:
        raise Unanswered(
            NETWORKS_KEY, f"oifcfg getif names {kind_of(name)}, which is not an interface"
        )


def ask(host: Host, daemon: Process, name: str, tool: str, *arguments: str) -> Output:
    """What a tool of Grid Infrastructure says to its owner; Unanswered where it fails."""
    users = getent.parse_passwd(host.run(["getent", "passwd"]).stdout)
    names = [user.name for user in users if user.uid == daemon.uid]
    if not names or daemon.uid == 0:
        raise Unanswered("processes:ocssd", f"only root owns Clusterware: {tool} is not run")
    home = home_of(daemon)
    words = " ".join((tool, *arguments))
    command = Command(
        f"{name} ({words})",
        (f"{home}/bin/{tool}", *arguments),
        user=names[0],
        environment={"ORACLE_HOME": home},
    )
    output = host.ask(command)
    if output.rc != 0:
        raise Unanswered(
            "command:" + command.name,
            f"{words} ended with {output.rc}: {output.stdout.strip()[:200]}",
        )
    return output
