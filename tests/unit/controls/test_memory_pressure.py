"""Swap, /dev/shm and memory nodes as they are judged."""

import re

import memory_packs
import packs
import pytest
from ansible.module_utils.hostproof.collect.host import RecordedHost
from ansible.module_utils.hostproof.controls.memory_pressure.control import (
    CONTROL as memory_pressure,
)
from ansible.module_utils.hostproof.controls.memory_pressure.parsers import proc_swaps, vmstat
from ansible.module_utils.hostproof.controls.registry import planner
from ansible.module_utils.hostproof.errors import ParseError, PolicyError
from cases import cases
from default_policies import default_policy
from memory_packs import host, nodes, process, swap, swapping


@pytest.fixture
def judge(valid):
    return valid(memory_packs.judged)


class TestWhereItCounts:
    def test_without_oracle_everything_is_skipped(self, judge):
        machine = host().file("/etc/oratab", "")
        assert {finding.status for finding in judge(machine).values()} == {"skip"}
        assert judge(machine, profile="rac_asm")["swap_size"].status == "pass"
        assert judge(machine, swap="1G")["swap_size"].status == "pass"

    def test_not_a_linux_host(self, judge):
        findings = judge(host().remove("/proc/meminfo"))
        assert {finding.status for finding in findings.values()} == {"skip"}

    @cases("name", "swap_size", "swapped_processes", "dev_shm", "numa")
    def test_unmanaged_is_not_judged(self, judge, name):
        finding = judge(host(), skip_checks=[name])[name]
        assert (finding.status, "memory_pressure_skip_checks" in finding.why) == ("skip", True)

    def test_there_is_nothing_to_apply(self):
        policy = memory_pressure.policy_from(default_policy("memory_pressure"))
        plan = planner("memory_pressure")(memory_pressure.read(host(), policy), policy)
        assert (plan.changes, plan.refusals) == ([], [])

    @cases(
        "changes problem",
        ({"swap": "16 gigs"}, "is not a size"),
        ({"skip_checks": ["thp"]}, "'thp' must be one of"),
    )
    def test_a_bad_policy(self, changes, problem):
        with pytest.raises(PolicyError, match=problem):
            memory_pressure.policy_from({**default_policy("memory_pressure"), **changes})


def aliases(machine: packs.Machine, **folders: dict[str, str]) -> packs.Machine:
    """The links that udev makes, for example by_uuid={"1": "vda2"}."""
    for folder, links in folders.items():
        for name, device in links.items():
            path = f"/dev/disk/{folder.replace('_', '-')}/{name}"
            machine.link(path, f"/dev/{device}").file(f"/dev/{device}", "")
    return machine


DISK = "/dev/vda2 none swap sw 0 0\n"


