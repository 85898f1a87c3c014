"""What the next start takes, against the pool: variants of one host, each with its truth and why.

The host is packs.database_host(): 64 GiB, a pool of 8194 pages of 2 MiB, and ORCL with an SGA of
16 GiB in huge pages. Apply's guards are asked about the same numbers.
"""

import re
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import oracle_packs
import packs
import pytest
from ansible.module_utils.hostproof.collect import evidence
from ansible.module_utils.hostproof.collect.host import RecordedHost
from ansible.module_utils.hostproof.controls.hugepages.facts import POOL_FILE
from ansible.module_utils.hostproof.controls.pre_page_sga.control import CONTROL as pre_page_sga
from ansible.module_utils.hostproof.evaluate import audit
from ansible.module_utils.hostproof.probes.oracle import next_start
from cases import cases
from packs import GIB, HOME, MIB, Machine, Shm
from stories import Story, stories

PACKS = Path(packs.ROOT).parent / "shared/data/packs"
NOW = {"sga_max_size": str(16 * GIB), "sga_target": str(16 * GIB)}
ORCL16 = [{"sid": "ORCL", "sga": "16G", "version": "19"}]

ADMIN = "Oracle Database Administrator's Guide, The SGA_MAX_SIZE Initialization Parameter"
REFERENCE = "Oracle Database Reference, "
RAC = "Oracle RAC Administration Guide, Setting SPFILE Parameter Values for Oracle RAC"
GRANULE = "MOS 947152.1"
STARTUP = "Administrator's Guide, About Initialization Parameter Files and Startup"
KERNEL = "Documentation/admin-guide/mm/hugetlbpage.rst"
POLICY = "roles/hugepages/README.md"


def spfile(*stored: tuple[str, str, str], **running: str) -> Callable[[], Machine]:
    """ORCL runs with 16 GiB, and its spfile has these entries."""
    return lambda: packs.database_host().parameters("ORCL", NOW | running, *stored)


def every(*pairs: tuple[str, str]) -> tuple[tuple[str, str, str], ...]:
    return tuple(("*", name, value) for name, value in pairs)


def pfile(text: str) -> Callable[[], Machine]:
    """ORCL was started with a text file, which a plain startup finds again."""

    def tell() -> Machine:
        machine = packs.database_host().parameters("ORCL", NOW)
        line = "sqlplus ORCL: release and parameters"
        output = machine.commands[line]
        path = f"|running|spfile|{HOME}/dbs/spfileORCL.ora|"
        machine.command(line, output.stdout.replace(path, "|running|spfile|\\0|"))
        return machine.file(f"{HOME}/dbs/initORCL.ora", text)

    return tell


def stopped(text: str, pool: int = 8194, listed: bool = True) -> Callable[[], Machine]:
    """Nothing runs; oratab names ORCL, whose home has a text file."""

    def tell() -> Machine:
        machine = packs.database_host().stop_instances().pool(pool, pool)
        machine.file("/etc/oratab", f"ORCL:{HOME}:N\n")
        machine.command(f"stat -L -c %U {HOME}/bin/sqlplus", "oracle\n")
        machine.command(f"sqlplus -V of {HOME}", "SQL*Plus: Release 19.0.0.0.0 - Production\n")
        return machine.file(f"{HOME}/dbs/initORCL.ora", text)

    return tell


def two(first: str, second: str) -> Callable[[], Machine]:
    """Two instances of 16 and 8 GiB in a pool for both, with these targets in their spfiles."""

    def tell() -> Machine:
        pages = packs.PAGES_NEEDED + 4097
        machine = packs.database_host().pool(pages, 1)
        machine.file(packs.SYSCTL_FILE, f"vm.hugetlb_shm_group=54321\nvm.nr_hugepages={pages}\n")
        machine.instance("HR", Shm(8 * GIB), pid=2202)
        machine.parameters("ORCL", NOW, ("*", "sga_target", first))
        small = {"sga_max_size": str(8 * GIB), "sga_target": str(8 * GIB)}
        return machine.parameters("HR", small, ("*", "sga_target", second))

    return tell


