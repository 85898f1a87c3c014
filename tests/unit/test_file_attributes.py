"""Access lists, labels, capabilities and other attributes of files that apply and revert replace.

The file system of the temporary folder is a real one; what it does not have is skipped.
"""

import errno
import json
import os
import shutil
import stat
import struct
import subprocess
from pathlib import Path

import pytest
from ansible.module_utils.hostproof.apply import file_attributes, writer
from ansible.module_utils.hostproof.apply import transaction as apply
from ansible.module_utils.hostproof.apply.change import FileChange, Plan
from ansible.module_utils.hostproof.apply.journal import Journal
from ansible.module_utils.hostproof.apply.writer import Writer
from cases import cases

ACCESS, DEFAULT = "system.posix_acl_access", "system.posix_acl_default"
#: cap_net_bind_service=ep as the kernel keeps it (VFS_CAP_REVISION_2).
CAPABILITY = struct.pack("<5I", 0x02000001, 1 << 10, 0, 0, 0)
#: What to try on the file: name to value. The label is any text where no SELinux runs.
ATTRIBUTES = {
    "user.note": b"\x00of the DBA\xff",
    "trusted.backup": b"yes",
    "security.capability": CAPABILITY,
    "security.selinux": b"system_u:object_r:etc_t:s0\x00",
}
ALICE, BOB = 61011, 61012
OLD, NEW = "old = 1\n", "new = 1\n"


def access_list(owner, group, other, mask, **users):
    """A POSIX access list as xattr(7) has it; users by ``u<uid>``."""
    entries = [(0x01, owner, 0xFFFFFFFF)]
    entries += [(0x02, rights, int(name[1:])) for name, rights in users.items()]
    entries += [(0x04, group, 0xFFFFFFFF), (0x10, mask, 0xFFFFFFFF), (0x20, other, 0xFFFFFFFF)]
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in entries)


#: Mode 0670 by ls -l, while the group has no right at all: the middle digit is the mask.
MASKED = access_list(6, 0, 0, 7, **{f"u{ALICE}": 7})


def set_or_skip(path, name, value):
    try:
        os.setxattr(path, name, value)
    except OSError as problem:
        if problem.errno not in (errno.ENOTSUP, errno.EPERM):
            raise
        pytest.skip(f"{name} cannot be set here: {problem.strerror}")


def chattr_or_skip(path, flag):
    done = (
        subprocess.run(
            [shutil.which("chattr") or "/none/chattr", flag, str(path)],
            capture_output=True,
            check=False,
        )
        if shutil.which("chattr")
        else None
    )
    if done is None or done.returncode:
        pytest.skip(f"chattr {flag} cannot be done here")


def as_is(path):
    look = path.lstat()
    mode = stat.S_IMODE(look.st_mode), look.st_uid, look.st_gid
    return mode, path.read_bytes(), {name: os.getxattr(path, name) for name in os.listxattr(path)}


class Machine:
    def __init__(self, root):
        self.target = root / "etc/one.conf"
        self.target.parent.mkdir()
        self.target.write_text(OLD)
        self.target.chmod(0o640)
        self.journal = Journal(Writer(), str(root / "hostproof"))

    def plan(self, content=NEW, mode=0o644):
        before = self.target.read_text() if self.target.exists() else None
        return Plan([FileChange(str(self.target), content, before, mode)], [], [], [])

    def apply(self, content=NEW):
        plan = self.plan(content)
        apply.refuse(plan, "control", self.journal)
        apply.apply_plan(plan, "control", self.journal, Writer())

    def revert(self):
        apply.revert(self.journal.transactions(), self.journal, Writer())

    def refused(self, match):
        """Refused in check mode and by apply itself, and nothing is changed."""
        before = as_is(self.target)
        with pytest.raises(apply.Refused, match=match):
            apply.refuse(self.plan(), "control", self.journal)
        with pytest.raises(apply.Refused, match=match):
            apply.apply_plan(self.plan(), "control", self.journal, Writer())
        assert as_is(self.target) == before
        assert not self.journal.transactions()


@pytest.fixture
def machine(tmp_path):
    return Machine(tmp_path)


@pytest.fixture(params=["original kept", "written anew"])
def way_back(request, monkeypatch):
    """Revert moves the original back, or, on another file system, writes the file anew."""
    if request.param == "written anew":

        def link(*_arguments, **_options):
            raise OSError(errno.EXDEV, "Invalid cross-device link")

        monkeypatch.setattr(os, "link", link)


ALL = {**ATTRIBUTES, ACCESS: MASKED}


