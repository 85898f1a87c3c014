# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The commands that a finding may hold: each line is compared as a whole with the forms below.

A line that is no such form is never shown as a command. A new control that prints a new command
adds its form here; a unit test compares every command of every control with this table.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from functools import lru_cache
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from ansible.module_utils.hostproof.controls.packages.package_table import PREINSTALL, ROWS
from ansible.module_utils.hostproof.controls.registry import NAMES

#: The values of the forms. Each is one word for a shell: bare, or in single quotes.
_VALUES = {
    "path": r"(?:/[A-Za-z0-9_@%+=:,./-]*|'/[\w@%+=:,./ ~#-]*')",
    "plain-path": r"/[A-Za-z0-9_@%+=:,./-]*",
    "library": r"/(?:usr/)?(?:local/)?lib(?:64|32)?/(?:(?!\.\.?/)[A-Za-z0-9_+.-]+/)*"
    r"libnetsnmp\.so(?:\.[0-9]+)*",
    "device": r"[A-Za-z0-9_][A-Za-z0-9_.:@-]*",
    "attribute": r"[a-z][a-z0-9_]*=[A-Za-z0-9_.-]+",
    "listener": r"(?:[A-Za-z0-9_][A-Za-z0-9_.-]*|'[A-Za-z0-9_][A-Za-z0-9_.$#-]*')",
    "options": r"""(?:[A-Za-z0-9_][A-Za-z0-9_=,.:/@%+-]*|'[A-Za-z0-9_][\w=,.:/@%+" -]*')""",
    "unit": r"(?:[A-Za-z0-9_][A-Za-z0-9_:.@-]*|'[A-Za-z0-9_\\][A-Za-z0-9_:.@\\-]*')",
    "account": r"(?!root |toor )[A-Za-z_][A-Za-z0-9_.@-]{0,63}",
    "address": r"[A-Za-z0-9][A-Za-z0-9._:%-]*",
    "number": r"[0-9]{1,20}",
    "entry": r"'[\w@%+=:,./\[\]\\~#-]+(?: [\w@%+=:,./\[\]\\~#\"-]+){3} [0-9] [0-9]'",
    "word": r"""(?:[A-Za-z0-9_@%+=:,./][A-Za-z0-9_@%+=:,./-]*|'[^'\n]*'(?:"'"'[^'\n]*')*)""",
    "controls": "(?:{0})(?:,(?:{0}))*".format("|".join(sorted(NAMES))),
    "package": "(?:{0})(?:[.:](?:{1}))?".format(
        "|".join(map(re.escape, sorted({row.package for row in ROWS} | {*PREINSTALL.values()}))),
        "|".join(sorted({row.architecture for row in ROWS} | {"i386", "i686"})),
    ),
}

