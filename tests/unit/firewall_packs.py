"""Hosts with packet filters, as the control firewall reads them."""

from typing import Any

import packs
from ansible.module_utils.hostproof.controls.firewall.facts import NFT, SAVE
from ansible.module_utils.hostproof.controls.firewall.probes.loaders import SHOW, UNITS
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
        f"ActiveState={'active' if unit == (enabled or 'nftables') else 'inactive'}\n"
        for unit in dict.fromkeys((*UNITS, enabled or UNITS[0]))
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


#: eth0 is public; eth1 is the interconnect, with the address that Clusterware adds (HAIP).
ADDRESSES = """\
1: lo    inet 127.0.0.1/8 scope host lo
2: eth0    inet 192.0.2.10/24 brd 192.0.2.255 scope global eth0
2: eth0    inet 192.0.2.110/24 brd 192.0.2.255 scope global secondary eth0:1
3: eth1    inet 192.168.10.1/24 brd 192.168.10.255 scope global eth1
3: eth1    inet 169.254.12.7/19 brd 169.254.31.255 scope global eth1:1
"""
GETIF = "list the networks of Clusterware (oifcfg getif)"
NETWORKS = "eth0  192.0.2.0  global  public\neth1  192.168.10.0  global  cluster_interconnect,asm\n"


def node(machine: packs.Machine, addresses: str = ADDRESSES) -> packs.Machine:
    """A node of a cluster, with its interfaces."""
    grid = "/u01/app/19.0.0/grid/bin"
    for number, name in enumerate(("ocssd.bin", "crsd.bin"), 901):
        machine.process(f"{grid}/{name}", f"{grid}/{name}", pid=number, uid=54322)
    machine.command("getent passwd", "grid:x:54322:54321::/home/grid:/bin/bash\n")
    machine.command(GETIF, NETWORKS)
    return machine.command("ip -o addr show", addresses)


def save(machine: packs.Machine, text: str) -> packs.Machine:
    return machine.command(" ".join(SAVE), text)


def judged(machine: packs.Machine, **changes: Any) -> list[Finding]:
    return audit.judge_host(machine, {"firewall": changed_policy("firewall", **changes)})
