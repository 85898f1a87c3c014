"""Baselines of two moments: what is compared, what is a problem, what all hosts show together."""

import json
import math
import random
import stat
from pathlib import Path
from typing import Any

import pytest
from ansible.module_utils.hostproof.collect import evidence
from ansible.module_utils.hostproof.collect.host import RecordedHost
from ansible.module_utils.hostproof.collect.measured import Window, window_from_samples
from ansible.module_utils.hostproof.controls.latency.measurement import disk_counters
from ansible.module_utils.hostproof.errors import HostproofError
from cases import cases
from hostproof_controller.gate import gating
from hostproof_controller.latency import baseline, change_findings, comparing, fleet
from hostproof_controller.latency.baseline import Baseline, NoBaseline
from hostproof_controller.latency.verdict import INCONCLUSIVE, SLOWER, UNCHANGED

TCP = {"probe": "tcp", "host": "192.0.2.1", "port": 1521, "mode": "request_response"}
CONDITIONS = {"cpus": 4, "kernel": "6.1", "load": 0.5}


def tcp_windows(
    level: float, number: int = 10, layer: str = "user", seed: str = "", **conditions: Any
) -> list[Window]:
    """Windows of 1000 samples around ``level`` microseconds, which scatter by a per cent."""
    chance = random.Random(f"{level} {layer} {seed}")
    windows = []
    for count in range(number):
        middle = level * 1000 * math.exp(chance.gauss(0, 0.01))
        samples = [int(middle * (0.9 + 0.2 * step / 1000)) for step in range(1000)]
        windows.append(
            window_from_samples(
                "tcp",
                "192.0.2.1:1521",
                layer,
                12,
                1000.0 + count,
                3.0,
                samples,
                {**CONDITIONS, **conditions},
            )
        )
    return windows


def disk_windows(name: str, figures: list[float | None], layer: str = "read") -> list[Window]:
    return [
        Window(
            "disk",
            name,
            layer,
            None,
            1000.0 + count,
            3.0,
            100,
            figure,
            figure,
            figure,
            None,
            None,
            figure,
            None,
            {**CONDITIONS, "per_second": 100.0},
        )
        for count, figure in enumerate(figures)
    ]


def measured(
    windows: list[Window], probes: list[dict[str, Any]] | None = None, **others: Any
) -> Baseline:
    made = Baseline(
        "db01",
        "2026-11-21T18:00:00Z",
        [TCP] if probes is None else probes,
        10,
        3.0,
        20.0,
        windows,
        [],
    )
    return made._replace(**others)


def verdict_of(before: Any, after: Any) -> comparing.HostVerdict:
    return comparing.compare_hosts({"db01": (before, after)})["db01"]


def test_a_host_of_which_no_probe_gave_a_window_is_an_error():
    nothing = comparing.HostVerdict("db01", [], [], [])
    (finding,) = change_findings.judge_host(nothing, None, None).findings
    assert (finding.status, finding.running) == ("error", "no probe gave a window")


def statuses(one: comparing.HostVerdict, unchanged: bool = False) -> list[str]:
    return [f.status for f in change_findings.judge_host(one, None, None, unchanged).findings]


