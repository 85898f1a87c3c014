# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The commands that lines of units, crontabs, udev rules and modprobe.d start.

Sources: systemd.service(5); crontab(5); udev(7); modprobe.d(5).
"""

import re
from typing import List, Optional, Tuple

from .command_effects import Effect, effects, of_command
from .script_lines import is_plain
from .shell_words import SHELLS, UNKNOWN, Simple, program_of, split, unwrapped

#: The tables of cron (of_crontab), and the scripts that cron starts. The distributions keep the
#: tables of accounts in different directories.
CRONTABS = ("/etc/crontab", "/etc/cron.d/*", "/etc/anacrontab")
CRONTABS_OF_ACCOUNTS = (
    "/var/spool/cron/*",
    "/var/spool/cron/crontabs/*",
    "/var/spool/cron/tabs/*",
)
CRON_SCRIPTS = (
    "/etc/cron.hourly/*",
    "/etc/cron.daily/*",
    "/etc/cron.weekly/*",
    "/etc/cron.monthly/*",
)
#: Lines of a unit without a command, and the command that does the same.
_OF_UNIT = (
    (r"^\s*Standard(?:Output|Error)\s*=\s*(?:file|append|truncate):", "tee "),
    (r"^\s*(?:WorkingDirectory|BindPaths)\s*=[ \t-]*([^:]*).*", r"cd \1"),
    (r"^\s*Environment\s*=", "set "),
)


def of_unit(line: str) -> Optional[str]:
    """The command of an Exec line of a systemd unit; None for lines that run and open nothing.

    A file for the output is written as by tee, files of the working directory as after cd, and a
    path in a variable counts as one that a command mentions.
    """
    for pattern, command in _OF_UNIT:
        line = re.sub(pattern, "ExecStart=" + command, line)
    match = re.match(r"\s*Exec(?:St(?:art|op)(?:Pre|Post)?|Condition)\s*=\s*(.*)", line)
    if match is None:
        return None
    # The value of a specifier (%i) is unknown here; %% is a percent sign.
    command = re.sub(
        r"%(.)", lambda specifier: "%" if specifier.group(1) == "%" else UNKNOWN, match.group(1)
    )
    return re.sub(r"^[-@:+!|]+\s*", "", command)


def of_exec(command: str) -> Tuple[List[Effect], bool]:
    """The effects of the command of a unit, and whether they are certain: no shell, no redirection.

    systemd passes >, | and && to the command as arguments.
    """
    commands = split(command)
    words = commands[0].words if commands else [""]
    # Where a redirection is all of the first command, it has no words.
    if program_of(unwrapped(list(words))) in SHELLS:
        return effects(command), is_plain(command)
    alone = len(commands) == 1 and not commands[0].outputs
    # A semicolon between blanks is the only operator of systemd; the others are rare.
    found = [of_command(Simple(simple.words, [], False), None) for simple in commands]
    return [effect for some in found for effect in some], alone


def of_crontab(line: str, has_user: bool) -> Optional[str]:
    """The command of a line of a crontab; None for comments and variables."""
    text = line.strip()
    if not text or text.startswith("#") or re.match(r"[A-Za-z_]\w*\s*=", text):
        return None
    times = 1 if text.startswith("@") else 5
    parts = text.split(None, times + (1 if has_user else 0))
    return parts[-1] if len(parts) > times + (1 if has_user else 0) else None


def of_udev(line: str) -> str:
    """The commands of a udev rule (RUN, IMPORT, PROGRAM), and its SYSCTL{} as one."""
    if line.lstrip().startswith("#"):
        return ""
    run = re.findall(r'(?:RUN|PROGRAM|IMPORT)(?:\{program\})?\s*(?:\+|:)?=+\s*"([^"]*)"', line)
    keys = re.findall(r'SYSCTL\{([^{}]*)\}\s*=\s*"([^"]*)"', line)
    pools = re.findall(r'ATTR\{(hugepages/[^{}]*)\}\s*=\s*"([^"]*)"', line)
    run += ["echo {1} >/sys/devices/system/node/node0/{0}".format(*pair) for pair in pools]
    return "; ".join(run + ["sysctl -w '{0}={1}'".format(*pair) for pair in keys])


def of_modprobe(line: str) -> str:
    """The command of a line of modprobe.d (install MODULE COMMAND)."""
    match = re.match(r"\s*install\s+\S+\s+(.*)", line)
    return match.group(1) if match else ""
