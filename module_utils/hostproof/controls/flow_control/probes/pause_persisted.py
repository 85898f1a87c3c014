# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Sources that set PAUSE of an interface at boot, and the one that takes effect.

The last source that sets a value takes effect. The order at boot is:

1. the first matching .link file (udev, when it detects the interface);
2. udev rules that run ethtool;
3. the profile of NetworkManager, the network scripts, or Debian's ifupdown;
4. scripts and TuneD.

Sources: systemd.link(5); udev(7); nm-settings(5); initscripts, sysconfig.txt; interfaces(5);
TuneD, plugin_net.py."""

import re
from typing import Callable, Dict, List, NamedTuple, Optional, Set, Tuple

from ....collect.answer import Answer, attempt, if_known, known, unless_absent
from ....collect.host import Host
from ....errors import Absent, HostproofError, ParseError, Unanswered
from ....parsers import glob_pattern
from ....parsers.net.ethtool_pause import PauseCommand, commands_in
from ....parsers.number import clipped, integer
from ....parsers.systemd import link_file, systemd_unit, tuned, udev_rules
from ....parsers.systemd.conf_d import directories
from ....parsers.systemd.link_file import Device
from ....parsers.systemd.systemd_unit import Unit
from ....probes.net.network_interfaces import Nic
from ....probes.systemd import boot, udev
from ..parsers import ifcfg, ifupdown, nm_keyfile

LINK_FOLDERS = directories("systemd/network")
_PROFILES = (
    "/etc/NetworkManager/system-connections",
    "/run/NetworkManager/system-connections",
    "/usr/lib/NetworkManager/system-connections",
)
_IFCFG = "/etc/sysconfig/network-scripts"
#: Other files that can run ethtool when an interface is set up or when the system has started.
_SCRIPT_FOLDERS = (
    "/etc/NetworkManager/dispatcher.d",
    "/etc/network/if-up.d",
    "/etc/network/if-pre-up.d",
    "/etc/network/interfaces.d",
    "/etc/systemd/system",
)
_SCRIPTS = ("/etc/rc.local", "/etc/rc.d/rc.local", "/etc/network/interfaces", "/sbin/ifup-local")
_INTERFACES = "/etc/network/interfaces"
#: The script of Debian's package ethtool that applies ethernet-pause-….
_IF_UP = "/etc/network/if-up.d/ethtool"
_ETHTOOL = r"ethtool.*[[:space:]](-A|--pause)[[:space:]]"
#: The first systemd whose .link files know flow control (NEWS, version 246).
FIRST_SYSTEMD = 246
#: The first NetworkManager that sets PAUSE (NEWS, version 1.32). Its plugin for ifcfg files reads
#: -A from ETHTOOL_OPTS (nms-ifcfg-rh-reader.c, found in 1.36 and 1.42).
FIRST_NETWORKMANAGER = (1, 32)

LINK, RULE, NETWORKMANAGER, IFCFG, IFUPDOWN, SCRIPT, TUNED = ORDER = (
    ".link file",
    "udev rule",
    "NetworkManager",
    "ifcfg",
    "ifupdown",
    "script",
    "TuneD",
)
#: The only sources on AIX and on Solaris.
ODM, DLADM = "ODM", "dladm"


class Setting(NamedTuple):
    """A source that sets PAUSE at boot. None: it does not set the value. ``kind`` is one of ORDER,
    ODM or DLADM.

    ``ignored`` is the reason why it has no effect, "" if it has one. ``certain`` is False if only a
    reboot can prove that it runs and applies to this interface: a script, or a rule that matches on
    properties that only udev knows.
    """

    kind: str
    place: str
    autoneg: Optional[bool]
    rx: Optional[bool]
    tx: Optional[bool]
    ignored: str
    evidence: Tuple[str, ...]
    certain: bool = True


class LinkFile(NamedTuple):
    """A .link file with its drop-ins. ``fits`` is link_file.YES, NO or UNKNOWN."""

    path: str
    units: Tuple[Unit, ...]
    fits: str
    evidence: Tuple[str, ...]


class Persisted(NamedTuple):
    """Settings of an interface at boot. ``links`` are the .link files that match the interface or
    can match it, in the order of udev.

    ``winner`` is None if no file matches. ``settings`` are in the order in which they are applied
    and include ignored ones; settings without PAUSE are omitted. ``profile`` is the name of the
    profile in NetworkManager, None without one. ``systemd`` is the version of udev. ``ethtool`` is
    the path for a udev rule."""

    links: Answer[List[LinkFile]]
    winner: Answer[Optional[LinkFile]]
    settings: Answer[List[Setting]]
    profile: Optional[str]
    systemd: Answer[int]
    device: Device
    texts: Dict[str, Answer[str]]
    ethtool: Answer[str] = ""

    def at_boot(
        self, certain: bool = False
    ) -> Tuple[Optional[bool], Optional[bool], Optional[bool]]:
        """autoneg, rx and tx after a reboot; None if no source sets it. Raises if it is unknown.

        ``certain``: use only sources that certainly run; otherwise also those that can run.
        """
        values: List[Optional[bool]] = [None, None, None]
        for setting in known(self.settings):
            if not setting.ignored and (setting.certain or not certain):
                for at, value in enumerate((setting.autoneg, setting.rx, setting.tx)):
                    values[at] = values[at] if value is None else value
        return values[0], values[1], values[2]


def read_persisted(host: Host, nic: Nic, own: Tuple[str, ...]) -> Persisted:
    """Read all sources that set PAUSE of an interface. ``own`` are the files that apply writes."""
    properties = if_known(attempt(_read_properties, host, nic.name), {})
    # Virtual interfaces have no permanent address: udev matches the current one.
    virtual = nic.driver is None and nic.bond is None
    device = Device(
        mac=nic.permanent_mac or (nic.mac if virtual else None),
        path=properties.get("ID_PATH"),
        driver=properties.get("ID_NET_DRIVER", nic.driver),
        names=_boot_names(nic.name),
    )
    systemd = attempt(_read_version, host)
    links = attempt(_read_links, host, device)
    winner = attempt(lambda: _winner(known(links), properties.get("ID_NET_LINK_FILE")))
    manager = attempt(_read_manager, host)
    profiles = attempt(lambda: _profiles(host, nic, known(manager)))
    settings = attempt(
        lambda: _that_set_something(
            _link_settings(known(links), known(winner), systemd)
            + _rule_settings(host, nic, device)
            + [setting for _name, setting in known(profiles)]
            + _ifcfg_settings(host, nic, known(manager))
            + _ifupdown_settings(host, nic)
            + _script_settings(host, nic)
            + _tuned_settings(host, nic)
        )
    )
    names = [name for name, setting in if_known(profiles, []) if not setting.ignored]
    return Persisted(
        links,
        winner,
        settings,
        names[0] if names else None,
        systemd,
        device,
        {path: attempt(host.read_text, path) for path in own},
        attempt(_find_ethtool, host) if if_known(systemd, FIRST_SYSTEMD) < FIRST_SYSTEMD else "",
    )


def _find_ethtool(host: Host) -> str:
    for folder in ("/usr/sbin", "/sbin", "/usr/bin", "/usr/local/sbin"):
        path = folder + "/ethtool"
        if not isinstance(attempt(host.stat, path), HostproofError):
            return path
    raise Unanswered("file:/usr/sbin/ethtool", "ethtool is in no directory where udev could run it")


def _that_set_something(settings: List[Setting]) -> List[Setting]:
    return [
        setting
        for setting in settings
        if (setting.autoneg, setting.rx, setting.tx) != (None, None, None)
    ]


def _boot_names(name: str) -> Tuple[str, ...]:
    """Names that the kernel can give at boot: the current name if it is ethN, else examples."""
    return (name,) if re.match(r"^eth\d+$", name) else ("eth0", "eth1", "eth10")


def _read_properties(host: Host, name: str) -> Dict[str, str]:
    """Properties of the interface in the udev database."""
    output = host.run(["udevadm", "info", "-q", "property", "-p", "/sys/class/net/" + name])
    pairs = [line.partition("=") for line in output.stdout.splitlines()]
    return {key: value for key, equals, value in pairs if equals} if output.rc == 0 else {}


def _read_version(host: Host) -> int:
    output = host.run(["udevadm", "--version"])
    match = re.match(r"^(\d+)", output.stdout)
    if output.rc != 0 or match is None:
        raise Unanswered("command:udevadm --version", "udevadm does not show its version")
    return integer(match.group(1))


# -- .link files ----------------------------------------------------------------------------------


def _read_links(host: Host, device: Device) -> List[LinkFile]:
    links = []
    for path in udev.files(host, LINK_FOLDERS, ".link"):
        name = path.rpartition("/")[2]
        below = tuple(f"{folder}/{name}.d" for folder in LINK_FOLDERS)
        paths = [path] + udev.files(host, below, ".conf")
        units = []
        for place in paths:
            text = unless_absent(attempt(host.read_text, place), "")
            try:
                units.append(systemd_unit.parse(text, place))
            except ParseError:
                continue  # systemd does not load such a file
        fitting = link_file.fits(units, device)
        if fitting != link_file.NO:
            evidence = tuple("file:" + place for place in paths)
            links.append(LinkFile(path, tuple(units), fitting, evidence))
    return links


def _winner(links: List[LinkFile], last: Optional[str]) -> Optional[LinkFile]:
    """The first matching file. If a match is unknown, the file that udev used last decides."""
    for link in links:
        if link.fits == link_file.YES:
            return link
        if last is None:
            raise Unanswered(
                "file:" + link.path,
                f"whether {link.path} is for the interface is not known: it matches on what only "
                "udev knows",
            )
        if link.path == last or link.path.replace("/lib/", "/usr/lib/", 1) == last:
            return link
    return None


def _link_settings(
    links: List[LinkFile], winner: Optional[LinkFile], systemd: Answer[int]
) -> List[Setting]:
    settings = []
    for link in links:
        flow = link_file.flow_control(link.units)
        if not flow:
            continue
        ignored = ""
        if winner is None or link.path != winner.path:
            ignored = "the first matching file is {0}".format(winner.path if winner else "none")
        elif known(systemd) < FIRST_SYSTEMD:
            ignored = f"systemd {known(systemd)} does not know it (since {FIRST_SYSTEMD})"
        settings.append(
            Setting(
                LINK,
                link.path,
                flow.get(link_file.AUTONEG),
                flow.get(link_file.RX),
                flow.get(link_file.TX),
                ignored,
                link.evidence,
            )
        )
    return settings


# -- udev rules and scripts -----------------------------------------------------------------------


def _grep(host: Host, pattern: str, paths: List[str]) -> Tuple[str, Dict[str, str]]:
    """The evidence key, and matching lines by file. No other line is read from the host."""
    argv = ["grep", "-s", "-H", "-E", "-e", pattern, "--"] + paths
    key = "command:" + " ".join(argv)
    output = host.run(argv)
    # 2: a file does not exist or cannot be read. With -s grep prints no reason: stat all files.
    if output.rc == 2:
        for path in paths:
            problem = attempt(host.stat, path)
            if isinstance(problem, HostproofError) and not isinstance(problem, Absent):
                raise problem
    elif output.rc not in (0, 1):
        raise Unanswered(key, f"grep ended with {output.rc}")
    texts: Dict[str, str] = {}
    for line in output.stdout.splitlines():
        for path in sorted(paths, key=len, reverse=True):
            if line.startswith(path + ":"):
                texts[path] = texts.get(path, "") + line[len(path) + 1 :] + "\n"
                break
    return key, texts


def _rule_settings(host: Host, nic: Nic, device: Device) -> List[Setting]:
    paths = udev.files(host, udev.RULE_FOLDERS, ".rules")
    if not paths:
        return []
    _key, texts = _grep(host, "ethtool", paths)
    settings = []
    for path in paths:
        if path not in texts:
            continue
        # Read the whole file: a rule can continue in the next line.
        text = host.read_text(path, record=udev_rules.kept)
        jumps = udev_rules.jumps(text)
        for rule in udev_rules.parse(text):
            fitting = rule.fits(device, nic.name, nic.driver)
            if fitting != link_file.NO:
                setting = _setting(RULE, f"{path}:{rule.line}", rule.command, "", ("file:" + path,))
                settings.append(setting._replace(certain=fitting == link_file.YES and not jumps))
    return settings


def _script_settings(host: Host, nic: Nic) -> List[Setting]:
    paths = [
        f"{folder}/{name}"
        for folder in _SCRIPT_FOLDERS
        for name in unless_absent(attempt(host.list_dir, folder), [])
        if "." not in name or name.endswith((".sh", ".service"))
    ]
    key, texts = _grep(host, _ETHTOOL, paths + list(_SCRIPTS))
    settings = []
    for path in sorted(texts):
        code = "\n".join(_COMMENT.sub("", line) for line in texts[path].split("\n"))
        for command in commands_in(code):
            if command.device == nic.name or command.device.startswith("$"):
                ignored = _why_never_run(host, path)
                setting = _setting(SCRIPT, path, command, ignored, (key,))
                # Only a run shows whether the script reaches this line, and for which interface.
                settings.append(setting._replace(certain=False))
    return settings


_COMMENT = re.compile(r"(^|\s)#.*$")
#: Files that are read and not run.
_NO_PROGRAMS = ("/etc/network/interfaces", "/etc/systemd/system/")


def _why_never_run(host: Host, path: str) -> str:
    """The reason if a script is not executable: rc-local.service, dispatcher, run-parts skip it."""
    stat = if_known(attempt(host.stat, path), None)
    if stat is None or stat.mode & 0o111 or path.startswith(_NO_PROGRAMS):
        return ""
    return "it is not executable"


def _setting(
    kind: str, place: str, command: PauseCommand, ignored: str, evidence: Tuple[str, ...]
) -> Setting:
    return Setting(kind, place, command.autoneg, command.rx, command.tx, ignored, evidence)


# -- NetworkManager and network scripts -----------------------------------------------------------


class _Manager(NamedTuple):
    """Whether NetworkManager runs, its version, and the UUID of each device's active profile."""

    runs: bool
    version: Tuple[int, ...]
    profiles: Dict[str, str]

    @property
    def text(self) -> str:
        return "NetworkManager " + ".".join(map(str, self.version))


