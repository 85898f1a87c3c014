"""The path host, switch, filer as one chain, and the verdict about each cable of it.

The host's end is a real e1000e. Switch and filer are net-snmp's agent with the objects that a test
gives it (molecule/lab/agent_table.py); the filer's port is built from NETAPP-MIB's description.
"""

import pytest
from flow_lab import COMMUNITY, FULL, NONE, FilerState, PortState, chain, filer_table, switch_table

#: The two ends of the host's cable, as findings name them.
HOST_CABLE = "{} <-> sw1 Gi1/0/1 flow_control.link"
FILER_CABLE = "sw1 Gi1/0/2 <-> 127.0.0.1:1162 node1:e0a flow_control.link"


@pytest.fixture(scope="module")
def agents(flow, flow_untouched):
    flow.start_agents()
    yield
    card = flow.card(1)
    flow.set_speed(card, "speed 1000 duplex full autoneg on")
    flow.run(f"ethtool -A {card} autoneg on")


def test_all_off(flow, agents):
    card = flow.card(1)
    flow.set_pause(card, "off", "off")
    flow.tell(switch_table(PortState(NONE), PortState(NONE)), filer_table(FilerState(NONE)))
    judged = flow.judge_path_by_a_play()
    finding = judged.finding(HOST_CABLE.format(card))
    print("all off:", chain(finding))
    assert chain(finding) == (
        f"{card} [rx off tx off, 1000 Mb/s full] <-> sw1 Gi1/0/1 [rx off tx off, 1000 Mb/s full] "
        "... sw1 Gi1/0/2 [rx off tx off, 1000 Mb/s full] <-> "
        "127.0.0.1:1162 node1:e0a [rx off tx off, 1000 Mb/s full]"
    )
    assert finding["status"] == "pass"
    assert judged.statuses()[FILER_CABLE] == "pass"
    assert judged.statuses()[f"{card} flow_control.switch_port"] == "pass"
    assert judged.statuses()["10.9.2.2 flow_control.filer_port"] == "pass"
    assert judged.statuses()["10.9.2.2 flow_control.path_speed"] == "pass"
    assert COMMUNITY not in judged.output


def test_all_on(flow, agents):
    card = flow.card(1)
    flow.set_pause(card, "on", "on")
    flow.tell(switch_table(PortState(FULL), PortState(FULL)), filer_table(FilerState(FULL)))
    judged = flow.judge_path()
    finding = judged.finding(HOST_CABLE.format(card))
    print("all on:", chain(finding))
    assert chain(finding) == (
        f"{card} [rx on tx on, 1000 Mb/s full] <-> sw1 Gi1/0/1 [rx on tx on, 1000 Mb/s full] "
        "... sw1 Gi1/0/2 [rx on tx on, 1000 Mb/s full] <-> "
        "127.0.0.1:1162 node1:e0a [rx on tx on, 1000 Mb/s full]"
    )
    assert finding["status"] == "pass"
    assert judged.statuses()[FILER_CABLE] == "pass"
    # Each cable is in order; that the filer obeys PAUSE is told where it is judged by itself.
    assert judged.statuses()["10.9.2.2 flow_control.filer_port"] == "warn"


def test_one_sided(flow, agents):
    card = flow.card(1)
    flow.set_pause(card, "on", "on")
    flow.tell(switch_table(PortState(NONE), PortState(FULL)), filer_table(FilerState(NONE)))
    judged = flow.judge_path()
    finding = judged.finding(HOST_CABLE.format(card))
    print("one-sided:", chain(finding))
    assert f"{card} [rx on tx on, 1000 Mb/s full] <-> sw1 Gi1/0/1 [rx off tx off" in chain(finding)
    assert finding["status"] == "fail"
    assert f"{card} sends PAUSE that sw1 Gi1/0/1 does not obey" in finding["why"]
    other = judged.finding(FILER_CABLE)
    assert other["status"] == "fail"
    assert "sw1 Gi1/0/2 sends PAUSE" in other["why"]


def test_half_duplex(flow, agents):
    card = flow.card(1)
    flow.set_pause(card, "off", "off")
    flow.set_speed(card, "speed 100 duplex half autoneg off")
    half = PortState(NONE, speed=100, duplex=2)
    flow.tell(switch_table(half, PortState(NONE, speed=100)), filer_table(FilerState(NONE, 100)))
    judged = flow.judge_path()
    finding = judged.finding(HOST_CABLE.format(card))
    print("half duplex:", chain(finding))
    assert (
        f"{card} [rx off tx off, 100 Mb/s half] <-> sw1 Gi1/0/1 [rx off tx off, 100 Mb/s half]"
        in (chain(finding))
    )
    assert finding["status"] == "fail"
    assert "half duplex, so PAUSE is not in use, even if it is set" in finding["why"]
    assert judged.statuses()[f"{card} flow_control.full_duplex"] == "fail"


def test_a_slow_host_that_a_fast_filer_overruns(flow, agents):
    """The case study: 100 Mb host, Gigabit filer, discards and no PAUSE."""
    card = flow.card(1)
    flow.set_speed(card, "speed 100 duplex full autoneg off")
    flow.set_pause(card, "off", "off")
    overrun = PortState(NONE, speed=100, discards=1846)
    flow.tell(switch_table(overrun, PortState(NONE)), filer_table(FilerState(NONE)))
    judged = flow.judge_path()
    finding = judged.finding(HOST_CABLE.format(card))
    print("speed mismatch with discards:", chain(finding))
    assert f"{card} [rx off tx off, 100 Mb/s full] <-> " in chain(finding)
    assert "node1:e0a [rx off tx off, 1000 Mb/s full]" in chain(finding)
    assert finding["status"] == "fail"
    assert "discarded 1846 frames" in finding["why"]
    assert "from the 1000 Mb/s end of the connection" in finding["why"]
    assert "is overrunning the port buffers at the 100 Mb/s end" in finding["why"]
    assert "no PAUSE slows it down" in finding["why"]
    assert judged.statuses()["10.9.2.2 flow_control.path_speed"] == "warn"


def test_a_mode_that_is_unknown_is_said_as_unknown(flow, agents):
    """Counters only, as a Nexus 5000 gives them."""
    card = flow.card(1)
    flow.set_speed(card, "speed 1000 duplex full autoneg on")
    flow.set_pause(card, "off", "off")
    flow.tell(
        switch_table(PortState(None, pauses=25), PortState(NONE)), filer_table(FilerState(NONE))
    )
    judged = flow.judge_path()
    finding = judged.finding(HOST_CABLE.format(card))
    print("mode unknown:", chain(finding))
    assert "sw1 Gi1/0/1 [PAUSE unknown" in chain(finding)
    assert "25" in chain(finding)
    # It counts what it sends, and the host is known not to obey that.
    assert finding["status"] in ("error", "fail")
    assert judged.statuses()[f"{card} flow_control.switch_port"] in ("error", "warn")
    assert judged.statuses()[FILER_CABLE] == "pass"
