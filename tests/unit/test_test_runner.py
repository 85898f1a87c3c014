"""The runner behind ./hostproof test: scopes, lanes, counts, progress, second tries, summary."""

import io
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
from cases import cases

#: The runner is ours; other files show how each ansible-core runs plays.
pytestmark = pytest.mark.one_core

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests"))

from long_tests import LONG  # noqa: E402
from machines import scenario  # noqa: E402
from runner import commands, lanes, packages, progress, stages, summary  # noqa: E402
from runner.lanes import Again, lanes_of, run_lanes  # noqa: E402
from runner.outcome import Counts, Ended, count, judge  # noqa: E402
from runner.progress import Count, Progress  # noqa: E402
from runner.stages import Stage  # noqa: E402


@pytest.fixture
def logs(tmp_path, monkeypatch):
    for module in (commands, progress):
        monkeypatch.setattr(module, "LOGS", tmp_path)
    return tmp_path


def shell(name: str, *texts: str, **more: object) -> Stage:
    return Stage(name, [["sh", "-c", text] for text in texts], 60, 60, **more)  # type: ignore[arg-type]


def by_name(**scope: bool) -> dict[str, Stage]:
    return {stage.name: stage for stage in stages.stages(**scope)}


def test_without_all_long_tests_and_most_stories_do_not_run():
    some, everything = by_name(everything=False), by_name(everything=True)
    assert some["unit"].commands[0][-3:-1] == ["-m", "not long"]
    assert "not long" not in everything["unit"].commands[0]
    assert some["snmp"].commands[0] == ["tests/run_snmp", "--short"]
    assert everything["snmp"].commands[0] == ["tests/run_snmp"]
    assert some["wire"].commands == [["tests/run_wire", "--short"]]
    assert some["browser"].commands == [["tests/run_browser", "--short"]]
    assert ["tests/run_sanity"] not in some["lint"].commands
    assert ["ansible-lint", "roles"] in some["lint"].commands
    assert ["ansible-lint"] in everything["lint"].commands
    assert ["tests/run_sanity"] in everything["lint"].commands
    assert some["containers"].commands == [["tests/run_containers", "--once"]]
    assert everything["containers"].commands == [["tests/run_containers"]]
    assert some["lab"].commands == [["tests/run_lab", "--short"]]
    assert some["matrix"].commands[0][-1] == "--one-row"
    assert everything["lab"].commands == [["tests/run_lab"]]
    assert everything["matrix"].commands[0][-1] == "tests/matrix/run"
    assert (ROOT / "molecule/lab/tests/test_hugepages.py").exists()


def test_what_is_left_to_all_exists_and_is_named_at_the_end():
    for start in LONG:
        path, _, name = start.partition("::")
        text = (ROOT / "tests/unit" / path).read_text()
        for part in name.partition("[")[0].split("::"):
            assert not part or re.search(rf"^ *(?:class|def) {part}\b", text, re.MULTILINE), start
    assert set(stages.ADDED) | {"types"} == {
        name for name in by_name() if name not in (*stages.ONLY_ALL, *stages.ALONE)
    }


def test_what_a_run_installs_and_takes_is_told_before_it_starts(monkeypatch):
    monkeypatch.setattr(packages, "has", lambda command: command in ("apt-get", "nmap"))
    monkeypatch.setattr(packages, "size_of", lambda names: f": {len(names)} packages, 9 MB")
    monkeypatch.setattr(packages.os, "geteuid", lambda: 0)
    chosen = [shell(name, "true") for name in ("unit", "wire", "lab")]
    assert packages.announcement(chosen, short=True).splitlines() == [
        "unit, wire, lab: about 2 minutes",
        "apt-get installs tshark: 1 packages, 9 MB",
        "./hostproof test --quick installs none of them",
    ]
    whole = packages.announcement(chosen, short=False).splitlines()[1]
    assert {"tshark", "openssh-server", "qemu-utils"} <= set(whole.replace(":", "").split())
    monkeypatch.setattr(packages.os, "geteuid", lambda: 1000)
    told = packages.announcement(chosen, short=True).splitlines()
    assert told[1:] == ["not installed here, so tests are skipped: tshark"]
    quick = [stage for stage in stages.stages(quick=True) if stage.name not in stages.SLOW]
    assert packages.missing(stage.name for stage in quick) == []


