"""Every check of hugepages in every status that it can have, each told as a host's story."""

from collections.abc import Callable
from typing import Any, NamedTuple

import packs
import pytest
from ansible.module_utils.hostproof.collect.host import Output, RecordedHost
from ansible.module_utils.hostproof.controls.hugepages.control import CONTROL as hugepages
from ansible.module_utils.hostproof.evaluate.finding import worst
from packs import GIB, KIB, MIB, Machine, Shm

LISTED = [{"sid": "ORCL", "sga": "16G", "version": "19"}]
NEW_KERNEL = "6.12.0-1.el10.x86_64"
UEK7 = "5.15.0-206.153.7.el9uek.x86_64"


def kernel(machine: Machine, release: str) -> Machine:
    machine.file("/proc/sys/kernel/osrelease", release + "\n")
    return machine.file(f"/boot/config-{release}", "CONFIG_TRANSPARENT_HUGEPAGE_MADVISE=y\n")


def database(**changes: Any) -> Callable[[], Machine]:
    """The healthy host, changed as CHANGES says."""

    def tell() -> Machine:
        machine = packs.database_host()
        for name, value in changes.items():
            CHANGES[name](machine, value)
        return machine

    return tell


def one_segment_unlisted() -> Machine:
    """Two instances; the table of the host does not list the segment of the second."""
    machine = packs.database_host().instance("SECOND", Shm(4 * GIB), pid=2202)
    machine.segments.pop()
    return machine.shm_table().pool(12000, 3804)


def raised_beside_an_unknown(size: int) -> Callable[[], Machine]:
    """ORCL takes SIZE at its next start, in a pool of 4 GiB; the need of another is unknown."""

    def tell() -> Machine:
        machine = packs.linux().account("oracle", 54321, "oinstall", "dba")
        machine.instance("ORCL", Shm(2 * GIB), memlock=60 * GIB).pool(2048, 1024)
        running = {"sga_max_size": str(2 * GIB), "sga_target": str(2 * GIB)}
        machine.parameters("ORCL", running, ("*", "sga_target", str(size)))
        machine.instance("SECOND", Shm(4 * GIB), pid=2202, asked=False)
        machine.segments.pop()
        return machine.shm_table()

    return tell


def bare(**changes: Any) -> Callable[[], Machine]:
    """A Linux host without a database, changed."""

    def tell() -> Machine:
        machine = packs.linux()
        for name, value in changes.items():
            CHANGES[name](machine, value)
        return machine

    return tell


def with_instance(*segments: Shm, **details: Any) -> Callable[[], Machine]:
    """The healthy host whose ORCL runs with these segments instead."""

    def tell() -> Machine:
        machine = packs.database_host().stop_instances()
        return machine.instance("ORCL", *segments, **{"memlock": 60 * GIB, **details})

    return tell


def second_instance(sid: str, size: int, **details: Any) -> Callable[[], Machine]:
    def tell() -> Machine:
        machine = packs.database_host()
        return machine.instance(sid, Shm(size), **{"pid": 2202, "memlock": None, **details})

    return tell


CHANGES: dict[str, Callable[[Machine, Any], Any]] = {
    "sysctl": lambda machine, text: machine.file(packs.SYSCTL_FILE, text),
    "limits": lambda machine, text: machine.file(packs.LIMITS_FILE, text),
    "cmdline": lambda machine, text: machine.file("/proc/cmdline", text + "\n"),
    "thp": lambda machine, text: machine.file(packs.THP_FILE, text + "\n"),
    "kernel": kernel,
    "pool": lambda machine, numbers: machine.pool(*numbers),
    "nodes": lambda machine, pages: machine.nodes(*pages),
    "memory": lambda machine, rows: machine.memory(**rows),
    "shm_group": lambda machine, gid: machine.file("/proc/sys/vm/hugetlb_shm_group", f"{gid}\n"),
    "overcommit": lambda machine, pages: machine.file(
        "/proc/sys/vm/nr_overcommit_hugepages", f"{pages}\n"
    ),
    "files": lambda machine, files: [machine.file(path, text) for path, text in files.items()],
    "executable": lambda machine, files: [
        machine.file(path, text, mode=0o755) for path, text in files.items()
    ],
    "links": lambda machine, links: [machine.link(path, to) for path, to in links.items()],
    "without": lambda machine, paths: machine.remove(*paths),
    "deny": lambda machine, paths: machine.deny(*paths),
    "commands": lambda machine, commands: machine.commands.update(commands),
    "no_account": lambda machine, name: [
        machine.commands.pop(line)
        for line in list(machine.commands)
        if line.startswith(("getent passwd", "id "))
    ],
    "no_group": lambda machine, name: machine.commands.pop(f"getent group {name}"),
    "stopped": lambda machine, _yes: machine.stop_instances(),
}


class Story(NamedTuple):
    """``says`` are texts that the findings of the check must hold, in whatever field."""

    name: str
    host: Callable[[], Machine]
    policy: dict[str, Any]
    check: str
    status: str
    says: tuple[str, ...] = ()


