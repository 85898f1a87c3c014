"""The RPC slot tables: what the kernel has, and what a reboot gives them."""

import pytest
from ansible.module_utils.hostproof.controls.nfs_mounts.probes import rpc_slots
from ansible.module_utils.hostproof.controls.nfs_mounts.probes.rpc_slots import ENTRIES, MAXIMUM
from ansible.module_utils.hostproof.errors import Absent, Denied, Unanswered
from ansible.module_utils.hostproof.parsers.kernel import modprobe_d
from cases import cases
from packs import Machine

ETC = "/etc/modprobe.d"
LIB = "/usr/lib/modprobe.d"
#: In the form in which nfs-utils ships them.
NFS_UTILS = "install sunrpc /sbin/modprobe --ignore-install sunrpc && /sbin/sysctl -q --system\n"
UDEV = (
    'ACTION=="add", SUBSYSTEM=="module", KERNEL=="sunrpc", \\\n'
    '  RUN+="/sbin/sysctl -q --pattern ^sunrpc --system"\n'
)


def host(cmdline: str = "ro quiet") -> Machine:
    machine = Machine().folder("/run/systemd/system").file("/proc/cmdline", cmdline + "\n")
    return machine.file(f"{LIB}/50-other.conf", "options sunrpc udp_slot_table_entries=7\n")


def boot(machine, name=ENTRIES):
    """The value after a reboot and its place, and what loses."""
    outcome = rpc_slots.at_boot(rpc_slots.read_slots(machine), name)
    return outcome.winner and tuple(outcome.winner), outcome.losers


def test_what_the_kernel_has():
    machine = host().file("/proc/sys/sunrpc/tcp_slot_table_entries", "2\n")
    machine.file("/proc/sys/sunrpc/tcp_max_slot_table_entries", "65536\n")
    assert rpc_slots.read_slots(machine).running == {ENTRIES: 2, MAXIMUM: 65536}


def test_a_module_that_is_not_loaded():
    running = rpc_slots.read_slots(host()).running
    assert all(isinstance(running[name], Absent) for name in rpc_slots.NAMES)


def test_nothing_set():
    assert boot(host()) == (None, [])


def test_modprobe_d():
    machine = host().file(f"{ETC}/a.conf", f"# x\noptions sunrpc {ENTRIES}=16 {MAXIMUM}=64\n")
    machine.file(f"{ETC}/sunrpc.conf", f"options sunrpc {ENTRIES}=128\n")
    machine.file(f"{LIB}/sunrpc.conf", f"options sunrpc {ENTRIES}=1\n")
    assert boot(machine) == (("128", f"{ETC}/sunrpc.conf:1"), [f"{ETC}/a.conf:2 = 16"])
    assert boot(machine, MAXIMUM) == (("64", f"{ETC}/a.conf:2"), [])


def test_the_kernel_command_line_beats_modprobe_d():
    machine = host(f"ro sunrpc.{ENTRIES}=32").file(
        f"{ETC}/a.conf", f"options sunrpc {ENTRIES}=16\n"
    )
    assert boot(machine) == (
        ("32", f"kernel command line sunrpc.{ENTRIES}"),
        [f"{ETC}/a.conf:1 = 16"],
    )


@cases(
    "path text",
    (f"{LIB}/50-nfs.conf", NFS_UTILS),
    ("/usr/lib/udev/rules.d/60-nfs.rules", UDEV),
    ("/etc/modules-load.d/nfs.conf", "# x\nsunrpc\n"),
)
def test_sysctl_d_counts_where_something_applies_it(path, text):
    machine = host(f"sunrpc.{ENTRIES}=32").file(
        "/etc/sysctl.d/90-nfs.conf", f"sunrpc.{ENTRIES} = 128\n"
    )
    assert boot(machine) == (
        ("32", f"kernel command line sunrpc.{ENTRIES}"),
        ["/etc/sysctl.d/90-nfs.conf:1 = 128 (nothing applies it once sunrpc is loaded)"],
    )
    machine.file(path, text).evidence.clear()
    assert boot(machine) == (
        ("128", "/etc/sysctl.d/90-nfs.conf:1"),
        [f"kernel command line sunrpc.{ENTRIES} = 32"],
    )
    assert rpc_slots.read_slots(machine).sysctl_applied_by.startswith(path)


