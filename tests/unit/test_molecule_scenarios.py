"""The scenarios of Molecule: each role that changes something has one, and what docs/molecule.md
hands out fits what is here."""

import re
from pathlib import Path

import pytest
import yaml
from cases import cases

#: The rules under test are ours; other files show how each ansible-core runs them.
pytestmark = pytest.mark.one_core

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "docs/examples/molecule"
CONFIG = yaml.safe_load((ROOT / ".config/molecule/config.yml").read_text())
SCENARIOS = {path.parent.name: path for path in sorted(ROOT.glob("molecule/*/molecule.yml"))}
CHANGING = sorted(
    path.parents[1].name
    for path in ROOT.glob("roles/*/tasks/main.yml")
    if "apply_control:" in path.read_text()
)
#: Their plan is always empty: they judge, and set nothing.
JUDGING = {
    path.parents[1].name
    for path in ROOT.glob("roles/*/tasks/main.yml")
    if "apply_control:" not in path.read_text()
}
PINS = re.compile(r"^([a-z-]+==\S+)$", re.MULTILINE)


def test_each_role_that_changes_something_has_a_scenario():
    assert len(CHANGING) >= 12
    assert set(CHANGING) <= set(SCENARIOS)
    assert not JUDGING & set(SCENARIOS)


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_scenario_has_a_policy_something_to_prepare_and_something_to_verify(name):
    folder = SCENARIOS[name].parent
    assert yaml.safe_load((folder / "inventory/hosts.yml").read_text())
    assert list((folder / "inventory/group_vars").glob("*/*.yml"))
    assert (folder / "prepare.sh").read_text().startswith("#!/bin/sh\n")
    tests = [path.read_text() for path in folder.glob("tests/test_*.py")]
    assert sum(text.count("\ndef test_") for text in tests) >= 1
    # Molecule's own sequence and verifier, which no scenario changes.
    assert yaml.safe_load(SCENARIOS[name].read_text()) == {}


def test_the_sequence_is_the_standard_one():
    steps = ["destroy", "create", "prepare", "converge", "idempotence", "verify", "destroy"]
    assert CONFIG["scenario"]["test_sequence"] == steps
    assert CONFIG["verifier"]["name"] == "testinfra"


def test_all_leaves_the_virtual_machine_out():
    assert "lab" not in SCENARIOS
    assert (ROOT / "molecule/lab/lab.yml").exists()


def test_users_get_the_versions_that_we_test_with():
    ours = PINS.findall((ROOT / "requirements-dev.txt").read_text())
    theirs = PINS.findall((EXAMPLES / "requirements.txt").read_text())
    assert {pin.partition("==")[0] for pin in theirs} == {"ansible", "molecule", "pytest-testinfra"}
    assert set(theirs) <= set(ours)


def github(file: dict) -> tuple[list[str], dict[str, str]]:
    job = file["jobs"]["molecule"]
    return [step["run"] for step in job["steps"] if "run" in step], job["env"]


def gitlab(file: dict) -> tuple[list[str], dict[str, str]]:
    return file["molecule"]["script"], file["molecule"]["variables"]


@cases("name read", ("github-actions.yml", github), ("gitlab-ci.yml", gitlab))
def test_a_job_runs_what_the_page_says(name, read):
    commands, variables = read(yaml.safe_load((EXAMPLES / name).read_text()))
    page = (ROOT / "docs/molecule.md").read_text()
    of_both = [line for line in commands if not re.match(r"apt-get|podman|docker", line)]
    assert len(of_both) == 3
    for command in of_both:
        assert command in page
    assert variables["HOSTPROOF_URL"] in page
    # The image that is built is the one that Hostproof is told to use, by the same engine.
    (build,) = [line for line in commands if " build " in line]
    assert build.startswith(variables["HOSTPROOF_CONTAINER_ENGINE"] + " build ")
    assert '-t "$HOSTPROOF_CONTAINER_IMAGE"' in build and variables["HOSTPROOF_CONTAINER_IMAGE"]
    containerfile = re.search(r"< hostproof/(\S+)", build)
    assert containerfile and (ROOT / containerfile[1]).exists()