@cases("content", NEW, None, ids=["replaced", "removed"])
@cases("name", *ALL, "all")
def test_attributes_stay_and_come_back(machine, way_back, name, content):
    for attribute in ALL if name == "all" else [name]:
        set_or_skip(machine.target, attribute, ALL[attribute])
    before = as_is(machine.target)
    machine.apply(content)
    if content is not None:
        assert as_is(machine.target) == (before[0], NEW.encode(), before[2])
    machine.revert()
    assert as_is(machine.target) == before
    assert machine.target.stat().st_nlink == 1


def test_the_mask_does_not_become_the_right_of_the_group(machine):
    set_or_skip(machine.target, ACCESS, MASKED)
    machine.apply()
    assert stat.S_IMODE(machine.target.stat().st_mode) == 0o670
    assert os.getxattr(machine.target, ACCESS) == MASKED


def test_a_default_access_list_of_the_folder_adds_nothing(machine, way_back):
    """A new file in the folder would give Bob what the old file never gave."""
    set_or_skip(machine.target.parent, DEFAULT, access_list(7, 7, 7, 7, **{f"u{BOB}": 7}))
    before = as_is(machine.target)
    machine.apply()
    assert as_is(machine.target) == (before[0], NEW.encode(), {})
    machine.revert()
    assert as_is(machine.target) == before


@cases("mode", 0o4755, 0o2750, 0o1644, 0o000)
def test_every_mode_stays(machine, way_back, mode):
    machine.target.chmod(mode)
    before = as_is(machine.target)
    machine.apply()
    assert as_is(machine.target) == (before[0], NEW.encode(), before[2])
    machine.revert()
    assert as_is(machine.target) == before


def test_no_moment_gives_more_than_before_or_after(machine, monkeypatch):
    """Looks at the unfinished file at each step that can change its rights."""
    set_or_skip(machine.target, ACCESS, MASKED)
    os.chown(machine.target, ALICE, BOB)
    seen = []

    class Watching:
        def __getattr__(self, name):
            real = getattr(os, name)
            if name not in ("fchown", "fchmod", "setxattr", "removexattr", "fsync", "rename"):
                return real

            def step(*given, **more):
                done = real(*given, **more)
                for path in machine.target.parent.glob("*.hostproof-unfinished"):
                    look = path.stat()
                    seen.append((look.st_uid, stat.S_IMODE(look.st_mode), os.listxattr(path)))
                return done

            return step

    monkeypatch.setattr(writer, "os", Watching())
    monkeypatch.setattr(file_attributes, "os", Watching())
    machine.apply()
    assert len(seen) >= 3
    for uid, mode, names in seen:
        assert uid in (0, ALICE)
        # More than the owner's own right is given only together with the whole access list.
        assert mode & 0o077 == 0 or (mode == 0o670 and names == [ACCESS])


@cases("name", "security.ima", "security.evm")
def test_a_signed_file_is_refused(machine, monkeypatch, name):
    # Few kernels let anybody set them without a key, so that the list of names is played.
    listed = os.listxattr
    monkeypatch.setattr(
        os, "listxattr", lambda *arguments, **more: [*listed(*arguments, **more), name]
    )
    value = os.getxattr
    monkeypatch.setattr(
        os, "getxattr", lambda at, attribute: b"x" if attribute == name else value(at, attribute)
    )
    with pytest.raises(apply.Refused, match=f"is signed .{name}"):
        apply.refuse(machine.plan(), "control", machine.journal)


@cases("flag word", ("i", "immutable"), ("a", "append-only"))
@cases("where", "file", "folder")
def test_a_file_or_folder_that_cannot_change_is_refused(machine, flag, word, where):
    path = machine.target if where == "file" else machine.target.parent
    chattr_or_skip(path, f"+{flag}")
    try:
        machine.refused(f"{path} is {word}: remove that with chattr -{flag}")
    finally:
        chattr_or_skip(path, f"-{flag}")
    machine.apply()


def test_revert_names_a_file_that_was_made_immutable_since(machine):
    machine.apply()
    chattr_or_skip(machine.target, "+i")
    try:
        with pytest.raises(apply.NotGranted, match="one.conf is immutable: remove that with"):
            machine.revert()
    finally:
        chattr_or_skip(machine.target, "-i")
    machine.revert()
    assert machine.target.read_text() == OLD


def test_a_file_with_two_names_is_refused(machine):
    os.link(machine.target, machine.target.with_name("other"))
    machine.refused("has more than one name")


