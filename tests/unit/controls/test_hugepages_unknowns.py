"""What cannot be read is never a pass: every reading of a host, taken away or spoilt in turn."""

import functools
from collections.abc import Callable
from typing import Any

import packs
import pytest
from ansible.module_utils.hostproof.collect.host import RecordedHost
from ansible.module_utils.hostproof.controls.hugepages.control import CONTROL as hugepages
from ansible.module_utils.hostproof.evaluate import audit
from ansible.module_utils.hostproof.evaluate.finding import ERROR, PASS, SKIP, Finding
from cases import cases
from packs import GIB, MIB, Machine, Shm
from spoilers import Reading, better_for_less, summary, sure_of_nothing

LISTED = [{"sid": "ORCL", "sga": "16G", "version": "19"}]


def sick_host() -> Machine:
    """Nearly everything is wrong here, and every reading of it matters."""
    machine = packs.database_host().stop_instances()
    machine.file("/proc/sys/kernel/osrelease", "6.12.0-1.el10.x86_64\n")
    machine.file("/boot/config-6.12.0-1.el10.x86_64", "CONFIG_TRANSPARENT_HUGEPAGE_ALWAYS=y\n")
    machine.file(packs.THP_FILE, "[always] madvise never\n").remove("/etc/tmpfiles.d/thp.conf")
    machine.instance("ORCL", Shm(16 * GIB, False), pid=77, memlock=64 * 1024, groups=(54322,))
    machine.instance("OTHER", Shm(80 * GIB, False), pid=78, memlock=64 * 1024, groups=(54322,))
    machine.pool(30000, 30000).nodes(30000, 0)
    machine.memory(PageTables=4 * MIB).file("/proc/sys/vm/hugetlb_shm_group", "7\n")
    machine.file("/proc/sys/vm/nr_overcommit_hugepages", "64\n")
    machine.file(packs.SYSCTL_FILE, "vm.nr_hugepages = 30000\n")
    machine.file("/usr/lib/sysctl.d/10-vendor.conf", "vm.nr_hugepages = 10\n")
    machine.file(packs.LIMITS_FILE, "oracle - memlock 64\n")
    return machine.file("/dev/shm/ora_ORCL_0_0", "")


def host_without_systemd() -> Machine:
    """Its /etc/sysctl.conf counts, and asks for more than the host can spare."""
    machine = packs.linux().remove("/run/systemd/system", "/etc/sysctl.d/99-sysctl.conf")
    return machine.file("/etc/sysctl.conf", "vm.nr_hugepages = 30000\n")


def greedy_at_boot() -> Machine:
    return packs.linux().pool(512, 512).file("/proc/cmdline", "root=/dev/sda1 hugepages=30000\n")


def raised() -> Machine:
    """Its next start takes four times what runs, and there are huge pages of another size."""
    machine = packs.database_host().memory(Hugetlb=(16 + 40) * MIB)
    machine.file("/proc/cmdline", "hugepagesz=1G hugepages=40\n")
    running = {"sga_max_size": str(16 * GIB), "sga_target": str(16 * GIB)}
    return machine.parameters("ORCL", running, ("*", "sga_target", "64G"))


HOSTS: dict[str, tuple[Callable[[], Machine], dict[str, Any]]] = {
    "healthy": (packs.database_host, {}),
    "healthy, listed": (packs.database_host, {"instances": LISTED}),
    "sick, listed": (sick_host, {"instances": LISTED}),
    "without systemd": (host_without_systemd, {}),
    "greedy at boot": (greedy_at_boot, {}),
    "raised, listed": (raised, {"instances": LISTED}),
}


def judge(host: RecordedHost, **policy: Any) -> dict[str, list[Finding]]:
    """Without the check the schema, which the other tests take: this runs thousands of times."""
    findings: dict[str, list[Finding]] = {}
    for finding in audit.judge_host(host, {"hugepages": packs.hugepages_policy(**policy)}):
        findings.setdefault(finding.check.removeprefix("hugepages."), []).append(finding)
    return findings


