"""The gate's decisions and its ledger: what is not known to be kept stops everything after it."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from ansible.module_utils.hostproof.errors import HostproofError
from cases import cases
from hostproof_controller.gate import gating
from hostproof_controller.gate.gating import Limits, Refused
from hostproof_controller.latency.comparing import (
    Figure,
    HostVerdict,
    Series,
    SeriesVerdict,
    Stability,
)
from hostproof_controller.latency.verdict import (
    FASTER,
    INCONCLUSIVE,
    SLOWER,
    UNCHANGED,
    Comparison,
    Interval,
)

LIMITS = Limits("keep", 1.0)
OK = {"db01": "ok"}


def compared(verdict: str, **others: Any) -> Comparison:
    intervals = {
        SLOWER: Interval(1.3, 1.2, 1.4),
        FASTER: Interval(0.7, 0.6, 0.8),
        UNCHANGED: Interval(1.0, 0.98, 1.02),
        INCONCLUSIVE: Interval(1.0, 0.9, 1.1),
    }
    made = Comparison(verdict, 400.0, 400.0, intervals[verdict], 0.05, 20, False, True)
    return made._replace(**others)


def host(*figures: Figure, layer: str = "user", **others: Any) -> HostVerdict:
    series = SeriesVerdict(
        Series("tcp", "192.0.2.1:1521", layer, 12), [], [], list(figures), None, None, [], []
    )
    return HostVerdict("db01", [series._replace(**others)], [], [])


def decide(
    one: HostVerdict | None, applied: Any = None, limits: Limits = LIMITS
) -> gating.Decision:
    verdicts = {} if one is None else {"db01": one}
    return gating.decide(["db01"], OK if applied is None else applied, verdicts, [], limits)


class TestControls:
    GROUPS = {
        "all": ["db01", "db02", "ctl01", "ctl02", "2001:db8::1", "2001:db8:1:2:3:4:5:6"],
        "controls": ["ctl01", "ctl02"],
        "empty": [],
        "ungrouped": [],
    }

    @cases(
        "pattern",
        *("", " ", "controls", "ctl01", "ctl01,ctl02", "ctl01, ctl02", "ctl01:ctl02"),
        *("all:!db01", "all:!ungrouped", "controls:!empty", "controls,!empty", "ctl01 ctl02"),
        *("2001:db8::1", "2001:db8:1:2:3:4:5:6", "2001:db8::1,ctl01"),
        *([], [""], ["ctl01", "ctl02"], ["all:!db01", "controls:&all"], ["ctl0[1:2],ctl01"]),
    )
    def test_names_that_there_are(self, pattern):
        gating.check_controls(pattern, ["ctl01"], self.GROUPS)

    @cases(
        "pattern", "ctl*", "~ctl0[12]", "~(ctl|db):?01", "ctl0[1:2]", "controls[0]", "ctl*:ctl01"
    )
    def test_what_ansible_alone_knows_is_not_judged(self, pattern):
        gating.check_controls(pattern, ["ctl01"], self.GROUPS)
        with pytest.raises(gating.Refused, match="matches no host of the inventory"):
            gating.check_controls(pattern, [], self.GROUPS)

    @cases(
        "pattern lost",
        ("contorls", "contorls"),
        ("ctl01,ctl03", "ctl03"),
        ("ctl01:ctl03:ctl04", "ctl03, ctl04"),
        ("empty", "empty"),
        ("ctl01,empty", "empty"),
        ("localhost", "localhost"),
        # Where there is a comma, Ansible splits at nothing else.
        ("ctl01:ctl02,db01", "ctl01:ctl02"),
        ("ctl0*:contorls", "contorls"),
        ("controls[0]:contorls", "contorls"),
        ("controls contorls", "contorls"),
        ("ctl01,ctl*:&controls", "ctl*:&controls"),
        (["ctl01", "contorls"], "contorls"),
        (["ctl01", "ctl01,controls:!ctl02"], "controls:!ctl02"),
    )
    def test_a_name_that_there_is_not_is_refused_though_others_match(self, pattern, lost):
        with pytest.raises(
            gating.Refused, match=f"of the inventory: '{re.escape(lost)}'; .* correct it"
        ):
            gating.check_controls(pattern, ["ctl01"], self.GROUPS)

    @cases("pattern", 7, {"a": 1}, ["ctl01", 7], [["ctl01"]])
    def test_what_is_no_pattern_is_refused(self, pattern):
        with pytest.raises(gating.Refused, match="must be a pattern of hosts or a list of them"):
            gating.check_controls(pattern, ["ctl01"], self.GROUPS)

    @cases("pattern", "controls:!clt01", "controls,!clt01")
    def test_what_is_excluded_must_be_there(self, pattern):
        with pytest.raises(
            gating.Refused, match="'!clt01' in latency_gate_unchanged_hosts is neither a host"
        ):
            gating.check_controls(pattern, ["ctl01"], self.GROUPS)


class TestDecision:
    @cases("verdict", FASTER, UNCHANGED, INCONCLUSIVE)
    def test_no_sign_of_harm_is_kept(self, verdict):
        assert decide(host(Figure("p50", compared(verdict)))) == gating.Decision(True, [], [])

    @cases("verdict kept", (UNCHANGED, True), (SLOWER, False))
    def test_another_path_is_said_and_is_no_reason(self, verdict, kept):
        """It may be the very change that is tested."""
        figure = Figure("p50", compared(verdict))
        decision = decide(host(figure, path=["MTU: 1500 before, 9000 after"]))
        assert decision.keep == kept
        text = "another path than before (MTU: 1500 before, 9000 after)"
        assert decision.other_paths == [("db01", f"tcp 192.0.2.1:1521: {text}")]
        assert not any("path" in reason for _, reason in decision.reasons)

    @cases("figure", "p50", "p99", "mean")
    def test_worse_is_held_whatever_the_figure(self, figure):
        decision = decide(host(Figure(figure, compared(SLOWER))))
        assert not decision.keep
        assert "slower (+30.0%)" in decision.reasons[0][1]

    def test_one_bad_figure_among_good_ones_is_enough(self):
        figures = [Figure("p50", compared(FASTER)), Figure("p99", compared(SLOWER))]
        assert not decide(host(*figures)).keep

    def test_suspect_of_worse_is_held(self):
        comparison = compared(INCONCLUSIVE, suspect=True, interval=Interval(1.08, 1.01, 1.15))
        assert not decide(host(Figure("p50", comparison))).keep
        assert not decide(host(Figure("p99", comparison))).keep

    def test_suspect_of_better_is_kept(self):
        comparison = compared(INCONCLUSIVE, suspect=True, interval=Interval(0.9, 0.8, 0.99))
        assert decide(host(Figure("p50", comparison))).keep

    def test_an_unstable_baseline_is_held(self):
        comparison = compared(INCONCLUSIVE, stable=False)
        assert not decide(host(Figure("p50", comparison))).keep

    def test_inconclusive_is_held_where_the_policy_says_so(self):
        verdict = host(Figure("p50", compared(INCONCLUSIVE)))
        assert not decide(verdict, limits=Limits("hold", 1.0)).keep

    def test_an_interval_without_bounds_is_no_measurement(self):
        comparison = compared(INCONCLUSIVE, interval=Interval(1.0, 0.0, float("inf")))
        decision = decide(host(Figure("p50", comparison)))
        assert "too few windows to tell, it needs about 20" in decision.reasons[0][1]

    def test_an_interval_beyond_the_tolerance_is_held(self):
        verdict = host(Figure("p50", compared(INCONCLUSIVE, interval=Interval(1.1, 0.5, 2.5))))
        assert not decide(verdict).keep
        assert decide(verdict, limits=Limits("keep", 2.0)).keep

    def test_what_nobody_asked_for_decides_by_what_it_shows(self):
        """A disk that is told in six of ten windows is no reason to hold."""
        open_end = compared(INCONCLUSIVE, interval=Interval(1.0, 0.0, float("inf")))
        wide = compared(INCONCLUSIVE, interval=Interval(1.0, 0.1, 9.0))
        assert decide(host(Figure("p50", open_end), asked=False)).keep
        assert not decide(host(Figure("p50", open_end), asked=True)).keep
        assert not decide(host(Figure("p50", wide), asked=False)).keep
        assert not decide(host(Figure("p50", compared(SLOWER)), asked=False)).keep

    def test_what_unchanged_hosts_saw_is_said_beside_it(self):
        verdicts = {
            name: host(Figure("p50", compared(SLOWER)))._replace(host=name)
            for name in ("db01", "db02", "db03")
        }
        decision = gating.decide(["db01"], OK, verdicts, [], LIMITS)
        assert [reason for _, reason in decision.reasons] == [
            "tcp 192.0.2.1:1521 user 12 B p50: slower (+30.0%); on unchanged hosts: +30.0%"
        ]

    def test_what_the_host_adds_decides_nothing_beside_the_whole(self):
        whole = host(Figure("p50", compared(UNCHANGED)))
        part = host(Figure("p50", compared(SLOWER)), layer="host")
        assert decide(whole._replace(series=whole.series + part.series)).keep
        assert decide(whole._replace(series=part.series)).keep is False

    def test_a_problem_is_held(self):
        assert not decide(host(problem="it has no figure after")).keep
        verdict = host(Figure("p50", compared(FASTER)))._replace(problems=["tcp was not measured"])
        assert not decide(verdict).keep

    def test_nothing_compared_is_held(self):
        assert not decide(host(idle="too few")).keep
        assert not decide(None).keep

    @cases("applied", {}, {"db01": "refused"})
    def test_a_change_that_is_not_known_to_have_ended_is_held(self, applied):
        assert not decide(host(Figure("p50", compared(FASTER))), applied=applied).keep

    def test_few_of_many_unstable_figures_are_chance(self):
        steady, moved = Stability([], 1), Stability(["p50"], 1)
        assert gating.is_restless([moved])
        assert gating.is_restless([moved, moved] + [steady] * 7)
        assert not gating.is_restless([moved] + [steady] * 9)
        assert not gating.is_restless([])


class TestBatches:
    HOSTS = tuple(f"db{number:02}" for number in range(1, 11))

    @cases(
        "serial sizes",
        (1, [1] * 10),
        ("4", [4, 4, 2]),
        ("30%", [3, 3, 3, 1]),
        ([1, "25%"], [1, 2, 2, 2, 2, 1]),
        (["1", 3, "100%"], [1, 3, 6]),
        ("1%", [1] * 10),
        (100, [10]),
    )
    def test_they_are_divided_as_serial_does(self, serial, sizes):
        batches = gating.batches(self.HOSTS, serial)
        assert [len(batch) for batch in batches] == sizes
        assert [host for batch in batches for host in batch] == list(self.HOSTS)

    @cases("serial", 0, -1, "0%", "200%", "some", [], [1, 0], 1.5, True, None, {"a": 1})
    def test_anything_else_is_refused(self, serial):
        with pytest.raises(Refused, match="latency_gate_serial must"):
            gating.batches(self.HOSTS, serial)

    def test_no_control_is_ever_changed(self):
        planned = gating.plan(self.HOSTS, ["db02", "db05", "db06", "db07"], 3)
        changed = [host for batch in planned for host in batch["hosts"]]
        assert not {"db02", "db05", "db06", "db07"} & set(changed)
        assert all(len(batch["unchanged"]) == 4 for batch in planned)

    def test_no_host_is_both_in_a_batch_and_beside_it(self):
        for batch in gating.plan(self.HOSTS, ["db05"], [1, 4]):
            assert not set(batch["hosts"]) & set(batch["unchanged"])

    def test_controls_that_the_run_leaves_out_are_not_measured(self):
        (batch,) = gating.plan(["db01", "db02"], ["ctl01", "db02"], 1)
        assert (batch["hosts"], batch["unchanged"]) == (["db01"], ["db02"])

    def test_all_hosts_as_controls_are_refused(self):
        with pytest.raises(Refused, match="no host to change"):
            gating.plan(["db01"], ["db01"], 1)


class TestLedger:
    @pytest.fixture
    def ledger(self, tmp_path) -> gating.Ledger:
        planned = gating.plan(["db01", "db02", "db03"], [], 1)
        return gating.create(str(tmp_path / "gates/one"), planned, "2026-11-21T18:00:00Z")

    @pytest.mark.parametrize("state", [state for state in gating.STATES if state != gating.KEPT])
    def test_no_batch_begins_after_one_that_is_not_kept(self, ledger, state):
        ledger.batch(1)["state"] = state
        assert ledger.obstacle(2)
        assert ledger.obstacle(3)

    def test_a_kept_batch_lets_the_next_begin_and_only_the_next(self, ledger):
        ledger.batch(1)["state"] = gating.KEPT
        assert ledger.obstacle(2) is None
        assert ledger.obstacle(3)

    def test_each_state_is_on_disk_at_once(self, ledger):
        ledger.move(1, gating.MEASURING)
        assert gating.load(ledger.folder).batch(1)["state"] == gating.MEASURING

    def test_steps_cannot_be_left_out(self, ledger):
        with pytest.raises(Refused, match="can only be kept after it was changing"):
            ledger.move(1, gating.KEPT, expected=(gating.CHANGING,))

    def test_a_folder_holds_one_gate(self, ledger):
        with pytest.raises(Refused, match="already has a gate"):
            gating.create(ledger.folder, [], "2026-11-21T18:00:00Z")

    @cases(
        "damage",
        lambda content: content.clear(),
        lambda content: content.update(schema=2),
        lambda content: content.update(batches=[]),
        lambda content: content["batches"][0].update(state="fine"),
        lambda content: content["batches"][0].pop("journal"),
        lambda content: content["batches"].pop(0),
    )
    def test_a_damaged_ledger_is_refused(self, ledger, damage):
        path = Path(ledger.folder) / gating.LEDGER
        content = json.loads(path.read_text())
        damage(content)
        path.write_text(json.dumps(content))
        with pytest.raises(HostproofError, match="gate.json"):
            gating.load(ledger.folder)


class TestEarlierGates:
    """What one gate held must not become the baseline of the next."""

    @pytest.fixture
    def parent(self, tmp_path) -> Path:
        ledger = gating.create(
            str(tmp_path / "first"), gating.plan(["db01"], [], 1), "2026-11-21T18:00:00Z"
        )
        ledger.batch(1).update(state=gating.HELD, journal={"db01": ["old"]})
        ledger.save()
        return tmp_path

    def left(self, parent: Path, applies: list[str], released: tuple[str, ...] = ()) -> list[str]:
        return gating.others_open(str(parent), str(parent / "own"), {"db01": applies}, released)

    def test_what_it_changed_is_refused(self, parent):
        (message,) = self.left(parent, ["new", "old"])
        assert "db01 still has what gate first changed" in message

    def test_what_was_put_back_is_not(self, parent):
        assert self.left(parent, ["old"]) == []
        assert self.left(parent, []) == []

    def test_what_came_later_is_not_the_gates(self, parent):
        ledger = gating.load(str(parent / "first"))
        ledger.batch(1)["changed"] = {"db01": ["new"]}
        ledger.save()
        assert self.left(parent, ["later", "old"]) == []
        assert self.left(parent, ["later", "new", "old"])

    def test_what_was_accepted_by_name_is_not(self, parent):
        assert self.left(parent, ["new", "old"], ("first",)) == []

    def test_other_hosts_are_not(self, parent):
        assert gating.others_open(str(parent), str(parent / "own"), {"db02": ["x"]}, ()) == []

    @cases("state", gating.KEPT, gating.REVERTED, gating.STOPPED)
    def test_gates_that_are_over_are_not(self, parent, state):
        ledger = gating.load(str(parent / "first"))
        ledger.move(1, state)
        assert self.left(parent, ["new", "old"]) == []

    def test_a_gate_killed_in_the_middle_of_the_change_is_refused(self, parent):
        ledger = gating.load(str(parent / "first"))
        ledger.move(1, gating.CHANGING)
        assert self.left(parent, ["new", "old"])

    def test_a_ledger_that_cannot_be_read_is_no_permission(self, parent):
        (parent / "first" / gating.LEDGER).write_text("{")
        with pytest.raises(HostproofError):
            self.left(parent, [])
