"""The registry imports a control when it is asked for, and Ansible packs every one."""

import subprocess
import sys
from pathlib import Path

from ansible.module_utils.hostproof.controls import registry as controls

ROOT = Path(__file__).resolve().parents[2]

LOADED = """
import sys
from hostproof.controls.registry import CONTROLS
from hostproof.evaluate import audit
assert CONTROLS["hugepages"].NAME == "hugepages"
print(*sorted(name for name in CONTROLS if "hostproof.controls." + name in sys.modules))
"""


def test_one_control_imports_no_other():
    done = subprocess.run(
        [sys.executable, "-c", LOADED],
        env={"PYTHONPATH": str(ROOT / "module_utils")},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == ["hugepages"]


def test_every_name_is_packed_and_is_its_controls_own():
    packed = controls._packed()
    assert list(packed) == list(controls.NAMES) == sorted(packed)
    assert all(getattr(one, "plan", one) is controls.planner(name) for name, one in packed.items())
    assert all(name == controls.CONTROLS[name].NAME for name in controls.NAMES)


def test_what_is_no_control():
    assert "nosuch" not in controls.CONTROLS
    assert controls.CONTROLS.get("nosuch") is None
    assert controls.CONTROLS.get("_packed") is None
