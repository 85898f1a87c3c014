"""Files of other tools: each is named, its figures are printed, and the checks of an audit judge
it."""

import json
import shutil

import packs
import pytest
from ansible.module_utils.hostproof.errors import HostproofError
from click.testing import CliRunner
from hostproof_controller import measured_file
from hostproof_controller.cli.errors import Refused
from hostproof_controller.cli.read import command
from hostproof_controller.report.role_result import status_of

LATENCY = packs.FIXTURES / "latency"
#: Format, worst status and the check that decides.
JUDGED = {
    "iostat-sysstat-12.6-three.txt": ("iostat", "pass", "latency.tool"),
    "iostat-sysstat-9-el6.txt": ("iostat", "warn", "latency.tool"),
    "iostat-decimal-comma.txt": ("iostat", "warn", "latency.tool"),
    "iostat-smartos.txt": ("iostat", "pass", "latency.tool"),
    "iostat-solaris-mounts.txt": ("iostat", "warn", "latency.tool"),
    "nfsiostat-postgres.txt": ("nfsiostat", "warn", "latency.tool"),
    "iostat-solaris-nfs.txt": ("iostat", "warn", "latency.tool"),
    "hping-seed.txt": ("ping", "pass", "latency.tool"),
    "ping-iputils.txt": ("ping", "pass", "latency.tool"),
    "ping-far.txt": ("ping", "warn", "latency.tool"),
    "sadf-12.6.json": ("sadf", "pass", "latency.tool"),
    "oratcptest-250-bytes.txt": ("oratcptest", "pass", "latency.tool"),
    "oratcptest-cloud.txt": ("oratcptest", "pass", "latency.tool"),
    "orion-11.1-two-disks.txt": ("orion", "pass", "latency.tool"),
    "awr-11.2.0.3.html": ("awr", "warn", "latency.database"),
    "iolstats-seed-long.txt": ("iolstats", "fail", "latency.cell_slow_requests"),
    "../fio/fio-3.33-read-and-write.json": ("fio", "pass", "latency.tool"),
    "../cvu/12.2-node-excluded.txt": ("cvu", "fail", "cvu.user_equivalence"),
}


@pytest.mark.parametrize("name", JUDGED)
def test_a_file_is_judged(name):
    found = measured_file.read(str((LATENCY / name).resolve()))
    status = status_of(found.findings)
    checks = {finding["check"] for finding in found.findings if finding["status"] == status}
    kind, expected, check = JUDGED[name]
    assert (found.format, status) == (kind, expected)
    assert check in checks
    assert found.figures


def test_a_slow_round_trip_and_lost_packets(tmp_path):
    """6.85 ms is above the limit of 5 ms, that of our own probe."""
    slow = tmp_path / "oratcptest.txt"
    text = (LATENCY / "oratcptest-250-bytes.txt").read_text()
    slow.write_text(text.replace("0.685 ms", "6.850 ms"))
    (finding,) = measured_file.read(str(slow)).findings
    assert (finding["status"], finding["check"]) == ("warn", "latency.tool")
    assert "6.85 ms" in finding["why"]
    lost = tmp_path / "ping.txt"
    lost.write_text("--- db02 ping statistics ---\n4 packets transmitted, 0 received, 100% loss\n")
    (finding,) = measured_file.read(str(lost)).findings
    assert finding["status"] == "fail"
    assert "4 of 4 packets without an answer" in finding["why"]


def test_orion_is_judged_by_its_least_load(tmp_path):
    """Under load the latency of Orion shows its own queue."""
    (finding,) = measured_file.read(str(LATENCY / "orion-12.2-read-write.txt")).findings
    assert finding["status"] == "pass"


def test_two_files_of_a_kind_are_before_and_after():
    before, after = (
        str(LATENCY / f"apachebench-{name}-check.txt") for name in ("foreground", "background")
    )
    assert measured_file.read(after).findings == []
    (better,) = measured_file.read(after, before).findings
    (worse,) = measured_file.read(before, after).findings
    assert (better["check"], better["status"], worse["status"]) == (
        "latency.tool_change",
        "pass",
        "fail",
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("total 4\n", "its format is not known; known are AWR"),
        ("", "it is empty"),
        ("Device  r/s  w/s\n", "it has no table of devices"),
        ("Binary\0file", "it is not text"),
    ],
)
def test_an_unknown_or_damaged_file_is_one_sentence(tmp_path, text, message):
    path = tmp_path / "file"
    path.write_text(text)
    with pytest.raises(HostproofError) as caught:
        measured_file.read(str(path))
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_command_prints_text_or_json(tmp_path):
    path = tmp_path / "ping.txt"
    shutil.copy(LATENCY / "ping-far.txt", path)
    shown = CliRunner().invoke(command, [str(path)], standalone_mode=False)
    assert shown.return_value == 0
    assert "output of ping" in shown.output
    assert "db02, net, p50 142 ms, mean 141 ms, of 4" in shown.output
    printed = CliRunner().invoke(command, ["--json", str(path)], standalone_mode=False)
    (found,) = json.loads(printed.output)
    assert (found["format"], found["findings"][0]["status"]) == ("ping", "warn")
    odd = shutil.copy(path, tmp_path / "ping\x1b[31m.txt")
    with pytest.raises(Refused) as caught:
        CliRunner().invoke(command, [str(odd)], standalone_mode=False, catch_exceptions=False)
    assert "control characters" in str(caught.value)
    assert str(caught.value).isprintable()
    failed = str(packs.FIXTURES / "cvu/12.2-node-excluded.txt")
    assert CliRunner().invoke(command, [failed], standalone_mode=False).return_value == 2
