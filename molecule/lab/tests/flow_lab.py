"""The lab's machine with a filer behind real cards (molecule/lab/wires.py), and with agents."""

import json
import re
from typing import Any, NamedTuple

from lab_machine import LabMachine
from machines.machine import TOOLS, Finding, Run

Table = dict[str, list[Any]]

#: What an administrator mounts. The options are the machine's: it has no time for locks.
FSTAB = "".join(
    f"10.9.{network}.2:/vol/wired /wires/{name} nfs "
    "rw,hard,vers=3,tcp,nolock,timeo=600,rsize=262144,wsize=262144 0 0\n"
    for name, network in (("e1000e", 2), ("e1000", 3), ("bond0", 4), ("virtio", 5))
)

#: What an administrator wrote who read in systemd.link(5) that RxFlowControl= is to send. It is not
#: in force yet, and the card has its name from it.
LINK = """\
[Match]
MACAddress=52:54:00:00:02:01

[Link]
Description=to the filer
Name=dbnet0
RxFlowControl=no
TxFlowControl=yes
"""

#: Both agents answer on the loopback: they are reached whatever happens to a cable.
SWITCH, FILER = ("127.0.0.1", 1161), ("127.0.0.1", 1162)

AGENT = """\
rocommunity {community} 127.0.0.1
sysName {name}
sysobjectid {kind}
agentaddress udp:{address}:{port}
pass_persist .1.3.6.1.2.1 {tools}/agent_table.py {tools}/agent-{which}.json
pass_persist .1.3.6.1.4.1.789 {tools}/agent_table.py {tools}/agent-{which}.json
"""
#: It is looked for in everything that a run prints or keeps.
COMMUNITY = "of-the-lab-only"

#: With both agents, and nothing wanted of any card.
PATH_POLICY: dict[str, Any] = {
    "flow_control_rules": [{"role": "storage", "rx": "keep", "tx": "keep"}],
    "flow_control_switches": [{"address": SWITCH[0], "port": SWITCH[1]}],
    "flow_control_filers": [{"address": "10.9.2.2", "agent": FILER[0], "port": FILER[1]}],
    "flow_control_snmp_credentials": {"default": {"version": "2c", "community": COMMUNITY}},
    "hostproof_window_seconds": 2,
    "flow_control_snmp_timeout": 10,
}

#: The cable of the host's e1000e, and the one of the filer behind it.
HOST_MAC, FILER_MAC = "52:54:00:00:01:01", "52:54:00:00:01:02"
FILER_ADDRESS = "10.9.2.2"


class PortState(NamedTuple):
    """A port of the switch. ``mode`` is dot3PauseOperMode; None: the agent has no such table.

    ``discards`` and ``pauses`` are how many frames more each reading shows.
    """

    mode: int | None
    speed: int = 1000
    duplex: int = 3
    discards: int = 0
    pauses: int = 0


class FilerState(NamedTuple):
    """The filer's port; ``mode`` is netportFlowcontrolOper."""

    mode: int
    speed: int = 1000
    duplex: int = 3


#: dot3PauseOperMode, and netportFlowcontrolOper.
NONE, FULL = 1, 4


