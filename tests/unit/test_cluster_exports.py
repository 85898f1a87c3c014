"""Hosts that mount one NFS export of datafiles, joined from findings alone."""

import datetime
import json

import nfs_packs
import pytest
from ansible.module_utils.hostproof.controls.registry import check_ids
from ansible.module_utils.hostproof.evaluate import audit
from cases import cases
from default_policies import default_policy
from hostproof_controller.cluster import exports
from hostproof_controller.report.render import render_folder
from report.report_samples import make_line

TODAY = datetime.date(2026, 11, 26)
EXPORT = "filer1:/vol/u02"
LOCAL = {"local_lock": "all", "flags": "nolock"}
UNCACHED = {"cache": nfs_packs.NO_CACHE, "flags": "noac"}


def host(name, source=EXPORT, pages=None, limit=None, policy=None, **options):
    """A line of a host that mounts the export so; ``pages`` and ``limit`` are of its findings."""
    machine = nfs_packs.nfs_host().mount("/u02", source, nfs_packs.shown(**options))
    machine.database("/u02/oradata/ORCL/system01.dbf")
    mounts_policy = nfs_packs.nfs_policy(**(policy or {}))
    findings = [
        finding.as_dict() for finding in audit.judge_host(machine, {"nfs_mounts": mounts_policy})
    ]
    if pages is not None:
        machine.file("/proc/sys/vm/nr_hugepages", f"{pages}\n")
        findings += [
            {
                **finding.as_dict(),
                "values": {"running": pages, "next_boot": pages, "least": 0, "unit": "pages"},
            }
            for finding in audit.judge_host(machine, {"hugepages": default_policy("hugepages")})
            if finding.check == "hugepages.pool_persisted"
        ]
    if limit is not None:
        example = dict(findings[0], control="process_limits", check="process_limits.login")
        title = "oracle nofile: Login limits meet Oracle's requirements"
        findings.append(dict(example, title=title, values={"soft": limit, "hard": limit}))
    return make_line(name, findings)


@pytest.fixture
def told(tmp_path, validate_finding):
    """told(lines...): the findings on the exports, by the name of the export."""

    def look(*lines):
        written = tmp_path / "findings.jsonl"
        written.write_text("".join(json.dumps(dict(line)) + "\n" for line in lines))
        render_folder(str(tmp_path), today=TODAY, known_checks=check_ids)
        by_export = {}
        for text in written.read_text().splitlines():
            record = json.loads(text)
            if record["host"].startswith("(cluster export "):
                for finding in record["findings"]:
                    validate_finding(finding)
                by_export[record["host"][len("(cluster export ") : -1]] = record["findings"]
        return by_export

    return look


def only(found):
    (findings,) = found.values()
    (finding,) = findings
    return finding


def failover(**changes):
    return {"policy": nfs_packs.listed(sharing="failover", **changes)}


@cases(
    "one other status said",
    (LOCAL, LOCAL, "fail", "db1, db2 use local locks"),
    (LOCAL, UNCACHED, "fail", "db1 uses local locks"),
    ({}, {}, "fail", "db1, db2 cache attributes."),
    (UNCACHED, UNCACHED, "pass", ""),
    ({"cache": nfs_packs.NO_CACHE}, UNCACHED, "pass", ""),
)
def test_two_hosts_on_one_export_of_datafiles(told, one, other, status, said):
    by_export = told(host("db1", **one), host("db2", **other))
    assert list(by_export) == [EXPORT]
    finding = only(by_export)
    assert (finding["check"], finding["status"]) == ("nfs_mounts.shared_export", status)
    assert finding["severity"] == "critical"
    assert said in str(finding["why"])
    if said:
        assert f"{EXPORT} is mounted by db1, db2." in finding["why"]


def test_equal_states_of_many_hosts_are_one_line(told):
    hosts = [host(f"db{number}") for number in range(10, 43)]
    finding = only(told(*hosts, host("db1", **UNCACHED), host("db2", **LOCAL)))
    first, *others = finding["running"].split("; ")
    assert first == "33 hosts: server locks, attributes cached, sharing not stated"
    assert sorted(state.partition(":")[0] for state in others) == ["db1", "db2"]
    assert "db10, db11, db12 and 31 more hosts cache attributes." in finding["why"]
    assert len(finding["why"]) < 700


def test_a_failover_pair_may_cache_and_may_not_lock_locally(told):
    assert only(told(host("db1", **failover()), host("db2", **failover())))["status"] == "pass"
    by_export = told(host("db1", **failover(), **LOCAL), host("db2", **failover()))
    assert by_export[EXPORT][0]["status"] == "fail"


def test_a_server_is_one_by_its_address_or_its_name(told):
    lines = [host("db1"), host("db2", source="filer-lif2:/vol/u02/")]
    assert list(told(*lines)) == [EXPORT]
    elsewhere = host("db2", source="filer2:/vol/u02", address="10.0.0.6")
    assert told(host("db1"), elsewhere) == {}
    assert told(host("db1"), host("db2", source="filer1:/vol/u03")) == {}


def test_one_host_alone_shares_nothing(told):
    assert told(host("db1", **LOCAL)) == {}


def test_backups_are_no_datafiles(told):
    backup = {"policy": nfs_packs.listed(**{"class": "backup"})}
    assert told(host("db1", **backup), host("db2", **backup)) == {}


def test_what_a_host_does_not_say_is_unknown(told):
    lines = [host("db1", **UNCACHED), host("db2", **UNCACHED)]
    for finding in lines[1]["findings"]:
        if finding["check"] == "nfs_mounts.shared_export":
            finding["values"]["locks"] = None
    finding = only(told(*lines))
    assert finding["status"] == "error"
    assert "Locks and attributes of db2 are unknown." in finding["why"]


class TestFailoverPair:
    def test_equal_hosts(self, told):
        lines = [host(name, pages=100, limit="65536", **failover()) for name in ("db1", "db2")]
        assert only(told(*lines))["status"] == "pass"

    def test_what_the_standby_lacks(self, told):
        """Mount options, the huge page pool of the next boot and login limits."""
        findings = told(
            host("db1", pages=35893, limit="65536", **failover()),
            host("db2", pages=0, limit="1024", rsize=65536, **failover()),
        )[EXPORT]
        assert [(finding["check"], finding["status"]) for finding in findings] == [
            ("nfs_mounts.shared_export", "pass"),
            ("cluster_nodes.check_results", "warn"),
            ("cluster_nodes.huge_pages", "fail"),
            ("cluster_nodes.check_results", "warn"),
        ]
        assert findings[1]["title"].startswith("mount options: ")
        assert "rsize=65536" in findings[1]["running"]
        assert findings[2]["values"] == {"db1": 35893, "db2": 0}
        assert findings[3]["title"].startswith("limit oracle nofile: ")

    def test_a_standby_that_was_not_judged_is_unknown(self, told):
        findings = told(host("db1", pages=100, **failover()), host("db2", **failover()))[EXPORT]
        assert [finding["status"] for finding in findings] == ["pass", "error"]
        assert "huge_pages is unknown for db2" in findings[1]["why"]


def test_what_hosts_say_is_bounded():
    class State:
        name = "db1"
        findings = [
            {
                "check": "nfs_mounts.shared_export",
                "values": {"server": "x" * 9999, "export": "/<script>", "locks": 5},
            }
        ]

    other = type("Other", (State,), {"name": "db2"})
    (export,) = exports.exports_of([State(), other()])
    assert len(export.name) < 1000
    assert "<" not in export.name
