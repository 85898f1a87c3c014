"""Mounts in a plan: unmounted, mounted, read back and put back, wherever a crash falls.

Nothing is mounted on this machine: a kernel of the test keeps the table of mounts.
"""

import errno
import os
import stat
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from ansible.module_utils.hostproof.apply import difference, mounting, writer
from ansible.module_utils.hostproof.apply import transaction as apply
from ansible.module_utils.hostproof.apply.change import FileChange, MountChange, MountState, Plan
from ansible.module_utils.hostproof.apply.difference import mount_text
from ansible.module_utils.hostproof.apply.journal import Journal
from ansible.module_utils.hostproof.apply.writer import Writer
from ansible.module_utils.hostproof.collect import reader
from ansible.module_utils.hostproof.collect.host import LiveHost, OpenFiles, interface
from ansible.module_utils.hostproof.collect.host import live as host_module
from ansible.module_utils.hostproof.errors import HostproofError
from ansible.module_utils.hostproof.parsers.nfs import nfs_options
from ansible.module_utils.hostproof.probes.kernel import mounts
from ansible.module_utils.hostproof.probes.nfs import direct_nfs_processes, nfs_mounted
from cases import cases

DATA = "filer:/vol/oradata"
REDO = "filer:/vol/redo"
OLD = "rw,hard,vers=3,timeo=600,rsize=65536,wsize=65536"
NEW = "rw,bg,hard,vers=3,rsize=262144,wsize=262144,actimeo=0"
MUST = {"recovery": "hard", "acregmin": "0", "acdirmax": "0", "rsize": "262144", "wsize": "262144"}
SHOWN = ("mountaddr=192.0.2.9", "mountvers=3", "mountport=635", "mountproto=udp", "addr=192.0.2.9")


class Crash(BaseException):
    """As if the process had been killed here."""


class Steps:
    """Counts what changes the machine, and crashes right before one of them. Right after one the
    machine is as right before the next."""

    def __init__(self) -> None:
        self.count, self.at = 0, 0

    def step(self, act: Callable[[], Any]) -> Any:
        self.count += 1
        if self.count == self.at:
            raise Crash
        return act()


class CountingOs:
    """Stands in for the module os in hostproof.apply.writer."""

    NAMES = ("fsync", "mkdir", "rename", "rmdir", "unlink", "write")

    def __init__(self, steps: Steps) -> None:
        self._steps = steps

    def __getattr__(self, name: str) -> Any:
        real = getattr(os, name)
        if name not in self.NAMES:
            return real
        return lambda *arguments, **more: self._steps.step(lambda: real(*arguments, **more))


class Kernel:
    """What the test's kernel has mounted. It shares superblocks as Linux does."""

    def __init__(self, mountinfo: Path) -> None:
        self._mountinfo = mountinfo
        self.mounts: dict[str, tuple[str, str, str]] = {}
        self.foreign: dict[str, str] = {}
        self.busy: set[str] = set()
        self.maximum = 1048576
        self.down: set[str] = set()
        self.swallows = False
        self.log: list[str] = []
        self.show()

    def show(self) -> None:
        ids = {path: 90 + number for number, path in enumerate(self.mounts)}

        def parent(path: str) -> int:
            return [25, *(ids[point] for point in sorted(ids) if path.startswith(point + "/"))][-1]

        lines = ["25 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw"]
        for number, (path, fstype) in enumerate(self.foreign.items(), 300):
            lines.append(f"{number} {parent(path)} 0:{number} / {path} rw - {fstype} none rw")
        devices: dict[tuple[str, str], int] = {}
        for path, (source, fstype, options) in self.mounts.items():
            device = devices.setdefault((source, options), ids[path])
            lines.append(
                f"{ids[path]} {parent(path)} 0:{device} / {path} rw,relatime shared:9 - "
                f"{fstype} {source} {options}"
            )
        self._mountinfo.write_text("\n".join(lines) + "\n")

    def mount(self, source: str, path: str, options: str) -> None:
        self.log.append(f"mount {path} {options}")
        if source in self.down:
            raise HostproofError(f"mount {path}: mount.nfs: Connection timed out")
        if self.swallows:
            return
        requested = nfs_options.parse(options)
        for first, _fstype, shown in self.mounts.values():
            # Neither is compared before a superblock is shared (NFS_MOUNT_CMP_FLAGMASK).
            has = nfs_options.parse(shown)
            if first == source and has["rsize"] == requested.get("rsize", str(self.maximum)):
                requested["timeo"] = has["timeo"]
        sizes = {
            name: str(min(int(requested.get(name, self.maximum)), self.maximum))
            for name in ("rsize", "wsize")
        }
        granted = nfs_options.effective({**requested, **sizes}, nfs_options.LINUX)
        kept = {
            name: value
            for name, value in granted.items()
            if name in nfs_options.GRANTED and name not in ("suid", "nconnect", "lookupcache")
        }
        kept.setdefault("vers", "3")
        fstype = "nfs4" if kept["vers"].startswith("4") else "nfs"
        self.mounts[path] = (source, fstype, ",".join([*nfs_options.words(kept), *SHOWN]))
        self.show()

    def unmount(self, path: str) -> None:
        self.log.append(f"umount {path}")
        if path in self.busy or any(mount.startswith(path + "/") for mount in self.mounts):
            raise HostproofError(f"umount {path}: umount.nfs: {path}: device is busy")
        del self.mounts[path]
        self.show()


