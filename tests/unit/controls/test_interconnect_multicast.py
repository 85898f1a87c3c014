"""interconnect.multicast, from records of what came from another node.

Real packets between two nodes on a bridge: tests/wire/test_group_packets.py.
"""

import pytest
from ansible.module_utils.hostproof.evaluate import audit
from cases import cases
from interconnect_packs import PEER, Node, policy

PEERS = [{"address": PEER}]
ADDRESSES = "2: eth1    inet 192.168.10.1/24 brd 192.168.10.255 scope global eth1\n"
KINDS = {"224.0.0.251": 50, "230.0.1.0": 50, "broadcast": 50, "unicast": 50}


def heard(**changes):
    """A node and what it received from its peer, by the kind of packet."""
    node = Node().way().command("ip -o addr show", ADDRESSES)
    counts = {**KINDS, **changes}
    figures = {f"{PEER} {kind}": count for kind, count in counts.items() if count is not None}
    node.measured["group packets"] = {"windows": [], "remarks": [], "figures": figures}
    return node


def verdict(node, **changes):
    values = {"peers": PEERS, "multicast_seconds": 10, **changes}
    findings = audit.judge_host(node, {"interconnect": policy(**values)})
    (finding,) = [one for one in findings if one.check == "interconnect.multicast"]
    return finding


@cases(
    "counts status says",
    ({}, "pass", ""),
    # Optional since Oracle 12.1.
    ({"230.0.1.0": 0}, "pass", ""),
    ({"224.0.0.251": 0}, "fail", "0 packets to 224.0.0.251 arrived, but 50 unicast packets"),
    ({"broadcast": 0}, "fail", "0 packets to the broadcast address arrived"),
    ({"224.0.0.251": 0, "broadcast": 0}, "fail", "251 and 0 packets to the broadcast address"),
    ({"224.0.0.251": 0, "broadcast": 3}, "fail", "251 and 3 packets to the broadcast address"),
    ({"224.0.0.251": 24}, "warn", "24 packets to 224.0.0.251 arrived, but 50 unicast"),
    ({"224.0.0.251": 25, "broadcast": 25}, "pass", ""),
    ({"unicast": 5, "224.0.0.251": 0}, "fail", "but 5 unicast packets"),
    # Not enough to know that the node was sending.
    ({"unicast": 4}, "error", "only 4 packets of 192.168.10.2 came"),
    ({"unicast": 0, "224.0.0.251": 0}, "error", "audit all nodes in one run"),
    ({"broadcast": None}, "error", "record it again"),
    ({"unicast": "many"}, "error", "record it again"),
    ({"224.0.0.251": -1}, "error", "record it again"),
)
def test_each_kind_of_packet(counts, status, says):
    finding = verdict(heard(**counts))
    assert finding.status == status
    assert status == "pass" or says in finding.why


def test_the_counts_are_shown():
    counts = "224.0.0.251: 50, 230.0.1.0: 0, broadcast: 50, unicast: 50"
    assert verdict(heard(**{"230.0.1.0": 0})).in_use == counts


def test_a_record_without_it_is_unknown():
    node = heard()
    del node.measured["group packets"]
    assert verdict(node).status == "error"


def test_unknown_addresses_are_an_error():
    assert verdict(heard().command("ip -o addr show", "", 1)).status == "error"


def test_a_node_behind_a_router_is_skipped():
    node = heard().command("ip -o addr show", ADDRESSES.replace("192.168.10", "192.168.20"))
    finding = verdict(node)
    assert finding.status == "skip" and "private IPv4 network" in finding.why


def test_its_own_address_is_skipped():
    assert verdict(heard().way(over="lo")).why == "It is an address of this host."


def test_it_is_off_by_default():
    node = heard()
    finding = verdict(node, multicast_seconds=0)
    assert finding.status == "skip"
    assert "windows:group packets" not in node.evidence
    assert "interconnect_multicast_seconds is 0" in finding.why


def test_the_fix_names_what_is_lost():
    fix = verdict(heard(broadcast=0)).fix
    assert fix.startswith("permit packets to the broadcast address on the switch")


def test_a_network_of_two_addresses_has_no_broadcasts():
    node = heard().command("ip -o addr show", ADDRESSES.replace("/24 brd 192.168.10.255", "/31"))
    assert verdict(node).status == "skip"


@cases("seconds", -1, 1, 1.9, 61, "ten")
def test_other_numbers_of_seconds_are_rejected(seconds):
    with pytest.raises(Exception, match="interconnect_multicast_seconds"):
        verdict(heard(), multicast_seconds=seconds)


@cases("seconds", 2, 60)
def test_from_two_seconds_to_a_minute_is_accepted(seconds):
    assert verdict(heard(), multicast_seconds=seconds).status == "pass"