def test_a_stage_that_cannot_be_set_up_says_why_in_one_line():
    output = "E: Unable to locate package x\nfailed: apt-get install x ended with 100: E: none\n"
    failed = Ended(shell("wire"), [judge(["tests/run_wire"], 1, output)], 1, 1)
    text, _ = summary.closing([failed], [], [], 1, 0.5)
    assert (
        "failed: wire: tests/run_wire: apt-get install x ended with 100: E: none"
        in text.splitlines()
    )


def test_scopes_name_stages_that_exist():
    known = set(by_name())
    for scope in (stages.SLOW, stages.ONLY_ALL, stages.SECOND_LANE, stages.FIRST, stages.ALONE):
        assert set(scope) <= known
    assert known >= stages.APART
    assert set(stages.ASKED_ONCE) <= known


def test_every_program_of_the_tests_is_checked_for_types():
    for name in stages.PROGRAMS:
        assert (ROOT / name).exists(), name
    programs = {f"tests/{path.name}" for path in (ROOT / "tests").glob("run*") if path.is_file()}
    assert programs <= set(stages.PROGRAMS)


@cases(
    "output counts",
    ("....\n4 passed in 0.12s\n", (4, 0, 0)),
    ("== 3 passed, 1 failed, 2 skipped in 1.00s ==\n", (3, 1, 2)),
    ("1 passed, 2 errors in 1.00s\n5 passed in 2.00s\n", (6, 2, 0)),
    ("23 passed, 1 failed, 0 skipped\n", (23, 1, 0)),
    ("nothing to count\n", (0, 0, 0)),
)
def test_tests_are_counted_by_their_summaries(output, counts):
    assert count(output) == counts


def test_a_status_that_is_not_zero_is_a_failure_whatever_was_printed():
    assert judge(["x"], 1, "4 passed in 0.12s\n").counts == (4, 1, 0)
    assert judge(["x"], 0, "").counts == (1, 0, 0)
    skipped = judge(["x"], 77, "looked\nskipped: no kernel\n")
    assert (skipped.counts, skipped.skips) == ((0, 0, 1), ["skipped: no kernel"])


def test_a_failed_story_is_named_from_the_indented_summary_of_the_lab():
    output = (
        "  failed  50.1 s  each fault is named for the reader\n"
        "    ERROR    Ansible return code was 2\n"
        "    FAILED tests/test_nfs_mounts_3_faults.py::test_each_fault_is_named_for_the_reader\n"
        "1 failed, 53 passed in 1873.13s (0:31:13)\n"
    )
    name = "tests/test_nfs_mounts_3_faults.py::test_each_fault_is_named_for_the_reader"
    assert judge(["tests/run_lab"], 1, output).failures == [name]
    assert judge(["tests/run_lab"], 1, "no machine\n").failures == ["tests/run_lab"]


def test_progress_counts_the_lines_of_pytest_of_stories_and_of_the_matrix():
    so_far = Count()
    for line in (
        "$ tests/run_x",
        "bringing up nodes...",
        "..F.s  [ 12%]",
        ".." * 5 + "                       [ 40%]",
        "  passed   1.2 s  apply makes the pool",
        "  failed  10.2 s  a second apply changes nothing",
        "  done    30.0 s  create",
        "2.16 on 3.11  3.6     audit   ok          9 s",
        "2.16 on 3.11  3.7     audit   FAILED      9 s",
    ):
        so_far = so_far.after(line)
    assert so_far == Count(commands=1, done=19, failed=3, percent=40)


def test_a_running_stage_tells_how_far_it_is(logs):
    log = logs / "unit.log"
    log.write_text("$ pytest\n....F   [ 50%]\n..")
    running = progress.Running(shell("unit", "true"), log)
    assert "7 done, 1 failed  50 %" in running.line()
    with log.open("a") as stream:
        stream.write("F.   [ 90%]\n")
    assert "9 done, 2 failed  90 %" in running.line()


def test_live_lines_are_removed_before_anything_else_is_printed(logs):
    out = io.StringIO()
    shown = Progress(out, live=True)
    with shown.running(shell("wire", "true")), shown.running(shell("lab", "true")):
        shown.look()
        shown.say("one stage ended")
    assert out.getvalue().count("\n") == 3
    assert out.getvalue().endswith("\x1b[2F\x1b[Jone stage ended\n")


def test_without_a_terminal_each_running_stage_gets_a_plain_line(logs, monkeypatch):
    monkeypatch.setattr(progress, "LINE_SECONDS", 0.1)
    out = io.StringIO()
    with Progress(out) as shown, shown.running(shell("wire", "true")):
        until = time.monotonic() + 60
        while "wire" not in out.getvalue() and time.monotonic() < until:
            time.sleep(0.05)
    assert out.getvalue().startswith("  wire         0:00\n")
    assert "\x1b" not in out.getvalue()