class Hand(Writer):
    """The writer, with the test's kernel behind it."""

    def __init__(self, kernel: Kernel, steps: Steps) -> None:
        self._kernel, self._steps = kernel, steps

    def mount(self, source: str, path: str, fstype: str, options: str) -> None:
        self._steps.step(lambda: self._kernel.mount(source, path, options))

    def unmount(self, path: str) -> None:
        self._steps.step(lambda: self._kernel.unmount(path))

    def reload_units(self) -> None:
        self._steps.step(lambda: self._kernel.log.append(f"reload {self._fstab().count('new')}"))

    def _fstab(self) -> str:
        return (self._kernel._mountinfo.parent / "etc/fstab").read_text()


class Host:
    """A root below a temporary folder with two mounts of one server, and its journal."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.root = root
        (root / "etc").mkdir()
        (root / "var").mkdir()
        self.fstab = root / "etc/fstab"
        self.fstab.write_text("# old\n")
        self.data, self.redo = str(root / "u02"), str(root / "u02/redo")
        os.makedirs(self.redo)
        self.steps = Steps()
        self.kernel = Kernel(root / "mountinfo")
        self.hand = Hand(self.kernel, self.steps)
        self.journal = Journal(self.hand, str(root / "var/hostproof"))
        for module in (nfs_mounted, mounts):
            monkeypatch.setattr(module, "MOUNTINFO", str(root / "mountinfo"))
        monkeypatch.setattr(apply, "UNIT_SOURCES", (str(self.fstab),))

    def mounted(self, *pairs: tuple[str, str]) -> "Host":
        for path, source in pairs:
            self.kernel.mount(source, path, OLD)
        self.kernel.log.clear()
        return self

    def now(self, path: str) -> MountState:
        return mounting.state_of(mounting.mounted_now()[path])

    def fstab_change(self) -> FileChange:
        return FileChange(str(self.fstab), "# new\n", "# old\n")

    def unmount(self, path: str) -> MountChange:
        return MountChange(path, self.now(path), None, {})

    @staticmethod
    def mount(path: str, source: str, options: str = NEW, **must: str) -> MountChange:
        return MountChange(path, None, MountState(source, "nfs", options), must or MUST)

    def remount_both(self) -> Plan:
        """As a control plans it: files, all unmounted deepest first, all mounted."""
        return plan_of(
            self.fstab_change(),
            self.unmount(self.redo),
            self.unmount(self.data),
            self.mount(self.data, DATA),
            self.mount(self.redo, REDO),
        )

    def apply(self, plan: Plan) -> None:
        apply.refuse(plan, "nfs_mounts")
        apply.apply_plan(plan, "nfs_mounts", self.journal, self.hand)

    def revert(self) -> list[str]:
        transactions = self.journal.transactions("nfs_mounts")
        apply.refuse_if_edited_since(transactions, overwrite=False)
        apply.refuse_in_use(transactions)
        apply.revert(transactions, self.journal, self.hand)
        return [transaction.name for transaction in transactions]

    def state(self) -> dict[str, Any]:
        state: dict[str, Any] = {"mounts": dict(sorted(self.kernel.mounts.items()))}
        for path in sorted(self.root.rglob("*")):
            name = str(path.relative_to(self.root))
            if not name.startswith("var/") and name != "mountinfo":
                state[name] = path.read_bytes() if path.is_file() else None
        return state


def plan_of(*changes: Any) -> Plan:
    return Plan(list(changes), [], [], [])


@pytest.fixture(autouse=True)
def quick_disk(monkeypatch) -> None:
    """Nobody pulls the plug in these tests: the lab does."""
    monkeypatch.setattr(os, "fsync", lambda _handle: None)


@pytest.fixture(autouse=True)
def one_reader(monkeypatch) -> Iterator[None]:
    """One process reads the files of all hosts of a test. To fork pytest for each host takes
    longer than all else."""
    shared = reader.Reader(host_module._task)
    monkeypatch.setattr(host_module, "Reader", lambda _table: shared)
    yield
    shared.close()


@pytest.fixture
def host(tmp_path, monkeypatch) -> Host:
    return Host(tmp_path, monkeypatch)


@pytest.fixture
def both(host) -> Host:
    return host.mounted((host.data, DATA), (host.redo, REDO))


@pytest.fixture
def crash(monkeypatch) -> Iterator[Callable[..., bool]]:
    """crash(host, action, at): whether the action crashed at that step."""

    def crash_at(host: Host, action: Callable[[], Any], at: int) -> bool:
        with monkeypatch.context() as patch:
            patch.setattr(writer, "os", CountingOs(host.steps))
            host.steps.count, host.steps.at = 0, at
            try:
                action()
            except Crash:
                return True
            finally:
                host.steps.at = 0
        return False

    return crash_at


class TestApply:
    def test_all_are_unmounted_before_any_is_mounted(self, both):
        both.apply(both.remount_both())
        options = NEW.replace("bg", "fg") + ",retry=0"
        assert both.kernel.log == [
            "reload 1",
            f"umount {both.redo}",
            f"umount {both.data}",
            f"mount {both.data} {options}",
            f"mount {both.redo} {options}",
        ]
        assert "actimeo=0" in both.now(both.data).options

    def test_units_are_reloaded_before_a_mount_and_once(self, host):
        host.apply(plan_of(host.fstab_change(), host.mount(host.data, DATA)))
        assert [line.split()[0] for line in host.kernel.log] == ["reload", "mount"]

    def test_units_are_reloaded_though_nothing_is_mounted(self, host):
        host.apply(plan_of(host.fstab_change()))
        assert host.kernel.log == ["reload 1"]

    def test_no_other_file_reloads_units(self, host):
        host.apply(plan_of(FileChange(str(host.root / "etc/modprobe.conf"), "x\n", None)))
        assert host.kernel.log == []

    def test_missing_mount_point_is_made_and_gone_after_revert(self, host):
        path = host.root / "u03/deep/adr"
        before = host.state()
        host.apply(plan_of(host.mount(str(path), DATA)))
        assert stat.S_IMODE(path.stat().st_mode) == 0o755
        host.revert()
        assert host.state() == before

    def test_automounter_that_was_quicker_is_judged_all_the_same(self, both):
        unmount = both.kernel.unmount

        def at_once(path: str) -> None:
            unmount(path)
            if path == both.data:
                both.kernel.mount(DATA, path, NEW)

        plan = plan_of(both.unmount(both.redo), both.mount(both.redo, REDO))
        both.apply(plan)
        both.kernel.unmount = at_once
        with pytest.raises(apply.NotGranted, match="is mounted there still"):
            both.apply(plan_of(both.unmount(both.redo), both.unmount(both.data)))

    def test_second_mount_by_somebody_else_meanwhile(self, both):
        plan = both.remount_both()
        both.kernel.unmount(both.redo)
        both.kernel.log.clear()
        both.apply(plan)
        assert f"umount {both.redo}" not in both.kernel.log
        assert both.redo in both.kernel.mounts


class TestNotGranted:
    def test_smaller_transfer_size_puts_everything_back(self, both):
        before = both.state()
        plan = both.remount_both()
        both.kernel.maximum = 131072
        with pytest.raises(apply.NotGranted) as problem:
            both.apply(plan)
        message = str(problem.value)
        assert "rsize: requested 262144, granted 131072" in message
        assert message.endswith("the old state is restored")
        assert "was lowered" not in message
        assert both.state() == before
        assert both.revert() == []

    def test_lowered_maximum_names_the_mounts_in_danger(self, both):
        other = str(both.root / "u09")
        both.kernel.mount("filer:/vol/adr", other, NEW)
        both.kernel.mount("other:/vol/adr", other + "b", NEW)
        plan = both.remount_both()
        both.kernel.maximum = 32768
        with pytest.raises(apply.NotGranted) as problem:
            both.apply(plan)
        message = str(problem.value)
        assert (
            "the old mount had rsize=65536, wsize=65536: the maximum of filer was lowered"
            in message
        )
        assert f"{other} with larger requests can hang" in message
        assert other + "b" not in message
        assert "restoring the old state failed too" in message
        assert "rsize=32768" in message
        assert both.fstab.read_text() == "# old\n"
        assert set(both.kernel.mounts) == {both.data, both.redo, other, other + "b"}

    @cases(
        "must told",
        ({"proto": "rdma"}, "proto: requested rdma, granted tcp"),
        ({"vers": "4.1"}, "vers: requested 4.1, granted 3"),
        ({"nconnect": "4"}, "nconnect: requested 4, granted 1"),
        ({"unheard": "of"}, "unheard: requested of, granted nothing"),
    )
    def test_setting_that_is_not_granted(self, host, must, told):
        with pytest.raises(apply.NotGranted, match=told):
            host.apply(plan_of(host.mount(host.data, DATA, **must)))
        assert host.kernel.mounts == {}

    def test_what_the_kernel_spells_otherwise_is_granted(self, host):
        must = {"proto": "tcp", "acregmax": "0", "sync": "yes", "local_lock": "all"}
        host.apply(plan_of(host.mount(host.data, DATA, "tcp,noac,nolock,vers=3", **must)))

    def test_mount_that_fails(self, both):
        before = both.state()
        plan = both.remount_both()
        both.kernel.down.add(REDO)
        with pytest.raises(apply.NotGranted, match="Connection timed out; restoring .* run rev"):
            both.apply(plan)
        both.kernel.down.clear()
        both.revert()
        assert both.state() == before

    @cases("name", "mount", "unmount")
    def test_failure_that_did_it_all_the_same(self, both, name):
        """mount and umount also fail where only their own table could not be written."""
        act = getattr(both.kernel, name)

        def loud(*given: str) -> None:
            act(*given)
            raise HostproofError(f"{name}: cannot write the table")

        setattr(both.kernel, name, loud)
        both.apply(both.remount_both())
        assert "actimeo=0" in both.now(both.data).options

    def test_success_that_is_no_mount(self, host):
        host.kernel.swallows = True
        with pytest.raises(apply.NotGranted, match="nothing is mounted; the old state is restored"):
            host.apply(plan_of(host.fstab_change(), host.mount(host.data, DATA)))
        assert host.fstab.read_text() == "# old\n"

    def test_other_source(self, host):
        mount = host.kernel.mount
        host.kernel.mount = lambda _source, path, options: mount(REDO, path, options)
        with pytest.raises(apply.NotGranted, match=f"it is {REDO}, not {DATA}"):
            host.apply(plan_of(host.mount(host.data, DATA)))

    def test_slash_at_the_end_of_a_source_is_no_other_source(self, host):
        mount = host.kernel.mount
        host.kernel.mount = lambda source, *more: mount(source.rstrip("/"), *more)
        host.apply(plan_of(host.mount(host.data, DATA + "/")))

    def test_busy_mount_names_its_holders_and_stays(self, both, monkeypatch):
        before = both.state()
        plan = both.remount_both()
        both.kernel.busy.add(both.data)
        holder = OpenFiles(2101, 54321, "ora_dbw0_ORCL", (both.data + "/system01.dbf",))
        monkeypatch.setattr(LiveHost, "open_files", lambda *_given: [holder])
        with pytest.raises(apply.NotGranted) as problem:
            both.apply(plan)
        message = str(problem.value)
        assert "device is busy; in use by ora_dbw0_ORCL (pid 2101, " in message
        assert message.endswith("the old state is restored")
        assert both.state() == before

    def test_systemd_that_does_not_reload(self, both, monkeypatch):
        before = both.state()
        plan = both.remount_both()
        calls = []

        def once(hand: Hand) -> None:
            calls.append(hand)
            if len(calls) == 1:
                raise HostproofError("systemctl daemon-reload: no bus")

        monkeypatch.setattr(Hand, "reload_units", once)
        with pytest.raises(apply.NotGranted, match="no bus; the old state is restored"):
            both.apply(plan)
        assert len(calls) == 2
        assert both.state() == before


class TestMeanwhile:
    """The plan is some seconds old when it is carried out: the traffic was watched."""

    def refused(self, host: Host, plan: Plan) -> str:
        apply.refuse(plan, "nfs_mounts")
        host.kernel.log.clear()
        with pytest.raises(apply.Refused) as problem:
            apply.apply_plan(plan, "nfs_mounts", host.journal, host.hand)
        assert host.kernel.log == []
        assert host.journal.transactions() == []
        return str(problem.value)

    @cases("now", "# old\n# mine\n", None)
    def test_file_that_somebody_edited_or_removed(self, both, now):
        plan = both.remount_both()
        both.fstab.unlink() if now is None else both.fstab.write_text(now)
        assert f"{both.fstab} changed after the plan was made" in self.refused(both, plan)
        assert (both.fstab.read_text() if both.fstab.exists() else None) == now

    def test_file_that_somebody_made(self, host):
        path = host.root / "etc/new.conf"
        plan = plan_of(FileChange(str(path), "x\n", None))
        path.write_text("mine\n")
        assert f"{path} changed after" in self.refused(host, plan)

    def test_mount_that_somebody_changed(self, both):
        plan = both.remount_both()
        both.kernel.unmount(both.redo)
        both.kernel.mount("other:/vol/redo", both.redo, OLD)
        assert f"{both.redo} changed after" in self.refused(both, plan)


class TestObstacles:
    def reasons(self, plan: Plan) -> str:
        with pytest.raises(apply.Refused) as refused:
            apply.refuse(plan, "nfs_mounts")
        return str(refused.value)

    def test_mount_of_any_kind_beneath(self, both):
        both.kernel.foreign[both.data + "/scratch"] = "tmpfs"
        both.kernel.show()
        reasons = self.reasons(both.remount_both())
        assert f"{both.data}/scratch (tmpfs) is mounted beneath {both.data}" in reasons

    def test_mount_that_the_plan_unmounts_too_is_none(self, both):
        apply.refuse(both.remount_both(), "nfs_mounts")

    def test_mount_that_would_be_hidden(self, host):
        host.kernel.foreign[host.redo] = "xfs"
        host.kernel.show()
        reasons = self.reasons(plan_of(host.mount(host.data, DATA)))
        assert f"{host.data} would hide the mount of {host.redo} (xfs)" in reasons

    def test_other_file_system_in_its_place(self, host):
        host.kernel.foreign[host.data] = "xfs"
        host.kernel.show()
        assert "is a mount of none (xfs) already" in self.reasons(
            plan_of(host.mount(host.data, DATA))
        )

    def test_automounter_in_its_place_is_none(self, host):
        host.kernel.foreign[host.data] = "autofs"
        host.kernel.show()
        apply.refuse(plan_of(host.mount(host.data, DATA)), "nfs_mounts")

    def test_file_in_place_of_the_mount_point(self, host):
        (host.root / "u05").write_text("")
        assert "is not a directory" in self.reasons(
            plan_of(host.mount(str(host.root / "u05"), DATA))
        )

    def test_link_to_a_folder(self, host):
        (host.root / "u05").symlink_to("u02")
        reasons = self.reasons(plan_of(host.mount(str(host.root / "u05"), DATA)))
        assert f"leads to {host.data} by a link" in reasons

    def test_two_mounts_of_one_path(self, both):
        """Only the upper one would come back."""
        plan = both.remount_both()
        upper = f"500 91 0:500 / {both.redo} rw shared:9 - nfs {REDO}/b rw,hard,vers=3\n"
        with (both.root / "mountinfo").open("a") as table:
            table.write(upper)
        reasons = self.reasons(plan)
        assert f"{both.redo} is mounted 2 times, one over the other ({REDO}, {REDO}/b)" in reasons

    def test_mount_in_the_background_that_still_tries(self, host):
        for path, is_told in ((host.data, True), (host.data + "/other", False)):
            trying = subprocess.Popen(
                ["/sbin/mount.nfs4", "-c", "read line", DATA, path, "-o", "rw,bg"],
                executable="/bin/bash",
                stdin=subprocess.PIPE,
            )
            try:
                while not Path(f"/proc/{trying.pid}/cmdline").read_bytes():
                    time.sleep(0.01)  # it is started, but its arguments are not there yet
                reasons = mounting.obstacles([host.mount(host.data, DATA)])
            finally:
                trying.communicate()
            expected = f"(pid {trying.pid}) still tries to mount {host.data}: let it end, or stop"
            assert any(expected in reason for reason in reasons) == is_told

    def test_folder_on_a_server_is_looked_at_with_a_time_limit(self, both, monkeypatch):
        path = both.redo + "/deep"
        monkeypatch.setattr(os.path, "lexists", lambda _path: pytest.fail("may hang"))
        monkeypatch.setattr(os.path, "realpath", lambda _path: pytest.fail("may hang"))
        assert mounting.obstacles([both.mount(path, DATA)]) == []
        gone = subprocess.TimeoutExpired(["readlink"], 5)
        monkeypatch.setattr(interface, "run_command", lambda *_given: (_ for _ in ()).throw(gone))
        (reason,) = mounting.obstacles([both.mount(path, DATA)])
        assert reason.startswith(f"{path} cannot be read: ")

    def test_link_on_a_server(self, both):
        (both.root / "u02/redo/deep").symlink_to(both.root / "etc")
        (reason,) = mounting.obstacles([both.mount(both.redo + "/deep", DATA)])
        assert f"leads to {both.root}/etc by a link" in reason

    def test_link_that_leads_nowhere(self, host):
        (host.root / "u05").symlink_to("nowhere")
        assert "is not a directory" in self.reasons(
            plan_of(host.mount(str(host.root / "u05"), DATA))
        )


class TestRevert:
    def test_as_it_was(self, both):
        before = both.state()
        both.apply(both.remount_both())
        both.kernel.log.clear()
        both.revert()
        assert both.state() == before
        assert [line.split(" ", 1)[0] for line in both.kernel.log] == [
            "umount",
            "umount",
            "reload",
            "mount",
            "mount",
        ]
        assert both.kernel.log[2] == "reload 0"
        assert both.revert() == []

    def test_what_a_mount_finds_for_itself_is_not_asked_again(self, both):
        both.apply(both.remount_both())
        both.kernel.log.clear()
        both.revert()
        mounts = [line for line in both.kernel.log if line.startswith("mount")]
        assert not any("addr=" in line or "mountport" in line for line in mounts)
        assert all("fg,retry=0" in line for line in mounts)

    def test_several_applies(self, both):
        before = both.state()
        both.apply(both.remount_both())
        other = NEW.replace("262144", "131072")
        both.apply(
            plan_of(both.unmount(both.redo), both.mount(both.redo, REDO, other, rsize="131072"))
        )
        both.kernel.log.clear()
        assert len(both.revert()) == 2
        assert both.state() == before
        assert len(both.kernel.log) == 5

    @cases("gone", (), ("data",), ("redo",), ("data", "redo"))
    def test_any_of_them_mounted_or_not(self, both, gone):
        """After a reboot whose mounts failed, or an unmount by hand."""
        before = both.state()
        both.apply(both.remount_both())
        for path in sorted((getattr(both, name) for name in gone), reverse=True):
            both.kernel.mounts.pop(path)
        both.kernel.show()
        both.revert()
        assert both.state() == before

    def test_what_is_as_it_was_already_is_left_alone(self, both):
        both.apply(both.remount_both())
        both.kernel.unmount(both.redo)
        both.kernel.unmount(both.data)
        both.mounted((both.data, DATA), (both.redo, REDO))
        both.kernel.log.clear()
        both.revert()
        assert both.kernel.log == ["reload 0"]

    def test_mount_beneath_that_did_not_change_makes_way(self, both):
        """It had what it needs already, and was unmounted only because of the one above."""
        before = both.state()
        same = both.now(both.redo).options
        both.apply(
            plan_of(
                both.unmount(both.redo),
                both.unmount(both.data),
                both.mount(both.data, DATA),
                both.mount(both.redo, REDO, same, recovery="hard"),
            )
        )
        assert both.now(both.redo).options == same
        both.revert()
        assert both.state() == before

    def test_busy_mount_keeps_nothing_else_from_coming_back(self, both):
        before = both.state()
        both.apply(both.remount_both())
        both.kernel.busy.add(both.redo)
        with pytest.raises(apply.NotGranted, match="device is busy"):
            both.revert()
        assert both.fstab.read_text() == "# old\n"
        assert both.kernel.log[-1] == "reload 0"
        both.kernel.busy.clear()
        both.revert()
        assert both.state() == before

    def test_mount_point_that_is_busy_is_not_looked_at(self, host, monkeypatch):
        path = str(host.root / "u03")
        host.apply(plan_of(host.mount(path, DATA)))
        host.kernel.busy.add(path)
        looked = []
        monkeypatch.setattr(
            os, "listdir", lambda where, real=os.listdir: looked.append(where) or real(where)
        )
        with pytest.raises(apply.NotGranted, match="device is busy"):
            host.revert()
        assert path not in looked

    def test_folder_of_a_server_is_not_removed(self, host):
        """A mount point that was missing is one of the server's once the mount above is there."""
        deep = host.root / "u03/redo"
        host.apply(plan_of(host.mount(str(host.root / "u03"), DATA), host.mount(str(deep), REDO)))
        host.kernel.busy.add(str(host.root / "u03"))
        with pytest.raises(apply.NotGranted, match="device is busy"):
            host.revert()
        assert deep.is_dir()
        host.kernel.busy.clear()
        host.revert()
        assert not deep.parent.exists()

    def test_what_somebody_mounted_there_since_is_not_unmounted(self, both):
        both.apply(both.remount_both())
        both.kernel.unmount(both.redo)
        both.kernel.mount("new:/vol/redo", both.redo, NEW)
        with pytest.raises(apply.Refused, match=f"the mount of new:/vol/redo on {both.redo} was"):
            both.revert()
        assert both.kernel.mounts[both.redo][0] == "new:/vol/redo"
        apply.refuse_if_edited_since(both.journal.transactions(), overwrite=True)

    def test_database_that_uses_a_mount_by_direct_nfs(self, both, monkeypatch):
        before = both.state()
        both.apply(both.remount_both())
        changed = both.state()
        process = direct_nfs_processes.DatabaseProcess("ORCL", 2102, "", (), (4711,))
        for address, is_refused in (("192.0.2.9", True), ("192.0.2.7", False)):
            monkeypatch.setattr(
                direct_nfs_processes,
                "read_users",
                lambda _host, address=address: [(process, address)],
            )
            if is_refused:
                with pytest.raises(apply.Refused, match="Direct NFS of ORCL .pid 2102, 192.0.2.9"):
                    both.revert()
                assert both.state() == changed
        both.revert()
        assert both.state() == before

    def test_server_that_does_not_answer(self, both):
        both.apply(both.remount_both())
        both.kernel.down.add(DATA)
        with pytest.raises(apply.NotGranted, match="timed out"):
            both.revert()
        assert both.redo in both.kernel.mounts
        both.kernel.down.clear()
        both.revert()
        assert both.now(both.data).options.startswith("rw,")

    def test_check_mode_tells_it(self, both):
        old = mount_text(both.now(both.data))
        both.apply(both.remount_both())
        restorations = {
            restoration.path: restoration
            for restoration in apply.restorations(both.journal.transactions())
        }
        assert set(restorations) == {str(both.fstab), both.data, both.redo}
        assert restorations[both.data].before == old
        assert "rsize=262144" in (restorations[both.data].now or "")
        both.revert()
        assert apply.restorations(both.journal.transactions()) == []

    def test_check_mode_tells_of_an_unmount(self, host):
        host.apply(plan_of(host.mount(host.data, DATA)))
        (restoration,) = apply.restorations(host.journal.transactions())
        assert restoration.before is None
        assert "source=filer:/vol/oradata" in (restoration.now or "")

    def test_value_whose_kernel_module_is_gone_after_a_reboot(self, host):
        value = host.root / "slots"
        value.write_text("2\n")
        host.apply(plan_of(apply.ValueChange(str(value), "128", "2")))
        value.unlink()
        assert len(host.revert()) == 1


