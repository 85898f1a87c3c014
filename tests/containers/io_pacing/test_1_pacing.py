"""The story of io_pacing on AIX: every test goes on where the one before it ended.

The host has 33/24, which an old HACMP asked for, and a PowerHA that does not need it. Its commands,
its database and what Python sees of its kernel are stand-ins (molecule/io_pacing/prepare.sh).
"""

import pytest

LEGACY, INTERMEDIATE, DEFAULT = ("33", "24"), ("513", "256"), ("8193", "4096")
CHDEV = ["chdev", "-l", "sys0", "-a", "maxpout=8193", "-a", "minpout=4096"]
JOURNAL = "/var/lib/hostproof/journal"


def words(text):
    return " ".join(text.split())


def found(run, name):
    """The one finding of a check."""
    (finding,) = [finding for finding in run.findings if finding["check"] == f"io_pacing.{name}"]
    return finding


def statuses(run):
    return {finding["check"].partition(".")[2]: finding["status"] for finding in run.findings}


@pytest.fixture(scope="session")
def untouched(box):
    """What the host looked like before Hostproof changed anything."""
    box.run(": > /tmp/nothing")
    return {"files": box.files(), "layers": box.layers()}


def test_python_sees_aix_and_not_linux(box, untouched):
    look = "import os, sys, locale; print(os.uname()[0], os.path.exists('/proc/meminfo'), "
    look += "os.path.exists('/sys/block'), sorted(os.listdir('/proc')), sys.executable, "
    look += "locale.getpreferredencoding())"
    seen = box.run(f'/opt/freeware/bin/python3 -c "{look}"')
    python = "/opt/freeware/bin/python3"
    assert seen == f"AIX False False ['1', 'sys'] {python} ANSI_X3.4-1968\n"


def test_verify_fails_with_the_cost_that_was_measured(box, untouched):
    verified = box.play("verify")
    assert verified.rc == 2
    legacy = found(verified, "legacy_values")
    assert legacy["status"] == "fail"
    assert "213.55 MB/s with 8193/4096, 109.64 MB/s with 33/24" in legacy["why"]
    assert "PowerHA 7.2.3 SP1 (active)" in legacy["why"]
    persisted = found(verified, "persisted")
    assert (persisted["status"], persisted["persisted"]) == ("fail", "maxpout=33 minpout=24")
    running = found(verified, "running")
    assert (running["status"], running["running"]) == ("fail", "maxpout=33 minpout=24")
    passed = (
        "valid_pair",
        "deadman_risk",
        "cpu_headroom",
        "filesystems",
        "unpaced_mounts",
        "related_tunables",
    )
    assert statuses(verified) == {
        **dict.fromkeys(("persisted", "running", "legacy_values"), "fail"),
        **dict.fromkeys(passed, "pass"),
        "buffered_writers": "skip",
    }
    assert (
        "PowerHA 7.2.3 SP1 (active); CPU headroom 53%" in found(verified, "cpu_headroom")["in_use"]
    )
    assert "/u02/oradata (cio)" in found(verified, "unpaced_mounts")["in_use"]
    assert "j2_maxRandomWrite=0" in found(verified, "related_tunables")["running"]


def test_check_mode_shows_exactly_the_plan_and_changes_nothing(box, untouched):
    box.forget_calls()
    planned = box.play("apply", "--check", "--diff")
    assert (planned.rc, planned.changed) == (0, 1)
    shown = [line for line in planned.output.splitlines() if line[:1] in "+-" and line.strip()]
    assert shown == [
        "--- before: sys0: maxpout minpout",
        "+++ after: sys0: maxpout minpout",
        "-maxpout 33 HIGH water mark for pending write I/Os per file True",
        "-minpout 24 LOW water mark for pending write I/Os per file True",
        "-maxpout=33",
        "-minpout=24",
        "+maxpout 8193 HIGH water mark for pending write I/Os per file True",
        "+minpout 4096 LOW water mark for pending write I/Os per file True",
        "+maxpout=8193",
        "+minpout=4096",
    ]
    assert box.changes() == []
    assert box.layers() == untouched["layers"]
    box.run("! test -e /var/lib/hostproof")


