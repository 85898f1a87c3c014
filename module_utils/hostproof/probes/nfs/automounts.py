# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Mounts of the automounter, from maps that are files; other maps are listed as unread.

Sources: auto.master(5), autofs(5), autofs.conf(5), nsswitch.conf(5); automount(8) of Solaris.
"""

import re
from typing import Any, List, NamedTuple, Optional, Set, Tuple

from ...collect.answer import attempt, known, unless_absent
from ...collect.host import Host
from ...errors import Absent, HostproofError, Unanswered
from ...parsers import kept_lines
from ...parsers.nfs import autofs_map
from ..systemd import boot_services

#: Where autofs keeps its own settings, and their names, which differ between the files.
_SETTINGS = ("/etc/autofs.conf", "/etc/sysconfig/autofs", "/etc/default/autofs")
_KEPT_SETTINGS = re.compile(r"[ \t]*(?:master_map_name|append_options)[ \t]*=", re.IGNORECASE)
_SSSD_CONF = "/etc/sssd/sssd.conf"
_SSSD_FOLDER = "/etc/sssd/conf.d"


class AutoMount(NamedTuple):
    """A path that is mounted on access.

    ``path`` ends in "/*" for the wildcard of an indirect map; ``source`` then holds a "&" where
    the last part of the path goes.
    """

    path: str
    source: str
    fstype: str
    options: str
    place: str
    evidence: Tuple[str, ...]


class Unread(NamedTuple):
    """A map that could not be read. It may mount any path beneath ``under``; None is any path."""

    under: Optional[str]
    why: str


class AutoMounts(NamedTuple):
    """The first of two mounts for one path counts. ``starts``: whether autofs starts at boot."""

    mounts: List[AutoMount]
    unread: List[Unread]
    starts: bool


def read_automounts(host: Host, linux: bool) -> AutoMounts:
    """Everything that the automounter's files state. Raises if a reboot starts it is unknown."""
    reader = _Reader(host, linux)
    reader.read_master()
    if not reader.found:
        return AutoMounts([], [], False)
    starts = _starts_autofs(host) if linux else True
    return AutoMounts(reader.mounts, reader.unread, starts)


