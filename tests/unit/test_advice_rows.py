"""The stored advice: which edits of a fix it does not let pass."""

import re

import advice_rows
import pytest
from ansible.module_utils.hostproof.controls.registry import NAMES
from ansible.module_utils.hostproof.evaluate.finding import Finding
from cases import cases

FIX = "set umask 022 in /home/oracle2/.profile; then restart ora2 after 10 minutes"
COMMANDS = ("umount /u02", "mount -o remount,hidepid=0 /u02")


def told(fix=FIX, commands=COMMANDS):
    """A finding of the host oracle2."""
    return Finding(
        control="space",
        check="space.shm",
        title="/u02: Title",
        status="fail",
        severity="high",
        why="oracle2 has 077.",
        desired="022",
        persisted=None,
        running=None,
        in_use=None,
        takes_effect="now",
        reference="",
        evidence=(),
        fix=fix,
        waiver=None,
        commands=commands,
    )


@pytest.fixture
def stored(monkeypatch):
    def store(*rows):
        monkeypatch.setattr(
            advice_rows, "stored", lambda _control: {advice_rows.row_of(told())[0]: {*rows}}
        )

    store(advice_rows.row_of(told())[1])
    return store


def test_what_is_of_the_host_differs_from_host_to_host(stored):
    assert not advice_rows.not_stored(advice_rows.rows_of([told()]))
    row = advice_rows.row_of(told())[1]
    assert row[0].startswith("set umask {desired} in /home/oracle{n}/.profile")
    assert row[0].endswith("after 10 minutes")
    assert row[1:] == ("$ umount /u{n}", "$ mount -o remount,hidepid=0 /u{n}")


@cases(
    "fix commands",
    (FIX.replace("022", "000"), COMMANDS),
    # The finding states this one too, but not as what it requires.
    (FIX.replace("022", "077"), COMMANDS),
    (FIX.replace("10 minutes", "1 minutes"), COMMANDS),
    (FIX.replace("10 minutes", "100 minutes"), COMMANDS),
    (FIX.replace("restart", "stop"), COMMANDS),
    (FIX.replace(".profile", ".bashrc"), COMMANDS),
    ("; then ".join(reversed(FIX.split("; then "))), COMMANDS),
    (FIX + "; then reboot the host", COMMANDS),
    (FIX.partition(";")[0], COMMANDS),
    (FIX, COMMANDS[::-1]),
    (FIX, COMMANDS[:1]),
    (FIX, (COMMANDS[0], COMMANDS[1].replace("hidepid=0", "hidepid=4"))),
    (FIX, (COMMANDS[0].replace("umount", "umount -l"), COMMANDS[1])),
    (None, COMMANDS),
)
def test_no_harmful_edit_passes(stored, fix, commands):
    assert advice_rows.not_stored(advice_rows.rows_of([told(fix, commands)]))


#: Commands that wait for an answer of a person where a script runs them.
ASKS = re.compile(
    r"(?:dnf|yum|apt-get|zypper) (?!.*(?: -y| --non-interactive)\b)"
    r"|ufw (?:enable|reset|delete)\b|(?:passwd|fdisk|parted|mkfs\S*|lvremove|vgremove|fsck\S*) "
    r"|(?:rm|cp|mv) -\S*i|(?:systemctl|journalctl) (?:status|edit|-(?!.*--no-pager))"
)


@pytest.mark.parametrize("control", NAMES)
def test_no_command_waits_for_an_answer(control):
    rows = advice_rows.stored(control)
    commands = {line for advice in rows.values() for _fix, *lines in advice for line in lines}
    assert not [line for line in commands if ASKS.match(line.removeprefix("$ "))]
