"""A host with swap, memory nodes and processes of Oracle, some of it in swap."""

from typing import Any

import kernel_packs
import packs
from ansible.module_utils.hostproof.evaluate import audit
from ansible.module_utils.hostproof.evaluate.finding import Finding
from default_policies import default_policy

GIB = packs.GIB
HEADER = "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n"
FSTAB = "/dev/vda2 none swap sw 0 0\n"


def swap(machine: packs.Machine, *areas: tuple[str, int, int]) -> packs.Machine:
    """Path, size and use of each in kB, as mm/swapfile.c writes them."""
    lines = [
        f"{path}                               partition\t{size}\t\t{used}\t\t-2\n"
        for path, size, used in areas
    ]
    return machine.file("/proc/swaps", HEADER + "".join(lines))


def swapping(machine: packs.Machine, read: int = 0, written: int = 0) -> packs.Machine:
    """Pages that came and went in ten seconds."""
    before, after = (f"pswpin {10 + a}\npswpout {20 + b}\n" for a, b in ((0, 0), (read, written)))
    return machine.sampled("swapping", "file:/proc/vmstat", before, after)


def host() -> packs.Machine:
    """64 GiB, 16 GiB of swap, one node, a home of 19c."""
    machine = swapping(swap(kernel_packs.with_home(packs.linux()), ("/dev/vda2", 16777212, 0)))
    machine.file("/etc/fstab", FSTAB)
    machine.file("/proc/cmdline", "ro quiet\n")
    machine.file("/proc/self/mountinfo", "25 24 0:23 / /dev/shm rw,nosuid - tmpfs tmpfs rw\n")
    return nodes(machine, (64, 40))


def nodes(machine: packs.Machine, *sizes: tuple[float, float]) -> packs.Machine:
    """GiB of each and how much of it is free; the rows are those of Linux 6.18."""
    for number, (total, free) in enumerate(sizes):
        rows = {"MemTotal": total, "MemFree": free, "Active(file)": 0, "Inactive(file)": 0}
        text = "".join(
            f"Node {number} {name}: {int(amount * 1024 * 1024):>14} kB\n"
            for name, amount in rows.items()
        )
        machine.file(f"/sys/devices/system/node/node{number}/meminfo", text)
    return machine


def process(machine: packs.Machine, argv0: str, pid: int, kilobytes: int) -> packs.Machine:
    """A process with so much of it in swap."""
    machine.process(argv0, pid=pid)
    status = "Name:\tx\nUid:\t1\t1\t1\t1\nGid:\t1\t1\t1\t1\nGroups:\t5\n"
    return machine.file(f"/proc/{pid}/status", f"{status}VmSwap:\t{kilobytes:>8} kB\n")


def judged(machine: packs.Machine, **changes: Any) -> dict[str, Finding]:
    """Findings by their checks, without the control's name."""
    policy = {**default_policy("memory_pressure"), **changes}
    findings = audit.judge_host(machine, {"memory_pressure": policy})
    return {finding.check.partition(".")[2]: finding for finding in findings}
