# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether the next reboot starts a unit of systemd that applies settings.

A file of sysctl.d sets nothing while systemd-sysctl.service is masked. Sources: systemd.unit(5);
kernel-command-line(7) and systemd-debug-generator(8), ``systemd.mask=``.
"""

from typing import Dict, List, Optional, Tuple

from ...collect.answer import attempt, known, unless_absent
from ...collect.command import Output
from ...collect.host import Host
from ...errors import Absent, NotRecorded, Unanswered
from ...parsers.systemd import conditions, systemd_unit
from . import unit_files

Params = List[Tuple[str, Optional[str]]]

_VENDOR = ("/usr/lib/systemd/", "/lib/systemd/")
#: Their content differs between now and the moment of the test at the next reboot.
_VOLATILE = ("/run/", "/var/run/", "/proc/", "/sys/", "/dev/", "/tmp/")


class Units:
    """The units of a host at the next reboot. Every method raises what is unknown."""

    def __init__(self, host: Host, params: Params) -> None:
        self._host = host
        self._params = params
        self.names: Dict[str, List[str]] = unit_files.names_by_folder(host)

    def why_not_started(self, name: str, target: str) -> str:
        """Why ``target`` does not start the unit at boot; "" where it does, or without systemd.

        Unanswered where a drop-in or a local unit file makes that depend on something unknown.
        """
        if not any(unit_files.place_of(self.names, unit) for unit in (name, target)):
            return ""  # packages install unit files even where systemd itself is missing
        return (
            self.why_masked(name)
            or self._why_not_wanted(name, target)
            or self.why_settings_keep(name)
        )

    def why_idle(self, name: str) -> str:
        """Why a unit that a target starts does nothing; "" where it does, or has no file."""
        if self.is_masked_by_kernel(name) or unit_files.place_of(self.names, name):
            return self.why_masked(name) or self.why_settings_keep(name)
        return ""

    def why_masked(self, name: str) -> str:
        """Why systemd loads no such unit; "" where it does."""
        if self.is_masked_by_kernel(name):
            return f"{name} is masked by the kernel command line"
        place = unit_files.place_of(self.names, name)
        if not place:
            return f"no directory of systemd holds {name}"
        if self._host.real_path(place) == "/dev/null":
            return f"{name} is masked by {place}"
        text = unless_absent(
            attempt(self._host.read_text, place, record=systemd_unit.kept_service), ""
        )
        return "" if text.strip() else f"{name} is masked by {place}, which is empty"

    def is_masked_by_kernel(self, name: str) -> bool:
        return name in masked_by_kernel(self._params)

    def _why_not_wanted(self, name: str, target: str) -> str:
        for folder, listed in self.names.items():
            for kind in (".wants", ".requires"):
                if target + kind in listed and name in self._host.list_dir(
                    f"{folder}/{target}{kind}"
                ):
                    return ""
        return f"{target} does not start {name}: no {target}.wants holds it"

    def why_settings_keep(self, name: str) -> str:
        """Why the settings of the unit keep it from its work."""
        place = unit_files.place_of(self.names, name)
        drop_ins = unit_files.drop_ins(self._host, self.names, name)
        own = [] if not place or place.startswith(_VENDOR) else [place]
        units = []
        for path in own + drop_ins:
            text = attempt(self._host.read_text, path, record=systemd_unit.kept_service)
            if not isinstance(text, Absent):
                units.append(systemd_unit.parse(known(text), path))
        found = [systemd_unit.last(units, "Service", key) for key in systemd_unit.OF_COMMAND]
        for command in [setting for setting in found if setting is not None]:
            raise Unanswered(
                "file:" + command.path,
                f"{command.path}:{command.line} changes what {name} runs: "
                "what it applies at boot is unknown",
            )
        return why_conditions_fail(self._host, self._params, name, units)


def why_idle(host: Host, name: str, params: Params) -> str:
    """Why a unit that a target starts does nothing at the next reboot; "" where it does."""
    # Recordings of 0.1.0 do not have the directories of units.
    if isinstance(attempt(host.list_dir, unit_files.FOLDERS[0]), NotRecorded):
        return ""
    return Units(host, params).why_idle(name)


def masked_by_kernel(params: Params) -> List[str]:
    """The units that systemd.mask= names; a name without a suffix is a service."""
    values = [value for name, value in params if name == "systemd.mask" and value]
    return [value if "." in value else value + ".service" for value in values]


def why_conditions_fail(
    host: Host, params: Params, name: str, units: List[systemd_unit.Unit]
) -> str:
    """The setting that keeps a unit from its start; "" where none does. Unanswered: not known."""

    def evaluate(kind: str, value: str) -> Optional[bool]:
        if kind == "KernelCommandLine":
            return any(value in (key, f"{key}={text}") for key, text in params)
        if kind in ("PathExists", "PathIsDirectory") and not value.startswith(_VOLATILE):
            return None if "%" in value else _exists(host, value, kind == "PathIsDirectory")
        return None

    outcome = conditions.test(units, evaluate)
    if outcome.holds or outcome.by is None:
        return ""
    by = outcome.by
    words = f"{by.path}:{by.line} {by.key}={by.value}"
    if outcome.holds is None:
        raise Unanswered(
            "file:" + by.path,
            f"{words} decides whether systemd starts {name}: the result is unknown",
        )
    return f"{name} does not start: {words} does not hold"


def _exists(host: Host, path: str, is_folder: bool) -> bool:
    answer = attempt(host.list_dir, path) if is_folder else attempt(host.stat, path)
    return unless_absent(answer, None) is not None


def is_enabled(unit: str, output: Output) -> bool:
    """Whether the next reboot starts the unit, by the output of systemctl(1), is-enabled."""
    state = output.stdout.strip()
    if output.rc == 0 and state != "enabled-runtime":
        return True
    # A unit that is enabled at run time has its link in /run, which a reboot removes.
    if state in ("disabled", "masked", "masked-runtime", "not-found", "enabled-runtime") or (
        not state and "No such file" in output.stderr
    ):
        return False
    raise Unanswered(
        f"command:systemctl is-enabled {unit}",
        f"systemctl answered {state or output.stderr.strip()!r} about {unit}",
    )
