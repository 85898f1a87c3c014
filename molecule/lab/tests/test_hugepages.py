"""The story of HugePages on a machine of its own: every test goes on where the one before it ended.

LAB1 and LAB2 are stand-ins of instances (tests/standins/instance.py) whose segments are real.
The policy is inventories/lab/group_vars/lab/hugepages.yml. The first apply makes its changes by a
reboot, which also shows that they last; the second one makes them at once and leaves the same
files. tests/run_lab --short leaves out the steps marked ``long``, the reboot among them.
"""

import re

import pytest
from lab_machine import changed
from machines import vm

#: 256M and 128M in pages of 2M, and 4 more for each instance.
POOL = 132 + 68

#: The files that an apply writes.
SYSCTL = "/etc/sysctl.d/99-zz-hostproof-hugepages.conf"
LIMITS = "/etc/security/limits.d/zz-hostproof-hugepages.conf"
TMPFILES = "/etc/tmpfiles.d/hostproof-hugepages.conf"

#: Far more than the machine has.
BEYOND_MEMORY = [{"sid": "LAB1", "sga": "16G"}]

#: Less than its 3 GiB, and more than it can give.
TOO_LARGE = [{"sid": "LAB1", "sga": "2800M"}]

#: The variables that take each risk which a guard would refuse.
EVERY_RISK = {
    "hugepages_allow_over_memory_limit": True,
    "hugepages_allow_low_memory": True,
    "hugepages_allow_compaction": True,
}


@pytest.fixture(scope="session")
def untouched(lab):
    """What the machine looked like before Hostproof changed anything."""
    return {"files": lab.files(), "values": lab.values()}


@pytest.fixture(scope="session")
def by_reboot():
    """The files that apply left where it made its changes by a reboot."""
    return {}


def test_the_machine_is_as_its_administrator_left_it(lab, untouched):
    assert untouched["values"] == {
        "pool": "16",
        "group": "0",
        "transparent": "[always] madvise never",
    }
    assert len(untouched["files"]) > 200


def test_verify_says_what_is_missing(lab, untouched):
    verified = lab.verify()
    assert verified.statuses()["hugepages.pool_covers_sga"] == "fail"
    assert verified.statuses()["hugepages.pool_persisted"] == "fail"
    assert verified.statuses()["hugepages.shm_group"] == "fail"
    assert verified.statuses()["hugepages.transparent_hugepages"] == "fail"
    assert verified.statuses()["oracle hugepages.memlock_persisted"] == "fail"


@pytest.mark.long
def test_check_mode_shows_the_plan_and_changes_nothing(lab, untouched):
    planned = lab.play("apply", "--check", "--diff")
    assert planned.rc == 0
    assert f"+vm.nr_hugepages = {POOL}" in planned.output
    assert "-oracle soft memlock 64" in planned.output
    assert re.search(rf"/proc/sys/vm/nr_hugepages\n@@ .* @@\n-16\n\+{POOL}\n", planned.output)
    assert lab.values() == untouched["values"]
    assert lab.files() == untouched["files"]


@pytest.mark.long
def test_apply_waits_for_a_reboot_and_reboots_only_where_it_may(lab, untouched, by_reboot):
    waiting = lab.apply(hugepages_activation="reboot")
    assert '"reboot_pending": true' in waiting.output
    assert lab.values() == untouched["values"]
    before = vm.boot_id()
    allowed = lab.play("apply", hugepages_activation="reboot", hugepages_allow_reboot=True)
    vm.forget_connection()
    assert allowed.rc == 0
    assert vm.boot_id() != before
    assert lab.values()["pool"] == str(POOL)
    assert lab.values()["transparent"] == "always madvise [never]"
    by_reboot.update(lab.files())


@pytest.mark.long
def test_everything_passes_after_that_reboot(lab):
    lab.start("LAB1", "256M", "huge")
    lab.start("LAB2", "128M", "huge")
    verified = lab.verify()
    assert verified.worse_than_pass() == {}
    assert verified.statuses()["LAB2 hugepages.sga_in_huge_pages"] == "pass"


@pytest.mark.long
def test_revert_puts_everything_back_also_after_the_reboot(lab, untouched):
    lab.stop_instance("LAB1")
    lab.stop_instance("LAB2")
    reverted = lab.play("revert", "--diff")
    assert (reverted.rc, reverted.changed) == (0, 1)
    assert lab.files() == untouched["files"]
    assert lab.values() == untouched["values"]


@pytest.mark.long
def test_a_second_revert_finds_nothing_to_put_back(lab, untouched):
    again = lab.revert()
    assert (again.rc, again.changed) == (0, 0)
    assert lab.files() == untouched["files"]