#: autoneg, rx and tx of a profile that sets none of them.
_NO_VALUES = (None, None, None)
_ACTIVE = ["nmcli", "-t", "-f", "UUID,DEVICE", "connection", "show", "--active"]


def _read_manager(host: Host) -> _Manager:
    output = attempt(host.run, ["nmcli", "-t", "-f", "RUNNING,VERSION", "general"])
    if isinstance(output, Absent):
        return _Manager(False, (), {})
    running, _, version = known(output).stdout.strip().partition(":")
    if running != "running":
        return _Manager(False, (), {})
    numbers = tuple(clipped(digits) for digits in re.findall(r"\d+", version)[:2])
    active = host.run(_ACTIVE)
    pairs = [line.rpartition(":") for line in active.stdout.splitlines()]
    return _Manager(True, numbers, {device: uuid for uuid, _, device in pairs if device})


def _profiles(host: Host, nic: Nic, manager: _Manager) -> List[Tuple[str, Setting]]:
    """The profiles of the interface that set PAUSE, by name."""
    paths = [
        f"{folder}/{name}"
        for folder in _PROFILES
        for name in unless_absent(attempt(host.list_dir, folder), [])
        if not name.startswith(".") and not name.endswith("~")
    ]
    if not paths:
        return []
    key, texts = _grep(host, nm_keyfile.LINES, paths)
    settings = []
    for path in sorted(texts):
        profile = nm_keyfile.parse(texts[path])
        active = manager.profiles.get(nic.name)
        values = (profile.autoneg, profile.rx, profile.tx)
        if active is not None:
            fits = profile.uuid == active
        else:
            fits = values != _NO_VALUES and _is_for(nic, profile.interface, profile.mac)
        if not fits:
            continue
        ignored = ""
        if not manager.runs:
            ignored = "NetworkManager does not run"
        elif manager.version < FIRST_NETWORKMANAGER and values != _NO_VALUES:
            ignored = f"{manager.text} does not know it (since 1.32)"
        setting = Setting(NETWORKMANAGER, path, *values, ignored, (key,))
        # Without autoconnect, a user or its controller (such as a bond) must activate the profile.
        settings.append((profile.name, setting._replace(certain=profile.autoconnect)))
    return settings


