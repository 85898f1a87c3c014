"""What a line of a script does to kernel settings, and what it does not."""

import shutil
import subprocess

from ansible.module_utils.hostproof.parsers.shell import (
    command_effects,
    script_lines,
    shell_words,
    started_commands,
)
from ansible.module_utils.hostproof.parsers.shell.command_effects import LOAD, PROCPS, SET, SYSTEMD
from cases import cases

POOL = "/proc/sys/vm/nr_hugepages"
THP = "/sys/kernel/mm/transparent_hugepage/enabled"


def does(line: str) -> list[tuple[object, ...]]:
    """(files) of each load and (target, value) of each write."""
    return [
        effect.files if effect.kind == LOAD else (effect.target, effect.value)
        for effect in command_effects.effects(line)
    ]


@cases(
    "line files",
    ("sysctl -p", "/etc/sysctl.conf"),
    ("/sbin/sysctl -e -p /etc/sysctl.conf >/dev/null 2>&1", "/etc/sysctl.conf"),
    ("sysctl -qp", "/etc/sysctl.conf"),
    ("sysctl -pq", "/etc/sysctl.conf"),
    ("sysctl -p/opt/x.conf", "/opt/x.conf"),
    ("sysctl --load", "/etc/sysctl.conf"),
    ("sysctl --load=/opt/x.conf", "/opt/x.conf"),
    ("sudo -n nice -n 5 /usr/sbin/sysctl -f '/opt/x.conf'", "/opt/x.conf"),
    ("sysctl --system", PROCPS),
    ("sysctl -q --system &", PROCPS),
    ("/usr/lib/systemd/systemd-sysctl", SYSTEMD),
    ("systemctl restart systemd-sysctl.service", SYSTEMD),
    ("service procps start", PROCPS),
    ("/etc/init.d/procps restart", PROCPS),
    ("test -f /x && sysctl -p", "/etc/sysctl.conf"),
    ("A=1 sh -c 'sleep 5; sysctl -p'", "/etc/sysctl.conf"),
    ('timeout 10s bash -lc "sysctl -p"', "/etc/sysctl.conf"),
    ("sysctl -p > $LOG", "/etc/sysctl.conf"),
    ("{ sysctl -p; }", "/etc/sysctl.conf"),
    ("(sleep 60; sysctl -p) &", "/etc/sysctl.conf"),
)
def test_it_loads(line, files):
    assert does(line) == [(files,)]


@cases(
    "line target value",
    ("sysctl -w vm.nr_hugepages=10", POOL, "10"),
    ("sysctl vm/nr_hugepages=10", POOL, "10"),
    ("sysctl -q -w 'vm.nr_hugepages = 10'", POOL, "10"),
    ("sysctl -w vm.nr_hugepages=$PAGES", POOL, None),
    ("sysctl -w vm.nr_hugepages=`cat /x`", POOL, None),
    (f"echo 10 > {POOL}", POOL, "10"),
    (f"echo 10 >{POOL}", POOL, "10"),
    (f"echo 10 1>{POOL}", POOL, "10"),
    (f"echo 10 &>{POOL}", POOL, "10"),
    (f"echo -n '10' >> {POOL}", POOL, "10"),
    (f"printf '10\\n' > {POOL}", POOL, "10\n"),
    (f"printf '%d' 10 > {POOL}", POOL, None),
    (f"printf '1\\x30' > {POOL}", POOL, None),
    (f"printf '10\\t\\n' > {POOL}", POOL, None),
    (f'echo "10" > {POOL}', POOL, "10"),
    (f'echo "$N" > {POOL}', POOL, None),
    (f'echo "`cat /x`" > {POOL}', POOL, None),
    (f'echo "\\"10\\"" > {POOL}', POOL, '"10"'),
    (f"echo $N > {POOL}", POOL, None),
    (f"cat /x > {POOL}", POOL, None),
    (f"echo 10 | tee {POOL}", POOL, "10"),
    (f"cat /x | sudo tee -a {POOL} > /dev/null", POOL, None),
    (f"dd if=/x of={POOL}", POOL, None),
    (f"cp /x {POOL}", POOL, None),
    (f"P={POOL}", POOL, None),
    (f"test -w {THP} && echo never > {THP}", THP, "never"),
    (f"if test -f {THP}; then echo never > {THP}; fi", THP, "never"),
    ("hugeadm --thp-madvise", THP, "madvise"),
    (f"open('{POOL}', 'w').write('10')", POOL, None),
    (f"{{ echo 10; }} > {POOL}", POOL, None),
    ("perl -e 'system(\"sysctl vm.nr_hugepages=1\")'", POOL, None),
)
def test_it_sets(line, target, value):
    settings = {
        (effect.target, effect.value)
        for effect in command_effects.effects(line)
        if effect.kind == SET
    }
    assert (target, value) in settings


@cases(
    "line",
    f"cat {POOL}",
    f"N=$(cat {POOL})",
    f"grep -q 1 {POOL} || exit 1",
    f"echo {POOL}",
    f"echo 10>{POOL}",
    f"echo 10 2>{POOL}",
    "echo 'run sysctl -p' >> /var/log/x",
    "sysctl -a | grep nr_hugepages > /tmp/x",
    "sysctl -n vm.nr_hugepages",
    "sysctl vm.nr_hugepages",
    "sysctl --dry-run --system",
    "# sysctl -p",
    "hugeadm --pool-list",
    "systemctl status systemd-sysctl",
    "systemctl restart chronyd",
    "sysctl -n vm.x > $LOG",
    "",
)
def test_it_only_looks(line):
    assert does(line) == []


