"""Compares what a boot would set by the probes with what the real programs set."""

import json
import subprocess
from pathlib import Path
from typing import NamedTuple
from unittest import mock

import packs
from ansible.module_utils.hostproof.errors import HostproofError
from ansible.module_utils.hostproof.parsers.kernel import sysctl_number
from ansible.module_utils.hostproof.probes.systemd import boot as boot_probe

from boot import stories

REAL = Path(__file__).with_name("real.py")
CORRECT, UNKNOWN, WRONG = "correct", "unknown", "wrong"
DEFAULTS = {key: default for key, (default, *_range) in stories.KEYS.items()}


class Row(NamedTuple):
    """A key of a story. ``predicted`` is the value, or the text of the error."""

    seed: int
    key: str
    predicted: str
    real: str
    verdict: str


class Unavailable(Exception):
    """The real programs or the namespaces are not to be had here."""


#: How the kernel reads the keys of the stories; the probes know their own keys only.
LIMITS = {key.replace(".", "/"): sysctl_number.INT for key in stories.KEYS}


def compare(seeds: list[int]) -> list[Row]:
    by_seed = {seed: stories.story(seed) for seed in seeds}
    rows = []
    for (seed, story), real in zip(
        by_seed.items(), carried_out(list(by_seed.values())), strict=True
    ):
        boot = boot_probe.read_boot(machine(story))
        for key, value in real.items():
            try:
                with mock.patch.dict(sysctl_number.LIMITS, LIMITS):
                    predicted, verdict = predicted_value(boot, key), ""
            except HostproofError as problem:
                predicted, verdict = str(problem), UNKNOWN
            verdict = verdict or (CORRECT if predicted == value else WRONG)
            rows.append(Row(seed, key, predicted, value, verdict))
    return rows


def predicted_value(found: boot_probe.Boot, key: str) -> str:
    at_boot = boot_probe.sysctl_at_boot(found, key)
    at_boot.settled()
    return str(DEFAULTS[key]) if at_boot.winner is None else at_boot.winner.value


def machine(story: stories.Story) -> packs.Machine:
    host = packs.Machine().file("/proc/cmdline", "ro quiet\n").file("/dev/null", "")
    host.link("/lib", "/usr/lib").folder("/run/systemd/system", "/etc")
    host.modes["/etc"] = 0o755
    for service in (stories.SYSCTL, stories.TMPFILES):
        host.file(f"{packs.UNITS}/{service}", "[Unit]\nDescription=X\n")
        host.link(f"{packs.UNITS}/sysinit.target.wants/{service}", f"{packs.UNITS}/{service}")
    for path, text in story.files.items():
        host.file(path, text, 0o755 if path in story.executable else 0o644)
    for path, target in story.links.items():
        host.link(path, target)
    return host


def carried_out(told: list[stories.Story]) -> list[dict[str, str]]:
    request = {"defaults": DEFAULTS, "stories": [story._asdict() for story in told]}
    spaces = ["unshare", "--user", "--map-root-user", "--net", "--mount"]
    try:
        done = subprocess.run(
            [*spaces, "/usr/bin/python3", str(REAL)],
            input=json.dumps(request),
            capture_output=True,
            text=True,
            check=False,
        )
    except FileNotFoundError as problem:
        raise Unavailable(str(problem)) from problem
    if done.returncode:
        raise Unavailable(done.stderr.strip()[-300:])
    results: list[dict[str, str]] = json.loads(done.stdout)
    return results