def _is_for(nic: Nic, device: Optional[str], mac: Optional[str]) -> bool:
    """Whether a configuration with this device or address is for the interface."""
    return device == nic.name or (device is None and mac == nic.permanent_mac)


def _ifcfg_settings(host: Host, nic: Nic, manager: _Manager) -> List[Setting]:
    names = unless_absent(attempt(host.list_dir, _IFCFG), [])
    paths = [
        f"{_IFCFG}/{name}"
        for name in names
        if name.startswith("ifcfg-") and not _BACKUP.search(name)
    ]
    if not paths:
        return []
    key, texts = _grep(host, ifcfg.LINES, paths)
    settings = []
    for path in sorted(texts):
        config = ifcfg.parse(texts[path])
        if not _is_for(nic, config.device, config.mac):
            continue
        ignored, certain = "", config.onboot
        if manager.runs and config.nm_controlled:
            active = manager.profiles.get(nic.name)
            if manager.version < FIRST_NETWORKMANAGER:
                ignored = f"{manager.text} takes no -A from ETHTOOL_OPTS (since 1.32)"
            # An active profile from this file proves that NetworkManager has the ifcfg plugin.
            certain = certain and active is not None and active == config.uuid
        for command in config.pause:
            setting = _setting(IFCFG, path, command, ignored, (key,))
            settings.append(setting._replace(certain=certain))
    return settings


