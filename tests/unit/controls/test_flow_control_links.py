"""The chain from host to filer and the verdict on each cable: no host, no agent, only sides."""

from typing import Any

from ansible.module_utils.hostproof.controls.flow_control import links
from ansible.module_utils.hostproof.controls.flow_control.links import Path, Side
from ansible.module_utils.hostproof.controls.flow_control.snmp.ethernet_port import (
    UNSEEN,
    Delta,
    Pause,
)
from ansible.module_utils.hostproof.evaluate.checking import Verdict
from ansible.module_utils.hostproof.evaluate.finding import ERROR, FAIL, PASS, SKIP, WARN
from cases import cases

OFF, ON = Pause(False, False), Pause(True, True)
RX, TX = Pause(True, False), Pause(False, True)
QUIET = Delta(5.0, 0, 0, 0, 0)


def side(name: str, pause: Pause | None = OFF, **changes: Any) -> Side:
    return Side(name, pause, pause, 1000, "full", 1500, True, QUIET, (0, 0))._replace(**changes)


def path(
    host: Side | None = None,
    host_port: Side | None = None,
    filer_port: Side | None = None,
    filer: Side | None = None,
) -> Path:
    return Path(
        host or side("eth1"),
        host_port or side("sw1 Gi1/0/1"),
        filer_port or side("sw1 Gi1/0/24"),
        filer or side("na1 n1:e0a"),
        True,
        "",
        "",
        "",
    )


class TestCable:
    """What one end sends the other must obey, whichever end it is."""

    @cases("near", OFF, ON, RX, TX)
    @cases("far", OFF, ON, RX, TX)
    def test_every_pair_of_modes(self, near, far):
        verdict = links.judge_cable(side("eth1", near), side("sw1 Gi1", far))
        ignored = (near.tx and not far.rx) or (far.tx and not near.rx)
        assert verdict.status == (FAIL if ignored else PASS)
        assert links.judge_cable(side("sw1 Gi1", far), side("eth1", near)).status == verdict.status

    def test_says_who_does_not_obey(self):
        verdict = links.judge_cable(side("eth1", OFF), side("sw1 Gi1", TX))
        assert verdict.why.startswith("sw1 Gi1 sends PAUSE that eth1 does not obey")
        assert verdict.fix == ("let eth1 obey PAUSE (rx on), or let sw1 Gi1 not send it (tx off)")

    def test_both_ways(self):
        verdict = links.judge_cable(side("eth1", TX), side("sw1 Gi1", TX))
        assert "eth1 sends PAUSE that sw1 Gi1 does" in verdict.why
        assert "sw1 Gi1 sends PAUSE that eth1 does" in verdict.why

    def test_frames_that_nobody_obeys_are_counted(self):
        far = side("sw1 Gi1", TX, delta=Delta(5.0, 0, 17, 0, 0))
        assert "(17 frames within 5.0 s)" in links.judge_cable(side("eth1", OFF), far).why

    def test_one_end_that_obeys_what_never_comes_is_said(self):
        verdict = links.judge_cable(side("eth1", RX), side("sw1 Gi1", OFF))
        assert verdict.why == "eth1 would obey PAUSE, but sw1 Gi1 does not send it."

    @cases("end", 0, 1)
    def test_down_is_no_verdict(self, end):
        sides = [side("eth1", ON), side("sw1 Gi1", OFF)]
        sides[end] = sides[end]._replace(up=False)
        verdict = links.judge_cable(*sides)
        assert (verdict.status, verdict.why) == (SKIP, f"{sides[end].name} is down.")

    def test_two_speeds_are_no_cable(self):
        verdict = links.judge_cable(side("eth1", ON, speed=1000), side("sw1 Te1", ON, speed=10000))
        assert verdict.status == ERROR and "not the two ends of one cable" in verdict.why

    def test_an_unknown_speed_is_no_difference(self):
        assert links.judge_cable(side("eth1", ON, speed=None), side("sw1 Gi1", ON)).status == PASS


class TestDuplex:
    def test_mismatch(self):
        verdict = links.judge_cable(side("eth1", ON, duplex="half"), side("sw1 Gi1", ON))
        assert verdict.status == FAIL
        assert "eth1 is half duplex and sw1 Gi1 is full duplex" in verdict.why
        assert "late collisions" in verdict.why

    def test_both_half(self):
        near, far = side("eth1", ON, duplex="half"), side("sw1 Gi1", OFF, duplex="half")
        verdict = links.judge_cable(near, far)
        assert verdict.status == FAIL
        assert verdict.why.startswith("eth1 and sw1 Gi1: half duplex, so PAUSE is not in use")

    def test_half_beside_unknown(self):
        verdict = links.judge_cable(side("eth1", duplex=None), side("sw1 Gi1", duplex="half"))
        assert verdict.status == FAIL and verdict.why.startswith("sw1 Gi1: half duplex")