POOL = (
    Story(
        "reserved: a planned database and an empty pool",
        bare(),
        {"profile": "oracle_19c_single"},
        "reserved",
        "warn",
        ("The pool has 0 pages now and 0 after a reboot",),
    ),
    Story(
        "reserved: a planned database and a pool that lasts",
        lambda: bare(pool=(10, 10))().file("/etc/sysctl.d/90.conf", "vm.nr_hugepages=10\n"),
        {"profile": "oracle_19c_single"},
        "reserved",
        "pass",
        ("10 pages",),
    ),
    Story(
        "covers: each segment takes one page more than fits",
        database(),
        {},
        "pool_covers_sga",
        "pass",
        ("8194 pages (16.0 GiB: ORCL 8194)", "8192 of 8194 pages committed"),
    ),
    Story(
        "covers: an instance runs in exactly its pages",
        database(pool=(8192, 0)),
        {},
        "pool_covers_sga",
        "pass",
        (),
    ),
    Story(
        "covers: one page is missing",
        database(pool=(8191, 1)),
        {},
        "pool_covers_sga",
        "warn",
        ("3 pages of 8194 are missing", "costs 32.0 MiB", "PageTables is 14.0 MiB"),
    ),
    Story(
        "covers: only the margin of a planned instance is missing",
        bare(pool=(512, 512)),
        {"instances": [{"sid": "ORCL", "sga": "1G"}]},
        "pool_covers_sga",
        "warn",
        ("4 pages of 516 are missing", "hugepages_extra_pages_per_instance"),
    ),
    Story(
        "covers: a page of a planned instance is missing",
        bare(pool=(510, 510)),
        {"instances": [{"sid": "ORCL", "sga": "1G"}]},
        "pool_covers_sga",
        "fail",
        ("6 pages of 516 are missing", "costs 2.0 MiB"),
    ),
    Story(
        "covers: one page in a thousand is missing",
        database(pool=(8194 - 8, 1)),
        {},
        "pool_covers_sga",
        "warn",
    ),
    Story(
        "covers: more than one page in a thousand is missing",
        database(pool=(8194 - 9, 1)),
        {},
        "pool_covers_sga",
        "fail",
    ),
    Story(
        "covers: a listed instance that is down takes its size and four pages",
        bare(pool=(8196, 8196)),
        {"instances": LISTED},
        "pool_covers_sga",
        "pass",
        ("ORCL 8196",),
    ),
    Story(
        "covers: a listed instance that is down, and a pool without the four",
        bare(pool=(8195, 8195)),
        {"instances": LISTED},
        "pool_covers_sga",
        "warn",
    ),
    Story(
        "covers: several instances and spare pages are summed up",
        bare(pool=(8196 + 516 + 10, 8196 + 516 + 10)),
        {"instances": [*LISTED, {"sid": "+ASM1", "sga": "1G"}], "spare_pages": 10},
        "pool_covers_sga",
        "pass",
        ("8722 pages", "+ASM1 516 + ORCL 8196 + spare 10"),
    ),
    Story(
        "covers: ASM and the management repository run beside the database",
        second_instance("-MGMTDB", 1 * GIB, kind="mdb"),
        {},
        "pool_covers_sga",
        "fail",
        ("-MGMTDB, ORCL 8707", "513 pages of"),
    ),
    Story(
        "covers: an instance that nobody listed runs",
        second_instance("+ASM1", 1 * GIB, kind="asm"),
        {"instances": LISTED},
        "pool_covers_sga",
        "fail",
        ("+ASM1 (running, not listed) 513",),
    ),
    Story(
        "covers: a listed SGA was raised",
        database(pool=(8192, 0)),
        {"instances": [{"sid": "ORCL", "sga": "4G"}]},
        "pool_covers_sga",
        "pass",
        ("ORCL 8194",),
    ),
    Story(
        "covers: somebody else holds the pages of an instance that is down",
        bare(pool=(8196, 100, 50)),
        {"instances": LISTED},
        "pool_covers_sga",
        "fail",
        ("8146 pages of the pool are used by programs other than running instances",),
    ),
    Story(
        "covers: somebody else holds pages beside a running instance",
        database(pool=(8196 + 516, 100)),
        {"instances": [*LISTED, {"sid": "+ASM1", "sga": "1G"}]},
        "pool_covers_sga",
        "fail",
        ("418 pages of the pool are used by programs other than running instances",),
    ),
    Story(
        "covers: without root, an instance that is down hides no raised SGA of one that runs",
        database(pool=(8192 + 8196, 8196), deny=["/proc/2101/maps"]),
        {"instances": [{"sid": "ORCL", "sga": "4G"}, {"sid": "DOWN", "sga": "16G"}]},
        "pool_covers_sga",
        "warn",
        ("DOWN 8196 + ORCL 2052 + running beyond that 6142",),
    ),
    Story(
        "covers: somebody else holds the pages that an SGA in small pages did not get",
        with_instance(Shm(16 * GIB, False)),
        {},
        "pool_covers_sga",
        "fail",
        ("8192 pages of the pool are used by programs other than running instances",),
    ),
    Story(
        "covers: an SGA that is not among the host's segments",
        with_instance(Shm(20 * KIB, False)),
        {},
        "pool_covers_sga",
        "error",
        ("list it in hugepages_instances",),
    ),
    Story(
        "covers: the SGA of one of two instances is not among the host's segments",
        one_segment_unlisted,
        {},
        "pool_covers_sga",
        "error",
        ("list it in hugepages_instances",),
    ),
    Story(
        "covers: what the next start takes fits exactly, and another need is unknown",
        raised_beside_an_unknown(4 * GIB),
        {},
        "pool_covers_sga",
        "error",
        ("list it in hugepages_instances",),
    ),
    Story(
        "covers: what the next start takes is one granule too much, and another need is unknown",
        raised_beside_an_unknown(4 * GIB + 1),
        {},
        "pool_covers_sga",
        "fail",
        ("ORCL 2056",),
    ),
    Story(
        "covers: a listed SGA was raised, and without root only the sum of all shows it",
        database(pool=(8192, 0), deny=["/proc/2101/maps"]),
        {"instances": [{"sid": "ORCL", "sga": "4G"}]},
        "pool_covers_sga",
        "warn",
        ("ORCL 2052 + running beyond that 6142",),
    ),
    Story("covers: nothing to cover", bare(), {}, "pool_covers_sga", "skip", ("lists none",)),
    Story(
        "covers: a database of 23ai has another name",
        with_instance(Shm(40 * GIB), kind="db"),
        {},
        "pool_covers_sga",
        "fail",
        ("ORCL 20481",),
    ),
    Story(
        "persisted: by the drop-in",
        database(),
        {},
        "pool_persisted",
        "pass",
        (f"8194 pages from {packs.SYSCTL_FILE}:3",),
    ),
    Story(
        "persisted: nowhere",
        database(sysctl="vm.hugetlb_shm_group = 54321\n"),
        {},
        "pool_persisted",
        "fail",
        ("nothing sets it", "A reboot makes 0 pages, 8194 too few."),
    ),
    Story(
        "persisted: a file that is read later wins",
        database(files={"/usr/lib/sysctl.d/99-zzz.conf": "\n-vm/nr_hugepages=100\n"}),
        {},
        "pool_persisted",
        "fail",
        ("100 pages from /usr/lib/sysctl.d/99-zzz.conf:2", f"{packs.SYSCTL_FILE}:3 = 8194"),
    ),
    Story(
        "persisted: /etc masks the file of the same name",
        database(
            files={
                "/usr/lib/sysctl.d/99-zzz.conf": "vm.nr_hugepages = 100\n",
                "/etc/sysctl.d/99-zzz.conf": "",
            }
        ),
        {},
        "pool_persisted",
        "pass",
    ),
    Story(
        "persisted: by the kernel command line",
        database(sysctl="vm.hugetlb_shm_group=54321\n", cmdline="ro hugepages=8194 quiet"),
        {},
        "pool_persisted",
        "pass",
        ("8194 pages from kernel command line hugepages=",),
    ),
    Story(
        "persisted: sysctl.d undoes the kernel command line",
        database(sysctl="vm.nr_hugepages=8000\n", cmdline="ro hugepages=8194"),
        {},
        "pool_persisted",
        "fail",
        ("8000 pages from", "not used: kernel command line hugepages=8194"),
    ),
    Story(
        "persisted: a reboot makes more",
        database(sysctl="vm.nr_hugepages=9000\n"),
        {},
        "pool_persisted",
        "warn",
        ("changes the pool from 8194 pages to 9000",),
    ),
    Story(
        "persisted: tmpfiles.d writes past sysctl",
        database(
            files={
                "/etc/tmpfiles.d/hp.conf": "w /sys/kernel/mm/hugepages/hugepages-2048kB/"
                "nr_hugepages - - - - 9000\n"
            }
        ),
        {},
        "pool_persisted",
        "error",
        ("/etc/tmpfiles.d/hp.conf:1 sets the pool in sysfs",),
    ),
    Story(
        "persisted: tmpfiles.d writes after sysctl.d",
        database(files={"/etc/tmpfiles.d/hp.conf": "w /proc/sys/vm/nr_hugepages - - - - 7\n"}),
        {},
        "pool_persisted",
        "fail",
        ("7 pages from /etc/tmpfiles.d/hp.conf:1",),
    ),
    Story(
        "persisted: rc.local decides last, and is a script",
        database(executable={"/etc/rc.d/rc.local": "#!/bin/sh\nsysctl -w vm.nr_hugepages=$N\n"}),
        {},
        "pool_persisted",
        "error",
        ("/etc/rc.d/rc.local:2", "sysctl -w vm.nr_hugepages=$***"),
    ),
    Story(
        "persisted: rc.local that no boot runs",
        database(files={"/etc/rc.d/rc.local": "#!/bin/sh\nsysctl -w vm.nr_hugepages=$N\n"}),
        {},
        "pool_persisted",
        "pass",
    ),
    Story(
        "persisted: two keys for one pool",
        database(sysctl="vm.nr_hugepages=8194\nvm.nr_hugepages_mempolicy=8194\n"),
        {},
        "pool_persisted",
        "error",
        (f"{packs.SYSCTL_FILE}:2 sets vm.nr_hugepages_mempolicy",),
    ),
    Story(
        "persisted: no number",
        database(sysctl="vm.nr_hugepages = many\n"),
        {},
        "pool_persisted",
        "fail",
        ("nothing sets it; not used: ", "= many (the kernel rejects it: it does not begin with"),
    ),
    Story(
        "persisted: /etc/sysctl.conf alone, which systemd does not read",
        database(
            without=[packs.SYSCTL_FILE, "/etc/sysctl.d/99-sysctl.conf"],
            files={"/etc/sysctl.conf": "vm.nr_hugepages=8194\n"},
        ),
        {},
        "pool_persisted",
        "fail",
        ("nothing sets it", "/etc/sysctl.conf:1 = 8194 (not read at boot)"),
    ),
    Story(
        "persisted: /etc/sysctl.conf through its link",
        database(without=[packs.SYSCTL_FILE], files={"/etc/sysctl.conf": "vm.nr_hugepages=8194\n"}),
        {},
        "pool_persisted",
        "pass",
        ("8194 pages from /etc/sysctl.d/99-sysctl.conf:1",),
    ),
    Story(
        "persisted: /etc/sysctl.conf on a host without systemd",
        database(
            without=["/run/systemd/system", packs.SYSCTL_FILE, "/etc/sysctl.d/99-sysctl.conf"],
            files={"/etc/sysctl.conf": "vm.nr_hugepages=8194\n"},
        ),
        {},
        "pool_persisted",
        "pass",
        ("8194 pages from /etc/sysctl.conf:1",),
    ),
    Story("owner: one", database(), {}, "single_source", "pass", ("no tuned profile",)),
    Story("owner: none", bare(), {}, "single_source", "pass", ("nothing sets it",)),
    Story(
        "owner: the preinstall package sets it too",
        database(files={"/etc/sysctl.d/97-oracle.conf": "# preinstall\nvm.nr_hugepages = 50\n"}),
        {},
        "single_source",
        "warn",
        (
            f"2 places set the pool; {packs.SYSCTL_FILE}:3 is effective",
            "/etc/sysctl.d/97-oracle.conf:2 = 50",
            "remove the setting from: /etc/sysctl.d/97-oracle.conf:2 = 50",
        ),
    ),
    Story(
        "owner: the one that loses has the right number",
        database(
            sysctl="vm.hugetlb_shm_group=54321\nvm.nr_hugepages=8194\n",
            files={"/etc/sysctl.d/99-zzz.conf": "vm.nr_hugepages = 50\n"},
        ),
        {},
        "single_source",
        "warn",
        ("/etc/sysctl.d/99-zzz.conf:1 is effective and sets 50 pages, 8194 are needed",),
    ),
    Story(
        "owner: none of those is read at boot",
        database(
            without=[packs.SYSCTL_FILE, "/etc/sysctl.d/99-sysctl.conf"],
            files={"/etc/sysctl.conf": "vm.nr_hugepages=8194\n"},
        ),
        {},
        "single_source",
        "warn",
        (
            "no place is effective and sets 0 pages, 8194 are needed: keep one place with that "
            "number of /etc/sysctl.conf:1 = 8194 (not read at boot); remove the others",
        ),
    ),
    Story(
        "owner: tuned gives way to sysctl.d",
        database(
            files={
                "/etc/tuned/active_profile": "oracle-hp\n",
                "/etc/tuned/oracle-hp/tuned.conf": "[main]\ninclude=base\n",
                "/usr/lib/tuned/base/tuned.conf": "[sysctl]\nvm.nr_hugepages=11\n",
            }
        ),
        {},
        "single_source",
        "warn",
        (
            f"{packs.SYSCTL_FILE}:3 is effective",
            "tuned profile /usr/lib/tuned/base/tuned.conf = 11",
            "tuned profile oracle-hp",
        ),
    ),
    Story(
        "owner: tuned decides where it does not apply sysctl.d again",
        database(
            files={
                "/etc/tuned/active_profile": "oracle\n",
                "/etc/tuned/tuned-main.conf": "reapply_sysctl = 0\n",
                "/usr/lib/tuned/oracle/tuned.conf": "[sysctl]\nvm.nr_hugepages=11\n",
            }
        ),
        {},
        "single_source",
        "warn",
        ("tuned profile /usr/lib/tuned/oracle/tuned.conf is effective",),
    ),
    Story(
        "owner: tuned's profile is nowhere",
        database(files={"/etc/tuned/active_profile": "lost\n"}),
        {},
        "single_source",
        "error",
        ("tuned's active profile lost is in none of its directories",),
    ),
    Story("not wasted: nothing is left", database(), {}, "pool_not_wasted", "pass"),
    Story(
        "not wasted: ten percent are allowed",
        database(pool=(8194 + 819, 800)),
        {},
        "pool_not_wasted",
        "pass",
    ),
    Story(
        "not wasted: eleven are not",
        database(pool=(8194 + 820, 822)),
        {},
        "pool_not_wasted",
        "warn",
        (
            "820 pages (1.6 GiB) are not required",
            "list every instance of this host in hugepages_instances; if 8194 pages cover them",
        ),
    ),
    Story(
        "not wasted: what is promised counts as used",
        database(pool=(12000, 3800, 3000)),
        {},
        "pool_not_wasted",
        "pass",
        ("11200 committed, 800 pages neither used nor reserved",),
    ),
    Story(
        "not wasted: no database at all",
        bare(pool=(512, 512)),
        {},
        "pool_not_wasted",
        "warn",
        ("512 pages (1.0 GiB) are not required",),
    ),
    Story("not wasted: no pool", bare(), {}, "pool_not_wasted", "pass"),
    Story("share: little", database(), {}, "ram_share", "pass", ("25 percent (16.0 GiB)",)),
    Story(
        "share: too much now",
        database(pool=(22938, 0)),
        {},
        "ram_share",
        "warn",
        ("at most 70 percent of memory (44.8 GiB)", "reduce the pool to at most 22937 pages"),
    ),
    Story("share: just not too much", database(pool=(22937, 0)), {}, "ram_share", "pass"),
    Story(
        "share: too much after a reboot",
        database(sysctl="vm.nr_hugepages = 30000\n"),
        {},
        "ram_share",
        "fail",
        ("92 percent (58.6 GiB)",),
    ),
    Story(
        "share: much after a reboot of a host with much memory",
        database(memory={"MemTotal": 1 << 31}, sysctl="vm.nr_hugepages = 960000\n"),
        {},
        "ram_share",
        "warn",
        ("92 percent (1.8 TiB)",),
    ),
    Story(
        "share: little is left of much memory",
        database(memory={"MemTotal": 1 << 31}, sysctl="vm.nr_hugepages = 1040000\n"),
        {},
        "ram_share",
        "fail",
        ("99 percent (2.0 TiB)",),
    ),
    Story(
        "share: too much now, whatever a reboot makes",
        database(pool=(22938, 0), deny=["/proc/cmdline"]),
        {},
        "ram_share",
        "warn",
        ("unknown",),
    ),
    Story(
        "share: an unknown next boot",
        database(deny=["/proc/cmdline"]),
        {},
        "ram_share",
        "error",
        ("--become",),
    ),
    Story("page size: 2M", database(), {}, "page_size", "pass", ("2.0 MiB",)),
    Story(
        "page size: 1G below a database",
        database(memory={"Hugepagesize": MIB, "HugePages_Total": 0, "HugePages_Free": 0}),
        {},
        "page_size",
        "fail",
        ("1.0 GiB", "default_hugepagesz="),
    ),
    Story(
        "page size: another machine's, and no database",
        bare(memory={"Hugepagesize": 512 * KIB}),
        {},
        "page_size",
        "warn",
        ("512.0 MiB",),
    ),
    Story("nodes: even", database(), {}, "numa_split", "pass", ("node0: 4098, node1: 4094",)),
    Story(
        "nodes: the kernel skipped one",
        database(nodes=(7000, 1194)),
        {},
        "numa_split",
        "warn",
        ("node1 has less than half", "about 4097 pages per node", "node1: 1194"),
    ),
    Story(
        "nodes: exactly half of an even share",
        database(pool=(8000, 8000), nodes=(6000, 2000)),
        {},
        "numa_split",
        "pass",
        ("about 4000 pages per node",),
    ),
    Story(
        "nodes: less than half of an even share",
        database(pool=(8000, 8000), nodes=(6001, 1999)),
        {},
        "numa_split",
        "warn",
        ("node1 has less than half",),
    ),
    Story("nodes: one", bare(pool=(8, 8)), {}, "numa_split", "skip", ("one NUMA node",)),
    Story("nodes: no pool", bare(nodes=(0, 0)), {}, "numa_split", "skip", ("empty",)),
    Story(
        "nodes: one has no memory of its own",
        database(files={"/sys/devices/system/node/node2/cpulist": "4-7\n"}),
        {},
        "numa_split",
        "pass",
        ("about 4097 pages per node",),
    ),
    Story("overcommit: none", database(), {}, "no_overcommit", "pass"),
    Story(
        "overcommit: allowed",
        database(overcommit=64),
        {},
        "no_overcommit",
        "warn",
        ("up to 64 pages",),
    ),
    Story(
        "overcommit: in use",
        database(pool=(8194, 2, 0, 5)),
        {},
        "no_overcommit",
        "warn",
        ("5 pages surplus",),
    ),
    Story(
        "overcommit: a kernel before 2.6.24",
        database(without=["/proc/sys/vm/nr_overcommit_hugepages"]),
        {},
        "no_overcommit",
        "skip",
        ("no surplus pages",),
    ),
    Story(
        "overcommit: no number",
        database(overcommit="\u00b2"),
        {},
        "no_overcommit",
        "error",
        ("not a number",),
    ),
)

