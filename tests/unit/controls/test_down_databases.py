"""Databases that are down: what oratab lists, and what an instance can be told of them.

The host is packs.database_host(); its pool is 8194 pages of 2 MiB. Under Clusterware oratab names
databases (Oracle Clusterware Administration and Deployment Guide, oratab), and the SID of an
instance is that name with a number (PROD1), or with _1 and _2 for RAC One Node.
"""

import oracle_packs
import packs
import pytest
from ansible.module_utils.hostproof.controls.hugepages.control import CONTROL as hugepages
from ansible.module_utils.hostproof.controls.hugepages.policy_values import wanted_transparent
from ansible.module_utils.hostproof.evaluate import audit
from packs import GIB, HOME, Machine, Shm

SPFILE_IN_ASM = "SPFILE='+DATA/PROD/PARAMETERFILE/spfile.270.1'\n"
ASM = "+ASM1:/u01/app/grid:N\n"


def down(oratab: str, files: dict[str, str]) -> Machine:
    """Nothing runs. ``files`` are those of the dbs folder."""
    machine = packs.database_host().stop_instances().pool(8196, 8196)
    machine.file("/etc/oratab", oratab).folder(HOME, f"{HOME}/dbs")
    machine.command(f"stat -L -c %U {HOME}/bin/sqlplus", "oracle\n")
    machine.command(f"sqlplus -V of {HOME}", "SQL*Plus: Release 19.0.0.0.0 - Production\n")
    for name, text in files.items():
        machine.file(f"{HOME}/dbs/{name}", text)
    names = "".join(
        f"{number} -rw-r----- 1 54321 54321 {len(text)} Nov 20 10:00 {name}\n"
        for number, (name, text) in enumerate(files.items(), 1000)
    )
    return machine.command(f"ls -Lin {HOME}/dbs/", names)


def judge(machine: Machine, **policy):
    policies = {
        "hugepages": packs.hugepages_policy(**policy),
        "pre_page_sga": oracle_packs.policy(),
    }
    return audit.judge_host(machine, policies)


def of_pool(machine: Machine, **policy):
    findings = {finding.check: finding for finding in judge(machine, **policy)}
    return findings["hugepages.pool_covers_sga"], findings["hugepages.pool_not_wasted"]


UNKNOWN = {
    "a RAC database whose spfile has another name": down(
        f"b:{HOME}:N\n{ASM}", {"spfileb1.ora": "x"}
    ),
    "RAC One Node": down(f"PROD:{HOME}:N\n", {"initPROD_1.ora": SPFILE_IN_ASM}),
    "an entry that is a name with a line below": down(
        f"PROD_1:{HOME}:N\n", {"initPROD_1.ora": SPFILE_IN_ASM}
    ),
    "Oracle Restart with the spfile in ASM": down(
        f"+ASM:/u01/app/grid:N\nPROD:{HOME}:N\n", {"initPROD.ora": SPFILE_IN_ASM}
    ),
    "Oracle Restart without any file in dbs": down(f"PROD:{HOME}:N\n", {"orapwPROD": "x"}),
    "files of two instances in a shared home": down(
        f"prod:{HOME}:N\n{ASM}",
        {"initprod1.ora": "sga_target=1G\n", "initprod2.ora": "sga_target=1G\n"},
    ),
    "a standby whose name is longer than its SID": down(
        f"PROD_LON:{HOME}:N\n{ASM}", {"initPROD1.ora": "x"}
    ),
}


@pytest.mark.parametrize("machine", UNKNOWN.values(), ids=UNKNOWN)
def test_a_start_that_cannot_be_read_is_unknown_and_no_reduction_is_advised(machine):
    covers, wasted = of_pool(machine)
    assert covers.status == "error", covers
    assert "list the instance in hugepages_instances" in covers.why
    assert wasted.status == "error", wasted
    assert not wasted.commands
    for finding in judge(machine):
        assert not any("nr_hugepages" in command for command in finding.commands), finding
    covers, wasted = of_pool(machine, instances=[{"sid": "PROD1", "sga": "16G"}])
    assert (covers.status, wasted.status) == ("pass", "pass"), "the policy lists all instances"
    covers, _wasted = of_pool(machine, query_instances=False)
    assert covers.status == "error", covers
    assert "hugepages_query_instances" in covers.why


def test_the_one_instance_with_a_file_is_what_starts():
    for oratab, name in (
        (f"prod:{HOME}:N\n{ASM}", "prod1"),
        (f"prod:{HOME}:N\n", "prod_2"),
        (f"prod:{HOME}:N\n", "prod"),
        (f"PROD_1:{HOME}:N\n", "PROD_1"),
    ):
        covers, wasted = of_pool(down(oratab, {f"init{name}.ora": "sga_target=16G\n"}))
        assert (covers.status, wasted.status) == ("pass", "pass"), covers
        assert f"{name} (down) 8196" in covers.desired


