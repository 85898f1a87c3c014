"""Kills Hostproof at every step of its writing, and proves that revert brings everything back.

Runs on a machine of the tests as root, beside the package ``hostproof`` and ``policy.json`` (the
control's policy). A step is one system call of apply/writer.py that changes something, or one
command that it runs for that (mount, umount, systemctl): the process gets SIGKILL right before it.
Standard library only, syntax of Python 3.6. With "kernel" only the steps count that the kernel
grants (a value is written, a command runs), and those right after: every step of files is killed at
in a container, where that takes seconds. systemd reads its units again only where nothing is
killed: nothing here compares what it read, and an emulated machine takes ten seconds for it. The
command still counts as a step.

    kill_at_each_step.py apply CONTROL [kernel]
        kill apply before step 1, 2, 3 ...; revert; compare
    kill_at_each_step.py revert CONTROL [kernel]
        apply; kill revert before step 1, 2, 3 ...; revert; compare
    kill_at_each_step.py power-cut CONTROL PATH
        reset the machine right before apply puts PATH in place
"""

import json
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

from hostproof.apply import mounting, writer
from hostproof.apply import transaction as apply
from hostproof.apply.change import MountChange, ValueChange
from hostproof.apply.difference import mount_text
from hostproof.apply.journal import Journal
from hostproof.collect.host import LiveHost
from hostproof.controls.registry import CONTROLS, planner

#: The calls that hostproof.apply.writer changes the machine with.
STEPS = (
    "chmod",
    "fchmod",
    "fchown",
    "fsync",
    "link",
    "mkdir",
    "open",
    "rename",
    "rmdir",
    "unlink",
    "write",
)

#: Those of them that the kernel grants or not: hostproof.apply.writer writes files as streams.
OF_THE_KERNEL = ("write", "Popen")

#: The command that is a step and does nothing.
RELOAD = ["systemctl", "daemon-reload"]

#: A mount can be gone in between: it is unmounted before it is made anew.
MOUNT = "mount of "


class Steps:
    """Counts the steps, and kills right before one of them."""

    def __init__(self, at, when=None, kernel=False):
        self._count = 0
        self._at = at
        self._when = when
        self._kernel = kernel
        self._after_kernel = False

    def take(self, name, arguments):
        of_the_kernel = name in OF_THE_KERNEL
        counts = of_the_kernel or self._after_kernel or not self._kernel
        self._after_kernel = of_the_kernel
        if not counts:
            return
        self._count += 1
        if self._count == self._at:
            os.kill(os.getpid(), signal.SIGKILL)
        if self._when is not None and self._when(name, arguments):
            cut_power()


class KillingModule:
    """Stands in for a module in hostproof.apply.writer; calls of those names are steps."""

    def __init__(self, module, names, steps):
        self._module = module
        self._names = names
        self._steps = steps

    def __getattr__(self, name):
        real = getattr(self._module, name)
        if name not in self._names:
            return real

        def step(*arguments, **options):
            self._steps.take(name, arguments)
            if name == "Popen" and arguments[0] == RELOAD:
                arguments = (["true"],)
            return real(*arguments, **options)

        return step


def kill_at(steps):
    writer.os = KillingModule(os, STEPS, steps)
    writer.subprocess = KillingModule(subprocess, ("Popen",), steps)


def cut_power():
    """Reset the machine at once: what is not on the disk by now is lost."""
    Path("/proc/sys/kernel/sysrq").write_text("1")
    Path("/proc/sysrq-trigger").write_text("b")
    signal.pause()