INSTANCES = (
    Story(
        "sga: huge, but for the small segment every instance has",
        database(),
        {},
        "sga_in_huge_pages",
        "pass",
        ("17179869184 bytes huge, 0 bytes in 4 KiB pages", "ORCL: "),
    ),
    Story(
        "sga: in ordinary pages",
        with_instance(Shm(16 * GIB, False)),
        {},
        "sga_in_huge_pages",
        "fail",
        ("The whole SGA (16.0 GiB)", "0 bytes huge, 17179869184 bytes in 4 KiB pages"),
    ),
    Story(
        "sga: mixed, since 11.2.0.3",
        with_instance(Shm(1 * GIB), Shm(178 * MIB, False)),
        {},
        "sga_in_huge_pages",
        "fail",
        (
            "1073741824 bytes huge, 186646528 bytes in 4 KiB pages",
            "178.0 MiB of the SGA fell back",
            "1.0 GiB are huge",
        ),
    ),
    Story(
        "sga: ASM's may lie in ordinary pages",
        second_instance("+ASM1", 1 * GIB, kind="asm"),
        {},
        "sga_in_huge_pages",
        "pass",
    ),
    Story(
        "sga: of ASM in ordinary pages",
        lambda: packs.database_host().instance(
            "+ASM1", Shm(1 * GIB, False), kind="asm", pid=900, memlock=None
        ),
        {},
        "sga_in_huge_pages",
        "warn",
        ("+ASM1: ",),
    ),
    Story(
        "sga: Automatic Memory Management has no segment",
        with_instance(Shm(20 * KIB, False)),
        {},
        "sga_in_huge_pages",
        "fail",
        ("no SysV segment of a huge page or more",),
    ),
    Story(
        "sga: not root",
        database(deny=["/proc/2101/maps", "/proc/2101/numa_maps"]),
        {},
        "sga_in_huge_pages",
        "error",
        ("ORCL: ", "rerun with --become"),
    ),
    Story(
        "sga: the process ended while it was checked",
        database(without=["/proc/2101/maps"]),
        {},
        "sga_in_huge_pages",
        "error",
    ),
    Story("sga: none", bare(), {}, "sga_in_huge_pages", "skip", ("No instance runs",)),
    Story(
        "memlock: granted by limits.d",
        database(),
        {},
        "memlock_persisted",
        "pass",
        ("at least 59793997 kB", f"soft 62914560 ({packs.LIMITS_FILE}:1)", "oracle: "),
    ),
    Story(
        "memlock: one of two accounts is missing",
        database(),
        {"users": ["oracle", "grid"]},
        "memlock_persisted",
        "warn",
        ("The host has no account grid.", "oracle: "),
    ),
    Story(
        "memlock: a later line for the account's number wins",
        database(limits="* - memlock unlimited\n54321:54321 - memlock 64\n"),
        {},
        "memlock_persisted",
        "fail",
        ("soft 64",),
    ),
    Story(
        "memlock: unlimited",
        database(limits="@oinstall - memlock unlimited\n"),
        {},
        "memlock_persisted",
        "pass",
        ("soft unlimited",),
    ),
    Story(
        "memlock: a number where unlimited is asked",
        database(),
        {"memlock": "unlimited"},
        "memlock_persisted",
        "warn",
        ("unlimited",),
    ),
    Story(
        "memlock: less than the number of the policy",
        database(),
        {"memlock": "62914561"},
        "memlock_persisted",
        "warn",
        ("at least 62914561 kB",),
    ),
    Story(
        "memlock: exactly the number of the policy",
        database(),
        {"memlock": "62914560"},
        "memlock_persisted",
        "pass",
        ("at least 62914560 kB",),
    ),
    Story(
        "memlock: not set",
        database(without=[packs.LIMITS_FILE]),
        {},
        "memlock_persisted",
        "fail",
        ("soft not set, hard not set", "./hostproof apply --tags hugepages"),
    ),
    Story(
        "memlock: the soft one is too low for the SGA",
        database(limits="oracle hard memlock unlimited\noracle soft memlock 64\n"),
        {},
        "memlock_persisted",
        "fail",
        ("soft 64",),
    ),
    Story(
        "memlock: enough for the SGA, less than asked",
        database(limits=f"oracle - memlock {17 * MIB}\n"),
        {},
        "memlock_persisted",
        "warn",
    ),
    Story(
        "memlock: a line for the account beats a later one for all",
        database(files={"/etc/security/limits.d/zzz.conf": "* - memlock 64\n"}),
        {},
        "memlock_persisted",
        "pass",
    ),
    Story(
        "memlock: a later line for the account wins",
        database(files={"/etc/security/limits.d/zzz.conf": "oracle soft memlock 64\n"}),
        {},
        "memlock_persisted",
        "fail",
        ("soft 64 (/etc/security/limits.d/zzz.conf:1)",),
    ),
    Story(
        "memlock: no account",
        database(no_account="oracle", stopped=True),
        {"instances": LISTED},
        "memlock_persisted",
        "fail",
        ("No account of hugepages_users exists", "if oracle comes from LDAP or SSSD"),
    ),
    Story(
        "memlock: name service down",
        database(commands={"getent passwd oracle": packs.Output(3, "", "sss: no answer")}),
        {},
        "memlock_persisted",
        "error",
        ("getent answered 3: sss: no answer",),
    ),
    Story(
        "memlock: not managed",
        database(),
        {"memlock": "unmanaged"},
        "memlock_persisted",
        "skip",
        ("unmanaged",),
    ),
    Story("memlock: no database", bare(), {}, "memlock_persisted", "skip"),
    Story("lock limit: enough", database(), {}, "memlock_in_force", "pass", ("64424509440 bytes",)),
    Story(
        "lock limit: none",
        with_instance(Shm(16 * GIB), memlock=None),
        {},
        "memlock_in_force",
        "pass",
        ("unlimited",),
    ),
    Story(
        "lock limit: 213 MB for 902 MB gave 4 of 451 pages, though limits.d is right",
        with_instance(Shm(8 * MIB), Shm(894 * MIB, False), memlock=213 * MIB),
        {},
        "memlock_in_force",
        "fail",
        (f"at least {902 * MIB} bytes", f"{213 * MIB} bytes", "LimitMEMLOCK="),
    ),
    Story(
        "lock limit: not root",
        database(deny=["/proc/2101/limits"]),
        {},
        "memlock_in_force",
        "error",
        ("--become",),
    ),
    Story(
        "lock limit: a kernel that does not say",
        database(
            files={
                "/proc/2101/limits": "Limit  Soft Limit  Hard Limit  Units\n"
                "Max open files  1024  4096  files\n"
            }
        ),
        {},
        "memlock_in_force",
        "error",
        ("Max locked memory",),
    ),
    Story("lock limit: nobody", bare(), {}, "memlock_in_force", "skip"),
    Story(
        "group: in force and persisted",
        database(),
        {},
        "shm_group",
        "pass",
        ("54321, oinstall", f"54321 from {packs.SYSCTL_FILE}:2"),
    ),
    Story(
        "group: missing on a kernel with the memlock fallback",
        database(kernel="4.18.0-553.el8_10.x86_64", shm_group=0, sysctl="vm.nr_hugepages=8194\n"),
        {},
        "shm_group",
        "warn",
        ("nothing sets it (0)", "accepts a memlock limit instead"),
    ),
    Story(
        "group: missing on a kernel without it",
        database(kernel=NEW_KERNEL, shm_group=0, sysctl="vm.nr_hugepages=8194\n"),
        {},
        "shm_group",
        "fail",
        (f"kernel {NEW_KERNEL} returns EPERM",),
    ),
    Story(
        "group: the first kernel without the fallback",
        database(kernel="5.16.0-1.x86_64", shm_group=0),
        {},
        "shm_group",
        "fail",
    ),
    Story(
        "group: gone after a reboot",
        database(kernel=NEW_KERNEL, sysctl="vm.nr_hugepages=8194\n"),
        {},
        "shm_group",
        "fail",
    ),
    Story(
        "group: the owner is no member",
        with_instance(Shm(16 * GIB), groups=(54322, 54330)),
        {},
        "shm_group",
        "fail",
        ("Not in the group that may use huge pages: ORCL", "not in group 54321: ORCL"),
    ),
    Story(
        "group: the owner is a member beside his primary group",
        with_instance(Shm(16 * GIB), groups=(54322, 54321)),
        {},
        "shm_group",
        "pass",
    ),
    Story(
        "group: the host has none",
        lambda: database(no_group="oinstall")().file("/proc/sys/vm/hugetlb_shm_group", "0\n"),
        {},
        "shm_group",
        "fail",
        ("The host has no group oinstall",),
    ),
    Story(
        "group: the host has none, and a memlock limit is enough",
        lambda: database(kernel="4.18.0-553.el8_10.x86_64", no_group="oinstall")().file(
            "/proc/sys/vm/hugetlb_shm_group", "0\n"
        ),
        {},
        "shm_group",
        "warn",
        ("The host has no group oinstall", "accepts a memlock limit instead"),
    ),
    Story(
        "group: the host has none, and no owner",
        bare(kernel=NEW_KERNEL),
        {"instances": LISTED},
        "shm_group",
        "skip",
    ),
    Story(
        "group: set by a script",
        database(
            sysctl="vm.nr_hugepages=8194\n",
            executable={"/etc/rc.local": "sysctl -w vm.hugetlb_shm_group=$GROUP\n"},
        ),
        {},
        "shm_group",
        "error",
        ("/etc/rc.local:1",),
    ),
    Story(
        "group: only the reboot is missing",
        database(shm_group=0, sysctl="vm.hugetlb_shm_group=54321\nvm.nr_hugepages=8194\n"),
        {"activation": "reboot"},
        "shm_group",
        "fail",
        ("reboot the host; then restart ORCL",),
    ),
    Story("group: not managed", database(), {"group": ""}, "shm_group", "skip", ("not managed",)),
    Story("group: no database", bare(), {}, "shm_group", "skip"),
    Story("amm: none", database(), {}, "no_amm", "pass"),
    Story(
        "amm: beside a pool",
        database(files={"/dev/shm/ora_ORCL_1_0": "", "/dev/shm/pulse-shm-1": ""}),
        {},
        "no_amm",
        "fail",
        ("1 files, such as ora_ORCL_1_0", "reset MEMORY_TARGET and MEMORY_MAX_TARGET"),
    ),
    Story(
        "amm: where huge pages are wanted",
        bare(files={"/dev/shm/ora_ORCL_1_0": ""}),
        {"instances": LISTED},
        "no_amm",
        "fail",
    ),
    Story(
        "amm: where nobody asked for huge pages",
        bare(files={"/dev/shm/ora_ORCL_1_0": ""}),
        {},
        "no_amm",
        "warn",
    ),
    Story("amm: not readable", bare(deny=["/dev/shm"]), {}, "no_amm", "error"),
    Story(
        "page tables: small",
        database(),
        {},
        "page_table_cost",
        "pass",
        # 40 processes x (16 GiB + 20 KiB) / 512
        ("14.0 MiB", "with 4 KiB pages it would be up to 1.3 GiB"),
    ),
    Story(
        "page tables: more than a percent of memory",
        database(memory={"PageTables": 3679796}),
        {},
        "page_table_cost",
        "warn",
        ("Page tables take 5.5 percent of memory", "3.5 GiB"),
    ),
    Story(
        "page tables: what a 60 GB SGA would cost each process",
        bare(),
        {"instances": [{"sid": "LOG2PERF", "sga": "60G"}]},
        "page_table_cost",
        "pass",
        ("with 4 KiB pages 120.0 MiB for each process",),
    ),
)

