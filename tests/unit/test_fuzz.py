"""Hostile input, a short run of each kind; the long ones are tests/fuzz/run."""

import json

import pytest
from ansible.module_utils.hostproof.controls.flow_control.parsers import entstat, ethtool_settings
from ansible.module_utils.hostproof.errors import ParseError
from ansible.module_utils.hostproof.parsers import number, size
from ansible.module_utils.hostproof.parsers.kernel import proc_limits
from ansible.module_utils.hostproof.parsers.net import ethtool_pause, ethtool_statistics
from ansible.module_utils.hostproof.parsers.nfs import nfs_options
from ansible.module_utils.hostproof.parsers.unix import limits_conf, lsattr
from cases import cases
from fuzz import judging, parsing
from fuzz.targets import FIXTURES

#: Anything will do; with it a failure can be run again.
SEED = 20261122
FOUND = sorted((FIXTURES / "fuzz").glob("*.json"))
BLANKS = " " * 4000


def test_every_parser_of_a_text_is_a_target():
    # These read tables of reports that awr, awr_global and statspack find for them.
    inner = {
        "__init__",
        "awr_layouts",
        "event_histogram",
        # What the parsers of files share; tests/unit/test_kept_lines.py.
        "kept_lines",
        "address",
        "report_form",
        "report_parameters",
        "wait_events",
        # By those who say what is in their XML.
        "xml_events",
        # They compare values that other parsers return.
        "conditions",
        "distribution",
        "package_version",
    }
    folder = FIXTURES.parents[1] / "module_utils/hostproof/parsers"
    known = (FIXTURES.parent / "fuzz/targets.py").read_text()
    missing = [
        path.stem
        for path in folder.rglob("*.py")
        if path.stem not in inner and f"{path.stem}." not in known
    ]
    assert missing == []


def test_parsers_give_a_value_or_a_parse_error():
    assert list(parsing.faults(6000, SEED)) == []


def test_packs_are_judged_without_a_crash():
    assert list(judging.faults(60, SEED, judging.all_packs())) == []


@pytest.mark.parametrize("path", FOUND, ids=lambda path: path.stem)
def test_what_was_found_stays_repaired(path):
    case = json.loads(path.read_text())
    if "target" in case:
        (target,) = [
            candidate for candidate in parsing.targets() if candidate.name == case["target"]
        ]
        assert parsing.tried(target, case["text"]) is None
    else:
        (pack,) = [candidate for candidate in judging.all_packs() if candidate.name == case["pack"]]
        changes = case["controls"], case["changed"], case["removed"]
        assert judging.tried(pack, *changes) is None


@cases("text", "9" * 151, "9" * 5000, "x", "", "\u00b2", "1e5")
def test_what_is_no_number_is_a_parse_error(text):
    with pytest.raises(ParseError):
        number.integer(text)


@cases("text", "9" * 5000, "1e999", "nan", "inf", "x")
def test_what_is_no_finite_number_is_a_parse_error(text):
    with pytest.raises(ParseError):
        number.decimal(text)


@cases("text", "[1e999]", "[NaN]", "[" + "9" * 5000 + "]", "[" * 100000, "{")
def test_json_holds_no_number_beyond_all_use(text):
    with pytest.raises(ParseError, match="x"):
        number.json_tree("x", text)


def test_a_limit_that_is_too_large_is_none():
    assert limits_conf.kilobytes("9" * 5000) is None
    assert limits_conf.kilobytes("000" + "1" * 3) == 111


def test_mount_options_are_kept_whatever_their_numbers():
    huge = "9" * 5000
    assert nfs_options.parse(f"rsize={huge},vers=0003") == {"rsize": huge, "vers": "3"}


def test_a_size_beyond_all_machines_is_said():
    assert size.human(10**400) == "more than 16384.0 PiB"
    with pytest.raises(ValueError, match="more bytes than any machine has"):
        size.parse_size("9" * 5000)


@cases(
    "parse text",
    (ethtool_pause.parse, f"Pause parameters for a:\na{BLANKS}a\n"),
    (ethtool_settings.parse, f"Settings for a:\n\ta{BLANKS}a\n"),
    (ethtool_statistics.parse, f"NIC statistics:\n{BLANKS}a{BLANKS}:{BLANKS}a\n"),
    (entstat.parse, f"ETHERNET STATISTICS (ent0) :\na{BLANKS}a\n"),
    (proc_limits.parse, f"Limit Soft Limit Hard Limit Units\nMax a{BLANKS}1{BLANKS}1{BLANKS}:"),
    (lsattr.parse, f"a{BLANKS}b{BLANKS}Tru\n"),
    ids=lambda value: getattr(value, "__module__", "text").rpartition(".")[2],
)
def test_blanks_cost_no_more_than_they_are(parse, text):
    """With the patterns that were cubic each of these took minutes; the bench doubles them."""
    with pytest.raises(ParseError):
        parse(text)
