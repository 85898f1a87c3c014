"""async_io on AIX. No AIX was at hand: the texts have the form of IBM's manuals (aix_packs.py)."""

import io_packs
import pytest
from aix_packs import PLAIN_MOUNTS, aix
from ansible.module_utils.hostproof.controls.async_io.control import CONTROL as async_io
from cases import cases

LSDEV = "lsdev -C -c disk -F name"
DISK = "lsattr -E -l {0} -a algorithm -a queue_depth -a reserve_policy"
AIO = "lsattr -E -l aio0 -a autoconfig -a maxreqs -a maxservers"
HOME = "/u01/app/oracle/product/19.0.0/dbhome_1"


def disk(machine, name, depth="12", algorithm="shortest_queue", reserve="no_reserve"):
    rows = f"algorithm {algorithm} Algorithm True\nqueue_depth {depth} Queue DEPTH True\n"
    rows += f"reserve_policy {reserve} Reserve Policy True+\n"
    return machine.command(DISK.format(name), rows)


def tunables(**values):
    settings = {"aio_active": "1", "aio_maxreqs": "65536", "aio_maxservers": "30"} | values
    return "".join(f"{name} = {value}\n" for name, value in settings.items())


def host():
    """AIX 7.2 whose asynchronous I/O is as it comes, with one disk."""
    machine = aix().command("ioo -a", tunables()).command(LSDEV, "hdisk0\n")
    machine.failing(AIO, "lsattr: 0514-519 The following device was not found\n")
    return disk(machine, "hdisk0")


def mounted(machine, path, options):
    line = f"         /dev/datalv      {path}     jfs2   Jul 07 13:24 {options}\n"
    return machine.command("mount", PLAIN_MOUNTS + line)


def with_instance(machine, value, sid="ORCL"):
    """An instance of oratab whose next start takes this value."""
    entries = (("*", "filesystemio_options", value),) if value else ()
    machine.file(f"{HOME}/dbs/spfile{sid}.ora", io_packs.oracle_packs.spfile_text(entries))
    machine.file("/etc/oratab", machine.files.get("/etc/oratab", "") + f"{sid}:{HOME}:N\n")
    return machine.command(f"stat -L -c %U {HOME}/bin/sqlplus", "oracle\n")


@pytest.fixture
def judge(findings_by_rules):
    def judge_host(machine, **changes):
        findings = findings_by_rules(async_io, machine, io_packs.policy(**changes))
        return {check: some[-1] for check, some in findings.items()}

    return judge_host


def test_all_is_well(judge):
    findings = judge(host())
    statuses = {name: findings[name].status for name in ("aix_aio", "aix_cio", "aix_hdisks")}
    assert statuses == {"aix_aio": "pass", "aix_cio": "pass", "aix_hdisks": "pass"}
    assert findings["aix_aio"].running == "aio_active 1, aio_maxreqs 65536, aio_maxservers 30"
    assert {findings[name].status for name in findings if not name.startswith("aix_")} == {"skip"}


def test_on_linux_they_do_not_apply(judge):
    findings = judge(io_packs.story())
    assert findings["aix_aio"].status == findings["aix_hdisks"].status == "skip"


def test_too_few_requests(judge):
    finding = judge(host().command("ioo -a", tunables(aio_maxreqs="4096")))["aix_aio"]
    assert finding.status == "fail" and finding.commands == ("ioo -p -o aio_maxreqs=65536",)


def test_the_fast_path_is_off(judge):
    finding = judge(host().command("ioo -a", tunables(aio_fsfastpath="0")))["aix_aio"]
    assert finding.status == "fail" and "aio_fsfastpath is off" in finding.why
    assert finding.commands == ("ioo -p -o aio_fsfastpath=1",)


@cases(
    "autoconfig maxreqs status",
    ("available", "65536", "pass"),
    ("defined", "65536", "fail"),
    ("available", "4096", "fail"),
)
def test_before_6_1_it_is_a_device(judge, autoconfig, maxreqs, status):
    rows = f"autoconfig {autoconfig} STATE to be configured at system restart True\n"
    rows += f"maxreqs {maxreqs} Maximum number of REQUESTS True\n"
    rows += "maxservers 10 MAXIMUM number of servers per cpu True\n"
    machine = host().command("ioo -a", "j2_maxRandomWrite = 0\n").command(AIO, rows)
    finding = judge(machine)["aix_aio"]
    assert finding.status == status
    wanted = {"defined": "autoconfig=available", "available": "maxreqs=65536"}[autoconfig]
    assert finding.commands == ((f"chdev -P -l aio0 -a {wanted}",) if status == "fail" else ())


def test_neither_tells(judge):
    assert judge(host().command("ioo -a", "j2_maxRandomWrite = 0\n"))["aix_aio"].status == "error"


def test_who_is_not_root(judge):
    finding = judge(host().failing("ioo -a", "ioo: 1485-101 You must be root\n"))["aix_aio"]
    assert finding.status == "error" and "run it as root" in finding.why


def test_concurrent_io_twice(judge):
    machine = with_instance(mounted(host(), "/u02/oradata", "rw,cio,log=INLINE"), "setall")
    finding = judge(machine)["aix_cio"]
    assert "one filesystemio_options for all instances" in finding.desired
    assert finding.status == "warn"
    assert "/u02/oradata is mounted with cio, and ORCL opens its files so" in finding.why


@cases("value", "none", "asynch")
@cases("option", "cio", "dio")
def test_concurrent_io_by_the_mount_alone(judge, value, option):
    machine = with_instance(mounted(host(), "/u02/oradata", f"rw,{option}"), value)
    finding = judge(machine)["aix_cio"]
    assert finding.status == "warn"
    why = f"/u02/oradata is mounted with {option}, which forces it on every program"
    assert finding.why.startswith(why)


def test_a_home_on_such_a_mount(judge):
    finding = judge(with_instance(mounted(host(), "/u01", "rw,cio,log=INLINE"), "none"))["aix_cio"]
    assert finding.status == "fail" and "the home of ORCL is in /u01 (cio)" in finding.why


def test_one_opener_differs_from_none(judge):
    machine = with_instance(mounted(host(), "/u02/oradata", "rw,cio,log=INLINE"), "setall")
    assert "differs" not in judge(machine)["aix_cio"].why


def test_openers_that_differ(judge):
    finding = judge(with_instance(with_instance(host(), "setall"), "none", "TEST"))["aix_cio"]
    assert finding.status == "warn"
    assert "filesystemio_options differs: ORCL setall, TEST none" in finding.why


@cases(
    "changes why command",
    ({"depth": "2"}, "queue_depth is 2, and the policy requires 12", "queue_depth=12"),
    ({"algorithm": "fail_over"}, "one path at a time", "algorithm=shortest_queue"),
    ({"reserve": "single_path"}, "reserves the disk", "reserve_policy=no_reserve"),
)
def test_disks(judge, changes, why, command):
    finding = judge(disk(host(), "hdisk0", **changes))["aix_hdisks"]
    assert finding.status == "warn" and why in finding.why
    assert finding.commands == (f"chdev -P -l hdisk0 -a {command}",)


def test_a_disk_that_tells_nothing(judge):
    machine = host().command(LSDEV, "hdisk0\nhdisk1\n")
    machine.failing(DISK.format("hdisk1"), "lsattr: 0514-528 no such attribute\n", 255)
    finding = judge(machine)["aix_hdisks"]
    assert (finding.status, finding.title.partition(":")[0]) == ("error", "hdisk1")
