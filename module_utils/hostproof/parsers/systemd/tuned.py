# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The files of TuneD, which sets additional sysctls and huge page modes when it starts.

Source: tuned.conf(5), tuned-main.conf(5); TuneD, tuned/profiles/ (loader, merger, unit and
variables), tuned/units/manager.py, tuned/plugins/base.py and tuned/utils/global_config.py.
"""

import configparser
import re
from collections import OrderedDict
from typing import Callable, Dict, List, Match, NamedTuple, Optional, Sequence, Tuple

from ...errors import ParseError, kind_of
from .. import glob_pattern

_WHAT = "tuned configuration"
_TRUE = ("1", "y", "yes", "t", "true")
_FALSE = ("0", "n", "no", "f", "false")
#: tuned-main.conf has no section: TuneD reads it below one that it makes up, and so do we.
_SECTION = "tuned-main"


#: What TuneD takes for a yes in a section (profiles/unit.py); "yes" is none.
_UNIT_TRUE = ("True", "true", "1")
#: The options of a section that describe it; all others are for its plugin.
_OF_UNIT = (
    "type",
    "enabled",
    "replace",
    "drop",
    "devices",
    "devices_udev_regex",
    "cpuinfo_regex",
    "uname_regex",
    "script_pre",
    "script_post",
)
#: Options that a later section of the same name changes only if it contains them.
_KEPT = ("devices_udev_regex", "cpuinfo_regex", "uname_regex", "script_pre", "script_post")

_OPTION = r"(?P<option>(?:[^\s=]|[^\S\n]+(?=[^\s=]))*)\s*"
_VALUE = r"(?:(?P<vi>=)\s*(?P<value>.*))"

_VARIABLE = re.compile(r"(?<!\\)\$\{(\w+)\}")
_FUNCTION = re.compile(r"(?<!\\)\$\{[a-z]:")


class Profile(NamedTuple):
    """A tuned.conf. ``includes`` are the profiles that it starts from, in order.

    ``sections`` hold each section's options as written, ``main`` with them; variables such as
    ``${isolated_cores}`` are not replaced.
    """

    includes: List[str]
    sections: Dict[str, Dict[str, str]]


class Option(NamedTuple):
    """An option of a section, and the profile's file that gives it."""

    value: str
    path: str


class Unit(NamedTuple):
    """A section of the profile that all loaded ones make together: ``type`` names its plugin.

    ``about`` are the options that describe the section, ``options`` those of the plugin.
    """

    name: str
    type: str
    enabled: bool
    about: Dict[str, Option]
    options: Dict[str, Option]


def active_profiles(text: str) -> List[str]:
    """The names in /etc/tuned/active_profile, in order; none if no profile is active."""
    return text.split()


def parse_profile(text: str, path: str) -> Profile:
    """Raises ParseError if the text is not an ini file; ``path`` is named in the error."""
    config = _read(text, path)
    sections: Dict[str, Dict[str, str]] = OrderedDict(
        (
            name,
            OrderedDict((option, config.get(name, option)) for option in config.options(name)),
        )
        for name in config.sections()
    )
    if not sections:
        raise ParseError(_WHAT, f"{path} has no section")
    include = sections.get("main", {}).get("include", "")
    return Profile([name.strip() for name in re.split("[,;]", include) if name.strip()], sections)


def device_fits(rules: str, device: str) -> bool:
    """Whether the option devices of a section names the device: patterns, some with ! before.

    Source: TuneD, tuned/hardware/device_matcher.py.
    """
    words = [word for word in re.split(r"\s|,\s*", rules) if word.strip()]
    included = [word for word in words if not word.startswith("!")]
    unwanted = [word[1:] for word in words if word.startswith("!")]
    return any(glob_pattern.fits(device, word) for word in included or ["*"]) and not any(
        glob_pattern.fits(device, word) for word in unwanted
    )


def parameters(text: str) -> Dict[str, str]:
    """The words of an option such as pause=autoneg off rx on, in pairs.

    Source: TuneD, plugin_net.py, _parse_config_parameters().
    """
    words = re.sub(r"(:\s*)|(\s+)|(\s*;\s*)|(\s*,\s*)", " ", text).split()
    if len(words) % 2:
        raise ParseError(_WHAT, f"no pairs of name and value: {kind_of(text)}")
    return dict(zip(words[::2], words[1::2]))


def merge(profiles: Sequence[Tuple[str, Profile]]) -> List[Unit]:
    """The sections of (path, profile) pairs, in the order of loading, as TuneD merges them.

    A section of the same name is merged into the earlier one. If it has no type, its type is its
    name. The result is in the order in which TuneD applies it, including [variables].
    """
    merged: OrderedDict[str, Unit] = OrderedDict()
    for path, profile in profiles:
        for name, written in profile.sections.items():
            if name != "main":
                folder = path.rpartition("/")[0]
                texts = [(key, _with_folder(written[key], folder)) for key in written]
                options = OrderedDict((key, Option(text, path)) for key, text in texts)
                _merge_unit(merged, name, options)
    units = list(merged.values())
    return sorted(units, key=lambda unit: _priority(unit.options.get("priority")))


