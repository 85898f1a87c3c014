"""An apply that has nothing to do says why, and its exit code is not that of a success."""

import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_an_apply_without_profile_or_instance_does_not_succeed(tmp_path):
    """In check mode: this test changes nothing on the machine that it runs on."""
    environment = {
        **os.environ,
        "HOSTPROOF_REPORTS": str(tmp_path / "reports"),
        "HOSTPROOF_VENV": ".venv-dev",
        "HOSTPROOF_REQUIREMENTS": "requirements-dev.txt",
    }
    environment.pop("HOSTPROOF_PROFILE", None)
    done = subprocess.run(
        [
            *(str(ROOT / "hostproof"), "apply", "--check"),
            *("--tags", "listener_rate_limit,time_sync"),
            *("-i", "inventories/local", "-e", "time_sync_max_step_updates=unmanaged"),
        ],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 5, done.stdout + done.stderr
    assert "nothing to do: [localhost]: " in done.stdout
    assert "no selected control has anything to do" in done.stderr