TRANSPARENT = (
    Story(
        "thp: never",
        database(),
        {},
        "transparent_hugepages",
        "pass",
        ("never (kernel 5.14.0", "never from /etc/tmpfiles.d/thp.conf:1", "config-5.14.0"),
    ),
    Story(
        "thp: always, and a database",
        database(thp="[always] madvise never"),
        {},
        "transparent_hugepages",
        "fail",
        ("khugepaged",),
    ),
    Story(
        "thp: always, and no database",
        bare(thp="[always] madvise never"),
        {},
        "transparent_hugepages",
        "warn",
        ("Allocations by khugepaged stall processes", "The host has no database yet."),
    ),
    Story(
        "thp: always after a reboot",
        database(without=["/etc/tmpfiles.d/thp.conf"]),
        {},
        "transparent_hugepages",
        "fail",
        ("A reboot turns them on", "always from kernel default"),
    ),
    Story(
        "thp: the kernel command line",
        database(
            without=["/etc/tmpfiles.d/thp.conf"], cmdline="ro transparent_hugepage=never quiet"
        ),
        {},
        "transparent_hugepages",
        "pass",
        ("never from kernel command line transparent_hugepage=",),
    ),
    Story(
        "thp: tuned's profile for Oracle",
        database(
            without=["/etc/tmpfiles.d/thp.conf"],
            files={
                "/etc/tuned/active_profile": "oracle\n",
                "/usr/lib/tuned/oracle/tuned.conf": "[vm]\ntransparent_hugepages=never\n",
            },
        ),
        {},
        "transparent_hugepages",
        "pass",
        ("never from tuned profile /usr/lib/tuned/oracle/tuned.conf",),
    ),
    Story(
        "thp: tuned's profile stays behind when tuned is switched off",
        database(
            without=["/etc/tmpfiles.d/thp.conf"],
            files={
                "/etc/tuned/active_profile": "oracle\n",
                "/usr/lib/tuned/oracle/tuned.conf": "[vm]\ntransparent_hugepages=never\n",
            },
            commands={"systemctl is-enabled tuned.service": Output(1, "disabled\n", "")},
        ),
        {},
        "transparent_hugepages",
        "fail",
        ("always from kernel default",),
    ),
    Story(
        "thp: tuned wins over tmpfiles.d",
        database(
            files={
                "/etc/tuned/active_profile": "throughput\n",
                "/usr/lib/tuned/throughput/tuned.conf": "[vm]\ntransparent_hugepages=always\n",
            }
        ),
        {},
        "transparent_hugepages",
        "fail",
        ("always from tuned profile",),
    ),
    Story(
        "thp: a script decides",
        database(
            executable={"/etc/rc.local": f"echo $MODE > {packs.THP_FILE}\n"},
        ),
        {},
        "transparent_hugepages",
        "error",
        ("/etc/rc.local:1",),
    ),
    Story(
        "thp: nothing seen that keeps it",
        database(without=["/etc/tmpfiles.d/thp.conf", "/boot/config-5.14.0-503.11.1.el9_5.x86_64"]),
        {},
        "transparent_hugepages",
        "warn",
        ("No setting was found that keeps 'never'",),
    ),
    Story(
        "thp: madvise now, and no setting for the next boot",
        database(
            thp="always [madvise] never",
            without=["/etc/tmpfiles.d/thp.conf", "/boot/config-5.14.0-503.11.1.el9_5.x86_64"],
        ),
        {},
        "transparent_hugepages",
        "warn",
        ("The mode is 'madvise' now. No setting was found that applies after a reboot.",),
    ),
    Story(
        "thp: madvise on a RHEL kernel",
        database(thp="always [madvise] never"),
        {},
        "transparent_hugepages",
        "warn",
        ("'madvise' now and 'never' after a reboot are safe",),
    ),
    Story(
        "thp: UEK7 wants madvise",
        database(kernel=UEK7, thp="always [madvise] never", without=["/etc/tmpfiles.d/thp.conf"]),
        {"instances": [{"sid": "ORCL", "sga": "16G", "version": "23ai"}]},
        "transparent_hugepages",
        "pass",
        ("madvise (UEK7 or later)",),
    ),
    Story(
        "thp: UEK7 below a database of 21c",
        database(kernel=UEK7, thp="always [madvise] never", without=["/etc/tmpfiles.d/thp.conf"]),
        {"instances": [{"sid": "ORCL", "sga": "16G", "version": "21.3"}]},
        "transparent_hugepages",
        "pass",
    ),
    Story(
        "thp: UEK7 below a database of 19c wants madvise too",
        database(kernel=UEK7, thp="always [madvise] never", without=["/etc/tmpfiles.d/thp.conf"]),
        {"instances": LISTED},
        "transparent_hugepages",
        "pass",
        ("madvise (UEK7 or later)",),
    ),
    Story(
        "thp: UEK7 below a database of 19c that nobody listed",
        database(kernel=UEK7),
        {},
        "transparent_hugepages",
        "warn",
        ("'never' now and 'never' after a reboot are safe, but differ from the policy",),
    ),
    Story(
        "thp: UEK7 below a database of 18c wants never",
        database(kernel=UEK7, thp="always [madvise] never", without=["/etc/tmpfiles.d/thp.conf"]),
        {"instances": [{"sid": "ORCL", "sga": "16G", "version": "18"}]},
        "transparent_hugepages",
        "warn",
        ("never (UEK7 or later with database 18)",),
    ),
    Story(
        "thp: UEK6 wants never",
        database(kernel="5.4.17-2136.el8uek.x86_64"),
        {},
        "transparent_hugepages",
        "pass",
    ),
    Story(
        "thp: the policy says what it wants",
        database(),
        {"transparent": "madvise"},
        "transparent_hugepages",
        "warn",
        ("madvise (hugepages_transparent)",),
    ),
    Story(
        "thp: a kernel without them",
        database(without=[packs.THP_FILE]),
        {},
        "transparent_hugepages",
        "skip",
        ("no transparent huge pages",),
    ),
    Story(
        "thp: not managed",
        database(),
        {"transparent": "unmanaged"},
        "transparent_hugepages",
        "skip",
        ("unmanaged",),
    ),
    Story(
        "thp: no brackets",
        database(thp="always madvise never"),
        {},
        "transparent_hugepages",
        "error",
    ),
)

