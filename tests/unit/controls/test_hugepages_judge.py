"""Every check of hugepages in every status that it can have, each told as a host's story."""

from collections.abc import Callable
from typing import Any

import packs
import pytest
from ansible.module_utils.hostproof.collect.host import Output, RecordedHost
from ansible.module_utils.hostproof.controls.hugepages.control import CONTROL as hugepages
from ansible.module_utils.hostproof.evaluate.finding import worst
from cases import cases
from packs import GIB, KIB, MIB, Machine, Shm
from stories import stories

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


POOL = stories(
    "pool_covers_sga",
    "reserved: a planned database and an empty pool",
    ("warn reserved", bare(), {"profile": "oracle_19c_single"}),
    ("The pool has 0 pages now and 0 after a reboot",),
    "reserved: a planned database and a pool that lasts",
    ("pass reserved", "10 pages"),
    lambda: bare(pool=(10, 10))().file("/etc/sysctl.d/90.conf", "vm.nr_hugepages=10\n"),
    {"profile": "oracle_19c_single"},
    "covers: each segment takes one page more than fits",
    ("pass", database(), "8194 pages (16.0 GiB: ORCL 8194)", "8192 of 8194 pages committed"),
    "covers: an instance runs in exactly its pages",
    ("pass", database(pool=(8192, 0))),
    "covers: one page is missing",
    ("warn", database(pool=(8191, 1))),
    ("3 pages of 8194 are missing", "costs 32.0 MiB", "PageTables is 14.0 MiB"),
    "covers: only the margin of a planned instance is missing",
    ("warn", bare(pool=(512, 512)), {"instances": [{"sid": "ORCL", "sga": "1G"}]}),
    ("4 pages of 516 are missing", "hugepages_extra_pages_per_instance"),
    "covers: a page of a planned instance is missing",
    ("fail", bare(pool=(510, 510)), {"instances": [{"sid": "ORCL", "sga": "1G"}]}),
    ("6 pages of 516 are missing", "costs 2.0 MiB"),
    "covers: one page in a thousand is missing",
    ("warn", database(pool=(8194 - 8, 1))),
    "covers: more than one page in a thousand is missing",
    ("fail", database(pool=(8194 - 9, 1))),
    "covers: a listed instance that is down takes its size and four pages",
    ("pass", bare(pool=(8196, 8196)), {"instances": LISTED}, "ORCL 8196"),
    "covers: a listed instance that is down, and a pool without the four",
    ("warn", bare(pool=(8195, 8195)), {"instances": LISTED}),
    "covers: several instances and spare pages are summed up",
    ("pass", "8722 pages", "+ASM1 516 + ORCL 8196 + spare 10"),
    bare(pool=(8196 + 516 + 10, 8196 + 516 + 10)),
    {"instances": [*LISTED, {"sid": "+ASM1", "sga": "1G"}], "spare_pages": 10},
    "covers: ASM and the management repository run beside the database",
    ("fail", second_instance("-MGMTDB", 1 * GIB, kind="mdb"), "-MGMTDB, ORCL 8707", "513 pages of"),
    "covers: an instance that nobody listed runs",
    ("fail", second_instance("+ASM1", 1 * GIB, kind="asm"), {"instances": LISTED}),
    ("+ASM1 (running, not listed) 513",),
    "covers: a listed SGA was raised",
    ("pass", database(pool=(8192, 0)), {"instances": [{"sid": "ORCL", "sga": "4G"}]}, "ORCL 8194"),
    "covers: somebody else holds the pages of an instance that is down",
    ("fail", bare(pool=(8196, 100, 50)), {"instances": LISTED}),
    ("8146 pages of the pool are used by programs other than running instances",),
    "covers: somebody else holds pages beside a running instance",
    ("fail", "418 pages of the pool are used by programs other than running instances"),
    database(pool=(8196 + 516, 100)),
    {"instances": [*LISTED, {"sid": "+ASM1", "sga": "1G"}]},
    "covers: without root, an instance that is down hides no raised SGA of one that runs",
    ("warn", "DOWN 8196 + ORCL 2052 + running beyond that 6142"),
    database(pool=(8192 + 8196, 8196), deny=["/proc/2101/maps"]),
    {"instances": [{"sid": "ORCL", "sga": "4G"}, {"sid": "DOWN", "sga": "16G"}]},
    "covers: somebody else holds the pages that an SGA in small pages did not get",
    ("fail", with_instance(Shm(16 * GIB, False))),
    ("8192 pages of the pool are used by programs other than running instances",),
    "covers: an SGA that is not among the host's segments",
    ("error", with_instance(Shm(20 * KIB, False)), "list it in hugepages_instances"),
    "covers: the SGA of one of two instances is not among the host's segments",
    ("error", one_segment_unlisted, "list it in hugepages_instances"),
    "covers: what the next start takes fits exactly, and another need is unknown",
    ("error", raised_beside_an_unknown(4 * GIB), "list it in hugepages_instances"),
    "covers: what the next start takes is one granule too much, and another need is unknown",
    ("fail", raised_beside_an_unknown(4 * GIB + 1), "ORCL 2056"),
    "covers: a listed SGA was raised, and without root only the sum of all shows it",
    ("warn", "ORCL 2052 + running beyond that 6142"),
    database(pool=(8192, 0), deny=["/proc/2101/maps"]),
    {"instances": [{"sid": "ORCL", "sga": "4G"}]},
    "covers: nothing to cover",
    ("skip", bare(), "lists none"),
    "covers: a database of 23ai has another name",
    ("fail", with_instance(Shm(40 * GIB), kind="db"), "ORCL 20481"),
    "persisted: by the drop-in",
    ("pass pool_persisted", database(), f"8194 pages from {packs.SYSCTL_FILE}:3"),
    "persisted: nowhere",
    ("fail pool_persisted", database(sysctl="vm.hugetlb_shm_group = 54321\n")),
    ("nothing sets it", "A reboot makes 0 pages, 8194 too few."),
    "persisted: a file that is read later wins",
    (
        "fail pool_persisted",
        "100 pages from /usr/lib/sysctl.d/99-zzz.conf:2",
        f"{packs.SYSCTL_FILE}:3 = 8194",
    ),
    database(files={"/usr/lib/sysctl.d/99-zzz.conf": "\n-vm/nr_hugepages=100\n"}),
    "persisted: /etc masks the file of the same name",
    ("pass pool_persisted",),
    database(
        files={
            "/usr/lib/sysctl.d/99-zzz.conf": "vm.nr_hugepages = 100\n",
            "/etc/sysctl.d/99-zzz.conf": "",
        }
    ),
    "persisted: by the kernel command line",
    ("pass pool_persisted", "8194 pages from kernel command line hugepages="),
    database(sysctl="vm.hugetlb_shm_group=54321\n", cmdline="ro hugepages=8194 quiet"),
    "persisted: sysctl.d undoes the kernel command line",
    ("fail pool_persisted", database(sysctl="vm.nr_hugepages=8000\n", cmdline="ro hugepages=8194")),
    ("8000 pages from", "not used: kernel command line hugepages=8194"),
    "persisted: a reboot makes more",
    ("warn pool_persisted", database(sysctl="vm.nr_hugepages=9000\n")),
    ("changes the pool from 8194 pages to 9000",),
    "persisted: tmpfiles.d writes past sysctl",
    ("error pool_persisted", "/etc/tmpfiles.d/hp.conf:1 sets the pool in sysfs"),
    database(
        files={
            "/etc/tmpfiles.d/hp.conf": "w /sys/kernel/mm/hugepages/hugepages-2048kB/"
            "nr_hugepages - - - - 9000\n"
        }
    ),
    "persisted: tmpfiles.d writes after sysctl.d",
    ("fail pool_persisted", "7 pages from /etc/tmpfiles.d/hp.conf:1"),
    database(files={"/etc/tmpfiles.d/hp.conf": "w /proc/sys/vm/nr_hugepages - - - - 7\n"}),
    "persisted: rc.local decides last, and is a script",
    ("error pool_persisted", "/etc/rc.d/rc.local:2", "sysctl -w vm.nr_hugepages=$***"),
    database(executable={"/etc/rc.d/rc.local": "#!/bin/sh\nsysctl -w vm.nr_hugepages=$N\n"}),
    "persisted: rc.local that no boot runs",
    ("pass pool_persisted",),
    database(files={"/etc/rc.d/rc.local": "#!/bin/sh\nsysctl -w vm.nr_hugepages=$N\n"}),
    "persisted: two keys for one pool",
    ("error pool_persisted", f"{packs.SYSCTL_FILE}:2 sets vm.nr_hugepages_mempolicy"),
    database(sysctl="vm.nr_hugepages=8194\nvm.nr_hugepages_mempolicy=8194\n"),
    "persisted: no number",
    ("fail pool_persisted", database(sysctl="vm.nr_hugepages = many\n")),
    ("nothing sets it; not used: ", "= many (the kernel rejects it: it does not begin with"),
    "persisted: /etc/sysctl.conf alone, which systemd does not read",
    ("fail pool_persisted", "nothing sets it", "/etc/sysctl.conf:1 = 8194 (not read at boot)"),
    database(
        without=[packs.SYSCTL_FILE, "/etc/sysctl.d/99-sysctl.conf"],
        files={"/etc/sysctl.conf": "vm.nr_hugepages=8194\n"},
    ),
    "persisted: /etc/sysctl.conf through its link",
    ("pass pool_persisted", "8194 pages from /etc/sysctl.d/99-sysctl.conf:1"),
    database(without=[packs.SYSCTL_FILE], files={"/etc/sysctl.conf": "vm.nr_hugepages=8194\n"}),
    "persisted: /etc/sysctl.conf on a host without systemd",
    ("pass pool_persisted", "8194 pages from /etc/sysctl.conf:1"),
    database(
        without=["/run/systemd/system", packs.SYSCTL_FILE, "/etc/sysctl.d/99-sysctl.conf"],
        files={"/etc/sysctl.conf": "vm.nr_hugepages=8194\n"},
    ),
    "owner: one",
    ("pass single_source", database(), "no tuned profile"),
    "owner: none",
    ("pass single_source", bare(), "nothing sets it"),
    "owner: the preinstall package sets it too",
    (
        "warn single_source",
        f"2 places set the pool; {packs.SYSCTL_FILE}:3 is effective",
        "/etc/sysctl.d/97-oracle.conf:2 = 50",
        "remove the setting from: /etc/sysctl.d/97-oracle.conf:2 = 50",
    ),
    database(files={"/etc/sysctl.d/97-oracle.conf": "# preinstall\nvm.nr_hugepages = 50\n"}),
    "owner: the one that loses has the right number",
    (
        "warn single_source",
        "/etc/sysctl.d/99-zzz.conf:1 is effective and sets 50 pages, 8194 are needed",
    ),
    database(
        sysctl="vm.hugetlb_shm_group=54321\nvm.nr_hugepages=8194\n",
        files={"/etc/sysctl.d/99-zzz.conf": "vm.nr_hugepages = 50\n"},
    ),
    "owner: none of those is read at boot",
    (
        "warn single_source",
        "no place is effective and sets 0 pages, 8194 are needed: keep one place with that "
        "number of /etc/sysctl.conf:1 = 8194 (not read at boot); remove the others",
    ),
    database(
        without=[packs.SYSCTL_FILE, "/etc/sysctl.d/99-sysctl.conf"],
        files={"/etc/sysctl.conf": "vm.nr_hugepages=8194\n"},
    ),
    "owner: tuned gives way to sysctl.d",
    (
        "warn single_source",
        f"{packs.SYSCTL_FILE}:3 is effective",
        "tuned profile /usr/lib/tuned/base/tuned.conf = 11",
        "tuned profile oracle-hp",
    ),
    database(
        files={
            "/etc/tuned/active_profile": "oracle-hp\n",
            "/etc/tuned/oracle-hp/tuned.conf": "[main]\ninclude=base\n",
            "/usr/lib/tuned/base/tuned.conf": "[sysctl]\nvm.nr_hugepages=11\n",
        }
    ),
    "owner: tuned decides where it does not apply sysctl.d again",
    ("warn single_source", "tuned profile /usr/lib/tuned/oracle/tuned.conf is effective"),
    database(
        files={
            "/etc/tuned/active_profile": "oracle\n",
            "/etc/tuned/tuned-main.conf": "reapply_sysctl = 0\n",
            "/usr/lib/tuned/oracle/tuned.conf": "[sysctl]\nvm.nr_hugepages=11\n",
        }
    ),
    "owner: tuned's profile is nowhere",
    ("error single_source", database(files={"/etc/tuned/active_profile": "lost\n"})),
    ("tuned's active profile lost is in none of its directories",),
    "not wasted: nothing is left",
    ("pass pool_not_wasted", database()),
    "not wasted: ten percent are allowed",
    ("pass pool_not_wasted", database(pool=(8194 + 819, 800))),
    "not wasted: eleven are not",
    ("warn pool_not_wasted", database(pool=(8194 + 820, 822))),
    (
        "820 pages (1.6 GiB) are not required",
        "list every instance of this host in hugepages_instances; if 8194 pages cover them",
    ),
    "not wasted: what is promised counts as used",
    ("pass pool_not_wasted", database(pool=(12000, 3800, 3000))),
    ("11200 committed, 800 pages neither used nor reserved",),
    "not wasted: no database at all",
    ("warn pool_not_wasted", bare(pool=(512, 512)), "512 pages (1.0 GiB) are not required"),
    "not wasted: no pool",
    ("pass pool_not_wasted", bare()),
    "share: little",
    ("pass ram_share", database(), "25 percent (16.0 GiB)"),
    "share: too much now",
    ("warn ram_share", database(pool=(22938, 0))),
    ("at most 70 percent of memory (44.8 GiB)", "reduce the pool to at most 22937 pages"),
    "share: just not too much",
    ("pass ram_share", database(pool=(22937, 0))),
    "share: too much after a reboot",
    ("fail ram_share", database(sysctl="vm.nr_hugepages = 30000\n"), "92 percent (58.6 GiB)"),
    "share: much after a reboot of a host with much memory",
    ("warn ram_share", database(memory={"MemTotal": 1 << 31}, sysctl="vm.nr_hugepages = 960000\n")),
    ("92 percent (1.8 TiB)",),
    "share: little is left of much memory",
    ("fail ram_share", "99 percent (2.0 TiB)"),
    database(memory={"MemTotal": 1 << 31}, sysctl="vm.nr_hugepages = 1040000\n"),
    "share: too much now, whatever a reboot makes",
    ("warn ram_share", database(pool=(22938, 0), deny=["/proc/cmdline"]), "unknown"),
    "share: an unknown next boot",
    ("error ram_share", database(deny=["/proc/cmdline"]), "--become"),
    "page size: 2M",
    ("pass page_size", database(), "2.0 MiB"),
    "page size: 1G below a database",
    ("fail page_size", "1.0 GiB", "default_hugepagesz="),
    database(memory={"Hugepagesize": MIB, "HugePages_Total": 0, "HugePages_Free": 0}),
    "page size: another machine's, and no database",
    ("warn page_size", bare(memory={"Hugepagesize": 512 * KIB}), "512.0 MiB"),
    "nodes: even",
    ("pass numa_split", database(), "node0: 4098, node1: 4094"),
    "nodes: the kernel skipped one",
    ("warn numa_split", database(nodes=(7000, 1194))),
    ("node1 has less than half", "about 4097 pages per node", "node1: 1194"),
    "nodes: exactly half of an even share",
    ("pass numa_split", database(pool=(8000, 8000), nodes=(6000, 2000))),
    ("about 4000 pages per node",),
    "nodes: less than half of an even share",
    ("warn numa_split", database(pool=(8000, 8000), nodes=(6001, 1999))),
    ("node1 has less than half",),
    "nodes: one",
    ("skip numa_split", bare(pool=(8, 8)), "one NUMA node"),
    "nodes: no pool",
    ("skip numa_split", bare(nodes=(0, 0)), "empty"),
    "nodes: one has no memory of its own",
    ("pass numa_split", database(files={"/sys/devices/system/node/node2/cpulist": "4-7\n"})),
    ("about 4097 pages per node",),
    "overcommit: none",
    ("pass no_overcommit", database()),
    "overcommit: allowed",
    ("warn no_overcommit", database(overcommit=64), "up to 64 pages"),
    "overcommit: in use",
    ("warn no_overcommit", database(pool=(8194, 2, 0, 5)), "5 pages surplus"),
    "overcommit: a kernel before 2.6.24",
    ("skip no_overcommit", database(without=["/proc/sys/vm/nr_overcommit_hugepages"])),
    ("no surplus pages",),
    "overcommit: no number",
    ("error no_overcommit", database(overcommit="\u00b2"), "not a number"),
)

