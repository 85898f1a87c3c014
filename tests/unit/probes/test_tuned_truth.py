"""What TuneD leaves at boot: our reading of its profiles beside what the real TuneD did."""

import json
import os
from pathlib import Path
from typing import Any

import packs
import pytest
import tuned_truth
from ansible.module_utils.hostproof.controls.hugepages.probes import huge_page_pool
from ansible.module_utils.hostproof.controls.hugepages.probes import transparent_hugepages as thp
from ansible.module_utils.hostproof.probes.systemd import boot
from packs import Machine

CASES = json.loads((packs.FIXTURES / "tuned/real-tuned.json").read_text())


def machine_of(case: dict[str, Any]) -> Machine:
    """The host of a case. What its state says that no file does came from the command line."""
    machine = packs.linux().remove("/etc/sysctl.d/99-sysctl.conf", "/etc/tmpfiles.d/thp.conf")
    pool = case.get("state", {}).get(tuned_truth.PROC)
    words = [case.get("cmdline", "ro")] + ([f"sysctl.vm.nr_hugepages={pool}"] if pool else [])
    machine.file("/proc/cmdline", " ".join(words) + "\n")
    machine.file("/etc/tuned/active_profile", case["active"] + "\n")
    machine.file("/etc/tuned/tuned-main.conf", f"reapply_sysctl = {int(case.get('reapply', 1))}\n")
    machine.command("uname -snrvm", case["machine"] + "\n")
    for path, text in case["files"].items():
        machine.file(path, text)
    return machine


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_as_the_real_tuned_leaves_it(case):
    state = boot.read_boot(machine_of(case))
    pool = huge_page_pool.pool_at_boot(state, 2 << 20)
    mode = thp.at_boot(state, boot.Setting("always", "kernel default"))
    assert mode.winner is not None
    assert {"pool": str(pool.pages), "thp": mode.winner.value} == case["real"]
    assert pool.unknown is None


def test_the_table_is_what_the_real_tuned_says_today():
    """HOSTPROOF_TUNED=FOLDER of an unpacked package: apt-get download tuned; dpkg -x ... FOLDER"""
    package = os.environ.get("HOSTPROOF_TUNED")
    if not package:
        pytest.skip("HOSTPROOF_TUNED names no unpacked package of TuneD")
    assert tuned_truth.measure(Path(package), CASES) == CASES
