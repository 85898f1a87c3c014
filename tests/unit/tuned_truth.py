"""What the real TuneD makes of a profile: its own classes, run on files that stand in for a host.

As a program: python tests/unit/tuned_truth.py FOLDER CASES.json, where FOLDER is an unpacked
package (apt-get download tuned; dpkg -x tuned_*.deb FOLDER). It writes CASES with ``real`` filled
in. Nothing of this machine is written: the files below /proc and /sys are a dictionary.
"""

import contextlib
import fnmatch
import json
import logging
import re
import sys
import tempfile
import types
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PROC = "/proc/sys/vm/nr_hugepages"
POOL = "/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages"
THP = "/sys/kernel/mm/transparent_hugepage/enabled"


class Kernel(dict[str, str]):
    """The pool and the mode, with the numbers as a real kernel reads them (test_sysctl_number)."""

    def put(self, path: str, text: str) -> None:
        from ansible.module_utils.hostproof.parsers.kernel import sysctl_number

        name = path.replace("/proc/sys/", "")
        if name in sysctl_number.LIMITS:
            value = sysctl_number.read(text, sysctl_number.LIMITS[name]).value
            if value is None:
                raise OSError(22, "Invalid argument")
            self[PROC] = self[POOL] = str(value)
        elif path == POOL and text.isdecimal():
            self[PROC] = self[POOL] = text
        elif path == THP and text.strip("\n") in ("always", "madvise", "never"):
            self[THP] = text.strip("\n")


class ProcFile:
    """A file of /proc/sys; what is written reaches the kernel when it is closed."""

    def __init__(self, kernel: Kernel, path: str) -> None:
        self.kernel, self.path, self.text = kernel, path, ""

    def __enter__(self) -> "ProcFile":
        return self

    def __exit__(self, *_reason: object) -> None:
        if self.text:
            self.kernel.put(self.path, self.text)

    def __iter__(self) -> Any:
        return iter([self.kernel[self.path] + "\n"])

    def write(self, text: str) -> None:
        self.text += text


def measure(package: Path, cases: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The cases with what the real TuneD of the unpacked package leaves, as ``real``."""
    sys.path.insert(0, str(package / "usr/lib/python3/dist-packages"))
    # What TuneD imports for its daemon and its devices, and none of this needs.
    for name in ("pyudev", "dbus", "dbus.service", "dbus.exceptions", "dbus.mainloop"):
        sys.modules.setdefault(name, types.ModuleType(name))
    import tuned.logs

    log = logging.getLogger("tuned-truth")
    log.addHandler(logging.NullHandler())
    log.propagate = False
    log.warn = log.warning  # type: ignore[assignment]
    tuned.logs.get = lambda *_names: log
    return [{**case, "real": _run(case)} for case in cases]


def _run(case: dict[str, Any]) -> dict[str, str]:
    from tuned.profiles.factory import Factory
    from tuned.profiles.loader import Loader
    from tuned.profiles.locator import Locator
    from tuned.profiles.merger import Merger
    from tuned.profiles.variables import Variables

    kernel = Kernel({PROC: "0", POOL: "0", THP: "always", **case.get("state", {})})
    with tempfile.TemporaryDirectory() as folder:
        for path, text in case["files"].items():
            target = Path(folder + path)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text)
        variables = Variables()
        folders = [folder + "/usr/lib/tuned", folder + "/etc/tuned"]
        loader = Loader(Locator(folders), Factory(), Merger(), None, variables)
        for unit in _in_order(loader.load(case["active"]).units.values(), case["machine"]):
            with contextlib.suppress(KeyError):
                _PLUGINS[unit.type](unit, variables, kernel, case, folder)
    return {"pool": kernel[PROC], "thp": kernel[THP]}


def _in_order(units: Any, machine: str) -> list[Any]:
    """As Manager.create() of tuned/units/manager.py chooses and sorts them."""
    chosen = [unit for unit in units if unit.enabled]
    chosen = [
        profile
        for profile in chosen
        if not profile.uname_regex or re.search(profile.uname_regex, machine)
    ]
    return sorted(chosen, key=lambda unit: int(unit.options.pop("priority", 0)))


def _sysctl(unit: Any, variables: Any, kernel: Kernel, case: dict[str, Any], root: str) -> None:
    import tuned.plugins.plugin_sysctl as module

    def open_of_host(path: str, mode: str = "r") -> Any:
        if not path.startswith("/proc/sys/"):
            return open(path if path.startswith(root) else root + path, mode)
        if path not in kernel:
            raise OSError(2, "No such file or directory")
        return ProcFile(kernel, path)

    module.open = open_of_host
    module.SYSCTL_CONFIG_DIRS = [root + "/run/sysctl.d", root + "/etc/sysctl.d"]
    plugin = object.__new__(module.SysctlPlugin)
    plugin._cmd, plugin._variables = module.commands(), variables
    plugin._storage = types.SimpleNamespace(get=lambda *_: {}, set=lambda *_: None)
    plugin._storage_key = lambda *_: "key"
    plugin._global_cfg = types.SimpleNamespace(get_bool=lambda *_: case.get("reapply", True))
    _apply(plugin, unit)


def _sysfs(unit: Any, variables: Any, kernel: Kernel, case: dict[str, Any], root: str) -> None:
    import tuned.plugins.plugin_sysfs as module

    module.glob = types.SimpleNamespace(iglob=lambda name: fnmatch.filter(list(kernel), name))
    plugin = object.__new__(module.SysfsPlugin)
    plugin._variables = variables
    plugin._read_sysfs = lambda _path: None
    plugin._write_sysfs = kernel.put
    _apply(plugin, unit)


def _vm(unit: Any, variables: Any, kernel: Kernel, case: dict[str, Any], root: str) -> None:
    import tuned.plugins.plugin_vm as module

    module.os = types.SimpleNamespace(
        path=types.SimpleNamespace(exists=lambda _path: True, join=lambda *parts: "/".join(parts))
    )
    module.cmd = types.SimpleNamespace(
        read_file=lambda *_given, **_more: case.get("cmdline", "ro"), write_to_file=kernel.put
    )
    plugin = object.__new__(module.VMPlugin)
    for name in ("transparent_hugepages", "transparent_hugepage"):
        if name in unit.options:
            plugin._set_transparent_hugepages(variables.expand(unit.options[name]), False)


def _apply(plugin: Any, unit: Any) -> None:
    instance = types.SimpleNamespace(name=unit.name, options=unit.options)
    plugin._instance_init(instance)
    plugin._instance_apply_static(instance)


_PLUGINS = {"sysctl": _sysctl, "sysfs": _sysfs, "vm": _vm}


if __name__ == "__main__":
    import ansible.module_utils

    ansible.module_utils.__path__.append(str(ROOT / "module_utils"))
    CASES = Path(sys.argv[2])
    CASES.write_text(
        json.dumps(measure(Path(sys.argv[1]), json.loads(CASES.read_text())), indent=1) + "\n"
    )