def changed(**changes: Any) -> Callable[[], Machine]:
    """The healthy host with other huge pages."""

    def tell() -> Machine:
        machine = packs.database_host()
        for path, text in changes.get("files", {}).items():
            machine.file(path, text)
        if "rows" in changes:
            machine.memory(**changes["rows"])
        if "sysctl" in changes:
            machine.file(packs.SYSCTL_FILE, changes["sysctl"])
        return machine

    return tell


#: Memory without the row Hugetlb, as kernels before 4.16 tell it, and pools of two sizes in sysfs.
SYSFS = "/sys/kernel/mm/hugepages/hugepages-"


def sizes(kilobytes: int, pages: int, overcommit: int = 0) -> dict[str, str]:
    folder = f"{SYSFS}{kilobytes}kB/"
    return {
        folder + "nr_hugepages": f"{pages}\n",
        folder + "surplus_hugepages": "0\n",
        folder + "nr_overcommit_hugepages": f"{overcommit}\n",
    }


def variants(check: str, *parts: Any) -> tuple[Story, ...]:
    """Stories that say one text, and from where it is known that the status is the truth."""
    made = stories(check, *parts)
    assert all(len(story.says) == 2 and story.says[1] for story in made)
    return made


RAISED = "24576 pages of 32770 are missing: ORCL takes 64.0 GiB at its next start"
SAME = every(("sga_target", "16G"))

