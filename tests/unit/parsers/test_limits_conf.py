"""limits.conf: our answers against the sessions that pam_limits 1.5.2 opened."""

import json
from pathlib import Path

import pytest
from ansible.module_utils.hostproof.errors import ParseError
from ansible.module_utils.hostproof.parsers.unix import limits_conf
from cases import cases

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures" / "limits_conf"
CASES = json.loads((FIXTURES / "pam_limits-1.5.2.json").read_text())


def entries_of(*texts: str) -> list[limits_conf.Entry]:
    names = [f"{number}.conf" for number in range(len(texts))]
    return [
        entry
        for name, text in zip(names, texts, strict=True)
        for entry in limits_conf.parse(text, name).entries
    ]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["case"])
def test_resolves_as_pam_limits_does(case):
    entries = entries_of(*case["files"])
    limits = limits_conf.resolve(
        entries, case["user"], case["groups"], "memlock", uid=case["uid"], gid=case["gid"]
    )
    soft, hard = (entry and limits_conf.kilobytes(entry.value) for entry in limits[:2])
    if soft and hard:
        soft = min(soft, hard)  # the kernel takes no soft limit above the hard one
    assert (soft, hard) == (case["soft"], case["hard"])


def test_the_line_that_wins_is_named():
    entries = entries_of("* - memlock 64\n", "# preinstall\noracle soft memlock 128\n")
    limits = limits_conf.resolve(entries, "oracle", ["oinstall"], "memlock")
    assert (limits.soft.path, limits.soft.line) == ("1.conf", 2)
    assert (limits.hard.path, limits.hard.line) == ("0.conf", 1)
    assert limits.exempt is None


def test_a_user_freed_of_all_limits():
    entries = entries_of("oracle - memlock 64\n", "@dba -\n")
    limits = limits_conf.resolve(entries, "oracle", ["oinstall", "dba"], "memlock")
    assert limits[:2] == (None, None)
    assert limits.exempt.domain == "@dba"


def test_ranges_need_numbers():
    entries = entries_of("1000: - memlock 64\n@1000: - memlock 65\n")
    assert limits_conf.resolve(entries, "oracle", [], "memlock") == (None, None, None)
    assert limits_conf.resolve(entries, "oracle", [], "memlock", uid=1000).soft.value == "64"
    assert limits_conf.resolve(entries, "oracle", [], "memlock", gid=1000).soft.value == "65"


def test_bad_lines_are_numbered_and_the_others_kept():
    parsed = limits_conf.parse(
        "oracle soft memlock\n\n# x\noracle\noracle - nofile 9 # y\n", "l.conf"
    )
    assert parsed.bad_lines == [1, 4]
    assert parsed.entries == [("oracle", "-", "nofile", "9", "l.conf", 5)]


def test_a_file_of_comments_alone():
    assert limits_conf.parse((FIXTURES / "debian-12.conf").read_text(), "limits.conf") == ([], [])


def test_limits_conf_is_read_first_then_byte_order():
    names = ["b.conf", "B.conf", "10.conf", "9.conf", ".x.conf", "a.conf.rpmsave", "README"]
    assert limits_conf.effective_paths(names) == [
        "/etc/security/limits.conf",
        "/etc/security/limits.d/10.conf",
        "/etc/security/limits.d/9.conf",
        "/etc/security/limits.d/B.conf",
        "/etc/security/limits.d/b.conf",
    ]


@cases(
    "value number",
    *(("60397977", 60397977), ("0", 0), ("3145728k", 3145728), ("unlimited", None)),
    *(("infinity", None), ("-1", None), ("-", None), ("-5", None), ("18014398509481983", None)),
    ("18014398509481982", 18014398509481982),
)
def test_kilobytes(value, number):
    assert limits_conf.kilobytes(value) == number


@cases("value", "", "x", "K5")
def test_no_kilobytes(value):
    with pytest.raises(ParseError):
        limits_conf.kilobytes(value)