class TestOneHost:
    @cases(
        "after verdict status",
        (400, UNCHANGED, "pass"),
        (480, SLOWER, "fail"),
        (330, "faster", "pass"),
        (420, INCONCLUSIVE, "warn"),
    )
    def test_the_verdict_of_a_figure_is_the_status_of_its_finding(self, after, verdict, status):
        result = verdict_of(measured(tcp_windows(400)), measured(tcp_windows(after, seed="after")))
        (series,) = result.series
        assert [figure.name for figure in series.figures] == ["p50", "p99"]
        assert series.figures[0].comparison.verdict == verdict
        assert statuses(result) == [status]

    def test_every_layer_and_size_is_a_series_of_its_own(self):
        sides = [
            measured(tcp_windows(level) + tcp_windows(90, layer="kernel")) for level in (400, 480)
        ]
        verdict = verdict_of(*sides)
        assert [series.series.layer for series in verdict.series] == ["user", "kernel"]
        assert statuses(verdict) == ["fail", "pass"]

    def test_what_the_host_adds_is_a_part_that_does_not_fail_alone(self):
        before = measured(tcp_windows(400) + tcp_windows(3, layer="host"))
        after = measured(tcp_windows(400, seed="b") + tcp_windows(5, layer="host"))
        verdict = verdict_of(before, after)
        assert verdict.series[1].figures[0].comparison.verdict == SLOWER
        assert statuses(verdict) == ["pass", "warn"]

    def test_hosts_left_unchanged_warn_where_others_fail(self):
        verdict = verdict_of(measured(tcp_windows(400)), measured(tcp_windows(480)))
        assert statuses(verdict, unchanged=True) == ["warn"]

    def test_more_figures_share_one_error(self):
        sides = [measured(tcp_windows(level)) for level in (400, 440)]
        alone = verdict_of(*sides).series[0].figures[0].comparison.interval
        many = comparing.compare_hosts({f"db{n}": tuple(sides) for n in range(200)})
        shared = many["db7"].series[0].figures[0].comparison.interval
        assert shared.low < alone.low
        assert shared.high > alone.high

    def test_a_baseline_that_moves_by_itself_gives_no_verdict(self):
        before = measured(tcp_windows(400, 5) + tcp_windows(500, 5))
        verdict = verdict_of(before, measured(tcp_windows(800)))
        assert verdict.series[0].figures[0].comparison.verdict == INCONCLUSIVE
        assert statuses(verdict) == ["warn"]
        stability = comparing.stability(before)
        assert (stability.unstable, stability.figures) == (["tcp 192.0.2.1:1521 user 12 B p50"], 1)

    def test_conditions_that_differ_are_named(self):
        after = tcp_windows(400, seed="b", cpus=2, kernel="6.6", steal_percent=5.0, load=9.0)
        verdict = verdict_of(measured(tcp_windows(400)), measured(after))
        text = "; ".join(verdict.series[0].remarks)
        assert "CPUs: 4 before, 2 after" in text
        assert "kernel: 6.1 before, 6.6 after" in text
        assert "took up to 5% of the CPUs" in text
        assert "the load was up to 9.0" in text
        (finding,) = change_findings.judge_host(verdict, None, None).findings
        assert "note: CPUs: 4 before, 2 after" in finding.running


PATH = {
    "peer": "192.0.2.1",
    "interface": "eth0",
    "route": "via 192.0.2.254",
    "source_address": "192.0.2.9",
    "mtu": 1500,
    "mss": 1448,
}


class TestAnotherPath:
    """Route, MTU and interface may be the change that is tested: said first, and no refusal."""

    def compare(self, level: float = 400, **after: Any) -> comparing.HostVerdict:
        path = {name: value for name, value in {**PATH, **after}.items() if value is not None}
        return verdict_of(
            measured(tcp_windows(400, **PATH)), measured(tcp_windows(level, seed="b", **path))
        )

    @cases(
        "name after said",
        ("peer", "192.0.2.2", "address of the other side: 192.0.2.1 before, 192.0.2.2 after"),
        ("interface", "bond0", "network interface: eth0 before, bond0 after"),
        ("route", "on link", "route: via 192.0.2.254 before, on link after"),
        ("source_address", "192.0.2.8", "own address: 192.0.2.9 before, 192.0.2.8 after"),
        ("mtu", 9000, "MTU: 1500 before, 9000 after"),
        ("mss", 8948, "largest segment: 1448 before, 8948 after"),
    )
    @cases("level status", (400, "pass"), (480, "fail"))
    def test_it_stands_before_the_verdict_and_changes_none(self, level, status, name, after, said):
        verdict = self.compare(level, **{name: after})
        (finding,) = change_findings.judge_host(verdict, None, None).findings
        assert finding.status == status
        assert finding.running.startswith(f"another path than before ({said}); p50 ")
        assert verdict.other_paths == [f"tcp 192.0.2.1:1521: another path than before ({said})"]

    def test_the_same_path_is_nothing_to_say(self):
        verdict = self.compare()
        assert verdict.other_paths == []
        (finding,) = change_findings.judge_host(verdict, None, None).findings
        assert "path" not in finding.running

    def test_a_baseline_that_does_not_tell_it_is_nothing_to_say(self):
        """Of an older Hostproof, or of a system that does not tell."""
        verdict = self.compare(**dict.fromkeys(PATH))
        assert verdict.other_paths == []

    def test_each_target_is_said_once(self):
        layers = [("user", 400), ("kernel", 300)]
        sides = [
            measured([w for layer, n in layers for w in tcp_windows(n, layer=layer, mtu=mtu)])
            for mtu in (1500, 9000)
        ]
        assert len(verdict_of(*sides).other_paths) == 1

    def test_what_could_not_be_compared_says_it_too(self):
        after = measured(tcp_windows(400, 3, mtu=9000))
        verdict = verdict_of(measured(tcp_windows(400, mtu=1500)), after)
        findings = change_findings.judge_host(verdict, None, None).findings
        assert "another path than before (MTU: 1500 before, 9000 after); not compared" in [
            finding.running for finding in findings
        ]

    def test_an_nfs_mount_from_another_server(self):
        sides = []
        for source, connections in (("filer1:/vol", 1), ("filer2:/vol", 8)):
            windows = [
                window._replace(
                    probe="nfs",
                    subject="/u02 READ",
                    layer="server",
                    conditions={**window.conditions, "source": source, "connections": connections},
                )
                for window in disk_windows("x", [300.0] * 10)
            ]
            sides.append(measured(windows, [{"probe": "nfs"}]))
        text = "export: filer1:/vol before, filer2:/vol after; connections: 1 before, 8 after"
        assert verdict_of(*sides).other_paths == [
            f"nfs /u02 READ: another path than before ({text})"
        ]