VARIANTS = variants(
    "pool_covers_sga",
    # -- what the entries say
    "both raised, in bytes",
    ("fail", spfile(*every(("sga_target", str(64 * GIB)), ("sga_max_size", str(64 * GIB))))),
    (RAISED, ADMIN),
    "only the target raised, in G",
    ("fail", spfile(*every(("sga_target", "64G")))),
    ("(*.sga_target=64.0 GiB in ", REFERENCE + "SGA_TARGET"),
    "only the maximum raised, in M and small letters",
    ("fail", spfile(*every(("sga_target", "16g"), ("sga_max_size", "65536m"))), RAISED, ADMIN),
    "maximum below the target",
    ("fail", spfile(*every(("sga_target", "64G"), ("sga_max_size", "16G")))),
    (RAISED, "ORA-00823; the larger one is what is needed once that is corrected"),
    "nothing changed",
    ("pass", spfile(*SAME), "8194 pages (16.0 GiB: ORCL 8194)", ADMIN),
    "lowered",
    ("pass", spfile(*every(("sga_target", "4G"), ("sga_max_size", "4G")))),
    ("8194 pages", "what runs keeps its pages until it stops"),
    "an odd size that runs in whole granules",
    ("pass", "8194 pages", GRANULE),
    spfile(
        *every(("sga_target", "17000000000")), sga_target="17012097024", sga_max_size="17012097024"
    ),
    "raised by one granule",
    ("fail", spfile(*every(("sga_target", str(16 * GIB + 1))))),
    ("32 pages of 8226 are missing", GRANULE + ": above 16 GiB granules of 64 MiB"),
    "raised for this SID alone",
    ("fail", spfile(*SAME, ("ORCL", "sga_target", "64G")), "(ORCL.sga_target=64.0 GiB in ", RAC),
    "raised for all, kept for this SID",
    ("pass", spfile(*every(("sga_target", "64G")), ("ORCL", "sga_target", "16G"))),
    ("8194 pages", RAC),
    "raised for an instance of another node",
    ("pass", spfile(*SAME, ("ORCL2", "sga_target", "64G")), "8194 pages", RAC),
    "Automatic Memory Management from the next start on",
    ("pass", spfile(*every(("memory_target", "64G")))),
    ("8194 pages", REFERENCE + "MEMORY_TARGET: no SysV memory; pre_page_sga.memory_target fails"),
    "neither target nor maximum, and the pools are raised",
    ("fail", "ORCL takes 46.0 GiB at its next start (*.db_cache_size=40.0 GiB", ADMIN),
    spfile(
        *every(("db_cache_size", "40G"), ("shared_pool_size", "4G")),
        sga_target="0",
        db_cache_size=str(10 * GIB),
        shared_pool_size=str(4 * GIB),
    ),
    "the target is gone from the spfile",
    ("error", spfile(*every(("use_large_pages", "ONLY")))),
    (
        "the SGA of ORCL at its next start is not known (neither sga_target nor sga_max_size",
        ADMIN + ": the sum of pools that no entry tells",
    ),
    "a size that is none",
    ("error", spfile(*every(("sga_target", "64GB")))),
    ("sga_target is not a size: a word of 4", REFERENCE + "big integer: K, M, G"),
    # -- where the entries are
    "text file only, without a prefix",
    ("fail", pfile("db_name=orcl\nsga_target = 64G  # raised\n"), RAISED, STARTUP),
    "text file, twice: the last counts",
    ("pass", pfile("*.sga_target=64G\n*.sga_target=16G\n"), "8194 pages", REFERENCE + "Basics"),
    "text file, and its hidden entries are no target",
    ("pass", pfile("ORCL.__sga_target=68719476736\n*.sga_target=16G\n")),
    ("8194 pages", "Administrator's Guide: __ entries are sizes of the last run"),
    "text file that nobody finds again",
    ("error", lambda: pfile("sga_target=16G\n")().remove(f"{HOME}/dbs/initORCL.ora")),
    ("holds no parameter file of ORCL", STARTUP),
    "down and listed, with more in its file than in the list",
    ("fail", stopped("sga_target=64G\nuse_large_pages=only\n"), {"instances": ORCL16}),
    ("ORCL, which is down, takes 64.0 GiB when it starts", STARTUP),
    "down and listed, as listed",
    ("pass", stopped("sga_target=16G\n", 8196), {"instances": ORCL16}, "8196 pages", POLICY),
    "down and in oratab alone",
    ("fail", stopped("sga_target=64G\n")),
    ("ORCL (down) 32772", "oratab: N is what dbca writes for every database"),
    "not asked, and not listed",
    ("error", spfile(*SAME), {"query_instances": False}),
    ("hugepages_query_instances is false", POLICY),
    "not asked, but listed",
    ("fail", "ORCL 32768", POLICY),
    spfile(*SAME),
    {"query_instances": False, "instances": [{"sid": "ORCL", "sga": "64G"}]},
    # -- several instances
    "two, of which one is raised",
    ("fail", two("16G", "20G"), "HR takes 20.0 GiB at its next start", ADMIN),
    "two, and the pool has room for the one that is raised",
    ("pass", lambda: two("16G", "10G")().pool(packs.PAGES_NEEDED + 4097 + 1024, 1025)),
    ("HR at its next start 1024", ADMIN),
    "a reboot takes the pool away that the next start needs",
    ("fail pool_persisted", lambda: spfile(*every(("sga_target", "20G")))().pool(10242, 2050)),
    ("A reboot makes 8194 pages, 2048 too few", KERNEL),
    "only surplus pages cover it",
    ("fail", lambda: packs.database_host().pool(8194, 2, 0, 4000)),
    ("4000 pages of 8194 are missing", KERNEL + ": surplus pages go when they are freed"),
    # -- how much of memory
    "40 pages of 1 GiB beside the pool",
    ("fail ram_share", changed(rows={"Hugetlb": (16384 + 40960) << 10})),
    (
        "88 percent (56.0 GiB), 40.0 GiB of it in pages of other sizes",
        KERNEL + ": Hugetlb sums up all sizes",
    ),
    "1 GiB pages of an old kernel, which has no Hugetlb",
    ("fail ram_share", "40.0 GiB of it in pages of other sizes", KERNEL),
    lambda: _without_hugetlb(changed(files=sizes(1048576, 40) | sizes(2048, 8194))()),
    "1 GiB pages that only a reboot makes",
    ("fail ram_share", changed(files={"/proc/cmdline": "hugepagesz=1G hugepages=40\n"})),
    ("huge pages after reboot", KERNEL + ": hugepagesz= with hugepages="),
    "1 GiB pages that tmpfiles.d makes at the next reboot",
    ("fail ram_share", "huge pages after reboot", "tmpfiles.d(5)"),
    changed(files={"/etc/tmpfiles.d/g.conf": f"w {SYSFS}1048576kB/nr_hugepages - - - - 40\n"}),
    "few pages of 1 GiB",
    ("pass ram_share", changed(files={"/proc/cmdline": "hugepagesz=1G hugepages=4\n"})),
    ("31 percent (20.0 GiB), 4.0 GiB of it in pages of other sizes", KERNEL),
    "surplus pages up to 40 GiB are allowed",
    ("fail ram_share", changed(files={"/proc/sys/vm/nr_overcommit_hugepages": "20480\n"})),
    ("40.0 GiB of it allowed beyond the pool", KERNEL + ": nr_overcommit_hugepages"),
    "surplus pages of 1 GiB are allowed",
    ("fail ram_share", changed(files=sizes(1048576, 0, 40))),
    ("40.0 GiB of it allowed beyond the pool", KERNEL),
    "a reboot allows surplus pages",
    ("fail ram_share", changed(sysctl="vm.nr_hugepages=8194\nvm.nr_overcommit_hugepages=20480\n")),
    ("huge pages after reboot", KERNEL),
    "a policy larger than memory",
    ("fail ram_share", packs.database_host, {"instances": [{"sid": "ORCL", "sga": "79G"}]}),
    ("huge pages that policy and instances require", POLICY),
    "a next boot larger than memory",
    ("fail ram_share", changed(sysctl="vm.nr_hugepages=40000\n"), "122 percent (78.1 GiB)", KERNEL),
    "the pool of a listed instance beside 1 GiB pages",
    ("warn ram_share", "huge pages that policy and instances require", POLICY),
    changed(rows={"Hugetlb": (16384 + 16384) << 10}),
    {"instances": [{"sid": "ORCL", "sga": "30G"}]},
)


