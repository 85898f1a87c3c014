"""Evidence as it travels and as packs keep it."""

import base64
import json
import zlib

import packs
import pytest
from ansible.module_utils.hostproof.collect import evidence
from ansible.module_utils.hostproof.errors import HostproofError, PolicyError
from ansible.module_utils.hostproof.evaluate import audit
from cases import cases

READINGS = {"file:/x": {"kind": "file", "at": packs.RECORDED_AT, "text": "caf\udce9 \x00"}}


def test_travels_as_one_line_of_ascii_and_comes_back():
    text = evidence.encode(READINGS)
    assert text.isascii()
    assert "\n" not in text
    assert evidence.decode(text) == READINGS


def packed(content):
    return base64.b64encode(zlib.compress(content)).decode()


@cases(
    "text message",
    ("", "cannot be unpacked"),
    ("%%%", "cannot be unpacked"),
    (base64.b64encode(b"no zlib").decode(), "cannot be unpacked"),
    (packed(b"{}")[:8], "cannot be unpacked"),
    (packed(b"no JSON"), "cannot be unpacked"),
    (packed(b'"\xff"'), "cannot be unpacked"),
    (packed(b"[]"), "is not a JSON object"),
)
def test_what_is_no_evidence(text, message):
    with pytest.raises(HostproofError, match=f"evidence {message}"):
        evidence.decode(text)


def test_what_would_fill_the_memory_is_not_read(monkeypatch):
    monkeypatch.setattr(evidence, "LIMIT", 1000)
    with pytest.raises(HostproofError, match="inflates to more than"):
        evidence.decode(evidence.encode({"file:/x": {"text": "x" * 2000}}))


def test_cited_is_what_findings_name():
    machine = packs.database_host()
    findings = audit.judge_host(machine, {"hugepages": packs.hugepages_policy()})
    cited = evidence.cited(machine.evidence, findings)
    assert set(cited) < set(machine.evidence)
    assert "file:/proc/meminfo" in cited
    assert cited["file:/proc/meminfo"] is machine.evidence["file:/proc/meminfo"]


def test_findings_cite_what_was_read():
    """But for places that an absent folder stands for."""
    machine = packs.database_host()
    for finding in audit.judge_host(machine, {"hugepages": packs.hugepages_policy()}):
        assert finding.evidence
        assert set(finding.evidence) <= set(machine.evidence), finding.check


class TestPack:
    def write(self, path, content):
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        return str(path)

    def test_readings(self, tmp_path):
        path = self.write(tmp_path / "a.json", {"schema": 1, "host": "a", "readings": READINGS})
        assert evidence.open_pack(path)[0] == READINGS

    @cases(
        "content message",
        ("", "cannot be read"),
        ("{", "cannot be read"),
        ([], "is not an evidence pack of schema 1"),
        ({}, "is not an evidence pack of schema 1"),
        ({"schema": 2, "readings": {}}, "is not an evidence pack of schema 1"),
        ({"schema": 1}, "holds no readings"),
        ({"schema": 1, "readings": []}, "holds no readings"),
        ({"schema": 1, "readings": {"file:/x": "text"}}, "holds no readings"),
    )
    def test_what_is_no_pack(self, tmp_path, content, message):
        path = self.write(tmp_path / "a.json", content)
        with pytest.raises(HostproofError, match=message) as problem:
            evidence.open_pack(path)[0]
        assert path in str(problem.value)

    def test_missing_pack(self, tmp_path):
        with pytest.raises(HostproofError, match="there is no evidence pack .*: record the host"):
            evidence.open_pack(str(tmp_path / "none.json"))[0]

    def test_folder_in_the_place_of_a_pack(self, tmp_path):
        with pytest.raises(HostproofError, match="cannot be read"):
            evidence.open_pack(str(tmp_path))[0]

    def test_bytes_that_are_no_text(self, tmp_path):
        (tmp_path / "a.json").write_bytes(b"\xff\xfe")
        with pytest.raises(HostproofError, match="cannot be read"):
            evidence.open_pack(str(tmp_path / "a.json"))[0]


class TestAudit:
    @cases(
        "controls message",
        ({}, "no control is named: name at least one of .*hugepages"),
        ({"nosuch": {}}, "there is no control nosuch: there are .*hugepages"),
        ({"hugepages": []}, "the policy of hugepages must be a dictionary"),
        ({"hugepages": None}, "the policy of hugepages must be a dictionary"),
    )
    def test_control_that_cannot_be_judged(self, controls, message):
        with pytest.raises(PolicyError, match=message):
            audit.judge_host(packs.linux(), controls)

    def test_bytes_of_a_host_can_be_printed(self, validate_finding):
        machine = packs.database_host()
        machine.file("/etc/sysctl.d/zz\udce9.conf", "vm.nr_hugepages = 1\udce9\n")
        findings = audit.judge_host(machine, {"hugepages": packs.hugepages_policy()})
        for finding in findings:
            json.dumps(finding.as_dict(), ensure_ascii=False).encode("utf-8")
            validate_finding(finding.as_dict())
        assert any("\\udce9" in f"{finding.why} {finding.persisted}" for finding in findings)
