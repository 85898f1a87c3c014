"""A node of a cluster with a private network, told as a story on top of packs.Machine.

The numbers are made up; /proc/net/snmp and netstat are those of Linux 6.18, shortened.
"""

from typing import Any

from default_policies import changed_policy
from packs import Machine, linux

CLASS = "/sys/class/net"
GRID = "/u01/app/19.0.0/grid"
GETIF = "list the networks of Clusterware (oifcfg getif)"
#: What oifcfg prints (Oracle Clusterware Administration, oifcfg getif).
NETWORKS = "eth0  192.0.2.0  global  public\neth1  192.168.10.0  global  cluster_interconnect,asm\n"
PEER = "192.168.10.2"
#: A bond as /proc/net/bonding shows it (kernel drivers/net/bonding/bond_procfs.c).
BOND = """\
Ethernet Channel Bonding Driver: v6.18

Bonding Mode: {mode}
MII Status: up
MII Polling Interval (ms): {miimon}

Slave Interface: eth1
MII Status: up
Speed: 10000 Mbps
Duplex: full
"""


def policy(**changes: Any) -> dict[str, Any]:
    return changed_policy("interconnect", **changes)


class Node(Machine):
    """A host whose eth1 of 9000 bytes is the interconnect, as Clusterware says."""

    def __init__(self) -> None:
        super().__init__()
        self.files.update(linux().files)
        self.command("uname -s", "Linux\n")
        for name, mtu in (("lo", 65536), ("eth0", 1500), ("eth1", 9000)):
            self.device(name, mtu)
        self.value("all", 0).arp_ignore("all", 0)
        self.process(f"{GRID}/bin/ocssd.bin", f"{GRID}/bin/ocssd.bin", pid=901, uid=54322)
        self.command("getent passwd", "grid:x:54322:54321::/home/grid:/bin/bash\n")
        self.command(GETIF, NETWORKS)
        self.lost()

    def device(self, name: str, mtu: int) -> "Node":
        self.folder(f"{CLASS}/{name}", f"{CLASS}/{name}/device")
        self.file(f"{CLASS}/{name}/mtu", f"{mtu}\n")
        return self.flags(name, 0x1043).arp_ignore(name, 0).value(name, 0)

    def flags(self, name: str, value: int) -> "Node":
        """UP, BROADCAST, RUNNING and MULTICAST are 0x1043 (kernel include/uapi/linux/if.h)."""
        self.file(f"{CLASS}/{name}/flags", f"{value:#x}\n")
        return self

    def arp_ignore(self, name: str, value: int) -> "Node":
        self.file(f"/proc/sys/net/ipv4/conf/{name}/arp_ignore", f"{value}\n")
        return self

    def value(self, name: str, value: int) -> "Node":
        self.file(f"/proc/sys/net/ipv4/conf/{name}/rp_filter", f"{value}\n")
        return self

    def bonded(self, mode: str, shown: str, miimon: int) -> "Node":
        """Clusterware's eth1 is a member of bond0, which is the interconnect."""
        self.folder(f"{CLASS}/bond0", f"{CLASS}/bond0/bonding", f"{CLASS}/bond0/lower_eth1")
        self.file(f"{CLASS}/bond0/mtu", "9000\n").value("bond0", 0)
        self.flags("bond0", 0x1443).arp_ignore("bond0", 0)
        self.file(f"{CLASS}/bond0/bonding/mode", f"{mode} 1\n")
        self.link(f"{CLASS}/eth1/master", f"{CLASS}/bond0")
        self.file("/proc/net/bonding/bond0", BOND.format(mode=shown, miimon=miimon))
        self.command(GETIF, NETWORKS.replace("eth1", "bond0"))
        return self

    def lost(self, **counted: int) -> "Node":
        """What the counters grew by in the window, from totals of long ago."""
        for file, groups in (
            (
                "/proc/net/snmp",
                {
                    "Ip": ("ReasmReqds", "ReasmFails"),
                    "Udp": ("InDatagrams", "RcvbufErrors", "SndbufErrors"),
                },
            ),
            ("/proc/net/netstat", {"TcpExt": ("ListenDrops", "IPReversePathFilter")}),
        ):
            texts = []
            for grown in ({}, counted):
                lines = []
                for group, names in groups.items():
                    values = [str(1000 + grown.get(name, 0)) for name in names]
                    lines += [f"{group}: {' '.join(names)}", f"{group}: {' '.join(values)}"]
                texts.append("\n".join(lines) + "\n")
            self.sampled("interconnect", "file:" + file, *texts)
        return self

    def way(self, address: str = PEER, over: str = "eth1", **figures: Any) -> "Node":
        """What echoes to a peer gave; they came back whole where nothing else is said."""
        local = "local " if over == "lo" else ""
        self.command(
            f"ip -o route get {address}", f"{local}{address} dev {over} src 192.168.10.1 uid 0\n"
        )
        defaults = {"size": 9000, "passed": 1, "pieces": 0, "hop": "", "limit": 0, "arrives": 9000}
        all_told = self.measured.setdefault(
            "whole packets", {"windows": [], "remarks": [], "figures": {}}
        )
        for name, value in {**defaults, **figures}.items():
            all_told["figures"][f"{address} {name}"] = value
        return self
