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

PRELOADED = Path(direct.__file__).with_name("preloaded.py")

# How the tests themselves run modules.
pytestmark = pytest.mark.one_core

#: Python before 3.11.4 has no filters.
FILTER = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}


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


def test_a_fork_of_the_preloaded_python_answers_as_a_python_of_its_own(tmp_path):
    """tests/machines/preloaded.py: each request is answered alone, a wrong one too."""
    with tarfile.open(fileobj=io.BytesIO(direct.archive())) as archive:
        archive.extractall(tmp_path, **FILTER)
    pack = direct.ROOT / "tests/fixtures/hugepages/packs/seed-1000-pages.json"
    requests = [
        {"controls": {control: direct.policy(control, tmp_path)}, "evidence_pack": str(source)}
        for control, source in (
            ("hugepages", pack),
            ("latency", pack),
            ("hugepages", tmp_path / "is-missing"),
            ("hugepages", pack),
        )
    ]
    lines = [
        json.dumps({"module": "verify_controls", "input": direct.request(**params).decode()})
        for params in requests
    ]
    code = f"{direct.PATH}; import runpy; runpy.run_path({str(PRELOADED)!r}, run_name='__main__')"
    forked = subprocess.run(
        [sys.executable, "-c", code.replace(direct.TOOLS, str(tmp_path))],
        input="\n".join(lines) + "\n",
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert forked.stderr == ""
    answers = [json.loads(line) for line in forked.stdout.splitlines()]
    assert [reply["status"] for reply in answers] == [0, 0, 1, 0]
    code = f"{direct.RUN}('verify_controls')".replace(direct.TOOLS, str(tmp_path))
    for request, answer in zip(requests, answers, strict=True):
        alone = subprocess.run(
            [sys.executable, "-c", code],
            input=direct.request(**request),
            capture_output=True,
            timeout=600,
        )
        assert json.loads(answer["out"]) == json.loads(alone.stdout)
        assert answer["status"] == alone.returncode


def test_a_module_takes_the_policy_of_every_control(tmp_path):
    """As it is sent: unpacked somewhere else, and read from standard input."""
    with tarfile.open(fileobj=io.BytesIO(direct.archive())) as archive:
        archive.extractall(tmp_path, **FILTER)
    code = f"{direct.RUN}('verify_controls')".replace(direct.TOOLS, str(tmp_path))
    pack = direct.ROOT / "tests/fixtures/hugepages/packs/seed-1000-pages.json"
    controls = set(direct.policies.controls()) - {"custom"}
    done = subprocess.run(
        [sys.executable, "-c", code],
        input=direct.request(
            controls={control: direct.policy(control, tmp_path) for control in controls},
            evidence_pack=str(pack),
        ),
        capture_output=True,
        timeout=600,
    )
    answer = json.loads(done.stdout)
    assert "failed" not in answer, answer
    assert {finding["check"].partition(".")[0] for finding in answer["findings"]} == controls
