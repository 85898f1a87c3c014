"""A mount that fstab or a unit names needs more than that at the next boot."""

import pytest
from ansible.module_utils.hostproof.errors import HostproofError, Unanswered
from ansible.module_utils.hostproof.parsers.nfs.nfs_options import LINUX
from ansible.module_utils.hostproof.probes.nfs import nfs_persisted
from cases import cases
from packs import UNITS, Machine

OWN = "/etc/systemd/system"
GENERATOR = "/run/systemd/generator"
LINE = "filer:/vol/a /u01 nfs {0} 0 0\n"


def host(options: str = "vers=3,hard", cmdline: str = "ro quiet") -> Machine:
    machine = Machine().folder("/run/systemd/system").file("/dev/null", "")
    machine.file("/etc/fstab", LINE.format(options)).file("/proc/cmdline", cmdline + "\n")
    for name in ("remote-fs.target", "rpc-statd.service", "rpcbind.service", "rpcbind.socket"):
        machine.file(f"{UNITS}/{name}", "[Unit]\nDescription=X\n")
    return machine.link(f"{OWN}/multi-user.target.wants/remote-fs.target", f"{UNITS}/x")


def masked(machine: Machine, *names: str) -> Machine:
    for name in names:
        machine.link(f"{OWN}/{name}", "/dev/null")
    return machine


def why_not(machine: Machine) -> str:
    """Why the boot does not mount /u01; "" where it does."""
    persisted = nfs_persisted.read_persisted(machine, LINUX)
    return nfs_persisted.of_path(persisted, "/u01")[0].why_not_at_boot


def unit(machine: Machine, target: str, more: str = "") -> Machine:
    text = f"[Unit]\n{more}\n[Mount]\nWhat=filer:/vol/a\nWhere=/u01\nType=nfs\n"
    machine.file("/etc/fstab", "").file(f"{OWN}/u01.mount", text)
    return machine.link(f"{OWN}/{target}.wants/u01.mount", f"{OWN}/u01.mount")


def test_a_line_of_fstab_is_mounted():
    assert why_not(host()) == ""


@cases("value", "no", "0", "off", "FALSE")
def test_fstab_no_on_the_kernel_command_line(value):
    assert why_not(host(cmdline=f"ro fstab=1 fstab={value}")).startswith(f"fstab={value} on")


def test_fstab_yes_and_an_earlier_no():
    assert why_not(host(cmdline="ro fstab=no fstab=yes")) == ""


def test_a_unit_needs_no_fstab():
    assert why_not(unit(host(cmdline="fstab=no"), "multi-user.target")) == ""


def test_a_masked_target_mounts_nothing():
    assert "remote-fs.target is masked" in why_not(masked(host(), "remote-fs.target"))
    assert "kernel command line" in why_not(host(cmdline="systemd.mask=remote-fs.target"))


def test_a_mount_that_the_kernel_command_line_masks():
    assert "kernel command line masks it" in why_not(host(cmdline="systemd.mask=u01.mount"))
    generated = "[Unit]\nSourcePath=/etc/fstab\n[Mount]\nWhat=filer:/vol/a\nWhere=/u01\nType=nfs\n"
    machine = host(cmdline="systemd.mask=u01.mount").file(f"{GENERATOR}/u01.mount", generated)
    assert "kernel command line masks it" in why_not(machine)
    assert why_not(host(cmdline="systemd.mask=u02.mount")) == ""


def test_a_target_that_nothing_starts():
    machine = host().remove(f"{OWN}/multi-user.target.wants/remote-fs.target")
    assert why_not(machine) == "remote-fs.target is not enabled"


def test_a_unit_of_another_target_does_not_need_it():
    assert why_not(unit(masked(host(), "remote-fs.target"), "multi-user.target")) == ""
    assert "remote-fs.target" in why_not(
        unit(masked(host(), "remote-fs.target"), "remote-fs.target")
    )


@cases("masks", ("rpcbind.socket", "rpcbind.service"), ("rpcbind.service",))
def test_nfs_3_with_locks_needs_rpcbind(masks):
    assert "needs rpcbind" in why_not(masked(host(), *masks))
    for options in ("vers=3,nolock", "vers=4.1", "vers=3,local_lock=all"):
        assert why_not(masked(host(options), *masks)) == ""