def recording(host: str) -> dict[str, Reading]:
    machine, policy = HOSTS[host]
    target = machine()
    judge(target, **policy)
    return target.evidence


#: Their readers skip what they do not understand, and an empty one is legal: another host then.
LENIENT = ("file:/etc/", "file:/usr/lib/", "file:/proc/cmdline")


def test_sick_host_is_sick_in_every_check():
    machine, policy = HOSTS["sick, listed"]
    statuses = summary(judge(machine(), **policy))
    # The pool cannot be too small and too large at once.
    found = {check for check, status in statuses.items() if status == PASS}
    assert found == {"page_size", "pool_not_wasted"}


def test_healthy_host_passes_every_check():
    machine, policy = HOSTS["healthy"]
    statuses = summary(judge(machine(), **policy))
    # It is about hosts without an instance.
    assert statuses.pop("reserved") == SKIP and set(statuses.values()) == {PASS}


#: The others of HOSTS are read and judged in the same ways.
DIFFERENT = (
    "healthy, listed",
    "sick, listed",
    "without systemd",
    "greedy at boot",
    "raised, listed",
)


@cases("turn host", *enumerate(DIFFERENT))
def test_no_check_gets_better_by_knowing_less(turn, host):
    _machine, policy = HOSTS[host]
    judged = functools.partial(judge, **policy)
    assert set(judged(RecordedHost({}))) == {
        check.id.removeprefix("hugepages.") for check in hugepages.checks
    }
    assert not better_for_less(judged, recording(host), turn, LENIENT)


#: Cited for what a finding shows beside its verdict, which does not rest on it.
SHOWN_BESIDE = {
    ("page_size", "file:/proc/cmdline"),
    ("transparent_hugepages", "file:/proc/meminfo"),
    ("page_table_cost", "file:/proc/sysvipc/shm"),
}


def test_finding_that_cites_a_silent_reading_is_no_pass():
    _machine, policy = HOSTS["healthy, listed"]
    judged = functools.partial(judge, **policy)
    assert sure_of_nothing(judged, recording("healthy, listed"), LENIENT) <= SHOWN_BESIDE


def test_no_evidence_is_no_answer():
    statuses = summary(judge(RecordedHost({})))
    assert statuses == {check.id.removeprefix("hugepages."): ERROR for check in hugepages.checks}


#: A line of /proc/meminfo to what stands there instead; None takes it away.
ABSURD_MEMINFO = [
    *(("MemTotal", text) for text in (None, "0 kB", "1 kB", "-1 kB", "x kB", "9" * 30 + " kB")),
    *(("Hugepagesize", text) for text in (None, "0 kB", "1 kB", "2047 kB", "-2048 kB", "9" * 30)),
    *(("HugePages_Total", text) for text in (None, "-1", "9" * 30, "1.5", "9" * 5000)),
    *(("HugePages_Free", text) for text in (None, "9" * 30, "")),
]


@cases("host", "healthy", "sick, listed")
@pytest.mark.parametrize(("row", "text"), ABSURD_MEMINFO, ids=lambda value: str(value)[:12])
def test_absurd_memory_is_an_error_and_never_a_pass(host, row, text):
    machine, policy = HOSTS[host]
    target = machine()
    before = summary(judge(target, **policy))
    lines = [
        line for line in target.files["/proc/meminfo"].splitlines() if not line.startswith(row)
    ]
    lines += [] if text is None else [f"{row}:  {text}"]
    target = machine().file("/proc/meminfo", "\n".join(lines) + "\n")
    after = summary(judge(target, **policy))
    assert "judged" not in after and after["pool_covers_sga"] == ERROR
    # What rests on another reading may be as it was; nothing becomes a pass.
    assert all(before[name] == PASS for name in after if after[name] == PASS)
