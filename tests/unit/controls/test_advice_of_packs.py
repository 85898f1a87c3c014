"""The advice on every stored pack; conftest.py compares it with the stored advice."""

from pathlib import Path

import pytest
from ansible.module_utils.hostproof.collect import evidence
from ansible.module_utils.hostproof.collect.host import RecordedHost
from ansible.module_utils.hostproof.controls.registry import NAMES
from ansible.module_utils.hostproof.errors import HostproofError
from ansible.module_utils.hostproof.evaluate import audit
from default_policies import default_policy

ROOT = Path(__file__).resolve().parents[3]
PACKS = sorted((ROOT / "docs/examples/evidence").glob("*.json")) + sorted(
    path
    for path in (ROOT / "tests/fixtures").rglob("*.json")
    if b'"readings"' in path.read_bytes()[:100_000]
)


@pytest.mark.parametrize("control", [name for name in NAMES if name != "custom"])
def test_every_pack_has_known_advice(control):
    for path in PACKS:
        host = RecordedHost(*evidence.open_pack(str(path)))
        try:
            assert audit.judge_host(host, {control: default_policy(control, secrets=True)})
        except HostproofError:
            continue  # a reading that no version of this control could take is another test's
