"""The summary for a terminal."""

import re

from hostproof_controller import selection
from hostproof_controller.report.store import merge
from report_samples import finding, fleet, make_line
from whole_reports import render_summary


def summary(lines, **options):
    return render_summary(merge(lines), **options)


def of_controls(host, **statuses):
    findings = [
        finding(check=f"{control}.it", control=control, status=status)
        for control, status in statuses.items()
    ]
    return make_line(host, findings)


def test_a_table_that_is_too_wide_leaves_out_what_says_least():
    names = {f"control_number_{number}": "skip" for number in range(8)}
    lines = [
        of_controls("db01", hugepages="fail", latency="pass", **names),
        of_controls("db02", hugepages="pass", latency="pass", **names),
    ]
    wide = summary(lines, width=300).splitlines()
    assert wide[0].split() == ["HOST", "VERDICT", *sorted(["hugepages", "latency", *names])]
    narrow = summary(lines, width=80).splitlines()
    assert narrow[0].split() == ["HOST", "VERDICT", "hugepages", "latency"]
    text = " ".join(narrow[3:5])
    assert text.startswith("Skipped on all hosts: control_number_0, control_number_1,")
    assert max(map(len, narrow[:5])) <= 80
    assert summary(lines, width=20).splitlines()[:3] == [
        "HOST  VERDICT      FINDINGS",
        "db01  ✗ not ready  1 failed",
        "db02  ✓ ready      no findings",
    ]


def test_a_control_that_says_more_of_any_host_stays():
    names = {f"control_number_{number}": "skip" for number in range(8)}
    lines = [of_controls(f"db{n:02d}", hugepages="pass", **names) for n in range(1, 60)]
    lines.append(of_controls("db60", **{**names, "control_number_3": "warn", "hugepages": "pass"}))
    heads = summary(lines, width=60).splitlines()[0].split()
    assert heads == ["HOST", "VERDICT", "control_number_3", "hugepages"]


def test_equal_findings_of_several_hosts_stand_once():
    lines = [make_line(f"db{number:02d}", [finding()]) for number in range(1, 21)]
    text = summary(lines)
    assert text.count("  hugepages.pool_covers_sga") == 1
    assert "✗ fail    db01, db02, db03 and 17 more  hugepages.pool_covers_sga: " in text


def test_a_failure_says_its_problem_before_the_values():
    soft = finding(check="nfs_mounts.safe_transport", title="/u02: Mount is hard and uses TCP",
                   problem="Mount is soft or uses UDP", desired="hard", persisted="hard",
                   running="soft", in_use=None)  # fmt: skip
    text = summary([make_line("db01", [soft])])
    assert "safe_transport /u02: Mount is soft or uses UDP\n" in text
    assert "\n          desired: hard → persisted: hard; running: soft\n" in text


def test_the_wrong_layer_is_shown_where_the_running_value_is_right():
    item = finding(desired="at least 4194304", persisted="212992", running="4194304", in_use=None)
    text = summary([make_line("db01", [item])])
    assert "desired: at least 4194304 → persisted: 212992; running: 4194304\n" in text


def test_a_failing_layer_without_a_value_does_not_end_the_summary():
    item = finding(desired="4", persisted="2", running=None, in_use=None, failing_layer="running")
    assert "desired: 4 → persisted: 2\n" in summary([make_line("db01", [item])])


def test_each_mount_or_instance_of_a_host_has_its_line():
    of_mounts = [
        finding(check="nfs_mounts.safe_transport", title=f"/u{n:02d}: Mount is hard and uses TCP",
                desired="hard", persisted="hard", running="soft", in_use=None)
        for n in range(2, 12)
    ]  # fmt: skip
    text = summary([make_line("db01", of_mounts)])
    for number in range(2, 12):
        assert f"db01  nfs_mounts.safe_transport /u{number:02d}: Mount is hard" in text