#: Programs of an operating system with their arguments.
_OF_SYSTEM = (
    r"cat /proc/net/bonding/<device>",
    r"chdev( -P)? -l <device>( -a <attribute>)+( -P| -T)?",
    r"chfs -a options=<options> <path>",
    r"dladm set-linkprop -p flowctrl=(no|tx|rx|bi|auto|pfc) <device>",
    r"chmod (1777 (/tmp|/var/tmp|/dev/shm)|0755 /var)",
    r"chown root (/tmp|/var/tmp|/var|/dev/shm)",
    r"dmesg \| grep -i nfs",
    r"dnf install( -y)? net-snmp-(utils|libs net-snmp-devel)",
    r"(apt-get|dnf|yum|zypper) install( -y)? <package>( <package>)*",
    r"dpkg --audit",
    r"ethtool -G <device> rx <number>",
    r"ethtool -g <device>",
    r"ethtool -s <device> autoneg on",
    r"firewall-cmd --reload",
    r"firewall-cmd --permanent --zone=<device> --add-port=<number>/(tcp|udp)",
    r"firewall-cmd --permanent --zone=trusted --change-interface=<device>",
    r"grep -l huge /proc/\[0-9\]\*/numa_maps",
    r"grep -n nr_hugepages <path>",
    r"iscsiadm -m node -T <address> -p <address> -o update -n node\.startup -v automatic",
    r"ioo -p -o aio_maxreqs=<number>",
    r"ioo -p -o aio_(fs)?fastpath=1",
    r"ip -s -s link",
    r"ip link set dev lo mtu <number>",
    r"ip link set dev <device> (arp|multicast) on",
    r"ip route del 169\.254\.0\.0/16 scope link proto boot",
    r"journalctl -k --no-pager -n <number>",
    r"ln -sfn <library> <library>",
    r"mkdir -p <path>",
    r"mount( -o <options>)? <path>",
    r"no -[pr]( -o <attribute>)+",
    r"multipath -(ll|t|a <plain-path>)",
    r"multipathd reconfigure",
    r"powermt display dev=all",
    r"ping -c 3 -- <address>",
    r"printf '%s\\n' <entry> >> /etc/fstab",
    r"printf '%s\\n' 'vm\.dirty_(background_)?bytes = <number>' >>? /etc/sysctl\.d/90-dirty\.conf",
    r"rpcinfo -- <address>",
    r"rpm --rebuilddb",
    r"sysctl -p /etc/sysctl\.d/90-dirty\.conf",
    r"sysctl -w (vm\.nr_(overcommit_)?hugepages|sunrpc\.[a-z_]+)=<number>",
    r"sysctl -w net/ipv4/conf/<device>/arp_ignore=0",
    r"systemctl daemon-re(load|exec)",
    r"systemctl disable (chrony|ntp|openntpd|ptp4l|phc2sys|timemaster|systemd-timesyncd)[\w@.:-]*"
    r"\.service",
    r"systemctl disable --now (avahi-daemon\.socket avahi-daemon\.service|proxyt\.service)",
    r"systemctl set-default multi-user\.target",
    r"systemctl (enable( --now)?|restart|start) <unit>",
    r"systemctl set-property <unit> TasksMax=infinity",
    r"systemctl reload (nftables|iptables|autofs)\.service",
    r"ufw (reload|allow (<number>/(tcp|udp)|in on <device>))",
    r"umount <path>",
)

#: Programs that another account than root can change. Root runs them as that account, never itself.
_OF_ACCOUNT = (
    r"runuser -u <account> -- env ORACLE_HOME=(?P<home><plain-path>) "
    r"(?P=home)/bin/lsnrctl (?:start|stop) <listener>",
)

#: What ./hostproof does for a finding: the verb is the id of the fix, the controls are its values.
_OF_HOST = (r"\./hostproof (apply|audit) --tags <controls>",)
#: The same as the controller completes it: with the options of the run (run_options.py) and the
#: host. The value of a secret variable is a reference to a shell variable.
_OPTION = (
    r"(?: (?:-[ieuc]|--private-key|--(?:connection|become)-password-file|--become-(?:method|user)"
    r"|--ssh-(?:common|extra)-args|--vault-id|--vault-password-file) <word>"
    r"""| -e "[A-Za-z_][A-Za-z0-9_]*=\$\{[A-Za-z_][A-Za-z0-9_]*:\?\}"|"""
    r" (?:--become|--ask-vault-password|-k|-K))"
)
_WRITTEN = (
    r"\./hostproof (?:apply(?: --check --diff)?|audit) --tags <controls>(?: -vvv)?"
    rf"(?P<options>{_OPTION}*)(?P<limit> --limit <word>)?(?: -i <word>)*",
)

#: The longest line that is compared.
_LONGEST = 4096
#: The same of a line with the options of a run.
_LONGEST_OWN = 65536