class TestWhatIsMissing:
    """A figure on one side alone must never look like no difference."""

    def error(self, before: Any, after: Any) -> str:
        verdict = verdict_of(before, after)
        findings = change_findings.judge_host(verdict, None, None).findings
        assert "error" in {finding.status for finding in findings}
        assert "pass" not in {finding.status for finding in findings}
        return " ".join(f"{f.running} {f.why}" for f in findings if f.status == "error")

    @cases("side", "before", "after")
    def test_a_side_that_was_never_measured(self, side):
        sides: list[Any] = [measured(tcp_windows(400)), measured(tcp_windows(400))]
        sides[side == "after"] = "there is no baseline /tmp/x.json"
        assert f"{side}: there is no baseline" in self.error(*sides)

    def test_no_window_after(self):
        error = self.error(measured(tcp_windows(400)), measured([]))
        assert "10 windows before and in 0 after" in error

    def test_no_window_before(self):
        error = self.error(measured([]), measured(tcp_windows(400)))
        assert "0 windows before and in 10 after" in error

    def test_too_few_windows_after(self):
        error = self.error(measured(tcp_windows(400)), measured(tcp_windows(400, 3)))
        assert "10 windows before and in 3 after" in error

    def test_no_window_at_all(self):
        assert "tcp 192.0.2.1:1521 request_response was not measured" in self.error(
            measured([]), measured([])
        )

    def test_an_idle_disk_is_skipped_beside_a_busy_one(self):
        idle: list[float | None] = [None] * 10
        probes = [{"probe": "disk"}]
        busy = [300.0 + n for n in range(10)]
        sides = [
            measured(disk_windows("sda", list(busy)) + disk_windows("sdb", idle), probes)
            for _ in range(2)
        ]
        verdict = verdict_of(*sides)
        assert statuses(verdict) == ["pass", "skip"]

    def test_all_idle_is_an_error(self):
        probes = [{"probe": "disk"}]
        sides = [measured(disk_windows("sda", [None] * 10), probes) for _ in range(2)]
        verdict = verdict_of(*sides)
        assert not verdict.measured
        assert "error" in statuses(verdict)
        assert comparing.unmeasured(sides[0])

    def test_that_a_figure_is_inexact_is_no_reason_for_another_that_is_missing(self):
        ticks = disk_counters.tick_remarks({"dm-1": disk_counters.NO_QUEUE}, 4000.0)[0]
        side = measured([])._replace(remarks=["disk: " + ticks, "tcp: nobody answers"])
        error = self.error(side, side)
        assert "nobody answers" in error and "ticks" not in error

    def test_a_disk_that_went_idle_is_an_error(self):
        probes = [{"probe": "disk"}]
        busy = measured(disk_windows("sda", [300.0] * 10), probes)
        assert "10 windows before" in self.error(
            busy, measured(disk_windows("sda", [None] * 10), probes)
        )

    def test_a_nearly_idle_disk_that_nobody_named_is_no_fault(self):
        """In how many windows it has requests enough is chance."""
        probes = [{"probe": "disk"}]
        busy = [300.0 + n for n in range(10)]
        few: list[float | None] = [300.0] * 3 + [None] * 7
        more: list[float | None] = [300.0] * 4 + [None] * 6
        for first, other in ((few, more), (more, few)):
            sides = [
                measured(disk_windows("sda", list(busy)) + disk_windows("sdb", figures), probes)
                for figures in (first, other)
            ]
            assert statuses(verdict_of(*sides)) == ["pass", "skip"]

    def test_a_disk_that_was_named_by_a_link_must_be_measured_itself(self):
        probes = [{"probe": "disk", "devices": ["sda", "/dev/mapper/data"]}]
        windows = disk_windows("sda", [300.0] * 10)
        assert comparing.unmeasured(measured(windows, probes)) == [
            "disk /dev/mapper/data was not measured"
        ]
        unnamed = windows + disk_windows("dm-3", [300.0] * 10)
        windows += [
            window._replace(conditions=dict(window.conditions, named=["/dev/mapper/data"]))
            for window in disk_windows("dm-3", [300.0] * 10)
        ]
        assert comparing.unmeasured(measured(windows, probes)) == []
        # One side tells it: the name is the same disk's on the other.
        sides = (measured(unnamed, probes), measured(windows, probes))
        assert verdict_of(*sides).problems == []

    def test_a_mode_does_not_answer_for_another(self):
        """A listener that refuses is no less refused for a port that accepts connections."""
        probes = [dict(TCP, mode=mode) for mode in ("handshake", "tns_ping")]
        windows = [window._replace(size=None) for window in tcp_windows(400, mode="handshake")]
        assert comparing.unmeasured(measured(windows, probes)) == [
            "tcp 192.0.2.1:1521 tns_ping was not measured"
        ]

    def test_modes_are_series_of_their_own(self):
        probes = [dict(TCP, mode=mode) for mode in ("handshake", "tns_ping")]
        windows = [
            window._replace(size=None)
            for mode in ("handshake", "tns_ping")
            for window in tcp_windows(400, layer="net", mode=mode)
        ]
        side = measured(windows, probes)
        assert [series.series.name for series in verdict_of(side, side).series] == [
            "tcp 192.0.2.1:1521 handshake net",
            "tcp 192.0.2.1:1521 tns_ping net",
        ]

    def test_what_a_cache_answered_is_no_figure_of_the_disk(self):
        probe = {"probe": "disk_read", "path": "/u02/x", "sizes": [8192]}
        sides = []
        for level, cached in ((500.0, False), (20.0, True)):
            windows = [
                window._replace(
                    subject="/u02/x",
                    size=8192,
                    layer="user",
                    conditions={**window.conditions, "cached": cached},
                )
                for window in disk_windows("x", [level] * 10)
            ]
            sides.append(measured(windows, [probe]))
        assert "a cache answered 10 windows" in self.error(*sides)

    FEW_TICKS = ([1000.0] * 4 + [0.0]) * 2
    MANY_TICKS = [1000.0, 0.0, 0.0, 1000.0, 0.0] * 2

    def in_ticks(self, before: list[float], after: list[float], *names: str) -> tuple[Any, ...]:
        probes = [{"probe": "disk", "devices": list(names)} if names else {"probe": "disk"}]
        tick = {"counted_in": "ticks", "resolution_us": 4000.0}
        return tuple(
            measured(
                [
                    window._replace(n=100, conditions={**window.conditions, **tick})
                    for window in disk_windows("dm-0", list(figures))
                ],
                probes,
            )
            for figures in (before, after)
        )

    @cases("after", MANY_TICKS, [1000.0] * 10, [0.0] * 10)
    def test_windows_within_a_tick_show_no_sameness(self, after):
        """Those that are slow enough to be told would speak for all, and zeros are all alike."""
        verdict = verdict_of(*self.in_ticks([0.0] * 10, after))
        assert [series.figures for series in verdict.series] == [[]]
        assert statuses(verdict) == ["skip", "error"]
        named = self.in_ticks([0.0] * 10, after, "dm-0")
        message = "disk dm-0 was not measured (in many windows all was over within one unit"
        assert verdict_of(*named).problems[0].startswith(message)
        assert comparing.unmeasured(self.in_ticks(self.MANY_TICKS, after, "dm-0")[0])

    def test_a_direction_within_a_tick_leaves_the_other_to_tell(self):
        quick, slow = self.in_ticks([0.0] * 10, [5000.0 + n for n in range(10)], "dm-0")
        writes = [window._replace(layer="write") for window in quick.windows]
        side = slow._replace(windows=slow.windows + writes)
        assert comparing.unmeasured(side) == []
        assert statuses(verdict_of(side, side)) == ["pass", "skip"]

    def test_they_show_what_takes_longer_than_a_tick(self):
        verdict = verdict_of(*self.in_ticks([0.0] * 9 + [40.0], [8000.0 + n for n in range(10)]))
        assert statuses(verdict) == ["fail"]

    @cases("before after", (120, 60), (60, 120))
    def test_how_many_requests_there_are_is_no_latency(self, before, after):
        """20 us on a disk that counts in ticks of 4 ms, as many ticks as chance has it."""
        chance = random.Random(before)
        sides = [
            [4000.0 * sum(chance.random() < 0.005 for _ in range(count)) / count for _ in range(10)]
            for count in (before, after)
        ]
        assert all(0.0 in side for side in sides)
        verdict = verdict_of(*self.in_ticks(*sides))
        assert statuses(verdict) == ["skip", "error"]

    def test_a_disk_that_hangs_is_told_though_it_was_counted_in_ticks(self):
        before, after = self.in_ticks([0.0] * 10, [0.0] * 10)
        silent = after._replace(windows=disk_windows("dm-0", [None] * 10))
        (series,) = verdict_of(before, silent).series
        assert "10 windows before and in 0 after" in series.problem

    def test_few_of_them_leave_the_middle_as_it_is(self):
        (series,) = verdict_of(*self.in_ticks(self.FEW_TICKS, self.FEW_TICKS)).series
        (figure,) = series.figures
        assert figure.comparison.before == 1000.0

    def test_a_baseline_of_another_version_stops_nobody_else(self):
        side = measured(tcp_windows(400))
        strange = side._replace(probes=[dict(TCP, colour="blue")])
        verdicts = comparing.compare_hosts({"db01": (side, side), "db02": (strange, side)})
        assert verdicts["db01"].measured
        assert "has no colour" in verdicts["db02"].problems[0]

    def test_a_disk_that_was_named_must_be_measured(self):
        probes = [{"probe": "disk", "devices": ["sdb"]}]
        side = measured(disk_windows("sda", [300.0] * 10), probes)
        assert comparing.unmeasured(side) == ["disk sdb was not measured"]

    @cases(
        "change said",
        ({"seconds": 9.0}, "windows of 3 s and of 9 s"),
        ({"probes": [dict(TCP, samples=50)]}, "probe tcp 192.0.2.1:1521 request_response"),
        ({"probes": [TCP, {"probe": "disk"}]}, "probe disk"),
    )
    def test_sides_that_were_measured_differently_are_not_compared(self, change, said):
        before = measured(tcp_windows(400))
        assert said in self.error(before, before._replace(**change))

    def test_a_part_that_is_missing_is_told_by_the_whole(self):
        before = measured(tcp_windows(400) + tcp_windows(90, layer="kernel"))
        verdict = verdict_of(before, measured(tcp_windows(400, seed="b")))
        assert statuses(verdict) == ["pass", "skip"]