INSTANCES = stories(
    "memlock_persisted",
    "sga: huge, but for the small segment every instance has",
    ("pass sga_in_huge_pages", database()),
    ("17179869184 bytes huge, 0 bytes in 4 KiB pages", "ORCL: "),
    "sga: in ordinary pages",
    ("fail sga_in_huge_pages", with_instance(Shm(16 * GIB, False))),
    ("The whole SGA (16.0 GiB)", "0 bytes huge, 17179869184 bytes in 4 KiB pages"),
    "sga: mixed, since 11.2.0.3",
    ("fail sga_in_huge_pages", with_instance(Shm(1 * GIB), Shm(178 * MIB, False))),
    (
        "1073741824 bytes huge, 186646528 bytes in 4 KiB pages",
        "178.0 MiB of the SGA fell back",
        "1.0 GiB are huge",
    ),
    "sga: ASM's may lie in ordinary pages",
    ("pass sga_in_huge_pages", second_instance("+ASM1", 1 * GIB, kind="asm")),
    "sga: of ASM in ordinary pages",
    ("warn sga_in_huge_pages", "+ASM1: "),
    lambda: packs.database_host().instance(
        "+ASM1", Shm(1 * GIB, False), kind="asm", pid=900, memlock=None
    ),
    "sga: Automatic Memory Management has no segment",
    ("fail sga_in_huge_pages", with_instance(Shm(20 * KIB, False))),
    ("no SysV segment of a huge page or more",),
    "sga: not root",
    ("error sga_in_huge_pages", database(deny=["/proc/2101/maps", "/proc/2101/numa_maps"])),
    ("ORCL: ", "rerun with --become"),
    "sga: the process ended while it was checked",
    ("error sga_in_huge_pages", database(without=["/proc/2101/maps"])),
    "sga: none",
    ("skip sga_in_huge_pages", bare(), "No instance runs"),
    "memlock: granted by limits.d",
    ("pass", database()),
    ("at least 59793997 kB", f"soft 62914560 ({packs.LIMITS_FILE}:1)", "oracle: "),
    "memlock: one of two accounts is missing",
    ("warn", database(), {"users": ["oracle", "grid"]}),
    ("The host has no account grid.", "oracle: "),
    "memlock: a later line for the account's number wins",
    ("fail", database(limits="* - memlock unlimited\n54321:54321 - memlock 64\n"), "soft 64"),
    "memlock: unlimited",
    ("pass", database(limits="@oinstall - memlock unlimited\n"), "soft unlimited"),
    "memlock: a number where unlimited is asked",
    ("warn", database(), {"memlock": "unlimited"}, "unlimited"),
    "memlock: less than the number of the policy",
    ("warn", database(), {"memlock": "62914561"}, "at least 62914561 kB"),
    "memlock: exactly the number of the policy",
    ("pass", database(), {"memlock": "62914560"}, "at least 62914560 kB"),
    "memlock: not set",
    ("fail", database(without=[packs.LIMITS_FILE])),
    ("soft not set, hard not set", "./hostproof apply --tags hugepages"),
    "memlock: the soft one is too low for the SGA",
    ("fail", database(limits="oracle hard memlock unlimited\noracle soft memlock 64\n"), "soft 64"),
    "memlock: enough for the SGA, less than asked",
    ("warn", database(limits=f"oracle - memlock {17 * MIB}\n")),
    "memlock: a line for the account beats a later one for all",
    ("pass", database(files={"/etc/security/limits.d/zzz.conf": "* - memlock 64\n"})),
    "memlock: a later line for the account wins",
    ("fail", database(files={"/etc/security/limits.d/zzz.conf": "oracle soft memlock 64\n"})),
    ("soft 64 (/etc/security/limits.d/zzz.conf:1)",),
    "memlock: no account",
    ("fail", database(no_account="oracle", stopped=True), {"instances": LISTED}),
    ("No account of hugepages_users exists", "if oracle comes from LDAP or SSSD"),
    "memlock: name service down",
    ("error", database(commands={"getent passwd oracle": packs.Output(3, "", "sss: no answer")})),
    ("getent answered 3: sss: no answer",),
    "memlock: not managed",
    ("skip", database(), {"memlock": "unmanaged"}, "unmanaged"),
    "memlock: no database",
    ("skip", bare()),
    "lock limit: enough",
    ("pass memlock_in_force", database(), "64424509440 bytes"),
    "lock limit: none",
    ("pass memlock_in_force", with_instance(Shm(16 * GIB), memlock=None), "unlimited"),
    "lock limit: 213 MB for 902 MB gave 4 of 451 pages, though limits.d is right",
    ("fail memlock_in_force", f"at least {902 * MIB} bytes", f"{213 * MIB} bytes", "LimitMEMLOCK="),
    with_instance(Shm(8 * MIB), Shm(894 * MIB, False), memlock=213 * MIB),
    "lock limit: not root",
    ("error memlock_in_force", database(deny=["/proc/2101/limits"]), "--become"),
    "lock limit: a kernel that does not say",
    ("error memlock_in_force", "Max locked memory"),
    database(
        files={
            "/proc/2101/limits": "Limit  Soft Limit  Hard Limit  Units\n"
            "Max open files  1024  4096  files\n"
        }
    ),
    "lock limit: nobody",
    ("skip memlock_in_force", bare()),
    "group: in force and persisted",
    ("pass shm_group", database(), "54321, oinstall", f"54321 from {packs.SYSCTL_FILE}:2"),
    "group: missing on a kernel with the memlock fallback",
    ("warn shm_group", "nothing sets it (0)", "accepts a memlock limit instead"),
    database(kernel="4.18.0-553.el8_10.x86_64", shm_group=0, sysctl="vm.nr_hugepages=8194\n"),
    "group: missing on a kernel without it",
    ("fail shm_group", database(kernel=NEW_KERNEL, shm_group=0, sysctl="vm.nr_hugepages=8194\n")),
    (f"kernel {NEW_KERNEL} returns EPERM",),
    "group: the first kernel without the fallback",
    ("fail shm_group", database(kernel="5.16.0-1.x86_64", shm_group=0)),
    "group: gone after a reboot",
    ("fail shm_group", database(kernel=NEW_KERNEL, sysctl="vm.nr_hugepages=8194\n")),
    "group: the owner is no member",
    ("fail shm_group", with_instance(Shm(16 * GIB), groups=(54322, 54330))),
    ("Not in the group that may use huge pages: ORCL", "not in group 54321: ORCL"),
    "group: the owner is a member beside his primary group",
    ("pass shm_group", with_instance(Shm(16 * GIB), groups=(54322, 54321))),
    "group: the host has none",
    ("fail shm_group", "The host has no group oinstall"),
    lambda: database(no_group="oinstall")().file("/proc/sys/vm/hugetlb_shm_group", "0\n"),
    "group: the host has none, and a memlock limit is enough",
    ("warn shm_group", "The host has no group oinstall", "accepts a memlock limit instead"),
    lambda: database(kernel="4.18.0-553.el8_10.x86_64", no_group="oinstall")().file(
        "/proc/sys/vm/hugetlb_shm_group", "0\n"
    ),
    "group: the host has none, and no owner",
    ("skip shm_group", bare(kernel=NEW_KERNEL), {"instances": LISTED}),
    "group: set by a script",
    ("error shm_group", "/etc/rc.local:1"),
    database(
        sysctl="vm.nr_hugepages=8194\n",
        executable={"/etc/rc.local": "sysctl -w vm.hugetlb_shm_group=$GROUP\n"},
    ),
    "group: only the reboot is missing",
    ("fail shm_group", "reboot the host; then restart ORCL"),
    database(shm_group=0, sysctl="vm.hugetlb_shm_group=54321\nvm.nr_hugepages=8194\n"),
    {"activation": "reboot"},
    "group: not managed",
    ("skip shm_group", database(), {"group": ""}, "not managed"),
    "group: no database",
    ("skip shm_group", bare()),
    "amm: none",
    ("pass no_amm", database()),
    "amm: beside a pool",
    ("fail no_amm", database(files={"/dev/shm/ora_ORCL_1_0": "", "/dev/shm/pulse-shm-1": ""})),
    ("1 files, such as ora_ORCL_1_0", "reset MEMORY_TARGET and MEMORY_MAX_TARGET"),
    "amm: where huge pages are wanted",
    ("fail no_amm", bare(files={"/dev/shm/ora_ORCL_1_0": ""}), {"instances": LISTED}),
    "amm: where nobody asked for huge pages",
    ("warn no_amm", bare(files={"/dev/shm/ora_ORCL_1_0": ""})),
    "amm: not readable",
    ("error no_amm", bare(deny=["/dev/shm"])),
    # 40 processes x (16 GiB + 20 KiB) / 512
    "page tables: small",
    ("pass page_table_cost", database(), "14.0 MiB", "with 4 KiB pages it would be up to 1.3 GiB"),
    "page tables: more than a percent of memory",
    ("warn page_table_cost", database(memory={"PageTables": 3679796})),
    ("Page tables take 5.5 percent of memory", "3.5 GiB"),
    "page tables: what a 60 GB SGA would cost each process",
    ("pass page_table_cost", bare(), {"instances": [{"sid": "LOG2PERF", "sga": "60G"}]}),
    ("with 4 KiB pages 120.0 MiB for each process",),
)