def test_apply_makes_the_pool(lab, host, by_reboot):
    applied = lab.play("apply")
    assert (applied.rc, applied.changed) == (0, 1)
    assert host.sysctl("vm.nr_hugepages") == POOL
    assert host.sysctl("vm.hugetlb_shm_group") == 54321
    assert host.file("/sys/kernel/mm/transparent_hugepage/enabled").contains(r"\[never\]")
    limits = host.file(LIMITS)
    assert (limits.mode, limits.group) == (0o640, "oinstall")
    assert host.file("/var/lib/hostproof/journal").mode == 0o700
    # Its files are those that lasted through the reboot of the other way, if that step ran.
    if by_reboot:
        assert lab.files() == by_reboot


def test_an_sga_in_small_pages_fails_and_one_in_huge_pages_passes(lab):
    lab.start("LAB1", "256M", "huge")
    lab.start("LAB2", "128M", "4k")
    verified = lab.verify()
    assert verified.statuses()["LAB1 hugepages.sga_in_huge_pages"] == "pass"
    assert verified.worse_than_pass() == {"LAB2 hugepages.sga_in_huge_pages": "fail"}
    finding = verified.finding("LAB2 hugepages.sga_in_huge_pages")
    assert finding["in_use"] == "0 bytes huge, 134217728 bytes in 4 KiB pages"


@pytest.mark.long
def test_everything_passes_after_its_restart_with_huge_pages(lab):
    lab.stop_instance("LAB2")
    lab.start("LAB2", "128M", "huge")
    verified = lab.verify()
    assert verified.worse_than_pass() == {}
    assert verified.statuses()["LAB1 hugepages.sga_in_huge_pages"] == "pass"
    assert verified.statuses()["LAB2 hugepages.sga_in_huge_pages"] == "pass"
    assert verified.statuses()["LAB1 hugepages.memlock_in_force"] == "pass"
    assert verified.statuses()["hugepages.numa_split"] == "pass"
    assert verified.statuses()["hugepages.pool_not_wasted"] == "pass"


@pytest.mark.long
def test_a_second_apply_changes_nothing(lab):
    before = (lab.files(), lab.values(), lab.run("find /var/lib/hostproof | sort"))
    again = lab.play("apply", "--diff")
    assert (again.rc, again.changed) == (0, 0)
    assert "+++" not in again.output
    assert (lab.files(), lab.values(), lab.run("find /var/lib/hostproof | sort")) == before


def test_revert_puts_back_what_apply_did_at_once(lab, untouched):
    lab.stop_instance("LAB1")
    lab.stop_instance("LAB2")
    reverted = lab.revert()
    assert (reverted.rc, reverted.changed) == (0, 1)
    assert lab.files() == untouched["files"]
    assert lab.values() == untouched["values"]


@pytest.mark.long
def test_a_plan_that_would_hurt_the_host_is_refused_with_its_numbers(lab, untouched):
    refused = lab.apply(hugepages_instances=TOO_LARGE)
    assert refused.rc == 2
    output = " ".join(refused.output.split())
    assert "1404 pages (2.7 GiB) are more than 70 percent" in output
    assert "hugepages_allow_over_memory_limit: true" in output
    only_the_pool_is_as_it_was(lab, untouched)


@pytest.mark.long
def test_more_than_the_machine_has_is_refused_whatever_is_accepted(lab, untouched):
    refused = lab.apply(hugepages_instances=BEYOND_MEMORY, **EVERY_RISK)
    assert refused.rc == 2
    assert "8196 pages (16.0 GiB) do not fit into" in " ".join(refused.output.split())
    only_the_pool_is_as_it_was(lab, untouched)


def only_the_pool_is_as_it_was(lab, untouched):
    """A rejected pool does not block the group, the limits and transparent huge pages."""
    assert lab.values() == {
        "pool": untouched["values"]["pool"],
        "group": "54321",
        "transparent": "always madvise [never]",
    }
    assert changed(untouched["files"], lab.files()) == {SYSCTL, LIMITS, TMPFILES}
    settings = lab.run(f"grep -hv '^#' {SYSCTL}").split("\n")
    assert settings == ["vm.hugetlb_shm_group = 54321", ""]
    lab.revert()
    assert lab.files() == untouched["files"]
    assert lab.values() == untouched["values"]


def test_a_short_grant_is_put_back_and_told(lab, untouched):
    result = lab.apply(hugepages_instances=TOO_LARGE, **EVERY_RISK)
    assert result.rc == 2
    output = " ".join(result.output.split())
    assert re.search(
        r"requested 1404, the kernel granted \d{3,4}; the old state is restored", output
    )
    assert lab.values() == untouched["values"]
    assert lab.files() == untouched["files"]