#: Files that the network scripts and NetworkManager ignore (initscripts, network-functions).
_BACKUP = re.compile(r"(~|\.bak|\.old|\.orig|\.swp|\.rpm(new|orig|save))$")


# -- ifupdown -------------------------------------------------------------------------------------


def _ifupdown_settings(host: Host, nic: Nic) -> List[Setting]:
    """Options ethernet-pause-* in the file and in all files that it includes."""
    if "interfaces" not in unless_absent(attempt(host.list_dir, "/etc/network"), []):
        return []
    waiting: List[str] = [_INTERFACES]
    seen: Set[str] = set()
    stanzas: List[Tuple[str, str, ifupdown.Stanza]] = []
    at_boot: List[str] = []
    while waiting:
        path = waiting.pop(0)
        if path in seen:
            continue
        seen.add(path)
        key, texts = _grep(host, ifupdown.LINES, [path])
        config = ifupdown.parse(texts.get(path, ""))
        at_boot += config.at_boot
        stanzas += [
            (path, key, stanza) for stanza in config.stanzas if stanza.interface == nic.name
        ]
        for pattern in config.sources:
            waiting += _matching(host, pattern, lambda _name: True)
        for folder in config.folders:
            whole = folder.rstrip("/") + "/*"
            waiting += _matching(host, whole, lambda name: bool(re.match(r"^[\w-]+$", name)))
    ignored = ""
    if isinstance(attempt(host.stat, _IF_UP), Absent):
        ignored = f"there is no {_IF_UP}, which would apply it"
    elif not any(glob_pattern.fits(nic.name, pattern) for pattern in at_boot):
        ignored = "no auto and no allow-hotplug names the interface: it is not brought up at boot"
    return [
        Setting(IFUPDOWN, path, stanza.autoneg, stanza.rx, stanza.tx, ignored, (key,))
        for path, key, stanza in stanzas
    ]


