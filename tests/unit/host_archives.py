"""Archives of real hosts as evidence packs, and how much of them the controls can judge.

An archive lacks most of what an audit reads. What stands in it must be judged all the same. The
archives lie beside the checkout; tests skip where they are not there.
"""

import fnmatch
import functools
import re
from pathlib import Path
from typing import Any, NamedTuple

import packs
from ansible.module_utils.hostproof.collect import evidence
from ansible.module_utils.hostproof.collect.host import RecordedHost
from ansible.module_utils.hostproof.controls.registry import NAMES
from ansible.module_utils.hostproof.evaluate import audit
from ansible.module_utils.hostproof.evaluate.finding import ERROR, SKIP, Finding
from default_policies import default_policy
from hostproof_controller.archives import packs as archive_packs

FOLDER = packs.ROOT / "../shared/data/preinstall/01-package-lists/hosts"
EXAMPLES = packs.ROOT / "docs/examples/evidence"
PROFILE = "rac_asm"

Readings = dict[str, dict[str, Any]]


def names() -> list[str]:
    """The archives that are on this machine."""
    return sorted(path.name for path in FOLDER.iterdir()) if FOLDER.is_dir() else []


def readings_of(path: Path) -> Readings:
    """What the archive says, as a record of the host would have it."""
    readings: Readings = archive_packs.pack_of(path)["readings"]
    return readings


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
    """Check to the readings that each of its verdicts on the example hosts cites, as patterns.

    They include the reading of each layer that the check judges: a verdict needs all of them.
    """
    sources: dict[str, set[str]] = {}
    for path in sorted(EXAMPLES.glob("*.json")):
        for finding in judge(evidence.open_pack(str(path))[0]):
            if finding.status not in (ERROR, SKIP) and finding.evidence:
                cited = {_pattern(key) for key in finding.evidence}
                sources[finding.check] = sources.get(finding.check, cited) & cited
    return {check: tuple(sorted(keys)) for check, keys in sources.items()}


def _pattern(key: str) -> str:
    """The key for any device, process and interface."""
    key = re.sub(r"(/sys/(?:class/)?(?:block|net|class/net))/[^/]+", r"\1/*", key)
    return re.sub(r"/proc/\d+/", "/proc/*/", re.sub(r"(ethtool(?: -\w)?) \S+", r"\1 *", key))


class Row(NamedTuple):
    """A control on all archives. ``judged`` of ``present`` have a verdict other than error:
    checks whose main sources are in the archive; ``errors`` of ``checks`` are those of all."""

    control: str
    present: int
    judged: int
    errors: int
    checks: int


def statuses(findings: list[Finding]) -> dict[str, list[str]]:
    by_check: dict[str, list[str]] = {}
    for finding in findings:
        by_check.setdefault(finding.check, []).append(finding.status)
    return by_check


def is_error(several: list[str]) -> bool:
    """Whether a check says nothing but that it does not know."""
    return set(several) <= {ERROR}


def table(packs_of_hosts: dict[str, Readings]) -> list[Row]:
    sums = {name: [0, 0, 0, 0] for name in NAMES}
    for readings in packs_of_hosts.values():
        held = [key for key, reading in readings.items() if "error" not in reading]
        for check, several in statuses(judge(readings)).items():
            numbers = sums[check.partition(".")[0]]
            sources = main_sources().get(check, ())
            error = is_error(several)
            has = bool(sources) and all(fnmatch.filter(held, pattern) for pattern in sources)
            numbers[0] += has
            numbers[1] += has and not error
            numbers[2] += error
            numbers[3] += 1
    return [Row(name, *numbers) for name, numbers in sums.items()]