@cases(
    "path text",
    (f"{LIB}/50-nfs.conf", "install nfs /sbin/modprobe -i nfs && /sbin/sysctl --system\n"),
    (f"{LIB}/50-nfs.conf", "install sunrpc /bin/true\n"),
    ("/usr/lib/udev/rules.d/60-nfs.rules", UDEV.replace("sunrpc", "lockd")),
    ("/usr/lib/udev/rules.d/60-nfs.rules", "#" + UDEV),
    ("/usr/lib/udev/rules.d/60-nfs.rules.rpmsave", UDEV),
)
def test_what_does_not_apply_it(path, text):
    assert rpc_slots.read_slots(host().file(path, text)).sysctl_applied_by is None


def test_a_rule_that_is_masked_does_not_apply_it():
    machine = host().file("/usr/lib/udev/rules.d/60-nfs.rules", UDEV)
    machine.file("/etc/udev/rules.d/60-nfs.rules", "")
    assert rpc_slots.read_slots(machine).sysctl_applied_by is None


@cases("service", "systemd-modules-load.service", "systemd-sysctl.service")
@cases("by_kernel", False, True)
def test_modules_load_d_needs_both_services(service, by_kernel):
    """Without the first, nothing loads the module; without the second, sysctl.d is not applied."""
    machine = host(f"systemd.mask={service}" if by_kernel else "ro quiet")
    machine.file("/etc/modules-load.d/nfs.conf", "sunrpc\n")
    for name in ("sysinit.target", "systemd-modules-load.service", "systemd-sysctl.service"):
        machine.file(f"/usr/lib/systemd/system/{name}", "[Unit]\n")
        machine.file(f"/usr/lib/systemd/system/sysinit.target.wants/{name}", "[Unit]\n")
    if by_kernel:
        assert rpc_slots.read_slots(machine).sysctl_applied_by is None
        return
    assert rpc_slots.read_slots(machine).sysctl_applied_by == "/etc/modules-load.d/nfs.conf:1"
    machine.file(f"/etc/systemd/system/{service}", "")
    machine.evidence.clear()
    assert rpc_slots.read_slots(machine).sysctl_applied_by is None


def test_procps_reads_sysctl_conf_too():
    machine = host().file(f"{LIB}/50-nfs.conf", NFS_UTILS)
    machine.file("/etc/sysctl.conf", f"sunrpc.{ENTRIES} = 64\n")
    machine.file("/etc/sysctl.d/90-nfs.conf", f"sunrpc.{ENTRIES} = 128\n")
    assert boot(machine) == (("64", "/etc/sysctl.conf:1"), ["/etc/sysctl.d/90-nfs.conf:1 = 128"])


def test_whether_rc_local_comes_after_the_module_is_not_known():
    machine = host().file(f"{ETC}/a.conf", f"options sunrpc {ENTRIES}=16\n")
    machine.file("/etc/rc.local", f"#!/bin/sh\nsysctl -w sunrpc.{ENTRIES}=9\n", 0o755)
    with pytest.raises(Unanswered, match=r"/etc/rc\.local:2 may set sunrpc\.tcp_slot"):
        boot(machine)
    assert boot(machine, MAXIMUM) == (None, [])
    machine.file("/etc/rc.local", f"#!/bin/sh\nsysctl -w sunrpc.{ENTRIES}=16\n", 0o755)
    machine.evidence.clear()
    assert boot(machine) == (("16", f"{ETC}/a.conf:1"), [])