class TestUnknownMode:
    """Unknown is said as unknown, with what is counted."""

    def test_is_never_a_pass(self):
        for mode in (OFF, ON, RX, TX):
            assert links.judge_cable(side("eth1", mode), side("sw1 Gi1", None)).status == ERROR
        assert links.judge_cable(side("eth1", None), side("sw1 Gi1", None)).status == ERROR

    def test_counters_only(self):
        far = side("sw1 Eth1/1", None, delta=Delta(5.0, 12, 0, 0, 0), seen=(812, 3), wanted=None)
        verdict = links.judge_cable(side("eth1", RX), far)
        assert verdict.status == ERROR
        assert verdict.why == (
            "The PAUSE mode of sw1 Eth1/1 is unknown; counted: 12 frames received and 0 sent "
            "within 5.0 s, 812 received and 3 sent since it counts. eth1 has rx on tx off."
        )

    def test_what_is_not_counted_is_said(self):
        far = side("sw1 Eth1/1", None, delta=UNSEEN, seen=(None, None))
        assert "it counts no PAUSE frames" in links.judge_cable(side("eth1"), far).why

    def test_frames_that_were_sent_prove_that_it_sends(self):
        far = side("sw1 Eth1/1", None, delta=Delta(5.0, 0, 4, 0, 0))
        verdict = links.judge_cable(side("eth1", TX), far)
        assert verdict.status == FAIL
        assert "sw1 Eth1/1 sends PAUSE (4 frames within 5.0 s) that eth1 does not" in verdict.why

    def test_but_not_against_who_obeys(self):
        far = side("sw1 Eth1/1", None, delta=Delta(5.0, 0, 4, 0, 0))
        assert links.judge_cable(side("eth1", RX), far).status == ERROR


class TestDiscards:
    """The case study: a 100 Mb host, a Gigabit filer, and a switch port that runs over."""

    LOST = Delta(5.0, 0, 0, 0, 1532)

    def study(self, lost: Delta = LOST, pause: Pause | None = OFF, filer: Pause | None = ON):
        return path(
            host=side("eth1", OFF, speed=100),
            host_port=side("sw1 Fa1/0/1", OFF, speed=100, delta=lost),
            filer_port=side("sw1 Gi1/0/24", pause),
            filer=side("na1 n1:e0a", filer),
        )

    def verdict(self, one: Path, limit: int = 0) -> links.Verdict:
        ((_port, verdict),) = links.judge_discards(one, limit)
        return verdict

    def test_the_finding_in_its_words(self):
        verdict = self.verdict(self.study())
        assert verdict.status == FAIL
        assert verdict.why == (
            "sw1 Fa1/0/1 discarded 1532 frames toward eth1 within 5.0 s (Out-Discards): traffic "
            "pushed from the 1000 Mb/s end of the connection (na1 n1:e0a) is overrunning the port "
            "buffers at the 100 Mb/s end, and no PAUSE slows it down."
        )
        assert verdict.fix.startswith("connect both ends with the same speed")

    @cases(
        "port filer words",
        (ON, ON, "although it obeys PAUSE"),
        (ON, OFF, "and no PAUSE slows it down"),
        (RX, ON, "and no PAUSE slows it down"),
        (None, ON, "is unknown"),
        (ON, None, "is unknown"),
        (None, OFF, "and no PAUSE slows it down"),
    )
    def test_whether_pause_reaches_the_faster_end(self, port, filer, words):
        verdict = self.verdict(self.study(pause=port, filer=filer))
        assert verdict.status == FAIL and words in verdict.why

    def test_a_slow_filer_alike(self):
        route = path(
            host=side("eth1", OFF, speed=10000),
            host_port=side("sw1 Te1", OFF, speed=10000),
            filer_port=side("sw1 Gi24", OFF, delta=self.LOST),
        )
        verdict = self.verdict(route)
        assert verdict.status == FAIL
        assert "from the 10000 Mb/s end of the connection (eth1)" in verdict.why

    def test_without_a_difference_of_speed_it_warns(self):
        verdict = self.verdict(path(host_port=side("sw1 Gi1/0/1", OFF, delta=self.LOST)))
        assert verdict.status == WARN and "PAUSE does not slow down the senders" in verdict.why

    def test_an_unknown_filer_is_no_difference(self):
        assert self.verdict(self.study()._replace(filer=None, filer_port=None)).status == WARN

    def test_what_comes_in(self):
        route = path(host_port=side("sw1 Gi1/0/1", OFF, delta=Delta(5.0, 0, 0, 9, 0)))
        verdict = self.verdict(route)
        assert verdict.status == WARN
        assert "discarded 9 frames that came in within 5.0 s (In-Discards)" in verdict.why
        assert "and sends no PAUSE" in verdict.why

    def test_the_limit(self):
        assert links.judge_discards(self.study(), 1532) == []
        assert len(links.judge_discards(self.study(), 1531)) == 1

    @cases("lost", QUIET, UNSEEN)
    def test_none_or_unknown_is_no_discard(self, lost):
        assert links.judge_discards(self.study(lost), 0) == []


