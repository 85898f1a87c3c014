"""The machinery of tests/bench/run, small: no verdict of this test rests on a time."""

import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from payload_sizes import largest
from programs import imported_program

ROOT = Path(__file__).resolve().parents[2]
RUN = ROOT / "tests/bench/run"


@pytest.fixture(scope="module")
def bench() -> ModuleType:
    """The program as a module; what it puts on the path is taken off again."""
    before = list(sys.path)
    module = imported_program("bench/run")
    sys.path[:] = before
    return module


def session(bench: ModuleType, tmp_path: Path, *words: str) -> Any:
    return bench.Session(tmp_path, bench.parsed(words))


def test_a_bound_that_is_not_kept_is_the_exit_code(bench, tmp_path, capsys):
    judged = session(bench, tmp_path)
    judged.judge("kept", 1.5, 1.5)
    assert judged.score.exit_code() == 0
    judged.judge("not kept", 1.51, 1.5)
    assert judged.score.exit_code() == 1
    output = capsys.readouterr().out
    assert "Expected: kept: 1.50, at most 1.5: met" in output
    assert "Expected: not kept: 1.51, at most 1.5: NOT MET" in output


def test_without_bounds_figures_are_shown_and_not_judged(bench, tmp_path, capsys):
    judged = session(bench, tmp_path, "--no-bounds")
    judged.judge("slow", 9.0, 1.5)
    assert judged.score.exit_code() == 0
    assert "Measured: slow: 9.00, at most 1.5" in capsys.readouterr().out


def test_a_ratio_is_of_runs_of_one_round(bench):
    cost = bench.Cost
    floor = [cost(wall, 0, 0, 0) for wall in (1.0, 4.0, 2.0)]
    audit = [cost(wall, 0, 0, 0) for wall in (1.5, 4.0, 6.0)]
    assert bench.ratio({"floor": floor, "audit": audit}, "floor") == 1.5


def test_a_part_that_there_is_not_is_refused(bench, capsys):
    with pytest.raises(SystemExit):
        bench.parsed(["--parts", "one,two"])
    assert "no part is called two" in capsys.readouterr().err


def test_a_run_that_judged_too_few_hosts_is_no_figure(bench, tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run/findings.jsonl").write_text('{"outcome": "judged"}\n')
    (tmp_path / "output").write_text("said\n")
    bench.check_outcome("audit", 0, tmp_path, 1)
    with pytest.raises(SystemExit, match="audit of 2 hosts"):
        bench.check_outcome("audit", 0, tmp_path, 2)


def test_both_kinds_keep_bytecode_as_an_installation_does(bench, tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    for kind in bench.PLAYBOOKS:
        assert "PYTHONDONTWRITEBYTECODE" not in bench.environment(kind, tmp_path)


def test_bytes_to_a_host_keep_their_bounds(bench):
    """The same on every machine, so this is a test and not only a benchmark."""
    every = bench.faraway.sent_by_an_audit("python3")
    assert len(every.text) + len(every.command) <= bench.ALL_BYTES


@pytest.mark.long
def test_bytes_of_one_control_keep_their_bounds(bench):
    for name in largest("verify_controls", bench.faraway.controls(), 2):
        request = bench.faraway.sent_by_an_audit("python3", [name])
        assert len(request.text) + len(request.command) <= bench.ONE_BYTES, name


@pytest.fixture(scope="module")
def far(bench, tmp_path_factory) -> Any:
    try:
        return bench.faraway.FarAway(
            tmp_path_factory.mktemp("far") / "program", bench.target_python()
        )
    except bench.faraway.Unavailable as reason:
        pytest.skip(str(reason))


def asked(bench: ModuleType, program: Path, **fields: float) -> tuple[str, str]:
    command = bench.faraway.sent_by_an_audit(str(program), ["hugepages"]).command
    params = {"controls": {name: {"window_seconds": value} for name, value in fields.items()}}
    request, mark = bench.faraway.payload.request(
        "verify_controls", params, check_mode=False, diff=False
    )
    done = subprocess.run(
        ["/bin/sh", "-c", command], input=b"x" * 100 + request, stdout=subprocess.PIPE, check=True
    )
    return done.stdout.decode(), mark


def test_the_far_host_gives_the_answer_of_this_machine(bench, far):
    output, mark = asked(bench, far.python)
    answer = bench.faraway.payload.answer_in(output, mark)
    judged = {finding["control"] for finding in answer["findings"]}
    # Nobody wrote a check of his own there.
    assert judged == set(bench.faraway.controls()) - {"custom"}


def test_the_far_host_waits_the_longest_window_at_least(bench, far):
    started = bench.time.monotonic()
    asked(bench, far.python, one=0.1, two=0.4, three=0.2)
    # Waiting is never shorter than asked for; how much longer is not this test's to say.
    assert bench.time.monotonic() - started >= bench.faraway.SECONDS + 0.4


def test_the_far_host_counts_what_it_is_sent(bench, far):
    far.start_counting()
    asked(bench, far.python)
    (counted,) = far.end_counting()
    assert counted > 300
    asked(bench, far.python)
    assert not (far.folder / "bytes").exists()


@pytest.mark.long
def test_one_command_runs_all_of_it_small():
    if shutil.which("cc") is None and shutil.which("gcc") is None:
        pytest.skip("no C compiler here")
    parts = ["--parts", "ssh,window"]
    small = ["--ssh-hosts", "2", "--at-a-time", "2", "--far-hosts", "2", "--rounds", "1"]
    done = subprocess.run(
        [sys.executable, RUN, *parts, *small, "--window", "0.2", "--no-bounds"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=400,
    )
    assert done.returncode == 0, done.stdout
    rows = [tuple(line.split()[:3]) for line in done.stdout.splitlines()]
    assert ("window", "2", "audit") in rows
    if "SKIPPED ssh" not in done.stdout:
        assert ("ssh", "2", "bare") in rows
        assert "counted by sshd: 1, one: met" in done.stdout
    assert "NOT MET" not in done.stdout


def test_a_fleet_is_judged_by_seconds_a_host_and_in_slices_by_memory(bench, tmp_path, capsys):
    judged = session(bench, tmp_path)
    costs = {
        200: bench.Cost(12.0, 0, 0, 800.0),
        1000: bench.Cost(80.0, 0, 0, 850.0),
        5000: bench.Cost(600.0, 0, 0, 1200.0),
    }
    bench.judge_fleet(judged, costs)
    bench.judge_fleet(judged, {1000: bench.Cost(91.0, 0, 0, 1)}, " in slices")
    bench.judge_memory(judged, costs)
    bench.judge_memory(judged, {200: costs[200], 1000: costs[1000]})
    bench.judge_memory(judged, {})
    output = capsys.readouterr().out
    assert "seconds of 1000 hosts with their window: 80.00, at most 90: met" in output
    assert "seconds of 1000 hosts with their window in slices: 91.00, at most 90: NOT MET" in output
    assert "seconds a host of 5000, x those of 1000: 1.50, at most 1.25: NOT MET" in output
    memory = "peak memory with {} hosts in slices, x that with 200: {}, at most 1.25: {}"
    assert memory.format(5000, "1.50", "NOT MET") in output
    assert memory.format(1000, "1.06", "met") in output