TRANSPARENT = stories(
    "transparent_hugepages",
    "thp: never",
    ("pass", database()),
    ("never (kernel 5.14.0", "never from /etc/tmpfiles.d/thp.conf:1", "config-5.14.0"),
    "thp: always, and a database",
    ("fail", database(thp="[always] madvise never"), "khugepaged"),
    "thp: always, and no database",
    ("warn", bare(thp="[always] madvise never")),
    ("Allocations by khugepaged stall processes", "The host has no database yet."),
    "thp: always after a reboot",
    ("fail", database(without=["/etc/tmpfiles.d/thp.conf"])),
    ("A reboot turns them on", "always from kernel default"),
    "thp: the kernel command line",
    ("pass", "never from kernel command line transparent_hugepage="),
    database(without=["/etc/tmpfiles.d/thp.conf"], cmdline="ro transparent_hugepage=never quiet"),
    "thp: tuned's profile for Oracle",
    ("pass", "never from tuned profile /usr/lib/tuned/oracle/tuned.conf"),
    database(
        without=["/etc/tmpfiles.d/thp.conf"],
        files={
            "/etc/tuned/active_profile": "oracle\n",
            "/usr/lib/tuned/oracle/tuned.conf": "[vm]\ntransparent_hugepages=never\n",
        },
    ),
    "thp: tuned's profile stays behind when tuned is switched off",
    ("fail", "always from kernel default"),
    database(
        without=["/etc/tmpfiles.d/thp.conf"],
        files={
            "/etc/tuned/active_profile": "oracle\n",
            "/usr/lib/tuned/oracle/tuned.conf": "[vm]\ntransparent_hugepages=never\n",
        },
        commands={"systemctl is-enabled tuned.service": Output(1, "disabled\n", "")},
    ),
    "thp: tuned wins over tmpfiles.d",
    ("fail", "always from tuned profile"),
    database(
        files={
            "/etc/tuned/active_profile": "throughput\n",
            "/usr/lib/tuned/throughput/tuned.conf": "[vm]\ntransparent_hugepages=always\n",
        }
    ),
    "thp: a script decides",
    ("error", database(executable={"/etc/rc.local": f"echo $MODE > {packs.THP_FILE}\n"})),
    ("/etc/rc.local:1",),
    "thp: nothing seen that keeps it",
    ("warn", "No setting was found that keeps 'never'"),
    database(without=["/etc/tmpfiles.d/thp.conf", "/boot/config-5.14.0-503.11.1.el9_5.x86_64"]),
    "thp: madvise now, and no setting for the next boot",
    ("warn", "The mode is 'madvise' now. No setting was found that applies after a reboot."),
    database(
        thp="always [madvise] never",
        without=["/etc/tmpfiles.d/thp.conf", "/boot/config-5.14.0-503.11.1.el9_5.x86_64"],
    ),
    "thp: madvise on a RHEL kernel",
    ("warn", database(thp="always [madvise] never")),
    ("'madvise' now and 'never' after a reboot are safe",),
    "thp: UEK7 wants madvise",
    ("pass", "madvise (UEK7 or later)"),
    database(kernel=UEK7, thp="always [madvise] never", without=["/etc/tmpfiles.d/thp.conf"]),
    {"instances": [{"sid": "ORCL", "sga": "16G", "version": "23ai"}]},
    "thp: UEK7 below a database of 21c",
    ("pass",),
    database(kernel=UEK7, thp="always [madvise] never", without=["/etc/tmpfiles.d/thp.conf"]),
    {"instances": [{"sid": "ORCL", "sga": "16G", "version": "21.3"}]},
    "thp: UEK7 below a database of 19c wants madvise too",
    ("pass", "madvise (UEK7 or later)"),
    database(kernel=UEK7, thp="always [madvise] never", without=["/etc/tmpfiles.d/thp.conf"]),
    {"instances": LISTED},
    "thp: UEK7 below a database of 19c that nobody listed",
    ("warn", database(kernel=UEK7)),
    ("'never' now and 'never' after a reboot are safe, but differ from the policy",),
    "thp: UEK7 below a database of 18c wants never",
    ("warn", "never (UEK7 or later with database 18)"),
    database(kernel=UEK7, thp="always [madvise] never", without=["/etc/tmpfiles.d/thp.conf"]),
    {"instances": [{"sid": "ORCL", "sga": "16G", "version": "18"}]},
    "thp: UEK6 wants never",
    ("pass", database(kernel="5.4.17-2136.el8uek.x86_64")),
    "thp: the policy says what it wants",
    ("warn", database(), {"transparent": "madvise"}, "madvise (hugepages_transparent)"),
    "thp: a kernel without them",
    ("skip", database(without=[packs.THP_FILE]), "no transparent huge pages"),
    "thp: not managed",
    ("skip", database(), {"transparent": "unmanaged"}, "unmanaged"),
    "thp: no brackets",
    ("error", database(thp="always madvise never")),
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
        assert not finding.why.startswith(" ") and not (finding.fix or "").startswith("or ")


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
        statuses = [(finding.title.split(":")[0], finding.status) for finding in findings]
        assert statuses == [("LAB2", "fail"), ("ORCL", "error")]

    def test_kernel_without_numa_maps_is_asked_for_smaps(self, judge):
        machine = packs.database_host().remove("/proc/2101/numa_maps")
        smaps = (packs.FIXTURES / "smaps/sysv-segment-huge.txt").read_text()
        machine.file("/proc/2101/smaps", smaps)
        machine.file("/proc/2101/maps", smaps.splitlines()[0] + "\n")
        finding = judge(machine)["sga_in_huge_pages"][0]
        assert finding.status == "pass"
        assert finding.in_use == "67108864 bytes huge, 0 bytes in 4 KiB pages"


@cases(
    "groups gids gid status",
    ("oinstall dba", "54321 54322", 54322, "pass"),
    ("oinstall dba", "54321 54322", 54330, "fail"),
    # The groups of the owner were not read.
    ("oinstall dba", None, 54322, "error"),
    ("oinstall", None, 54321, "pass"),
    ("oinstall dba", None, 0, "fail"),
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


@cases(
    "now at_boot groups capabilities readable status",
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


@cases("check", "shm_group", "memlock_in_force")
def test_databases_that_are_not_known_are_no_reason_to_skip(judge, check):
    machine = bare(kernel=NEW_KERNEL)().account("oracle", 54321, "oinstall").deny("/etc/oratab")
    (finding,) = judge(machine)[check]
    assert finding.status == "error", finding.why


def test_the_restart_of_an_owner_outside_of_the_group_is_a_sentence_by_itself(judge):
    finding = judge(with_instance(Shm(16 * GIB), groups=(54322, 54330))())["shm_group"][0]
    assert finding.fix == (
        "add oracle to the group oinstall (usermod -aG oinstall oracle); then restart ORCL"
    )