class TestSwapSize:
    @cases(
        "memory wanted",
        (1, "1.5 GiB"),
        (2, "3.0 GiB"),
        (3, "3.0 GiB"),
        (16, "16.0 GiB"),
        (17, "16.0 GiB"),
        (512, "16.0 GiB"),
    )
    def test_by_memory(self, judge, memory, wanted):
        finding = judge(host().memory(MemTotal=memory << 20))["swap_size"]
        assert finding.desired.startswith(f"at least {wanted}:")

    def test_huge_pages_are_taken_off_first(self, judge):
        finding = judge(swap(host().pool(28 * 1024, 0), ("/dev/vda2", 8 << 20, 0)))["swap_size"]
        assert finding.desired == "at least 8.0 GiB: equal to 8.0 GiB memory without huge pages"
        assert finding.status == "pass"

    @cases("size status", (16609444, "pass"), (16609443, "warn"))
    def test_one_percent_less_is_enough(self, judge, size, status):
        assert judge(swap(host(), ("/dev/vda2", size, 0)))["swap_size"].status == status

    def test_the_sum_counts_without_what_is_in_memory(self, judge):
        half = 8 << 20
        machine = swap(host(), ("/dev/vda2", half, 0), ("/dev/vda3", half, 0))
        machine.file("/etc/fstab", "UUID=1 none swap sw 0 0\nUUID=2 none swap sw 0 0\n")
        aliases(machine, by_uuid={"1": "vda2", "2": "vda3"})
        assert judge(machine)["swap_size"].status == "pass"
        machine = swap(host(), ("/dev/vda2", half, 0), ("/dev/zram0", half, 0))
        finding = judge(machine)["swap_size"]
        assert finding.status == "warn"
        assert "/dev/zram0 8.0 GiB (partition, in memory)" in finding.running

    def test_a_condition_in_a_drop_in_of_the_swap_unit(self, judge):
        path = "/etc/systemd/system/dev-vda2.swap.d/a.conf"
        machine = host().file(path, "[Unit]\nConditionPathExists=/nowhere\n")
        assert judge(machine)["swap_size"].status == "warn"
        machine.evidence.clear()
        machine.file(path, "[Unit]\nConditionPathExists=/etc/fstab\n")
        assert judge(machine)["swap_size"].status == "pass"

    @cases(
        "lines cmdline status",
        ("", "ro", "warn"),
        ("/dev/vda2 none swap sw,noauto 0 0\n", "ro", "warn"),
        ("/dev/vda2 none swap sw 0 0\n", "ro", "pass"),
        ("UUID=1 none swap defaults 0 0\n", "ro", "pass"),
        ("/dev/mapper/vg-swap none swap defaults 0 0\n", "ro", "pass"),
        ("/swapfile none swap defaults 0 0\n", "ro", "warn"),
        ("/dev/zram0 none swap defaults 0 0\n", "ro", "warn"),
        ("/dev/vda2 none swap sw 0 0\n", "ro fstab=no", "warn"),
        ("/dev/vda2 none swap sw 0 0\n", "ro systemd.swap=0", "warn"),
        ("/dev/vda2 none swap sw 0 0\n", "ro systemd.mask=dev-vda2.swap", "warn"),
        ("UUID=1 none swap sw 0 0\n", "ro systemd.mask=swap.target", "warn"),
    )
    def test_lines_of_fstab_that_activate_it_at_boot(self, judge, lines, cmdline, status):
        machine = host().file("/etc/fstab", lines).file("/proc/cmdline", cmdline + "\n")
        aliases(machine, by_uuid={"1": "vda2"}).link("/dev/mapper/vg-swap", "/dev/vda2")
        assert judge(machine)["swap_size"].status == status

    @cases(
        "source status",
        ("/swap/./file", "pass"),
        ("//swap//file", "pass"),
        ("/link/file", "pass"),
        ("/swap/file2", "warn"),
    )
    def test_another_spelling_of_a_file(self, judge, source, status):
        machine = swap(host(), ("/swap/file", 17 << 20, 0)).file("/swap/file", "")
        machine.file("/etc/fstab", f"{source} none swap sw 0 0\n").link("/link", "/swap")
        assert judge(machine)["swap_size"].status == status

    @cases("name", "a b", "a\\b", "ä b")
    def test_a_file_with_escapes(self, judge, name):
        """The kernel writes them in octal (mm/swapfile.c, swap_show)."""
        escaped = f"/swap/{name}".replace("\\", "\\134").replace(" ", "\\040")
        machine = swap(host(), (escaped, 17 << 20, 0)).file(f"/swap/{name}", "")
        machine.file("/etc/fstab", f"{escaped} none swap sw 0 0\n")
        finding = judge(machine)["swap_size"]
        assert (finding.status, f"/swap/{name} " in finding.running) == ("pass", True)

    def test_an_area_that_was_activated_by_hand(self, judge):
        half = 8 << 20
        machine = swap(host(), ("/dev/vda2", half, 0), ("/swap", half, 0))
        machine.file("/etc/fstab", "UUID=1 none swap sw 0 0\n")
        aliases(machine, by_uuid={"1": "vda2"}, by_label={"b": "dm-1"})
        finding = judge(machine)["swap_size"]
        assert (finding.status, finding.failing_layer) == ("warn", "persisted")
        assert finding.why == "A reboot does not activate /swap."
        machine.file("/etc/fstab", "UUID=1 none swap sw 0 0\n/swap none swap sw 0 0\n")
        machine.evidence.clear()
        assert judge(machine)["swap_size"].status == "pass"
        machine.file("/etc/fstab", "UUID=1 none swap sw 0 0\nLABEL=b none swap sw 0 0\n")
        machine.evidence.clear()
        assert judge(machine)["swap_size"].status == "warn"

    @cases(
        "source status",
        ("UUID=1", "pass"),
        ("UUID=2", "warn"),
        ("UUID=3", "warn"),
        ('LABEL="a b"', "pass"),
    )
    def test_the_area_of_an_alias(self, judge, source, status):
        """UUID=3 is that of a disk that no longer exists, UUID=2 that of the small area."""
        machine = swap(host(), ("/dev/vda2", 17 << 20, 0), ("/dev/vda3", 1 << 20, 0))
        machine.file("/etc/fstab", f"{source} none swap sw 0 0\n".replace("a b", "a\\040b"))
        aliases(machine, by_uuid={"1": "vda2", "2": "vda3"}, by_label={"a\\x20b": "vda2"})
        finding = judge(machine)["swap_size"]
        assert finding.status == status
        assert ("/dev/disk/by-uuid/3 does not exist" in (finding.why or "")) == (source == "UUID=3")

    @cases(
        "settings unit status",
        ("Format=y\nEnableSwap=y\nSwapSizeMB=17408", "waagent", "pass"),
        (' Format=Y\nEnableSwap = "y" # x\nSwapSizeMB=20000', "walinuxagent", "pass"),
        ("Format=n\nEnableSwap=y\nSwapSizeMB=17408", "waagent", "warn"),
        ("Format=y\nEnableSwap=n\nSwapSizeMB=17408", "waagent", "warn"),
        ("Format=y\n#EnableSwap=y\nSwapSizeMB=17408", "waagent", "warn"),
        ("Format=y\nEnableSwap=y\nSwapSizeMB=17408", None, "warn"),
        # It removes a file of another size, and makes one of 0 by default.
        ("Format=y\nEnableSwap=y\nSwapSizeMB=0", "waagent", "warn"),
        ("Format=y\nEnableSwap=y", "waagent", "warn"),
        ("Format=y\nEnableSwap=y\nSwapSizeMB=2048", "waagent", "warn"),
        (None, "waagent", "warn"),
    )
    def test_the_swap_file_of_the_agent_of_azure(self, judge, settings, unit, status):
        path = "/mnt/resource/swapfile"
        machine = swap(host(), (path, 17 << 20, 0)).file("/etc/fstab", "").file(path, "")
        machine.file("/usr/lib/systemd/system/multi-user.target", "")
        if settings is not None:
            machine.file("/etc/waagent.conf", re.sub(r"(?m)^(\W*)", r"\1ResourceDisk.", settings))
        if unit:
            place = f"/usr/lib/systemd/system/{unit}.service"
            machine.file(place, "[Install]\nWantedBy=multi-user.target\n")
            folder = "/etc/systemd/system/multi-user.target.wants"
            machine.link(f"{folder}/{unit}.service", place)
        assert judge(machine)["swap_size"].status == status

    def test_a_partition_that_the_generator_for_gpt_activates(self, judge):
        machine = host().file("/etc/fstab", "")
        assert judge(machine)["swap_size"].status == "warn"
        machine.evidence.clear()
        machine.file("/run/systemd/generator.late/dev-vda2.swap", "[Swap]\nWhat=/dev/vda2\n")
        assert judge(machine)["swap_size"].status == "pass"

    @cases("lines status", ("", "error"), ("/dev/vda2 x swap\n", "pass"))
    def test_an_alias_of_an_unknown_device(self, judge, lines, status):
        machine = host().file("/etc/fstab", "UUID=1 none swap sw 0 0\n" + lines)
        machine.refused["link:/dev/disk/by-uuid/1"] = "denied"
        finding = judge(machine)["swap_size"]
        assert finding.status == status
        assert status == "pass" or "a reboot may not activate /dev/vda2" in finding.why

    def test_a_masked_unit_of_a_line(self, judge):
        machine = host().file("/etc/fstab", "UUID=a-1 none swap sw 0 0\n").file("/dev/null", "")
        unit = r"dev-disk-by\x2duuid-a\x2d1.swap"
        machine.link(f"/etc/systemd/system/{unit}", "/dev/null")
        finding = judge(machine)["swap_size"]
        assert (finding.status, finding.persisted) == ("warn", "nothing")
        assert f"{unit} is masked by /etc/systemd/system/{unit}" in finding.why

    def test_units(self, judge):
        """A unit needs a link in swap.target.wants. Generators make theirs at each boot."""
        folder = "/etc/systemd/system"
        machine = host().file("/etc/fstab", "").file(f"{folder}/dev-vda2.swap", "[Swap]\n")
        machine.file("/usr/lib/systemd/system/swap.target", "[Unit]\n")
        assert judge(machine)["swap_size"].status == "warn"
        machine.file(f"{folder}/swap.target.wants/dev-vda2.swap", "[Swap]\n")
        machine.evidence.clear()
        assert judge(machine)["swap_size"].status == "pass"
        machine = host().file("/etc/fstab", "")
        machine.file("/run/systemd/generator.late/dev-vda2.swap", "[Swap]\n")
        assert judge(machine)["swap_size"].status == "pass"
        machine = host().file("/etc/fstab", "")
        machine.file("/run/systemd/generator/dev-zram0.swap", "[Swap]\n")
        assert judge(machine)["swap_size"].status == "warn"

    @cases(
        "line lines status",
        ("swapoff -a", "/dev/vda2 none swap sw 0 0\n", "error"),
        ("sleep 9; /sbin/swapoff -a &", "/dev/vda2 none swap sw 0 0\n", "error"),
        ("/opt/off.sh", "/dev/vda2 none swap sw 0 0\n", "error"),
        ("# swapoff -a", "/dev/vda2 none swap sw 0 0\n", "pass"),
        ("swapoff /dev/zram0", "/dev/vda2 none swap sw 0 0\n", "pass"),
        ("swapon /dev/vda2", "", "error"),
        ("[ -e /dev/vda2 ] && swapon /dev/vda2", "", "error"),
        ("swapon /dev/vda2", "/dev/vda2 none swap sw 0 0\n", "pass"),
        ("# swapon /dev/vda2", "", "warn"),
    )
    def test_what_rc_local_does(self, judge, line, lines, status):
        machine = host().file("/etc/fstab", lines)
        machine.file("/opt/off.sh", "#!/bin/sh\nswapoff -a\n", mode=0o755)
        machine.file("/etc/rc.local", f"#!/bin/sh\n{line}\n", mode=0o755)
        finding = judge(machine)["swap_size"]
        assert finding.status == status
        recorded = judge(RecordedHost(machine.evidence))["swap_size"]
        assert (recorded.status, recorded.why) == (finding.status, finding.why)
        if status == "error":
            assert re.search(r"(/etc/rc.local|/opt/off.sh):2", finding.why)
            machine.evidence.clear()
            machine.file("/etc/rc.local", f"#!/bin/sh\n{line}\n", mode=0o644)
            assert judge(machine)["swap_size"].status == ("pass" if lines else "warn")

    def test_too_little_now_is_known_whatever_rc_local_does(self, judge):
        machine = swap(host(), ("/dev/vda2", 4 << 20, 0))
        machine.file("/etc/rc.local", "#!/bin/sh\nswapoff -a\n", mode=0o755)
        finding = judge(machine)["swap_size"]
        assert (finding.status, finding.persisted) == ("warn", "unknown")
        assert finding.why.startswith("4.0 GiB is less than 16.0 GiB. Not known: after reboot: ")
        assert "/etc/rc.local:2 may deactivate swap at boot" in finding.why
        machine.deny("/etc/fstab")
        machine.evidence.clear()
        assert judge(machine)["swap_size"].status == "warn"

    @cases(
        "path line lines status",
        ("/etc/systemd/system/x.service", "ExecStart=/sbin/swapoff -a", DISK, "error"),
        ("/etc/systemd/system/x.service", "ExecStart=/opt/off.sh", DISK, "error"),
        ("/etc/systemd/system/x.service", "ExecStop=/sbin/swapoff -a", DISK, "pass"),
        ("/etc/systemd/system/off.service", "ExecStart=/sbin/swapoff -a", DISK, "pass"),
        ("/etc/systemd/system/x.service", "ExecStart=/sbin/swapon /dev/vda2", "", "error"),
        ("/etc/systemd/system/off.service", "ExecStart=/sbin/swapon /dev/vda2", "", "warn"),
        ("/etc/systemd/system/x.service", "ExecStart=systemctl stop swap.target", DISK, "error"),
        ("/etc/rc.local", "systemctl stop dev-vda2.swap", DISK, "error"),
        ("/etc/rc.local", "systemctl stop dev-zram0.swap", DISK, "pass"),
        ("/etc/rc.local", "systemctl start swap.target", DISK, "pass"),
        ("/etc/cron.d/x", "@reboot root /sbin/swapoff -a", DISK, "error"),
        ("/var/spool/cron/root", "@reboot sleep 60; swapoff -a", DISK, "error"),
        ("/var/spool/cron/oracle", "@reboot swapoff -a", DISK, "pass"),
        ("/etc/cron.d/x", "0 3 * * 0 root swapoff -a && swapon -a", DISK, "pass"),
        ("/etc/cron.d/x", "#@reboot root swapoff -a", DISK, "pass"),
    )
    def test_what_units_and_cron_do(self, judge, path, line, lines, status):
        machine = host().file("/etc/fstab", lines).file(path, f"[Service]\n{line}\n", 0o755)
        machine.file("/opt/off.sh", "#!/bin/sh\nswapoff -a\n", mode=0o755)
        machine.command("systemctl is-enabled x.service", "enabled\n")
        machine.command("systemctl is-enabled off.service", "disabled\n", 1)
        finding = judge(machine)["swap_size"]
        assert finding.status == status
        assert status != "error" or re.search(f"({path}|/opt/off.sh):2", finding.why)
        recorded = judge(RecordedHost(machine.evidence))["swap_size"]
        assert (recorded.status, recorded.why) == (finding.status, finding.why)

    def test_rc_local_that_may_not_be_read(self, judge):
        machine = host().file("/etc/rc.local", "", mode=0o755).deny("/etc/rc.local")
        assert judge(machine)["swap_size"].status == "error"

    def test_a_recording_of_an_earlier_release_without_rc_local(self, judge):
        machine = host()
        judge(machine)
        del machine.evidence["lines:swap"]
        finding = judge(RecordedHost(machine.evidence, "0.2.0"))["swap_size"]
        assert finding.status == "pass"
        assert "Not recorded by Hostproof 0.2.0, counted as absent: lines:swap." in finding.why

    def test_no_swap_and_the_policy_wants_none_but_a_little(self, judge):
        finding = judge(swap(host()), swap="1G")["swap_size"]
        assert (finding.status, finding.running) == ("warn", "no swap")

    def test_areas_that_may_not_be_read(self, judge):
        assert judge(host().deny("/proc/swaps"))["swap_size"].status == "error"