def test_what_only_the_shell_knows_may_be_any_key():
    for line in ("sysctl -w $1", "sysctl -p $FILE", "xargs sysctl -w", "sysctl -w $K=5"):
        [effect] = command_effects.effects(line)
        assert (effect.kind, effect.value) in ((SET, None), (SET, "5"))
        assert shell_words.UNKNOWN in effect.target


def test_patterns_and_prefixes_narrow_what_is_loaded():
    [effect] = command_effects.effects("sysctl -q --pattern '^sunrpc' --system")
    assert (effect.files, effect.pattern) == ((PROCPS,), "^sunrpc")
    [effect] = command_effects.effects("sysctl --system -r ^net.ipv6")
    assert effect.pattern == "^net.ipv6"
    [effect] = command_effects.effects("systemd-sysctl --prefix=/net/ipv4/conf/$name")
    assert effect.pattern == r"^(?:net\.ipv4\.conf)"
    [effect] = command_effects.effects("systemd-sysctl --prefix=$x")
    assert effect.pattern is None


@cases(
    "script number answer",
    ("#!/bin/sh\nsysctl -p", 2, True),
    ("#!/bin/sh\ntouch /x\n\n# note\nsysctl -p", 5, True),
    ("#!/bin/sh\nexit 0\nsysctl -p", 3, False),
    ("#!/bin/sh -e\nsysctl -p", 2, True),
    ("#!/bin/sh -e\ntouch /x\nsysctl -p", 3, None),
    ("#!/bin/sh\nset -e\nsysctl -p", 3, None),
    ("#!/bin/sh\nif x; then\nsysctl -p\nfi", 3, None),
    ("#!/bin/sh\ncase $1 in\na) sysctl -p;;\nesac", 3, None),
    ("#!/bin/sh\nstart() {\nsysctl -p\n}", 3, None),
    ("#!/bin/sh\ncat <<X\nsysctl -p\nX", 3, None),
    ("#!/bin/sh\n[ -f /x ] && exit\nsysctl -p", 3, None),
    ("#!/bin/sh\nx && sysctl -p", 2, None),
    ("#!/bin/sh\nsysctl -p; true", 2, None),
    ("#!/bin/sh\n. /etc/functions\nsysctl -p", 3, None),
    ("#!/bin/sh\nexec /opt/x\nsysctl -p", 3, None),
)
def test_whether_a_line_is_reached(script, number, answer):
    lines = shell_words.joined(script)
    assert script_lines.reached(lines, number) is answer
    if answer is not None and shutil.which("sh"):
        # The truth of a shell: a function stands in for the command, and the rest does nothing.
        body = "\n".join(lines[1:]).replace("sysctl -p", "echo reached")
        text = f"touch() {{ :; }}\n{body}\n"
        done = subprocess.run(["sh", "-c", text], capture_output=True, text=True, check=False)
        assert ("reached" in done.stdout) is answer


def test_lines_that_go_on():
    assert shell_words.joined("a \\\n  b \\\nc\nd") == ["a  b  c", "", "", "d"]
    assert shell_words.joined("# a \\\nb") == ["# a \\", "b"]


@cases(
    "line has_user command",
    ("@reboot root sysctl -p", True, "sysctl -p"),
    ("@reboot sysctl -p", False, "sysctl -p"),
    ("*/5 * * * * root sysctl -p", True, "sysctl -p"),
    ("0 3 * * * sysctl -p", False, "sysctl -p"),
    ("# @reboot root sysctl -p", True, None),
    ("PATH=/sbin", True, None),
    ("", False, None),
    ("0 3 * *", False, None),
)
def test_crontab(line, has_user, command):
    assert started_commands.of_crontab(line, has_user) == command


@cases(
    "line command",
    ("ExecStart=/sbin/sysctl -p", "/sbin/sysctl -p"),
    ("ExecStartPre = -!/sbin/sysctl -p", "/sbin/sysctl -p"),
    ("ExecStop=/sbin/sysctl -p", "/sbin/sysctl -p"),
    ("ExecReload=/sbin/sysctl -p", None),
    ("ReadWritePaths=/proc/sys/vm", None),
    ("Description=runs sysctl -p", None),
)
def test_unit(line, command):
    assert started_commands.of_unit(line) == command


def test_systemd_is_no_shell():
    assert started_commands.of_exec(f"/bin/echo 10 > {POOL}") == ([], False)
    effects, sure = started_commands.of_exec(f"/bin/sh -c 'echo 10 > {POOL}'")
    assert ([(effect.target, effect.value) for effect in effects], sure) == ([(POOL, "10")], True)
    assert started_commands.of_exec("") == ([], False)


@cases("text", "'", '"', "`", "$(", "${", "\\", "a 'b", "> >", "|", "$", "&&&")
def test_broken_quotes_do_no_harm(text):
    assert isinstance(command_effects.effects(f"echo 1 {text}"), list)
    assert isinstance(command_effects.effects(f"{text} > {POOL}"), list)