class TestFleet:
    def verdicts(self, factor: float, hosts: int, start: int = 0) -> dict[str, Any]:
        chance = random.Random(f"{factor} {hosts} {start}")
        pairs = {}
        for number in range(start, start + hosts):
            level = 400 * math.exp(chance.gauss(0, 0.02))
            pairs[f"db{number}"] = (
                measured(tcp_windows(400, seed=f"{number}")),
                measured(tcp_windows(level * factor, seed=f"{number} after")),
            )
        return comparing.compare_hosts(pairs)

    def test_five_per_cent_that_no_host_shows_is_shown_by_twenty(self):
        verdicts = self.verdicts(1.05, 20)
        figures = comparing.compare_fleet(verdicts, list(verdicts), [])
        by_name = {figure.name: figure for figure in figures}
        assert by_name["tcp user 12 B p50"].comparison.verdict == SLOWER
        findings = change_findings.judge_fleet(figures)
        assert "fail" in {finding.status for finding in findings}

    def test_what_happened_to_unchanged_hosts_too_is_taken_off(self):
        changed, unchanged = self.verdicts(1.2, 8), self.verdicts(1.2, 8, start=50)
        verdicts = {**changed, **unchanged}
        (p50,) = [
            figure
            for figure in comparing.compare_fleet(verdicts, list(changed), list(unchanged))
            if figure.name == "tcp user 12 B p50"
        ]
        assert p50.comparison.controls == 8
        assert p50.comparison.verdict != SLOWER

    def test_too_few_hosts_are_no_verdict(self):
        verdicts = self.verdicts(1.2, 3)
        findings = change_findings.judge_fleet(
            comparing.compare_fleet(verdicts, list(verdicts), [])
        )
        assert {finding.status for finding in findings} == {"skip"}
        assert "with 1 figure to be told at once it takes 6, or fewer with 4" in findings[0].why

    def test_what_a_part_shows_decides_nothing_beside_the_whole(self):
        """The host's part of a round trip is microseconds; ten per cent of it is nothing."""
        pairs = {}
        for number in range(8):
            levels = ((400, 10 + number / 10), (400, 12 + number / 10))
            pairs[f"db{number}"] = tuple(
                measured(
                    tcp_windows(whole, seed=f"{number} {part}")
                    + tcp_windows(part, layer="host", seed=f"{number}")
                )
                for whole, part in levels
            )
        verdicts = comparing.compare_hosts(pairs)
        figures = comparing.compare_fleet(verdicts, list(verdicts), [])
        by_name = {figure.name: figure for figure in figures}
        part = by_name["tcp host 12 B p50"]
        assert (part.comparison.verdict, part.whole) == (SLOWER, "tcp user 12 B p50")
        assert "fail" not in {finding.status for finding in change_findings.judge_fleet(figures)}
        decision = gating.decide(
            list(pairs), dict.fromkeys(pairs, "ok"), verdicts, figures, gating.Limits("keep", 1.0)
        )
        assert decision.keep

    def test_a_part_that_tells_other_figures_is_one_all_the_same(self):
        """Of reads the device tells a mean alone."""
        pairs = {}
        for number in range(8):
            sides = []
            for part in (5.0, 6.0):
                windows = tcp_windows(400, seed=f"{number} {part}") + [
                    window._replace(probe="tcp", subject="192.0.2.1:1521", size=12, p50=None)
                    for window in disk_windows("x", [part] * 10, "host")
                ]
                sides.append(measured(windows))
            pairs[f"db{number}"] = tuple(sides)
        verdicts = comparing.compare_hosts(pairs)
        by_name = {
            figure.name: figure for figure in comparing.compare_fleet(verdicts, list(verdicts), [])
        }
        part = by_name["tcp host 12 B mean"]
        assert part.comparison.verdict == SLOWER
        assert part.whole == "tcp user 12 B p50"
        assert by_name["tcp user 12 B p50"].figures == 1

    def test_the_error_is_shared_by_all_that_decides(self):
        """Eight figures of which one moves by chance in twenty must not hold every third batch."""
        pairs = {}
        for number in range(10):
            sides = []
            for moment in ("before", "after"):
                windows = [
                    window._replace(size=size)
                    for size in (12, 250, 1400, 8192)
                    for window in tcp_windows(400, seed=f"{number} {size} {moment}")
                ]
                sides.append(measured(windows))
            pairs[f"db{number}"] = tuple(sides)
        verdicts = comparing.compare_hosts(pairs)
        figures = comparing.compare_fleet(verdicts, list(verdicts), [])
        assert {figure.figures for figure in figures} == {4}
        # The histograms' bins make some of them as wide as before.
        wider = [
            figure.comparison.interval.high / figure.comparison.interval.low
            > alone.high / alone.low
            for figure in figures
            for alone in [
                fleet.compare_fleet(self.ratios(verdicts, figure.name), [], 0.05).interval
            ]
        ]
        assert any(wider)

    def ratios(self, verdicts: dict[str, Any], name: str) -> list[float]:
        return [
            figure.comparison.interval.ratio
            for host in verdicts.values()
            for series in host.series
            for figure in series.figures
            if name == f"tcp {series.series.kind} {figure.name}"
        ]


