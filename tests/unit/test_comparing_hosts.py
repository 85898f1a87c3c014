"""./hostproof compare: settings in which two hosts differ."""

import json

import cluster_packs
import pytest
from ansible.module_utils.hostproof.evaluate import audit
from cases import cases
from cluster_packs import node, policy
from default_policies import default_policy
from hostproof_controller.cli import command
from report.report_samples import finding, make_line

#: The rules under test are ours; other files show how each ansible-core runs them.
pytestmark = pytest.mark.one_core


def written(folder, *lines):
    folder.mkdir()
    text = "".join(json.dumps(dict(line)) + "\n" for line in lines)
    (folder / "findings.jsonl").write_text(text)
    return str(folder)


def rows(capsys, *words):
    code = command.main(["compare", *words, "--format", "json"])
    return code, json.loads(capsys.readouterr().out)


def of_node(name, **changes):
    policies = {"cluster_nodes": policy(), "hugepages": default_policy("hugepages")}
    judged = audit.judge_host(node(name, **changes), policies)
    return make_line(name, [entry.as_dict() for entry in judged])


def test_traits_and_values_of_every_layer(tmp_path, capsys):
    run = written(
        tmp_path / "run", *(of_node(name) for name in cluster_packs.NODES[:2]),
        of_node("db3", mtu=1500),
    )  # fmt: skip
    assert rows(capsys, "db1", "db2", "--report", run) == (0, [])
    code, differing = rows(capsys, "db1", "db3", "--report", run)
    assert code == 3
    mtu = {"control": "cluster_nodes", "setting": "mtu eth1", "layer": ""}
    assert {**mtu, "first": "9000", "second": "1500"} in differing


@cases("one other expected",

        ({"persisted": "10"}, {"persisted": "60"}, ("persisted", "10", "60")),
        ({"running": "on db01"}, {"running": "on db02"}, None),
        ({"running": "10"}, {"running": "60"}, ("running", "10", "60")),
        ({"status": "fail"}, {"status": "pass"}, ("status", "fail", "pass")),
        ({"status": "pass"}, {"status": "skip"}, None),
        ({"status": "error"}, {"status": "skip"}, ("status", "error", "skip")),
        ({"control": "space", "check": "space.free", "running": "1"},
         {"control": "space", "check": "space.free", "running": "2"}, None),
        ({"title": "/u02: T"}, {"title": "/u03: T"}, ("", "1 check", "-")),
    )  # fmt: skip
def test_a_check_of_two_hosts_that_are_no_cluster(tmp_path, capsys, one, other, expected):
    base = {"status": "pass", "desired": "10", "persisted": "10", "running": "10", "in_use": None}
    run = written(
        tmp_path / "run",
        make_line("db01", [finding(**{**base, **one})]),
        make_line("db02", [finding(**{**base, **other})]),
    )
    _code, differing = rows(capsys, "db01", "db02", "--report", run)
    found = [(row["layer"], row["first"], row["second"]) for row in differing]
    assert found[:1] == ([expected] if expected else [])


def test_the_latest_result_of_each_host_counts(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("HOSTPROOF_REPORTS", str(tmp_path))
    written(tmp_path / "20261121T010000Z-aaaa", make_line("db01", [finding(persisted="1")]))
    written(tmp_path / "20261121T020000Z-bbbb", make_line("db02", [finding(persisted="1")]))
    assert rows(capsys, "db01", "db02") == (0, [])
    assert command.main(["compare", "db01", "db03"]) == 1
    assert "the reports have no host 'db03'; did you mean db0" in capsys.readouterr().err