def _merge_unit(merged: Dict[str, Unit], name: str, options: Dict[str, Option]) -> None:
    about = {key: options.pop(key) for key in _OF_UNIT if key in options}
    kind = about["type"].value if "type" in about else name
    enabled = "enabled" not in about or about["enabled"].value in _UNIT_TRUE
    before = merged.get(name)
    if before is None or ("replace" in about and about["replace"].value in _UNIT_TRUE):
        merged[name] = Unit(name, kind, enabled, about, options)
        return
    kept = {key: before.about[key] for key in _KEPT if key in before.about}
    for key in re.split(r"\b\s*[,;]\s*", about["drop"].value) if "drop" in about else ():
        before.options.pop(key, None)
    before.options.update(options)
    merged[name] = Unit(name, kind, enabled, dict(kept, **about), before.options)


def _with_folder(text: str, folder: str) -> str:
    return re.sub(r"(?<!\\)\$\{i:PROFILE_DIR\}", lambda _match: folder, text)


def _priority(option: Optional[Option]) -> int:
    """The lower acts first; without it a section has 0 (default_instance_priority)."""
    if option is None:
        return 0
    try:
        return int(option.value)
    except ValueError as problem:
        raise ParseError(
            _WHAT, f"{option.path}: priority is not a number: {kind_of(option.value)}"
        ) from problem


def variables(units: Sequence[Unit], read: Callable[[str], Optional[str]]) -> Dict[str, str]:
    """The variables of the merged profile. ``read`` gives the text of a file of variables.

    One that needs a function (``${f:...}``) keeps it unreplaced: uses_function() finds it.
    """
    values: Dict[str, str] = {}
    for unit in units:
        if unit.name != "variables":
            continue
        for name, option in unit.options.items():
            if name != "include":
                values[name] = expand(option.value, values)
                continue
            text = read(option.value)
            config = _read("[{0}]\n{1}".format(_SECTION, text or ""), option.value, True)
            for section in config.sections():
                for key in config.options(section):
                    value = config.get(section, key)
                    if value is not None:
                        values[key] = expand(value, values)
    return values


def expand(text: str, known: Dict[str, str]) -> str:
    """The text with its variables replaced; an unknown one stays, as TuneD leaves it."""

    def value_of(match: Match[str]) -> str:
        return known.get(match.group(1), match.group(0))

    return re.sub(r"\\(\$\{\w+\})", r"\1", _VARIABLE.sub(value_of, text))


def uses_function(text: str) -> bool:
    """Whether the text holds a function, whose answer only TuneD itself knows."""
    return _FUNCTION.search(text) is not None


def assigned(text: str, current: Optional[int]) -> Optional[str]:
    """What an option such as ``>4096`` (raise to) or ``<10`` writes; None for nothing.

    ``current`` is the value at that moment, None if it is not a number. Source: TuneD,
    plugins/base.py, _process_assignment_modifiers().
    """
    if len(text) < 2 or text[0] not in "<>" or current is None:
        return text
    try:
        value = int(text[1:])
    except ValueError:
        return text
    grows = text[0] == ">"
    return text[1:] if (value > current if grows else value < current) else None


def unquoted(text: str) -> str:
    """A value of the plugin sysctl without the quotes around it."""
    return re.sub('^"(.*)"$', r"\1", text)


def folders(text: str, usual: Sequence[str]) -> List[str]:
    """Where profiles are searched for, first the directory that counts most.

    ``text`` is /etc/tuned/tuned-main.conf; ``usual`` are the directories where it does not say."""
    config = _read(f"[{_SECTION}]\n{text}", "tuned-main.conf")
    setting = config.get(_SECTION, "profile_dirs", fallback="")
    return list(reversed([folder for folder in re.split(r"[\s,;]+", setting) if folder])) or list(
        usual
    )


def reapply_sysctl(text: str) -> bool:
    """Whether TuneD sets sysctl.d and sysctl.conf again after its own values (the default).

    ``text`` is /etc/tuned/tuned-main.conf. If not, TuneD's values win over those files.
    """
    config = _read(f"[{_SECTION}]\n{text}", "tuned-main.conf")
    value = config.get(_SECTION, "reapply_sysctl", fallback="1").lower()
    if value not in _TRUE + _FALSE:
        raise ParseError(_WHAT, f"reapply_sysctl is neither yes nor no: {kind_of(value)}")
    return value in _TRUE


class _Parser(configparser.RawConfigParser):
    """Ends at the first line that is none: to collect them all takes the square of their number."""

    def _handle_error(self, _found: object, source: str, number: int, line: str) -> object:
        problem = configparser.ParsingError(source)
        problem.append(number, repr(line))
        raise problem


def _read(text: str, path: str, names_alone: bool = False) -> configparser.RawConfigParser:
    config = _Parser(
        delimiters=("=",),
        inline_comment_prefixes=("#",),
        strict=False,
        allow_no_value=names_alone,
    )
    config.optionxform = str  # type: ignore
    # Its own pattern takes the square of a run of blanks in time; what this one takes is the same.
    config._optcre = re.compile(_OPTION + ("(?:{0})?$" if names_alone else "{0}$").format(_VALUE))  # type: ignore
    try:
        config.read_string(text, path)
    except configparser.MissingSectionHeaderError as problem:
        message = f"{path}: text before any section"
        raise ParseError(_WHAT, message, problem.lineno) from problem
    except configparser.ParsingError as problem:
        message = f"{path}: not an option=value line"
        line = problem.errors[0][0] - text.startswith(f"[{_SECTION}]\n")
        raise ParseError(_WHAT, message, line) from problem
    return config