class TestAmounts:
    @cases(
        "kilobytes profile status",
        # 8127440 kB is what CVU 23.26.1 passed for Grid Infrastructure.
        (8127440, "oracle_26ai_rac", "pass"),
        (7969178, "rac_asm", "pass"),
        (7969177, "rac_asm", "fail"),
        (3734396, "oracle_19c_single", "pass"),
        (996148, "oracle_19c_single", "pass"),
        (996147, "oracle_19c_single", "fail"),
    )
    def test_the_minimum_by_purpose(self, judge, kilobytes, profile, status):
        finding = judge(host().memory(MemTotal=kilobytes), profile=profile)["physical"]
        assert finding.status == status

    def test_an_installed_grid_home_needs_the_same(self, judge):
        machine = host().file("/etc/oraInst.loc", "inventory_loc=/u01/inv\n")
        home = '<HOME NAME="G" LOC="/u01/grid" TYPE="O" IDX="1" CRS="true"/>'
        text = f"<INVENTORY><HOME_LIST>{home}</HOME_LIST></INVENTORY>"
        machine.file("/u01/inv/ContentsXML/inventory.xml", text).memory(MemTotal=4 << 20)
        finding = judge(machine)["physical"]
        assert finding.status == "fail" and "Grid Infrastructure needs 8.0 GiB" in finding.why

    def test_homes_that_may_not_be_read(self, judge):
        finding = judge(host().deny("/etc/oratab"), profile="oracle_19c_single")["physical"]
        assert finding.status == "error"

    @cases(
        "total kilobytes status",
        (100 << 20, 3 << 20, "pass"),
        (100 << 20, (3 << 20) - 1, "warn"),
        (100 << 20, 51199, "fail"),
        (1 << 20, 51200, "pass"),
    )
    def test_what_is_available(self, judge, total, kilobytes, status):
        machine = host().memory(MemTotal=total, MemAvailable=kilobytes)
        assert judge(machine)["available"].status == status

    def test_a_kernel_without_that_row(self, judge):
        machine = host()
        lines = machine.files["/proc/meminfo"].splitlines(keepends=True)
        text = "".join(line for line in lines if not line.startswith("MemAvailable"))
        assert judge(machine.file("/proc/meminfo", text))["available"].status == "error"


