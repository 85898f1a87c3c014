"""Every kind of evidence pack through ./hostproof audit --evidence: no host and no finding is lost
on the way from the host's answer to the report.

All packs are judged in one run, because a run takes seconds: those of ../shared where they are, the
example packs, and a made one for each control that none of them shows.
"""

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import block_packs
import cluster_packs
import interconnect_packs
import packs
import pytest
import test_shared_packs as shared
import wrapper
from ansible.module_utils.hostproof.collect import evidence
from ansible.module_utils.hostproof.collect.host import RecordedHost
from ansible.module_utils.hostproof.controls.pool_validation.parsers import datasources_xml
from ansible.module_utils.hostproof.controls.registry import NAMES
from ansible.module_utils.hostproof.evaluate import audit
from default_policies import default_policy
from hostproof_controller import policies

#: The rules under test are ours; other files show how each ansible-core runs them.
pytestmark = [pytest.mark.one_core, pytest.mark.long]

EXAMPLES = packs.ROOT / "docs/examples/evidence"
#: What the policies of this run have instead of the defaults.
CHANGED = {
    "nfs_mounts": {"oracle_homes": ["/u01/app/oracle/product/19"]},
    "pool_validation": {"servers": [{"name": "shop", "home": "/opt/wildfly", "user": "wildfly"}]},
}
POLICIES = {
    name: {**default_policy(name, secrets=True), **CHANGED.get(name, {})}
    for name in policies.controls()
}


def application_server() -> packs.Machine:
    """A standalone server with a file of its own (tests/fixtures/pool_validation/SOURCES.md)."""

    def fixture(name: str) -> str:
        return (packs.FIXTURES / "pool_validation" / name).read_text()

    java = "/usr/lib/jvm/java-17/bin/java"
    host = packs.Machine().link("/usr/bin/java", java).file(java, "")
    host.folder("/opt/wildfly/standalone/deployments")
    host.command("jboss-cli shop: data sources", fixture("answers.json"))
    file = "/opt/wildfly/standalone/configuration/standalone.xml"
    return host.file(file, datasources_xml.kept(fixture("standalone.xml")))


def disks() -> packs.Machine:
    machine = block_packs.recorded()
    return machine.process("asm_dbw0_+ASM", "/dev/dm-0", "/dev/null", uid=block_packs.ORACLE)


MADE: dict[str, Callable[[], packs.Machine]] = {
    "block_devices": disks,
    "cluster_nodes": lambda: cluster_packs.node("db1"),
    "interconnect": interconnect_packs.Node,
    "pool_validation": application_server,
}


def pack_of(name: str, machine: packs.Machine) -> str:
    """The text of the pack of a machine, as an audit of the control reads it."""
    audit.read_host(machine, {name: POLICIES[name]})
    content = {
        "schema": 1,
        "host": f"made-{name}",
        "recorded_at": packs.RECORDED_AT,
        "readings": machine.evidence,
    }
    return json.dumps(content)


class Judged(NamedTuple):
    """``folder`` holds the packs, ``lines`` the results of their hosts; ``output`` is printed."""

    folder: Path
    lines: dict[str, dict[str, Any]]
    output: str

    def directly(self, host: str) -> list[dict[str, Any]]:
        """The findings as the pack gives them, before they are an answer."""
        readings = evidence.open_pack(str(self.folder / f"{host}.json"))[0]
        return [finding.as_dict() for finding in audit.judge_host(RecordedHost(readings), POLICIES)]


@pytest.fixture(scope="module")
def judged(tmp_path_factory) -> Judged:
    made = tmp_path_factory.mktemp("packs_by_command")
    folder = made / "packs"
    folder.mkdir()
    paths = [*EXAMPLES.glob("*.json"), *shared.FOLDER.glob("*.json")]
    for path in paths:
        shutil.copy(path, folder)
    for name, machine in MADE.items():
        (folder / f"made-{name}.json").write_text(pack_of(name, machine()))
    variables = {
        policies.controls()[control].variable(field): value
        for control, fields in CHANGED.items()
        for field, value in fields.items()
    }
    ran = subprocess.run(
        [wrapper.HOSTPROOF, "audit", "--evidence", str(folder), "-e", json.dumps(variables)],
        env={**wrapper.environment(made), "HOSTPROOF_REPORTS": str(made / "reports")},
        cwd=made,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=600,
    )
    kept = [*made.glob("reports/*/findings.jsonl")]
    assert len(kept) == 1, ran.stdout
    lines = [json.loads(line) for line in kept[0].read_text().splitlines()]
    # In parentheses stands what is said of a whole cluster.
    hosts = {line["host"]: line for line in lines if not line["host"].startswith("(")}
    return Judged(folder, hosts, ran.stdout)


def test_no_host_is_lost(judged):
    assert set(judged.lines) == {path.stem for path in judged.folder.glob("*.json")}
    assert {host: line["message"] for host, line in judged.lines.items() if line["message"]} == {}
    assert {line["outcome"] for line in judged.lines.values()} == {"judged"}


def test_every_finding_arrives_with_all_its_fields(judged):
    """The controller adds only inventory and host to its own commands."""
    for host, line in judged.lines.items():
        sent = judged.directly(host)
        assert [finding["check"] for finding in line["findings"]] == [
            finding["check"] for finding in sent
        ]
        for arrived, expected in zip(line["findings"], sent, strict=True):
            completed = [
                f"{command} --limit {host}" if command.startswith("./hostproof ") else command
                for command in expected["commands"]
            ]
            # The variables of this run precede --limit.
            typed = [re.sub(r" -e '[^']*'", "", command) for command in arrived["commands"]]
            assert {**arrived, "commands": typed} == {**expected, "commands": completed}, host


def test_a_pack_shows_each_control(judged):
    shown = {
        finding["control"]
        for line in judged.lines.values()
        for finding in line["findings"]
        if finding["status"] not in ("skip", "error") or finding["values"]
    }
    # The hosts have no driver of ASM disks. packages and platform need a profile or os-release, and
    # custom needs checks of the site: the examples have none of them.
    assert set(NAMES) - shown == {"asm_drivers", "custom", "packages", "platform"}


@pytest.mark.parametrize(
    ("name", "expected"),
    shared.ROWS,
    ids=[f"{name} {row.control}.{row.check}" for name, row in shared.ROWS],
)
def test_a_shared_pack_has_its_verdict(judged, name, expected):
    if not shared.FOLDER.is_dir():
        pytest.skip("the packs of ../shared are not on this machine")
    check = f"{expected.control}.{expected.check}"
    of_check = [
        finding
        for finding in judged.lines[f"{name}.example.com"]["findings"]
        if finding["check"] == check
    ]
    wrong = [finding for finding in of_check if finding["status"] in expected.statuses]
    assert wrong, of_check
    assert expected.says in " ".join(str(value) for finding in wrong for value in finding.values())
