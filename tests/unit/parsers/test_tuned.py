"""TuneD: the profile that rewrites half of what we set, and the switch that stops it."""

import pytest
from ansible.module_utils.hostproof.errors import ParseError
from ansible.module_utils.hostproof.parsers import tuned


def test_the_oracle_profile(fixture_text):
    profile = tuned.parse_profile(fixture_text("tuned/oracle.conf"), "oracle/tuned.conf")
    assert profile.includes == ["throughput-performance"]
    assert profile.sections["vm"] == {"transparent_hugepages": "never"}
    assert profile.sections["sysctl"]["kernel.sem"] == "250 32000 100 128"
    assert len(profile.sections["sysctl"]) == 18


def test_a_profile_with_variables_and_comments(fixture_text):
    text = fixture_text("tuned/throughput-performance.conf")
    profile = tuned.parse_profile(text, "tuned.conf")
    assert profile.includes == []
    assert profile.sections["sysctl"]["vm.dirty_ratio"] == "40"


def test_several_includes_are_kept_in_order():
    profile = tuned.parse_profile("[main]\ninclude = a, b;c\n", "tuned.conf")
    assert profile.includes == ["a", "b", "c"]


def test_names_keep_their_case_and_values_lose_comments():
    profile = tuned.parse_profile("[sysctl]\nnet.X:y = 1 # why\nnet.X:y = %2\n", "tuned.conf")
    assert profile.sections == {"sysctl": {"net.X:y": "%2"}}


@pytest.mark.parametrize(
    ("text", "line"), [("", 0), ("vm.x = 1\n", 1), ("[sysctl]\nvm.x\n", 2), ("# only\n", 0)]
)
def test_not_a_profile(text, line):
    with pytest.raises(ParseError, match=r"here\.conf") as caught:
        tuned.parse_profile(text, "here.conf")
    assert caught.value.line == line


@pytest.mark.parametrize(
    ("text", "profiles"),
    [("oracle\n", ["oracle"]), ("", []), ("balanced my-oracle\n", ["balanced", "my-oracle"])],
)
def test_active_profiles(text, profiles):
    assert tuned.active_profiles(text) == profiles


def test_sysctl_files_are_reapplied_by_default(fixture_text):
    assert tuned.reapply_sysctl(fixture_text("tuned/tuned-main.conf"))
    assert tuned.reapply_sysctl("")
    assert tuned.reapply_sysctl("# reapply_sysctl = 0\n")


@pytest.mark.parametrize(
    ("value", "answer"), [("0", False), ("No", False), ("true", True), ("Y", True)]
)
def test_sysctl_files_are_reapplied_as_told(value, answer):
    assert tuned.reapply_sysctl(f"daemon = 1\nreapply_sysctl={value}\n") is answer


@pytest.mark.parametrize(
    "text", ["reapply_sysctl = maybe\n", "reapply_sysctl\n", "reapply_sysctl=\n"]
)
def test_no_yes_or_no(text):
    with pytest.raises(ParseError):
        tuned.reapply_sysctl(text)