def _without_hugetlb(machine: Machine) -> Machine:
    lines = machine.files["/proc/meminfo"].splitlines(keepends=True)
    return machine.file("/proc/meminfo", "".join(x for x in lines if not x.startswith("Hugetlb")))


@pytest.mark.parametrize("variant", VARIANTS, ids=[variant.name for variant in VARIANTS])
def test_variant(judge, plan, variant):
    machine = variant.host()
    findings = judge(machine, **variant.policy)
    (finding,) = findings[variant.check]
    assert finding.status == variant.status, finding
    texts = [finding.why, finding.desired, finding.persisted, finding.running, finding.in_use]
    assert any(variant.says[0] in (text or "") for text in texts), finding
    # What a fix proposes apply takes, and what apply would refuse no fix proposes.
    proposed = {
        line for group in findings.values() for finding in group for line in finding.commands
    }
    planned = plan(machine, **variant.policy)
    applies = "./hostproof apply --tags hugepages" in proposed
    assert not (applies and any(not refusal.part for refusal in planned.refusals))
    memory = 64 * GIB
    for line in proposed:
        if line.startswith("sysctl -w vm.nr_hugepages="):
            assert int(line.rpartition("=")[2]) * 2 * MIB <= memory * 70 // 100
    (short,) = findings["pool_covers_sga"]
    pool = [change for change in planned.changes if getattr(change, "path", "") == POOL_FILE]
    if short.status == "fail" and pool and not planned.refusals:
        assert int(pool[0].value) >= short.values["needed"]
    (share,) = findings["ram_share"]
    if short.status == "fail" and short.values["needed"] * 2 * MIB > memory * 70 // 100:
        assert "allow_over_memory_limit" in {refusal.override for refusal in planned.refusals} | {
            "allow_over_memory_limit"
            if refusal.reason.endswith("do not fit into 64.0 GiB memory")
            else None
            for refusal in planned.refusals
        }
        assert "the host has memory for at most" in short.fix and short.commands == ()


def test_no_variable_takes_the_risk_of_more_than_memory(plan):
    policy = {"instances": [{"sid": "ORCL", "sga": "79G"}]}
    risks = dict.fromkeys(("allow_over_memory_limit", "allow_low_memory", "allow_compaction"), True)
    (refusal,) = plan(packs.database_host(), **policy, **risks).refusals
    assert refusal.override is None and "do not fit into 64.0 GiB memory" in refusal.reason


def test_other_huge_pages_count_against_the_share_of_a_plan(plan):
    policy = {"instances": [{"sid": "ORCL", "sga": "30G"}], "activation": "reboot"}
    assert plan(packs.database_host(), **policy).refusals == []
    machine = packs.database_host().memory(Hugetlb=(16384 + 16384) << 10)
    (refusal,) = plan(machine, **policy).refusals
    assert refusal.override == "allow_over_memory_limit"
    assert "with 16.0 GiB of other huge pages" in refusal.reason


