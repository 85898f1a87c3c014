"""The story of a gated change: a harmless one, and one that somebody left a delay behind.

Both batches are the same machine under two names, so that the second has nothing of its own to
hide. What the gate measures is a way to a network namespace on it (tests/delays/way.py).
"""

from collections.abc import Iterator

import pytest
from gate_lab import DROP_IN, HIDDEN, SECOND, USUAL, Gated, GateLab

#: 256 MiB and 128 MiB in pages of 2 MiB, and 4 more for each instance.
POOL = 132 + 68
#: What only the second batch would do.
TRAP = {"hugepages_instances": [{"sid": "LAB1", "sga": "512M"}]}


@pytest.fixture(scope="module")
def lab(tools: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[GateLab]:
    machine = GateLab(tmp_path_factory.mktemp("latency"))
    machine.make_way()
    yield machine
    machine.clean()
    machine.tool("stop")


@pytest.fixture(scope="module")
def untouched(lab: GateLab) -> dict[str, object]:
    return state(lab)


@pytest.fixture(scope="module")
def hidden(lab: GateLab, untouched: dict[str, object]) -> None:
    """From now on the change makes the host slower, although it does nothing of that kind."""
    lab.hide()


@pytest.fixture(scope="module")
def held(lab: GateLab, hidden: None) -> Gated:
    return lab.gate("held", TRAP)


def state(lab: GateLab) -> dict[str, object]:
    return {"files": lab.files(), "values": lab.values()}


def test_a_harmless_change_is_kept_batch_by_batch(lab, untouched):
    kept = lab.gate("kept", {})
    assert kept.states() == ["kept", "kept"], kept.batches
    assert kept.rc == 0
    assert lab.values()["pool"] == str(POOL)
    assert kept.gate("lab-vm")["status"] == "pass"
    assert kept.gate("lab-vm")["running"] == "kept"
    # The same machine again: there was nothing left to do.
    assert kept.gate(SECOND)["running"] == "kept; nothing was changed on this host"
    assert kept.p50("before") > USUAL * 1000
    # What was kept is put back like any other change.
    assert lab.play("revert").changed == 1
    assert state(lab) == untouched


def test_a_change_with_a_hidden_delay_is_held_at_the_first_batch(lab, held):
    assert held.states() == ["held", "planned"], held.batches
    assert held.rc == 2
    assert lab.is_delayed()
    found = held.gate("lab-vm")
    assert found["status"] == "fail"
    assert "tcp 10.9.9.2:7500 user 12 B p50: worse" in found["why"]
    # What was hidden is what was found; an emulated machine adds what its timers cost. How exact
    # the probes are is told where no machine's noise is in the figures (tests/run_delays).
    grown = (held.p50("after") - held.p50("before")) / 1000
    assert 0.5 * HIDDEN < grown < 2 * HIDDEN
    assert f"./hostproof revert --gate {held.folder}" in held.output


def test_the_second_batch_never_ran(lab, held):
    assert lab.values()["pool"] == str(POOL)
    assert held.gate(SECOND)["status"] == "error"
    assert held.gate(SECOND)["running"].startswith("not changed: batch 1 (lab-vm) was not kept")
    assert held.batches[1]["journal"] == {}
    assert not (held.folder / "batch-2").exists()


def test_a_new_gate_refuses_what_is_held(lab, held):
    again = lab.gate("held", TRAP)
    assert again.states() == ["stopped", "planned"], again.batches


def test_what_is_held_is_put_back_when_asked(lab, held, untouched):
    reverted = lab.revert_gate(held)
    assert reverted.returncode == 0
    lab.wait_until_delayed(False)
    assert held.states() == ["reverted", "planned"]
    assert state(lab) == untouched


def test_with_the_action_revert_it_is_undone_and_verified(lab, hidden, untouched):
    undone = lab.gate("reverted", TRAP, latency_gate_action="revert")
    assert undone.states() == ["reverted", "planned"], undone.batches
    assert undone.rc == 2
    assert state(lab) == untouched
    assert not lab.is_delayed()
    found = undone.gate("lab-vm")
    assert found["status"] == "fail"
    assert found["running"].startswith("reverted, and its change journal shows nothing of it")
    assert "latency measured again: " in found["running"]
    # It was slow in between, and is as fast again as it was.
    assert undone.p50("after") > 1.05 * undone.p50("before")
    assert undone.p50("reverted") < 1.05 * undone.p50("before")
    assert not (undone.folder / "batch-2").exists()
    assert DROP_IN not in lab.files()