# The calls that die here are made once by the other tests, which every Python has to answer.
@pytest.mark.one_core
class TestCrash:
    def test_apply_that_dies_at_any_step_can_be_reverted(self, tmp_path, monkeypatch, crash):
        for at in range(1, 300):
            (tmp_path / str(at)).mkdir()
            host = Host(tmp_path / str(at), monkeypatch)
            host.mounted((host.data, DATA), (host.redo, REDO))
            new = str(host.root / "u04/adr")
            plan = host.remount_both()
            plan.changes.append(host.mount(new, "filer:/vol/adr"))
            before = host.state()
            crashed = crash(host, lambda host=host, plan=plan: host.apply(plan), at)
            host.revert()
            assert host.state() == before, f"step {at}"
            if not crashed:
                break
        assert at > 40

    def test_revert_that_dies_at_any_step_can_be_repeated(self, tmp_path, monkeypatch, crash):
        for at in range(1, 300):
            (tmp_path / str(at)).mkdir()
            host = Host(tmp_path / str(at), monkeypatch)
            host.mounted((host.data, DATA), (host.redo, REDO))
            before = host.state()
            host.apply(host.remount_both())
            crashed = crash(host, host.revert, at)
            host.revert()
            assert host.state() == before, f"step {at}"
            if not crashed:
                break
        assert at > 8


