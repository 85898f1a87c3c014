# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The iSCSI sessions of disks in use, and the node records from which open-iscsi logs in again.

Sources: kernel, drivers/scsi/scsi_transport_iscsi.c (recovery_tmo, persistent_address); open-iscsi,
usr/idbm.c (directories and names of records), iscsiadm(8), README 7.2 (startup) and 8 (timeouts).
"""

import re
from typing import Dict, List, NamedTuple, Optional, Tuple

from ....collect.answer import Answer, attempt, if_known, known
from ....collect.host import Host
from ....errors import Absent, HostproofError, ParseError, Unanswered, kind_of
from ....parsers.number import integer
from .disks import Disk

CLASS, _CONNECTIONS = "/sys/class/iscsi_session", "/sys/class/iscsi_connection"
#: Where distributions keep the records: SUSE and Debian, Red Hat.
FOLDERS = ("/etc/iscsi/nodes", "/var/lib/iscsi/nodes")
STARTUP, TIMEOUT = "node.startup", "node.session.timeo.replacement_timeout"
#: The services that log in to records with automatic: Red Hat and SUSE, Debian and Ubuntu.
SERVICES = ("iscsi.service", "open-iscsi.service")
_LINES = r"^node\.(?:startup|session\.timeo\.replacement_timeout)[ \t]*="
#: Names of targets and of files of records: no slash, no dot at the beginning.
_TARGET = re.compile(r"[A-Za-z0-9][A-Za-z0-9.:_-]{0,222}\Z")
_PORTAL = re.compile(r"([A-Za-z0-9:.\[\]%_-]{1,128}),(\d{1,5}),(\d{1,5})\Z")
_INTERFACE = re.compile(r"[A-Za-z0-9][A-Za-z0-9.:_-]{0,127}\Z")
_SECONDS = re.compile(r"-?\d{1,9}\Z")


class Record(NamedTuple):
    """A node record: values by STARTUP and TIMEOUT. ``portal`` is address and port."""

    path: str
    portal: str
    values: Dict[str, str]


class Session(NamedTuple):
    """A session by its name in sysfs. ``timeout`` is recovery_tmo in seconds; ``disk`` one of its
    disks. ``records`` are those of its target."""

    name: str
    disk: str
    target: Answer[str]
    portal: Answer[str]
    timeout: Answer[int]
    records: Answer[List[Record]]

    @property
    def title(self) -> str:
        target = if_known(self.target, "")
        return f"{self.name} ({target})" if target else self.name

    @property
    def key(self) -> str:
        return f"file:{CLASS}/{self.name}/recovery_tmo"

    def own_records(self) -> Tuple[Record, ...]:
        """The records of its portal. Unanswered if the target has records of other portals only."""
        records, portal = known(self.records), known(self.portal)
        own = tuple(record for record in records if record.portal == portal)
        if records and not own:
            raise Unanswered(
                "dir:" + records[0].path.rpartition("/")[0],
                f"no record of the target names the portal {portal}",
            )
        return own


def read(host: Host, disk: Disk) -> Session:
    name = str(disk.session)
    folder = f"{CLASS}/{name}"
    target = attempt(_target, host, folder)
    return Session(
        name,
        disk.name,
        target,
        attempt(_portal, host, name),
        attempt(_seconds, host, folder + "/recovery_tmo"),
        attempt(lambda: _records(host, known(target))),
    )


def read_logins(host: Host) -> Dict[str, str]:
    """Whether each service that logs in is started at boot: the word of systemctl."""
    return {unit: host.run(["systemctl", "is-enabled", unit]).stdout.strip() for unit in SERVICES}


def _target(host: Host, folder: str) -> str:
    text = host.read_text(folder + "/targetname").strip()
    if not _TARGET.match(text):
        raise ParseError("targetname", f"{kind_of(text)} is not a name of a target")
    return text


def _portal(host: Host, session: str) -> str:
    folder = f"{_CONNECTIONS}/connection{session[len('session') :]}:0"
    address, port = (
        host.read_text(f"{folder}/persistent_{part}").strip() for part in ("address", "port")
    )
    return f"{address.strip('[]')}:{port}"


def _seconds(host: Host, path: str) -> int:
    text = host.read_text(path).strip()
    if text == "off":
        return -1
    if not _SECONDS.match(text):
        raise ParseError("recovery_tmo", f"{kind_of(text)} is not a number of seconds")
    return int(text)


def _records(host: Host, target: str) -> List[Record]:
    """All records of a target. Unanswered if this host has no directory of records."""
    found: List[Record] = []
    answers = {folder: attempt(host.list_dir, folder) for folder in FOLDERS}
    for folder, names in answers.items():
        if isinstance(names, HostproofError) and not isinstance(names, Absent):
            raise names
        if target not in if_known(names, []):
            continue
        for name in host.list_dir(f"{folder}/{target}"):
            match = _PORTAL.match(name)
            if match is not None:
                portal = f"{match.group(1).strip('[]')}:{integer(match.group(2))}"
                for path in _files(host, f"{folder}/{target}/{name}"):
                    found.append(Record(path, portal, _values(host, path)))
    if all(isinstance(names, Absent) for names in answers.values()):
        raise Unanswered("dir:" + FOLDERS[0], f"neither {' nor '.join(FOLDERS)} exists")
    return found


def _files(host: Host, path: str) -> List[str]:
    """A record is a file, or one for each interface in a directory."""
    names = attempt(host.list_dir, path)
    if isinstance(names, HostproofError):
        return [path]
    return [f"{path}/{name}" for name in names if _INTERFACE.match(name)]


def _values(host: Host, path: str) -> Dict[str, str]:
    """A record holds passwords: only the lines that are needed are read."""
    values: Dict[str, Optional[str]] = {}
    for line in host.read_lines(path, _LINES):
        name, _equals, value = line.partition("=")
        values[name.strip()] = value.strip()
    return {name: value for name, value in values.items() if value}