def switch_table(host_port: PortState, filer_port: PortState) -> Table:
    """Ports 1 and 2 of a switch; their bridge ports and ifIndexes are other numbers."""
    table: Table = {}
    rows = ((1, 49, 501, HOST_MAC, host_port), (2, 50, 502, FILER_MAC, filer_port))
    for port, bridge_port, row, mac, state in rows:
        arcs = ".".join(str(int(part, 16)) for part in mac.split(":"))
        table[f"1.3.6.1.2.1.17.7.1.2.2.1.2.9.{arcs}"] = ["integer", bridge_port]
        table[f"1.3.6.1.2.1.17.1.4.1.2.{bridge_port}"] = ["integer", row]
        table |= {
            f"1.3.6.1.2.1.2.2.1.2.{row}": ["string", f"GigabitEthernet1/0/{port}"],
            f"1.3.6.1.2.1.2.2.1.3.{row}": ["integer", 6],
            f"1.3.6.1.2.1.2.2.1.4.{row}": ["integer", 1500],
            f"1.3.6.1.2.1.2.2.1.8.{row}": ["integer", 1],
            f"1.3.6.1.2.1.2.2.1.13.{row}": ["counter", 0],
            f"1.3.6.1.2.1.2.2.1.19.{row}": ["counter", 7000, state.discards],
            f"1.3.6.1.2.1.31.1.1.1.1.{row}": ["string", f"Gi1/0/{port}"],
            f"1.3.6.1.2.1.31.1.1.1.15.{row}": ["gauge", state.speed],
            f"1.3.6.1.2.1.10.7.2.1.19.{row}": ["integer", state.duplex],
            f"1.3.6.1.2.1.10.7.10.1.3.{row}": ["counter", 40, state.pauses],
            f"1.3.6.1.2.1.10.7.10.1.4.{row}": ["counter", 90, state.pauses],
        }
        if state.mode is not None:
            table[f"1.3.6.1.2.1.10.7.10.1.1.{row}"] = ["integer", state.mode]
            table[f"1.3.6.1.2.1.10.7.10.1.2.{row}"] = ["integer", state.mode]
    return table


def filer_table(state: FilerState) -> Table:
    """A port of ONTAP, built from NETAPP-MIB's description: no such filer is at hand."""
    port, row = "1.3.6.1.4.1.789.1.22.2.1", "1.5.110.111.100.101.49.3.101.48.97"
    address = "1.3.6.1.4.1.789.1.22.4.1"
    return {
        f"{port}.1.{row}": ["string", "node1"],
        f"{port}.2.{row}": ["string", "e0a"],
        f"{port}.4.{row}": ["integer", 2],
        f"{port}.5.{row}": ["integer", 1500],
        f"{port}.9.{row}": ["integer", state.duplex],
        f"{port}.12.{row}": ["integer", state.speed],
        f"{port}.13.{row}": ["string", FILER_MAC],
        f"{port}.15.{row}": ["integer", 0],
        f"{port}.23.{row}": ["integer", state.mode],
        f"{port}.24.{row}": ["integer", state.mode],
        f"{address}.6.1": ["string", "node1"],
        f"{address}.7.1": ["string", "e0a"],
        f"{address}.11.1": ["ipaddress", FILER_ADDRESS],
        f"{address}.30.1": ["string", FILER_ADDRESS],
    }


