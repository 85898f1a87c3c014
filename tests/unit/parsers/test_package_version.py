"""Versions as rpm compares them (rpm-version(7))."""

from ansible.module_utils.hostproof.parsers.unix.package_version import compare
from cases import cases


@cases(
    "one other order",
    ("2.17-326.el7_9", "2.17-55.el7", 1),
    ("4.8.2-16.el7", "4.8.2-16.el7", 0),
    ("2.34-100.el9", "2.34", 0),
    # The release counts only where the versions are equal.
    ("2.34-100.el9", "2.34.1-1.el9", -1),
    ("22-20", "22.6-19", -1),
    ("2.0-0.64.20160912git.el9", "2.0-0.62", 1),
    ("1.0~rc1-1", "1.0-1", -1),
    ("1.0-1", "1.0~rc1-1", 1),
    ("1.0^git1-1", "1.0-1", 1),
    ("1.0^git1-1", "1.0.1-1", -1),
    ("1.0.1-1", "1.0^git1-1", 1),
    ("1.0~rc1^git1", "1.0~rc1", 1),
    ("1.0.1a", "1.0.1", 1),
    ("010", "10", 0),
    ("9" * 6000, "1" + "0" * 6000, -1),
)
def test_order(one, other, order):
    assert compare(one, other) == order