class TestJournal:
    def test_entries_are_there_before_the_first_unmount(self, both):
        seen = []
        unmount = both.kernel.unmount

        def watched(path: str) -> None:
            seen.append(
                [(entry.kind, entry.path) for entry in both.journal.transactions()[0].entries]
            )
            unmount(path)

        both.kernel.unmount = watched
        both.apply(both.remount_both())
        assert seen[0] == [
            ("file", str(both.fstab)),
            ("mount", both.redo),
            ("mount", both.data),
            ("mount", both.data),
            ("mount", both.redo),
        ]

    def test_entry_as_documented(self, both):
        old = both.now(both.redo)
        both.apply(plan_of(both.unmount(both.redo), both.mount(both.redo, REDO)))
        first, second = both.journal.transactions()[0].entries
        assert first.before == old._asdict()
        assert first.after is None
        assert (second.before, second.after) == (None, f"{REDO} nfs {NEW}")

    @cases("before", "[]", '"x"', "{}", '{"source": "a:/b", "fstype": "nfs", "options": 5}', "5")
    def test_entry_that_is_none_stops_before_anything_is_put_back(self, both, before):
        both.apply(plan_of(both.unmount(both.redo), both.mount(both.redo, REDO)))
        (folder,) = (both.root / "var/hostproof/journal").iterdir()
        (folder / "0001.json").write_text(
            f'{{"schema": 1, "kind": "mount", "path": "/u", "after": null, "before": {before}}}'
        )
        both.kernel.log.clear()
        with pytest.raises(HostproofError, match="0001.json: .*nothing was restored"):
            both.revert()
        assert both.kernel.log == []