class _Reader:
    """Walks from the master map through the maps that it names, each once."""

    def __init__(self, host: Host, linux: bool) -> None:
        self.mounts: List[AutoMount] = []
        self.unread: List[Unread] = []
        self.found = False
        self._host = host
        self._seen: Set[Tuple[str, str]] = set()
        self._sources = _nss_sources(host)
        texts = [
            unless_absent(attempt(host.read_text, p, record=_kept_settings), "")
            for p in _SETTINGS
            if linux
        ]
        default = "auto.master" if linux else "auto_master"
        self._master = _setting(texts, "master_map_name") or default
        self._appends = _setting(texts, "append_options") not in ("no", "false", "0")

    def read_master(self) -> None:
        self._read_master_map("", self._master)

    def _read_master_map(self, kind: str, name: str) -> None:
        if kind == "dir":
            for file_name in unless_absent(attempt(self._host.list_dir, name), []):
                if file_name.endswith(".autofs") and not file_name.startswith("."):
                    self._read_master_map("file", f"{name}/{file_name}")
            return
        for path, text in self._texts(kind, name, None):
            self.found = True
            master = autofs_map.parse_master(text)
            steps: List[Any] = sorted(
                list(master.entries) + list(master.includes), key=lambda step: step.line
            )
            for step in steps:
                if isinstance(step, autofs_map.Include):
                    self._read_master_map(step.kind, step.name)
                else:
                    self._read_map(step, step.kind, step.name, ("file:" + path,))

    def _read_map(
        self, entry: autofs_map.MasterEntry, kind: str, name: str, evidence: Tuple[str, ...]
    ) -> None:
        under = None if entry.mount_point == autofs_map.DIRECT else entry.mount_point
        if name in ("-null", "-hosts") or kind == "builtin":
            if name != "-null":
                self.unread.append(Unread(under, f"autofs makes the map {name} itself"))
            return
        for path, text in self._texts(kind, name, under):
            parsed = autofs_map.parse_map(text)
            for mount in parsed.mounts:
                self._add(entry, mount, path, evidence)
            for include in parsed.includes:
                self._read_map(entry, include.kind, include.name, evidence + ("file:" + path,))

    def _add(
        self,
        entry: autofs_map.MasterEntry,
        mount: autofs_map.MapMount,
        path: str,
        evidence: Tuple[str, ...],
    ) -> None:
        direct = entry.mount_point == autofs_map.DIRECT
        if direct != mount.key.startswith("/"):
            return  # the automounter ignores such a key too
        start = mount.key if direct else "{0}/{1}".format(entry.mount_point.rstrip("/"), mount.key)
        inherited = [entry.options] if self._appends or not mount.options else []
        words = [word for word in ",".join(inherited + [mount.options]).split(",") if word]
        fstype = "nfs"
        for word in words:
            if word.startswith("fstype="):
                fstype = word.partition("=")[2]
        source = mount.source if mount.key == "*" else mount.source.replace("&", mount.key)
        self.mounts.append(
            AutoMount(
                path=start + mount.offset,
                source=source,
                fstype=fstype,
                options=",".join(word for word in words if not word.startswith("fstype=")),
                place=f"{path}:{mount.line}",
                evidence=evidence + ("file:" + path,),
            )
        )

    def _texts(self, kind: str, name: str, under: Optional[str]) -> List[Tuple[str, str]]:
        """Paths and texts of a map's files; what cannot be read goes to ``unread``."""
        if (kind, name) in self._seen:
            return []
        self._seen.add((kind, name))
        texts = []
        for source in self._sources_of(kind, name):
            if source not in ("file", "files"):
                if source != "sss" or _sssd_is_set_up(self._host):
                    why = f"the autofs map {name} comes from {source}"
                    self.unread.append(Unread(under, why))
                continue
            path = name if name.startswith("/") else "/etc/" + name
            if ("path", path) in self._seen:
                continue
            self._seen.add(("path", path))
            text = attempt(self._read_file, path)
            if isinstance(text, Absent):
                continue
            if isinstance(text, HostproofError):
                self.unread.append(Unread(under, str(text)))
            else:
                texts.append((path, text))
        return texts

    def _sources_of(self, kind: str, name: str) -> List[str]:
        if kind:
            return [kind]
        return ["file"] if name.startswith("/") else self._sources

    def _read_file(self, path: str) -> str:
        text = self._host.read_text(path, record=autofs_map.kept)
        if self._host.stat(path).mode & 0o111:
            raise Unanswered("stat:" + path, f"the autofs map {path} is a program")
        return text


def _kept_settings(text: str) -> str:
    """The part of such a file that evidence keeps (kept_lines.py)."""
    return kept_lines.only(text, lambda line: _KEPT_SETTINGS.match(line) is not None)


def _setting(texts: List[str], name: str) -> str:
    """The value of an autofs setting in small letters; the first file that has it counts."""
    for text in texts:
        values = re.findall(
            r"^[ \t]*" + name + r"[ \t]*=[ \t]*[\"']?([^\"'\s]+)",
            text,
            re.MULTILINE | re.IGNORECASE,
        )
        if values:
            return str(values[-1])
    return ""


def _nss_sources(host: Host) -> List[str]:
    """Where maps without a path come from: the automount line of nsswitch.conf, else files."""
    text = unless_absent(attempt(host.read_text, "/etc/nsswitch.conf"), "")
    for line in text.splitlines():
        name, colon, rest = line.partition("#")[0].partition(":")
        if colon and name.strip() == "automount":
            return [word for word in re.sub(r"\[[^\]]*\]", " ", rest).split() if word]
    return ["files"]


def _sssd_is_set_up(host: Host) -> bool:
    """Distributions name sss in nsswitch.conf though no sssd is there."""
    if not isinstance(attempt(host.stat, _SSSD_CONF), Absent):
        return True
    names = unless_absent(attempt(host.list_dir, _SSSD_FOLDER), [])
    return any(name.endswith(".conf") for name in names)


def _starts_autofs(host: Host) -> bool:
    """Whether the next reboot starts the automounter: by systemd, else by a link of runlevel
    3."""
    argv = ["systemctl", "is-enabled", "autofs.service"]
    output = attempt(host.run, argv)
    if isinstance(output, Absent):
        names: List[str] = []
        for folder in ("/etc/rc.d/rc3.d", "/etc/rc3.d"):
            names.extend(unless_absent(attempt(host.list_dir, folder), []))
        return any(re.match(r"S\d+autofs$", name) for name in names)
    return boot_services.is_enabled("autofs.service", known(output))
