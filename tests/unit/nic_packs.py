"""Hosts with network interfaces, told as stories on top of packs.Machine."""

from pathlib import Path
from typing import Any

from default_policies import changed_policy
from packs import Machine

ROOT = Path(__file__).resolve().parents[2]
FIXTURES = ROOT / "tests/fixtures/flow_control"
FILER = "192.0.2.50"
CLASS = "/sys/class/net"


def fixture(name: str) -> str:
    return (FIXTURES / name).read_text()


def policy(**changes: Any) -> dict[str, Any]:
    """The role's defaults, as the modules take them, with some values changed."""
    credentials = {"default": {"version": "2c", "community": "public"}}
    return changed_policy("flow_control", **{"snmp_credentials": credentials, **changes})


def pause_text(name: str, autoneg: bool, rx: bool, tx: bool, *more: str) -> str:
    words = ["on" if flag else "off" for flag in (autoneg, rx, tx)]
    head = "Pause parameters for {0}:\nAutonegotiate:\t{1}\nRX:\t\t{2}\nTX:\t\t{3}\n"
    return head.format(name, *words) + "".join(line + "\n" for line in more)


def settings_text(name: str, speed: str = "1000Mb/s", duplex: str = "Full", *more: str) -> str:
    return (
        f"Settings for {name}:\n\tSpeed: {speed}\n\tDuplex: {duplex}\n"
        "\tAuto-negotiation: on\n"
        + "".join(f"\t{line}\n" for line in more)
        + "\tLink detected: yes\n"
    )


class Host(Machine):
    """A Linux host. Interfaces are put into it one by one."""

    def __init__(self) -> None:
        super().__init__()
        self.sample_seconds = 5.0
        self.mountinfo = ["25 1 8:1 / / rw - ext4 /dev/sda1 rw"]
        self.file("/proc/self/mountinfo", self.mountinfo[0] + "\n")
        self.file("/proc/net/tcp", TCP_HEAD)
        self.file("/etc/fstab", "")
        self.command("ip neigh show", "")
        self.command("ip -o addr show", "")
        self.command("udevadm --version", "252\n")
        self.folder(CLASS, "/etc/systemd/network")
        self.file("/usr/lib/systemd/network/99-default.link", fixture("99-default.link"))
        self.nic("lo", driver=None, mac="00:00:00:00:00:00")
        for folder in ("",):
            grep = "grep -s -H -E -e ethtool.*[[:space:]](-A|--pause)[[:space:]] -- "
            self.command(grep + SCRIPTS + folder, "", 1)

    def nic(
        self,
        name: str,
        driver: str | None = "e1000e",
        mac: str = "52:54:00:0a:00:01",
        pause: tuple[bool, bool, bool] | None = (True, True, True),
        more: tuple[str, ...] = (),
        speed: int = 1000,
        duplex: str = "full",
        mtu: int = 1500,
        carrier: int = 1,
        settings: str | None = None,
        own: str = "",
    ) -> "Host":
        folder = f"{CLASS}/{name}"
        self.file(f"{folder}/address", mac + "\n")
        self.command(f"ethtool -P {name}", f"Permanent address: {own or mac}\n")
        for attribute, value in (
            ("mtu", mtu),
            ("speed", speed),
            ("duplex", duplex),
            ("carrier", carrier),
        ):
            self.file(f"{folder}/{attribute}", f"{value}\n")
        if driver is None:
            return self
        self.folder(f"/sys/bus/pci/drivers/{driver}")
        self.link(f"{folder}/device/driver", f"/sys/bus/pci/drivers/{driver}")
        if pause is None:
            self.commands[f"ethtool -a {name}"] = _refused()
        else:
            self.command(f"ethtool -a {name}", pause_text(name, *pause, *more))
        self.rings(name, 4096)
        speed_text = f"{speed}Mb/s" if speed > 0 else "Unknown!"
        text = settings or settings_text(name, speed_text, duplex.title())
        self.command(f"ethtool {name}", text)
        return self

    def rings(self, name: str, rx: int, most: int = 4096) -> "Host":
        """As ethtool -g prints them (tests/fixtures/flow_control/SOURCES.md)."""
        text = fixture("rings-e1000.txt").replace("eth0", name)
        head, now, tail = text.partition("Current hardware settings:\n")
        head = head.replace("RX:\t\t4096", f"RX:\t\t{most}")
        tail = tail.replace("RX:\t\t256", f"RX:\t\t{rx}")
        return self.command(f"ethtool -g {name}", head + now + tail)

    def slot(self, name: str, width: int, most: int, node: int = 0) -> "Host":
        """A card in a PCIe slot."""
        address = "0000:3b:00.0"
        real = f"/sys/devices/pci0000:3a/0000:3a:00.0/{address}"
        self.link(f"{real}/driver", self.links[f"{CLASS}/{name}/device/driver"])
        self.link(f"{CLASS}/{name}/device", real)
        folder = f"/sys/bus/pci/devices/{address}"
        self.file(f"{folder}/current_link_width", f"{width}\n")
        self.file(f"{folder}/max_link_width", f"{most}\n")
        return self.file(f"{folder}/numa_node", f"{node}\n")

    def take_down(self, name: str) -> "Host":
        """As ip link set NAME down: then the kernel refuses to tell of a carrier (EINVAL)."""
        self.remove(f"{CLASS}/{name}/carrier")
        return self.file(f"{CLASS}/{name}/operstate", "down\n")

    def bond(self, name: str, text: str, *members: str, mtu: int = 1500) -> "Host":
        self.nic(name, driver=None)
        self.file(f"{CLASS}/{name}/mtu", f"{mtu}\n")
        self.folder(f"{CLASS}/{name}/bonding")
        self.file(f"/proc/net/bonding/{name}", text)
        for member in members:
            self.folder(f"{CLASS}/{name}/lower_{member}")
            self.link(f"{CLASS}/{member}/master", f"{CLASS}/{name}")
        return self

    def mounts(
        self, device: str, path: str = "/u02", address: str = FILER, via: str = ""
    ) -> "Host":
        """An NFS mount whose server the kernel reaches over the device."""
        number = len(self.mountinfo) + 44
        self.mountinfo.append(
            f"{number} 25 0:{number} / {path} rw - nfs filer:/export{path} rw,vers=3,addr={address}"
        )
        self.file("/proc/self/mountinfo", "\n".join(self.mountinfo) + "\n")
        return self.route(address, device, via)

    def route(self, address: str, device: str, via: str = "") -> "Host":
        gateway = f" via {via}" if via else ""
        return self.command(
            f"ip -o route get {address}",
            f"{address}{gateway} dev {device} src 192.0.2.1 uid 0 \\    cache \n",
        )

    def login(self, device: str, remote: str = "198.51.100.7") -> "Host":
        """Somebody is logged in by ssh, from a place that is reached over the device."""
        self.process("sshd: root [priv]", "socket:[4711]", pid=900, uid=0)
        packed = "".join(f"{int(part):02X}" for part in reversed(remote.split(".")))
        self.file(
            "/proc/net/tcp",
            TCP_HEAD + f"   0: 010200C0:0016 {packed}:C001 01 00000000:00000000 00:00000000 "
            "00000000     0        0 4711 1 0000000000000000 20 4 30 10 -1\n",
        )
        self.command(
            f"ip -o route get {remote} from 192.0.2.1",
            f"{remote} from 192.0.2.1 dev {device} uid 0 \\    cache \n",
        )
        return self

    def counted(self, name: str, before: dict[str, int], after: dict[str, int]) -> "Host":
        """Two readings of ethtool -S."""
        texts = [
            "NIC statistics:\n"
            + "".join(f"     {counter}: {n}\n" for counter, n in counters.items())
            for counters in (before, after)
        ]
        return self.sampled("pause", f"command:ethtool -S {name}", *texts)

    def link_file(self, path: str, text: str) -> "Host":
        self.file(path, text)
        return self


