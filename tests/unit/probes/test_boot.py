"""What a reboot sets, told by where a setting stands."""

import packs
import pytest
from ansible.module_utils.hostproof.collect.answer import known
from ansible.module_utils.hostproof.controls.hugepages.probes import huge_page_pool
from ansible.module_utils.hostproof.controls.hugepages.probes import transparent_hugepages as thp
from ansible.module_utils.hostproof.errors import Absent, Denied, HostproofError
from ansible.module_utils.hostproof.probes.systemd import boot
from cases import cases
from packs import Machine

KEY = "vm.nr_hugepages"


def at_boot(machine: Machine, key: str = KEY) -> boot.SysctlAtBoot:
    return boot.sysctl_at_boot(boot.read_boot(machine), key)


def sets(machine: Machine, path: str, value: int) -> Machine:
    return machine.file(path, f"{KEY} = {value}\n")


class TestSysctl:
    def test_nothing_sets_it(self):
        assert at_boot(packs.linux()) == boot.SysctlAtBoot(None, [])

    def test_file_names_order_the_folders_do_not(self):
        machine = sets(packs.linux(), "/etc/sysctl.d/10-a.conf", 1)
        sets(machine, "/usr/lib/sysctl.d/90-c.conf", 3)
        sets(machine, "/usr/local/lib/sysctl.d/50-b.conf", 2)
        winner, losers = at_boot(machine)[:2]
        assert winner == ("3", "/usr/lib/sysctl.d/90-c.conf:1")
        own = "/usr/local/lib/sysctl.d/50-b.conf"
        assert losers == ["/etc/sysctl.d/10-a.conf:1 = 1", own + ":1 = 2"]

    def test_a_boot_finds_nothing_below_run(self):
        def runtime() -> Machine:
            return sets(packs.linux(), "/run/sysctl.d/50-b.conf", 2)

        assert at_boot(runtime()) == boot.SysctlAtBoot(None, [])
        masked = sets(runtime(), "/usr/lib/sysctl.d/50-b.conf", 3)
        assert at_boot(masked).winner == ("3", "/usr/lib/sysctl.d/50-b.conf:1")

    def test_lib_that_is_a_link_is_read_once(self):
        machine = sets(packs.linux(), "/usr/lib/sysctl.d/90-c.conf", 3)
        assert at_boot(machine).losers == []

    def test_lib_apart_from_usr_lib(self):
        machine = sets(packs.linux().remove("/lib"), "/lib/sysctl.d/90-c.conf", 3)
        winner = at_boot(machine).winner
        assert winner is not None
        assert winner.place == "/lib/sysctl.d/90-c.conf:1"

    def test_dangling_link_is_skipped_as_systemd_does(self):
        machine = packs.linux().link("/etc/sysctl.d/50-x.conf", "/nowhere")
        assert at_boot(machine).winner is None

    def test_link_to_dev_null_masks(self):
        machine = sets(packs.linux(), "/usr/lib/sysctl.d/50-x.conf", 5)
        machine.file("/dev/null", "").link("/etc/sysctl.d/50-x.conf", "/dev/null")
        assert at_boot(machine).winner is None

    def test_kernel_command_line_sets_sysctls_first(self):
        machine = packs.linux().file("/proc/cmdline", f"ro sysctl.{KEY}=4\n")
        assert at_boot(machine).winner == ("4", f"kernel command line sysctl.{KEY}")

    @cases("name", "sysctl.vm/nr_hugepages", "sysctl/vm.nr_hugepages")
    def test_the_kernel_takes_slashes_for_dots(self, name):
        machine = packs.linux().file("/proc/cmdline", f"ro {name}=4\n")
        assert at_boot(machine).winner == ("4", f"kernel command line {name}")

    def test_the_kernel_takes_the_last_spelling(self):
        text = "ro sysctl.vm/nr_hugepages=4 sysctl.vm.nr_hugepages=5 sysctl.vm.nr_hugepages\n"
        machine = packs.linux().file("/proc/cmdline", text)
        assert at_boot(machine).winner == ("5", f"kernel command line sysctl.{KEY}")

    def test_a_dash_is_no_underscore_in_the_name_of_a_sysctl(self):
        machine = packs.linux().file("/proc/cmdline", "ro sysctl.vm.nr-hugepages=4\n")
        assert at_boot(machine).winner is None

    def test_sysctl_files_come_after_the_kernel_command_line(self):
        machine = packs.linux().file("/proc/cmdline", f"ro sysctl.{KEY}=4\n")
        sets(machine, "/etc/sysctl.d/10-a.conf", 1)
        assert at_boot(machine).losers == [f"kernel command line sysctl.{KEY} = 4"]

    def test_unreadable_file_leaves_it_open(self):
        machine = sets(packs.linux(), "/etc/sysctl.d/10-a.conf", 1)
        with pytest.raises(Denied):
            at_boot(machine.deny("/etc/sysctl.d/10-a.conf"))

    def test_a_plain_line_of_rc_local_decides_and_comments_are_left_out(self):
        script = f"#!/bin/sh\n# echo 1 > /proc/sys/vm/nr_hugepages\nsysctl -w {KEY}=2\n"
        machine = sets(packs.linux(), "/etc/sysctl.d/10-a.conf", 1)
        machine.file("/etc/rc.local", script, mode=0o755)
        assert at_boot(machine)[:2] == (("2", "/etc/rc.local:3"), ["/etc/sysctl.d/10-a.conf:1 = 1"])

    def test_script_that_two_names_lead_to_is_read_once(self):
        machine = packs.linux().file("/etc/rc.d/rc.local", f"sysctl -w {KEY}=2\n", mode=0o755)
        machine.link("/etc/rc.local", "/etc/rc.d/rc.local")
        assert at_boot(machine).losers == []

    def test_plan_asks_what_a_file_would_change(self):
        machine = sets(packs.linux(), "/etc/sysctl.d/50-b.conf", 2)
        state = boot.read_boot(machine)
        before = boot.with_sysctl_file(state, "/etc/sysctl.d/10-a.conf", f"{KEY}=1\n")
        after = boot.with_sysctl_file(state, "/etc/sysctl.d/99-z.conf", f"{KEY}=9\n")
        assert boot.sysctl_at_boot(before, KEY).winner == ("2", "/etc/sysctl.d/50-b.conf:1")
        assert boot.sysctl_at_boot(after, KEY).winner == ("9", "/etc/sysctl.d/99-z.conf:1")


