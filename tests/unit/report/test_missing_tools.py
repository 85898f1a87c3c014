"""A program that a host does not have is named once, with its package."""

from ansible.module_utils.hostproof.errors import Absent, Unanswered
from ansible.module_utils.hostproof.evaluate.checking import undetermined
from cases import cases
from hostproof_controller.report.store import merge
from report_samples import finding, make_line
from whole_reports import render_summary


@cases(
    "key fix",
    (
        "command:ss -H -t",
        "install the package iproute (SLES: iproute2, Debian and Ubuntu: iproute2)",
    ),
    ("command:/usr/sbin/ethtool -g eth0", "install the package ethtool"),
    (
        "command:getent passwd x",
        "install the package glibc-common (SLES: glibc, Debian and Ubuntu: libc-bin)",
    ),
    ("command:lsnrctl status", None),
    ("command:", None),
    ("/usr/bin/ss", None),
)
def test_a_missing_program_is_named_with_its_package(key, fix):
    assert undetermined(Absent(key, "it does not exist")).fix == fix
    # A program that exists and gives no answer is not missing.
    assert undetermined(Unanswered(key, "no answer")).fix is None


def test_a_missing_program_is_printed_once_per_host():
    fix = undetermined(Absent("command:ethtool -g eth0", "x")).fix
    errors = [
        finding(
            check=f"hugepages.x{number}",
            status="error",
            why=f"Could not be determined: command:ethtool -g eth{number}: it does not exist.",
            fix=fix,
            commands=[],
        )
        for number in range(3)
    ]
    text = render_summary(merge([make_line("db01", errors)])).split("severity")[1]
    assert text.count("install the package ethtool") == 1
    assert "3 checks on db01" in text