def test_apply_makes_the_pool_of_the_next_start(plan, judge):
    planned = plan(spfile(*every(("sga_target", "20G")))())
    (pool,) = [change for change in planned.changes if getattr(change, "path", "") == POOL_FILE]
    assert (planned.refusals, pool.value) == ([], "10242")
    (finding,) = judge(spfile(*every(("sga_target", "20G")))())["pool_covers_sga"]
    assert finding.commands == ("./hostproof apply --tags hugepages",)
    assert finding.fix.startswith("the pool must have 10242 pages: apply the control")


def test_a_pool_whose_need_is_not_known_is_not_made_smaller(plan):
    machine = packs.database_host().pool(12000, 3808)
    machine.deny("command:sqlplus ORCL: release and parameters")
    planned = plan(machine, instances=ORCL16)
    assert [change for change in planned.changes if getattr(change, "path", "") == POOL_FILE] == []


def test_of_several_that_are_down_any_one_must_start(judge):
    def verdict(pool: int):
        machine = stopped("sga_target=16G\n", pool)()
        machine.file("/etc/oratab", f"ORCL:{HOME}:N\nHR:{HOME}:Y\n")
        machine.file(f"{HOME}/dbs/initHR.ora", "sga_target=8G\n")
        (finding,) = judge(machine)["pool_covers_sga"]
        return finding

    assert verdict(8180).status == "fail"
    assert (verdict(8196).status, verdict(8196).why) == (
        "warn",
        "4100 pages more are missing if all instances in oratab that are down start.",
    )
    assert verdict(8196 + 4100).status == "pass"


def test_memlock_of_today_is_held_against_the_next_start(judge):
    machine = packs.database_host().stop_instances()
    machine.instance("ORCL", *packs.healthy_sga(), memlock=17 * GIB)
    machine.parameters("ORCL", NOW, ("*", "sga_target", "20G"))
    (finding,) = judge(machine)["memlock_in_force"]
    assert (finding.status, finding.severity) == ("warn", "high")
    assert "the next start takes 20.0 GiB" in finding.why


@cases(
    "kernel status says",
    ("5.14.0-70.13.1.el9_0.x86_64", "fail", "returns EPERM"),
    ("5.14.0-503.11.1.el9_5.x86_64", "fail", "returns EPERM"),
    ("5.14.0-533.el9.x86_64", "fail", "returns EPERM"),
    ("5.14.0-427.13.1.el9_4.x86_64+rt", "fail", "returns EPERM"),
    ("5.14.21-150400.24.100-default", "fail", "returns EPERM"),
    ("5.14.21-150500.55.7-default", "fail", "returns EPERM"),
    ("6.4.0-150600.21-default", "fail", "returns EPERM"),
    ("5.15.0-206.153.7.el9uek.x86_64", "warn", "do not rely on it"),
    ("5.15.0-107-generic", "warn", "do not rely on it"),
    ("5.3.18-150300.59.174-default", "warn", "accepts a memlock limit instead"),
    ("4.18.0-553.el8_10.x86_64", "warn", "accepts a memlock limit instead"),
)
def test_no_fallback_is_promised_where_the_change_was_taken_over(judge, kernel, status, says):
    machine = packs.database_host().file("/proc/sys/kernel/osrelease", kernel + "\n")
    machine.file("/proc/sys/vm/hugetlb_shm_group", "0\n")
    (finding,) = judge(machine)["shm_group"]
    assert finding.status == status and says in finding.why


HOSTILE = ("$(touch${IFS}/tmp/x)", "a;reboot", "`id`", "'\"", "--", "a\tb", "\x1b[2J", "&&id")


def every_command() -> list[str]:
    """Of every variant, and of hosts whose instances have names that a shell would obey."""
    hosts = [(variant.host(), variant.policy) for variant in VARIANTS]
    for name in HOSTILE:
        machine = packs.database_host().pool(100, 0).stop_instances()
        hosts.append((machine.instance(name, Shm(16 * GIB), memlock=64), {}))
        if name.isprintable():  # others the policy refuses
            hosts.append((packs.linux(), {"instances": [{"sid": name, "sga": "16G"}]}))
    commands = []
    for machine, policy in hosts:
        policies = {
            "hugepages": packs.hugepages_policy(**policy),
            "pre_page_sga": oracle_packs.policy(),
        }
        commands += [
            line for finding in audit.judge_host(machine, policies) for line in finding.commands
        ]
    return commands