class TestTuned:
    def profile(self, machine: Machine, name: str, text: str) -> Machine:
        return machine.file(f"/usr/lib/tuned/{name}/tuned.conf", text)

    def test_including_profile_wins(self):
        machine = packs.linux().file("/etc/tuned/active_profile", "site\n")
        self.profile(machine, "site", f"[main]\ninclude=base\n[sysctl]\n{KEY}=2\n")
        self.profile(machine, "base", f"[sysctl]\n{KEY}=1\n")
        assert at_boot(machine).winner == ("2", "tuned profile /usr/lib/tuned/site/tuned.conf")

    def test_site_folder_comes_before_the_vendors(self):
        machine = packs.linux().file("/etc/tuned/active_profile", "site\n")
        self.profile(machine, "site", f"[sysctl]\n{KEY}=2\n")
        machine.file("/etc/tuned/site/tuned.conf", f"[sysctl]\n{KEY}=7\n")
        assert at_boot(machine).winner == ("7", "tuned profile /etc/tuned/site/tuned.conf")

    def test_profiles_that_include_each_other_end(self):
        machine = packs.linux().file("/etc/tuned/active_profile", "a\n")
        self.profile(machine, "a", "[main]\ninclude=b\n")
        self.profile(machine, "b", f"[main]\ninclude=a\n[sysctl]\n{KEY}=3\n")
        winner = at_boot(machine).winner
        assert winner is not None
        assert winner.value == "3"

    def test_of_several_active_profiles_the_last_wins(self):
        machine = packs.linux().file("/etc/tuned/active_profile", "a b\n")
        self.profile(machine, "a", f"[sysctl]\n{KEY}=1\n")
        self.profile(machine, "b", f"[sysctl]\n{KEY}=2\n")
        winner = at_boot(machine).winner
        assert winner is not None
        assert winner.value == "2"

    def test_lost_profile_is_told(self):
        machine = packs.linux().file("/etc/tuned/active_profile", "lost\n")
        with pytest.raises(Absent, match="tuned's active profile lost"):
            known(boot.read_boot(machine).tuned)


