"""The attacks of tests/attack, one try of each: `tests/attack/run` makes 200."""

import subprocess
import sys
from pathlib import Path

import pytest

#: Bad policies are tried in test_bad_policies.py, inputs by the million in test_fuzz.py.
NAMES = ("answers", "apply", "audit", "lock", "masking")
RUN = Path(__file__).resolve().parents[1] / "attack/run"


def test_nobody_wins():
    done = subprocess.run(
        [sys.executable, str(RUN), *NAMES, "--tries", "1", "--core", "own"],
        capture_output=True,
        text=True,
        timeout=900,
    )
    lines = [line.strip() for line in done.stdout.splitlines()]
    skipped = [line for line in lines if line.startswith("SKIPPED")]
    if skipped:
        pytest.skip(skipped[0])
    assert done.returncode == 0, done.stdout + done.stderr
    assert lines[-1].endswith("0 failed, 0 skipped")
    assert "all of them" in lines[-2] and lines[-2].endswith(" 0")
    told = [line for line in lines if " tries, " in line]
    assert len(told) > 25
    assert all(line.endswith(" tries, 0 wins") for line in told)