class TestSwapUsed:
    @cases(
        "kilobytes read written status",
        (0, 0, 0, "pass"),
        (4, 0, 0, "warn"),
        (0, 1, 0, "warn"),
        (0, 0, 1, "warn"),
        (4, 1, 0, "fail"),
        (4, 0, 1, "fail"),
    )
    def test_who_and_how_fast(self, judge, kilobytes, read, written, status):
        machine = process(swapping(host(), read, written), "ora_lgwr_A", 11, kilobytes)
        assert judge(machine)["swapped_processes"].status == status

    def test_it_tells_the_numbers(self, judge):
        for name in ("ora_dbw0_A", "ora_bw36_A", "ora_ckpt_A", "asm_lms0_+ASM1", "ora_lg01_A"):
            machine = process(swapping(host(), 25, 5), name, 11, 2048)
            finding = judge(machine)["swapped_processes"]
            assert (finding.status, name in finding.in_use) == ("fail", True)
        machine = process(swapping(host(), 25, 5), "/u01/bin/tnslsnr", 11, 2048)
        finding = judge(swap(machine, ("/dev/vda2", 16 << 20, 3 << 20)))["swapped_processes"]
        assert "tnslsnr LISTENER 2.0 MiB" in finding.in_use
        assert (
            "3.0 GiB of 16.0 GiB swap in use, 64.0 GiB memory without huge pages" in finding.in_use
        )
        assert finding.running == "2.5 pages per second from swap, 0.5 to it"

    def test_without_a_window_only_the_processes_count(self, judge):
        machine = process(swapping(host(), 25, 5), "ora_pmon_A", 11, 0)
        finding = judge(machine, window_seconds=0)["swapped_processes"]
        assert (finding.status, "not measured" in finding.running) == ("pass", True)

    def test_a_process_that_may_not_be_seen(self, judge):
        machine = process(host(), "ora_pmon_A", 11, 0).deny("/proc/11/status")
        assert judge(machine)["swapped_processes"].status == "error"

    def test_a_kernel_that_does_not_count(self, judge):
        machine = host().sampled("swapping", "file:/proc/vmstat", "nr_free 1\n")
        assert judge(machine)["swapped_processes"].status == "error"

    def test_counters_that_cannot_be_read(self, judge):
        machine = host()
        del machine.samples["swapping"]["file:/proc/vmstat"]
        finding = judge(machine)["swapped_processes"]
        assert finding.status == "error" and "KeyError" not in finding.why


