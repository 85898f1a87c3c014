#!/usr/bin/env python3
"""Every port of every recorded switch: its PAUSE modes and counters, beside what the record has.

    tests/snmp/pause.py [FOLDER]     (../shared/data/snmp unless a folder is given)

snmpsim serves the records, and net-snmp's tool asks them, one request for each port as for a port
of a real switch. Some MAC addresses of each are looked for, too. Fails where a mode or a counter
differs from the record or from its truth.json, where a mode is shown that the record has not, and
where an address is not found that the record has on one port, or is found on another.
"""

import os
import sys
import tempfile
from pathlib import Path

import ansible.module_utils

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/unit"))
ansible.module_utils.__path__.append(str(ROOT / "module_utils"))
if len(sys.argv) > 1:
    os.environ["HOSTPROOF_SNMP_DATA"] = str(Path(sys.argv[1]).resolve())

import agents  # noqa: E402
import switch_truth  # noqa: E402
from ansible.module_utils.hostproof.collect.host import LiveHost  # noqa: E402
from ansible.module_utils.hostproof.controls.flow_control.snmp import ethernet_port, switch_port  # noqa: E402
from ansible.module_utils.hostproof.controls.storage_type.snmp import storage_agent  # noqa: E402
from ansible.module_utils.hostproof.snmp import tools as snmp  # noqa: E402

AT_ONCE = 4
#: MAC addresses that are looked for on each switch.
ADDRESSES = 20


def main() -> int:
    if not switch_truth.records():
        print(f"SKIPPED no recorded switches in {switch_truth.FOLDER}")
        print("pause: 0 passed, 0 failed, 1 skipped")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        try:
            with agents.snmpsim(switch_truth.FOLDER, Path(folder, "cache")) as port:
                rows = storage_agent.in_parallel(
                    lambda path: look_at(path, port), switch_truth.records(), AT_ONCE
                )
        except agents.Unavailable as reason:
            print(f"SKIPPED {reason}")
            print("pause: 0 passed, 0 failed, 1 skipped")
            return 0
    print(switch_truth.HEAD)
    for row in rows:
        print(row.text())
    ports = sum(len(row.ports) for row in rows)
    known = sum(interface.oper is not None for row in rows for interface in row.ports)
    print(f"== {len(rows)} switches, {ports} ports, {known} with a mode in force")
    failed = sum(bool(row.faults) for row in rows)
    print(f"pause: {len(rows) - failed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


def look_at(path: Path, port: int) -> switch_truth.Row:
    host = LiveHost()
    target = snmp.Target("127.0.0.1", port, snmp.Credentials("2c", path.stem), 5, 2)
    summary, faults = look_for_addresses(host, target, path)
    row = switch_truth.compare(
        path, lambda number: ethernet_port.read_port(host, target, number), summary
    )
    return row._replace(faults=row.faults + faults)


def look_for_addresses(host: LiveHost, target: snmp.Target, path: Path) -> tuple[str, list[str]]:
    """How many of some addresses are found, and what is wrong about it."""
    rows = switch_truth.lines_of(path)
    places = switch_truth.addresses_of(rows)
    macs = sorted(places)[:: max(1, len(places) // ADDRESSES)][:ADDRESSES]
    switch = switch_port.read_switch(host, target, macs)
    faults = []
    for mac in macs:
        interfaces = {rows.get(f"1.3.6.1.2.1.17.1.4.1.2.{place}") for place in places[mac]} - {
            None,
            "0",
        }
        got = {str(entry.port.number) for entry in switch.ports.get(mac, ())}
        # A port of a bundle, or below a unit of an interface, has another number than its bundle.
        if len(interfaces) == 1 and not got:
            faults.append(f"{mac} is not found: {switch.missing[mac]}")
        if got and not any(entry.aggregate for entry in switch.ports[mac]) and got != interfaces:
            faults.append(f"{mac} is behind {interfaces}, not {got}")
    return f"{len(switch.ports)} of {len(macs)}", faults


if __name__ == "__main__":
    sys.exit(main())