class TestChain:
    """One line a path, with each side's rx and tx."""

    def test_whole(self):
        route = path(
            host=side("eth1", RX),
            host_port=side("sw1 Gi1/0/1", TX),
            filer_port=side("sw1 Te1/1", ON, speed=10000),
            filer=side("na1 n1:e0a", OFF, speed=10000),
        )
        assert route.chain == (
            "eth1 [rx on tx off, 1000 Mb/s full] <-> sw1 Gi1/0/1 [rx off tx on, 1000 Mb/s full]"
            " ... sw1 Te1/1 [rx on tx on, 10000 Mb/s full]"
            " <-> na1 n1:e0a [rx off tx off, 10000 Mb/s full]"
        )

    def test_what_is_unknown_is_said(self):
        route = path(host_port=side("sw1 Eth1/1", None, wanted=ON, delta=UNSEEN, seen=(5, None)))
        route = route._replace(filer=None, filer_port=None, why_no_filer="it does not answer")
        assert route.chain == (
            "eth1 [rx off tx off, 1000 Mb/s full] <-> "
            "sw1 Eth1/1 [PAUSE unknown; set to rx on tx on; 5 received and ? sent since it counts,"
            " 1000 Mb/s full] ... switch port unknown <-> filer unknown"
        )

    def test_without_switches(self):
        route = path()._replace(switched=False, host_port=None, filer_port=None)
        assert route.chain == (
            "eth1 [rx off tx off, 1000 Mb/s full] ... na1 n1:e0a [rx off tx off, 1000 Mb/s full]"
        )

    def test_without_a_filer(self):
        route = path()._replace(filer=None, filer_port=None)
        assert route.chain.endswith("sw1 Gi1/0/1 [rx off tx off, 1000 Mb/s full]")

    def test_half_a_speed(self):
        assert side("eth1", speed=None, duplex=None).text == "eth1 [rx off tx off, speed unknown]"
        assert side("eth1", duplex=None).text == "eth1 [rx off tx off, 1000 Mb/s]"
        assert side("eth1", up=False).text == "eth1 [rx off tx off, down]"


class TestBundle:
    def test_alike(self):
        bundle = links.bundled([side("sw1 Gi1", ON, seen=(1, None)), side("sw1 Gi2", ON)])
        assert bundle == side("sw1 Gi1 + sw1 Gi2", ON, seen=(1, 0))

    def test_different_is_unknown(self):
        bundle = links.bundled(
            [side("sw1 Gi1", ON), side("sw1 Gi2", OFF, speed=100, duplex="half", up=False)]
        )
        assert (bundle.pause, bundle.wanted, bundle.speed, bundle.duplex, bundle.up) == (None,) * 5

    def test_counts_are_added(self):
        lost = Delta(5.0, 1, None, 3, 4)
        bundle = links.bundled([side("a", delta=lost), side("b", delta=lost)])
        assert bundle.delta == Delta(5.0, 2, None, 6, 8)

    def test_one_is_itself(self):
        assert links.bundled([side("a")]) == side("a")


class TestWorst:
    def test_says_what_is_no_pass(self):
        verdict = links.worst(
            [Verdict(PASS, "good."), Verdict(WARN, "less.", "b"), Verdict(FAIL, "bad.", "a")]
        )
        assert verdict == Verdict(FAIL, "bad. less.", "a; b")

    def test_nothing_is_no_pass(self):
        assert links.worst([]).status == ERROR