def test_a_leftover_file_is_no_second_instance():
    leftover = {"initORCL.ora": "sga_target=32G\n", "initORCL1.ora": "sga_target=16G\n"}
    covers, _wasted = of_pool(down(f"ORCL:{HOME}:N\n{ASM}", leftover))
    assert covers.status == "pass", covers
    assert "ORCL1 (down)" in covers.desired
    machine = down(f"ORCL:{HOME}:N\n{ASM}", leftover).pool(8194, 2)
    machine.instance("ORCL1", *packs.healthy_sga(), memlock=None)
    covers, _wasted = of_pool(machine)
    assert covers.status == "pass", covers
    assert "down" not in covers.desired
    # Outside of RAC two entries are two databases.
    machine.evidence.clear()
    machine.file("/etc/oratab", f"ORCL:{HOME}:N\nORCL1:{HOME}:N\n")
    covers, _wasted = of_pool(machine)
    assert covers.status == "fail", covers
    assert "ORCL (down)" in covers.desired


def test_a_running_instance_tells_the_name_that_its_database_has_in_oratab():
    machine = down(f"PROD_LON:{HOME}:N\n{ASM}", {"initPROD1.ora": "x"}).pool(8194, 2)
    machine.instance("PROD1", *packs.healthy_sga(), memlock=None)
    assert of_pool(machine)[0].status == "error"
    sizes = {"sga_max_size": str(16 * GIB), "sga_target": str(16 * GIB)}
    for name in ("db_unique_name", "db_name"):
        machine.evidence.clear()
        machine.parameters("PROD1", {**sizes, name: "prod_lon"}, ("*", "sga_target", "16G"))
        assert of_pool(machine)[0].status == "pass"


def test_what_is_no_database_takes_no_part():
    machine = down("agent:/u01/agent13c:N\nclient:/u01/client:N\n", {})
    machine.command("stat -L -c %U /u01/client/bin/sqlplus", "oracle\n")
    covers, wasted = of_pool(machine)
    assert covers.status == "skip", covers
    assert wasted.status == "warn" and not wasted.commands


HIDDEN = {
    "a home for any database": down(f"*:{HOME}:N\n", {}),
    "ASM alone": down(ASM, {}),
    "the management repository alone": down(f"agent:/u01/agent13c:N\n-MGMTDB:{HOME}:N\n", {}),
    "a running database that oratab does not name": down(ASM, {})
    .pool(16392, 8196)
    .instance("PROD1", *packs.healthy_sga(), memlock=None),
    "olr.loc": down("", {}).file("/etc/oracle/olr.loc", "crs_home=/u01/app/grid\n"),
    "ocr.loc": down("", {}).file("/etc/oracle/ocr.loc", "ocrconfig_loc=+DATA\n"),
}


@pytest.mark.parametrize("machine", HIDDEN.values(), ids=HIDDEN)
def test_databases_that_only_clusterware_knows_are_unknown(machine):
    covers, wasted = of_pool(machine)
    for finding in (covers, wasted):
        assert finding.status == "error", finding
        assert "databases that only Clusterware knows" in finding.why
    for finding in judge(machine):
        assert not any("nr_hugepages" in command for command in finding.commands), finding
    _covers, wasted = of_pool(machine, instances=[{"sid": "PROD1", "sga": "16G"}])
    assert wasted.status in ("pass", "warn"), "the policy lists all instances"


def test_clusterware_lists_its_databases():
    grid = {"argv0": "/u01/app/grid/bin/ocssd.bin", "exe": "/u01/app/grid/bin/ocssd.bin"}
    listing = (
        "list the databases of Clusterware (crsctl stat res -w TYPE = ora.database.type)",
        "NAME=ora.prod.db\nTYPE=ora.database.type\nTARGET=ONLINE\nSTATE=ONLINE on db1\n\n",
    )
    machine = (
        down(ASM, {}).pool(16392, 8196).command("getent passwd", "grid:x:54322:1::/:/bin/sh\n")
    )
    machine.running.append({"pid": 901, "uid": 54322, "gid": 1, "started": 61.5, **grid})
    covers, _wasted = of_pool(machine.command(*listing))
    assert (covers.status, "(prod)" in covers.why) == ("error", True), covers
    machine.evidence.clear()
    assert of_pool(machine.command(listing[0], ""))[0].status == "skip"
    machine.evidence.clear()
    machine.command(*listing).instance("PROD1", *packs.healthy_sga(), memlock=None)
    covers, wasted = of_pool(machine)
    assert (covers.status, wasted.status) == ("pass", "warn"), covers
    assert not wasted.commands
    machine.evidence.clear()
    machine.command(listing[0], listing[1] + "NAME=ora.dev.db\n")
    covers, wasted = of_pool(machine)
    assert (covers.status, wasted.status) == ("error", "error") and "(dev)" in covers.why
    machine.evidence.clear()
    finding = of_pool(machine.command(listing[0], "CRS-4047: No Oracle Clusterware", 1))[0]
    assert finding.status == "error"


