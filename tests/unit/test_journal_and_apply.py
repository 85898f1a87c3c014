"""Applying and putting back: whatever goes wrong, and wherever a crash falls, nothing is lost."""

import base64
import errno
import fcntl
import json
import os
import stat
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from ansible.module_utils.hostproof.apply import difference, journal, writer
from ansible.module_utils.hostproof.apply import transaction as apply
from ansible.module_utils.hostproof.apply.change import FileChange, Plan, Refusal, ValueChange
from ansible.module_utils.hostproof.apply.journal import Journal
from ansible.module_utils.hostproof.apply.writer import Writer
from ansible.module_utils.hostproof.collect import reader
from ansible.module_utils.hostproof.collect.host import live as host_module
from ansible.module_utils.hostproof.errors import HostproofError
from cases import cases

BINARY = bytes(range(256)) * 3


class Crash(BaseException):
    """As if the process had been killed here."""


class CrashingOs:
    """Stands in for the module os in apply/writer.py; crashes right before a step. Right after one
    the machine is as right before the next."""

    STEPS = (
        *("chmod", "fchmod", "fchown", "fsync", "link", "mkdir", "open", "rename"),
        *("rmdir", "unlink"),
    )

    def __init__(self, at: int) -> None:
        self.count = 0
        self._at = at

    def __getattr__(self, name: str) -> Any:
        real = getattr(os, name)
        if name not in (*self.STEPS, "write"):
            return real

        def step(*arguments: Any, **options: Any) -> Any:
            self.count += 1
            if self.count == self._at:
                raise Crash
            return real(*arguments, **options)

        return step


class StingyKernel(Writer):
    """A kernel that grants at most ``limit``."""

    def __init__(self, limit: int) -> None:
        self._limit = limit

    def write_value(self, path: str, value: str) -> None:
        Path(path).write_text(f"{min(int(value), self._limit)}\n")


class Queue(Writer):
    """A disk's queue: each scheduler comes with a length, and with none it cannot be longer."""

    LENGTHS = {"none": 192, "mq-deadline": 256}

    def write_value(self, path: str, value: str) -> None:
        length = Path(path).with_name("nr_requests")
        if value in self.LENGTHS:
            length.write_text(f"{self.LENGTHS[value]}\n")
        elif length.with_name("scheduler").read_text() == "none\n" and int(value) > 192:
            raise OSError(errno.EINVAL, "Invalid argument")
        Path(path).write_text(f"{value}\n")