class TestAlone:
    def test_second_apply_or_revert_at_the_same_time(self, both):
        both.apply(both.remount_both())
        state = both.state()
        plan = plan_of(FileChange(str(both.fstab), "# newer\n", "# new\n"))
        with both.journal.exclusive_lock():
            for act in (both.revert, lambda: both.apply(plan)):
                with pytest.raises(HostproofError, match="another apply or revert is at work"):
                    act()
        assert both.state() == state
        both.apply(plan)
        assert len(both.revert()) == 2

    def test_mount_that_outlives_its_apply(self, tmp_path, monkeypatch):
        (tmp_path / "mount").write_text("#!/bin/sh\nsleep 1 >/dev/null 2>&1 &\n")
        (tmp_path / "mount").chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
        hand = Writer()
        journal = Journal(hand, str(tmp_path / "hostproof"))
        with journal.exclusive_lock():
            hand.mount(DATA, "/u02", "nfs", "hard")
        with (
            pytest.raises(HostproofError, match="a mount that one of them began"),
            journal.exclusive_lock(),
        ):
            pass
        time.sleep(1.3)
        with journal.exclusive_lock():
            pass


class TestDiff:
    def test_before_and_after_of_what_a_mount_must_have(self, both):
        plan = both.remount_both()
        diff = {change["after_header"]: change for change in difference.of_plan(plan)}
        assert list(diff) == [str(both.fstab), f"mount of {both.redo}", f"mount of {both.data}"]
        assert diff[f"mount of {both.data}"]["before"] == (
            f"source={DATA}\nacdirmax=60\nacregmin=3\nrecovery=hard\nrsize=65536\nwsize=65536\n"
        )
        assert diff[f"mount of {both.data}"]["after"] == (
            f"source={DATA}\nacdirmax=0\nacregmin=0\nrecovery=hard\nrsize=262144\nwsize=262144\n"
            "# unmounted, then mounted again\n"
        )

    def test_new_mount_has_no_before(self, host):
        (diff,) = difference.of_plan(plan_of(host.mount(host.data, DATA)))
        assert diff["before"] == ""
        assert "unmounted" not in diff["after"]