def with_amm(sid="A", target=20 * packs.GIB, largest=0):
    machine = host().account("oracle", 54321, "oinstall").instance(sid)
    running = {"memory_target": str(target), "memory_max_target": str(largest)}
    return machine.parameters(sid, running, ("*", "memory_target", str(target)))


class TestSharedMemory:
    def mount(self, machine, options, more=""):
        text = f"25 24 0:23 / /dev/shm rw,nosuid{more} - tmpfs tmpfs rw{options}\n"
        return machine.file("/proc/self/mountinfo", text)

    def test_no_instance_has_memory_target(self, judge):
        assert judge(host())["dev_shm"].status == "skip"
        assert judge(with_amm(target=0))["dev_shm"].status == "skip"
        assert judge(with_amm(), query_instances=False)["dev_shm"].status == "skip"

    def test_half_of_memory_by_default(self, judge):
        finding = judge(with_amm())["dev_shm"]
        assert (finding.status, finding.running) == ("pass", "32.0 GiB")
        assert finding.values["running"] == 32 * packs.GIB
        assert judge(with_amm(target=33 * packs.GIB))["dev_shm"].status == "fail"

    def test_the_largest_of_all_counts(self, judge):
        finding = judge(with_amm(largest=33 * packs.GIB))["dev_shm"]
        assert finding.status == "fail" and finding.in_use == "A 33.0 GiB"

    @cases(
        "options status",
        (",size=20971520k", "pass"),
        (",size=20971519k", "fail"),
        (",size=20G", "pass"),
        (",size=31%", "fail"),
        (",size=32%", "pass"),
        (",size=0", "pass"),
        (",size=many", "error"),
    )
    def test_its_size_now(self, judge, options, status):
        assert judge(self.mount(with_amm(), options))["dev_shm"].status == status

    @cases(
        "size text",
        ("21474836480", "20.0 GiB"),
        ("2048k", "2.0 MiB"),
        ("2048K", "2.0 MiB"),
        ("2048m", "2.0 GiB"),
        ("3g", "3.0 GiB"),
        ("3t", "3.0 TiB"),
        ("50%", "32.0 GiB"),
    )
    def test_each_unit_of_its_size(self, judge, size, text):
        assert judge(self.mount(with_amm(), f",size={size}"))["dev_shm"].running == text

    @cases(
        "line status",
        ("tmpfs /dev/shm tmpfs defaults,size=20g 0 0\n", "pass"),
        ("tmpfs /dev/shm tmpfs defaults,size=19g 0 0\n", "fail"),
        ("tmpfs /dev/shm tmpfs defaults 0 0\n", "pass"),
    )
    def test_its_size_after_the_boot(self, judge, line, status):
        assert judge(with_amm().file("/etc/fstab", line))["dev_shm"].status == status

    def test_noexec(self, judge):
        finding = judge(self.mount(with_amm(), "", ",noexec"))["dev_shm"]
        assert (finding.status, "noexec" in finding.why) == ("fail", True)
        # The size is right, so nothing sets it.
        assert finding.commands == ("mount -o remount,exec /dev/shm",)

    def test_noexec_after_the_boot(self, judge):
        line = "tmpfs /dev/shm tmpfs noexec,size=20g 0 0\n"
        finding = judge(with_amm().file("/etc/fstab", line))["dev_shm"]
        assert (finding.status, finding.failing_layer) == ("fail", "persisted")
        assert finding.fix == "remove noexec at /etc/fstab:1"

    def test_no_mount_at_all(self, judge):
        machine = with_amm().file("/proc/self/mountinfo", "1 0 8:1 / / rw - ext4 /dev/vda rw\n")
        finding = judge(machine)["dev_shm"]
        assert (finding.status, finding.commands) == ("fail", ("mount /dev/shm",))

    def test_an_instance_that_does_not_answer(self, judge):
        machine = with_amm().command("sqlplus A: release and parameters", "", 1)
        assert judge(machine)["dev_shm"].status == "error"


