"""Hosts for tests, told as stories: what lies where, who runs, and what may not be read.

A Machine answers every read as a Linux host would, from what the test put there, and keeps the
answers as a recording does. What nobody put there is absent.
"""

import fnmatch
import functools
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ansible.module_utils.hostproof.collect.held import Holders
from ansible.module_utils.hostproof.collect.host import (
    FoundLines,
    OpenFiles,
    Output,
    Process,
    RecordedHost,
    matching_lines,
)
from ansible.module_utils.hostproof.collect.host.script_search import (
    _LIBRARY,
    AS_ROOT,
    OF_ACCOUNT,
    SOURCED,
    _joined_lines,
)
from ansible.module_utils.hostproof.collect.identity import Kind
from ansible.module_utils.hostproof.collect.measured import Window
from default_policies import changed_policy

ROOT = Path(__file__).resolve().parents[2]
FIXTURES = ROOT / "tests/fixtures"
ROLE = ROOT / "roles/hugepages"

RECORDED_AT = "2026-11-21T03:15:00Z"
KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30

SYSCTL_FILE = "/etc/sysctl.d/99-zz-hostproof-hugepages.conf"
LIMITS_FILE = "/etc/security/limits.d/zz-hostproof-hugepages.conf"
TMPFILES_FILE = "/etc/tmpfiles.d/hostproof-hugepages.conf"
THP_FILE = "/sys/kernel/mm/transparent_hugepage/enabled"
UNITS = "/usr/lib/systemd/system"

HEADER = "# Written by Hostproof (role hugepages): change the policy, not this file.\n"

#: A host of 64 GiB whose instance has an SGA of 16 GiB in two segments, and a small one.
SGA_SEGMENTS = (8 * MIB, 16 * GIB - 8 * MIB)
SMALL_SEGMENT = 20 * KIB
PAGES_NEEDED = (4 + 1) + (8188 + 1)
PAGES_USED = 4 + 8188
OINSTALL = 54321
HOME = "/u01/app/oracle/product/19"


hugepages_policy = functools.partial(changed_policy, "hugepages")


@functools.cache
def _glob(place: str) -> re.Pattern[str]:
    """Kept: each look at a host asks for the same hundred places."""
    return re.compile(fnmatch.translate(place))


class Shm(NamedTuple):
    """A System V segment; ``nodes`` are the pages that were touched, by NUMA node."""

    size: int
    huge: bool = True
    nodes: tuple[int, ...] = ()


