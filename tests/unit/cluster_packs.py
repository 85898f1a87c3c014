"""Makes the packs of tests/fixtures/cluster_nodes/packs: three nodes of a cluster of four.

They are made up (tests/fixtures/cluster_nodes/SOURCES.md). When the control reads more than before:
HOSTPROOF_WRITE_FIXTURES=1 pytest -k cluster_packs tests/unit
"""

from typing import Any

import packs
from ansible.module_utils.hostproof.evaluate import audit
from default_policies import default_policy
from packs import Machine
from stored import text_of

FOLDER = packs.FIXTURES / "cluster_nodes/packs"
GRID = "/u01/app/19.0.0/grid"
HOME = "/u01/app/oracle/product/19"
KERNEL = "5.15.0-209.161.7.2.el9uek.x86_64"
CPUINFO = """\
processor	: {0}
vendor_id	: GenuineIntel
model name	: Intel(R) Xeon(R) Gold 6354 CPU @ 3.00GHz
"""
DRIVER = "driver: ixgbe\nversion: 5.15.0\nfirmware-version: {0}\nexpansion-rom-version: \n"
PARAMS = """\
SILENT=false
ORACLE_OWNER=grid
CLUSTER_NAME=rac1
NODE_NAME_LIST={0}
"""
NODES = ("db1", "db2", "db3", "db4")
#: As iproute2 prints it: a public and a private address, HAIP, and an address of its own network.
ADDRESSES = """\
1: lo    inet 127.0.0.1/8 scope host lo\\       valid_lft forever preferred_lft forever
2: eth0    inet 192.0.2.{0}/24 brd 192.0.2.255 scope global eth0\\       valid_lft forever preferred_lft forever
2: eth0    inet6 fe80::5054:ff:fe00:{0}/64 scope link \\       valid_lft forever preferred_lft forever
2: eth0    inet6 2001:db8::{0}/128 scope global \\       valid_lft forever preferred_lft forever
3: eth1    inet 10.0.0.{0}/{1} brd 10.0.0.255 scope global eth1\\       valid_lft forever preferred_lft forever
3: eth1    inet 169.254.7.{0}/19 brd 169.254.31.255 scope global eth1:1\\       valid_lft forever preferred_lft forever
"""  # noqa: E501


def node(
    name: str,
    *,
    kernel: str = KERNEL,
    mtu: int = 9000,
    pages: int = 20480,
    memory_kib: int = 64 << 20,
    patches: tuple[str, ...] = ("35642822", "35643107"),
    firmware: str = "0x800008a4",
    prefix: int = 24,
    core_pattern: str = "|/usr/lib/systemd/systemd-coredump %P %u %g %s %t %c %h",
) -> Machine:
    """A node of RAC on Oracle Linux 9: two databases' worth of huge pages, a private network."""
    machine = packs.linux()
    machine.file("/proc/sys/kernel/osrelease", f"{kernel}\n")
    machine.file(f"/boot/config-{kernel}", "CONFIG_TRANSPARENT_HUGEPAGE_ALWAYS=y\n")
    machine.file("/etc/os-release", 'NAME="Oracle Linux Server"\nPRETTY_NAME="Oracle Linux 9.4"\n')
    machine.file("/proc/sys/kernel/core_pattern", f"{core_pattern}\n")
    machine.file("/proc/sys/kernel/core_uses_pid", "1\n")
    machine.file("/proc/cpuinfo", "\n".join(CPUINFO.format(number) for number in range(4)))
    machine.memory(MemTotal=memory_kib)
    machine.pool(pages, pages).nodes(pages)
    sysctl = f"vm.nr_hugepages = {pages}\n"
    machine.file("/etc/sysctl.d/97-oracle.conf", sysctl)
    machine.file("/etc/oracle/olr.loc", f"olrconfig_loc={GRID}/cdata/{name}.olr\ncrs_home={GRID}\n")
    machine.file(f"{GRID}/crs/install/crsconfig_params", PARAMS.format(",".join(NODES)))
    machine.file("/etc/oratab", f"RAC1:{HOME}:N\n")
    for home in (GRID, HOME):
        machine.folder(*(f"{home}/inventory/oneoffs/{patch}" for patch in patches))
    for nic, size in (("eth0", 1500), ("eth1", mtu)):
        machine.folder(f"/sys/class/net/{nic}/device")
        machine.file(f"/sys/class/net/{nic}/mtu", f"{size}\n")
        machine.command(f"ethtool -i {nic}", DRIVER.format(firmware))
    machine.command("ip -o addr show", ADDRESSES.format(10 + int(name[-1]), prefix))
    machine.folder("/sys/class/net/lo")
    machine.file("/sys/class/net/lo/mtu", "65536\n")
    clock = "/sys/devices/system/clocksource/clocksource0/current_clocksource"
    machine.file(clock, "tsc\n")
    machine.file("/usr/share/zoneinfo/Europe/Berlin", "TZif2")
    machine.link("/etc/localtime", "/usr/share/zoneinfo/Europe/Berlin")
    machine.process("/usr/sbin/chronyd", pid=811, uid=0).file("/usr/bin/scp", "")
    machine.command("uname -n", f"{name}.example.com\n")
    return machine


def policy(**changes: Any) -> dict[str, Any]:
    return default_policy("cluster_nodes") | changes


def pack(host: str, machine: Machine) -> str:
    """What an audit of these two controls reads."""
    hugepages = default_policy("hugepages")
    audit.read_host(machine, {"cluster_nodes": policy(), "hugepages": hugepages})
    content = {
        "schema": 1,
        "host": host,
        "recorded_at": packs.RECORDED_AT,
        "readings": machine.evidence,
    }
    return text_of(content, 2)


def cluster_packs() -> dict[str, str]:
    """File name to text. db4 did not answer; db2 has no huge pages, db3 another kernel and MTU."""
    return {
        "db1.json": pack("db1", node("db1")),
        "db2.json": pack("db2", node("db2", pages=0)),
        "db3.json": pack("db3", node("db3", kernel="5.15.0-100.96.32.el9uek.x86_64", mtu=1500)),
    }
