"""Asynchronous I/O on a kernel of its own: its limit, ways to write, a filer that is silent.

Instances are stand-ins (tests/standins/instance.py) whose contexts, flags and writes are real. The
story stands beside that of NFS and leaves the machine as it found it.
"""

import pytest
from lab_machine import LOGIN, LabMachine
from machines.machine import TOOLS

LIMIT = "/proc/sys/fs/aio-max-nr"
USED = "/proc/sys/fs/aio-nr"
ROOM = "/etc/sysctl.d/98-aio.conf"
FOLDER = "/var/tmp/oradata"
MOUNT = "/mnt/async"
ALERT_LOG = "/var/tmp/alert_LABA.log"
#: The kernel says that a server is silent after timeo (tenths of a second), repeated once.
OPTIONS = "vers=3,tcp,hard,timeo=20,retrans=1"
#: Seconds that the cable is out.
OUTAGE = 60
POLICY = {
    "async_io_query_instances": False,
    "async_io_instances": [{"sid": "LABA", "alert_log": ALERT_LOG}],
}
#: The worst and the best; all eight are told apart in tests/unit/probes/test_io_writers.py.
WAYS = {
    "": ("warn", "fail", "fail"),
    "--context 16": ("pass", "pass", "pass"),
}


class AsyncLab(LabMachine):
    control = "async_io"

    def start(self, process: str, arguments: str = "", sid: str = "LABA") -> None:
        self.start_stand_in(sid, f"--process {process} {arguments}", login=LOGIN)

    def number(self, path: str) -> int:
        return int(self.run(f"cat {path}"))


@pytest.fixture(scope="module")
def machine(nfs):
    """The machine with the monitor of LABA, and its own limit again afterwards."""
    lab = AsyncLab()
    limit = lab.number(LIMIT)
    lab.run(f"install -d -o oracle {FOLDER} && install -o oracle /dev/null {ALERT_LOG}")
    lab.start("pmon")
    yield lab
    lab.stop_instance("LABA")
    lab.run(f"sysctl -qw fs.aio-max-nr={limit}; rm -rf {FOLDER} {ALERT_LOG}")


@pytest.mark.parametrize("contexts", WAYS)
def test_how_it_writes_is_judged_by_proc_alone(machine, contexts):
    flags = "direct+dsync" if contexts else ""
    machine.start("dbw0", f"--hold {flags}:{FOLDER}/users01.dbf {contexts}")
    machine.start("lgwr", f"--hold {flags}:{FOLDER}/redo01.log {contexts}")
    statuses = machine.verify(**POLICY).statuses()
    machine.run("pkill -f '^ora_(dbw0|lgwr)_LABA '")
    names = ("contexts", "direct_files", "durable_files")
    assert tuple(statuses[f"LABA async_io.{name}"] for name in names) == WAYS[contexts]


def test_the_seventeenth_context_is_foretold(machine):
    """16 of 4096 fill what the kernel comes with."""
    machine.run("sysctl -qw fs.aio-max-nr=65536")
    used = machine.number(USED)
    with machine.own_python():
        verified = machine.verify(**POLICY)
    foretold = verified.finding("async_io.aio_usage")["values"]["contexts_left"]
    assert foretold == (65536 - used) // 4096
    machine.start("p000", f"--context 4096 {'--context 4096 ' * (foretold - 1)}")
    assert machine.number(USED) == used + foretold * 4096
    finding = machine.verify(**POLICY).finding("async_io.aio_usage")
    assert (finding["status"], finding["values"]["contexts_left"]) == ("fail", 0)
    assert f"instance LABA {foretold} contexts" in finding["in_use"]
    refused = machine.run(
        f"{LOGIN} '{TOOLS}/instance.py --sid LABB --process p001 --context 4096' 2>&1 || true"
    )
    assert "io_setup: Resource temporarily unavailable (errno 11)" in refused
    machine.run("pkill -f '^ora_p000_LABA '")


def test_apply_leaves_the_limit_to_kernel_parameters(machine):
    before = machine.files()
    assert machine.apply(**POLICY).changed == 0
    assert machine.number(LIMIT) == 65536
    assert machine.files() == before
    machine.run(f"echo fs.aio-max-nr=1048576 > {ROOM} && sysctl -qp {ROOM}")
    verified = machine.verify(**POLICY).statuses()
    assert verified["async_io.aio_max_nr"] == verified["async_io.aio_usage"] == "pass"
    machine.run(f"rm {ROOM} && sysctl -qw fs.aio-max-nr=65536")
    assert machine.files() == before


def test_a_silent_filer_is_one_finding(machine, nfs):
    """The cable is out for a minute while DBWR writes: start, length, mount and process.

    When the server answers again is TCP's to decide, and may be later than the look.
    """
    nfs.start_filers()
    machine.run(f"mkdir -p {MOUNT} && mount -t nfs -o {OPTIONS} filer:/vol/oradata {MOUNT}")
    machine.run(f"install -d -m 1777 {MOUNT}/async")
    hold = f"--hold direct+dsync:{MOUNT}/async/users01.dbf --write-and-tell {ALERT_LOG}"
    machine.start("dbw0", f"{hold} --context 16")
    machine.start("lgwr", f"--hold direct+dsync:{FOLDER}/redo01.log --context 16")
    machine.run(f"ip link set san0 down; sleep {OUTAGE}; ip link set san0 up")
    verified = machine.verify(**POLICY)
    machine.run(
        "for i in $(seq 480); do dmesg | grep -q 'nfs: server filer OK' && break; sleep 0.5; done; "
        "pkill -f '^ora_(dbw0|lgwr)_LABA '; sleep 1"
    )
    machine.run(f"rm -r {MOUNT}/async; umount {MOUNT} && rmdir {MOUNT}")
    (silent,) = [
        finding
        for finding in verified.findings
        if finding["check"] == "async_io.nfs_not_responding"
    ]
    assert silent["status"] == "fail"
    assert f"({MOUNT}) was silent from 20" in silent["why"]
    assert "dbw0 of LABA (pid" in silent["why"]
    assert OUTAGE / 2 < silent["values"]["longest_seconds"] < 6 * OUTAGE
