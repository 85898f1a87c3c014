"""Databases that are down or start later: packs of reports from the field, and variants of them."""

import io_packs
import kernel_packs
import limit_packs
import memory_packs
import oracle_packs
import packs
from ansible.module_utils.hostproof.collect import evidence
from ansible.module_utils.hostproof.collect.host import RecordedHost
from ansible.module_utils.hostproof.evaluate import audit
from cases import cases
from default_policies import default_policy
from packs import GIB, MIB

FOLDER = packs.FIXTURES / "next_start"
HOME = packs.HOME


def judged(host, control):
    findings = audit.judge_host(host, {control: default_policy(control)})
    return {finding.title.partition(": ")[0] + " " + finding.check: finding for finding in findings}


@cases(
    "name control check says",
    ("c24b", "process_limits", "oracledb.service process_limits.units", "at boot memlock is"),
    ("c60b", "kernel_parameters", "kernel.shmall kernel_parameters.shared_memory", "reboot"),
    ("c09", "memory_pressure", "memory_pressure.dev_shm", "it has 495.5 MiB now"),
    ("c09", "pre_page_sga", "pre_page_sga.last_start", "needs 1073741824 bytes in /dev/shm"),
    ("c67c", "memory_pressure", "memory_pressure.budget", "At the next start 20.3 GiB"),
)
def test_reports_from_the_field(name, control, check, says):
    findings = judged(RecordedHost(*evidence.open_pack(str(FOLDER / f"{name}.json"))), control)
    finding = next(found for key, found in findings.items() if key.endswith(check))
    assert (finding.status, says in finding.why) == ("fail", True), finding.why
    assert "record it again" not in finding.why


def test_a_parameter_that_an_older_release_did_not_read_changes_nothing():
    """The pack lacks kernel.pid_max: it is not a failure, and does not block the others."""
    host = RecordedHost(*evidence.open_pack(str(FOLDER / "c60b.json")))
    findings = judged(host, "kernel_parameters")
    assert not [one for one in findings.values() if "pid_max" in one.title + one.why]
    (failure,) = [one for one in findings.values() if one.status == "fail"]
    assert failure.fix == "apply the control"


def down(machine, sid="ORCL", flag="N", spfile=True, **parameters):
    """A database that is down, with its parameters in an spfile or a text file."""
    machine.file("/etc/oratab", machine.files.get("/etc/oratab", "") + f"{sid}:{HOME}:{flag}\n")
    machine.command(f"stat -L -c %U {HOME}/bin/sqlplus", "oracle\n")
    machine.command(f"sqlplus -V of {HOME}", "\nSQL*Plus: Release 19.0.0.0.0 - Production\n")
    stored = tuple(("*", name, value) for name, value in parameters.items())
    if spfile:
        return machine.file(f"{HOME}/dbs/spfile{sid}.ora", oracle_packs.spfile_text(stored))
    text = "".join(f"{sid}.{name} = {value}\n" for _all, name, value in stored)
    return machine.file(f"{HOME}/dbs/init{sid}.ora", f"*.db_name='{sid}'\n{text}")


def shmall(machine, pages):
    machine.file("/etc/sysctl.d/90.conf", f"kernel.shmall = {pages}\n")
    return kernel_packs.sets(machine, kernel__shmall=str(pages))


A, B = {"sid": "A", "flag": "Y", "sga_target": "20G"}, {"sid": "B", "sga_target": "20G"}
OTHERS = {"sid": "B", "flag": "W", "sga_target": "4G"}, {"sid": "C", "sga_target": "8G"}
START = f"{HOME}/bin/dbstart"
SGA_OF_40 = {"sga_target": "20G", "sga_max_size": "40G"}


