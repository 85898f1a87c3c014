"""Boot configurations at random: the same for the same seed.

The keys belong to a network namespace, so that the real programs can set them without a change to
the machine.
"""

import base64
import random
from collections.abc import Callable
from typing import NamedTuple

#: Key to its default, and the least and the largest value of a story.
KEYS = {
    "net.ipv4.tcp_keepalive_time": (7200, 11, 250),
    "net.ipv4.tcp_keepalive_intvl": (75, 11, 250),
    "net.ipv4.tcp_fin_timeout": (60, 11, 250),
    "net.ipv4.conf.lo.arp_ignore": (0, 1, 8),
    "net.ipv4.conf.lo.arp_announce": (0, 1, 2),
}
PATTERNS = ("net.ipv4.tcp_keepalive_*", "net.ipv4.conf.*.arp_ignore", "net/ipv4/tcp_*_tim[ea]*")
SYSCTL_FOLDERS = ("/etc/sysctl.d", "/run/sysctl.d", "/usr/local/lib/sysctl.d", "/usr/lib/sysctl.d")
TMPFILES_FOLDERS = ("/etc/tmpfiles.d", "/run/tmpfiles.d", "/usr/lib/tmpfiles.d")
NAMES = ("10-a.conf", "50-b.conf", "60-c.conf", "90-d.conf", "99-z.conf", "README", "x.conf.bak")
SYSCTL, TMPFILES = "systemd-sysctl.service", "systemd-tmpfiles-setup.service"
OWN = "/etc/systemd/system"
RC_LOCAL = "/etc/rc.local"
LOADED = "/opt/tune.conf"


class Story(NamedTuple):
    """``files`` by path, ``links`` with the path that each leads to, and what is executable."""

    files: dict[str, str]
    links: dict[str, str]
    executable: list[str]


def story(seed: int) -> Story:
    chance = random.Random(seed)
    draft = Story({}, {}, [])
    for _ in range(chance.choice((1, 2, 3, 4, 6))):
        path = f"{chance.choice(SYSCTL_FOLDERS)}/{chance.choice(NAMES)}"
        draft.files[path] = _lines(chance, _sysctl_line)
    for _ in range(chance.choice((0, 0, 1, 2))):
        path = f"{chance.choice(TMPFILES_FOLDERS)}/{chance.choice(NAMES)}"
        draft.files[path] = _lines(chance, _tmpfiles_line)
    _mask_a_file(chance, draft)
    for service in (SYSCTL, TMPFILES):
        _change_service(chance, draft, service)
    if chance.random() < 0.3:
        draft.files["/etc/sysctl.conf"] = _lines(chance, _sysctl_line)
        if chance.random() < 0.5:
            draft.links["/etc/sysctl.d/99-sysctl.conf"] = "/etc/sysctl.conf"
    if chance.random() < 0.3:
        draft.files[LOADED] = _lines(chance, _plain_line)
        commands = [_command(chance) for _ in range(chance.choice((1, 1, 2, 3)))]
        draft.files[RC_LOCAL] = "\n".join(["#!/bin/sh", *commands, ""])
        if chance.random() < 0.8:
            draft.executable.append(RC_LOCAL)
    for path in draft.links:
        draft.files.pop(path, None)
    return draft


def _lines(chance: random.Random, line: Callable[[random.Random], str]) -> str:
    return "".join(line(chance) + "\n" for _ in range(chance.choice((0, 1, 1, 2, 3, 5))))


def _pair(chance: random.Random) -> tuple[str, str]:
    key = chance.choice(list(KEYS))
    return key, str(chance.randint(*KEYS[key][1:]))


def _spelt(chance: random.Random, key: str) -> str:
    return key if chance.random() < 0.6 else key.replace(".", "/")


def _plain_line(chance: random.Random) -> str:
    key, value = _pair(chance)
    return f"{_spelt(chance, key)} = {value}"


