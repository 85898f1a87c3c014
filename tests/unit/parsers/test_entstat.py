"""entstat -d: link, flow control, counters and members of AIX's adapters."""

import pytest
from ansible.module_utils.hostproof.controls.flow_control.parsers import entstat
from ansible.module_utils.hostproof.errors import ParseError
from cases import cases
from packs import FIXTURES

FOLDER = FIXTURES / "entstat"


def read(name: str) -> entstat.Statistics:
    return entstat.parse((FOLDER / f"{name}.txt").read_text())


@cases(
    "name expected",
    ("goent-disabled", (True, 1000, "full", True, False, None, None, None)),
    ("elxent-enabled", (True, 10000, "full", None, True, None, 0, 0)),
    ("musent-enabled", (True, 1000, "full", True, True, None, 0, 0)),
    ("lnc2ent-dcbx", (True, 10000, "full", None, True, False, 0, 0)),
    ("shient-down", (False, None, None, None, True, None, 0, 0)),
    ("vioent", (None, None, None, None, None, None, None, None)),
    ("vlan", (None, None, None, None, None, None, None, None)),
)
def test_each_driver(name, expected):
    adapter = read(name).first
    assert expected == (
        adapter.up, adapter.speed, adapter.duplex, adapter.negotiated, adapter.flow_control,
        adapter.priority_flow_control, adapter.xoff_sent, adapter.xoff_received,
    )  # fmt: skip
    assert read(name).members == ()


def test_what_a_host_lost_is_on_the_receiving_side():
    lost = read("elxent-enabled").first.lost
    assert lost["DMA Overrun"] == 156783
    assert lost["Packets Dropped"] == 0
    assert read("musent-enabled").first.lost["Packets Dropped"] == 2046


def test_types_and_addresses():
    assert read("vlan").first.type == ""
    assert read("vioent").first.type == "Virtual I/O Ethernet Adapter (l-lan)"
    assert read("goent-disabled").first.mac == "e4:1f:13:fd:29:75"


def test_members_of_an_aggregation_with_their_lacp():
    whole = read("link-aggregation")
    assert whole.first.type == entstat.LINK_AGGREGATION
    assert whole.first.flow_control is None
    assert [member.name for member in whole.members] == ["ent4", "ent5"]
    assert whole.members[1].lacp == entstat.Lacp(2, 0x232D, "00:23:04:ee:be:9e", True)
    assert (whole.backup, whole.on_backup) == ("", None)


def test_a_member_that_does_not_distribute_is_not_in_use():
    text = (FOLDER / "link-aggregation.txt").read_text()
    text = text.replace("Distributing: Enabled", "Distributing: Disabled", 1)
    first, second = entstat.parse(text).members
    assert first.lacp is not None
    assert second.lacp is not None
    assert (first.lacp.in_use, second.lacp.in_use) == (False, True)


def test_the_backup_of_an_etherchannel():
    whole = read("etherchannel-backup")
    assert (whole.backup, whole.on_backup) == ("ent5", False)
    text = (FOLDER / "etherchannel-backup.txt").read_text()
    text = text.replace("Active channel: primary channel", "Active channel: backup adapter")
    assert entstat.parse(text).on_backup is True


@cases(
    "text",
    "",
    "entstat: 0909-003 Unable to connect to device ent9, errno = 19",
    "ETHERNET STATISTICS (ent0) :\n",
    "ETHERNET STATISTICS (ent0) :\nDevice Type: x\nHardware Address: none\n",
)
def test_what_is_no_output(text):
    with pytest.raises(ParseError):
        entstat.parse(text)