class TestFindings:
    def judged(self) -> change_findings.Judged:
        verdict = verdict_of(measured(tcp_windows(400)), measured(tcp_windows(480)))
        return change_findings.judge_host(verdict, "2026-11-21T18:00:00Z", "2026-11-21T19:00:00Z")

    def test_they_are_as_the_schema_says(self, validate_finding):
        for finding in self.judged().findings:
            validate_finding(finding.as_dict())

    def test_evidence_holds_the_windows_of_both_sides_as_a_host_records_them(self):
        judged = self.judged()
        (finding,) = judged.findings
        name = "tcp 192.0.2.1:1521 user 12 B"
        assert finding.evidence == (f"windows:before:{name}", f"windows:after:{name}")
        recorded = RecordedHost(evidence.decode(evidence.encode(judged.evidence)))

        def never() -> Any:
            raise AssertionError("a recording measures nothing")

        assert len(recorded.windows(f"before:{name}", never).windows) == 10
        assert judged.evidence[finding.evidence[0]]["at"] == "2026-11-21T18:00:00Z"


class TestKeeping:
    def test_what_is_kept_is_read_again(self, tmp_path):
        made = measured(tcp_windows(400), remarks=["tcp: two stamps are missing"])
        path = baseline.save(str(tmp_path / "new/before"), made)
        assert baseline.load(str(tmp_path / "new/before"), "db01") == made
        assert stat.S_IMODE(Path(path).stat().st_mode) == 0o600
        assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o700
        assert [entry.name for entry in (tmp_path / "new/before").iterdir()] == ["db01.json"]

    @cases("host", "../../etc/passwd", "..", "a/b", ".hidden")
    def test_a_host_s_name_is_no_way_out_of_the_folder(self, tmp_path, host):
        path = Path(baseline.path_of(str(tmp_path), host))
        assert path.resolve().parent == tmp_path.resolve()
        assert not path.name.startswith(".")

    @cases(
        "text", "", "{", "[]", "{}", '{"schema": 2}', '{"schema": 1, "host": "db01"}', "\x00\xff"
    )
    def test_what_is_no_baseline_is_one_sentence(self, tmp_path, text):
        (tmp_path / "db01.json").write_text(text)
        with pytest.raises(NoBaseline, match=r"db01\.json"):
            baseline.load(str(tmp_path), "db01")

    @cases("number", "Infinity", "1" + "0" * 400)
    @cases("name", "rounds", "seconds")
    def test_a_number_that_is_none_is_refused(self, tmp_path, name, number):
        path = Path(baseline.save(str(tmp_path), measured([])))
        content = json.loads(path.read_text())
        content[name] = "NUMBER"
        path.write_text(json.dumps(content).replace('"NUMBER"', number))
        if (name, number[:1]) == ("rounds", "1"):
            assert baseline.load(str(tmp_path), "db01").rounds > 0
            return
        with pytest.raises(NoBaseline, match="not a whole baseline"):
            baseline.load(str(tmp_path), "db01")

    def test_a_baseline_of_another_host_is_refused(self, tmp_path):
        baseline.save(str(tmp_path), measured([], host="db02"))
        (tmp_path / "db02.json").rename(tmp_path / "db01.json")
        with pytest.raises(NoBaseline, match="of db02, not of db01"):
            baseline.load(str(tmp_path), "db01")

    def test_a_window_that_is_none_is_refused(self, tmp_path):
        path = Path(baseline.save(str(tmp_path), measured(tcp_windows(400, 1))))
        content = json.loads(path.read_text())
        content["windows"][0]["p50"] = "fast"
        path.write_text(json.dumps(content))
        with pytest.raises(HostproofError, match="not a whole baseline"):
            baseline.load(str(tmp_path), "db01")