class TestState:
    def test_what_somebody_asked_for_is_kept(self, both):
        mounted = mounting.mounted_now()[both.data]
        assert "mountproto=udp" in mounting.state_of(mounted, requested=["mountproto"]).options
        assert "mountproto" not in mounting.state_of(mounted).options

    @cases(
        "given normal",
        ("a:/b/", "a:/b"),
        ("a:/", "a:/"),
        ("a:/b//", "a:/b"),
        ("[2001:db8::1]:/b", None),
    )
    def test_source(self, given, normal):
        state = MountState(given, "nfs", "")
        assert mount_text(state, ()) == f"source={normal or given}\n"


TOOL = """#!/bin/sh
echo "${{0##*/}}" "$@" >> {log}
{body}
"""


class TestWriter:
    @pytest.fixture
    def tools(self, tmp_path, monkeypatch) -> Callable[..., Path]:
        """tools(name, body): a command of that name in the PATH, which logs what it is given."""
        monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")

        def make(name: str, body: str = "") -> Path:
            (tmp_path / name).write_text(TOOL.format(log=tmp_path / "log", body=body))
            (tmp_path / name).chmod(0o755)
            return tmp_path / "log"

        return make

    def test_commands(self, tools, tmp_path, monkeypatch):
        tools("mount"), tools("umount")
        log = tools("systemctl")
        monkeypatch.setattr(writer, "_SYSTEMD", str(tmp_path))
        Writer().mount(DATA, "/u 02", "nfs", "hard,fg")
        Writer().unmount("/u 02")
        Writer().reload_units()
        assert log.read_text().splitlines() == [
            f"mount -t nfs -o hard,fg {DATA} /u 02",
            "umount /u 02",
            "systemctl daemon-reload",
        ]

    def test_no_systemd_nothing_to_reload(self, tools, tmp_path, monkeypatch):
        log = tools("systemctl")
        monkeypatch.setattr(writer, "_SYSTEMD", str(tmp_path / "none"))
        Writer().reload_units()
        assert not log.exists()

    def test_commands_of_root_are_found_without_its_path(self, tools, tmp_path, monkeypatch):
        """sudo and cron may leave out the directories of mount.nfs and ethtool."""
        tools("umount", 'echo "in $PATH" >&2; exit 16')
        monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
        with pytest.raises(HostproofError) as problem:
            Writer().unmount("/u02")
        assert str(problem.value).endswith(":/usr/bin:/bin:/usr/sbin:/sbin")

    def test_failure_in_one_line_and_in_english(self, tools, monkeypatch):
        monkeypatch.setenv("LC_ALL", "cs_CZ.UTF-8")
        tools("umount", 'echo "umount.nfs: /u02:" >&2; echo "busy in $LC_ALL" >&2; exit 16')
        with pytest.raises(HostproofError) as problem:
            Writer().unmount("/u02")
        assert str(problem.value) == "umount /u02: umount.nfs: /u02: busy in C"

    def test_failure_without_a_word(self, tools):
        tools("umount", "exit 32")
        with pytest.raises(HostproofError, match="^umount /u02: ended with 32$"):
            Writer().unmount("/u02")

    def test_nothing_to_remove_on_a_read_only_file_system(self, tmp_path, monkeypatch):
        """unlink(2) fails there even if the file does not exist: revert would never end well."""

        def refused(path: str) -> None:
            raise OSError(errno.EROFS, "Read-only file system", path)

        monkeypatch.setattr(os, "unlink", refused)
        Writer().remove_unfinished(str(tmp_path / "fstab"))
        Writer().remove_file(str(tmp_path / "drop-in"))

    def test_time_limit_ends_the_helpers_too(self, tools, tmp_path, monkeypatch):
        late = tmp_path / "late"
        tools("mount", f"sh -c 'sleep 1.5; touch {late}' & wait")
        monkeypatch.setattr(writer, "MOUNT_LIMIT", 0.5)
        with pytest.raises(HostproofError, match="no end after 0.5 seconds, stopped"):
            Writer().mount(DATA, "/u02", "nfs", "hard")
        time.sleep(1.3)
        assert not late.exists()