@cases(
    "databases pages status",
    ([{"spfile": True, **SGA_OF_40}], 7340032, "fail"),
    ([{"spfile": False, "sga_max_size": "41943040K", "sga_target": "1m"}], 7340032, "fail"),
    ([{"spfile": False, "sga_target": str(40 * GIB)}], 10485760, "pass"),
    ([{"spfile": True, "memory_target": "40G"}], 7340032, "pass"),
    # dbstart starts all of them, of others one.
    ([A, {**A, "sid": "B"}], 7340032, "fail"),
    ([{"sid": "A", "sga_target": "20G"}, B], 7340032, "pass"),
    ([A, *OTHERS], 8388608, "pass"),
    ([A, *OTHERS], 8388607, "fail"),
    # Only an instance can read it.
    ([{"spfile": False, "spfile_in_asm": "x"}], 7340032, "error"),
    ([{"spfile": False, "spfile_in_asm": "x"}], 16777216, "pass"),
)
def test_shared_memory_of_databases_that_are_down(databases, pages, status):
    machine = kernel_packs.stock()
    for database in databases:
        database = dict(database)
        if database.pop("spfile_in_asm", None):
            down(machine, spfile=False)
            machine.file(f"{HOME}/dbs/initORCL.ora", "spfile='+DATA/ORCL/spfile.ora'\n")
        else:
            down(machine, **database)
    shmall(machine, pages)
    key = "kernel.shmall kernel_parameters.shared_memory"
    assert judged(machine, "kernel_parameters")[key].status == status


