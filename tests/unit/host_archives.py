"""Archives of real hosts as evidence packs, and how much of them the controls can judge.

An archive (of Red Hat Insights) has files below their own paths and the output of commands below
insights_commands/. It lacks most of what an audit reads. What stands in it must be judged all the
same. The archives lie beside the checkout; tests skip where they are not there.
"""

import fnmatch
import functools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import packs
from ansible.module_utils.hostproof.collect import evidence
from ansible.module_utils.hostproof.collect.host import RecordedHost
from ansible.module_utils.hostproof.controls.registry import NAMES
from ansible.module_utils.hostproof.evaluate import audit
from ansible.module_utils.hostproof.evaluate.finding import ERROR, SKIP, Finding
from default_policies import default_policy

FOLDER = packs.ROOT / "../shared/data/preinstall/01-package-lists/hosts"
EXAMPLES = packs.ROOT / "docs/examples/evidence"
PROFILE = "rac_asm"

Readings = dict[str, dict[str, Any]]

_COMMANDS = "insights_commands"
#: Folders of which such an archive holds every file.
_WHOLE = (
    *("/etc/sysctl.d", "/usr/lib/sysctl.d", "/run/sysctl.d", "/usr/local/lib/sysctl.d"),
    "/lib/sysctl.d",
    *("/etc/security/limits.d", "/etc/modprobe.d"),
)
#: Commands whose output stands in the archive, by the name of their file.
_SAID = {"ps_auxww": "ps auxww", "mount": "mount", "ip_addr": "ip addr", "uname_-a": "uname -a"} | {
    "getconf_PAGE_SIZE": "getconf PAGESIZE",
    "systemctl_get-default": "systemctl get-default",
    "grubby_--default-kernel": "grubby --default-kernel",
}
_LISTED = re.compile(r"^[-dlcbps][-rwxsStT]{9}[.+@]?\s")


def names() -> list[str]:
    """The archives that are on this machine."""
    return sorted(path.name for path in FOLDER.iterdir()) if FOLDER.is_dir() else []


def readings_of(folder: Path) -> Readings:
    """What the archive says, as a record of the host would have it."""
    found: Readings = {}
    for path in sorted(one for one in folder.rglob("*") if one.is_file()):
        inside = path.relative_to(folder)
        if inside.parts[0] != _COMMANDS and len(inside.parts) > 1:
            found[f"file:/{inside}"] = _file(_text(path))
    commands = folder / _COMMANDS
    for key, text in _parameters(_text(commands / "sysctl_-a")):
        found.setdefault(f"file:/proc/sys/{key}", _file(text + "\n"))
    for name, argv in _SAID.items():
        if (commands / name).is_file():
            found["command:" + argv] = _output(_text(commands / name))
    for path in sorted(commands.glob("ethtool_*")):
        found["command:" + path.name.replace("_", " ")] = _output(_text(path))
    for path in sorted(commands.glob("ls_-lan*")):
        found.update(_folders(_text(path)))
    for whole in _WHOLE:
        inside = sorted(key[5:] for key in found if key.startswith(f"file:{whole}/"))
        names = [one[len(whole) + 1 :] for one in inside]
        found.setdefault("dir:" + whole, {"kind": "dir", "names": names})
    return found


def _text(path: Path) -> str:
    return path.read_text(errors="surrogateescape") if path.is_file() else ""


def _file(text: str) -> dict[str, Any]:
    return {"kind": "file", "text": text}


def _output(text: str) -> dict[str, Any]:
    return {"kind": "command", "rc": 0, "stdout": text, "stderr": ""}


def _parameters(text: str) -> Iterator[tuple[str, str]]:
    for line in text.splitlines():
        name, separator, value = line.partition(" = ")
        if separator and re.fullmatch(r"[\w.*/-]+", name):
            yield name.replace(".", "\0").replace("/", ".").replace("\0", "/"), value


def _folders(text: str) -> Readings:
    """The folders of ``ls -lan`` with many paths, or -R: a line "/PATH:" before each."""
    found: Readings = {}
    folder = None
    for line in text.splitlines():
        if line.startswith("/") and line.endswith(":"):
            folder = line[:-1]
            found["dir:" + folder] = {"kind": "dir", "names": []}
        elif folder is not None and _LISTED.match(line):
            name = line.partition(" -> ")[0].split(" ")[-1]
            if name not in (".", ".."):
                found["dir:" + folder]["names"] = sorted([*found["dir:" + folder]["names"], name])
    return found


def rac_asm() -> dict[str, dict[str, Any]]:
    """The policies of a host with ``hostproof_profile: rac_asm``."""
    policies = {name: default_policy(name, secrets=True) for name in NAMES}
    for values in policies.values():
        if values.get("profile") == "none":
            values["profile"] = PROFILE
    return policies


def judge(readings: Readings) -> list[Finding]:
    return audit.judge_host(RecordedHost(dict(readings)), rac_asm())


@functools.cache
def main_sources() -> dict[str, tuple[str, ...]]:
    """Check to the first readings that its findings cite on the example hosts, as patterns."""
    found: dict[str, set[str]] = {}
    for path in sorted(EXAMPLES.glob("*.json")):
        for one in judge(evidence.load_pack(str(path))):
            if one.status not in (ERROR, SKIP) and one.evidence:
                found.setdefault(one.check, set()).add(_pattern(one.evidence[0]))
    return {check: tuple(sorted(keys)) for check, keys in found.items()}


def _pattern(key: str) -> str:
    """The key for any device, process and interface."""
    key = re.sub(r"(/sys/(?:class/)?(?:block|net|class/net))/[^/]+", r"\1/*", key)
    return re.sub(r"/proc/\d+/", "/proc/*/", re.sub(r"(ethtool(?: -\w)?) \S+", r"\1 *", key))


class Row(NamedTuple):
    """A control on all archives. ``judged`` of ``present`` have a verdict other than error:
    checks whose main source is in the archive; ``errors`` of ``checks`` are those of all."""

    control: str
    present: int
    judged: int
    errors: int
    checks: int


def statuses(findings: list[Finding]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for one in findings:
        found.setdefault(one.check, []).append(one.status)
    return found


def is_error(several: list[str]) -> bool:
    """Whether a check says nothing but that it does not know."""
    return set(several) <= {ERROR}


def table(packs_of_hosts: dict[str, Readings]) -> list[Row]:
    sums = {name: [0, 0, 0, 0] for name in NAMES}
    for readings in packs_of_hosts.values():
        for check, several in statuses(judge(readings)).items():
            numbers = sums[check.partition(".")[0]]
            sources = main_sources().get(check, ())
            error = is_error(several)
            has = any(fnmatch.filter(readings, pattern) for pattern in sources)
            numbers[0] += has
            numbers[1] += has and not error
            numbers[2] += error
            numbers[3] += 1
    return [Row(name, *numbers) for name, numbers in sums.items()]
