"""docs/seeds.md: each printed output is read by the command, each host is judged as an audit of it
does, with the status of the row. Rows without a file name a check and a test that exist."""

import ast
import re

import pytest
import yaml
from ansible.module_utils.hostproof.collect import evidence
from ansible.module_utils.hostproof.collect.host import RecordedHost
from ansible.module_utils.hostproof.controls.registry import CONTROLS
from ansible.module_utils.hostproof.evaluate import audit
from default_policies import default_policy
from hostproof_controller import measured_file
from packs import FIXTURES

ROOT = FIXTURES.parents[1]
PAGE = (ROOT / "docs/seeds.md").read_text()
HOSTS = FIXTURES / "seed_hosts"
PRINTED = re.findall(
    r"^\| (00\d) \| (.+?) \| `(--before \S+ )?(\S+\.\w+)` \| `([a-z_.]+)` \| (\w+) \|$",
    PAGE,
    re.MULTILINE,
)
RECORDED = re.findall(
    r"^\| (00\d) \| (.+?) \| `([\w-]+)` \| `([a-z_.]+)` \| (\w+) \|$", PAGE, re.MULTILINE
)
TESTED = re.findall(
    r"^\| (00\d) \| (.+?) \| `([a-z_.]+)` \| `(\S+?)::(\w+)` \| (.+) \|$", PAGE, re.MULTILINE
)


def test_all_five_articles_have_rows_and_most_are_run():
    rows = [*PRINTED, *RECORDED, *TESTED]
    assert {row[0] for row in rows} == {"000", "001", "002", "003", "004"}
    assert len(rows) >= 75
    assert len(TESTED) <= 13
    assert {row[2] for row in RECORDED} == {path.stem for path in HOSTS.glob("*.json")}


@pytest.mark.parametrize("row", PRINTED, ids=lambda row: f"{row[0]} {row[3]} {row[4]}")
def test_a_printed_output_has_the_status(row):
    _article, _statement, before, name, check, status = row
    path = (FIXTURES / "latency" / name).resolve()
    earlier = str(path.with_name(before.split()[1])) if before else None
    findings = measured_file.read(str(path), earlier).findings
    assert {finding["status"] for finding in findings if finding["check"] == check} == {status}


@pytest.mark.parametrize("row", RECORDED, ids=lambda row: f"{row[0]} {row[2]}")
def test_a_host_has_the_status(row):
    _article, _statement, name, check, status = row
    control = check.partition(".")[0]
    policy = HOSTS / f"{name}.yml"
    values = yaml.safe_load(policy.read_text()) if policy.exists() else {}
    changes = {name.removeprefix(f"{control}_"): value for name, value in values.items()}
    host = RecordedHost(*evidence.open_pack(str(HOSTS / f"{name}.json")))
    findings = audit.judge_host(host, {control: default_policy(control, secrets=True) | changes})
    assert status in {finding.status for finding in findings if finding.check == check}


@pytest.mark.parametrize("row", TESTED, ids=lambda row: f"{row[0]} {row[2]} {row[4]}")
def test_check_and_test_exist(row):
    _article, _words, check, path, name, _reason = row
    assert check in {known.id for control in CONTROLS.values() for known in control.checks}
    tree = ast.parse((ROOT / path).read_text())
    assert name in {
        node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.ClassDef)
    }
