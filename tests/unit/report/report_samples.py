"""Host results as a run writes them, realistic enough to look at: made up, seeded, no real host."""

import base64
import json
import random
import re
import zlib

RUN = {"id": "20261121T031500Z-1a2b", "started": "2026-11-21T03:15:00Z", "hosts": 0}
AT = "2026-11-21T03:15:20Z"

MEMINFO = """\
MemTotal:       131915804 kB
MemFree:         {free} kB
MemAvailable:   62041932 kB
PageTables:      3679796 kB
AnonHugePages:         0 kB
HugePages_Total:   {total}
HugePages_Free:     {unused}
HugePages_Rsvd:       73
HugePages_Surp:        0
Hugepagesize:       2048 kB
Hugetlb:        73508864 kB
"""

#: check | title | severity | takes_effect | why | reference | fix | desired | bad value
TABLE = """
hugepages.pool_covers_sga | The huge page pool covers every SGA | critical | now | Memory of an SGA
  that finds no huge page falls back to 4 KiB pages, and every process then pays for its own page
  tables. | MOS 401749.1; Oracle Database Installation Guide for Linux, HugePages | sysctl -w
  vm.nr_hugepages={want} | {want} pages of 2 MiB | {have} pages of 2 MiB
hugepages.pool_persisted | The pool survives a reboot | high | reboot | After the next boot the pool
  has another size than today. | sysctl.d(5), precedence | hugepages_pages: {want}   # then
  ./hostproof apply --tags hugepages | vm.nr_hugepages = {want} | vm.nr_hugepages = {have}
  (/etc/sysctl.d/99-oracle.conf:4 wins; /etc/sysctl.conf:12 loses)
hugepages.sga_in_huge_pages | Each running SGA lies in huge pages | critical | instance_restart |
  The instance runs partly or wholly in 4 KiB pages although the pool may be large enough. | kernel
  Documentation/admin-guide/mm/hugetlbpage.rst | restart the instance after the pool is large enough
  (hugepages_instance_allow_restart) | ORCL: 64424509440 bytes in huge pages | ORCL: 10485760 bytes
  in huge pages, 64414023680 bytes in 4 KiB pages
hugepages.memlock_persisted | Memlock limit in limits.d covers the SGA | high | instance_restart |
  With too small a limit nearly the whole SGA is lost to small pages without a message. | Oracle
  Database Installation Guide for Linux, resource limits | hugepages_memlock_kib: 118724223 |
  memlock >= 118724223 kB | memlock 65536 kB (/etc/security/limits.d/oracle.conf:3)
hugepages.memlock_in_force | Memlock limit of the running instance covers its SGA | high |
  instance_restart | The limit of a process is the one of its login session, not the one in the
  file. | limits.conf(5), pam_limits(8) | log in anew as oracle and restart the instance | >=
  64424509440 bytes | pid 4711 (ora_pmon_ORCL): 65536 bytes
hugepages.shm_group | Instance owners are in the hugetlb_shm_group group | high | now | Kernels from
  5.16 refuse huge pages to a group that is not named here (ORA-27125). | kernel
  fs/hugetlbfs/inode.c | sysctl -w vm.hugetlb_shm_group=54321 | 54321 (oinstall) | 0 (root)
hugepages.transparent_hugepages | Transparent huge pages are as the policy requires them | medium |
  reboot | The kernel stalls processes while it compacts memory. | Oracle Database Installation
  Guide for Linux, Transparent HugePages | systemctl enable --now hostproof-thp.service | never |
  always
hugepages.numa_split | The pool is spread evenly over the NUMA nodes | low | reboot | An uneven pool
  makes part of the SGA remote memory. | kernel Documentation/admin-guide/mm/hugetlbpage.rst |
  hugepages=0:{half},1:{half} on the kernel command line | node 0: {half}, node 1: {half} | node 0:
  {have}, node 1: 0
hugepages.pool_not_wasted | The pool is not larger than the SGAs need | low | now | Pages that
  nobody uses are lost to everything else on the host. | MOS 401749.1 | sysctl -w
  vm.nr_hugepages={want} | <= {want} pages | {have} pages, 5172 of them surplus (10.1 GiB)
hugepages.no_amm | No instance uses automatic memory management | high | instance_restart | With
  MEMORY_TARGET the SGA lies in /dev/shm, never in huge pages. | MOS 749851.1 | ALTER SYSTEM RESET
  memory_target SCOPE=SPFILE; | no /dev/shm/ora_* | /dev/shm/ora_ORCL_98304_0 and 211 more
hugepages.page_table_cost | Page tables cost little | medium | instance_restart | Page tables take
  memory that nobody planned for. | kernel Documentation/filesystems/proc.rst, PageTables | make the
  pool cover every SGA | about 14 MiB | 3.5 GiB (would be 120 MiB a process with 4 KiB pages)
"""
CHECKS = [row.split(" | ") for row in re.sub("\n +", " ", TABLE).strip().split("\n")]

