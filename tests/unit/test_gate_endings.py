"""Whatever ends a batch of the gate, in the playbooks: it is never kept, and none follows."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
from cases import cases
from gate_runs import Fleet, Played

#: The rules under test are ours; other files show how each ansible-core runs them.
pytestmark = [pytest.mark.one_core, pytest.mark.long]


@pytest.mark.two_cores
class TestWhatEndsABatch:
    def held(self, played: Played) -> None:
        assert played.states()[0] in ("held", "changing"), played.output
        assert played.states()[1:] == ["planned"] * (len(played.states()) - 1)
        assert played.code != 0

    def test_a_change_that_fails(self, tmp_path):
        fleet = Fleet(tmp_path, 4)
        fleet.set("db01", new_delay="0.0001", then="fail")
        played = fleet.play("run", "gate", "-e", "latency_gate_serial=2")
        self.held(played)
        assert "db01: the change did not come to its end" in played.reasons()
        assert "the second half was refused" in played.reasons()
        assert [fleet.open_applies(name) for name in ("db03", "db04")] == [[], []]
        assert played.exit_code == 2

    @cases("hosts", 1, 2, ids=["alone", "with others"])
    def test_a_host_that_is_gone_after_its_change(self, tmp_path, hosts):
        """With no host left to go on with, Ansible ends there: the ledger says the rest."""
        fleet = Fleet(tmp_path, hosts)
        fleet.set("db01", new_delay="0.0001", then="vanish")
        played = fleet.play("run", "gate")
        self.held(played)
        assert all(not fleet.open_applies(name) for name in fleet.names[1:])

    @pytest.mark.one_core
    def test_a_host_that_can_not_be_measured_after_its_change(self, tmp_path):
        fleet = Fleet(tmp_path, 2)
        tasks = tmp_path / "playbooks/tasks/controls.yml"
        port = fleet.variables["db01"]["delay_file"]
        tasks.write_text(
            tasks.read_text()
            + f"\n- name: Lose the probe\n  ansible.builtin.file:\n    path: {port}\n"
            "    state: absent\n  when: inventory_hostname == 'db01'\n"
        )
        played = fleet.play("run", "gate")
        self.held(played)
        assert "after:" in played.reasons()

    @pytest.mark.one_core
    def test_a_revert_that_does_not_put_everything_back_stays_held(self, tmp_path):
        fleet = Fleet(tmp_path, 2)
        fleet.set("db01", new_delay="5")
        tasks = tmp_path / "playbooks/tasks/controls.yml"
        edited = fleet.variables["db01"]["delay_file"]
        tasks.write_text(
            tasks.read_text()
            + f"\n- name: Somebody edits it too\n  ansible.builtin.copy:\n    dest: {edited}\n"
            "    content: '6'\n    mode: '0644'\n  when: inventory_hostname == 'db01'\n"
        )
        played = fleet.play("run", "gate", "-e", "latency_gate_action=revert")
        self.held(played)
        assert "db01: not reverted" in played.reasons()
        assert fleet.delay("db01") == "6"


@pytest.mark.one_core
class TestStoppedBeforeTheChange:
    def stopped(self, one: Fleet, played: Played) -> None:
        assert played.states()[0] == "stopped", played.output
        assert played.code != 0
        assert played.exit_code == 3
        assert all(not one.open_applies(name) for name in one.names)

    def test_a_probe_that_measures_nothing(self, tmp_path):
        fleet = Fleet(tmp_path, 2)
        Path(fleet.variables["db01"]["delay_file"]).unlink()
        played = fleet.play("run", "gate")
        self.stopped(fleet, played)

    def test_fewer_windows_than_any_verdict_takes(self, tmp_path):
        """However good the change were, it could not be kept."""
        fleet = Fleet(tmp_path, 2)
        few = json.dumps({"latency_gate_windows": 4, "latency_gate_serial": 2})
        played = fleet.play("run", "gate", "-e", few)
        self.stopped(fleet, played)
        assert (
            "4 windows per side give no interval if 2 figures of 2 hosts are evaluated at once: it "
            "takes 5 (latency_gate_windows)"
        ) in played.reasons()

    def test_a_host_that_does_not_answer(self, tmp_path):
        fleet = Fleet(tmp_path, 2)
        Path(fleet.variables["db01"]["gone_file"]).touch()
        played = fleet.play("run", "gate")
        self.stopped(fleet, played)
        assert "its change journal could not be read" in played.reasons()


@pytest.mark.two_cores
def test_an_interrupted_gate_is_never_kept_and_leaves_the_journal_usable(tmp_path):
    fleet = Fleet(tmp_path, 2)
    fleet.set("db01", new_delay="5")
    flag = tmp_path / "waiting"
    wait = (
        "\n- name: Wait here\n  ansible.builtin.shell:\n"
        f"    cmd: 'touch {flag}; sleep 60'\n  changed_when: false\n  tags: [always]\n"
    )
    tasks = tmp_path / "playbooks/tasks/controls.yml"
    tasks.write_text(tasks.read_text() + wait)
    running = subprocess.Popen(
        fleet.command("gate"),
        env=fleet.environment("run"),
        cwd=fleet.root,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    for _ in range(1200):
        if flag.exists() or running.poll() is not None:
            break
        time.sleep(0.1)
    assert flag.exists()
    os.killpg(running.pid, signal.SIGKILL)
    running.wait()
    played = fleet.played("run", 130, "")
    assert played.states() == ["changing", "planned"]
    assert not fleet.open_applies("db02")
    # What is left is known, refused by the next gate, and put back by revert.
    assert fleet.play("second", "gate").states() == ["stopped", "planned"]
    done = fleet.play("undo", "revert_gate", "-e", f"hostproof_gate={played.folder}")
    assert done.code == 0, done.output
    assert (fleet.delay("db01"), fleet.open_applies("db01")) == ("0", [])
    assert played.states()[0] == "reverted"