def _sysctl_line(chance: random.Random) -> str:
    key, value = _pair(chance)
    name = _spelt(chance, key)
    return chance.choice(
        (
            f"{name} = {value}",
            f"{name}={value}",
            f"  {name}  =\t{value}  ",
            f"-{name} = {value}",
            f"-{name}",
            f"# {name} = {value}",
            f"; {name} = {value}",
            name,
            f"{chance.choice(PATTERNS)} = {chance.randint(1, 2)}",
            f"-{chance.choice(PATTERNS)} = {chance.randint(1, 2)}",
            f"{name} = {int(value):#x}",
            f"{name} = {int(value):o}x",
            f"{name} = 0{int(value):o}",
            f"{name} = {value} # why",
            f"{name} =",
            f"{name.upper()} = {value}",
        )
    )


def _tmpfiles_line(chance: random.Random) -> str:
    key, value = _pair(chance)
    path = "/proc/sys/" + key.replace(".", "/")
    encoded = base64.b64encode(value.encode()).decode()
    return chance.choice(
        (
            f"w {path} - - - - {value}",
            f"w! {path} - - - - {value}",
            f"w- {path} - - - - {value}",
            f"w+ {path} - - - - {value}",
            f"w~ {path} - - - - {encoded}",
            f"w+~ {path} - - - - {encoded}",
            f"f {path} - - - - {value}",
            f"f+ {path} - - - - {value}",
            f'w "{path}" - - - - {value}',
            f"w {path.replace('ipv4', 'ipv?')} - - - - {value}",
            f"w {path} - - - - {value}\\n",
            f"w {path} - - - -",
            f"w {path} - - -",
            f"# w {path} - - - - {value}",
            f"z {path} - - - - {value}",
            f"w {path}x - - - - {value}",
        )
    )


def _mask_a_file(chance: random.Random, told: Story) -> None:
    if chance.random() < 0.3:
        folder = chance.choice(SYSCTL_FOLDERS[:2] + TMPFILES_FOLDERS[:2])
        path = f"{folder}/{chance.choice(NAMES[:5])}"
        target = chance.choice(("/dev/null", "/dev/null", "/nowhere", LOADED))
        if chance.random() < 0.3:
            told.files[path] = ""
        else:
            told.links[path] = target


def _change_service(chance: random.Random, told: Story, service: str) -> None:
    drop_in = f"{OWN}/{service}.d/a.conf"
    kind = chance.choice(("", "", "", "", "", "", "null", "empty", "run", "condition", "unknown"))
    if kind == "null":
        told.links[f"{OWN}/{service}"] = "/dev/null"
    elif kind == "empty":
        told.files[f"{OWN}/{service}"] = ""
    elif kind == "run":
        told.links[f"/run/systemd/system/{service}"] = "/dev/null"
    elif kind == "condition":
        lines = [
            f"Condition{name}={bar}{no}{path}"
            for name in chance.sample(("PathExists", "PathIsDirectory"), chance.choice((1, 2)))
            for bar in chance.choice((("",), ("|",), ("|", "")))
            for no in chance.choice((("",), ("!",)))
            for path in [chance.choice(("/etc/here", "/etc/not-here", "/etc"))]
        ]
        told.files["/etc/here"] = ""
        told.files[drop_in] = "\n".join(["[Unit]", *lines, ""])
    elif kind == "unknown":
        told.files[drop_in] = "[Unit]\nConditionPathIsMountPoint=/etc\n"


def _command(chance: random.Random) -> str:
    key, value = _pair(chance)
    path = "/proc/sys/" + key.replace(".", "/")
    folder, _, name = path.rpartition("/")
    return chance.choice(
        (
            f"sysctl -w {key}={value}",
            f"sysctl -q -w '{_spelt(chance, key)}={value}'",
            f"echo {value} > {path}",
            f"sysctl -p {LOADED}",
            "sysctl --system",
            "sysctl -p",
            f"cd {folder} && echo {value} > {name}",
            f"cd {folder}",
            f"echo {value} > {name}",
            f"VALUE={value}; echo $VALUE > {path}",
            f"if true; then sysctl -w {key}={value}; fi",
            f"test -e /nowhere && sysctl -w {key}={value}",
            "exit 0",
            "cd /opt; . ./tune.sh",
            f"# sysctl -w {key}={value}",
        )
    )
