"""A small sample of every family in tests/attack; `tests/attack/run` makes more than 10,000."""

import os
import re
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[1] / "attack"
RUN = FOLDER / "run"
#: Bad policies are tried in test_bad_policies.py.
ELSEWHERE = {"policies"}
FAMILIES = sorted(
    {path.stem.removeprefix("attack_") for path in FOLDER.glob("attack_*.py")} - ELSEWHERE
)
SAMPLE = "12"
#: Their plays have limits in seconds, which a busy machine can miss: a failed run is repeated once.
BY_THE_CLOCK = {"answers"}

WINNER = """
import family
from family import CONTAINED, REFUSED, WON, Outcome

def attempts(rng, number):
    for result in {results}:
        yield Outcome("names", result, rng.random())

family.main(attempts)
"""


def attack(*arguments, folder=None):
    environment = dict(os.environ, PYTHONPATH=str(FOLDER)) if folder else None
    more = ["--folder", str(folder)] if folder else []
    return subprocess.run(
        [sys.executable, str(RUN), *arguments, *more],
        capture_output=True,
        text=True,
        timeout=900,
        env=environment,
    )


def totals(output):
    """Attempts, successful, refused and contained of the table of families."""
    line = next(line for line in output.splitlines() if line.startswith("total "))
    return [int(word) for word in line.split()[1:]]


def lost_by(done):
    """The first lines that show why a run failed."""
    lines = [*done.stdout.splitlines(), *done.stderr.splitlines()]
    return [line for line in lines if re.search(r" [1-9]\d* wins|Error|FAILED", line)][:5]


@pytest.mark.long
@pytest.mark.parametrize("family", FAMILIES)
def test_no_attack_of_a_sample_succeeds(family):
    done = attack(family, "--attempts", SAMPLE)
    if done.returncode and family in BY_THE_CLOCK:
        warnings.warn(f"{family} is tried again: {lost_by(done)}", stacklevel=1)
        done = attack(family, "--attempts", SAMPLE)
    skipped = [line for line in done.stdout.splitlines() if line.startswith("SKIPPED")]
    if skipped:
        pytest.skip(skipped[0])
    assert done.returncode == 0, f"{lost_by(done)}\n{done.stdout}{done.stderr}"
    attempts, successful, _, _ = totals(done.stdout)
    assert attempts > 0
    assert successful == 0


def family_of(tmp_path, results, name="sample"):
    (tmp_path / f"attack_{name}.py").write_text(WINNER.format(results=results))
    return attack("--attempts", "10", folder=tmp_path)


def test_a_successful_attack_fails_the_run_and_shows_its_input(tmp_path):
    done = family_of(tmp_path, "(WON, REFUSED, CONTAINED, CONTAINED)")
    assert done.returncode == 1
    assert totals(done.stdout) == [4, 1, 1, 2]
    assert "WON names: 0." in done.stdout
    assert done.stdout.endswith("0 passed, 1 failed, 0 skipped\n")


def test_the_same_seed_repeats_the_inputs(tmp_path):
    first, second = (family_of(tmp_path, "[WON] * 3").stdout for _ in range(2))
    other = attack("--attempts", "10", "--seed", "2", folder=tmp_path).stdout
    assert first == second
    assert first != other


def test_a_family_that_breaks_or_attempts_nothing_fails(tmp_path):
    assert family_of(tmp_path, "(REFUSED, 1 / 0)").returncode == 1
    assert family_of(tmp_path, "()").returncode == 1


def test_no_more_attempts_than_asked_for(tmp_path):
    done = family_of(tmp_path, "[REFUSED] * 50")
    assert done.returncode == 0
    assert totals(done.stdout) == [10, 0, 10, 0]


def test_masking_has_a_table_of_its_formats(tmp_path):
    done = family_of(tmp_path, "(CONTAINED,)", "masking")
    assert done.returncode == 0
    assert "format of a secret" in done.stdout