def test_an_instance_that_refuses_huge_pages_needs_no_pool():
    machine = down(f"ORCL:{HOME}:N\n", {"initORCL.ora": "sga_target=64G\nuse_large_pages=false\n"})
    covers, _wasted = of_pool(machine)
    assert covers.status == "pass", covers
    sizes = {"sga_max_size": str(16 * GIB), "sga_target": str(16 * GIB)}
    machine = packs.database_host().stop_instances().pool(0, 0)
    machine.instance("ORCL", Shm(16 * GIB, huge=False), memlock=None)
    stored = (("*", "sga_target", "16G"), ("ORCL", "use_large_pages", "FALSE"))
    machine.parameters("ORCL", sizes | {"use_large_pages": "FALSE"}, *stored)
    findings = {finding.check: finding for finding in judge(machine)}
    assert findings["hugepages.pool_covers_sga"].status == "pass", findings[
        "hugepages.pool_covers_sga"
    ]
    lies = findings["hugepages.sga_in_huge_pages"]
    assert lies.status == "fail"
    assert lies.fix.startswith("remove use_large_pages=FALSE from ORCL: as SYSDBA: ")
    assert "RESET use_large_pages SCOPE=SPFILE SID='ORCL'" in lies.fix
    # The next start asks for huge pages: then the pool has to be there.
    machine.evidence.clear()
    machine.parameters("ORCL", sizes | {"use_large_pages": "FALSE"}, ("*", "sga_target", "16G"))
    findings = {finding.check: finding for finding in judge(machine)}
    assert findings["hugepages.pool_covers_sga"].status == "fail"


def test_the_fix_of_use_large_pages_knows_memory_target_and_the_entry_of_one_sid():
    machine = packs.database_host()
    sizes = {"sga_max_size": str(16 * GIB), "sga_target": str(16 * GIB)}
    stored = (
        ("*", "memory_target", "20G"),
        ("ORCL", "memory_max_target", "20G"),
        ("*", "use_large_pages", "ONLY"),
        ("ORCL", "use_large_pages", "FALSE"),
        ("ORCL", "lock_sga", "TRUE"),
    )
    running = {"use_large_pages": "FALSE", "lock_sga": "TRUE", "pre_page_sga": "TRUE"}
    machine.parameters("ORCL", sizes | running, *stored)
    findings = {finding.check: finding for finding in judge(machine)}
    fix = findings["pre_page_sga.use_large_pages"].fix
    assert fix.index("RESET memory_target SCOPE=SPFILE SID='*'") < fix.index("ORA-27138")
    assert fix.index("RESET memory_max_target SCOPE=SPFILE SID='ORCL'") < fix.index("ORA-27138")
    assert fix.index("ORA-27138") < fix.index("SET use_large_pages=ONLY SCOPE=SPFILE SID='*'")
    assert "RESET use_large_pages SCOPE=SPFILE SID='ORCL'" in fix
    assert "RESET lock_sga SCOPE=SPFILE SID='ORCL'" in findings["pre_page_sga.lock_sga"].fix
    # A text file is edited: ALTER SYSTEM would end with ORA-32001.
    text = "sga_target=16G\nORCL.use_large_pages=FALSE\n"
    findings = {one.check: one for one in judge(down(f"ORCL:{HOME}:N\n", {"initORCL.ora": text}))}
    fix = findings["pre_page_sga.use_large_pages"].fix
    assert "ALTER" not in fix
    assert f"write *.use_large_pages=ONLY into {HOME}/dbs/initORCL.ora" in fix
    assert "delete the lines ORCL.use_large_pages" in fix


def test_26ai_wants_madvise_on_the_kernels_of_its_package():
    for version, kernel, mode in (
        ("26", "5.14.0-503.11.1.el9_5.x86_64", "madvise"),
        ("26", "4.18.0-553.el8_10.x86_64", "madvise"),
        ("26", "6.4.0-150600.21-default", "never"),
        ("23", "5.14.0-503.11.1.el9_5.x86_64", "never"),
        ("19", "5.14.0-503.11.1.el9_5.x86_64", "never"),
        ("19", "5.15.0-206.153.7.el9uek.x86_64", "madvise"),
    ):
        machine = packs.linux().file("/proc/sys/kernel/osrelease", kernel + "\n")
        listed = [{"sid": "ORCL", "sga": "16G", "version": version}]
        policy = hugepages.policy_from(packs.hugepages_policy(instances=listed))
        assert wanted_transparent(hugepages.read(machine, policy), policy)[0] == mode, kernel
