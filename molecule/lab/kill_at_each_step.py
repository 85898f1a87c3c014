"""Kills Hostproof at every step of its writing, and proves that revert brings everything back.

Runs on the lab's machine as root, beside the package ``hostproof`` and ``policy.json`` (the role's
variables). A step is one system call of hostproof.writer that changes something: the process
gets SIGKILL right before it. Standard library only, syntax of Python 3.6.

    kill_at_each_step.py apply       kill apply before step 1, 2, 3 ...; revert; compare
    kill_at_each_step.py revert      apply; kill revert before step 1, 2, 3 ...; revert; compare
    kill_at_each_step.py power-cut PATH   reset the machine right before apply puts PATH in place
"""

import json
import os
import signal
import stat
import sys
from pathlib import Path

from hostproof import apply, writer
from hostproof.controls import hugepages
from hostproof.host import LiveHost
from hostproof.journal import Journal

VALUES = (
    hugepages.POOL_FILE,
    hugepages.SHM_GROUP_FILE,
    "/sys/kernel/mm/transparent_hugepage/enabled",
)

#: The calls that hostproof.writer changes the machine with.
STEPS = (
    "chmod",
    "fchmod",
    "fchown",
    "fsync",
    "mkdir",
    "open",
    "rename",
    "rmdir",
    "unlink",
    "write",
)


class KillingOs:
    """Stands in for the module ``os`` in hostproof.writer and counts its steps."""

    def __init__(self, at, when=None):
        self._count = 0
        self._at = at
        self._when = when

    def __getattr__(self, name):
        real = getattr(os, name)
        if name not in STEPS:
            return real

        def step(*arguments, **options):
            self._count += 1
            if self._count == self._at:
                os.kill(os.getpid(), signal.SIGKILL)
            if self._when is not None and self._when(name, arguments):
                cut_power()
            return real(*arguments, **options)

        return step


def cut_power():
    """Reset the machine at once: what is not on the disk by now is lost."""
    Path("/proc/sys/kernel/sysrq").write_text("1")
    Path("/proc/sysrq-trigger").write_text("b")
    signal.pause()


def policy():
    given = json.loads(Path(__file__).with_name("policy.json").read_text())
    return hugepages.policy_from(
        {name: given["hugepages_" + name] for name in hugepages.Policy._fields}
    )


def plan():
    """What apply would do now. The steps to be killed at are those of carrying it out."""
    wanted = policy()
    decided = hugepages.plan(hugepages.read(LiveHost(), wanted), wanted)
    apply.refuse(decided, hugepages.NAME)
    return decided


def apply_of(decided):
    """What library/apply_control.py does with its plan."""

    def apply_once():
        hand = writer.Writer()
        apply.apply_plan(decided, hugepages.NAME, Journal(hand), hand)

    return apply_once


def revert_once():
    """What library/revert_control.py does."""
    hand = writer.Writer()
    journal = Journal(hand)
    transactions = journal.transactions(hugepages.NAME)
    apply.refuse_lost_edits(transactions, overwrite=False)
    apply.revert(transactions, journal, hand)


def in_child(action, kill_before=None):
    """Run the action in a process of its own; whether it was killed. A failure ends the test."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            if kill_before is not None:
                writer.os = KillingOs(kill_before)
            action()
            code = 0
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
    _pid, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL:
        return True
    if status != 0:
        sys.exit(f"{action.__name__} ended with status {status}")
    return False


def state():
    """Everything that apply may change: each file of /etc, and the kernel's values."""
    seen = {}
    for folder, _names, files in os.walk("/etc"):
        for path in [folder] + [os.path.join(folder, name) for name in files]:
            found = os.lstat(path)
            content = Path(path).read_bytes() if stat.S_ISREG(found.st_mode) else b""
            seen[path] = (found.st_mode, found.st_uid, found.st_gid, content)
    for path in VALUES:
        seen[path] = Path(path).read_text()
    return seen


def differences(one, other):
    return sorted(path for path in set(one) | set(other) if one.get(path) != other.get(path))


def check(before, after, what):
    changed = differences(before, after)
    if changed:
        sys.exit(f"{what}: not as before: {', '.join(changed)}")


def check_no_half_states(before, done, now, what):
    """A killed apply leaves each file and value as it was or as it should be, never between."""
    for path in differences(before, done):
        if now.get(path) not in (before.get(path), done.get(path)):
            sys.exit(f"{what}: {path} is neither old nor new")


def kill_apply():
    before = state()
    apply_once = apply_of(plan())
    in_child(apply_once)
    done = state()
    in_child(revert_once)
    check(before, state(), "apply and revert, not killed")
    step = 1
    while in_child(apply_once, kill_before=step):
        what = f"apply killed before step {step}"
        check_no_half_states(before, done, state(), what)
        in_child(revert_once)
        check(before, state(), what + ", then reverted")
        step += 1
    in_child(revert_once)
    check(before, state(), "after every step")
    print(f"killed at {step - 1} steps; {len(differences(before, done))} files and values change")


def kill_revert():
    before = state()
    apply_once = apply_of(plan())
    step = 1
    in_child(apply_once)
    while in_child(revert_once, kill_before=step):
        in_child(revert_once)
        check(before, state(), f"revert killed before step {step}, then run again")
        in_child(apply_once)
        step += 1
    check(before, state(), "after every step")
    print(f"killed at {step - 1} steps")


def cut_power_before_renaming_to(path):
    apply_once = apply_of(plan())
    writer.os = KillingOs(None, lambda name, given: name == "rename" and given[1] == path)
    apply_once()
    sys.exit(f"apply ended without putting {path} in place")


if __name__ == "__main__":
    if sys.argv[1] == "power-cut":
        cut_power_before_renaming_to(sys.argv[2])
    {"apply": kill_apply, "revert": kill_revert}[sys.argv[1]]()