class Host:
    """A root with files and values below a temporary folder, its journal, and what to change."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.journal = Journal(Writer(), str(root / "var/hostproof"))
        (root / "var").mkdir()
        self.pool = self.value("proc/nr_hugepages", "1000")
        self.group = self.value("proc/shm_group", "111")
        self.kept = self.file("etc/sysctl.d/97-kept.conf", BINARY, 0o640)
        self.target = self.file("srv/shared.conf", b"shared = 1\n", 0o600)
        self.linked = root / "etc/sysctl.d/50-linked.conf"
        self.linked.symlink_to("../../srv/shared.conf")
        if os.geteuid() == 0:
            os.chown(self.kept, 65534, 65533)
        self.new = root / "etc/sysctl.d/99-new.conf"
        self.deep = root / "etc/missing/folders/deep.conf"

    def file(self, name: str, content: bytes, mode: int = 0o644) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        path.chmod(mode)
        return path

    def value(self, name: str, text: str) -> Path:
        return self.file(name, text.encode() + b"\n")

    def change_file(self, path: Path, content: str | None, mode: int = 0o644) -> FileChange:
        text = path.read_bytes().decode("utf-8", "surrogateescape") if path.is_file() else None
        return FileChange(str(path), content, text, mode)

    def change_value(self, path: Path, value: str) -> ValueChange:
        return ValueChange(str(path), value, path.read_text().strip())

    def plan(self) -> Plan:
        """Every kind of change: new, deep, replaced, through a link, and two values."""
        return plan_of(
            self.change_file(self.new, "vm.nr_hugepages = 8194\n"),
            self.change_file(self.deep, "deep\n", 0o640),
            self.change_file(self.kept, "kept = no\n"),
            self.change_file(self.linked, "shared = 2\n"),
            self.change_value(self.group, "543"),
            self.change_value(self.pool, "8194"),
        )

    def apply(self, plan: Plan, hand: Writer | None = None) -> None:
        """What library/apply_control.py does."""
        apply.refuse(plan, "hugepages", self.journal)
        apply.apply_plan(plan, "hugepages", self.journal, hand or Writer())

    def revert(self, *, overwrite: bool = False) -> list[str]:
        """What library/revert_control.py does."""
        transactions = self.journal.transactions("hugepages")
        apply.refuse_if_edited_since(transactions, overwrite)
        apply.revert(transactions, self.journal, Writer())
        return [transaction.name for transaction in transactions]

    def state(self) -> dict[str, tuple[Any, ...]]:
        """Everything but the journal: kind, mode, owner and content by path."""
        files = {}
        for path in sorted(self.root.rglob("*")):
            name = str(path.relative_to(self.root))
            if name.startswith("var/"):
                continue
            look = path.lstat()
            if path.is_symlink():
                content: Any = os.readlink(path)
            else:
                content = path.read_bytes() if path.is_file() else None
            mode = stat.S_IFMT(look.st_mode), stat.S_IMODE(look.st_mode)
            files[name] = (mode, look.st_uid, look.st_gid, content)
        return files

    def open_entries(self) -> list[Path]:
        return sorted((self.root / "var/hostproof/journal").glob("*/*.json"))


def plan_of(*changes: FileChange | ValueChange) -> Plan:
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
def host(tmp_path) -> Host:
    return Host(tmp_path)


@pytest.fixture
def crash(monkeypatch) -> Iterator[Callable[..., bool]]:
    """crash(action, at): whether the action crashed at that step."""

    def crash_at(action: Callable[[], Any], at: int) -> bool:
        with monkeypatch.context() as patch:
            patch.setattr(writer, "os", CrashingOs(at))
            try:
                action()
            except Crash:
                return True
        return False

    return crash_at


class TestApply:
    def test_everything_is_as_planned(self, host):
        host.apply(host.plan())
        assert host.new.read_text() == "vm.nr_hugepages = 8194\n"
        assert stat.S_IMODE(host.new.stat().st_mode) == 0o644
        assert stat.S_IMODE(host.deep.stat().st_mode) == 0o640
        assert host.pool.read_text() == "8194\n"

    def test_owner_and_mode_of_a_file_stay(self, host):
        before = host.kept.stat()
        host.apply(host.plan())
        after = host.kept.stat()
        assert host.kept.read_text() == "kept = no\n"
        assert (after.st_mode, after.st_uid, after.st_gid) == (
            before.st_mode,
            before.st_uid,
            before.st_gid,
        )

    def test_link_is_written_through(self, host):
        host.apply(host.plan())
        assert host.linked.is_symlink()
        assert host.target.read_text() == "shared = 2\n"

    def test_bytes_that_are_no_text_stay(self, host):
        """A comment in an old encoding, in a file of which one line changes."""
        old = b"# Datentr\xe4ger\n"
        host.kept.write_bytes(old)
        text = old.decode("utf-8", "surrogateescape")
        change = FileChange(str(host.kept), text + "new\n", text)
        host.apply(plan_of(change))
        assert host.kept.read_bytes() == old + b"new\n"
        assert difference.of_plan(plan_of(change))[0]["before"] == "# Datentr\ufffdger\n"
        host.revert()
        assert host.kept.read_bytes() == old

    def test_no_change_leaves_no_journal(self, host):
        host.apply(plan_of())
        assert not (host.root / "var/hostproof").exists()

    def test_journal_is_for_root_alone(self, host):
        host.apply(host.plan())
        kept = host.root / "var/hostproof"
        # An original keeps the mode that it had, in a folder that nobody else may enter.
        files = [path for path in [kept, *kept.rglob("*")] if path.suffix != ".original"]
        assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {0o700, 0o600}

    def test_prior_state_is_on_disk_before_each_change(self, host):
        """The journal already holds a path at the moment that the path changes."""
        seen = []

        class Watching(Writer):
            def write_file(self, path, *arguments):
                if not path.endswith(".json"):
                    seen.append((path, path in journaled()))
                super().write_file(path, *arguments)

            def write_value(self, path, value):
                seen.append((path, path in journaled()))
                super().write_value(path, value)

            def make_folder(self, path, mode=0o755):
                if "hostproof" not in path:
                    seen.append((path, path in journaled()))
                super().make_folder(path, mode)

        def journaled() -> set[str]:
            return {json.loads(path.read_text())["path"] for path in host.open_entries()}

        host.apply(host.plan(), Watching())
        assert len(seen) == 8
        assert all(known for _path, known in seen)

    def test_a_refused_plan_names_reasons_and_overrides(self):
        plan = Plan([], [Refusal("too much", "allow_too_much"), Refusal("no", None)], [], [])
        with pytest.raises(apply.Refused) as refused:
            apply.refuse(plan, "hugepages")
        assert str(refused.value) == (
            "rejected, nothing was changed: too much (or accept that: hugepages_allow_too_much: "
            "true); no"
        )
        apply.refuse(plan_of(), "hugepages")

    def test_the_reason_against_a_part_leaves_the_others(self):
        plan = Plan([], [Refusal("too much", "allow_too_much", "pool")], [], [])
        with pytest.raises(apply.Refused, match="nothing was changed: too much"):
            apply.refuse(plan, "hugepages")
        change = ValueChange("/proc/sys/vm/swappiness", "1", "60")
        apply.refuse(plan._replace(changes=[change]), "hugepages")
        assert apply.left_out(plan, "hugepages") == [
            "Not changed: too much (or accept that: hugepages_allow_too_much: true)."
        ]


class TestShortGrant:
    def test_everything_is_back_and_both_numbers_are_told(self, host):
        before = host.state()
        with pytest.raises(apply.NotGranted) as problem:
            host.apply(host.plan(), StingyKernel(7000))
        assert str(problem.value) == (
            f"{host.pool}: requested 8194, the kernel granted 7000; the old state is restored"
        )
        assert host.state() == before
        assert host.revert() == []

    def test_old_value_that_does_not_come_back_either(self, host):
        """The files are put back all the same, and revert can finish later."""
        before = host.state()
        with pytest.raises(apply.NotGranted) as problem:
            host.apply(host.plan(), StingyKernel(900))
        message = str(problem.value)
        assert "requested 8194, the kernel granted 900" in message
        assert "requested the old 1000, the kernel granted 900" in message
        assert "run revert" in message
        after = host.state()
        files = {name for name in before if name.startswith(("etc", "srv"))}
        assert {name: after.get(name) for name in files} == {name: before[name] for name in files}
        host.pool.write_text("0900\n")
        host.revert()
        assert host.state() == before

    @cases("error", OSError(12, "Cannot allocate memory"), HostproofError("no"))
    def test_error_in_the_middle(self, host, error):
        before = host.state()

        class Failing(Writer):
            def write_value(self, path, value):
                if value == "8194":
                    raise error
                super().write_value(path, value)

        with pytest.raises(apply.NotGranted, match="the old state is restored"):
            host.apply(host.plan(), Failing())
        assert host.state() == before

    def test_file_that_does_not_hold_what_was_written(self, host):
        before = host.state()

        class Forgetful(Writer):
            def write_file(self, path, content, *arguments):
                lost = b"" if content == b"kept = no\n" else content
                super().write_file(path, lost, *arguments)

        with pytest.raises(apply.NotGranted, match="does not hold what was written to it"):
            host.apply(host.plan(), Forgetful())
        assert host.state() == before


class TestRevert:
    def test_byte_for_byte(self, host):
        before = host.state()
        host.apply(host.plan())
        assert host.state() != before
        assert len(host.revert()) == 1
        assert host.state() == before
        assert host.revert() == []

    def test_several_applies_newest_first(self, host):
        states = []
        for pages in ("2000", "3000", "4000"):
            states.append(host.state())
            host.apply(
                plan_of(
                    host.change_file(host.new, f"vm.nr_hugepages = {pages}\n"),
                    host.change_value(host.pool, pages),
                )
            )
        names = host.revert()
        assert names == sorted(names, reverse=True)
        assert len(names) == 3
        assert host.state() == states[0]

    def test_other_controls_stay(self, host):
        apply.apply_plan(
            plan_of(host.change_file(host.new, "x\n")), "io_pacing", host.journal, Writer()
        )
        assert host.revert() == []
        assert host.new.exists()
        assert [transaction.control for transaction in host.journal.transactions()] == ["io_pacing"]

    def test_clock_that_goes_back(self, host, monkeypatch):
        before = host.state()
        clock = [1795231561.5, 1795231561.5, 1795231000.25]
        for pages, now in zip(("2000", "3000", "4000"), clock, strict=True):
            monkeypatch.setattr(time, "time", lambda now=now: now)
            host.apply(plan_of(host.change_value(host.pool, pages)))
        befores = [transaction.entries[0].before for transaction in host.journal.transactions()]
        assert befores == ["3000", "2000", "1000"]
        host.revert()
        assert host.state() == before

    def test_clock_that_goes_back_behind_what_was_reverted(self, host, monkeypatch):
        monkeypatch.setattr(time, "time", lambda: 1795231561.5)
        host.apply(plan_of(host.change_value(host.pool, "2000")))
        host.revert()
        monkeypatch.setattr(time, "time", lambda: 1795231000.5)
        host.apply(plan_of(host.change_value(host.pool, "2000")))
        assert len(host.revert()) == 1
        assert len(list((host.root / "var/hostproof/reverted").iterdir())) == 2

    def test_folder_that_somebody_uses_meanwhile_stays(self, host):
        host.apply(host.plan())
        (host.deep.parent / "other.conf").write_text("mine\n")
        host.revert()
        assert not host.deep.exists()
        assert (host.deep.parent / "other.conf").read_text() == "mine\n"

    def test_value_that_cannot_come_back_keeps_no_file_from_coming_back(self, host):
        before = host.state()
        host.apply(host.plan())
        transaction = host.journal.transactions()[0]
        with pytest.raises(apply.NotGranted, match="requested the old 1000, .* granted 900"):
            apply.put_back(transaction, StingyKernel(900))
        after = host.state()
        after.pop("proc/nr_hugepages")
        before.pop("proc/nr_hugepages")
        assert after == before

    def disk(self, host, name, wwid, requests):
        host.file(f"sys/block/{name}/device/wwid", f"{wwid}\n".encode())
        return host.value(f"sys/block/{name}/queue/nr_requests", requests)

    def test_value_of_a_disk_comes_back_where_the_disk_is_now(self, host):
        """After a boot two disks may have changed names: the journal knows more than the name."""
        first, second = (self.disk(host, f"sd{letter}", f"naa.{letter}", "256") for letter in "ab")
        host.apply(plan_of(host.change_value(first, "64")))
        self.disk(host, "sda", "naa.b", "900")
        self.disk(host, "sdb", "naa.a", "64")
        restorations = apply.restorations(host.journal.transactions("hugepages"))
        assert [(restored.path, restored.now, restored.before) for restored in restorations] == [
            (str(second), "64", "256")
        ]
        host.revert()
        assert (first.read_text(), second.read_text()) == ("900\n", "256\n")

    def test_both_paths_of_one_unit_come_back_under_new_names(self, host):
        paths = [self.disk(host, f"sd{old_letter}", "naa.a", "256") for old_letter in "ab"]
        host.apply(plan_of(*(host.change_value(path, "64") for path in paths)))
        new = [self.disk(host, f"sd{new_letter}", "naa.a", "64") for new_letter in "cd"]
        for letter in "ab":
            self.disk(host, f"sd{letter}", "naa.other", "900")
        host.revert()
        assert [path.read_text() for path in paths + new] == ["900\n"] * 2 + ["256\n"] * 2

    def test_value_of_a_disk_that_is_gone_is_written_to_no_other(self, host):
        path = self.disk(host, "sda", "naa.a", "256")
        host.apply(plan_of(host.change_value(path, "64")))
        self.disk(host, "sda", "naa.other", "900")
        host.revert()
        assert path.read_text() == "900\n"
        assert host.journal.transactions() == []

    def test_check_mode_tells_what_revert_does(self, host):
        host.apply(plan_of(host.change_value(host.pool, "2000")))
        host.apply(host.plan())
        old = host.state()
        restorations = apply.restorations(host.journal.transactions("hugepages"))
        assert host.state() == old
        host.revert()
        for restored in restorations:
            path = Path(restored.path)
            content = path.read_bytes().decode("utf-8", "replace") if path.is_file() else None
            if str(path.parent).endswith("/proc"):
                content = (content or "").strip()
            assert content == restored.before
            assert restored.now != restored.before
        assert {restored.path for restored in restorations} == {
            str(path)
            for path in (host.new, host.deep, host.kept, host.linked, host.group, host.pool)
        }


class TestLostEdits:
    def test_edit_after_apply_is_not_overwritten(self, host):
        host.apply(host.plan())
        host.new.write_text("mine\n")
        state = host.state()
        with pytest.raises(apply.Refused) as refused:
            host.revert()
        assert str(host.new) in str(refused.value)
        assert "hostproof_revert_overwrite: true" in str(refused.value)
        assert host.state() == state

    def test_edit_may_be_given_up(self, host):
        before = host.state()
        host.apply(host.plan())
        host.new.write_text("mine\n")
        host.revert(overwrite=True)
        assert host.state() == before

    def test_edit_that_puts_the_old_state_back_is_no_edit(self, host):
        before = host.state()
        host.apply(host.plan())
        host.new.unlink()
        host.revert()
        assert host.state() == before

    def test_edit_between_two_applies(self, host):
        """The newer journal holds the edit, the older one would put back what was before it."""
        host.apply(plan_of(host.change_file(host.new, "ours = 1\n")))
        host.new.write_text("ours = 1\nmine = 1\n")
        host.apply(plan_of(host.change_file(host.new, "ours = 2\n")))
        with pytest.raises(apply.Refused):
            host.revert()

    def test_file_that_is_gone(self, host):
        host.apply(host.plan())
        host.kept.unlink()
        with pytest.raises(apply.Refused):
            host.revert()


class TestKeep:
    """Putting back the newest applies alone: what an older one did stays."""

    def test_the_state_after_the_older_apply_comes_back(self, host):
        host.apply(plan_of(host.change_file(host.new, "ours = 1\n")))
        (first,) = [transaction.name for transaction in host.journal.transactions()]
        state = host.state()
        host.apply(plan_of(host.change_file(host.new, "ours = 2\n")))
        newest = apply.transactions_to_revert(host.journal.transactions(), [first])
        assert [transaction.name for transaction in newest] != [first]
        apply.revert(newest, host.journal, Writer())
        assert host.state() == state
        assert [transaction.name for transaction in host.journal.transactions()] == [first]

    def test_none_newer_may_be_kept(self, host):
        host.apply(plan_of(host.change_file(host.new, "ours = 1\n")))
        host.apply(plan_of(host.change_file(host.new, "ours = 2\n")))
        newest, oldest = host.journal.transactions()
        with pytest.raises(apply.Refused, match=f"{newest.name} came after {oldest.name}"):
            apply.transactions_to_revert([newest, oldest], [newest.name])

    def test_only_some_go_while_none_newer_stays(self, host):
        for number in (1, 2, 3):
            host.apply(plan_of(host.change_file(host.new, f"ours = {number}\n")))
        third, second, first = host.journal.transactions()
        every = [third, second, first]
        assert apply.transactions_to_revert(every, [first.name], [third.name]) == [third]
        assert apply.transactions_to_revert(every, [first.name], []) == []
        with pytest.raises(apply.Refused, match=f"{third.name} came after {second.name}"):
            apply.transactions_to_revert(every, [first.name], [second.name])

    def test_nothing_to_keep_and_nothing_left(self, host):
        host.apply(host.plan())
        transactions = host.journal.transactions()
        assert (
            apply.transactions_to_revert(transactions, ["20200101T000000.000000Z-hugepages"])
            == transactions
        )
        assert apply.transactions_to_revert(transactions, [transactions[0].name]) == []


# The calls that die here are made once by the other tests, which every Python has to answer.
@pytest.mark.one_core
class TestCrash:
    def test_apply_that_dies_at_any_step_can_be_reverted(self, tmp_path, crash):
        for at in range(1, 500):
            root = tmp_path / str(at)
            root.mkdir()
            host = Host(root)
            plan, before = host.plan(), host.state()
            crashed = crash(lambda host=host, plan=plan: host.apply(plan), at)
            host.revert()
            assert host.state() == before, f"step {at}"
            if not crashed:
                break
        assert at > 100

    def test_revert_that_dies_at_any_step_can_be_repeated(self, tmp_path, crash):
        for at in range(1, 500):
            root = tmp_path / str(at)
            root.mkdir()
            host = Host(root)
            before = host.state()
            host.apply(host.plan())
            crashed = crash(host.revert, at)
            host.revert()
            assert host.state() == before, f"step {at}"
            if not crashed:
                break
        assert at > 20

    def test_apply_after_a_crash_and_revert_of_both(self, host, crash):
        before = host.state()
        assert crash(lambda: host.apply(host.plan()), 40)
        host.apply(host.plan())
        assert len(host.revert()) == 2
        assert host.state() == before


class TestWhatNobodyMayWriteTo:
    def test_link_to_what_is_no_file(self, host):
        """systemd masks a drop-in by a link to /dev/null: a rename would put a file there."""
        special = host.root / "srv/special"
        os.mknod(special, stat.S_IFSOCK | 0o600)
        host.new.symlink_to(special)
        before = host.state()
        with pytest.raises(apply.Refused, match="not a regular file"):
            host.apply(host.plan())
        assert host.state() == before

    def test_link_that_leads_nowhere(self, host):
        host.new.symlink_to("../../srv/nothing.conf")
        before = host.state()
        with pytest.raises(apply.Refused, match="leads nowhere"):
            host.apply(host.plan())
        assert host.state() == before

    def test_folder_in_the_place_of_the_file(self, host):
        host.new.mkdir()
        before = host.state()
        with pytest.raises(apply.Refused, match="not a regular file"):
            host.apply(host.plan())
        assert host.state() == before


class TestJournal:
    def test_entry_as_documented(self, host):
        host.apply(plan_of(host.change_file(host.kept, "kept = no\n")))
        (path,) = host.open_entries()
        look = host.kept.stat()
        assert json.loads(path.read_text()) == {
            "schema": 2,
            "kind": "file",
            "path": str(host.kept),
            "before": {
                "content": base64.b64encode(BINARY).decode(),
                "mode": 0o640,
                "uid": look.st_uid,
                "gid": look.st_gid,
                "attributes": {},
            },
            "after": journal.digest(b"kept = no\n"),
        }
        assert path.name == "0001.json"
        assert path.parent.name.endswith("Z-hugepages")

    @cases(
        "text",
        *("", "{", "5", "[]", "null", '"text"', "{}"),
        '{"schema": 3, "kind": "file", "path": "/none", "before": null, "after": null}',
        '{"schema": 1, "kind": "file", "path": "/none", "before": null}',
        '{"schema": 1, "kind": "thing", "path": "/none", "before": null, "after": null}',
        '{"schema": 1, "kind": "file", "path": 5, "before": null, "after": null}',
        '{"schema": 1, "kind": "file", "path": "/none", "before": {"mode": 1}, "after": null}',
        '{"schema": 1, "kind": "file", "path": "/none", "after": null, "before": '
        '{"content": "?", "mode": 420, "uid": 0, "gid": 0}}',
        '{"schema": 1, "kind": "value", "path": "/none", "before": null, "after": "1"}',
    )
    def test_entry_that_is_none_stops_before_anything_is_put_back(self, host, text):
        host.apply(host.plan())
        host.open_entries()[0].write_text(text)
        state = host.state()
        with pytest.raises(HostproofError, match="0001.json: .*nothing was restored"):
            host.revert()
        assert host.state() == state

    def test_bytes_that_are_no_text(self, host):
        host.apply(host.plan())
        host.open_entries()[0].write_bytes(BINARY)
        with pytest.raises(HostproofError, match="nothing was restored"):
            host.revert()

    def test_no_journal_is_nothing_to_revert(self, host):
        assert host.journal.transactions() == []
        assert apply.restorations([]) == []


class TestWriter:
    def test_link_is_kept(self, tmp_path):
        (tmp_path / "target").write_text("old")
        (tmp_path / "link").symlink_to("target")
        Writer().write_file(str(tmp_path / "link"), b"new", 0o600)
        assert (tmp_path / "link").is_symlink()
        assert (tmp_path / "target").read_text() == "new"

    def test_unfinished_file_of_a_killed_write_is_replaced(self, tmp_path):
        path = tmp_path / "x.conf"
        unfinished = tmp_path / ("x.conf" + writer.UNFINISHED)
        unfinished.write_text("half")
        Writer().write_file(str(path), b"whole", 0o644)
        assert path.read_text() == "whole"
        assert not unfinished.exists()

    def test_umask_does_not_count(self, tmp_path):
        old = os.umask(0o077)
        try:
            Writer().write_file(str(tmp_path / "x.conf"), b"", 0o644)
            Writer().make_folder(str(tmp_path / "folder"))
        finally:
            os.umask(old)
        assert stat.S_IMODE((tmp_path / "x.conf").stat().st_mode) == 0o644
        assert stat.S_IMODE((tmp_path / "folder").stat().st_mode) == 0o755


class DeadBeforeTheValues(Writer):
    """The power fails after the files are written and before the running kernel is changed."""

    def write_value(self, path: str, value: str) -> None:
        raise Crash


def test_revert_knows_the_values_that_a_boot_sets_after_a_crash(host):
    """The new files were there at the boot, so the kernel has values that apply never wrote."""
    before = host.state()
    with pytest.raises(Crash):
        host.apply(host.plan(), DeadBeforeTheValues())
    host.pool.write_text("8194\n")
    host.revert()
    assert host.state() == before


def test_revert_does_not_pass_through_a_state_in_between(host, monkeypatch):
    """The pool went 0, 100, 200; a kernel that grants no 100 any more still gives 0."""
    host.pool.write_text("0\n")
    for pages in ("100", "200"):
        host.apply(plan_of(host.change_value(host.pool, pages)))
    monkeypatch.setattr(f"{__name__}.Writer", lambda: StingyKernel(90))
    assert len(host.revert()) == 2
    assert host.pool.read_text() == "0\n"
    assert host.open_entries() == []


class TestOtherSystems:
    """What AIX does otherwise, as its manuals and other programs say; no AIX was at hand."""

    def test_folder_above_the_journal_that_is_not_there(self, tmp_path):
        journal = Journal(Writer(), str(tmp_path / "var/lib/hostproof"))
        with journal.exclusive_lock():
            assert journal.begin("x")
        assert (tmp_path / "var/lib").stat().st_mode & 0o777 == 0o755
        assert (tmp_path / "var/lib/hostproof").stat().st_mode & 0o777 == 0o700

    @cases("code", errno.EBADF, errno.EINVAL)
    def test_folder_that_cannot_be_synced(self, tmp_path, monkeypatch, code):
        real, synced = os.fsync, []

        def fsync(handle: int) -> None:
            if stat.S_ISDIR(os.fstat(handle).st_mode):
                raise OSError(code, os.strerror(code))
            real(handle)

        monkeypatch.setattr(os, "fsync", fsync)
        monkeypatch.setattr(os, "sync", lambda: synced.append(True))
        Writer().write_file(str(tmp_path / "a"), b"1", 0o644)
        assert (tmp_path / "a").read_bytes() == b"1"
        assert synced

    def test_disk_that_fails_is_no_such_folder(self, tmp_path, monkeypatch):
        def fsync(_handle: int) -> None:
            raise OSError(errno.EIO, "Input/output error")

        monkeypatch.setattr(os, "fsync", fsync)
        with pytest.raises(OSError, match="Input/output error"):
            Writer().make_folder(str(tmp_path / "a"))

    def test_folder_that_cannot_be_locked(self, tmp_path, monkeypatch):
        """A file in it is locked instead; who has that lock keeps others out."""
        real = fcntl.flock

        def flock(handle: int, how: int) -> None:
            if stat.S_ISDIR(os.fstat(handle).st_mode):
                raise OSError(errno.EBADF, "Bad file descriptor")
            try:
                real(handle, how)
            except BlockingIOError:
                raise PermissionError(errno.EACCES, "Permission denied") from None

        monkeypatch.setattr(fcntl, "flock", flock)
        journal, other = (Journal(Writer(), str(tmp_path / "hostproof")) for _ in range(2))
        refused = pytest.raises(HostproofError, match="another apply or revert is at work")
        with journal.exclusive_lock(), refused, other.exclusive_lock():
            pass
        with other.exclusive_lock():
            assert other.begin("x")


def test_a_value_that_changed_twice_is_put_back_once(tmp_path):
    """The length that a queue had is refused while the new scheduler is in force: it comes back
    after the old scheduler, which brings a length of its own."""
    host = Host(tmp_path)
    scheduler, length = host.value("sys/scheduler", "mq-deadline"), host.value("sys/length", "200")
    length = length.rename(scheduler.with_name("nr_requests"))
    old = ValueChange(str(length), "200", "200")
    changes = [host.change_value(scheduler, "none"), host.change_value(length, "64")]
    apply.apply_plan(Plan(changes, [], [], [old]), "block_devices", host.journal, Queue())
    assert (scheduler.read_text(), length.read_text()) == ("none\n", "64\n")
    apply.revert(host.journal.transactions(), host.journal, Queue())
    assert (scheduler.read_text(), length.read_text()) == ("mq-deadline\n", "200\n")
