"""Evidence and findings hold only the words of a command that a control needs."""

import json

import pytest
from ansible.module_utils.hostproof.collect.host import LiveHost
from ansible.module_utils.hostproof.controls.block_devices import facts as block_devices
from ansible.module_utils.hostproof.controls.memory_pressure import swap_at_boot
from ansible.module_utils.hostproof.controls.process_limits.parsers import temp_cleaners
from ansible.module_utils.hostproof.parsers import kept_lines
from ansible.module_utils.hostproof.parsers.shell import command_effects, script_lines
from ansible.module_utils.hostproof.probes.oracle import starters
from ansible.module_utils.hostproof.probes.systemd import boot_scripts
from cases import cases
from kept_forms import FORMS

SECRET = "Ztiger0tiger9q"

#: What keeps a line: a command that it keeps it for, and the text around it.
KEPT = {
    "rc.local": (lambda line: script_lines.kept(line), "sysctl -w vm.nr_hugepages=512", "{}"),
    "crontab": (
        lambda line: boot_scripts._shortened("/etc/cron.d/x", line),
        "echo 512 > /proc/sys/vm/nr_hugepages",
        "@reboot root {}",
    ),
    "unit": (
        lambda line: boot_scripts._shortened("/etc/systemd/system/x.service", line),
        "/usr/sbin/sysctl -p /etc/x.conf",
        "ExecStart=/bin/sh -c '{}'",
    ),
    "udev rule": (
        lambda line: boot_scripts._shortened("/etc/udev/rules.d/9.rules", line),
        "sysctl -q --system",
        'ACTION=="add", RUN+="/bin/sh -c {}"',
    ),
    "another account": (
        lambda line: script_lines.kept(line),
        "sysctl -w vm.nr_hugepages=512",
        "su - oracle -c '{}'",
    ),
    "swap": (lambda line: swap_at_boot._needed("/etc/rc.local", line), "swapon /dev/sdb", "{}"),
    "disks": (
        lambda line: block_devices._needed("/etc/rc.local", line),
        "echo none > /sys/block/sda/queue/scheduler",
        "{}",
    ),
    "cron and sockets": (
        lambda line: temp_cleaners.kept("/etc/cron.d/x", line),
        "find /var/tmp -mtime +7 -delete",
        "0 1 * * * root {}",
    ),
    "starter": (
        lambda line: starters._kept(["/u01/db"], "/etc/systemd/system/x.service", line),
        "su - oracle -c '/u01/db/bin/dbstart /u01/db'",
        "ExecStart=/bin/sh -c {}",
    ),
}


@pytest.mark.parametrize("kind", KEPT)
@cases("joint", "{0}; {1}", "{1} && {0}", "{0} | {1}")
def test_no_word_that_decides_nothing_stays(kind, joint):
    keep, command, around = KEPT[kind]
    leaks = []
    for form in FORMS:
        if form.startswith("#") and not joint.startswith("{1}"):
            continue
        text = joint.format(form.replace("§", SECRET), command)
        if "'" in around:
            text = text.replace("'", "")
        line = around.format(text)
        if "tiger" in keep(line):
            leaks.append(f"{line} -> {keep(line)}")
    assert leaks == []


def test_there_are_many_forms():
    assert len(FORMS) > 150


@cases(
    "line kept",
    ("PW=x sysctl -w vm.swappiness=1 # y", "PW=*** sysctl -w vm.swappiness=1 ***"),
    ("echo x | doas sysctl -w vm.swappiness=1", "echo *** | doas sysctl -w vm.swappiness=1"),
    ("sysctl -p /etc/a.conf && app -k x", "sysctl -p /etc/a.conf && ***"),
    ("echo 1 > /proc/sys/vm/swappiness", "echo 1 > /proc/sys/vm/swappiness"),
)
def test_what_is_needed_stays(line, kept):
    assert script_lines.shortened(line) == kept
    assert command_effects.effects(kept) == command_effects.effects(line)
    assert script_lines.shortened(kept) == kept


@pytest.mark.parametrize("kind", [name for name in KEPT if name not in ("swap", "disks")])
def test_every_form_keeps_what_the_control_reads(kind):
    keep, command, around = KEPT[kind]
    readings = {
        "rc.local": script_lines._reading,
        "another account": script_lines._reading,
        "crontab": lambda line: boot_scripts._reading("/etc/cron.d/x", line),
        "unit": lambda line: boot_scripts._reading("/etc/systemd/system/x.service", line),
        "udev rule": lambda line: boot_scripts._reading("/etc/udev/rules.d/9.rules", line),
        "cron and sockets": lambda line: [read(line) for read in temp_cleaners.READINGS],
        "starter": lambda line: starters._reading(["/u01/db"], line),
    }
    for form in FORMS[::5]:
        line = around.format(f"{form.replace('§', SECRET)}; {command}")
        kept = keep(line)
        assert readings[kind](kept) == readings[kind](line), line
        assert keep(kept) == kept, line


def test_a_long_line_is_left_to_the_masking():
    line = "sysctl -w vm.swappiness=1 " + "x" * 4000
    assert kept_lines.needed_words(line, len) == line


def test_a_search_of_a_live_host_returns_and_records_the_same_words(tmp_path):
    path = tmp_path / "rc.local"
    path.write_text(f"#!/bin/sh\napp -k {SECRET}; sysctl -w vm.swappiness=1\n")
    host = LiveHost()
    found = host.find_lines("boot", [str(path)], "sysctl", False, boot_scripts._shortened)
    assert found.lines == {str(path): [(2, "***; sysctl -w vm.swappiness=1")]}
    assert "tiger" not in json.dumps(host.evidence)
    assert host.find_lines("boot", [str(path)], "sysctl") == found


def test_the_command_in_a_finding_has_the_needed_words():
    text = f"app -k {SECRET}; sysctl -w vm.swappiness=1\n"
    (command,) = boot_scripts.of_script("/x", text, "x")
    assert command.text == "***; sysctl -w vm.swappiness=1"
