"""dladm and route get of Solaris and AIX."""

import pytest
from ansible.module_utils.hostproof.controls.flow_control.parsers import dladm, route_get
from ansible.module_utils.hostproof.errors import ParseError
from cases import cases
from packs import FIXTURES


def text(name: str) -> str:
    return (FIXTURES / name).read_text()


def test_links_and_what_they_stand_on():
    links = {link.name: link for link in dladm.parse_links(text("dladm/show-link.txt"))}
    assert links["aggr1"] == dladm.Link("aggr1", "aggr", 9000, True, ("net1", "net2"))
    assert links["storage7"].over == ("aggr1",)
    assert links["net0"].over == ()


def test_speed_and_duplex():
    links = {link.name: link for link in dladm.parse_physical(text("dladm/show-phys.txt"))}
    assert links["net1"] == dladm.Physical("net1", True, 10000, "full", "ixgbe0")
    assert links["net3"] == dladm.Physical("net3", None, None, None, "ixgbe2")


def test_addresses_get_two_digits_a_byte():
    assert dladm.parse_addresses(text("dladm/show-phys-m.txt")) == {"net0": "00:14:4f:d9:08:01"}


@cases(
    "name expected",
    ("opensolaris", ("e1000g0", "bi", None)),
    ("solaris11", ("net0", "auto", "no")),
    ("persistent", ("net0", "rx", None)),
)
def test_flow_control(name, expected):
    assert dladm.parse_flow_control(text(f"dladm/linkprop-{name}.txt")) == expected


def test_no_value_is_none_and_an_unknown_one_is_no_answer():
    whole = text("dladm/linkprop-persistent.txt")
    assert dladm.parse_flow_control(whole.replace(" rx  ", " --  ")).value is None
    with pytest.raises(ParseError, match="flowctrl is a word of 4"):
        dladm.parse_flow_control(whole.replace(" rx  ", " both"))


@cases("wrong", "", "e1000g0 type: non-vlan mtu: 1500 device: e1000g0\n")
def test_another_form_is_no_answer(wrong):
    for parse in (dladm.parse_links, dladm.parse_physical, dladm.parse_flow_control):
        with pytest.raises(ParseError):
            parse(wrong)


def test_routes():
    assert route_get.parse(text("route_get/aix.txt")) == ("192.0.2.51", "en2", None)
    there = route_get.parse(text("route_get/solaris-gateway.txt"))
    assert there == ("198.51.100.9", "net0", "192.0.2.1")


@cases("wrong", "", "not in table\n", "   route to: 192.0.2.1\n")
def test_no_route(wrong):
    with pytest.raises(ParseError):
        route_get.parse(wrong)
