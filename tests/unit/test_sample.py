"""Files and commands that are read twice, to tell what happened in between."""

import time

import pytest
from ansible.module_utils.hostproof.collect.host import LiveHost, RecordedHost
from ansible.module_utils.hostproof.errors import Unanswered
from cases import cases


@pytest.fixture
def counter(tmp_path):
    """A command that prints a number that is larger at each call."""
    script = tmp_path / "count"
    script.write_text(f"#!/bin/sh\necho x >> {tmp_path}/calls\nwc -l < {tmp_path}/calls\n")
    script.chmod(0o755)
    return str(script)


def test_both_texts_of_a_command_and_a_file(tmp_path, counter):
    (tmp_path / "file").write_text("same")
    file, command = f"file:{tmp_path}/file", f"command:{counter}"
    sample = LiveHost().sample("x", [f"{tmp_path}/file"], [[counter]], 0.05)
    assert (sample.first[file], sample.second[file]) == ("same", "same")
    assert (sample.first[command].strip(), sample.second[command].strip()) == ("1", "2")
    assert sample.errors == {}


def test_the_seconds_are_those_that_passed(tmp_path, counter):
    began = time.monotonic()
    sample = LiveHost().sample("x", [], [[counter]], 0.2)
    assert 0.2 <= sample.seconds <= time.monotonic() - began


def test_a_source_that_gives_nothing_has_its_reason(tmp_path):
    no_file, no_command = f"{tmp_path}/no", f"{tmp_path}/none"
    sample = LiveHost().sample("x", [no_file], [[no_command], ["false"]], 0.01)
    assert sample.first == sample.second == {}
    assert "No such file" in sample.errors[f"file:{no_file}"]
    assert "No such file" in sample.errors[f"command:{no_command}"]
    assert "ended with 1" in sample.errors["command:false"]


def test_a_source_that_fails_the_second_time_is_left_out(tmp_path):
    script = tmp_path / "once"
    script.write_text(f"#!/bin/sh\nmkdir {tmp_path}/done 2>/dev/null\n")
    script.chmod(0o755)
    sample = LiveHost().sample("x", [], [[str(script)]], 0.01)
    assert (sample.first, sample.second) == ({}, {})
    assert "ended with 1" in sample.errors[f"command:{script}"]


def test_a_recorded_sample_is_the_same(tmp_path, counter):
    live = LiveHost()
    sample = live.sample("x", ["/nowhere"], [[counter]], 0.01)
    assert RecordedHost(live.evidence).sample("x", ["/nowhere"], [[counter]], 5) == sample


def test_what_the_record_has_not_got_is_unknown(counter):
    live = LiveHost()
    live.sample("x", [], [[counter]], 0.01)
    sample = RecordedHost(live.evidence).sample("x", ["/proc/net/snmp"], [[counter]], 0.01)
    assert list(sample.errors) == ["file:/proc/net/snmp"]
    assert "record it again" in sample.errors["file:/proc/net/snmp"]


@cases("change", {"seconds": 0}, {"seconds": "5"}, {"first": []}, {"second": {"file:/x": 1}})
def test_a_broken_record_is_no_answer(change):
    reading = {"kind": "sample", "seconds": 5.0, "first": {}, "second": {}, "errors": {}, **change}
    with pytest.raises(Unanswered):
        RecordedHost({"sample:x": reading}).sample("x", [], [], 5)
