"""Makes the seed packs of tests/fixtures/hugepages/packs.

The two /proc/meminfo are those of the article (tests/fixtures/meminfo/SOURCES.md), untouched. All
else is made up to fit them: tests/fixtures/hugepages/SOURCES.md says what. When a
control reads more than before: HOSTPROOF_WRITE_FIXTURES=1 pytest -k seed_packs tests/unit
"""

import packs
from ansible.module_utils.hostproof.evaluate import audit
from packs import GIB, KIB, MIB, Machine, Shm
from stored import text_of

FOLDER = packs.FIXTURES / "hugepages/packs"
POLICY = {"instances": [{"sid": "log2perf", "sga": "60G", "version": "11.2.0.2"}]}


def testbox(meminfo: str, pages: int, huge: bool) -> Machine:
    """The article's host: 96 GB, Red Hat 5.6, Oracle 11.2.0.2 with SGA_TARGET = 60 GB."""
    machine = Machine()
    machine.file("/proc/meminfo", (packs.FIXTURES / "meminfo" / meminfo).read_text())
    machine.file("/proc/sys/kernel/osrelease", "2.6.18-238.el5\n")
    machine.file("/proc/sys/vm/nr_hugepages", f"{pages}\n")
    machine.file("/proc/sys/vm/hugetlb_shm_group", "0\n")
    machine.file("/proc/cmdline", "ro root=/dev/VolGroup00/LogVol00 rhgb quiet\n")
    machine.file("/proc/buddyinfo", BUDDYINFO)
    machine.folder("/sys/devices/system/node/node0", "/sys/devices/system/node/node1", "/dev/shm")
    machine.file("/etc/sysctl.conf", f"kernel.shmmax = 68719476736\nvm.nr_hugepages = {pages}\n")
    machine.file("/etc/security/limits.conf", LIMITS)
    machine.folder("/etc/security/limits.d")
    machine.account("oracle", 54321, "oinstall", "dba").group("oinstall", packs.OINSTALL)
    machine.command("getconf PAGESIZE", "4096\n")
    # 60 GiB and the 20 KiB that every instance has beside it. pre_page_sga touches all of it.
    touched = (30720 if huge else 60 * GIB // (4 * KIB)) // 2
    sga = Shm(60 * GIB, huge, (touched, touched))
    machine.instance(
        "log2perf", sga, Shm(20 * KIB, False, (5,)), pid=4711, attached=30, memlock=65 * GIB
    )
    size = str(60 * GIB)
    return machine.parameters(
        "log2perf",
        {"sga_max_size": size, "sga_target": size},
        ("*", "sga_target", size),
        release=("11.2.0.2.0", "\\0"),
    )


#: 65 GiB, enough for the SGA and less than the 90 percent of memory that Oracle asks.
LIMITS = f"""\
# <domain> <type> <item> <value>
oracle soft memlock {65 * MIB}
oracle hard memlock {65 * MIB}
# End of file
"""

BUDDYINFO = """\
Node 0, zone      DMA      3      2      2      2      2      2      1      0      1      1      3 
Node 0, zone    DMA32    120     65     40     22     11      6      4      2      1      1    410 
Node 0, zone   Normal   9120   4401   1210    411    201     96     41     22     12      8   1900 
Node 1, zone   Normal  11008   5120   1480    506    240    111     60     31     14      9   2450 
"""  # noqa: W291 - the kernel ends each line with a space


def pack(host: str, machine: Machine) -> str:
    """The evidence pack of what today's controls read, as the callback writes one."""
    audit.read_host(machine, {"hugepages": packs.hugepages_policy(**POLICY)})
    content = {
        "schema": 1,
        "host": host,
        "recorded_at": packs.RECORDED_AT,
        "readings": machine.evidence,
    }
    return text_of(content, 2)


def seed_packs() -> dict[str, str]:
    """File name to text."""
    few = testbox("rhel-5.6-sga-60g-small-pages.txt", 1000, huge=False)
    many = testbox("rhel-5.6-sga-60g-huge-pages.txt", 35893, huge=True)
    return {
        f"{name}.json": pack(name, machine)
        for name, machine in (("seed-1000-pages", few), ("seed-35893-pages", many))
    }
