"""The control with a listener that runs: the stand-in, which reads the file and keeps the limit."""

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import listener_packs
import pytest
from ansible.module_utils.hostproof.apply import transaction as apply
from ansible.module_utils.hostproof.apply.change import Plan
from ansible.module_utils.hostproof.apply.journal import Journal
from ansible.module_utils.hostproof.apply.writer import Writer
from ansible.module_utils.hostproof.collect.host import LiveHost
from ansible.module_utils.hostproof.controls.listener_rate_limit.control import CONTROL as control
from ansible.module_utils.hostproof.controls.registry import planner
from ansible.module_utils.hostproof.probes.oracle import tns_ping
from listener_home import OracleHome, wait_for_new_second

RATE, BURST = 10, 30


class Setup:
    """A listener below a temporary folder, and a policy for it alone."""

    def __init__(self, root: Path) -> None:
        self.home = OracleHome(root / "home")
        self.journal = Journal(Writer(), str(root / "hostproof"))
        (root / "hostproof").mkdir()

    def policy(self, **wish: Any) -> control.policy:
        listener = {"name": "LISTENER", "home": str(self.home.folder), "rate": RATE, **wish}
        values = listener_packs.listener_policy(
            listeners=[listener], window_seconds=0, allow_restart=True
        )
        return control.policy_from(values)

    def plan(self, **wish: Any) -> Plan:
        policy = self.policy(**wish)
        return planner("listener_rate_limit")(control.read(LiveHost(), policy), policy)

    def apply(self, plan: Plan) -> None:
        apply.refuse(plan, control.name)
        apply.apply_plan(plan, control.name, self.journal, Writer())

    def revert(self) -> None:
        transactions = self.journal.transactions(control.name)
        apply.refuse_if_edited_since(transactions, False)
        apply.revert(transactions, self.journal, Writer())

    def statuses(self, **wish: Any) -> dict[str, str]:
        policy = self.policy(**wish)
        findings = control.judge(control.read(LiveHost(), policy), policy)
        return {finding.check.partition(".")[2]: finding.status for finding in findings}

    def burst(self) -> tns_ping.Burst:
        wait_for_new_second()
        pings = tns_ping.at_once("127.0.0.1", self.home.port, BURST, 20, time.monotonic() + 60)
        return tns_ping.summarize(pings)


@pytest.fixture
def setup(tmp_path: Path, monkeypatch) -> Iterator[Setup]:
    monkeypatch.setattr(os, "fsync", lambda _handle: None)
    made = Setup(tmp_path)
    with made.home.running():
        yield made


@pytest.fixture
def started(setup: Setup) -> Callable[[], str]:
    def start_date() -> str:
        _, output = setup.home.lsnrctl("status")
        return next(line for line in output.splitlines() if line.startswith("Start Date"))

    return start_date


def test_apply_verify_burst_revert(setup, started):
    before, first = setup.home.listener_ora.read_bytes(), started()
    assert setup.burst().verdict == tns_ping.NOT_DELAYED
    wait_for_new_second()
    setup.apply(setup.plan(queuesize=256))
    statuses = setup.statuses(queuesize=256)
    assert set(statuses.values()) == {"pass", "skip"}, statuses
    assert statuses["rate"] == statuses["loaded"] == statuses["queue_size"] == "pass"
    assert setup.plan(queuesize=256) == Plan([], [], [], [])
    burst = setup.burst()
    assert burst.verdict == tns_ping.DELAYED and burst.outcomes[tns_ping.ANSWERED] == BURST
    assert burst.drain_rate == pytest.approx(RATE, rel=0.5)
    setup.revert()
    assert setup.home.listener_ora.read_bytes() == before
    assert started() != first
    assert setup.burst().verdict == tns_ping.NOT_DELAYED


def test_older_than_its_file(setup):
    changed = time.time() + 30
    os.utime(setup.home.listener_ora, (changed, changed))
    assert setup.statuses(rate=0)["loaded"] == "fail"


def test_file_that_the_listener_cannot_start_with_comes_back(setup):
    """Whatever keeps the listener from its start: the old file and a listener that runs."""
    before = setup.home.listener_ora.read_bytes()
    plan = setup.plan()
    change, restart = plan.changes
    broken = change._replace(content=change.content.replace("(RATE_LIMIT", "(=RATE_LIMIT"))
    with pytest.raises(apply.NotGranted, match="the old state is restored"):
        setup.apply(plan._replace(changes=[broken, restart]))
    assert setup.home.listener_ora.read_bytes() == before
    assert setup.statuses(rate=0)["listener_runs"] == "pass"


def test_grid_owned_file_is_refused_and_untouched(setup):
    text = setup.home.listener_ora.read_text().replace("  )\n", "  )\t# line added by Agent\n", 2)
    setup.home.listener_ora.write_text(text)
    with pytest.raises(apply.Refused, match="Grid Infrastructure manages listener.ora"):
        setup.apply(setup.plan())
    assert setup.home.listener_ora.read_text() == text
