"""A port over SNMP: its modes, its speed, and what was counted between two readings."""

import pytest
from ansible.module_utils.hostproof.controls.flow_control.snmp import ethernet_port
from ansible.module_utils.hostproof.controls.flow_control.snmp.ethernet_port import (
    FROZEN,
    UNREAD,
    UNSEEN,
    Counters,
    Delta,
    Pause,
)
from ansible.module_utils.hostproof.snmp import tools as snmp
from cases import cases
from snmp_agents import Filers
from switch_agents import UPTIME, agent, port, system

TARGET = snmp.Target("sw1", 161, snmp.Credentials("2c", "s3cret"), 1, 0)


def read(**changes) -> ethernet_port.Port:
    host = Filers().agent("sw1", agent(system("core"), port(34, "Gi1/0/1", **changes)))
    return ethernet_port.read_port(host, TARGET, 34)


class TestMode:
    @cases(
        "number mode",
        (1, Pause(rx=False, tx=False)),
        (2, Pause(rx=False, tx=True)),
        (3, Pause(rx=True, tx=False)),
        (4, Pause(rx=True, tx=True)),
    )
    def test_as_ethtool_means_it(self, number, mode):
        assert read(oper=number, admin=1).oper == mode
        assert read(admin=number, oper=1).admin == mode

    @cases("number", 0, 5, 255, None)
    def test_what_is_no_mode_is_unknown(self, number):
        state = read(oper=number, admin=number)
        assert (state.oper, state.admin) == (None, None)

    def test_a_text_is_no_mode(self):
        rows = port(34, "Gi1/0/1")
        rows[f"{ethernet_port.PAUSE_OPER}.34"] = ("4", "4")
        host = Filers().agent("sw1", agent(system("core"), rows))
        assert ethernet_port.read_port(host, TARGET, 34).oper is None

    def test_a_set_mode_is_not_taken_for_one_in_force(self):
        assert read(admin=4, oper=None).oper is None


class TestState:
    @cases("number duplex", (1, None), (2, "half"), (3, "full"), (0, None))
    def test_duplex(self, number, duplex):
        assert read(duplex=number).duplex == duplex

    @cases(
        "bits megabits speed",
        *((1000000000, 1000, 1000), (4294967295, 10000, 10000), (1410065408, 10000, 10000)),
        *((100000000, 100000000, 100), (4294967295, 10000000000, 10000), (100000000, 0, 100)),
        *((100000000, None, 100), (4294967295, None, None), (0, 0, None), (None, None, None)),
    )
    def test_speed(self, bits, megabits, speed):
        assert read(bits=bits, speed=megabits).speed == speed

    @cases("number up", (1, True), (2, False), (7, False), (None, None))
    def test_up(self, number, up):
        assert read(status=number).up is up

    def test_name(self):
        assert read().name == "Gi1/0/1"
        assert read(shown=None).name == "Gi1/0/1"
        assert read(shown=None, description=None).name == "interface 34"

    def test_a_name_is_one_printable_line(self):
        assert read(shown="Gi1\n\x1b[31m/0/1" + "x" * 500).name.isprintable()
        assert len(read(shown="x" * 500).name) == 80

    def test_what_the_agent_does_not_have_is_unknown(self):
        state = read(mtu=None, in_pause=None, out_discards=None)
        assert (state.mtu, state.before.in_pause, state.before.out_discards) == (None, None, None)

    def test_a_port_in_one_request_without_the_secret(self):
        host = Filers().agent("sw1", agent(system("core"), port(34, "Gi1/0/1")))
        state = ethernet_port.read_port(host, TARGET, 34)
        assert len(host.asked) == 1
        assert state.evidence == ("snmp:sw1 port 34",)
        assert "s3cret" not in str(host.asked[0].argv) + str(host.evidence)


class TestCounters:
    def test_64_bits_where_they_are_counted(self):
        assert read(in_pause=7, in_pause_64=2**32 + 7).before.in_pause == 2**32 + 7
        assert read(in_pause=7, in_pause_64=0).before.in_pause == 7
        assert read(in_pause=None, in_pause_64=9).before.in_pause == 9

    def test_two_readings(self):
        host = Filers().agent("sw1", agent(system("core"), port(34, "Gi1", out_discards=10)))
        first = ethernet_port.read_port(host, TARGET, 34)
        assert first.delta == UNSEEN
        later = port(34, "Gi1", out_discards=1542, in_pause=3)
        host.agent("sw1", agent(system("core", uptime=100500), later))
        again = ethernet_port.read_again(host, TARGET, first)
        assert again.delta == Delta(5.0, 3, 0, 0, 1532)
        assert again.evidence == ("snmp:sw1 port 34", "snmp:sw1 port 34 again")


ZERO = Counters(0, 0, 0, 0, 1000, 0)


class TestDifference:
    def test_a_counter_of_32_bits_begins_again(self):
        before = ZERO._replace(in_discards=2**32 - 5)
        after = ZERO._replace(in_discards=3, uptime=1500)
        assert ethernet_port.difference(before, after).in_discards == 8

    def test_a_clock_that_stands_still_gives_no_rate(self):
        after = ZERO._replace(out_discards=9)
        assert ethernet_port.difference(ZERO, after) == UNSEEN._replace(fault=FROZEN)

    def test_a_second_reading_without_answer_is_told_from_none(self):
        host = Filers().agent("sw1", agent(system("core"), port(34, "Gi1")))
        first = ethernet_port.read_port(host, TARGET, 34)
        assert first._replace(unread=True).delta == UNSEEN._replace(fault=UNREAD)

    def test_one_that_was_cleared_is_unknown(self):
        before = ZERO._replace(in_discards=5000)
        assert ethernet_port.difference(before, ZERO).in_discards is None

    def test_one_of_64_bits_that_goes_down_was_cleared(self):
        before = ZERO._replace(in_pause=2**40)
        assert ethernet_port.difference(before, ZERO).in_pause is None

    def test_an_agent_that_was_restarted_counts_anew(self):
        before, after = ZERO._replace(uptime=500000), ZERO._replace(uptime=200, out_discards=9)
        assert ethernet_port.difference(before, after) == UNSEEN

    def test_but_its_clock_may_begin_again(self):
        before, after = ZERO._replace(uptime=2**32 - 100), ZERO._replace(uptime=400)
        assert ethernet_port.difference(before, after).seconds == 5.0

    def test_a_port_that_counts_anew(self):
        after = ZERO._replace(uptime=1500, discontinuity=1400, in_pause=5)
        assert ethernet_port.difference(ZERO, after) == UNSEEN._replace(seconds=5.0)

    def test_without_a_clock_the_seconds_are_unknown(self):
        before, after = ZERO._replace(uptime=None), ZERO._replace(uptime=None, in_pause=5)
        delta = ethernet_port.difference(before, after)
        assert (delta.seconds, delta.in_pause) == (None, 5)

    @cases("side", 0, 1)
    def test_what_is_counted_only_once_is_unknown(self, side):
        pair = [ZERO, ZERO]
        pair[side] = ZERO._replace(in_pause=None)
        assert ethernet_port.difference(*pair).in_pause is None


def test_nobody_answers():
    with pytest.raises(snmp.NoAnswer):
        ethernet_port.read_port(Filers(), TARGET, 34)


def test_the_clock_is_the_agents():
    assert UPTIME == ethernet_port.UPTIME