class FlowLab(LabMachine):
    control = "flow_control"

    def __init__(self) -> None:
        super().__init__()
        self._names: dict[str, str] = {}

    def connect(self) -> None:
        """Start the filer behind the cables, now and at every boot, and mount from it."""
        name = self.cards()["52:54:00:00:02:01"]
        self.run(
            f"cat > /etc/systemd/network/10-dbnet.link <<'EOF'\n{LINK}EOF\n"
            f"ip link set {name} name dbnet0; "
            "udevadm trigger --settle --action=add /sys/class/net/dbnet0; "
            "ethtool -A dbnet0 autoneg on rx on tx on"
        )
        self.run(
            f"cp {TOOLS}/lab-wires.service {TOOLS}/lab-agent@.service /etc/systemd/system && "
            "mkdir -p /wires/e1000e /wires/e1000 /wires/bond0 /wires/virtio && "
            # Its last line may have no end: another story put it back byte for byte.
            f"sed -i '$a\\' /etc/fstab && cat >> /etc/fstab <<'EOF'\n{FSTAB}EOF\n"
            "systemctl daemon-reload && systemctl enable --quiet --now lab-wires && "
            "mount -a -t nfs",
            timeout=300,
        )
        self.wait_for_lacp()

    def disconnect(self) -> None:
        """Leave the machine to the next story as it was before ``connect``."""
        self.run(
            "umount /wires/*; rmdir /wires/* /wires; sed -i '\\,:/vol/wired,d' /etc/fstab; "
            "systemctl disable --quiet --now lab-wires lab-agent@switch lab-agent@filer; "
            "rm -f /etc/systemd/system/lab-wires.service /etc/systemd/system/lab-agent@.service "
            "/etc/systemd/network/10-dbnet.link; "
            "systemctl daemon-reload",
            timeout=300,
        )

    def wait_for_lacp(self) -> None:
        """Both members carry the bond, at both ends."""
        both = "awk '/Number of ports:/ {exit $NF != 2}' /proc/net/bonding/bond0"
        self.run(f"for i in $(seq 120); do {both} && exit; sleep 0.5; done; exit 1")

    def cards(self) -> dict[str, str]:
        """Own MAC address of each card to its name now."""
        shown = json.loads(self.run("ip -json -details link show"))
        # A member of a bond shows the bond's address, and its own apart from it.
        return {
            link.get("permaddr", link["address"]): link["ifname"]
            for link in shown
            if "parentdev" in link
        }

    def card(self, cable: int) -> str:
        """The name of the host's card of a cable of tests/machines/vm.py, which it keeps."""
        if not self._names:
            self._names = self.cards()
        return self._names[f"52:54:00:00:{cable:02x}:01"]

    def pause(self, *names: str) -> dict[str, str]:
        """What the drivers say: "off on off" is autoneg off, rx on, tx off."""
        shown = self.run("; ".join(f"echo; ethtool -a {name}" for name in names))
        rows = re.findall(r"for (\S+):\nAutonegotiate:\s+(\w+)\nRX:\s+(\w+)\nTX:\s+(\w+)\n", shown)
        return {name: " ".join(values) for name, *values in rows}

    def state(self) -> dict[str, object]:
        """Everything that the control may change: files, and what the drivers with PAUSE say."""
        names = [self.card(cable) for cable in (1, 2, 3, 4)]
        return {"files": self.files(), "pause": self.pause(*names)}

    def set_pause(self, name: str, rx: str, tx: str) -> None:
        """As an administrator does it. ethtool tells an error where nothing changes (old ones)."""
        self.run(f"ethtool -A {name} autoneg off rx {rx} tx {tx}")

    def set_speed(self, name: str, options: str) -> None:
        """Another speed or duplex, and the link is up again."""
        self.run(
            f"ethtool -s {name} {options}; for i in $(seq 100); do sleep 0.2; "
            f'[ "$(cat /sys/class/net/{name}/carrier)" = 1 ] && good=$((good + 1)) || good=0; '
            "[ $good = 10 ] && exit; done; exit 1"
        )

    def start_agents(self) -> None:
        for which, name, kind, (address, port) in (
            ("switch", "sw1", ".1.3.6.1.4.1.2636.1.1.1.2.31", SWITCH),
            ("filer", "filer1", ".1.3.6.1.4.1.789.2.5", FILER),
        ):
            text = AGENT.format(
                community=COMMUNITY,
                name=name,
                kind=kind,
                address=address,
                port=port,
                tools=TOOLS,
                which=which,
            )
            self.run(
                f"cat > {TOOLS}/agent-{which}.conf <<'EOF'\n{text}EOF\n"
                f"echo '{{}}' > {TOOLS}/agent-{which}.json; "
                f"systemctl restart lab-agent@{which}"
            )
            ask = f"snmpget -m '' -v2c -c {COMMUNITY} {address}:{port} 1.3.6.1.2.1.1.5.0"
            self.run(f"for i in $(seq 60); do {ask} && exit; done; exit 1")

    def tell(self, switch: Table, filer: Table) -> None:
        """Make the agents say this from now on."""
        for which, table in (("switch", switch), ("filer", filer)):
            self.run(f"cat > {TOOLS}/agent-{which}.json <<'EOF'\n{json.dumps(table)}\nEOF")

    def judge_path(self) -> Run:
        """Verify with both agents, and nothing wanted of any card."""
        return self.verify(**PATH_POLICY)

    def judge_path_by_a_play(self) -> Run:
        return self.play("verify", **PATH_POLICY)


def chain(finding: Finding) -> str:
    """The path in one line."""
    texts = [str(finding[layer] or "") for layer in ("running", "in_use", "why")]
    return next(text for text in texts if " <-> " in text)