class Machine(RecordedHost):
    """A Linux host in a test. ``evidence`` holds what was read from it, as a recording would."""

    def __init__(self) -> None:
        super().__init__({})
        self.files: dict[str, str] = {}
        self.folders: set[str] = {"/"}
        self.links: dict[str, str] = {}
        self.modes: dict[str, int] = {}
        self.gids: dict[str, int] = {}
        self.uids: dict[str, int] = {}
        self.mtimes: dict[str, float] = {}
        self.commands: dict[str, Output] = {}
        self.running: list[dict[str, Any]] = []
        self.holding: list[dict[str, Any]] = []
        self.patterns: dict[str, str] = {}
        self.under: dict[str, list[str]] = {}
        self.only_as_root: dict[str, bool] = {}
        self.holders_of_rings: list[dict[str, Any]] = []
        self.segments: list[str] = []
        self.refused: dict[str, str] = {}
        self.environments: dict[int, dict[str, str]] = {}
        self.samples: dict[str, dict[str, tuple[str, str]]] = {}
        self.sample_seconds = 10.0
        #: The duration of each sqlplus.
        self.logon_seconds: float | None = 0.437
        self.measured: dict[str, dict[str, Any]] = {}
        self._tree_is_of: tuple[Any, ...] = ()
        self._tree_found: dict[str, set[str]] = {}

    # -- telling what is there

    def file(self, path: str, text: str, mode: int = 0o644) -> "Machine":
        self.files[path] = text
        self.modes[path] = mode
        return self

    def folder(self, *paths: str) -> "Machine":
        self.folders.update(paths)
        return self

    def link(self, path: str, target: str) -> "Machine":
        self.links[path] = target
        return self

    def remove(self, *paths: str) -> "Machine":
        for path in paths:
            self.files.pop(path, None)
            self.links.pop(path, None)
            self.folders.discard(path)
        return self

    def command(self, line: str, stdout: str, rc: int = 0) -> "Machine":
        self.commands[line] = Output(rc, stdout, "")
        return self

    def sampled(self, name: str, source: str, first: str, second: str | None = None) -> "Machine":
        """What the sample ``name`` finds in ``source`` ("file:/proc/..."), and the time after."""
        self.samples.setdefault(name, {})[source] = (first, first if second is None else second)
        return self

    def windows_of(self, name: str, *windows: Window, remarks: Sequence[str] = ()) -> "Machine":
        """What the latency probes of that name measure."""
        entries = [window.to_json() for window in windows]
        self.measured[name] = {"windows": entries, "remarks": list(remarks)}
        return self

    def deny(self, *paths: str) -> "Machine":
        """May not be read by the user that looks (what lies below neither).

        A search for processes is told by its evidence key: ``open_files:database``.
        """
        self.refused.update(dict.fromkeys(paths, "denied"))
        return self

    def account(self, name: str, uid: int, *groups: str) -> "Machine":
        line = f"{name}:x:{uid}:54321::/home/{name}:/bin/bash\n"
        self.command(f"getent passwd {name}", line).command(f"getent passwd {uid}", line)
        self.command("stat -L -c %F %u %a /bin/bash", "regular file 0 755\n")
        self.command(f"stat -L -c %F %u %a /home/{name}", f"directory {uid} 700\n")
        return self.command(f"id -Gn {name}", " ".join(groups) + "\n")

    def group(self, name: str, gid: int, *members: str) -> "Machine":
        return self.command(f"getent group {name}", f"{name}:x:{gid}:{','.join(members)}\n")

    def memory(self, **rows: int) -> "Machine":
        """Change rows of /proc/meminfo: kB, or a plain count for HugePages_*."""
        lines = []
        for line in self.files["/proc/meminfo"].splitlines():
            name, _, value = line.partition(":")
            if name in rows:
                unit = " kB" if value.endswith(" kB") else ""
                line = f"{name}: {rows[name]:>10}{unit}"
            lines.append(line)
        return self.file("/proc/meminfo", "\n".join(lines) + "\n")

    def pool(self, total: int, free: int, rsvd: int = 0, surp: int = 0) -> "Machine":
        self.file("/proc/sys/vm/nr_hugepages", f"{total - surp}\n")
        return self.memory(
            HugePages_Total=total, HugePages_Free=free, HugePages_Rsvd=rsvd, HugePages_Surp=surp
        )

    def nodes(self, *pages: int, page_kib: int = 2048) -> "Machine":
        """NUMA nodes and the pages of the pool on each."""
        for number, count in enumerate(pages):
            folder = f"/sys/devices/system/node/node{number}/hugepages/hugepages-{page_kib}kB"
            self.file(f"{folder}/nr_hugepages", f"{count}\n")
            self.file(f"{folder}/free_hugepages", "0\n")
        return self

    def instance(
        self,
        sid: str,
        *segments: Shm,
        pid: int = 2101,
        uid: int = 54321,
        groups: tuple[int, ...] = (OINSTALL,),
        memlock: int | None = None,
        kind: str = "ora",
        attached: int = 40,
        asked: bool = True,
    ) -> "Machine":
        """A running instance. ``memlock`` is bytes, None is unlimited.

        A database that is ``asked`` tells that its next start takes the SGA that it has.
        """
        process = {"pid": pid, "uid": uid, "gid": OINSTALL, "started": 61.5}
        self.running.append({**process, "argv0": f"{kind}_pmon_{sid}"})
        maps, numa_maps, address = [_TEXT_MAPPING], [_TEXT_NUMA], 0x60000000
        for segment in segments:
            shmid = len(self.segments)
            maps.append(_maps_line(address, segment, shmid))
            numa_maps.append(_numa_maps_line(address, segment))
            self.segments.append(_shm_line(shmid, segment.size, pid, attached, uid))
            address += -(-segment.size // (2 * MIB)) * 2 * MIB
        limit = "unlimited" if memlock is None else str(memlock)
        folder = f"/proc/{pid}"
        self.file(f"{folder}/maps", "".join(maps))
        self.file(f"{folder}/numa_maps", "".join(numa_maps))
        self.file(f"{folder}/limits", _limits(limit))
        self.file(f"{folder}/status", _status(f"{kind}_pmon_{sid}"[:15], uid, groups))
        if kind in ("ora", "db") and asked:
            sga = str(sum(item.size for item in segments if item.size >= 2 * MIB))
            name = "sga_target" if sga != "0" else "memory_target"
            value = sga if sga != "0" else "1073741824"
            self.link(f"{folder}/exe", f"{HOME}/bin/oracle")
            self.parameters(sid, {"sga_max_size": value, name: value}, ("*", name, value))
        return self.shm_table()

    def parameters(
        self,
        sid: str,
        running: dict[str, str],
        *stored: tuple[str, str, str],
        release: tuple[str, str] = ("19.0.0.0.0", "19.21.0.0.0"),
    ) -> "Machine":
        """What the instance answers when it is asked for its parameters (sqlplus.query)."""
        spfile = f"{HOME}/dbs/spfile{sid}.ora"
        values = {"sga_target": "0", "memory_target": "0", **running, "spfile": spfile}
        values = {"compatible": "19.0.0", "db_securefile": "PREFERRED", "event": "\\0", **values}
        rows = [f"|instance|{sid}|{release[0]}|OPEN|", f"|full|{release[1]}|"]
        rows += [f"|running|{name}|{value}|" for name, value in sorted(values.items())]
        rows += [f"|stored|{'|'.join(entry)}|" for entry in stored]
        text = "\n".join(["hostproof-begin", *rows, "hostproof-end", ""])
        self.command(f"sqlplus {sid}: wait chains", "hostproof-begin\nhostproof-end\n")
        return self.command(f"sqlplus {sid}: release and parameters", text)

    def process(self, argv0: str, *paths: str, pid: int = 3101, uid: int = 54321) -> "Machine":
        """A running process and what it holds open: paths, mapped files, ``socket:[INODE]``."""
        self.running.append(
            {"pid": pid, "uid": uid, "gid": OINSTALL, "started": 61.5, "argv0": argv0}
        )
        self.holding.append({"pid": pid, "uid": uid, "argv0": argv0, "paths": sorted(paths)})
        return self

    def writer(
        self,
        argv0: str,
        files: dict[str, list[str]],
        *rings: tuple[int, int],
        pid: int = 4101,
        uid: int = 54321,
        urings: int = 0,
    ) -> "Machine":
        """A process that writes: paths by the flags of their descriptors, rings of AIO."""
        process = {"pid": pid, "uid": uid, "gid": OINSTALL, "started": 61.5, "argv0": argv0}
        self.running.append({**process, "exe": f"{HOME}/bin/oracle", "exe_uid": uid})
        held = {"pid": pid, "uid": uid, "argv0": argv0, "rings": [list(ring) for ring in rings]}
        self.holders_of_rings.append({**held, "files": files, "urings": urings})
        return self

    def shm_table(self) -> "Machine":
        return self.file("/proc/sysvipc/shm", _SHM_HEADER + "".join(self.segments))

    def stop_instances(self) -> "Machine":
        self.running, self.holding, self.segments = [], [], []
        return self.shm_table()

    # -- answering

    def read_lines(self, path: str, pattern: str) -> list[str]:
        answer = self._look("file", path)
        if "text" in answer:
            answer = {"text": matching_lines(answer["text"], pattern, path)}
        key = f"file:{pattern} in {path}"
        reading = {"kind": "file", "at": RECORDED_AT, "message": key, **answer}
        self.evidence.setdefault(key, reading)
        return super().read_lines(path, pattern)

    def processes(self, name: str, pattern: str, kind: Kind) -> list[Process]:
        self.patterns[name] = pattern
        return super().processes(name, pattern, kind)

    def holders(self, name: str, pattern: str, kind: Kind) -> Holders:
        self.patterns[name] = pattern
        return super().holders(name, pattern, kind)

    def find_lines(
        self,
        name: str,
        places: Sequence[str],
        pattern: str,
        only_as_root: bool = False,
        record: Any = None,
    ) -> FoundLines:
        self.patterns[name], self.under[name] = pattern, list(places)
        self.only_as_root[name] = only_as_root
        return super().find_lines(name, places, pattern, only_as_root, record)

    def open_files(
        self, name: str, pattern: str, under: Iterable[str], kind: Kind
    ) -> list[OpenFiles]:
        self.patterns[name], self.under[name] = pattern, sorted(set(under))
        return super().open_files(name, pattern, self.under[name], kind)

    def _answer(self, key: str, kind: str, ask: Any, record: Any = None) -> dict[str, Any]:
        if key not in self.evidence and not self._is_older(kind, key):
            subject = key.split(":", 1)[1]
            answer = self._look(kind, subject)
            if "error" in answer:
                answer["message"] = f"{key}: {answer['error']} in this test"
            self.evidence[key] = {"kind": kind, "at": RECORDED_AT, **answer}
        return super()._answer(key, kind, ask, record)

    def _is_older(self, kind: str, key: str) -> bool:
        """Machines tell the owner of a home and the time of a file as records of 0.1.0 do."""
        is_time = " -c %Z " in key and key.partition(":")[2] not in self.commands
        return kind == "program" or is_time

    def _look(self, kind: str, subject: str) -> dict[str, Any]:
        if f"{kind}:{subject}" in self.refused:
            return {"error": self.refused[f"{kind}:{subject}"]}
        if kind in ("processes", "open_files"):
            pattern = self.patterns[subject]
            known = self.running if kind == "processes" else self.holding
            processes = [process for process in known if re.search(pattern, process["argv0"])]
            under = {"under": self.under[subject]} if kind == "open_files" else {}
            return {"pattern": pattern, "processes": processes, **under}
        if kind == "held":
            answer = {"processes": self.holders_of_rings, "unseen": 0}
            return {"pattern": self.patterns[subject], **answer}
        if kind == "lines":
            return self._find_lines(
                self.under[subject], self.patterns[subject], self.only_as_root[subject]
            )
        if kind == "command":
            return self._run(subject)
        if kind == "environment" and int(subject) in self.environments:
            values = self.environments[int(subject)]
            return {"names": sorted({*values, "TZ"}), "values": values}
        if kind == "windows":
            return self.measured.get(subject, {"error": "unanswered"})
        if kind == "sample":
            return self._sample(self.samples.get(subject, {}))
        path = self._resolve(subject)
        for refused, error in self.refused.items():
            if path == refused or path.startswith(refused + "/"):
                return {"error": error}
        if kind == "file" and path in self.files:
            return {"text": self.files[path]}
        if kind == "dir" and path in self._tree():
            return {"names": self._names_in(path)}
        if kind == "link" and (path in self.files or path in self._tree()):
            return {"target": path}
        is_folder = path in self.modes and path in self._tree()
        if kind == "stat" and (path in self.files or is_folder):
            size = len(self.files.get(path, ""))
            gid = self.gids.get(path, 0)
            uid = self.uids.get(path, 0)
            stat = {"mode": self.modes[path], "uid": uid, "gid": gid, "size": size}
            stat["mtime"] = self.mtimes.get(path, 0.0)
            return {"stat": stat}
        return {"error": "absent"}

    def _find_lines(
        self, places: Sequence[str], pattern: str, only_as_root: bool
    ) -> dict[str, Any]:
        """As LiveHost does it, over the files that the test put here."""
        everything = sorted({*self.files, *self.links, *self.refused, *self._tree()})
        by_depth: dict[int, list[str]] = {}
        for path in everything:
            by_depth.setdefault(path.count("/"), []).append(path)
        waiting = [
            (path, "", True)
            for place in places
            for path in by_depth.get(place.count("/"), ())
            if _glob(place).match(path)
        ]
        lines: dict[str, list[tuple[int, str]]] = {}
        callers: dict[str, str] = {}
        unread, seen = [], set()
        while waiting:
            path, origin, is_script = waiting.pop(0)
            real = self._resolve(path)
            answer = self._look("file", path)
            if real in seen or answer.get("error") == "absent":
                continue
            if "text" in answer and not (is_script or answer["text"].startswith("#!")):
                continue
            seen.add(real)
            if "error" in answer:
                unread.append(path)
                continue
            rows = _joined_lines(answer["text"])
            if only_as_root and OF_ACCOUNT.search(path):
                rows = [row for row in rows if AS_ROOT.search(row[1])]
            if matching := [row for row in rows if re.search(pattern, row[1])]:
                lines[path] = matching
                callers.update({path: origin} if origin else {})
            called = re.findall(r"(?<![\w.$}/])/[\w.+@/-]*[\w+]", answer["text"])
            sourced = [n for n in SOURCED.findall(answer["text"]) if not _LIBRARY.search(n)]
            waiting.extend(
                (target, origin or path, target in sourced)
                for target in called
                if target in self.files
            )
        return {"lines": lines, "callers": callers, "unread": unread}

    def _sample(self, texts: dict[str, tuple[str, str]]) -> dict[str, Any]:
        first = {source: text[0] for source, text in texts.items()}
        second = {source: text[1] for source, text in texts.items()}
        return {"seconds": self.sample_seconds, "first": first, "second": second, "errors": {}}

    def _run(self, line: str) -> dict[str, Any]:
        argv = line.split(" ")
        if line not in self.commands and argv[0] in ("getent", "id"):
            # Both are everywhere, and say so by their code when they do not know a name.
            return {"argv": argv, "rc": 2 if argv[0] == "getent" else 1, "stdout": "", "stderr": ""}
        if line not in self.commands and argv[0] in ("cat", "sed", "readlink", "ls", "cmp"):
            return {"argv": argv, **self._read_by(*argv)._asdict()}
        if line not in self.commands:
            return {"error": "absent"}
        took = {"seconds": self.logon_seconds} if line.startswith("sqlplus ") else {}
        return {"argv": argv, **self.commands[line]._asdict(), **took}

    def _read_by(self, command: str, *arguments: str) -> Output:
        """What coreutils say of the files here, for those that a control reads by command."""
        path = arguments[-1].rstrip("/")
        if command == "readlink" and "-e" not in arguments:
            target = self.links.get(path)
            return Output(0, target + "\n", "") if target else _refusal(command, path, "absent")
        kind = {"readlink": "link", "ls": "dir"}.get(command, "file")
        answer = self._look(kind, path)
        if "error" in answer:
            return _refusal(command, path, answer["error"])
        if command == "cat":
            return Output(0, answer["text"], "")
        if command == "sed":
            _, pattern, by, _ = arguments[0].split("/")
            pattern = pattern.replace("[[:blank:]]", "[ \\t]")
            return Output(0, re.sub(pattern, by, answer["text"]), "")
        if command == "readlink":
            return Output(0, answer["target"] + "\n", "")
        if command == "cmp":
            return Output(int(self._look("file", arguments[-2]) != answer), "", "")
        places = [self._resolve(f"{path}/{name}") for name in answer["names"]]
        lines = [
            f"{sorted(self.files).index(place) + 100} -rw-r--r-- 1 54321 54321 "
            f"{len(self.files[place])} Nov 21 03:15 {name}\n"
            for name, place in zip(answer["names"], places, strict=True)
            if place in self.files
        ]
        return Output(0, "total 8\n" + "".join(lines), "")

    def _resolve(self, path: str) -> str:
        for _ in range(8):
            for link, target in self.links.items():
                if path == link or path.startswith(link + "/"):
                    path = target + path[len(link) :]
                    break
            else:
                break
        return path

    def _tree(self) -> dict[str, set[str]]:
        """Every folder with the names in it. Made anew only where entries came or went: each
        question about a path needs it."""
        entries = (tuple(self.files), tuple(self.links), frozenset(self.folders))
        if entries != self._tree_is_of:
            tree: dict[str, set[str]] = {path: set() for path in self.folders}
            for path in (entry for some in entries for entry in some):
                for folder, name in _way_to(path):
                    tree.setdefault(folder, set()).add(name)
            self._tree_is_of, self._tree_found = entries, tree
        return self._tree_found

    def _names_in(self, folder: str) -> list[str]:
        return sorted(self._tree().get(folder, ()))


@functools.cache
def _way_to(path: str) -> list[tuple[str, str]]:
    """Each folder on the way to a path, with the name that leads on from it."""
    way = [Path(path), *Path(path).parents]
    return [(str(step.parent), step.name) for step in way if step != step.parent]


def linux() -> Machine:
    """A Linux host of 64 GiB with systemd and one NUMA node, and nothing of a database."""
    machine = Machine()
    machine.file("/proc/meminfo", (FIXTURES / "meminfo/linux-6.18-no-pool.txt").read_text())
    machine.memory(
        MemTotal=64 * MIB,
        MemFree=40 * MIB,
        MemAvailable=44 * MIB,
        PageTables=14368,
        AnonHugePages=0,
    )
    machine.pool(0, 0)
    machine.nodes(0)
    machine.file("/proc/sys/kernel/osrelease", "5.14.0-503.11.1.el9_5.x86_64\n")
    machine.file("/proc/sys/vm/hugetlb_shm_group", "0\n")
    machine.file("/proc/sys/vm/nr_overcommit_hugepages", "0\n")
    machine.file("/proc/cmdline", "BOOT_IMAGE=/vmlinuz root=/dev/mapper/ol-root ro quiet\n")
    machine.file("/proc/buddyinfo", _BUDDYINFO)
    machine.file(THP_FILE, "always madvise [never]\n")
    machine.file(
        "/boot/config-5.14.0-503.11.1.el9_5.x86_64", "CONFIG_TRANSPARENT_HUGEPAGE_ALWAYS=y\n"
    )
    machine.file("/etc/tmpfiles.d/thp.conf", f"w {THP_FILE} - - - - never\n")
    machine.file("/etc/sysctl.conf", "# For more information, see sysctl.conf(5).\n")
    machine.link("/etc/sysctl.d/99-sysctl.conf", "/etc/sysctl.conf")
    machine.file("/usr/lib/sysctl.d/50-default.conf", "kernel.sysrq = 16\n")
    for name in ("systemd-sysctl.service", "systemd-tmpfiles-setup.service"):
        machine.file(f"{UNITS}/{name}", "[Unit]\nDescription=Apply Settings\n")
        machine.link(f"{UNITS}/sysinit.target.wants/{name}", f"{UNITS}/{name}")
    machine.file("/etc/security/limits.conf", "# <domain> <type> <item> <value>\n")
    machine.folder("/run/systemd/system", "/etc/security/limits.d", "/dev/shm")
    machine.link("/lib", "/usr/lib")
    machine.command("getconf PAGESIZE", "4096\n")
    machine.command("systemctl is-enabled tuned.service", "enabled\n")
    return machine.shm_table()


def database_host() -> Machine:
    """The same host, ready for its instance ORCL, which runs: every check that applies passes."""
    machine = linux()
    machine.account("oracle", 54321, "oinstall", "dba").group("oinstall", OINSTALL)
    machine.pool(PAGES_NEEDED, PAGES_NEEDED - PAGES_USED)
    machine.nodes(PAGES_NEEDED // 2, PAGES_NEEDED - PAGES_NEEDED // 2)
    machine.file("/proc/sys/vm/hugetlb_shm_group", f"{OINSTALL}\n")
    machine.file(
        SYSCTL_FILE,
        f"{HEADER}vm.hugetlb_shm_group = {OINSTALL}\nvm.nr_hugepages = {PAGES_NEEDED}\n",
    )
    machine.file(LIMITS_FILE, f"oracle soft memlock {60 * MIB}\noracle hard memlock {60 * MIB}\n")
    return machine.instance("ORCL", *healthy_sga(), memlock=60 * GIB)


def healthy_sga() -> list[Shm]:
    """Two segments in huge pages, and the small one that every instance has beside them."""
    return [
        Shm(SGA_SEGMENTS[0], True, (4, 0)),
        Shm(SGA_SEGMENTS[1], True, (4094, 4094)),
        Shm(SMALL_SEGMENT, False, (5, 0)),
    ]


def _refusal(command: str, path: str, error: str) -> Output:
    words = {"denied": "Permission denied", "absent": "No such file or directory"}
    return Output(2 if command == "ls" else 1, "", f"{command}: {path}: {words[error]}\n")


# -- the kernel's formats, as the fixtures of the parsers show them

_TEXT_MAPPING = (
    "00400000-18f5c000 r-xp 00000000 fd:00 33686018"
    "                           /u01/app/oracle/product/19/bin/oracle\n"
)
_TEXT_NUMA = (
    "00400000 default file=/u01/app/oracle/product/19/bin/oracle mapped=8000 N0=8000 "
    "kernelpagesize_kB=4\n"
)
_SHM_HEADER = (
    "       key      shmid perms                  size  cpid  lpid nattch   uid   gid  cuid  cgid"
    "      atime      dtime      ctime                   rss                  swap\n"
)
_BUDDYINFO = (
    "Node 0, zone      DMA      0      0      0      0      0      0      0      0      1      1"
    "      3 \n"
    "Node 0, zone    DMA32      1      3      4      2      5      4      3      4      5      3"
    "    751 \n"
    "Node 0, zone   Normal  17191  11515   4011   1153    339    152    133     88    117    144"
    "  12000 \n"
)


def _maps_line(address: int, one: Shm, shmid: int) -> str:
    step = 2 * MIB if one.huge else 4 * KIB
    end = address + -(-one.size // step) * step
    device = "00:11" if one.huge else "00:01"
    return f"{address:08x}-{end:08x} rw-s 00000000 {device} {shmid}   /SYSV00000000 (deleted)\n"


def _numa_maps_line(address: int, one: Shm) -> str:
    line = f"{address:08x} default file=/SYSV00000000\\040(deleted)" + " huge" * one.huge
    if any(one.nodes):
        counts = [f"N{node}={count}" for node, count in enumerate(one.nodes) if count]
        line += f" dirty={sum(one.nodes)} {' '.join(counts)}"
        line += f" kernelpagesize_kB={2048 if one.huge else 4}"
    return line + "\n"


def _shm_line(shmid: int, size: int, pid: int, attached: int, uid: int) -> str:
    return (
        f"{0:>10} {shmid:>10}  1640 {size:>21} {pid:>5} {pid:>5} {attached:>6} {uid:>5} "
        f"{OINSTALL:>5} {uid:>5} {OINSTALL:>5} 1795231561          0 1795231561 {0:>21} {0:>21}\n"
    )


def _limits(memlock: str) -> str:
    text = (FIXTURES / "proc_limits/linux-6.18.txt").read_text()
    return "".join(
        f"Max locked memory         {memlock:<20} {memlock:<20} bytes     \n"
        if line.startswith("Max locked memory")
        else line
        for line in text.splitlines(keepends=True)
    )


def _status(name: str, uid: int, groups: tuple[int, ...]) -> str:
    listed = " ".join(str(group) for group in groups)
    return (
        f"Name:\t{name}\nState:\tS (sleeping)\nUid:\t{uid}\t{uid}\t{uid}\t{uid}\n"
        f"Gid:\t{groups[0]}\t{groups[0]}\t{groups[0]}\t{groups[0]}\nGroups:\t{listed} \n"
        "HugetlbPages:\t       0 kB\n"
    )
