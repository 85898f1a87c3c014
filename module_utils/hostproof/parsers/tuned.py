# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The files of TuneD, which sets sysctls and huge page modes of its own when it starts.

Source: tuned.conf(5), tuned-main.conf(5); TuneD, tuned/profiles/loader.py and
tuned/utils/global_config.py.
"""

import configparser
import re
from fnmatch import fnmatchcase
from typing import Dict, List, NamedTuple

from ..errors import ParseError

_WHAT = "tuned configuration"
_TRUE = ("1", "y", "yes", "t", "true")
_FALSE = ("0", "n", "no", "f", "false")
#: tuned-main.conf has no section: TuneD reads it below one that it makes up, and so do we.
_SECTION = "tuned-main"


class Profile(NamedTuple):
    """A tuned.conf. ``includes`` are the profiles that it starts from, in order.

    ``sections`` hold each section's options as written, ``main`` with them; variables such as
    ``${isolated_cores}`` are not replaced.
    """

    includes: List[str]
    sections: Dict[str, Dict[str, str]]


def active_profiles(text):
    # type: (str) -> List[str]
    """The names in /etc/tuned/active_profile, in order; none if no profile is active."""
    return text.split()


def parse_profile(text, path):
    # type: (str, str) -> Profile
    """Raises ParseError if the text is not an ini file; ``path`` is named in the error."""
    config = _read(text, path)
    sections = {
        name: {option: config.get(name, option) for option in config.options(name)}
        for name in config.sections()
    }
    if not sections:
        raise ParseError(_WHAT, "{0} has no section".format(path))
    include = sections.get("main", {}).get("include", "")
    return Profile([name for name in re.split(r"\s*[,;]\s*", include) if name], sections)


def device_fits(rules, device):
    # type: (str, str) -> bool
    """Whether the option devices of a section names the device: patterns, some with ! before.

    Source: TuneD, tuned/hardware/device_matcher.py.
    """
    words = [word for word in re.split(r"\s|,\s*", rules) if word.strip()]
    wanted = [word for word in words if not word.startswith("!")]
    unwanted = [word[1:] for word in words if word.startswith("!")]
    return any(fnmatchcase(device, word) for word in wanted or ["*"]) and not any(
        fnmatchcase(device, word) for word in unwanted
    )


def parameters(text):
    # type: (str) -> Dict[str, str]
    """The words of an option such as pause=autoneg off rx on, in pairs.

    Source: TuneD, plugin_net.py, _parse_config_parameters().
    """
    words = re.sub(r"(:\s*)|(\s+)|(\s*;\s*)|(\s*,\s*)", " ", text).split()
    if len(words) % 2:
        raise ParseError(_WHAT, "no pairs of name and value: {0!r}".format(text[:80]))
    return dict(zip(words[::2], words[1::2]))


def is_enabled(text):
    # type: (str) -> bool
    """Whether the option enabled of a section is anything but a no."""
    return text.strip().lower() not in _FALSE


def reapply_sysctl(text):
    # type: (str) -> bool
    """Whether TuneD sets sysctl.d and sysctl.conf again after its own values (the default).

    ``text`` is /etc/tuned/tuned-main.conf. If not, TuneD's values win over those files.
    """
    config = _read("[{0}]\n{1}".format(_SECTION, text), "tuned-main.conf")
    value = config.get(_SECTION, "reapply_sysctl", fallback="1").lower()
    if value not in _TRUE + _FALSE:
        raise ParseError(_WHAT, "reapply_sysctl is no yes or no: {0!r}".format(value))
    return value in _TRUE


def _read(text, path):
    # type: (str, str) -> configparser.RawConfigParser
    config = configparser.RawConfigParser(
        delimiters=("=",), inline_comment_prefixes=("#",), strict=False
    )
    config.optionxform = str  # type: ignore
    try:
        config.read_string(text, path)
    except configparser.MissingSectionHeaderError as problem:
        message = "{0}: text before any section".format(path)
        raise ParseError(_WHAT, message, problem.lineno) from problem
    except configparser.ParsingError as problem:
        message = "{0}: not an option=value line".format(path)
        raise ParseError(_WHAT, message, problem.errors[0][0]) from problem
    return config
