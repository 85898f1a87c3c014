"""What the kernel answers when it is asked for a route."""

import socket
from pathlib import Path

import pytest
from ansible.module_utils.hostproof.controls.latency.parsers import rtnetlink
from ansible.module_utils.hostproof.controls.latency.parsers.rtnetlink import UNICAST, Flow, Route
from ansible.module_utils.hostproof.errors import ParseError
from cases import cases

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures/rtnetlink"
ENTRY, TAKEN = 1, 2


def recorded(name: str) -> bytes:
    return bytes.fromhex((FIXTURES / f"{name}.hex").read_text())


@cases(
    "name gateway",
    ("on-link", None),
    ("on-link-ipv6", None),
    ("gateway", "192.0.2.2"),
    ("gateway-ipv6", "2001:db8::2"),
    ("gateway-of-ipv6", "2001:db8::2"),
)
def test_one_way(name, gateway):
    for sequence, kind in ((ENTRY, "entry"), (TAKEN, "taken")):
        route = rtnetlink.parse(recorded(f"{name}-{kind}"), sequence)
        assert route == Route(UNICAST, 2, gateway, several=False)


@cases("name", "several-ways", "several-ways-ipv6")
def test_several_ways_are_seen_in_the_entry_alone(name):
    entry = rtnetlink.parse(recorded(f"{name}-entry"), ENTRY)
    assert (entry.interface, entry.several) == (None, True)
    taken = rtnetlink.parse(recorded(f"{name}-taken"), TAKEN)
    assert taken.interface in (2, 3)
    assert not taken.several


def test_no_route():
    error = (36).to_bytes(4, "little") + b"\2\0" + b"\0" * 30
    assert rtnetlink.parse(error, 0) is None


def test_an_answer_to_another_question():
    with pytest.raises(ParseError, match="answers question 2, not 7"):
        rtnetlink.parse(recorded("gateway-taken"), 7)


@cases("length", 0, 15, 16, 60)
def test_cut_off(length):
    with pytest.raises(ParseError):
        rtnetlink.parse(recorded("gateway-taken")[:length], TAKEN)


def test_the_question_holds_all_that_rules_choose_by():
    flow = Flow(socket.AF_INET, "192.0.2.1", "203.0.113.9", 40000, 1521, 54321, 7)
    message = rtnetlink.request(flow, 5, as_it_stands=False)
    assert len(message) % 4 == 0
    assert int.from_bytes(message[:4], "little") == len(message)
    for value in (
        socket.inet_aton(flow.source),
        socket.inet_aton(flow.destination),
        (40000).to_bytes(2, "big"),
        (1521).to_bytes(2, "big"),
        (54321).to_bytes(4, "little"),
        b"\x08\0\x10\0\7\0\0\0",
    ):
        assert value in message