@cases("value", "08", "1", "65537", "128K", "+0x", "many")
def test_a_parameter_with_which_the_module_is_not_loaded(value):
    """kstrtouint and param_set_uint_minmax of Linux: one that is refused stops the module."""
    machine = host().file(f"{ETC}/a.conf", f"options sunrpc {ENTRIES}={value}\n")
    with pytest.raises(Unanswered, match="does not load sunrpc"):
        boot(machine)


@cases("value slots", ("0x80", "128"), ("0200", "128"), ("+64", "64"))
def test_a_parameter_is_read_as_the_kernel_does(value, slots):
    machine = host().file(f"{ETC}/a.conf", f"options sunrpc {ENTRIES}={value}\n")
    assert boot(machine)[0] == (slots, f"{ETC}/a.conf:1")


def test_a_line_of_sysctl_d_that_the_kernel_refuses_changes_nothing():
    machine = host().file(f"{ETC}/a.conf", f"options sunrpc {ENTRIES}=16\n")
    machine.file("/etc/modules-load.d/nfs.conf", "sunrpc\n")
    machine.file("/etc/sysctl.d/90-nfs.conf", f"sunrpc.{ENTRIES} = 0128\n")
    winner, losers = boot(machine)
    assert winner == ("16", f"{ETC}/a.conf:1")
    assert "the kernel rejects it: a leading 0 makes it octal" in losers[0]


def test_a_plan_asks_what_its_file_would_do():
    machine = host().file(f"{ETC}/zzz.conf", f"options sunrpc {ENTRIES}=16\n")
    machine.file(f"{LIB}/own.conf", f"options sunrpc {ENTRIES}=1\n")
    slots = rpc_slots.read_slots(machine)
    changed = rpc_slots.with_modprobe_file(
        slots, f"{ETC}/own.conf", f"options sunrpc {ENTRIES}=128 {MAXIMUM}=128\n"
    )
    outcome = rpc_slots.at_boot(changed, ENTRIES)
    assert (outcome.winner, outcome.losers) == (
        ("16", f"{ETC}/zzz.conf:1"),
        [f"{ETC}/own.conf:1 = 128"],
    )
    assert rpc_slots.at_boot(changed, MAXIMUM).winner == ("128", f"{ETC}/own.conf:1")


@cases(
    "path",
    ETC,
    f"{LIB}/50-other.conf",
    "/proc/cmdline",
    "/etc/sysctl.d",
    "/usr/lib/udev/rules.d",
    "/etc/modules-load.d",
    "/etc/rc.local",
)
def test_what_may_not_be_read_is_unknown(path):
    with pytest.raises(Denied):
        boot(host().deny(path))


def test_every_folder_of_modprobe_d_is_read():
    for folder in modprobe_d.DIRECTORIES:
        machine = host().file(f"{folder}/x.conf", f"options sunrpc {ENTRIES}=5\n")
        read = None if folder.startswith("/run/") else ("5", f"{folder}/x.conf:1")
        assert boot(machine)[0] == read


@cases(
    "path line",
    ("/etc/tmpfiles.d/a.conf", f"w /proc/sys/sunrpc/{MAXIMUM} - - - - 65536"),
    ("/etc/tmpfiles.d/a.conf", f"w /sys/module/sunrpc/parameters/{MAXIMUM} - - - - 65536"),
    ("/etc/rc.local", f"echo 65536 > /sys/module/sunrpc/parameters/{MAXIMUM}"),
)
def test_files_that_are_written_once_the_module_is_loaded(path, line):
    machine = host().file("/etc/modprobe.d/a.conf", f"options sunrpc {MAXIMUM}=128\n")
    machine.file(path, f"#!/bin/sh\n{line}\n", mode=0o755)
    with pytest.raises(Unanswered, match=path):
        rpc_slots.at_boot(rpc_slots.read_slots(machine), MAXIMUM)
    machine.evidence.clear()
    machine.file(path, f"#!/bin/sh\n{line}\n".replace("65536", "128"), mode=0o755)
    at_boot = rpc_slots.at_boot(rpc_slots.read_slots(machine), MAXIMUM)
    assert at_boot.winner == ("128", "/etc/modprobe.d/a.conf:1")
