"""Files that are read past the page cache: what is opened, and where it is read."""

import builtins
import os
from pathlib import Path

import pytest
from ansible.module_utils.hostproof.controls.latency.probes import direct_file
from ansible.module_utils.hostproof.controls.latency.probes.direct_file import (
    CannotRead,
    DirectFile,
)
from cases import cases

MIB = 1 << 20


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder on a file system that takes direct I/O."""
    probe = tmp_path / "probe"
    probe.write_bytes(b"x" * 4096)
    try:
        os.close(os.open(probe, os.O_RDONLY | os.O_DIRECT))
    except OSError:
        pytest.skip(f"{tmp_path} is on a file system without direct I/O")
    return tmp_path


def made(path: Path, size: int = 2 * MIB) -> Path:
    path.write_bytes(b"".join(number.to_bytes(4096, "little") for number in range(size // 4096)))
    with path.open("rb") as stream:
        os.fsync(stream.fileno())
    return path


def test_reads_what_stands_there(folder: Path) -> None:
    file = direct_file.open_file(str(made(folder / "data")))
    try:
        assert (file.size, file.extents, file.sparse) == (2 * MIB, ((0, 2 * MIB),), False)
        assert direct_file.reader(file, 8192)(40960) == 8192
    finally:
        os.close(file.descriptor)


@cases("with_preadv", True, False)
def test_both_ways_of_reading(folder, monkeypatch, with_preadv):
    if not with_preadv:
        monkeypatch.delattr(os, "preadv", raising=False)
    buffers = []
    real = direct_file.mmap.mmap
    monkeypatch.setattr(
        direct_file.mmap, "mmap", lambda *args: buffers.append(real(*args)) or buffers[-1]
    )
    file = direct_file.open_file(str(made(folder / "data")))
    try:
        read = direct_file.reader(file, 4096)
        for block in (0, 7, 511, 7):
            assert read(block * 4096) == 4096
            assert buffers[0][:8] == block.to_bytes(8, "little")
        assert read(2 * MIB) == 0
    finally:
        os.close(file.descriptor)


def test_is_never_opened_for_writing(folder, monkeypatch):
    path = made(folder / "data")
    flags = []
    real = os.open
    monkeypatch.setattr(os, "open", lambda name, how: flags.append(how) or real(name, how))
    monkeypatch.setattr(builtins, "open", builtins.open)
    os.close(direct_file.open_file(str(path)).descriptor)
    assert flags
    assert all(how & os.O_ACCMODE == os.O_RDONLY and how & os.O_DIRECT for how in flags)
    assert not any(how & (os.O_CREAT | os.O_TRUNC | os.O_APPEND) for how in flags)


def test_leaves_no_trace_in_the_file(folder: Path) -> None:
    path = made(folder / "data")
    os.utime(path, (1, path.stat().st_mtime))
    before = path.stat()
    file = direct_file.open_file(str(path))
    direct_file.reader(file, 4096)(0)
    os.close(file.descriptor)
    assert path.stat() == before


def test_another_user_s_file_is_read_without_the_flag_for_owners(folder, monkeypatch):
    real = os.open

    def refusing(name, how):
        if how & os.O_NOATIME:
            raise PermissionError(1, "Operation not permitted")
        return real(name, how)

    monkeypatch.setattr(os, "open", refusing)
    os.close(direct_file.open_file(str(made(folder / "data"))).descriptor)


def test_without_direct_io_nothing_is_read(folder, monkeypatch):
    def refusing(name, how):
        raise OSError(22, "Invalid argument")

    path = made(folder / "data")
    monkeypatch.setattr(os, "open", refusing)
    with pytest.raises(CannotRead, match="without direct I/O"):
        direct_file.open_file(str(path))


def test_what_is_no_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "pipe", Path("/dev/null")):
        with pytest.raises(CannotRead, match="neither a file nor a block device"):
            direct_file.open_file(str(path))
    with pytest.raises(CannotRead, match="No such file"):
        direct_file.open_file(str(tmp_path / "nothing"))


def test_holes_are_not_read(folder: Path) -> None:
    path = folder / "sparse"
    with path.open("wb") as stream:
        for at in (4 * MIB, 64 * MIB):
            stream.seek(at)
            stream.write(b"x" * MIB)
        stream.truncate(128 * MIB)
        os.fsync(stream.fileno())
    file = direct_file.open_file(str(path))
    os.close(file.descriptor)
    if not file.sparse:
        pytest.skip("this file system has no holes")
    assert file.size == 128 * MIB
    places = direct_file.offsets(file, 8192, 500, 1)
    assert all(
        any(begin <= at and at + 8192 <= begin + MIB for begin in (4 * MIB, 64 * MIB))
        for at in places
    )
    assert min(places) < 5 * MIB
    assert max(places) >= 64 * MIB


def file_of(*extents: tuple[int, int]) -> DirectFile:
    return DirectFile("/x", -1, 0, extents, None, None, False)


def test_the_same_places_for_the_same_seed() -> None:
    file = file_of((0, 1 << 30))
    # By hand of random.Random(1).random(): 0.13436424411240122, 0.8474337369372327.
    assert direct_file.offsets(file, 8192, 2, 1) == [
        int(0.13436424411240122 * 131072) * 8192,
        int(0.8474337369372327 * 131072) * 8192,
    ]
    assert direct_file.offsets(file, 8192, 50, 1) == direct_file.offsets(file, 8192, 50, 1)
    assert direct_file.offsets(file, 8192, 50, 1) != direct_file.offsets(file, 8192, 50, 2)


def test_every_place_can_be_chosen_and_no_other() -> None:
    file = file_of((4096, 4096 * 4), (40960, 40960 + 8192), (81920, 81920 + 4096))
    assert set(direct_file.offsets(file, 8192, 200, 1)) == {4096, 40960}
    assert set(direct_file.offsets(file, 4096, 500, 1)) == {4096, 8192, 12288, 40960, 45056, 81920}


def test_nowhere_to_read() -> None:
    with pytest.raises(CannotRead, match=r"12\.0 KiB of data, and no piece"):
        direct_file.offsets(file_of((0, 8192), (16384, 20480)), MIB, 1, 1)
    with pytest.raises(CannotRead, match="0 B of data"):
        direct_file.offsets(file_of(), 4096, 1, 1)
