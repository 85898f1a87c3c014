"""No check improves by knowing less, and no unknown layer hides a wrong one, on every example pack.

Readings are drawn by a seed, because all of them times all faults take longer than a test may.
"""

import copy
import random
from typing import Any

import pytest
import spoilers
from ansible.module_utils.hostproof.collect import evidence
from ansible.module_utils.hostproof.collect.host import RecordedHost
from ansible.module_utils.hostproof.controls.registry import NAMES
from ansible.module_utils.hostproof.evaluate import audit
from ansible.module_utils.hostproof.evaluate.finding import ERROR, FAIL, PASS, WARN, worst
from default_policies import default_policy
from host_archives import EXAMPLES

SEED = 40
#: Readings of each pack that are spoilt, each by one fault.
DRAWN = 100


class Noted(RecordedHost):
    """Knows which readings were asked for."""

    def __init__(self, readings: dict[str, Any]) -> None:
        super().__init__(readings)
        self.asked: set[str] = set()

    def _answer(self, key, kind, ask, record=None):
        self.asked.add(key)
        return super()._answer(key, kind, ask, record)


def is_of_another_layer(key: str, layer: str | None) -> bool:
    """Whether a reading shows another layer than the one that fails: what a reboot sets, or what
    the kernel has now. Readings that requirements come from are of no layer."""
    path = key.partition(":")[2]
    if layer == "persisted":
        return path.startswith(("/proc/sys/", "/sys/"))
    return layer is not None and (
        path.startswith(("/etc/sysctl", "/etc/fstab", "/etc/tmpfiles", "/run/systemd", "/boot"))
        or key == "lines:boot"
        or path == "/proc/cmdline"
    )


def failed(reading: dict[str, Any]) -> dict[str, Any]:
    """A command that ends with an error and prints nothing."""
    return reading | {"rc": 1, "stdout": "", "stderr": "failed"}


def faults(reading: dict[str, Any]) -> list[Any]:
    functions = [spoilers.removed, spoilers.denied, spoilers.timed_out]
    if reading.get("kind") == "command" and "rc" in reading:
        functions.append(failed)
    return functions


def judged(
    control: str, readings: dict[str, Any]
) -> tuple[dict[str, str], set[str], dict[str, str | None]]:
    """(status, readings that were asked for, layer that fails), by check."""
    host = Noted(copy.deepcopy(readings))
    statuses: dict[str, list[str]] = {}
    layers: dict[str, str | None] = {}
    for finding in audit.judge_host(host, {control: default_policy(control, secrets=True)}):
        statuses.setdefault(finding.check, []).append(finding.status)
        if finding.status == FAIL:
            layers[finding.check] = finding.failing_layer
    assert control + ".audited" not in statuses, control
    return {check: worst(several) for check, several in statuses.items()}, host.asked, layers


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.json")), ids=lambda path: path.stem)
def test_no_check_improves_by_knowing_less(path):
    readings = evidence.open_pack(str(path))[0]
    before = {name: judged(name, readings) for name in NAMES}
    draw = random.Random(f"{SEED} {path.stem}")
    keys = sorted(key for key in readings if "error" not in readings[key])
    better, hidden, lost = [], [], 0
    for key in draw.sample(keys, min(DRAWN, len(keys))):
        fault = draw.choice(faults(readings[key]))
        spoilt = {name: value for name, value in readings.items() if name != key}
        instead = fault(readings[key])
        if instead is not None:
            spoilt[key] = instead
        for name, (old, queried, layers) in before.items():
            if key not in queried:
                continue
            for check, status in judged(name, spoilt)[0].items():
                lost += status == ERROR != old.get(check)
                if status == PASS and old.get(check) in (FAIL, WARN, ERROR):
                    better.append((key, fault.__name__, check, old[check]))
                elif status == ERROR and is_of_another_layer(key, layers.get(check)):
                    hidden.append((key, fault.__name__, check))
    assert better == []
    assert hidden == []
    assert lost > 5, "no fault reached a check"