TCP_HEAD = (
    "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout "
    "inode\n"
)
SCRIPTS = "/etc/rc.local /etc/rc.d/rc.local /etc/network/interfaces /sbin/ifup-local"


def _refused() -> Any:
    from ansible.module_utils.hostproof.collect.host import Output

    return Output(1, "", fixture("pause-virtio-stderr.txt"))


def lacp(*members: tuple[str, bool], miimon: int = 100) -> str:
    """/proc/net/bonding of a bond in LACP; each member with whether it is up."""
    text = (
        "Ethernet Channel Bonding Driver: v6.1.0-56-amd64\n\n"
        "Bonding Mode: IEEE 802.3ad Dynamic link aggregation\nMII Status: up\n"
        f"MII Polling Interval (ms): {miimon}\n\n802.3ad info\nActive Aggregator Info:\n"
        "\tAggregator ID: 1\n\tPartner Mac Address: 52:54:00:0a:00:99\n"
    )
    for number, (name, up) in enumerate(members, 1):
        text += (
            f"\nSlave Interface: {name}\nMII Status: {'up' if up else 'down'}\nSpeed: 1000 Mbps\n"
            f"Duplex: full\nPermanent HW addr: 52:54:00:0a:00:0{number}\nAggregator ID: 1\n"
            f"details actor lacp pdu:\n    port number: {number}\n    port state: 63\n"
            f"details partner lacp pdu:\n    port number: {number + 10}\n    port state: 63\n"
        )
    return text


def storage_host(**nic: Any) -> Host:
    """A host with one e1000e that carries an NFS mount."""
    return Host().nic("ens4", **nic).mounts("ens4")


def bonded_host(
    first: Any = None, second: Any = None, up: tuple[bool, bool] = (True, True)
) -> Host:
    host = Host()
    # Both use the address of the first.
    host.nic("ens8", mac="52:54:00:0a:00:01", **(first or {}))
    host.nic(
        "ens10", driver="e1000", mac="52:54:00:0a:00:01", own="52:54:00:0a:00:02", **(second or {})
    )
    host.bond("bond0", lacp(("ens8", up[0]), ("ens10", up[1])), "ens8", "ens10")
    return host.mounts("bond0")