def test_one_mark_alone_is_refused_and_not_dropped(box, untouched):
    box.forget_calls()
    refused = box.play("apply", io_pacing_maxpout=513)
    assert refused.rc == 2
    assert "io_pacing_minpout must be given, too" in words(refused.output)
    assert box.changes() == []


@pytest.mark.parametrize(
    ("maxpout", "minpout", "said"),
    [
        (8192, 4096, "maxpout 8192 must be a multiple of 4 plus 1"),
        (33, 40, "minpout 40 must be below maxpout 33"),
        (33, 0, "both are 0 (no pacing) or neither"),
        # By IBM's rule it is a pair; this host takes no more than 1048577.
        (1048581, 4096, "maxpout of sys0 cannot be '1048581'"),
    ],
)
def test_an_illegal_pair_is_refused_before_the_first_write(box, untouched, maxpout, minpout, said):
    box.forget_calls()
    # Without a profile: marks that are given are the policy.
    refused = box.apply(io_pacing_maxpout=maxpout, io_pacing_minpout=minpout)
    assert refused.rc == 2
    assert said in words(refused.output)
    assert box.changes() == []
    assert box.layers() == untouched["layers"]
    box.run(f"! ls {JOURNAL}/* 2>/dev/null")


def test_apply_sets_both_with_one_command(box, untouched):
    box.forget_calls()
    applied = box.play("apply")
    # Its verify passes at once: chdev changes the running kernel, too.
    assert (applied.rc, applied.changed) == (0, 1)
    assert box.changes() == [CHDEV]
    assert box.marks() == {"odm": DEFAULT, "running": DEFAULT}
    assert box.files() == untouched["files"]


def test_verify_passes(box):
    verified = box.verify()
    assert verified.rc == 0
    assert verified.worse_than_pass() == {}
    assert found(verified, "running")["running"] == "maxpout=8193 minpout=4096"


def test_a_second_apply_changes_nothing(box):
    box.forget_calls()
    before = box.run("find /var/lib/hostproof | sort")
    again = box.apply()
    assert (again.rc, again.changed) == (0, 0)
    assert box.changes() == []
    assert box.run("find /var/lib/hostproof | sort") == before


def test_marks_of_a_file_system_are_found_in_both_places(box):
    box.run("sed -i 's|options.*= rw$|options\\t\\t= rw,maxpout=33,minpout=24|' /etc/filesystems")
    coming = found(box.verify(), "filesystems")
    assert coming["status"] == "fail"
    assert (coming["persisted"], coming["running"]) == ("/backup: maxpout=33 minpout=24", "none")
    assert "chfs -a options=rw /backup" in coming["commands"]
    box.put("mounts/4/options", "rw,maxpout=33,minpout=24,log=/dev/hd8")
    there = found(box.verify(), "filesystems")
    assert there["status"] == "fail"
    assert there["running"] == "/backup: maxpout=33 minpout=24"
    # Apply reports it and leaves it alone.
    box.forget_calls()
    assert box.apply().changed == 0
    assert box.changes() == []
    allowed = [{"path": "/backup", "maxpout": 33, "minpout": 24}]
    verified = box.verify(io_pacing_filesystems=allowed)
    assert statuses(verified)["filesystems"] == "pass"


def test_a_mount_that_is_older_than_its_file_is_found(box):
    box.put("mounts/4/options", "rw,log=/dev/hd8")
    allowed = [{"path": "/backup", "maxpout": 33, "minpout": 24}]
    older = found(box.verify(io_pacing_filesystems=allowed), "filesystems")
    assert older["status"] == "warn"
    box.run("sed -i 's|rw,maxpout=33,minpout=24|rw|' /etc/filesystems")
    assert statuses(box.verify())["filesystems"] == "pass"


def test_a_change_that_waits_for_the_boot_is_seen_and_brought_into_force(box):
    box.run("chdev -l sys0 -a maxpout=33 -a minpout=24 -T")
    assert box.marks() == {"odm": DEFAULT, "running": LEGACY}
    verified = box.verify()
    assert statuses(verified)["persisted"] == "pass"
    running = found(verified, "running")
    assert (running["status"], running["running"]) == ("fail", "maxpout=33 minpout=24")
    assert "chdev -P or chdev -T" in running["why"]
    box.forget_calls()
    assert box.apply().changed == 1
    assert box.changes() == [[*CHDEV, "-T"]]
    assert box.marks() == {"odm": DEFAULT, "running": DEFAULT}