STORIES = POOL + INSTANCES + TRANSPARENT


@pytest.mark.parametrize("story", STORIES, ids=[story.name for story in STORIES])
def test_story(judge, story):
    findings = judge(story.host(), **story.policy)[story.check]
    assert worst([finding.status for finding in findings]) == story.status, findings
    output = "\n".join(str(value) for finding in findings for value in finding)
    for text in story.says:
        assert text in output
    for finding in findings:
        assert finding.status in ("pass", "skip", "error") or finding.fix
        assert not finding.why.startswith(" ")
        assert not (finding.fix or "").startswith("or ")


def test_names_of_stories_differ():
    assert len({story.name for story in STORIES}) == len(STORIES)


def test_every_check_is_told_passing_and_not_passing():
    outcomes: dict[str, set[str]] = {}
    for story in STORIES:
        outcomes.setdefault(story.check, set()).add(story.status)
    assert set(outcomes) == {check.id.removeprefix("hugepages.") for check in hugepages.checks}
    assert not [check for check, statuses in outcomes.items() if "pass" not in statuses]
    assert not [check for check, statuses in outcomes.items() if len(statuses) < 2]


class TestHosts:
    def test_not_linux(self, judge):
        findings = judge(Machine())
        assert {finding.status for group in findings.values() for finding in group} == {"skip"}
        assert len(findings) == len(hugepages.checks)

    def test_linux_that_may_not_be_read_is_not_taken_for_another_system(self, judge):
        findings = judge(packs.database_host().deny("/proc/meminfo"))
        assert findings["pool_covers_sga"][0].status == "error"
        assert "--become" in findings["pool_covers_sga"][0].fix

    def test_no_evidence_is_no_pass(self, judge):
        findings = judge(RecordedHost({}))
        assert {finding.status for group in findings.values() for finding in group} == {"error"}

    def test_laptop_is_judged_and_not_red(self, judge):
        findings = judge(bare(thp="[always] madvise never")())
        statuses = [finding.status for group in findings.values() for finding in group]
        assert set(statuses) <= {"pass", "warn", "skip"}
        assert len([status for status in statuses if status != "skip"]) >= 8

    def test_instance_by_instance(self, judge):
        """One that may not be read does not hide the verdict on the other."""
        machine = packs.database_host().instance(
            "LAB2", Shm(2 * GIB, False), pid=700, memlock=64 * KIB
        )
        findings = judge(machine.deny("/proc/2101/maps"))["sga_in_huge_pages"]
        assert [(finding.title.split(":")[0], finding.status) for finding in findings] == [
            ("LAB2", "fail"),
            ("ORCL", "error"),
        ]

    def test_kernel_without_numa_maps_is_asked_for_smaps(self, judge):
        machine = packs.database_host().remove("/proc/2101/numa_maps")
        smaps = (packs.FIXTURES / "smaps/sysv-segment-huge.txt").read_text()
        machine.file("/proc/2101/smaps", smaps)
        machine.file("/proc/2101/maps", smaps.splitlines()[0] + "\n")
        finding = judge(machine)["sga_in_huge_pages"][0]
        assert (finding.status, finding.in_use) == (
            "pass",
            "67108864 bytes huge, 0 bytes in 4 KiB pages",
        )