OTHER_CONTROLS = (
    *("pre_page_sga", "nfs_mounts", "listener_rate_limit", "io_pacing", "flow_control", "latency"),
)


def finding(**changes):
    """One finding, a failing pool unless told otherwise."""
    base = make_finding(0, "fail", random.Random(1))
    base.update(changes)
    return base


def make_finding(index, status, dice):
    """Finding number ``index`` of a host: the hugepages checks, then checks of other controls."""
    want = dice.randrange(20000, 40000)
    values = {"want": want, "have": dice.randrange(400, 20000), "half": want // 2}
    template = CHECKS[index % len(CHECKS)]
    check, title, severity, takes_effect, why, reference, fix, desired, bad = (
        text.format(**values) if "{" in text else text for text in template
    )
    if index >= len(CHECKS):
        control = OTHER_CONTROLS[index % len(OTHER_CONTROLS)]
        check = f"{control}.{check.split('.')[1]}_{index}"
        title = f"{title} ({control}, {index})"
    actual = desired if status == "pass" else bad
    if status == "skip":
        why, actual, desired, fix = (
            "Not applicable: no instance runs on this host.",
            None,
            None,
            None,
        )
    if status == "error":
        why, actual = (
            "Could not read /proc/4711/smaps: permission denied (run with --become).",
            None,
        )
    waiver = None
    if status == "waived":
        waiver = {
            "owner": "dba-team@example.com",
            "reason": "Memory is extended in January, CHG0041",
            "expires": "2027-01-31",
            "was": "fail",
        }
    return {
        "control": check.split(".")[0],
        "check": check,
        "title": title,
        "status": status,
        "severity": severity,
        "desired": desired,
        "persisted": desired if status in ("fail", "pass") else None,
        "running": actual,
        "in_use": actual if index % 3 == 0 else None,
        "takes_effect": takes_effect,
        "why": why,
        "fix": None if status == "pass" else fix,
        "reference": reference,
        "evidence": ["file:/proc/meminfo", "command:sysctl -a"],
        "waiver": waiver,
        "values": None,
        "commands": [],
        "because_of": [],
        "problem": None,
        "failing_layer": None,
    }


def pack(evidence):
    """Evidence as a line of findings.jsonl carries it."""
    return base64.b64encode(zlib.compress(json.dumps(evidence).encode(), 6)).decode()


def make_evidence(dice):
    text = MEMINFO.format(
        free=dice.randrange(10**6, 10**8), total=35893, unused=dice.randrange(0, 9999)
    )
    return {
        "file:/proc/meminfo": {"kind": "file", "at": AT, "text": text},
        "command:sysctl -a": {
            "kind": "command",
            "at": AT,
            "argv": ["sysctl", "-a"],
            "rc": 0,
            "stdout": "vm.nr_hugepages = 35893\nvm.hugetlb_shm_group = 0\n" * 20,
            "stderr": "",
        },
    }


def make_line(host, findings, **changes):
    """One host result."""
    line = {
        "schema": 3,
        "run": dict(RUN),
        "host": host,
        "at": AT,
        "recorded_at": AT,
        "outcome": "judged",
        "message": None,
        "findings": findings,
        "evidence": None,
    }
    line.update(changes)
    return line


def fleet(hosts, checks=11, *, statuses=None, evidence=False, seed=1):
    """Host results of a whole run: most hosts are well, some are not, one does not answer."""
    dice = random.Random(seed)
    run = dict(RUN, hosts=hosts)
    lines = []
    for number in range(1, hosts + 1):
        mood = dice.choice(("good", "good", "good", "warned", "bad"))
        weights = {
            "good": (0, 0, 0, 1, 3, 30),
            "warned": (0, 0, 4, 1, 3, 22),
            "bad": (5, 1, 3, 1, 3, 18),
        }[mood]
        names = ("fail", "error", "warn", "waived", "skip", "pass")
        findings = [
            make_finding(index, statuses or dice.choices(names, weights)[0], dice)
            for index in range(checks)
        ]
        packed = pack(make_evidence(dice)) if evidence else None
        lines.append(make_line(f"db{number:02d}", findings, run=run, evidence=packed))
    if hosts > 4 and statuses is None:
        lines[2].update(
            outcome="unreachable",
            findings=[],
            evidence=None,
            message="Failed to connect to the host via ssh: connect to host db03 port 22: "
            "No route to host",
        )
    return lines


def write_folder(folder, lines):
    folder.mkdir(exist_ok=True)
    texts = (json.dumps(line, sort_keys=True) + "\n" for line in lines)
    (folder / "findings.jsonl").write_text("".join(texts))
    return folder
