"""The advice on every stored pack; conftest.py compares it with the stored advice."""

import pytest
import recorded_packs
from ansible.module_utils.hostproof.collect import evidence
from ansible.module_utils.hostproof.collect.host import RecordedHost
from ansible.module_utils.hostproof.controls.registry import NAMES
from ansible.module_utils.hostproof.errors import HostproofError
from ansible.module_utils.hostproof.evaluate import audit
from default_policies import default_policy

#: Those of releases have readings that today's code no longer records.
RELEASED = sorted(recorded_packs.packs.FIXTURES.glob("released_packs/*/db*.json"))


@pytest.mark.parametrize("control", [name for name in NAMES if name != "custom"])
def test_every_pack_has_known_advice(control):
    for path in (*recorded_packs.PACKS, *RELEASED):
        if control not in recorded_packs.controls_of(path):
            continue
        host = RecordedHost(*evidence.open_pack(str(path)))
        try:
            assert audit.judge_host(host, {control: default_policy(control, secrets=True)})
        except HostproofError:
            continue  # a reading that no version of this control could take is another test's
