"""What a control does in an audit, a crash or an endless wait, is that control's error alone."""

import os
import re
import signal
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from ansible.module_utils.hostproof.collect.host import LiveHost, RecordedHost
from ansible.module_utils.hostproof.collect.measured import Measured
from ansible.module_utils.hostproof.controls.interconnect.probes import group_packets
from ansible.module_utils.hostproof.evaluate import audit
from ansible.module_utils.hostproof.evaluate.finding import PASS, Check, make_finding
from cases import cases
from hostproof_controller.remote import response_validation

GOOD = Check("good.check", "Title", "low", "now", "Why.", "Reference")


def judged(monkeypatch: Any, host: Any, seconds: Any = (300.0, 1800.0), **reads: Any) -> Any:
    """Findings of controls that read as given, by control."""
    controls = {
        name: SimpleNamespace(
            policy_from=lambda values: values,
            checks=(),
            read=lambda host, policy, reader=function: reader(host),
            judge=lambda facts, policy, _crashed, name=name: [
                make_finding(GOOD._replace(id=f"{name}.check"), PASS, running=str(facts))
            ],
        )
        for name, function in reads.items()
    }
    monkeypatch.setattr(audit, "CONTROLS", controls)
    findings = audit.judge_host(host, {name: {} for name in controls}, seconds=seconds)
    return {finding.control: finding for finding in findings}


def crash(kind: type[BaseException], *arguments: Any) -> Any:
    def read(_host: Any) -> None:
        raise kind(*arguments)

    return read


def no_end(host: Any) -> int:
    """A recursion that nobody bounded."""
    return no_end(host) + 1


@cases(
    "read",
    crash(KeyError, "missing"),
    crash(ZeroDivisionError),
    crash(OverflowError, "int too large"),
    crash(SystemExit, 3),
    crash(MemoryError),
    crash(UnicodeEncodeError, "ascii", "\udc80", 0, 1, "no"),
    crash(ValueError, "\udcff\x1b[2J" * 1000),
    no_end,
)
def test_a_crash_is_the_error_of_its_control(monkeypatch, read):
    host = RecordedHost({})
    findings = judged(monkeypatch, host, bad=read, good=lambda host: 1, worse=lambda host: 2)
    assert {name: finding.status for name, finding in findings.items()} == {
        "bad": "error",
        "good": "pass",
        "worse": "pass",
    }
    assert findings["bad"].check == "bad.audited"
    (key,) = findings["bad"].evidence
    trace = host.evidence[key]["text"]
    assert "test_audit_bounds.py" in trace
    assert len(trace) < 2000
    assert len(findings["bad"].why) < 600
    trace.encode()