def test_a_database_that_is_down_beside_one_that_runs():
    machine = kernel_packs.stock().instance("PROD", packs.Shm(20 * GIB))
    down(machine, **SGA_OF_40)
    shmall(machine, 60 * GIB // 4096 - 1)
    finding = judged(machine, "kernel_parameters")["kernel.shmall kernel_parameters.shared_memory"]
    assert finding.status == "fail" and "ORCL, now down" in finding.desired


def test_semaphores_of_databases_that_are_down():
    machine = kernel_packs.stock()
    kernel_packs.sets(machine, kernel__sem="250 32000 100 128")
    for sid in ("A", "B", "C", "D"):
        down(machine, sid, flag="Y", sga_target="1G", processes="9000")
    finding = judged(machine, "kernel_parameters")["kernel.sem kernel_parameters.semaphores"]
    assert finding.status == "fail"
    assert "A, B, C, D, now down) need 36145 semaphores in 150 sets" in finding.desired


REQUESTS = "fs.aio-max-nr kernel_parameters.asynchronous_io"


def test_a_number_of_processes_that_cannot_be_read():
    machine = kernel_packs.stock()
    down(machine, flag="Y", sga_target="1G", processes="junk")
    machine.file("/etc/sysctl.d/90.conf", "kernel.sem = 250 32000 100 128\n")
    kernel_packs.sets(machine, kernel__sem="250 32000 100 128")
    machine.file("/etc/sysctl.d/91.conf", "fs.aio-max-nr = 1048576\n")
    kernel_packs.sets(machine, **{"fs__aio-max-nr": "1048576"})
    findings = judged(machine, "kernel_parameters")
    for key in ("kernel.sem kernel_parameters.semaphores", REQUESTS):
        assert findings[key].status == "error" and "processes" in findings[key].why


@cases(
    "parameters size others status",
    ({"memory_target": "1G"}, "507364k", 0, "fail"),
    ({"memory_max_target": "1024M"}, "507364k", 0, "fail"),
    ({"memory_target": "1G"}, "1g", 0, "pass"),
    ({"memory_target": "1G"}, "1g", 5 * MIB, "fail"),
    ({"sga_target": "1G"}, "64m", 0, "skip"),
)
def test_shared_memory_files_of_a_database_that_is_down(parameters, size, others, status):
    machine = down(memory_packs.host().file("/etc/oratab", ""), **parameters)
    mount = f"25 24 0:23 / /dev/shm rw,nosuid - tmpfs tmpfs rw,size={size}\n"
    machine.file("/proc/self/mountinfo", mount)
    machine.file("/etc/fstab", f"tmpfs /dev/shm tmpfs size={size} 0 0\n").folder("/dev/shm")
    if others:
        machine.file("/dev/shm/other", "x" * others)
    findings = judged(machine, "memory_pressure")
    finding = next(found for key, found in findings.items() if key.endswith(".dev_shm"))
    assert finding.status == status, finding.why


def test_the_budget_is_wrong_by_what_is_known_alone():
    for size, status in (("70G", "fail"), ("2G", "error")):
        host = memory_packs.host().file("/etc/oratab", "")
        machine = down(host, sga_target=size, pga_aggregate_target="1G")
        machine.file("/proc/sys/vm/min_free_kbytes", "67584\n")
        findings = judged(machine, "memory_pressure")
        finding = next(found for key, found in findings.items() if key.endswith(".budget"))
        assert finding.status == status, finding.why
        assert ("at least" in (finding.persisted or "")) == (status == "fail")


@cases(
    "flags parameters status",
    # dbstart starts both; a person starts one of two.
    ("YY", {"sga_target": "40G"}, "fail"),
    ("YY", {"sga_target": "40G", "processes": "100", "pga_aggregate_limit": "1G"}, "fail"),
    ("NN", {"sga_target": "40G", "processes": "100", "pga_aggregate_limit": "1G"}, "pass"),
    ("YN", {"sga_target": "40G", "processes": "100", "pga_aggregate_limit": "1G"}, "fail"),
    ("NN", {"sga_target": "40G"}, "error"),
    ("N", {"sga_target": "40G", "pga_aggregate_limit": "30G"}, "fail"),
)
def test_the_budget_of_databases_that_start_together(flags, parameters, status):
    machine = memory_packs.host().file("/etc/oratab", "")
    for number, flag in enumerate(flags):
        down(machine, f"D{number}", flag=flag, use_large_pages="FALSE", **parameters)
    machine.file("/proc/sys/vm/min_free_kbytes", "67584\n")
    findings = judged(machine, "memory_pressure")
    finding = next(found for key, found in findings.items() if key.endswith(".budget"))
    assert finding.status == status, finding.why


@cases(
    "flags pages status",
    ("YY", 7176, ["pass", "pass"]),
    ("YY", 7168, ["warn", "warn"]),
    ("YY", 7167, ["fail", "fail"]),
    ("NN", 3588, ["warn", "pass"]),
    ("YN", 7176, ["pass", "pass"]),
    ("YN", 3588, ["warn", "pass"]),
    ("YYY", 7176, ["fail", "fail"]),
)
def test_the_pool_of_databases_that_start_together(flags, pages, status):
    machine = packs.linux().file("/etc/oratab", "").pool(pages, pages)
    for number, flag in enumerate(flags):
        down(machine, f"D{number}", flag=flag, sga_target="7G", use_large_pages="ONLY")
    machine.file(packs.SYSCTL_FILE, f"vm.nr_hugepages = {pages}\n")
    found = {finding.check: finding.status for finding in judged(machine, "hugepages").values()}
    assert [found[f"hugepages.pool_{name}"] for name in ("covers_sga", "persisted")] == status


def test_a_pool_that_nothing_sets_is_too_small_for_a_database_that_is_down():
    finding = judged(down(packs.linux(), sga_target="7G"), "hugepages")
    persisted = next(found for key, found in finding.items() if key.endswith(".pool_persisted"))
    assert (persisted.status, "too few" in persisted.why) == ("fail", True), persisted.why


LOW, ENOUGH = "LimitMEMLOCK=64K", "LimitMEMLOCK=infinity"


@cases(
    "unit service flag status",
    ("oracledb", f"User=oracle\n{LOW}\nExecStart={START} {HOME}", "Y", "fail"),
    ("db", f"User=oracle\n{ENOUGH}\nExecStart={START} {HOME}", "Y", "pass"),
    ("db", f"User=oracle\nLimitMEMLOCK=64K:infinity\nExecStart={START}", "Y", "fail"),
    # It starts what oratab marks with Y.
    ("db", f"User=oracle\n{LOW}\nExecStart={START} {HOME}", "N", "pass"),
    # A session of PAM sets the limits of limits.d.
    ("db", f"{LOW}\nExecStart=/bin/su - oracle -c '{START}'", "Y", "pass"),
    ("db", f"User=oracle\nPAMName=login\n{LOW}\nExecStart={START}", "Y", "pass"),
    ("db", f"User=oracle\nPAMName=own\n{LOW}\nExecStart={START}", "Y", "fail"),
    ("db", f"{LOW}\nUser=54321\nExecStart={HOME}/up", "Y", "fail"),
    ("db", f"{LOW}\nExecStart=/usr/bin/setpriv --reuid oracle {START}", "Y", "fail"),
    ("db@ORCL", f"User=oracle\n{LOW}\nExecStart={HOME}/up %i", "N", "fail"),
    ("db@TEST", f"User=oracle\n{LOW}\nExecStart={HOME}/up %i", "N", "pass"),
    ("db", f"User=oracle\nEnvironment=ORACLE_SID=TEST\n{LOW}\nExecStart={HOME}/up", "N", "pass"),
    ("db", f"User=grid\n{LOW}\nExecStart=/usr/bin/sqlplus / as sysdba @/x", "N", "pass"),
    ("db", f"User=oracle\n{LOW}\nExecStart={HOME}/bin/lsnrctl start", "Y", "pass"),
    # The manager's default is 64 KiB.
    ("db", f"User=oracle\nExecStart={START} {HOME}", "Y", "fail"),
    ("db", f"ExecStart=/bin/sh -c 'ulimit -l unlimited; {START}'", "Y", "pass"),
    ("db", f"ExecStart=/usr/bin/prlimit --memlock=unlimited {START}", "Y", "pass"),
    ("db", f"ExecStart=/usr/bin/prlimit --nofile=65536 -lunlimited:unlimited {START}", "Y", "pass"),
    ("db", f"ExecStart=/usr/bin/prlimit --memlock=65536:unlimited {START}", "Y", "fail"),
    ("db", f"ExecStart=/bin/sh -c 'prlimit --pid $$ --memlock=8589934592 && {START}'", "Y", "pass"),
    ("db", f"ExecStart=/usr/bin/prlimit --memlock=$SIZE {START}", "Y", "error"),
    ("db", f"{ENOUGH}\nExecStart=/usr/bin/prlimit --memlock=65536 {START}", "Y", "fail"),
    ("db", f"User=oracle\n{LOW}\nExecStart=prlimit --memlock=unlimited {START}", "Y", "fail"),
    ("db", f"User=oracle\n{LOW}\nExecStart=/bin/sh -c 'ulimit -l unlimited; dbstart'", "Y", "fail"),
)
@cases("runs", True, False)
def test_the_memlock_of_what_starts_an_instance(runs, unit, service, flag, status):
    machine = packs.linux().folder("/run/systemd/system").account("oracle", 54321, "oinstall")
    machine.file("/etc/pam.d/su", "session required pam_limits.so\n")
    machine.file("/etc/pam.d/login", "session required pam_limits.so\n")
    machine.file("/etc/pam.d/own", "session required pam_unix.so\n")
    machine.command(
        f"systemctl show {limit_packs.SHOW_MANAGER}",
        "DefaultLimitMEMLOCK=65536\nDefaultLimitMEMLOCKSoft=65536\n",
    )
    down(machine, flag=flag, sga_target="4G", use_large_pages="ONLY")
    if runs:
        machine.instance("ORCL", packs.Shm(4 * GIB))
    limit_packs.starter(machine, f"{unit}.service", f"[Service]\n{service}\n")
    machine.file("/etc/oratab", f"ORCL:{HOME}:{flag}\nTEST:{HOME}:{flag}\n")
    findings = judged(machine, "hugepages")
    found = [one for key, one in findings.items() if key == "ORCL hugepages.memlock_in_force"]
    if status == "pass" and not runs and not found:
        return
    assert found[0].status == status, found[0].why
    if status == "fail":
        assert found[0].failing_layer == "persisted"
        assert f"After a reboot {unit}.service starts it with 64.0 KiB" in found[0].why
        assert found[0].fix == (
            f"run systemctl edit {unit}.service, and put '[Service]' and 'LimitMEMLOCK=4194304K' "
            "into it"
        )


def test_the_login_of_an_owner_that_no_policy_lists():
    """su - oradba in a script: limits.d counts for each owner of a database."""
    machine = down(packs.linux().account("oradba", 54330, "oinstall"), sga_target="4G")
    machine.command(f"stat -L -c %U {HOME}/bin/sqlplus", "oradba\n")
    finding = judged(machine, "hugepages")["oradba hugepages.memlock_persisted"]
    assert (finding.status, finding.persisted) == ("fail", "soft not set, hard not set")


@cases(
    "unit service pages",
    ("db@A", "Environment=ORACLE_SID=%i\nExecStart=/bin/x", 36),
    ("db", f"Environment=ORACLE_SID=A\nExecStart={HOME}/up", 36),
    ("db", "ExecStart=/bin/sh -c 'ORACLE_SID=A sqlplus / @up; ORACLE_SID=B sqlplus / @up'", 36),
    # Which of them it starts is not known: the largest counts.
    ("db", f"ExecStart={HOME}/up", 28),
)
def test_databases_that_units_name_start_together(unit, service, pages):
    machine = kernel_packs.stock().folder("/run/systemd/system")
    limit_packs.starter(machine, f"{unit}.service", f"[Service]\nUser=oracle\n{service}\n")
    machine.file("/etc/oratab", "")
    down(machine, "A", sga_target="8G")
    down(machine, "B", sga_target="28G")
    key = "kernel.shmall kernel_parameters.shared_memory"
    for amount, status in ((pages * GIB // 4096, "pass"), (pages * GIB // 4096 - 1, "fail")):
        machine.evidence.clear()
        shmall(machine, amount)
        assert judged(machine, "kernel_parameters")[key].status == status


@cases(
    "body flags enough",
    # The argument of a script, and loops over oratab, name no database.
    ("ORACLE_SID=$1; export ORACLE_SID\nsqlplus / as sysdba @up", "NN", "error"),
    ("export ORACLE_SID=${1}\nsqlplus -s / as sysdba @up", "NN", "error"),
    (
        "for SID in $(cut -d: -f1 /etc/oratab); do\nORACLE_SID=$SID sqlplus / @x\ndone",
        "NN",
        "error",
    ),
    ("for ORACLE_SID in `cat /etc/sids`; do\nsqlplus / @up\ndone", "NN", "error"),
    ("while IFS=: read ORACLE_SID home flag; do\nsqlplus / @up\ndone < /etc/oratab", "NN", "error"),
    # All of them start anyway, or one of them is known not to be among those that are open.
    ("ORACLE_SID=$1\nsqlplus / as sysdba @up", "YY", "pass"),
    ("ORACLE_SID=$1\nsqlplus / as sysdba @up", "YN", "pass"),
    ("dbstart $ORACLE_HOME\nsqlplus / as sysdba @pdbs", "NN", "pass"),
    ("srvctl start database -d $1", "NN", "pass"),
)
def test_databases_that_a_script_does_not_name(body, flags, enough):
    machine = kernel_packs.stock().folder("/run/systemd/system")
    machine.file(f"{HOME}/up.sh", f"#!/bin/sh\n{body}\n", mode=0o755)
    unit = f"[Service]\nUser=oracle\nExecStart={HOME}/up.sh A\n"
    limit_packs.starter(machine, "db.service", unit).file("/etc/oratab", "")
    for sid, flag, size in zip("AB", flags, ("8G", "28G"), strict=True):
        down(machine, sid, flag=flag, sga_target=size)
    key = "kernel.shmall kernel_parameters.shared_memory"
    for pages, status in ((36 * GIB // 4096, enough), (27 * GIB // 4096, "fail")):
        machine.evidence.clear()
        shmall(machine, pages)
        finding = judged(machine, "kernel_parameters")[key]
        assert finding.status == status, finding.why


@cases(
    "flags processes limit status",
    ("YY", "5000", 5000 * 2 * 128, "pass"),
    ("YY", "5000", 5000 * 2 * 128 - 1, "fail"),
    # A person starts one of them.
    ("NN", "5000", 1048576, "pass"),
    ("NN", "9000", 1048576, "fail"),
    ("YYY", "300", 1048576, "pass"),
    ("YYY", "300", 1048575, "fail"),
)
def test_requests_of_databases_that_are_down(flags, processes, limit, status):
    machine = kernel_packs.stock()
    for number, flag in enumerate(flags):
        down(machine, f"DB{number}", flag=flag, sga_target="1G", processes=processes)
    machine.file("/etc/sysctl.d/90.conf", f"fs.aio-max-nr = {limit}\n")
    kernel_packs.sets(machine, **{"fs__aio-max-nr": str(limit)})
    key = "fs.aio-max-nr kernel_parameters.asynchronous_io"
    finding = judged(machine, "kernel_parameters")[key]
    assert finding.status == status
    if limit > 1048576:
        assert f"(with DB0, DB1, now down) reserve {5000 * 2 * 128} requests" in finding.desired


def test_the_advice_for_a_limit_that_is_used_up_says_the_value():
    machine = down(kernel_packs.stock(), sga_target="1G")
    kernel_packs.sets(machine, **{"fs__aio-max-nr": "1048576", "fs__aio-nr": "1048576"})
    machine.file("/etc/sysctl.d/90.conf", "fs.aio-max-nr = 1048576\n")
    key = "fs.aio-max-nr kernel_parameters.asynchronous_io"
    finding = judged(machine, "kernel_parameters")[key]
    assert finding.status == "fail"
    assert "list fs.aio-max-nr with 2097152 in kernel_parameters_values" in finding.fix


@cases("processes status", ("8192", "pass"), ("8193", "fail"))
def test_the_requests_of_all_processes_of_a_database(processes, status):
    machine = io_packs.story()
    down(machine, "TEST", flag="Y", sga_target="1G", processes=processes)
    findings = judged(machine, "async_io")
    finding = next(found for key, found in findings.items() if key.endswith(".aio_max_nr"))
    assert finding.status == status, finding.why


@cases(
    "parameters status",
    ({"filesystemio_options": "none"}, "warn"),
    ({"filesystemio_options": "none", "control_files": "/u02/c1.ctl"}, "fail"),
    ({"filesystemio_options": "asynch", "control_files": "('/u02/c1.ctl','/u03/c2.ctl')"}, "fail"),
    ({"filesystemio_options": "SETALL", "control_files": "/u02/c1.ctl"}, "pass"),
    ({"filesystemio_options": "none", "control_files": "+DATA/T/c1.ctl"}, "skip"),
    ({"control_files": "/u02/c1.ctl"}, "skip"),
)
@cases("spfile", True, False)
def test_the_mode_of_a_database_that_is_down(spfile, parameters, status):
    machine = down(io_packs.story(), "TEST", spfile=spfile, **parameters)
    finding = judged(machine, "async_io")["TEST async_io.filesystemio_options"]
    assert finding.status == status, finding.why
    if status == "fail":
        assert "restart" not in finding.fix


@cases(
    "line status limit",
    ("CRS_LIMIT_MEMLOCK=unlimited", "pass", "unlimited (Clusterware)"),
    ("CRS_LIMIT_MEMLOCK=4194304", "pass", "4294967296 bytes (Clusterware)"),
    ("CRS_LIMIT_MEMLOCK=64", "fail", "65536 bytes (Clusterware)"),
    ("CRS_LIMIT_STACK=2048", "pass", None),
    (None, "pass", None),
)
def test_the_memlock_that_clusterware_gives(line, status, limit):
    machine = packs.linux()
    machine.account("oracle", 54321, "oinstall").instance("ORCL", packs.Shm(4 * GIB))
    machine.file("/etc/oracle/olr.loc", "crs_home=/u01/app/19/grid\n")
    machine.file("/proc/sys/kernel/hostname", "db01\n")
    if line is not None:
        machine.file("/u01/app/19/grid/crs/install/s_crsconfig_db01_env.txt", f"TZ=UTC\n{line}\n")
    finding = judged(machine, "hugepages")["ORCL hugepages.memlock_in_force"]
    if limit is None:
        assert finding.persisted is None
    else:
        assert finding.persisted == limit and finding.status == status
    if status == "fail":
        assert "CRS_LIMIT_MEMLOCK=4194304" in finding.fix