def test_every_stage_runs_and_reports_also_after_one_has_failed(logs):
    out = io.StringIO()
    expected = [
        shell("lint", "echo bad; exit 1", "true"),
        shell("unit", "echo '3 passed in 0.10s'"),
        shell("lab", "echo no kernel; exit 77"),
    ]
    assert [[stage.name for stage in lane] for lane in lanes_of(expected)] == [
        ["lint", "unit"],
        ["lab"],
    ]
    ended = {result.stage.name: result for result in run_lanes(lanes_of(expected), Progress(out))}
    assert ended["lint"].counts == (1, 1, 0)
    assert ended["unit"].counts == (3, 0, 0)
    assert ended["lab"].counts == (0, 0, 1)
    assert "  | bad" in out.getvalue()
    assert (logs / "lint.log").read_text().startswith("$ sh -c echo bad")


def test_what_has_not_run_within_the_time_is_skipped_and_named(logs):
    slow = (
        "trap \"echo '  failed   1.2 s  interrupted'; exit 1\" INT; echo '..F    [ 50%]'; "
        "echo '  passed   1.2 s  a story'; sleep 60 & wait"
    )
    wanted = [[shell("unit", "true"), shell("lab", slow), shell("wire", "touch never")]]
    began = time.monotonic()
    unit, lab, wire = run_lanes(wanted, Progress(io.StringIO()), began + 5)
    assert time.monotonic() - began < 50
    assert unit.counts == (1, 0, 0)
    assert lab.counts == (3, 1, 1)
    assert lab.results[0].skips == [f"the time of the run was up; sh -c {slow} had run 4 tests"]
    assert wire.counts == (0, 0, 1)
    assert not (ROOT / "never").exists()
    text, bad = summary.closing([unit, lab, wire], [], [], 2, 0.5)
    assert bad
    assert "  wire: the time of the run was up; sh -c touch never had run 0 tests" in text


