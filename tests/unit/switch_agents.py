"""Switches and filers that are made up for tests, as their SNMP agents would show them.

The columns are those of IF-MIB (RFC 2863), EtherLike-MIB (RFC 3635), Q-BRIDGE-MIB (RFC 4363),
BRIDGE-MIB (RFC 4188), LLDP-MIB, IEEE8023-LAG-MIB, CISCO-VTP-MIB and, from its text alone,
NETAPP-MIB: no agent of ONTAP was at hand. switch_truth.py knows recordings of real switches.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from ansible.module_utils.hostproof.collect.host import Secret
from ansible.module_utils.hostproof.controls.flow_control.snmp import ethernet_port as columns
from packs import RECORDED_AT
from snmp_agents import Agent, Asked, Filers

Rows = dict[str, tuple[str, str]]

INTEGER, STRING, OID, ADDRESS, COUNTER, GAUGE, TICKS, COUNTER64 = (
    *("2", "4", "6", "64", "65", "66", "67", "70"),
)
HOST, FILER = "00:1b:21:0a:0b:0c", "02:a0:98:12:34:56"
UPTIME = "1.3.6.1.2.1.1.3.0"
CISCO = "1.3.6.1.4.1.9.1.1208"


def system(name: str, kind: str = "1.3.6.1.4.1.30065.1", uptime: int = 100000) -> Rows:
    return {
        "1.3.6.1.2.1.1.2.0": (OID, kind),
        "1.3.6.1.2.1.1.5.0": (STRING, name),
        UPTIME: (TICKS, str(uptime)),
    }


def port(number: int, name: str, **changes: Any) -> Rows:
    """A port of 1 Gb/s with PAUSE off; None takes a value away."""
    values: dict[str, tuple[str, str, Any]] = {
        "description": (columns.DESCRIPTION, STRING, name),
        "shown": (columns.NAME, STRING, name),
        "alias": (columns.ALIAS, STRING, ""),
        "kind": (columns.TYPE, INTEGER, 6),
        "mtu": (columns.MTU, INTEGER, 1500),
        "bits": (columns.SPEED, GAUGE, 1000000000),
        "speed": (columns.HIGH_SPEED, GAUGE, 1000),
        "status": (columns.STATUS, INTEGER, 1),
        "duplex": (columns.DUPLEX, INTEGER, 3),
        "admin": (columns.PAUSE_ADMIN, INTEGER, 1),
        "oper": (columns.PAUSE_OPER, INTEGER, 1),
        "in_pause": (columns.IN_PAUSE, COUNTER, 0),
        "out_pause": (columns.OUT_PAUSE, COUNTER, 0),
        "in_pause_64": (columns.IN_PAUSE_64, COUNTER64, None),
        "out_pause_64": (columns.OUT_PAUSE_64, COUNTER64, None),
        "in_discards": (columns.IN_DISCARDS, COUNTER, 0),
        "out_discards": (columns.OUT_DISCARDS, COUNTER, 0),
        "discontinuity": (columns.DISCONTINUITY, TICKS, 0),
        "address": (columns.ADDRESS, "4x", None),
    }
    assert set(changes) <= set(values)
    rows = {}
    for key, (column, tag, usual) in values.items():
        value = changes.get(key, usual)
        if value is not None:
            rows[f"{column}.{number}"] = (tag, str(value))
    return rows


def unit(number: int, name: str, kind: int = 53) -> Rows:
    """An interface above a port (or, kind 161, some) that has nothing of EtherLike-MIB."""
    none = dict.fromkeys(("duplex", "admin", "oper", "in_pause", "out_pause"))
    return port(number, name, kind=kind, **none)


def arcs(mac: str) -> str:
    return ".".join(str(int(part, 16)) for part in mac.split(":"))


def learned(mac: str, bridge_port: int, table: int = 1) -> Rows:
    """In Q-BRIDGE-MIB."""
    oid = f"1.3.6.1.2.1.17.7.1.2.2.1.2.{table}.{arcs(mac)}"
    return {oid: (INTEGER, str(bridge_port))}


def learned_in_bridge(mac: str, bridge_port: int) -> Rows:
    return {f"1.3.6.1.2.1.17.4.3.1.2.{arcs(mac)}": (INTEGER, str(bridge_port))}


def bridge_ports(**interfaces: int) -> Rows:
    """p5=105: bridge port 5 is ifIndex 105."""
    return {
        f"1.3.6.1.2.1.17.1.4.1.2.{name[1:]}": (INTEGER, str(number))
        for name, number in interfaces.items()
    }


def above(higher: int, *lower: int) -> Rows:
    return {f"1.3.6.1.2.1.31.1.2.1.3.{higher}.{index}": (INTEGER, "1") for index in lower}


def bundle(number: int, **partners: int) -> Rows:
    """g7=2: ifIndex 7 is a member whose partner calls its port 2."""
    lag = "1.2.840.10006.300.43.1.2.1.1."
    rows: Rows = {f"{lag}13.{number}": (INTEGER, str(number))}
    for name, partner in partners.items():
        rows[f"{lag}13.{name[1:]}"] = (INTEGER, str(number))
        rows[f"{lag}17.{name[1:]}"] = (INTEGER, str(partner))
    return rows


def neighbour(
    local: int, local_id: str, mac: str, name: str = "", *, bridge: bool = False, chassis: str = ""
) -> Rows:
    """Somebody whose chassis (or, else, port) has this MAC, on a local port of this number."""
    row, remote = f"0.{local}.1", "1.0.8802.1.1.2.1.4.1.1."
    bare = mac.replace(":", "")
    rows = {
        f"1.0.8802.1.1.2.1.3.7.1.3.{local}": (STRING, local_id),
        f"{remote}4.{row}": (INTEGER, "7" if chassis else "4"),
        f"{remote}5.{row}": (STRING, chassis) if chassis else ("4x", bare),
        f"{remote}6.{row}": (INTEGER, "3"),
        f"{remote}7.{row}": ("4x", bare),
        f"{remote}9.{row}": (STRING, name),
        f"{remote}12.{row}": ("4x", "2800" if bridge else "0100"),
    }
    return rows


def vlans(*numbers: int, idle: int = 0) -> Rows:
    state = "1.3.6.1.4.1.9.9.46.1.3.1.1.2.1."
    rows = {f"{state}{number}": (INTEGER, "1") for number in numbers}
    return {**rows, f"{state}{idle}": (INTEGER, "2")} if idle else rows


# -- ONTAP, from the text of NETAPP-MIB ------------------------------------------------------------

NETWORK = "1.3.6.1.4.1.789.1.22."
PHYSICAL, GROUP, VLAN = 0, 1, 2


def text_index(*texts: str) -> str:
    return ".".join(".".join(map(str, (len(text), *map(ord, text)))) for text in texts)


def netport(name: str, node: str = "n1", **changes: Any) -> Rows:
    """A port of 10 Gb/s with flow control none; None takes a value away."""
    values: dict[str, tuple[int, str, Any]] = {
        "node": (1, STRING, node),
        "name": (2, STRING, name),
        "link": (4, INTEGER, 2),
        "mtu": (5, INTEGER, 9000),
        "duplex": (9, INTEGER, 3),
        "speed": (12, INTEGER, 10000),
        "mac": (13, STRING, FILER),
        "kind": (15, INTEGER, PHYSICAL),
        "within": (17, STRING, ""),
        "above": (21, STRING, ""),
        "admin": (23, INTEGER, 1),
        "oper": (24, INTEGER, 1),
    }
    assert set(changes) <= set(values)
    rows = {}
    for key, (column, tag, usual) in values.items():
        value = changes.get(key, usual)
        if value is not None:
            rows[f"{NETWORK}2.1.{column}.{text_index(node, name)}"] = (tag, str(value))
    return rows


def lif(address: str, port_name: str, node: str = "n1", name: str = "nfs1") -> Rows:
    row = text_index("svm1", name)
    return {
        f"{NETWORK}4.1.6.{row}": (STRING, node),
        f"{NETWORK}4.1.7.{row}": (STRING, port_name),
        f"{NETWORK}4.1.11.{row}": (ADDRESS, "0.0.0.0" if ":" in address else address),
        f"{NETWORK}4.1.30.{row}": (STRING, f"{address}/24"),
    }


def group(name: str, ports: str, node: str = "n1") -> Rows:
    row = text_index(node, name)
    return {
        f"{NETWORK}3.1.1.{row}": (STRING, node),
        f"{NETWORK}3.1.2.{row}": (STRING, name),
        f"{NETWORK}3.1.7.{row}": (STRING, ports),
    }


def netif(number: int, name: str, received: int = 0, sent: int = 0) -> Rows:
    return {
        f"{NETWORK}1.2.1.2.{number}": (STRING, name),
        f"{NETWORK}1.2.1.28.{number}": (COUNTER64, str(received)),
        f"{NETWORK}1.2.1.34.{number}": (COUNTER64, str(sent)),
    }


# -- agents ---------------------------------------------------------------------------------------


def agent(*parts: Rows) -> Agent:
    return Agent({oid: row for part in parts for oid, row in part.items()})


def write_record(path: Path, *parts: Rows) -> None:
    """The same for snmpsim, which wants its lines in the order of the OIDs."""
    rows = {tuple(map(int, oid.split("."))): row for part in parts for oid, row in part.items()}
    lines = [
        f"{'.'.join(map(str, oid))}|{tag}|{value}" for oid, (tag, value) in sorted(rows.items())
    ]
    path.write_text("".join(line + "\n" for line in lines))


class Contexts(Filers):
    """A host that reaches one switch, whose agent differs by community or SNMPv3 context.

    ``within``: community, or context where there is one, to agent. Who is not there is silent.
    """

    def __init__(self, **within: Agent) -> None:
        super().__init__()
        self.within = within

    def run_with_secret(self, key: str, argv: list[str], secret: Secret, timeout: float = 20.0):
        if key not in self.evidence:
            settings = dict(re.findall(r'^(\w+) "?([^"\n]*)"?$', secret.text, re.MULTILINE))
            name = settings.get("defContext") or settings.get("defCommunity") or ""
            device = self.within.get(name)
            silent = (1, "", f"Timeout: No Response from {argv[argv.index('-r') + 2]}.\n")
            rc, output, errors = silent if device is None else device.reply(argv)
            self.asked.append(Asked(argv, secret))
            self.evidence[key] = {
                "kind": "command", "at": RECORDED_AT,
                "argv": argv, "rc": rc, "stdout": output, "stderr": errors,
            }  # fmt: skip
        return super().run_with_secret(key, argv, secret, timeout)
