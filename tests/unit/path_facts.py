"""A host, a switch and a filer as facts of flow_control, with nothing read from any machine."""

from typing import Any

from ansible.module_utils.hostproof.controls.flow_control.control import CONTROL as flow_control
from ansible.module_utils.hostproof.controls.flow_control.facts import Facts
from ansible.module_utils.hostproof.controls.flow_control.nics import NicFacts
from ansible.module_utils.hostproof.controls.flow_control.policy import (
    KEEP_ALL,
    Policy,
    policy_from,
)
from ansible.module_utils.hostproof.controls.flow_control.probes.nic_pause import Traffic
from ansible.module_utils.hostproof.controls.flow_control.probes.pause_persisted import Persisted
from ansible.module_utils.hostproof.controls.flow_control.snmp.ethernet_port import (
    Counters,
    Pause,
    Port,
)
from ansible.module_utils.hostproof.controls.flow_control.snmp.filer_port import Filer, FilerPort
from ansible.module_utils.hostproof.controls.flow_control.snmp.switch_port import Switch, SwitchPort
from ansible.module_utils.hostproof.errors import Absent
from ansible.module_utils.hostproof.evaluate.finding import Finding
from ansible.module_utils.hostproof.parsers.net.bonding import Bond, Member
from ansible.module_utils.hostproof.parsers.net.ethtool_pause import Direction, PauseSettings
from ansible.module_utils.hostproof.parsers.systemd.link_file import Device
from ansible.module_utils.hostproof.probes.net.network_interfaces import Interfaces, Nic, Path
from default_policies import changed_policy
from switch_agents import FILER, HOST

OFF, ON = Pause(False, False), Pause(True, True)
RX, TX = Pause(True, False), Pause(False, True)
ADDRESS = "192.0.2.20"
#: The other member of a bond.
SECOND = "00:1b:21:0a:0b:0d"

NO_TRAFFIC = Absent("policy", "hostproof_window_seconds is 0: nothing is counted")
#: Of the next boot nothing is known to differ.
PERSISTED = Persisted([], None, [], None, 255, Device(None, None, None, ()), {})

LINKS = ("switch_port", "filer_port", "link")


def policy(**changes: Any) -> Policy:
    """One switch and one filer to ask."""
    asks = {"switches": [{"address": "sw1"}], "filers": [{"address": ADDRESS}]}
    sparing = {
        "snmp_timeout": 1,
        "snmp_retries": 0,
        "snmp_credentials": {"default": {"community": "s3cret community"}},
    }
    return policy_from(changed_policy("flow_control", **{**asks, **sparing, **changes}))


def nic(
    name: str = "eth1",
    mode: Pause | None = OFF,
    *,
    mac: str = HOST,
    permanent: str = "",
    bond: str | None = None,
    traffic: Any = NO_TRAFFIC,
    **changes: Any,
) -> NicFacts:
    facts = {"speed": 1000, "duplex": "full", "mtu": 1500, "carrier": True, **changes}
    pause: Any = PauseSettings(False, *(mode or OFF), None, None, None)
    force: Any = Direction(*mode) if mode else Absent("command:ethtool -a", "nobody tells")
    card = Nic(
        name=name, driver="e1000e", mac=mac, permanent_mac=permanent or mac, bond=bond,
        evidence=(f"link:/sys/class/net/{name}",), **facts,
    )  # fmt: skip
    return NicFacts(
        nic=card,
        roles=("storage",),
        rule=KEEP_ALL,
        pause=pause,
        settings=Absent("command:ethtool", "not asked here"),
        in_force=force,
        priorities=Absent("command:dcb", "the driver has no DCB"),
        persisted=PERSISTED,
        traffic=traffic,
    )


def counted(seconds: float = 5.0, rx: int | None = 0, tx: int | None = 0) -> Traffic:
    return Traffic(seconds, rx, tx, {}, None, ("sample:pause",))


def port(name: str, mode: Pause | None = OFF, **changes: Any) -> Port:
    """``pause`` and ``lost`` are (received, sent) within the five seconds of the sample."""
    paused, lost = changes.pop("paused", (0, 0)), changes.pop("lost", (0, 0))
    facts: dict[str, Any] = {
        "number": 34, "name": name, "description": "", "alias": "", "aggregate": False,
        "etherlike": True, "up": True, "speed": 1000, "duplex": "full", "mtu": 1500,
        "admin": mode, "oper": mode,
    }  # fmt: skip
    before = Counters(100, 200, 300, 400, 1000, 0)
    after = Counters(100 + paused[0], 200 + paused[1], 300 + lost[0], 400 + lost[1], 1500, 0)
    return Port(**{**facts, **changes}, before=before, after=after, evidence=(f"snmp:sw1 {name}",))


def switch_port(one: Port, *, aggregate: str = "", partner: int | None = None, uplink: str = ""):
    return SwitchPort("sw1", "core", one, "Q-BRIDGE", aggregate, partner, uplink)


def switch(missing: dict[str, str] | None = None, **behind: list[SwitchPort]) -> Switch:
    """host=…, filer=… or second=…: the ports that each is behind."""
    macs = {"host": HOST, "filer": FILER, "second": SECOND}
    ports = {macs[name]: tuple(group) for name, group in behind.items()}
    return Switch("sw1", "core", ports, missing or {}, ("snmp:sw1 network opening",))


def filer(*ports: Port) -> Filer:
    """With the ports of ONTAP."""
    filer_ports = tuple(FilerPort("na1", ADDRESS, FILER, item, "ONTAP", "") for item in ports)
    return Filer("na1", ADDRESS, filer_ports, ("snmp:na1 network opening",))


def way(*names: str, address: str = ADDRESS, role: str = "storage", mac: str = FILER) -> Path:
    return Path(role, f"NFS from {address}", address, names[0], None, mac, 1500, None, names, ())


def facts(
    *nics: NicFacts,
    switches: dict[str, Any] | None = None,
    filers: dict[str, Any] | None = None,
    paths: list[Path] | None = None,
    bonds: dict[str, Any] | None = None,
) -> Facts:
    """A host whose interfaces all lead to the filer, unless ``paths`` say something else."""
    ways = [way(*(interface.name for interface in nics))] if paths is None and nics else paths or []
    interfaces = Interfaces(
        {interface.name: interface.nic for interface in nics}, bonds or {}, ways, [], ()
    )
    return Facts(
        "Linux",
        interfaces,
        {interface.name: interface for interface in nics},
        switches or {},
        filers or {},
    )


def member(name: str, number: int | None = None) -> Member:
    return Member(name, True, 1000, "full", 0, HOST, 1, number, None)


def bond(*members: Member, active: str = "") -> Bond:
    mode = "fault-tolerance" if active else "IEEE"
    return Bond(mode, active, True, True, 1, "00:00:00:00:00:01", members)


def judged(seen: Facts, wanted: Policy | None = None, *checks: str) -> list[Finding]:
    """What the checks of these names say of it, else those of the other ends and the cables."""
    ids = {f"flow_control.{name}" for name in checks or LINKS}
    return [
        finding for finding in flow_control.judge(seen, wanted or policy()) if finding.check in ids
    ]