@cases("seconds", "0", "-5")
def test_no_time_at_all_is_refused(seconds):
    """Else nothing would run and nothing would fail."""
    command = [sys.executable, str(ROOT / "tests/run"), "--within", seconds, "types"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 2
    assert f"--within {seconds}: name a number of seconds above 0" in done.stderr


def test_a_stage_that_hangs_is_a_failure_whatever_the_time_of_the_run(logs):
    hung = shell("wire", "sleep 60 & wait")._replace(seconds=1)
    (ended,) = run_lanes([[hung]], Progress(io.StringIO()), time.monotonic() + 30)
    assert ended.counts == (0, 1, 0)


def test_the_cpu_time_of_a_process_that_a_stage_left_running_is_counted(logs):
    idle = commands.run_stage(shell("wire", "sleep 1"), lanes.threading.Event())
    left = "setsid sh -c 'while :; do :; done' & sleep 1"
    busy = commands.run_stage(shell("wire", left), lanes.threading.Event())
    assert busy.cpu > idle.cpu
    assert busy.counts == (1, 0, 0)


def test_a_killed_runner_leaves_nothing_behind(tmp_path):
    """Not even a process in a session of its own, as QEMU is."""
    runner = f"""
import sys, threading
sys.path.insert(0, {str(ROOT / "tests")!r})
from pathlib import Path
from machines import scenario  # noqa: E402
from runner import commands
from runner.stages import Stage
commands.LOGS = Path({str(tmp_path)!r})
daemon = "setsid sleep 300 & echo $! > {tmp_path}/pid; wait"
commands.run_stage(Stage("wire", [["sh", "-c", daemon]], 60, 60), threading.Event())
"""
    process = subprocess.Popen([sys.executable, "-c", runner])
    noted = tmp_path / "pid"
    until = time.monotonic() + 60
    while not (noted.exists() and noted.read_text().strip()) and time.monotonic() < until:
        time.sleep(0.05)
    daemon = Path("/proc", noted.read_text().strip())
    assert daemon.exists()
    process.kill()
    process.wait()
    while daemon.exists() and time.monotonic() < until:
        time.sleep(0.05)
    assert not daemon.exists()


def test_what_passes_alone_counts_and_is_named(logs, tmp_path):
    second_time = f"test -e {tmp_path}/once && exit 0; touch {tmp_path}/once; exit 1"
    shown = Progress(io.StringIO())
    again = Again(time.monotonic() + 60, shown)
    (ended,) = run_lanes([[shell("wire", second_time)]], shown)
    assert ended.counts == (0, 1, 0)
    assert again.ask(ended).counts == (1, 0, 0)
    assert len(again.unsteady) == 1


def test_a_second_try_of_what_failed_adds_to_what_passed(logs, tmp_path):
    """The lab ends at the first failure: its second try runs what was left, too."""
    text = f"""
if test -e {tmp_path}/once; then echo '5 passed in 1.00s'; exit 0; fi
touch {tmp_path}/once; echo '3 passed, 1 failed, 2 skipped in 1.00s'; exit 1"""
    shown = Progress(io.StringIO())
    (ended,) = run_lanes([[shell("lab", text, failed_only=("--last-failed",))]], shown)
    assert Again(time.monotonic() + 60, shown).ask(ended).counts == (8, 0, 2)


def test_what_is_broken_stays_broken_and_no_second_try_starts_too_late(logs, tmp_path):
    shown = Progress(io.StringIO())
    count_runs = f"echo >> {tmp_path}/runs; exit 1"
    (ended,) = run_lanes([[shell("wire", count_runs)]], shown)
    assert Again(time.monotonic() + 60, shown).ask(ended).counts == (0, 1, 0)
    assert Again(time.monotonic() - 1, shown).ask(ended).counts == (0, 1, 0)
    assert (tmp_path / "runs").read_text() == "\n\n"
    linted = ended._replace(stage=ended.stage._replace(name="lint"))
    assert Again(time.monotonic() + 60, shown).ask(linted).counts == (0, 1, 0)
    assert (tmp_path / "runs").read_text() == "\n\n"


def test_the_closing_line_sums_up_and_comes_last():
    passed = Ended(shell("unit"), [judge(["x"], 0, "3 passed in 0.10s\n")], 100, 20)
    failed = Ended(shell("wire"), [judge(["x"], 1, "FAILED test_x\n1 failed in 0.10s\n")], 1, 1)
    text, bad = summary.closing([passed, failed], ["lab"], ["snmp: late"], 101, 0.5)
    lines = text.splitlines()
    assert bad
    assert lines[-1] == "hostproof: 3 passed, 1 failed, 1 skipped"
    assert lines[-2].startswith("in 101 s, with 21 s of CPU time (")
    assert lines[-3] == "over its budget: unit took 100 s of 60 s"
    assert "failed: wire: test_x" in lines
    assert "  lab: all of it left out by --quick" in lines
    assert any(line.endswith("nothing else ran: snmp: late") for line in lines)


def test_a_run_in_which_no_test_ran_has_failed():
    """Else a machine without any of the programs would pass."""
    skipped = Ended(shell("lab"), [judge(["x"], 77, "QEMU is not installed\n")], 1, 1)
    text, bad = summary.closing([skipped], ["wire"], [], 1, 0.5)
    assert bad
    assert "failed: no test ran, see the reasons above" in text.splitlines()
    assert "  lab: QEMU is not installed" in text.splitlines()
    passed = Ended(shell("unit"), [judge(["x"], 0, "3 passed in 0.10s\n")], 1, 1)
    assert summary.closing([skipped, passed], [], [], 1, 0.5)[1] is False


def test_the_table_of_times_has_a_sum(monkeypatch, tmp_path):
    monkeypatch.setattr(summary, "ANSIBLE_RUNS", tmp_path / "none.txt")
    ended = [Ended(shell(name), [], 10, 7) for name in ("unit", "lab")]
    assert summary.times(ended).splitlines()[-1].split() == ["all", "14"]


def test_counts_are_words():
    assert str(Counts(2, 0, 1)) == "2 passed, 1 skipped"
    assert str(Counts(0, 0, 0)) == "nothing ran"


def test_the_tests_of_molecule_count_beside_those_of_the_stories():
    printed = (
        "> idempotence] Executed: Successful\n3 passed in 0.10s\n2 passed, 1 skipped in 0.20s\n"
    )
    assert scenario.summary_of(printed, 0, 12) == "6 passed in 12.00s"
    assert scenario.summary_of(printed, 1, 12) == "1 failed, 6 passed in 12.00s"
    stage = f"hugepages\n17 passed in 3.00s\nmolecule\n{scenario.summary_of(printed, 0, 12)}\n"
    assert count(stage) == (23, 0, 0)
