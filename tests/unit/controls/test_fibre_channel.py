"""Fibre Channel HBAs: speed against what they support, and their PCIe slot."""

from typing import Any

import pytest
from block_packs import recorded
from packs import Machine

ADDRESS = "0000:5e:00.1"


@pytest.fixture
def judge(findings_of):
    def judge_host(host: Machine, check: str) -> list[Any]:
        from default_policies import default_policy

        return findings_of("block_devices", host, default_policy("block_devices"))[check]

    return judge_host


def hba(
    speed: str = "4 Gbit",
    supported: str = "2 Gbit, 4 Gbit, 8 Gbit",
    state: str = "Online",
    width: int = 8,
) -> Machine:
    """An 8 Gbit/s HBA behind a switch of 4 Gbit/s, as in article 000."""
    folder = "/sys/class/fc_host/host3"
    machine = recorded().folder("/sys/class/fc_host", folder)
    machine.link(folder, f"/sys/devices/pci0000:5d/{ADDRESS}/host3/fc_host/host3")
    real = f"/sys/devices/pci0000:5d/{ADDRESS}/host3/fc_host/host3"
    for name, value in (("port_state", state), ("speed", speed), ("supported_speeds", supported)):
        machine.file(f"{real}/{name}", value + "\n")
    slot = f"/sys/bus/pci/devices/{ADDRESS}"
    machine.file(f"{slot}/current_link_width", f"{width}\n")
    machine.file(f"{slot}/max_link_width", "8\n").file(f"{slot}/numa_node", "0\n")
    return machine


def test_8_gbit_hba_on_a_4_gbit_switch(judge):
    (finding,) = judge(hba(), "hba_speed")
    assert finding.status == "warn" and finding.title.startswith("host3: ")
    assert finding.why == "It runs at 4 Gbit/s, and supports 8 Gbit/s."


def test_the_highest_speed_passes(judge):
    (finding,) = judge(hba("8 Gbit"), "hba_speed")
    assert (finding.status, finding.running) == ("pass", "8 Gbit/s")


def test_a_port_without_a_link_and_an_unknown_speed(judge):
    (finding,) = judge(hba("unknown", state="Linkdown"), "hba_speed")
    assert finding.status == "skip"
    (finding,) = judge(hba("unknown"), "hba_speed")
    assert (finding.status, "shows no speed" in finding.why) == ("error", True)
    assert [finding.status for finding in judge(hba(supported="unknown"), "hba_speed")] == ["error"]


def test_lanes_and_the_numa_node(judge):
    (finding,) = judge(hba(width=4), "hba_pcie_width")
    assert (finding.status, finding.running) == ("warn", f"PCIe x4 of x8 at {ADDRESS}, NUMA node 0")
    assert [finding.status for finding in judge(hba(), "hba_pcie_width")] == ["pass"]


def test_a_host_without_an_hba(judge):
    (finding,) = judge(recorded(), "hba_speed")
    assert (finding.status, finding.why) == ("skip", "This host has no Fibre Channel HBA.")