def _pattern(forms: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(
        "|".join(
            re.sub(r"(?<!\?P)<([a-z-]+)>", lambda match: _VALUES[match[1]], form) for form in forms
        )
    )


_FROM_HOST = _pattern(_OF_HOST + _OF_SYSTEM + _OF_ACCOUNT)
_BY_ACCOUNT = re.compile(r"runuser -u (\S+) -- (.+)")
#: Paths of the system in a command, in which no other account can change a directory.
_FIXED = ("/proc/[0-9]*/numa_maps", "/etc/fstab", "/etc/sysctl.d/90-dirty.conf")
#: /lib64 can be a link, and only root changes what is in it. /usr/local can belong to a group.
_OF_SYSTEM_LIBRARY = re.compile(
    r"/(?:usr/)?lib(?:64|32)?/(?:(?!\.\.?/)[A-Za-z0-9_+.-]+/)*libnetsnmp\.so[.0-9]*"
)
_OWN = _pattern(_WRITTEN)


#: Commands that the policies of this run contain: those of checks of the user's own.
_OF_RUN: set[str] = set()
#: Packages of packages_additional in this run.
_ADDITIONAL: set[str] = set()
_INSTALL = re.compile(
    r"((?:apt-get|dnf|yum|zypper) install(?: -y)?)((?: [A-Za-z0-9][A-Za-z0-9.:+_-]*)+)"
)


def allow(policies: Mapping[str, Mapping[str, Any]]) -> None:
    """Accept the commands that the user has written into the policies of this run."""
    additional = policies.get("packages", {}).get("additional")
    _ADDITIONAL.update(map(str, additional if isinstance(additional, list) else ()))
    checks = policies.get("custom", {}).get("checks")
    for check in checks if isinstance(checks, list) else ():
        lines = check.get("commands") if isinstance(check, dict) else None
        _OF_RUN.update(map(str, lines if isinstance(lines, list) else ()))


def is_from_host(line: str) -> bool:
    """Whether a host may send this command."""
    return _has_form(line) or line in _OF_RUN or _installs_additional(line)


def _installs_additional(line: str) -> bool:
    match = _INSTALL.fullmatch(line) if _ADDITIONAL else None
    if match is None:
        return False
    of_table = [name for name in match[2].split() if name not in _ADDITIONAL]
    return not of_table or _has_form(" ".join([match[1], *of_table]))


@lru_cache(maxsize=4096)
def _has_form(line: str) -> bool:
    # No ".." leads out of the place that a path names.
    return (
        len(line) <= _LONGEST
        and line.isprintable()
        and "/.." not in line
        and _FROM_HOST.fullmatch(line) is not None
    )


class Execution(NamedTuple):
    """How root runs a command: as ``account``, None for root itself, which then runs ``line``.

    ``directories`` are those that no other account may be able to change, because what the command
    is about is in them.
    """

    account: str | None
    line: str
    directories: tuple[str, ...]


def execution(line: str) -> Execution:
    """How root runs a line that is_from_host accepts."""
    match = _BY_ACCOUNT.fullmatch(line)
    if match:
        return Execution(match[1], match[2], ())
    paths = [
        word
        for word in shlex.split(line)
        if word[0:1] == "/" and not _OF_SYSTEM_LIBRARY.fullmatch(word)
    ]
    parents = {
        str(parent)
        for path in paths
        if path not in _FIXED
        for parent in PurePosixPath(path).parents
    }
    return Execution(None, line, tuple(sorted(parents)))


@lru_cache(maxsize=4096)
def is_own(line: str) -> bool:
    """Whether this is a call of ./hostproof as the controller writes it into a finding."""
    return _own(line) is not None


def _own(line: str) -> re.Match[str] | None:
    return _OWN.fullmatch(line) if len(line) <= _LONGEST_OWN and line.isprintable() else None


def without_limit(line: str) -> str:
    """A call of ./hostproof without the host that the controller wrote at its end."""
    match = _own(line)
    if match is None or match["limit"] is None:
        return line
    return line[: match.start("limit")] + line[match.end("limit") :]


def options_in(line: str) -> str:
    """The options of the run in a call of ./hostproof, as they are written."""
    match = _own(line)
    return "" if match is None else match["options"].strip()