def _matching(host: Host, pattern: str, takes: Callable[[str], bool]) -> List[str]:
    """The files that match a pattern. Only the last part of the path can be a pattern."""
    folder, _, name = pattern.rpartition("/")
    if not folder.startswith("/"):
        folder = ("/etc/network/" + folder).rstrip("/")
    if re.search(r"[*?\[$~`]", folder):
        raise Unanswered(
            "file:" + _INTERFACES, f"{pattern} names files by a pattern of directories"
        )
    names = unless_absent(attempt(host.list_dir, folder), [])
    return [
        f"{folder}/{entry}"
        for entry in sorted(names)
        if glob_pattern.fits(entry, name) and not entry.startswith(".") and takes(entry)
    ]


# -- TuneD ----------------------------------------------------------------------------------------


def _tuned_settings(host: Host, nic: Nic) -> List[Setting]:
    """The option pause in sections of type net, from all active profiles."""
    settings = []
    for unit in sorted(boot.read_tuned(host).units, key=lambda unit: unit.name):
        if unit.type != "net" or not unit.enabled or "pause" not in unit.options:
            continue
        pause, path = unit.options["pause"]
        devices = unit.about["devices"].value if "devices" in unit.about else "*"
        key = "file:" + path
        conditions = {"devices_udev_regex", "uname_regex", "cpuinfo_regex"}
        if conditions.intersection(unit.about) or "${" in pause + devices:
            raise Unanswered(
                key,
                f"for which interfaces and how [{unit.name}] of {path} sets pause is not worked "
                "out here",
            )
        if tuned.device_fits(devices, nic.name):
            words = tuned.parameters(pause)
            flags = [
                {"on": True, "off": False}.get(words.get(parameter, ""))
                for parameter in _PARAMETERS
            ]
            place = f"{path} [{unit.name}]"
            settings.append(Setting(TUNED, place, flags[0], flags[1], flags[2], "", (key,)))
    return settings


_PARAMETERS = ("autoneg", "rx", "tx")