def test_every_command_is_one_line_of_its_own():
    commands = sorted(set(every_command()))
    assert "./hostproof apply --tags hugepages" in commands
    for command in commands:
        assert len(command.splitlines()) == 1
        assert subprocess.run(["sh", "-n", "-c", command], check=False).returncode == 0
        assert not re.search(r"[;&|`$<>\\]", command), command
        assert shlex.split(command)[0] in ("./hostproof", "sysctl", "grep")


# -- pre_page_sga of the same instances


def pending(machine: Machine):
    policy = pre_page_sga.policy_from(oracle_packs.policy())
    findings = pre_page_sga.judge(pre_page_sga.read(machine, policy), policy)
    (finding,) = [one for one in findings if one.check == "pre_page_sga.pending_restart"]
    return finding


@cases(
    "stored status names",
    (every(("sga_target", "64G"), ("sga_max_size", "64G")), "warn", "sga_max_size, sga_target"),
    (every(("sga_target", "64G")), "warn", "sga_target"),
    (every(("sga_target", "16G"), ("sga_max_size", "64G")), "warn", "sga_max_size"),
    ((*SAME, ("ORCL", "sga_target", "20G")), "warn", "sga_target"),
    (every(("sga_target", "16G"), ("memory_target", "20G")), "warn", "memory_target"),
    (SAME, "pass", ""),
    (every(("sga_target", "64G"), ("sga_max_size", "16G")), "fail", "ORA-00823"),
    (every(("memory_target", "64G"), ("memory_max_target", "16G")), "fail", "ORA-00837"),
)
def test_a_pending_sga_is_named(stored, status, names):
    finding = pending(
        spfile(
            *stored,
            memory_max_target="0",
            use_large_pages="TRUE",
            pre_page_sga="TRUE",
            lock_sga="FALSE",
        )()
    )
    assert finding.status == status, finding
    assert names in finding.why


def test_a_start_that_is_refused_is_told_of_one_that_is_down():
    finding = pending(stopped("sga_target=64G\nsga_max_size=16G\n")())
    assert (finding.status, finding.running) == ("fail", "down") and "ORA-00823" in finding.why
    assert pending(stopped("sga_target=16G\n")()).status == "skip"


@cases(
    "size whole",
    (1, 4 * MIB),
    (GIB, GIB),
    (GIB + 1, GIB + 16 * MIB),
    (8 * GIB + 1, 8 * GIB + 32 * MIB),
    (16 * GIB + 1, 16 * GIB + 64 * MIB),
    (32 * GIB + 1, 32 * GIB + 128 * MIB),
    (64 * GIB + 1, 64 * GIB + 256 * MIB),
    (128 * GIB + 1, 128 * GIB + 512 * MIB),
    (0, 0),
)
def test_an_sga_comes_in_whole_granules(size, whole):
    assert next_start.whole_granules(size) == whole


# -- the packs of hosts that passed and should not have

HELD_OUT = (
    ("f3-sga-raised", "hugepages.pool_covers_sga", "fail"),
    ("f3-sga-raised", "pre_page_sga.pending_restart", "warn"),
    ("f3b-sga-raised", "hugepages.pool_covers_sga", "fail"),
    ("f3b-sga-raised", "pre_page_sga.pending_restart", "warn"),
    ("f5-1g-pages", "hugepages.ram_share", "fail"),
)


@pytest.mark.skipif(not PACKS.is_dir(), reason="../shared/data/packs is not here")
@pytest.mark.parametrize(("pack", "check", "status"), HELD_OUT)
def test_pack(pack, check, status):
    host = RecordedHost(*evidence.open_pack(str(PACKS / f"{pack}.example.com.json")))
    policies = {"hugepages": packs.hugepages_policy(), "pre_page_sga": oracle_packs.policy()}
    findings = {finding.check: finding for finding in audit.judge_host(host, policies)}
    assert findings[check].status == status, findings[check]
