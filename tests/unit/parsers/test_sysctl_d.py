"""sysctl.d: our answers against those that systemd-sysctl 252 gave (tests/fixtures/sysctl_d)."""

import json
from pathlib import Path

import pytest
from ansible.module_utils.hostproof.parsers.systemd import conf_d, sysctl_d
from cases import cases

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures" / "sysctl_d"
CASES = json.loads((FIXTURES / "systemd-252.json").read_text())
RP_FILTER = "net.ipv4.conf.lo.rp_filter"


def lines(*texts: str) -> list[sysctl_d.Assignment]:
    """Assignments of files a.conf, b.conf, ... in that order."""
    files = zip("abcd", texts, strict=False)
    return [
        assignment
        for name, text in files
        for assignment in sysctl_d.parse(text, f"{name}.conf").assignments
    ]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["case"])
def test_resolves_as_systemd_does(case):
    winner = sysctl_d.resolve(lines(case["text"]), RP_FILTER).winner
    value = "0" if winner is None else winner.value
    # "1=2" is what systemd writes, and what this key refuses.
    assert case["value"] == ("0" if value == "1=2" else value)


def test_reads_the_files_that_systemd_reads_in_its_order():
    tree = (FIXTURES / "cat-config-tree.txt").read_text().split()
    order = (FIXTURES / "cat-config-order.txt").read_text().split()
    assert conf_d.effective_files(sysctl_d.DIRECTORIES, tree) == order
    assert conf_d.effective_files(sysctl_d.DIRECTORIES, tree[::-1]) == order


@cases(
    "path",
    *("/etc/sysctl.conf", "/etc/sysctl.d/README", "/etc/sysctl.d/.hidden.conf"),
    *("/etc/sysctl.d/10-a.conf.rpmnew", "/etc/sysctl.d/sub/10-a.conf"),
    "/opt/sysctl.d/10-a.conf",
)
def test_other_files_are_not_read(path):
    assert conf_d.effective_files(sysctl_d.DIRECTORIES, [path, "/run/sysctl.d/10-a.conf"]) == [
        "/run/sysctl.d/10-a.conf"
    ]


@pytest.mark.parametrize(
    ("higher", "lower"), list(zip(sysctl_d.DIRECTORIES, sysctl_d.DIRECTORIES[1:], strict=False))
)
def test_each_folder_masks_the_next(higher, lower):
    paths = [lower + "/10-a.conf", higher + "/10-a.conf"]
    assert conf_d.effective_files(sysctl_d.DIRECTORIES, paths) == [higher + "/10-a.conf"]


def test_the_winner_and_the_losers_are_named_by_file_and_line():
    assignments = lines(
        "# a comment\nvm.nr_hugepages = 100\n",
        "vm.*huge* = 200\n",
        "-vm/nr_hugepages=300\n",
        "vm.nr_hugepages_mempolicy=7\n-vm.nr_hugepages_mempolicy\n",
    )
    resolution = sysctl_d.resolve(assignments, "vm.nr_hugepages")
    winner = resolution.winner
    assert (winner.path, winner.line, winner.value, winner.ignore_failure) == (
        "c.conf",
        1,
        "300",
        True,
    )
    assert [(loser.path, loser.line) for loser in resolution.losers] == [
        ("a.conf", 2),
        ("b.conf", 1),
    ]


def test_a_value_given_twice_is_set_by_the_later_line():
    resolution = sysctl_d.resolve(
        lines("vm.nr_hugepages=5", "vm.nr_hugepages=5"), "vm.nr_hugepages"
    )
    assert resolution.winner.path == "b.conf"
    assert [loser.path for loser in resolution.losers] == ["a.conf"]


def test_an_excluded_key_has_losers_and_no_winner():
    resolution = sysctl_d.resolve(lines("vm.* = 1", "-vm.nr_hugepages"), "vm.nr_hugepages")
    assert resolution.winner is None
    assert [loser.path for loser in resolution.losers] == ["a.conf"]


def test_a_pattern_for_the_folder_above_does_not_reach_the_key():
    assert sysctl_d.resolve(lines("net.* = 1", "net.ipv4.conf.* = 1"), RP_FILTER) == (None, [])


def test_a_key_that_nobody_sets():
    assert sysctl_d.resolve(lines("vm.swappiness=1"), "vm.nr_hugepages") == (None, [])


@cases(
    "key normal",
    ("vm.nr_hugepages", "vm/nr_hugepages"),
    ("vm/nr_hugepages", "vm/nr_hugepages"),
    ("net.ipv4.conf.eth0/7.rp_filter", "net/ipv4/conf/eth0.7/rp_filter"),
    ("net/ipv4/conf/eth0.7/rp_filter", "net/ipv4/conf/eth0.7/rp_filter"),
    ("plain", "plain"),
)
def test_the_first_separator_decides(key, normal):
    assert sysctl_d.normalize(key) == normal


def test_bad_lines_are_numbered_and_the_others_kept():
    parsed = sysctl_d.parse("vm.swappiness 10\n\nvm.swappiness = 10\nrubbish\n", "x.conf")
    assert parsed.bad_lines == [1, 4]
    assert [(a.key, a.value, a.line) for a in parsed.assignments] == [("vm/swappiness", "10", 3)]


def test_an_empty_value_is_no_exclusion():
    assert sysctl_d.parse("kernel.domainname =\n", "x.conf").assignments[0].value == ""
    assert sysctl_d.parse("-kernel.domainname\n", "x.conf").assignments[0].value is None


def test_a_masking_file_is_an_empty_text():
    assert sysctl_d.parse("", "/etc/sysctl.d/50-a.conf") == ([], [])


def test_a_distribution_s_files():
    pid_max = (FIXTURES / "debian-12-50-pid-max.conf").read_text()
    all_commented = (FIXTURES / "debian-12-99-sysctl.conf").read_text()
    winner = sysctl_d.resolve(lines(pid_max, all_commented), "kernel.pid_max").winner
    assert (winner.value, winner.line) == ("4194304", len(pid_max.splitlines()))
    assert sysctl_d.parse(all_commented, "x") == ([], [])


def test_as_tuned_applies_a_file():
    """TuneD, plugin_sysctl.py: no patterns, no -, no continuation, and every dot is a slash."""
    text = "# x\n;y\nvm.a = 1 \n-vm.b=2\nvm.c*=3\nno\n = 4\nnet/ipv4/conf/eth0.7/d=5\n"
    assignments = sysctl_d.parse_plain(text, "/f")
    assert [(assignment.key, assignment.value, assignment.line) for assignment in assignments] == [
        ("vm/a", "1", 3),
        ("-vm/b", "2", 4),
        ("vm/c*", "3", 5),
        ("net/ipv4/conf/eth0/7/d", "5", 8),
    ]
