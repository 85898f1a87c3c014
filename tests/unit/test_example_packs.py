"""The example packs hold what today's controls read, and lead to what their page says."""

import os
import re

import aix_packs
import example_packs
import listener_packs
import nfs_packs
import oracle_packs
import packs
import pytest
from ansible.module_utils.hostproof import audit, evidence
from ansible.module_utils.hostproof.host import RecordedHost
from ansible.module_utils.hostproof.report.verdict import host_verdict
from snmp_agents import storage_policy

PAGE = packs.ROOT / "docs/examples/README.md"


@pytest.mark.parametrize("host", sorted(example_packs.SOURCES))
def test_example_packs_hold_what_todays_controls_read(host):
    """If they do not: HOSTPROOF_WRITE_FIXTURES=1 pytest -k example_packs tests/unit"""
    text = example_packs.complete(host)
    path = example_packs.FOLDER / f"{host}.json"
    if os.environ.get("HOSTPROOF_WRITE_FIXTURES"):
        path.write_text(text)
    assert path.read_text() == text


def test_the_page_tells_the_verdict_on_each():
    rows = re.findall(r"^\| `(db\S+)` \| .* \| (.*) \|$", PAGE.read_text(), re.MULTILINE)
    policies = {
        "hugepages": packs.hugepages_policy(),
        "io_pacing": aix_packs.io_pacing_policy(),
        "listener_rate_limit": listener_packs.listener_policy(),
        "nfs_mounts": nfs_packs.nfs_policy(),
        "pre_page_sga": oracle_packs.policy(),
        "storage_type": storage_policy(),
    }
    found = {}
    for path in sorted(example_packs.FOLDER.glob("*.json")):
        host = RecordedHost(evidence.load_pack(str(path)))
        found[path.stem] = host_verdict([f.as_dict() for f in audit.judge_host(host, policies)])
    assert dict(rows) == found
