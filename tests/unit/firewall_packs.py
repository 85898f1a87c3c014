"""Hosts with packet filters, as the control firewall reads them."""

from typing import Any

import packs
from ansible.module_utils.hostproof.controls.firewall.facts import NFT, SAVE, SHOW, UNITS
from ansible.module_utils.hostproof.evaluate import audit
from ansible.module_utils.hostproof.evaluate.finding import Finding
from default_policies import changed_policy

FOLDER = packs.FIXTURES / "firewall"
NO_SOCKETS = "Netid State  Recv-Q Send-Q Local Address:Port  Peer Address:PortProcess\n"
LISTENER = NO_SOCKETS + 'tcp LISTEN 0 128 *:1521 *:* users:(("tnslsnr",pid=2101,fd=16))\n'
NO_RULES = '{"nftables": [{"metainfo": {"version": "1.0.6", "json_schema_version": 1}}]}\n'


def fixture(name: str) -> str:
    return (FOLDER / name).read_text()


def host(rules: str = NO_RULES, sockets: str = NO_SOCKETS, enabled: str = "") -> packs.Machine:
    """A host whose kernel has these rules; ``enabled`` is the unit that loads rules at boot."""
    machine = packs.linux().file("/proc/sys/kernel/osrelease", "5.14.0-427.el9.x86_64\n")
    blocks = [
        f"Id={unit}.service\nUnitFileState={'enabled' if unit == enabled else ''}\n"
        for unit in UNITS
    ]
    machine.command(" ".join(SHOW), "\n".join(blocks))
    machine.command(" ".join(NFT), rules)
    return machine.command("ss -lntup", sockets)


def with_firewalld(machine: packs.Machine, zone: str) -> packs.Machine:
    """firewalld with a zone; its services are as it ships them."""
    machine.file("/etc/firewalld/firewalld.conf", "# a comment\nDefaultZone=public\n")
    machine.file("/etc/firewalld/zones/public.xml", zone)
    for name, port in (("ssh", "22"), ("dhcpv6-client", "546")):
        protocol = "tcp" if name == "ssh" else "udp"
        text = f'<service><short>x</short><port protocol="{protocol}" port="{port}"/></service>'
        machine.file(f"/usr/lib/firewalld/services/{name}.xml", text)
    return machine


def save(machine: packs.Machine, text: str) -> packs.Machine:
    return machine.command(" ".join(SAVE), text)


def judged(machine: packs.Machine, **changes: Any) -> list[Finding]:
    return audit.judge_host(machine, {"firewall": changed_policy("firewall", **changes)})
