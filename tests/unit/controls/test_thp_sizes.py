"""Transparent huge pages by size (Linux 6.8): a size can be on while the mode above it is not."""

import packs
import pytest
from cases import cases
from packs import Machine, hugepages_policy

FOLDER = "/sys/kernel/mm/transparent_hugepage"
SIZE = f"{FOLDER}/hugepages-2048kB/enabled"


@pytest.fixture
def judge(findings_of):
    def judged(machine: Machine):
        [finding] = findings_of("hugepages", machine, hugepages_policy())["transparent_hugepages"]
        return finding

    return judged


def host(mode: str = "inherit", cmdline: str = "ro quiet") -> Machine:
    modes = ["always", "inherit", "madvise", "never"]
    text = " ".join(f"[{name}]" if name == mode else name for name in modes) + "\n"
    machine = packs.database_host().file("/proc/cmdline", cmdline + "\n")
    machine.file(packs.THP_FILE, "always madvise [never]\n")
    machine.file("/etc/tmpfiles.d/thp.conf", f"w {packs.THP_FILE} - - - - never\n")
    return machine.file(SIZE, text)


def test_sizes_that_inherit(judge):
    assert judge(host()).status == "pass"


def test_a_size_of_the_page_cache_has_no_mode(judge):
    machine = host().file(f"{FOLDER}/hugepages-8kB/shmem_enabled", "always [never]\n")
    assert judge(machine).status == "pass"


def test_a_size_that_is_on_now(judge):
    finding = judge(host("always"))
    assert (finding.status, finding.failing_layer) == ("fail", "running")
    assert "hugepages-2048kB" in finding.why


@cases(
    "value status",
    ("2M:always", "fail"),
    ("64K-4M:always", "fail"),
    ("16K,2048K:always;64K:never", "fail"),
    ("2M:always;1M-2M:inherit", "pass"),
    ("2m:always", "fail"),
    ("2097152:always", "fail"),
    ("0x200000:always", "fail"),
    ("0X800k:always", "fail"),
    ("64K:always", "pass"),
    ("0x2:always", "pass"),
    ("2T:always", "pass"),
    ("always", "pass"),
)
def test_a_size_that_the_kernel_command_line_sets(judge, value, status):
    assert judge(host(cmdline=f"ro thp_anon={value}")).status == status


def test_the_kernel_takes_a_hyphen_for_an_underscore(judge):
    assert judge(host(cmdline="ro thp-anon=2M:always")).status == "fail"


def test_a_size_that_tmpfiles_sets(judge):
    finding = judge(host().file("/etc/tmpfiles.d/size.conf", f"w {SIZE} - - - - always\n"))
    assert (finding.status, finding.failing_layer) == ("fail", "persisted")
    assert "/etc/tmpfiles.d/size.conf:1" in finding.why


def test_a_size_that_may_not_be_read(judge):
    assert judge(host().deny(SIZE)).status == "error"