@cases("name", "rpc-statd.service", "rpcbind.socket")
def test_without_rpc_statd_or_a_socket_it_is_unknown(name):
    with pytest.raises(Unanswered, match=f"{name} is masked"):
        why_not(masked(host(), name))
    assert why_not(masked(host("vers=4.1"), name)) == ""


@cases("module", "nfs", "sunrpc", "lockd")
@cases("command", "/bin/false", "/usr/bin/true", "/bin/true")
def test_a_module_that_modprobe_does_not_load(module, command):
    machine = host().file("/etc/modprobe.d/cis.conf", f"#\ninstall {module} {command}\n")
    assert why_not(machine) == f"/etc/modprobe.d/cis.conf:2 install {module} {command}"


@cases(
    "module options is_missing",
    ("nfsv3", "vers=3", True),
    ("nfsv3", "vers=4.2", False),
    ("nfsv4", "vers=3", False),
    ("nfsv4", "nfsvers=4.1", True),
    ("nfsv4", "hard", False),
)
def test_the_module_of_a_version(module, options, is_missing):
    line = f"install {module} /bin/false"
    machine = host(options).file("/etc/modprobe.d/cis.conf", line + "\n")
    assert why_not(machine) == (f"/etc/modprobe.d/cis.conf:1 {line}" if is_missing else "")


def test_an_install_line_that_loads_it():
    text = "install sunrpc /sbin/modprobe --ignore-install sunrpc && /sbin/sysctl -q --system\n"
    assert why_not(host().file("/usr/lib/modprobe.d/nfs.conf", text)) == ""


def test_an_install_line_that_nobody_knows():
    with pytest.raises(Unanswered, match="whether that loads nfs is unknown"):
        why_not(host().file("/etc/modprobe.d/a.conf", "install nfs /opt/load\n"))


@cases(
    "line is_known", ("blacklist nfs", False), ("blacklist nfsd", True), ("#blacklist nfs", True)
)
def test_a_blacklist(line, is_known):
    """The kernel requests the alias fs-nfs, and modprobe ignores aliases of such a module."""
    machine = host().file("/etc/modprobe.d/a.conf", line + "\n")
    if is_known:
        assert why_not(machine) == ""
        return
    with pytest.raises(Unanswered, match="/etc/modprobe.d/a.conf:1 blacklist nfs"):
        why_not(machine)
    machine.evidence.clear()
    assert "install nfs" in why_not(machine.file("/etc/modprobe.d/b.conf", "install nfs false\n"))


def test_the_kernel_refuses_a_module():
    assert why_not(host(cmdline="module_blacklist=floppy,nfs")).startswith("module_blacklist=")
    assert why_not(host(cmdline="module_blacklist=nfsd")) == ""


def test_a_module_that_autofs_needs():
    machine = host().file("/etc/fstab", "").file("/etc/modprobe.d/a.conf", "install nfs /bin/false")
    machine.file("/etc/auto.master", "/- /etc/auto.direct\n")
    machine.file("/etc/auto.direct", "/u01 -hard filer:/vol/a\n")
    machine.command("systemctl is-enabled autofs.service", "enabled\n")
    assert "install nfs" in why_not(machine)


@cases(
    "condition holds",
    ("ConditionPathExists=/etc/u01.on", False),
    ("ConditionPathExists=!/etc/u01.on", True),
    ("ConditionKernelCommandLine=quiet", True),
    ("AssertKernelCommandLine=!quiet", False),
    ("ConditionKernelCommandLine=|rescue\nConditionKernelCommandLine=|quiet", True),
    ("ConditionKernelCommandLine=rescue\nConditionPathExists=", True),
)
def test_conditions_of_a_mount_unit(condition, holds):
    for machine in (
        unit(host(), "multi-user.target", condition),
        host().file(f"{OWN}/u01.mount.d/a.conf", f"[Unit]\n{condition}\n"),
    ):
        reason = why_not(machine)
        assert (reason == "") == holds
        assert holds or "does not hold" in reason


def test_a_condition_that_is_not_known():
    with pytest.raises(HostproofError, match="ConditionVirtualization=no decides"):
        why_not(unit(host(), "multi-user.target", "ConditionVirtualization=no"))
