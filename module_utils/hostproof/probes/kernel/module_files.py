# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The settings of modprobe.d and of the kernel command line that keep a module from loading.

Sources: modprobe.d(5); kernel-parameters.rst, ``module_blacklist=``.
"""

import re
from typing import List, NamedTuple, Optional, Sequence, Tuple

from ...collect.answer import attempt, unless_absent
from ...collect.host import Host
from ...errors import Unanswered
from ...parsers.kernel import modprobe_d
from ...parsers.systemd import conf_d
from ..systemd import conf_files

_LOADS_NOTHING = re.compile(r"(?:(?:/usr)?/bin/)?(?:true|false|:)(?:\s|;|$)")
_LOADS = re.compile(r"\b(?:modprobe|insmod)\s")


class Modprobe(NamedTuple):
    """What modprobe.d says, in the order of reading."""

    options: List[modprobe_d.Option]
    installs: List[modprobe_d.Install]
    blacklist: Sequence[modprobe_d.Install] = ()


def read_modprobe(host: Host) -> Modprobe:
    config = Modprobe([], [])
    blacklist: List[modprobe_d.Install] = []
    directories = modprobe_d.DIRECTORIES
    for path in conf_d.effective_files(directories, conf_files.paths(host, directories)):
        text = unless_absent(attempt(host.read_text, path), "")
        parsed = modprobe_d.parse(text, path)
        config.options.extend(parsed.options)
        config.installs.extend(parsed.installs)
        blacklist += parsed.blacklist
    return config._replace(blacklist=blacklist)


def why_not_loaded(modprobe: Modprobe, params: List[Tuple[str, Optional[str]]], module: str) -> str:
    """What keeps the module from loading; "" where nothing does. Unanswered: not known."""
    for name, value in params:
        if name == "module_blacklist" and module in (value or "").replace("-", "_").split(","):
            return f"module_blacklist={value} on the kernel command line"
    command = modprobe_d.install(modprobe.installs, module)
    if command is None:
        # The kernel loads nfs by the alias fs-nfs, which a blacklist turns off.
        for line in modprobe.blacklist if module == "nfs" else ():
            if line.module == module:
                raise Unanswered(
                    "file:" + line.path,
                    f"{line.path}:{line.line} blacklist {module}: whether a mount loads it is "
                    "unknown",
                )
    if command is None or _LOADS.search(command.command):
        return ""
    words = f"{command.path}:{command.line} install {command.module} {command.command}"
    if _LOADS_NOTHING.match(command.command):
        return words
    raise Unanswered("file:" + command.path, f"{words}: whether that loads {module} is unknown")