def test_equal_findings_of_one_mount_on_several_hosts_stand_once():
    lines = [
        make_line(
            f"db0{n}",
            [finding(title=f"{path}: Mount is hard and uses TCP") for path in ("/a", "/b")],
        )
        for n in (1, 2)
    ]
    text = summary(lines)
    assert text.count("db01, db02  hugepages.pool_covers_sga /a: ") == 1
    assert text.count("db01, db02  hugepages.pool_covers_sga /b: ") == 1


def test_one_reason_for_many_skips_stands_once():
    skips = [
        finding(check=f"hugepages.{name}", status="skip", why="No instance runs here.")
        for name in ("sga_in_huge_pages", "memlock_in_force")
    ]
    skips.append(finding(check="hugepages.numa_split", status="skip", why="One NUMA node only."))
    lines = [make_line("db01", skips), make_line("db02", skips)]
    assert "– skip    6 checks not applicable; -v lists them" in summary(lines)
    text = summary(lines, verbose=True)
    assert "– skip    db01, db02  hugepages (2 checks): No instance runs here." in text
    assert "– skip    db01, db02  hugepages.numa_split: One NUMA node only." in text


def test_other_values_are_counted_where_there_are_many():
    lines = [make_line(f"db{n:02d}", [finding(running=f"{n} pages")]) for n in range(1, 10)]
    text = summary(lines, where="there.html")
    assert "same check with other values on db04, db05, db06 and 3 more: see the report" in text


def test_a_large_run_stays_short_and_says_what_it_leaves_out():
    text = summary(fleet(1000, 30), where="reports/x/report.html")
    assert len(text.splitlines()) < 300
    hosts = re.search(r"(\d+) more hosts \(.+\): reports/x/report.html", text)
    assert hosts and int(hosts.group(1)) == 980
    assert re.search(r"\d+ more checks \(.+\): reports/x/report.html", text)
    assert "skip    db" not in text
    totals = re.search(r"^Findings: (.*)$", text, re.MULTILINE).group(1)
    assert sum(int(number) for number in re.findall(r"\d+", totals)) == 999 * 30 + 1


def test_notes_are_said():
    assert "Note: x, line 3 is cut off" in render_summary(merge([], ["x, line 3 is cut off"]))


def test_a_fix_is_never_cut_but_its_further_lines_are_left_out():
    long = "echo " + "x" * 300
    text = summary([make_line("db01", [finding(fix=long + "\nsecond")])], width=80)
    assert long in text.partition("Critical")[2]
    assert "second" not in text.partition("Critical")[2]


def test_a_host_cannot_write_to_the_terminal():
    line = make_line("db\x1b[31m01", [finding(running="\x1b]0;owned\x07\u202e\udcff", in_use=None)])
    text = summary([line])
    assert "\x1b" not in text and "\u202e" not in text and "\udcff" not in text
    assert "\\x1b]0;owned\\x07\\u202e\\xff" in text


def test_colour_only_on_request():
    lines = fleet(3)
    coloured = summary(lines, color=True)
    assert "\x1b[" in coloured
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == summary(lines)


def test_commands_stand_below_the_advice_as_they_are():
    commands = ["umount /u02", "mount /u02", "grep -c 'a b' /proc/mounts", "true"]
    item = finding(fix="what uses it has to stop first", commands=commands, takes_effect="now")
    text = summary([make_line("db01", [item])])
    lines = text[text.index("fix: ") :].splitlines()[:5]
    assert lines[0].startswith("fix: what uses it has to stop first")
    assert [line.strip() for line in lines[1:]] == [*commands[:3], "1 more commands in the report"]


def unread(check, why, **changes):
    control = check.partition(".")[0]
    return finding(check=check, control=control, status="error", why=why, fix=changes.get("fix"),
                   severity=changes.get("severity", "high"))  # fmt: skip