def test_an_apply_that_was_killed_leaves_no_such_name(machine):
    class Killed(BaseException):
        pass

    class Dying(Writer):
        def write_file(self, path, *given, **more):
            if path == str(machine.target):
                raise Killed
            super().write_file(path, *given, **more)

    with pytest.raises(Killed):
        apply.apply_plan(machine.plan(), "control", machine.journal, Dying())
    assert machine.target.stat().st_nlink == 2
    machine.apply()
    machine.revert()
    assert machine.target.read_text() == OLD
    assert machine.target.stat().st_nlink == 1


def test_an_attribute_that_cannot_be_copied_refuses_the_change(machine, monkeypatch):
    set_or_skip(machine.target, "user.note", b"of the DBA")
    before = as_is(machine.target)

    def setxattr(*_arguments):
        raise OSError(errno.ENOTSUP, "Operation not supported")

    monkeypatch.setattr(os, "setxattr", setxattr)
    with pytest.raises(
        apply.NotGranted, match="cannot keep its attribute user.note .*the old state is restored$"
    ):
        machine.apply()
    assert as_is(machine.target) == before
    assert not list(machine.target.parent.glob("*unfinished"))


def test_an_attribute_that_is_lost_in_silence_refuses_the_change(machine, monkeypatch):
    set_or_skip(machine.target, ACCESS, MASKED)
    before = as_is(machine.target)
    monkeypatch.setattr(os, "setxattr", lambda *_arguments: None)
    with pytest.raises(apply.NotGranted, match=f"cannot keep its attribute {ACCESS}"):
        machine.apply()
    assert as_is(machine.target) == before


def test_too_many_attributes_are_refused(machine, monkeypatch):
    monkeypatch.setattr(file_attributes, "LIMIT", 100)
    set_or_skip(machine.target, "user.note", bytes(200))
    with pytest.raises(apply.Refused, match="attributes have more than 100 bytes"):
        apply.refuse(machine.plan(), "control", machine.journal)


def test_capabilities_of_another_account_s_file_are_refused(machine, monkeypatch):
    set_or_skip(machine.target, "security.capability", CAPABILITY)
    monkeypatch.setattr(os, "geteuid", lambda: ALICE)
    monkeypatch.setattr(apply.guarded, "as_owner", _as_if_trusted)
    with pytest.raises(apply.Refused, match="has capabilities"):
        apply.refuse(machine.plan(), "control", machine.journal)


def _as_if_trusted(path, step, owner=None, follow=True):
    with apply.guarded.walked(path, 0, follow) as place:
        return step(place)


def test_an_original_that_somebody_changed_is_not_put_back(machine):
    """Who had the old file open writes into it still."""
    with machine.target.open("r+") as held:
        machine.apply()
        held.write("tampered")
    machine.revert()
    assert machine.target.read_text() == OLD


def test_a_full_disk_of_the_file_itself_is_told_and_costs_nothing(machine, monkeypatch):
    """Where the file is not on the journal's disk there is no original to move back."""
    machine.apply()
    (original,) = Path(machine.journal._open).glob("*/0001.original")
    original.unlink()
    fsync = os.fsync

    def full(_handle):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(
        apply.NotGranted, match="one.conf: its file system is full; free 64 KiB and one file there"
    ):
        apply.put_back(machine.journal.transactions()[0], Writer())
    assert machine.target.read_text() == NEW
    assert not list(machine.target.parent.glob("*unfinished"))
    monkeypatch.setattr(os, "fsync", fsync)
    machine.revert()
    assert machine.target.read_text() == OLD


def test_journal_of_an_older_version_is_put_back(machine):
    machine.apply()
    (entry,) = Path(machine.journal._open).glob("*/0001.json")
    record = json.loads(entry.read_text())
    del record["before"]["attributes"]
    entry.write_text(json.dumps(dict(record, schema=1)))
    entry.with_suffix(".original").unlink()
    machine.revert()
    assert machine.target.read_text() == OLD
    assert stat.S_IMODE(machine.target.stat().st_mode) == 0o640


def test_flags_are_read_from_the_kernel(machine):
    chattr_or_skip(machine.target, "+d")
    with machine.target.open() as stream:
        assert file_attributes._flags(stream.fileno()) & 0x40


def test_a_new_file_in_a_directory_that_anybody_may_write_is_rejected_in_check_mode_too(machine):
    machine.target.unlink()
    machine.target.parent.chmod(0o1777)
    plan = machine.plan()
    for reject in (
        lambda: apply.refuse(plan, "control", machine.journal),
        lambda: apply.apply_plan(plan, "control", machine.journal, Writer()),
    ):
        with pytest.raises(apply.Refused, match="does not exist, and any account may create it"):
            reject()
    assert not machine.target.exists()
