"""The story of a gated change: one that makes the host slower is held, one that does not is kept.

Both batches are the same container under two names, so that the second has nothing of its own to
hide. The real gate, its real probes and the real control process_limits run. What is measured is a
way to a proxy (STAND-IN, tests/standins/slow_way.py), which gets slower when the control's file is
there. tests/run_delays measures ways of the kernel.
"""

import re

import pytest
from conftest import DROP_IN, HIDDEN, SECOND, USUAL, WAY, GateBox, Gated

#: What only the second batch would do.
TRAP = {"process_limits_values": [{"name": "nofile", "soft": 650, "hard": 750}]}


@pytest.fixture(scope="module")
def untouched(box: GateBox) -> dict[str, str]:
    return box.files()


@pytest.fixture(scope="module")
def held(box: GateBox, untouched: dict[str, str]) -> Gated:
    return box.gate("held", TRAP)


def test_a_change_with_a_hidden_delay_is_held_at_the_first_batch(box, held):
    assert held.states() == ["held", "planned"], held.batches
    assert held.rc == 2
    assert box.is_delayed()
    finding = held.gate("box")
    assert finding["status"] == "fail"
    # The layers of kernel and user grew by the same; noise may leave one of them undecided.
    assert re.search(rf"tcp 127\.0\.0\.1:{WAY} (kernel|user) 12 B p50: slower", finding["why"])
    assert held.p50("before") > USUAL * 1000
    # The measured delay is the hidden one; a busy machine adds some milliseconds.
    grown = (held.p50("after") - held.p50("before")) / 1000
    assert 0.5 * HIDDEN < grown < 2 * HIDDEN
    assert f"./hostproof revert --gate {held.folder}" in held.output


def test_the_second_batch_never_ran(box, held):
    assert "hard nofile 800" in box.run(f"cat {DROP_IN}")
    assert held.gate(SECOND)["status"] == "error"
    assert held.gate(SECOND)["running"].startswith("not changed: batch 1 (box) was not kept")
    assert held.batches[1]["journal"] == {}
    assert not (held.folder / "batch-2").exists()


def test_a_new_gate_refuses_what_is_held(box, held):
    again = box.gate("held", TRAP)
    assert again.states() == ["stopped", "planned"], again.batches


def test_what_is_held_is_put_back_when_asked(box, held, untouched):
    reverted = box.revert_gate(held)
    assert reverted.returncode == 0
    assert not box.is_delayed()
    assert held.states() == ["reverted", "planned"]
    assert box.files() == untouched


def test_with_the_action_revert_it_is_undone_and_verified(box, untouched):
    undone = box.gate("reverted", TRAP, latency_gate_action="revert")
    assert undone.states() == ["reverted", "planned"], undone.batches
    assert undone.rc == 2
    assert box.files() == untouched
    finding = undone.gate("box")
    assert finding["status"] == "fail"
    assert finding["running"].startswith("reverted, and its change journal shows nothing of it")
    assert "latency measured again: " in finding["running"]
    # It was slow in between, and is as fast again as it was.
    assert undone.p50("after") > 1.3 * undone.p50("before")
    assert undone.p50("reverted") < 1.2 * undone.p50("before")
    assert not (undone.folder / "batch-2").exists()


def test_a_harmless_change_is_kept_batch_by_batch(box, held, untouched):
    # From now on nothing makes the way slower.
    box.make_way_constant()
    kept = box.gate("kept", {})
    assert kept.states() == ["kept", "kept"], kept.batches
    assert kept.rc == 0
    assert "hard nofile 800" in box.run(f"cat {DROP_IN}")
    assert kept.gate("box")["status"] == "pass"
    assert kept.gate("box")["running"] == "kept"
    # The same container again: there was nothing left to do.
    assert kept.gate(SECOND)["running"] == "kept; nothing was changed on this host"
    # A kept change is reverted like any other change.
    assert box.play("revert").changed == 1
    assert box.files() == untouched
