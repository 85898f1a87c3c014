"""Modules without a play (tests/machines/direct.py): the policy, and what is sent."""

import io
import json
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from machines import direct  # noqa: E402

# How the tests themselves run modules.
pytestmark = pytest.mark.one_core


@pytest.fixture
def inventory(tmp_path):
    folder = tmp_path / "inventory/group_vars/container"
    folder.mkdir(parents=True)
    (folder / "io_pacing.yml").write_text("---\nio_pacing_maxpout: 513\nio_pacing_minpout: 256\n")
    return tmp_path / "inventory"


def test_a_policy_is_the_defaults_then_the_inventory_then_the_step(inventory):
    made = direct.policy("io_pacing", inventory, io_pacing_minpout=128)
    assert (made["maxpout"], made["minpout"]) == (513, 128)
    assert made["profile"] == direct.policies.controls()["io_pacing"].defaults["profile"]
    assert set(made) == set(direct.policies.controls()["io_pacing"].fields)


@pytest.mark.parametrize("control", sorted(direct.policies.controls()))
def test_a_module_takes_the_policy_of_every_control(control, tmp_path):
    """As it is sent: unpacked somewhere else, and read from standard input."""
    with tarfile.open(fileobj=io.BytesIO(direct.archive())) as archive:
        archive.extractall(tmp_path, filter="data")
    code = f"{direct.RUN}('verify_controls')".replace(direct.TOOLS, str(tmp_path))
    pack = direct.ROOT / "tests/fixtures/hugepages/packs/seed-1000-pages.json"
    done = subprocess.run(
        [sys.executable, "-c", code],
        input=direct.request(
            controls={control: direct.policy(control, tmp_path)}, evidence_pack=str(pack)
        ),
        capture_output=True,
        timeout=600,
    )
    answer = json.loads(done.stdout)
    assert "failed" not in answer, answer
    assert {one["check"].partition(".")[0] for one in answer["findings"]} == {control}