def test_errors_with_one_reason_are_one_line():
    why = "Could not be determined: /proc/self/mountinfo was not recorded."
    lines = [
        make_line(host, [unread(f"nfs_mounts.c{n}", why) for n in range(37)] + [finding()])
        for host in ("db01", "db02")
    ]
    text = summary(lines)
    assert "? error   /proc/self/mountinfo was not recorded: 74 checks on db01, db02" in text
    assert text.count("mountinfo was not recorded") == 1


def test_checks_that_need_root_are_one_line_with_the_command():
    denied = [
        unread(f"{control}.c{n}", f"Could not be determined: /proc/{n}: Permission denied.",
               fix="rerun with --become (requires root)")
        for control in ("async_io", "hugepages") for n in range(3)
    ]  # fmt: skip
    live = summary([make_line("db04", denied)])
    assert "6 checks on db04 need root: rerun with `--become`\n" in live
    assert "controls: async_io, hugepages" in live
    assert "1.  ./hostproof audit --become --limit db04\n" in live
    recorded = summary([make_line("db04", denied, recorded_at="2026-11-20T00:00:00Z")])
    assert "6 checks on db04 need root: record again with `./hostproof record --become`" in recorded
    assert "1.  ./hostproof record --become --limit db04\n" in recorded


def test_a_failure_names_what_its_fix_also_resolves():
    cause = finding()
    rest = finding(check="hugepages.sga_in_huge_pages", because_of=["hugepages.pool_covers_sga"])
    text = summary([make_line("db01", [cause, rest])])
    assert "also resolves 1 finding: hugepages.sga_in_huge_pages" in text
    assert text.count("hugepages.sga_in_huge_pages") == 1


def test_fix_first_names_the_hosts_of_each_command():
    command = "./hostproof apply --tags hugepages --limit {}"
    lines = [
        make_line(name, [finding(commands=[command.format(name)])]) for name in ("db01", "db02")
    ]
    text = summary(lines)
    assert "Fix first: this action makes 2 of 2 hosts ready\n" in text
    assert "1.  ./hostproof apply --tags hugepages --limit db01,db02\n" in text


def test_a_lower_severity_is_counted_only():
    some = [finding(severity="critical"), finding(check="hugepages.low", severity="low")]
    text = summary([make_line("db01", some)], severity="high", where="there.html")
    assert "Low severity" not in text
    assert "1 check of a lower severity (1 failed): there.html" in text
    assert "Findings: 2 failed" in text


def test_a_host_without_oracle_says_how_to_name_a_profile():
    line = make_line("db01", [finding(control="time_sync", check="time_sync.x", status="skip")])
    text = " ".join(summary([line], width=80).split())
    assert "was found on db01. To audit a host before an installation: --profile " in text


def test_eighty_columns_are_enough_but_for_commands():
    for line in summary(fleet(12, 30), width=80).splitlines():
        assert len(line) <= 80 or "--limit" in line or line.startswith(" " * 10)


def test_a_distribution_that_is_not_listed_is_the_first_line():
    entry = finding(
        check="platform.distribution",
        control="platform",
        status="warn",
        title="19c: Oracle lists this distribution for the release",
        running="Debian GNU/Linux 12, x86_64",
    )
    lines = [make_line(f"db0{number}", [entry, finding()]) for number in (1, 2)]
    first = summary(lines).splitlines()[0]
    assert first == "Not listed by Oracle: 19c on Debian GNU/Linux 12, x86_64 (db01, db02)"
    assert "Not listed" not in summary([make_line("db01", [{**entry, "status": "pass"}])])


def test_a_verdict_does_not_hide_that_checks_were_left_out():
    notice = selection.notice(selection.Selection(("hugepages.*",), ("hugepages.memlock",)))
    text = render_summary(merge([make_line("db01", [finding(status="pass"), notice])]))
    assert text.startswith("Selection: This run contains hugepages.* without hugepages.memlock.")
    assert "1 ready" in text