class TestWhatOneControlSaysTooMuchOf:
    """The controller refuses a host whose answer is beyond its bounds, and all its controls."""

    def test_long_texts_are_cut_and_still_differ(self, monkeypatch):
        results = [
            judged(monkeypatch, RecordedHost({}), one=lambda _host, end=end: "x" * 200_000 + end)
            for end in "ab"
        ]
        texts = [findings["one"].running for findings in results]
        assert all(len(text) < response_validation.MOST_TEXT // 2 for text in texts)
        assert texts[0] != texts[1]
        assert "200001 characters" in texts[0]

    def test_values_are_cut_too(self):
        values = {"a": "x" * 200_000, "b": 2**63, "c": None}
        (finding,) = audit.bounded([make_finding(GOOD, PASS, values=values)])
        assert len(finding.values["a"]) < response_validation.MOST_TEXT // 2
        assert (finding.values["b"], finding.values["c"]) == (2**63, None)

    def test_lists_are_cut_too(self):
        (finding,) = audit.bounded([make_finding(GOOD, PASS, evidence=["x" * 200_000])])
        assert len(finding.evidence[0]) < response_validation.MOST_TEXT // 2

    def test_no_part_of_a_command_is_given(self):
        commands = ["true", "rm -r /tmp/" + "x" * 200_000]
        (finding,) = audit.bounded([make_finding(GOOD, "fail", fix="Do:", commands=commands)])
        assert finding.commands == ("true",)

    def test_too_many_findings_are_the_error_of_their_control(self):
        many = [make_finding(GOOD._replace(id="many.check"), PASS)] * (
            response_validation.MOST_FINDINGS + 1
        )
        few = [make_finding(GOOD, PASS)] * 3
        bounded = audit.bounded(few + many)
        assert bounded[:3] == few
        (error,) = bounded[3:]
        assert (error.check, error.status) == ("many.audited", "error")
        assert f"{len(many)} findings" in error.why


def test_a_crash_keeps_the_secrets_of_the_policy(monkeypatch):
    secret = audit.base64.b64encode(b'{"users": [{"password": "opensesame"}]}').decode()
    monkeypatch.setattr(
        audit,
        "CONTROLS",
        {
            "bad": SimpleNamespace(
                policy_from=lambda values: values,
                checks=(),
                read=crash(ValueError),
                judge=crash(ValueError),
            )
        },
    )
    audit.CONTROLS["bad"].read = lambda host, policy: crash(ValueError, str(policy))(host)
    host = RecordedHost({})
    (finding,) = audit.judge_host(host, {"bad": {}}, {"bad": secret})
    assert finding.status == "error"
    assert "opensesame" not in repr(finding) + repr(host.evidence)


def test_a_crash_in_one_control_leaves_the_record_of_the_others(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("text")
    host = LiveHost()
    monkeypatch.setattr(
        audit,
        "CONTROLS",
        {
            "bad": SimpleNamespace(policy_from=dict, read=lambda *_: crash(KeyError, "x")(None)),
            "good": SimpleNamespace(
                policy_from=dict, read=lambda host, policy: host.read_text(f"{tmp_path}/file")
            ),
        },
    )
    audit.read_host(host, {"bad": {}, "good": {}})
    assert host.evidence[f"file:{tmp_path}/file"]["text"] == "text"
    assert "KeyError" in host.evidence["trace:bad"]["text"]


class TestTime:
    """A clock that is set ahead instead of waiting; the signal comes at once."""

    def test_a_loop_is_cut_off(self, monkeypatch):
        def for_ever(_host: Any) -> None:
            while True:
                pass

        findings = judged(monkeypatch, RecordedHost({}), (0.05, 10.0), bad=for_ever, good=str)
        assert findings["bad"].status == "error"
        assert "longer than 0.05 seconds" in findings["bad"].why
        assert findings["good"].status == "pass"

    def test_a_pattern_that_does_not_end_is_cut_off(self, monkeypatch):
        findings = judged(
            monkeypatch,
            RecordedHost({}),
            (0.05, 10.0),
            bad=lambda host: re.match(r"(a+)+$", "a" * 64 + "b"),
            good=str,
        )
        assert findings["bad"].status == "error"
        assert findings["good"].status == "pass"

    def test_nobody_swallows_the_end(self, monkeypatch):
        def stubborn(_host: Any) -> None:
            while True:
                try:
                    signal.pause()
                except Exception:
                    continue

        assert judged(monkeypatch, RecordedHost({}), (0.05, 9.0), bad=stubborn)["bad"].status == (
            "error"
        )

    def test_what_a_policy_has_us_wait_is_not_counted(self, monkeypatch):
        def patient(host: Any) -> str:
            host.pause(0.3)
            return "waited"

        findings = judged(monkeypatch, LiveHost(), (0.1, 10.0), patient=patient)
        assert findings["patient"].status == "pass"

    def test_listening_for_packets_of_other_nodes_is_not_counted(self, monkeypatch):
        def measure(_own: Any, _nodes: Any, seconds: float) -> Measured:
            time.sleep(seconds)
            return Measured([], [], {})

        def listening(host: Any) -> None:
            group_packets.listen(host, [], ["192.0.2.1", "192.0.2.2"], 1.5)
            host.read_text("/proc/self/status")

        monkeypatch.setattr(group_packets, "_measure", measure)
        findings = judged(monkeypatch, LiveHost(), (1.0, 10.0), listening=listening)
        assert findings["listening"].status == "pass", findings["listening"].why

    def test_the_host_has_an_end_too(self, monkeypatch):
        def late(host: Any) -> None:
            host.until = time.monotonic() - 1
            return

        findings = judged(monkeypatch, RecordedHost({}), (9.0, 0.5), a=late, b=str)
        assert "of this host were over" in findings["b"].why
        assert findings["b"].status == "error"

    def test_nothing_is_asked_when_the_time_is_over(self, tmp_path):
        host = LiveHost()
        host.until = time.monotonic() - 1
        with pytest.raises(Exception, match="the time was over"):
            host.read_text(str(tmp_path / "file"))
        host.until = None
        with pytest.raises(Exception, match="No such file"):
            host.read_text(str(tmp_path / "file"))

    def test_the_old_alarm_is_back(self, monkeypatch):
        before = signal.getsignal(signal.SIGALRM)
        judged(monkeypatch, RecordedHost({}), (5.0, 5.0), good=str)
        assert signal.getsignal(signal.SIGALRM) is before
        assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_no_child_is_left(tmp_path: Path):
    host = LiveHost()
    host.list_dir(str(tmp_path))
    pid = host._reader._pid
    assert pid is not None
    del host
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