class Story:
    """A control with its plan. The steps to be killed at are those of carrying it out."""

    def __init__(self, name):
        self._name = name
        control = CONTROLS[name]
        settings = json.loads(Path(__file__).with_name("policy.json").read_text())
        policy = control.policy_from(settings)
        self._plan = planner(name)(control.read(LiveHost(), policy), policy)
        apply.refuse(self._plan, name)
        changes = self._plan.changes + self._plan.at_boot
        self._contents = {}
        self._values = [change.path for change in changes if isinstance(change, ValueChange)]
        self._mounts = [change.path for change in changes if isinstance(change, MountChange)]

    def apply_once(self):
        """What library/apply_control.py does with its plan."""
        hand = writer.Writer()
        apply.apply_plan(self._plan, self._name, Journal(hand), hand)

    def revert_once(self):
        """What library/revert_control.py does."""
        hand = writer.Writer()
        journal = Journal(hand)
        transactions = journal.transactions(self._name)
        apply.refuse_if_edited_since(transactions, overwrite=False)
        apply.revert(transactions, journal, hand)

    def state(self):
        """Everything that apply may change: each file of /etc, the kernel's values and mounts."""
        seen = {}
        for folder, _names, files in os.walk("/etc"):
            for path in [folder] + [os.path.join(folder, name) for name in files]:
                status = os.lstat(path)
                seen[path] = (
                    status.st_mode,
                    status.st_uid,
                    status.st_gid,
                    self._content(path, status),
                )
        for path in self._values:
            seen[path] = Path(path).read_text()
        for path, mounted in mounting.mounted_now().items():
            seen[MOUNT + path] = mount_text(mounting.state_of(mounted))
        for path in self._mounts:
            for folder in [Path(path)] + list(Path(path).parents):
                seen["folder " + str(folder)] = folder.is_dir()
        return seen

    def _content(self, path, found):
        """What the file holds. It is read again only where the kernel says that it changed: to read
        all of /etc at each step costs more than the step."""
        if not stat.S_ISREG(found.st_mode):
            return b""
        version = (found.st_dev, found.st_ino, found.st_size, found.st_ctime_ns)
        known = self._contents.get(path)
        if known is None or known[0] != version:
            self._contents[path] = known = (version, Path(path).read_bytes())
        return known[1]


def in_child(action, kill_before=None, kernel=False, reload=False):
    """Run the action in a process of its own; whether it was killed. A failure ends the test."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            if not reload:
                kill_at(Steps(kill_before, kernel=kernel))
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


def differences(one, other):
    return sorted(path for path in set(one) | set(other) if one.get(path) != other.get(path))


def check(before, after, what):
    changed = differences(before, after)
    if changed:
        sys.exit(f"{what}: not as before: {', '.join(changed)}")


def check_no_half_states(before, done, now, what):
    """A killed apply leaves each file and value as it was or as it should be, never between."""
    for path in differences(before, done):
        if path.startswith(MOUNT) and path not in now:
            continue
        if now.get(path) not in (before.get(path), done.get(path)):
            sys.exit(f"{what}: {path} is neither old nor new")


def kill_apply(story, kernel):
    before = story.state()
    in_child(story.apply_once, reload=True)
    done = story.state()
    in_child(story.revert_once, reload=True)
    check(before, story.state(), "apply and revert, not killed")
    step = 1
    while in_child(story.apply_once, step, kernel):
        what = f"apply killed before step {step}"
        check_no_half_states(before, done, story.state(), what)
        in_child(story.revert_once)
        check(before, story.state(), what + ", then reverted")
        step += 1
    in_child(story.revert_once)
    check(before, story.state(), "after every step")
    print(f"killed at {step - 1} steps; {len(differences(before, done))} files and values change")


def kill_revert(story, kernel):
    before = story.state()
    step = 1
    in_child(story.apply_once)
    while in_child(story.revert_once, step, kernel):
        in_child(story.revert_once)
        check(before, story.state(), f"revert killed before step {step}, then run again")
        in_child(story.apply_once)
        step += 1
    check(before, story.state(), "after every step")
    print(f"killed at {step - 1} steps")


def cut_power_before_renaming_to(story, path):
    target = os.path.basename(path)
    kill_at(Steps(None, lambda name, arguments: name == "rename" and arguments[1] == target))
    story.apply_once()
    sys.exit(f"apply ended without putting {path} in place")


if __name__ == "__main__":
    action, name, *given = sys.argv[1:]
    told = Story(name)
    if action == "power-cut":
        cut_power_before_renaming_to(told, *given)
    {"apply": kill_apply, "revert": kill_revert}[action](told, given == ["kernel"])