def test_revert_shows_what_it_would_put_back(box):
    shown = box.play("revert", "--check", "--diff")
    assert (shown.rc, shown.changed) == (0, 1)
    assert "+maxpout 33 HIGH water mark for pending write I/Os per file True" in shown.output
    assert box.marks() == {"odm": DEFAULT, "running": DEFAULT}


def test_revert_brings_back_exactly_what_was_there(box, untouched):
    reverted = box.play("revert")
    assert (reverted.rc, reverted.changed) == (0, 1)
    assert box.layers() == untouched["layers"]
    assert box.files() == untouched["files"]
    again = box.revert()
    assert (again.rc, again.changed) == (0, 0)


def test_an_old_hacmp_keeps_its_marks_unless_the_risk_is_named(box, untouched):
    box.put("filesets/cluster.es.server.rte", ["5.4.1.0", "ES Base Server Runtime"])
    # The releases before 7 had no halevel.
    box.run("rm /usr/es/sbin/cluster/utilities/halevel")
    verified = box.verify()
    assert statuses(verified)["legacy_values"] == "pass"
    # No finding hands out what apply refuses.
    assert "chdev" not in found(verified, "persisted")["fix"]
    box.forget_calls()
    refused = box.apply()
    assert refused.rc == 2
    assert "io_pacing_allow_deadman_risk: true" in words(refused.output)
    assert "CPU headroom 53%" in words(refused.output)
    assert box.changes() == []
    assert box.layers() == untouched["layers"]
    overruled = box.apply(io_pacing_powerha_version="7.2.3")
    assert overruled.rc == 2
    assert "says PowerHA 7.2.3, and the host has PowerHA 5.4.1.0" in words(overruled.output)
    assert box.changes() == []
    taken = box.apply(io_pacing_allow_deadman_risk=True)
    assert taken.changed == 1
    assert box.marks() == {"odm": INTERMEDIATE, "running": INTERMEDIATE}
    risk = found(box.verify(), "deadman_risk")
    assert risk["status"] in ("warn", "fail")
    assert box.revert().changed == 1
    assert box.layers() == untouched["layers"]


def test_a_powerha_of_unknown_release_is_no_permission(box, untouched):
    box.put("filesets/cluster.es.server.rte", ["unreadable", "ES Base Server Runtime"])
    box.forget_calls()
    assert box.apply().rc == 2
    assert box.changes() == []
    result = box.apply(check=True, io_pacing_powerha_version="7.2.3")
    assert (result.rc, result.changed) == (0, 1)
    box.put("filesets/cluster.es.server.rte", ["7.2.3.1", "Base Server Runtime"])
    box.run("ln -s /opt/hostproof-tests/aix/halevel /usr/es/sbin/cluster/utilities/halevel")


def test_what_chdev_refuses_fails_and_leaves_nothing_behind(box, untouched):
    box.put("devices/sys0/busy", True)
    refused = box.apply()
    assert refused.rc == 2
    assert "0514-062 Cannot perform the requested function" in words(refused.output)
    assert box.layers() == untouched["layers"]
    box.put("devices/sys0/busy", False)
    assert box.revert().changed == 0


@pytest.mark.parametrize("how", ["chdev_forgets", "chdev_forgets_kernel"])
def test_a_chdev_that_does_not_change_every_layer_is_a_failure(box, untouched, how):
    box.put(how, True)
    refused = box.apply()
    assert refused.rc == 2
    assert "the old state is restored" in words(refused.output)
    assert box.layers() == untouched["layers"]
    box.put(how, False)
    assert box.revert().changed == 0


def test_what_the_next_boot_brings_is_what_was_there(box, untouched):
    box.apply()
    box.run("/opt/hostproof-tests/aix/odm.py boot")
    assert box.marks() == {"odm": DEFAULT, "running": DEFAULT}
    # Somebody was there before revert: the database is as it was, the kernel is not.
    box.run("chdev -l sys0 -a maxpout=33 -a minpout=24 -P")
    assert box.marks() == {"odm": LEGACY, "running": DEFAULT}
    assert box.revert().changed == 1
    assert box.layers() == untouched["layers"]
    box.run("/opt/hostproof-tests/aix/odm.py boot")
    assert box.layers() == untouched["layers"]