@pytest.mark.parametrize(
    ("groups", "gids", "gid", "status"),
    [
        ("oinstall dba", "54321 54322", 54322, "pass"),
        ("oinstall dba", "54321 54322", 54330, "fail"),
        # The groups of the owner were not read.
        ("oinstall dba", None, 54322, "error"),
        ("oinstall", None, 54321, "pass"),
        ("oinstall dba", None, 0, "fail"),
    ],
)
def test_the_group_of_an_owner_without_an_instance(judge, groups, gids, gid, status):
    """The kernel takes any group of which the owner is a member (in_group_p)."""
    machine = bare(kernel=NEW_KERNEL)().account("oracle", 54321, *groups.split())
    if gids is not None:
        machine.command("id -G oracle", gids + "\n")
    machine.file("/proc/sys/vm/hugetlb_shm_group", f"{gid}\n")
    machine.file("/etc/sysctl.d/90.conf", f"vm.hugetlb_shm_group = {gid}\n")
    finding = judge(machine, instances=LISTED)["shm_group"][0]
    assert finding.status == status, finding.why


@pytest.mark.parametrize(
    ("now", "at_boot", "groups", "capabilities", "readable", "status"),
    [
        # Another group that the process is in, now and after a reboot.
        (54322, 54321, (54321, 54322), None, True, "pass"),
        (54330, 54330, (54321, 54330), None, True, "pass"),
        (54330, 54399, (54321, 54330), None, True, "fail"),
        # A process that is in group 0.
        (0, 0, (0,), None, True, "pass"),
        # CAP_IPC_LOCK is as good as the group; CAP_SYS_ADMIN is not.
        (0, 0, (54321,), 1 << 14, True, "pass"),
        (54399, 54399, (54321,), 1 << 14, True, "pass"),
        (54399, 54399, (54321,), 1 << 21, True, "fail"),
        # Groups that were not read contradict no value.
        (0, 0, (54321,), None, False, "error"),
        (54399, 54399, (54321,), None, False, "error"),
        (54321, 54321, (54321,), None, False, "error"),
    ],
)
def test_what_lets_a_process_use_huge_pages(
    judge, now, at_boot, groups, capabilities, readable, status
):
    """can_do_hugetlb_shm(): CAP_IPC_LOCK, or in_group_p()."""
    machine = with_instance(Shm(16 * GIB), groups=groups)()
    kernel(machine, NEW_KERNEL).file("/proc/sys/vm/hugetlb_shm_group", f"{now}\n")
    machine.file(packs.SYSCTL_FILE, f"vm.hugetlb_shm_group = {at_boot}\nvm.nr_hugepages=8194\n")
    if capabilities is not None:
        text = machine.files["/proc/2101/status"]
        machine.file("/proc/2101/status", f"{text}CapEff:\t{capabilities:016x}\n")
    if not readable:
        machine.deny("/proc/2101/status")
    (finding,) = judge(machine)["shm_group"]
    assert finding.status == status, finding.why


@pytest.mark.parametrize("check", ["shm_group", "memlock_in_force"])
def test_databases_that_are_not_known_are_no_reason_to_skip(judge, check):
    machine = bare(kernel=NEW_KERNEL)().account("oracle", 54321, "oinstall").deny("/etc/oratab")
    (finding,) = judge(machine)[check]
    assert finding.status == "error", finding.why


def test_the_restart_of_an_owner_outside_of_the_group_is_a_sentence_by_itself(judge):
    machine = with_instance(Shm(16 * GIB), groups=(54322, 54330))()
    finding = judge(machine)["shm_group"][0]
    assert finding.fix == (
        "add oracle to the group oinstall (usermod -aG oinstall oracle); then restart ORCL"
    )
