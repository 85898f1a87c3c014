"""A setting counts only if the next boot starts the service that applies it."""

import packs
import pytest
from ansible.module_utils.hostproof.controls.hugepages.probes import transparent_hugepages as thp
from ansible.module_utils.hostproof.errors import HostproofError, Unanswered
from ansible.module_utils.hostproof.probes.systemd import boot
from cases import cases
from packs import UNITS, Machine

KEY = "vm.swappiness"
FILE = "/etc/sysctl.d/90-a.conf"
SYSCTL, TMPFILES = "systemd-sysctl.service", "systemd-tmpfiles-setup.service"
OWN = "/etc/systemd/system"


def host(cmdline: str = "ro quiet") -> Machine:
    machine = packs.linux().file(FILE, f"{KEY} = 1\n").file("/dev/null", "")
    return machine.file("/proc/cmdline", cmdline + "\n")


def at_boot(machine: Machine) -> boot.SysctlAtBoot:
    return boot.sysctl_at_boot(boot.read_boot(machine), KEY)


def thp_at_boot(machine: Machine) -> thp.ThpAtBoot:
    return thp.at_boot(boot.read_boot(machine), None)


def masked(machine: Machine, name: str) -> Machine:
    return machine.link(f"{OWN}/{name}", "/dev/null")


class TestSysctl:
    def test_a_file_counts_where_the_service_starts(self):
        assert at_boot(host())[:2] == (("1", f"{FILE}:1"), [])

    def test_a_masked_service_applies_nothing(self):
        outcome = at_boot(masked(host(), SYSCTL))
        reason = f"{SYSCTL} is masked by {OWN}/{SYSCTL}"
        assert outcome.winner is None
        assert outcome.losers == [f"{FILE}:1 = 1 (not applied at boot: {reason})"]

    def test_an_empty_unit_file_masks(self):
        assert at_boot(host().file(f"{OWN}/{SYSCTL}", "")).winner is None

    @cases("name", "systemd-sysctl", SYSCTL)
    def test_the_kernel_command_line_masks(self, name):
        outcome = at_boot(host(f"ro systemd.mask={name}"))
        assert outcome.winner is None
        assert "masked by the kernel command line" in outcome.losers[0]

    def test_the_command_line_masks_another_service(self):
        assert at_boot(host("ro systemd.mask=kdump systemd.mask")).winner is not None

    def test_a_mask_of_this_run_does_not_survive_the_boot(self):
        machine = host().link(f"/run/systemd/system/{SYSCTL}", "/dev/null")
        assert at_boot(machine).winner is not None

    def test_without_its_link_no_target_starts_it(self):
        outcome = at_boot(host().remove(f"{UNITS}/sysinit.target.wants/{SYSCTL}"))
        assert outcome.winner is None
        assert "sysinit.target does not start" in outcome.losers[0]

    def test_without_systemd_no_service_is_needed(self):
        machine = host().remove("/run/systemd/system")
        for name in (SYSCTL, TMPFILES):
            machine.remove(f"{UNITS}/{name}", f"{UNITS}/sysinit.target.wants/{name}")
        assert at_boot(machine).winner is not None

    def test_units_of_packages_are_no_systemd(self):
        machine = host().remove("/run/systemd/system").file(f"{UNITS}/cron.service", "[Unit]\n")
        for name in (SYSCTL, TMPFILES):
            machine.remove(f"{UNITS}/{name}", f"{UNITS}/sysinit.target.wants/{name}")
        assert at_boot(machine).winner is not None

    def test_systemd_without_the_service_applies_nothing(self):
        machine = host().file(f"{UNITS}/sysinit.target", "[Unit]\n")
        machine.remove(f"{UNITS}/{SYSCTL}", f"{UNITS}/sysinit.target.wants/{SYSCTL}")
        assert at_boot(machine).losers == [
            f"{FILE}:1 = 1 (not applied at boot: no directory of systemd holds {SYSCTL})"
        ]

    def test_a_condition_that_does_not_hold_keeps_it_from_its_start(self):
        drop_in = f"{OWN}/{SYSCTL}.d/a.conf"
        machine = host().file(drop_in, "[Unit]\nConditionKernelCommandLine=tuning\n")
        assert at_boot(machine).winner is None
        machine = host("ro tuning").file(drop_in, "[Unit]\nConditionKernelCommandLine=tuning\n")
        assert at_boot(machine).winner is not None

    def test_an_unknown_condition_leaves_it_open(self):
        drop_in = f"{OWN}/{SYSCTL}.d/a.conf"
        outcome = at_boot(host().file(drop_in, "[Unit]\nConditionVirtualization=no\n"))
        with pytest.raises(Unanswered, match=f"{drop_in}:2 ConditionVirtualization=no"):
            outcome.settled()

    def test_another_command_leaves_it_open(self):
        drop_in = f"{OWN}/{SYSCTL}.d/a.conf"
        text = "[Service]\nExecStart=\nExecStart=/bin/true\n"
        with pytest.raises(Unanswered, match="changes what .* runs"):
            at_boot(host().file(drop_in, text)).settled()

    def test_unreadable_units_leave_it_open(self):
        outcome = at_boot(host().deny(OWN).folder(OWN))
        assert outcome.winner is not None
        with pytest.raises(HostproofError):
            outcome.settled()

    def test_what_no_file_sets_needs_no_service(self):
        machine = host().remove(FILE).deny(OWN).folder(OWN)
        at_boot(machine).settled()

    def test_a_file_is_not_written_where_nothing_applies_it(self):
        outcome = at_boot(masked(host(), SYSCTL))
        reason = boot.why_it_loses(outcome, FILE, KEY, "x_file")
        assert "would not be applied at boot" in reason


class TestTmpfiles:
    def test_a_masked_service_writes_nothing(self):
        assert thp_at_boot(host()).winner == ("never", "/etc/tmpfiles.d/thp.conf:1")
        outcome = thp_at_boot(masked(host(), TMPFILES))
        assert outcome.winner is None
        assert "not applied at boot" in outcome.losers[0]

    def test_a_masked_service_writes_no_sysctl(self):
        text = "w /proc/sys/vm/swappiness - - - - 7\n"
        machine = host().file("/etc/tmpfiles.d/a.conf", text)
        assert at_boot(machine).winner == ("7", "/etc/tmpfiles.d/a.conf:1")
        machine = masked(host().file("/etc/tmpfiles.d/a.conf", text), TMPFILES)
        assert at_boot(machine).winner == ("1", f"{FILE}:1")