class TestNuma:
    @cases(
        "sizes status",
        (((32, 16), (32, 16)), "pass"),
        (((32, 0.31), (32, 16)), "warn"),
        (((32, 0.33), (32, 16)), "pass"),
        # The whole host is short of memory: that is no matter of nodes.
        (((32, 0.1), (32, 6)), "pass"),
    )
    def test_a_node_that_is_used_up(self, judge, sizes, status):
        assert judge(nodes(host(), *sizes))["numa"].status == status

    def test_page_cache_counts_as_free(self, judge):
        machine = nodes(host(), (32, 0.1), (32, 16))
        path = "/sys/devices/system/node/node0/meminfo"
        text = machine.files[path].replace(
            "Inactive(file):              0", "Inactive(file): 999999"
        )
        assert text != machine.files[path]
        assert judge(machine.file(path, text))["numa"].status == "pass"

    def test_one_node(self, judge):
        finding = judge(host().file("/proc/cmdline", "ro numa=off\n"))["numa"]
        assert (finding.status, "numa=off" in finding.why) == ("skip", True)

    def test_a_node_without_memory_is_none(self, judge):
        assert judge(nodes(host(), (64, 30), (0, 0)))["numa"].status == "skip"

    def test_a_node_that_tells_nothing(self, judge):
        finding = judge(host().file("/sys/devices/system/node/node1/meminfo", ""))["numa"]
        assert finding.status == "error"
        assert "/sys/devices/system/node/node1/meminfo tells no memory" in finding.why


@cases("text", "", "x\n", memory_packs.HEADER + "/dev/a partition x 0 -2\n")
def test_what_is_no_list_of_areas(text):
    with pytest.raises(ParseError):
        proc_swaps.parse(text)


@cases("text", "pswpin\n", "pswpin x\n", "\n")
def test_what_is_no_counter(text):
    with pytest.raises(ParseError):
        vmstat.parse(text)
