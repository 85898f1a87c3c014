"""flow_control: receive ring, PCIe slot, and a slow link without PAUSE."""

import pytest
from ansible.module_utils.hostproof.controls.flow_control.parsers import ethtool_rings
from ansible.module_utils.hostproof.errors import ParseError
from nic_packs import Host, fixture, policy, settings_text, storage_host


@pytest.fixture
def judge(findings_of):
    def judge_host(host: Host, check: str):
        (finding,) = findings_of("flow_control", host, policy())[check]
        return finding

    return judge_host


class TestReceiveRing:
    def test_below_its_maximum(self, judge):
        finding = judge(storage_host().rings("ens4", 256), "receive_ring")
        assert finding.status == "warn" and finding.commands == ("ethtool -G ens4 rx 4096",)
        assert finding.fix.index("take the link down for a moment") < finding.fix.index("maximum")
        assert finding.fix.endswith("put RxBufferSize=4096 into the .link file of ens4")
        assert (finding.running, finding.desired) == ("rx 256", "rx 4096")

    def test_at_its_maximum(self, judge):
        assert judge(storage_host().rings("ens4", 4096), "receive_ring").status == "pass"

    def test_unknown_and_not_supported(self, judge):
        host = storage_host().command("ethtool -g ens4", fixture("pause-virtio-stderr.txt"), 1)
        assert judge(host, "receive_ring").status == "skip"
        host = storage_host()
        host.command("ethtool -g ens4", "Cannot get device ring settings: No such device\n", 1)
        assert judge(host, "receive_ring").status == "error"

    def test_the_form_of_later_releases(self):
        text = fixture("rings-e1000.txt").replace("Mini:\t0", "Mini:\tn/a")
        assert ethtool_rings.parse(text + "RX Buf Len:\t\tn/a\n") == (256, 4096)
        assert ethtool_rings.parse(text.replace("RX:\t\t256", "RX:\t\tn/a")) == (None, 4096)
        for bad in ("", "Ring parameters for eth0:\n", text.partition("Current")[0]):
            with pytest.raises(ParseError):
                ethtool_rings.parse(bad)


class TestSlot:
    def test_fewer_lanes_than_the_adapter_has(self, judge):
        finding = judge(storage_host().slot("ens4", 4, 8, node=1), "pcie_width")
        assert finding.status == "warn"
        assert finding.running == "PCIe x4 of x8 at 0000:3b:00.0, NUMA node 1"
        finding = judge(storage_host().slot("ens4", 8, 8, node=-1), "pcie_width")
        assert finding.status == "pass"
        assert finding.running == "PCIe x8 of x8 at 0000:3b:00.0, no NUMA node"

    def test_a_virtual_function_and_no_pci_device(self, judge):
        assert judge(storage_host().slot("ens4", 0, 255), "pcie_width").status == "skip"
        assert judge(storage_host(), "pcie_width").status == "skip"


class TestSlowLinkWithoutPause:
    """Article 001: neither the 100 Mb/s card nor the switch port supports flow control."""

    def test_it_warns(self, judge):
        text = settings_text("ens4", "100Mb/s", "Full")
        finding = judge(storage_host(pause=None, speed=100, settings=text), "supported")
        assert finding.status == "warn"
        assert finding.why.startswith(
            "The link has 100 Mb/s and no PAUSE: a faster server overruns"
        )

    def test_a_gigabit_link_does_not(self, judge):
        assert judge(storage_host(pause=None), "supported").status == "skip"
