"""Patterns of names: the answers of Python's fnmatch, in a time that grows with the pattern."""

import fnmatch
import random

from ansible.module_utils.hostproof.parsers import glob_pattern
from ansible.module_utils.hostproof.parsers.systemd import sysctl_d
from cases import cases

SEED = 20261122


def test_the_same_as_fnmatch_of_python():
    chance = random.Random(SEED)
    compared = set()
    for _ in range(20_000):
        pattern = "".join(chance.choices("ab*?[]!-z", k=chance.randrange(8)))
        name = "".join(chance.choices("abz-]!", k=chance.randrange(6)))
        expected = fnmatch.fnmatchcase(name, pattern)
        assert glob_pattern.fits(name, pattern) == expected, (name, pattern)
        compared.add(expected)
    assert compared == {True, False}


@cases("name", "eth0", "ens1")
def test_a_set_is_negated_by_either_sign(name):
    for pattern in ("e[!n]*", "e[^n]*"):
        assert glob_pattern.fits(name, pattern) == (name != "ens1")


@cases("pattern", "[" * 200_000, "*a" * 100_000 + "b", "*" * 200_000 + "b", "[!" * 100_000 + "]")
def test_what_fnmatch_takes_minutes_for_is_answered(pattern):
    """The bench doubles them; fnmatch of Python 3.6 does not come back from the second."""
    assert not glob_pattern.fits("a" * 60, pattern)
    assignments = [sysctl_d.Assignment(pattern, "1", "x", 1, False)]
    assert sysctl_d.resolve(assignments, "vm.nr_hugepages").winner is None