class TestPool:
    def at_boot(self, machine: Machine) -> huge_page_pool.PoolAtBoot:
        return huge_page_pool.pool_at_boot(boot.read_boot(machine), 2 << 20)

    def test_pages_of_another_size_do_not_count(self):
        machine = packs.linux().file("/proc/cmdline", "hugepagesz=1G hugepages=4\n")
        assert self.at_boot(machine)[:3] == (0, None, [])

    def test_counts_by_node_are_summed(self):
        machine = packs.linux().file("/proc/cmdline", "hugepages=0:512,1:512\n")
        assert self.at_boot(machine).pages == 1024

    def test_sysctl_comes_after(self):
        machine = sets(packs.linux(), "/etc/sysctl.d/a.conf", 5)
        machine.file("/proc/cmdline", "hugepages=9\n")
        assert self.at_boot(machine).text() == (
            "5 pages from /etc/sysctl.d/a.conf:1; not used: kernel command line hugepages=9"
        )

    @cases("value", "many", "", "\u00b2", "08194", "8194p", "-1")
    def test_what_the_kernel_refuses_leaves_the_pool_as_it_was(self, value):
        machine = packs.linux().file("/etc/sysctl.d/a.conf", f"{KEY}={value}\n")
        machine.file("/proc/cmdline", "hugepages=9\n")
        pool = self.at_boot(machine)
        assert (pool.pages, pool.place) == (9, "kernel command line hugepages=")
        assert "the kernel rejects it" in pool.refused[0]


class TestTransparent:
    def at_boot(self, machine: Machine) -> thp.ThpAtBoot:
        release = machine.files["/proc/sys/kernel/osrelease"].strip()
        return thp.at_boot(boot.read_boot(machine), thp.read_default(machine, release))

    def test_kernels_own_default(self):
        machine = packs.linux().remove("/etc/tmpfiles.d/thp.conf")
        winner = self.at_boot(machine).winner
        assert winner is not None
        assert winner.value == "always"
        assert "/boot/config-5.14.0" in winner.place

    def test_tuned_leaves_it_alone_where_the_command_line_says_it(self):
        machine = packs.linux().remove("/etc/tmpfiles.d/thp.conf")
        machine.file("/proc/cmdline", "transparent_hugepage=never\n")
        machine.file("/etc/tuned/active_profile", "fast\n")
        machine.file("/usr/lib/tuned/fast/tuned.conf", "[vm]\ntransparent_hugepages=always\n")
        winner = self.at_boot(machine).winner
        assert winner is not None
        assert winner.value == "never"

    def test_nothing_is_seen_where_the_kernels_config_is_not_kept(self):
        machine = packs.linux().remove(
            "/etc/tmpfiles.d/thp.conf", "/boot/config-5.14.0-503.11.1.el9_5.x86_64"
        )
        assert self.at_boot(machine)[:2] == (None, [])

    def test_kernel_config_that_is_none(self):
        machine = packs.linux().file("/boot/config-x", "no config\n")
        with pytest.raises(HostproofError):
            known(thp.read_default(machine, "x"))
