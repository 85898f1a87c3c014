"""Archives as files: what is read of them, and what a hostile one cannot do."""

import bz2
import gzip
import io
import lzma
import os
import subprocess
import tarfile
import tracemalloc

import pytest
from cases import cases
from hostproof_controller.archives import content


def every_path(_path):
    return True


def member(name, *, kind=tarfile.REGTYPE, link="", size=None):
    info = tarfile.TarInfo(name)
    info.type = kind
    info.linkname = link
    info.size = size or 0
    return info


def tar_of(*members, form=tarfile.GNU_FORMAT):
    """A tar file of (TarInfo, bytes)."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=form) as tar:
        for info, data in members:
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return packed.getvalue()


PLAIN = tar_of(
    (member("top", kind=tarfile.DIRTYPE), b""),
    (member("top/etc", kind=tarfile.DIRTYPE), b""),
    (member("top/etc/hosts"), b"127.0.0.1 localhost\n"),
    (member("top/etc/os-release", kind=tarfile.SYMTYPE, link="../usr/lib/os-release"), b""),
    (member("top/usr/lib/os-release"), b"ID=rhel\n"),
    (member("top/etc/secret", kind=tarfile.SYMTYPE, link="../../../etc/passwd"), b""),
    (member("top/etc/round", kind=tarfile.SYMTYPE, link="round"), b""),
    (member("top/dev/null", kind=tarfile.CHRTYPE), b""),
    (member("top/var/binary"), b"a\0b"),
)


def padded(data):
    return lzma.compress(data) + bytes(8)


@cases(
    "pack",
    bytes,
    gzip.compress,
    bz2.compress,
    lzma.compress,
    padded,
    ids=["tar", "gz", "bz2", "xz", "padded xz"],
)
def test_the_texts_of_a_tar_file(tmp_path, pack):
    path = tmp_path / "a.tar"
    path.write_bytes(pack(PLAIN))
    archive = content.read(path, every_path)
    assert archive.texts == {
        "etc/hosts": "127.0.0.1 localhost\n",
        "usr/lib/os-release": "ID=rhel\n",
    }
    assert archive.text("etc/os-release") == "ID=rhel\n"
    assert archive.text("etc/secret") is None
    assert archive.text("etc/round") is None


def test_the_texts_of_a_directory(tmp_path):
    inside = tmp_path / "top"
    (inside / "etc").mkdir(parents=True)
    (inside / "usr/lib").mkdir(parents=True)
    (inside / "etc/hosts").write_text("127.0.0.1 localhost\n")
    (inside / "usr/lib/os-release").write_text("ID=rhel\n")
    (inside / "etc/os-release").symlink_to("../usr/lib/os-release")
    (inside / "etc/absolute").symlink_to("/etc/hosts")
    (inside / "etc/out").symlink_to("../../outside")
    (inside / "etc/folder").symlink_to(tmp_path)
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/file").write_text("not in the archive")
    os.mkfifo(inside / "etc/fifo")
    archive = content.read(inside, every_path)
    assert archive.texts == {
        "etc/hosts": "127.0.0.1 localhost\n",
        "usr/lib/os-release": "ID=rhel\n",
    }
    assert archive.text("etc/os-release") == "ID=rhel\n"
    assert archive.text("etc/absolute") == "127.0.0.1 localhost\n"
    assert archive.text("etc/out/file") is None
    assert archive.text("etc/folder/outside/file") is None


def test_only_what_is_wanted_is_read(tmp_path):
    path = tmp_path / "a.tgz"
    path.write_bytes(gzip.compress(PLAIN))
    archive = content.read(path, lambda name: name.endswith("etc/hosts"))
    assert set(archive.texts) == {"etc/hosts"}


@cases("name", "/etc/passwd", "top/../../etc/passwd")
def test_a_path_that_leads_out_is_refused(tmp_path, name):
    path = tmp_path / "a.tar"
    path.write_bytes(tar_of((member(name), b"x")))
    with pytest.raises(content.ArchiveError, match="leads out of it"):
        content.read(path, every_path)


def sparse_by_pax():
    info = member("top/sparse")
    info.pax_headers = {"GNU.sparse.major": "1", "GNU.sparse.minor": "0"}
    return tar_of((info, b"1\n0\n512\n".ljust(512, b"\0")), form=tarfile.PAX_FORMAT)


def longest_name():
    head = member("././@LongLink", kind=tarfile.GNUTYPE_LONGNAME)
    head.size = content.MOST_OF_A_HEADER + 1
    return head.tobuf(tarfile.GNU_FORMAT)


def test_a_sparse_file_and_a_name_without_end_are_refused(tmp_path):
    path = tmp_path / "a.tar"
    for data, problem in (
        (sparse_by_pax(), "sparse file"),
        (member("top/x", kind=tarfile.GNUTYPE_SPARSE).tobuf(), "sparse file"),
        (longest_name(), "a name that is too long"),
    ):
        path.write_bytes(data)
        with pytest.raises(content.ArchiveError, match=problem):
            content.read(path, every_path)


def test_sizes_and_numbers_are_bounded(tmp_path, monkeypatch):
    path = tmp_path / "a.tar.gz"
    path.write_bytes(gzip.compress(PLAIN))
    for name, value, problem in (
        ("MOST_ENTRIES", 3, "more than 3 entries"),
        ("MOST_KEPT", 10, "its texts have more than"),
        ("MOST_INFLATED", 1024, "inflates to more than"),
    ):
        with monkeypatch.context() as changed:
            changed.setattr(content, name, value)
            with pytest.raises(content.ArchiveError, match=problem):
                content.read(path, every_path)
    monkeypatch.setattr(content, "MOST_OF_A_FILE", 10)
    archive = content.read(path, every_path)
    assert set(archive.texts) == {"usr/lib/os-release"}
    assert "etc/hosts" in archive.too_long


def test_xz_may_not_use_any_memory(tmp_path, monkeypatch):
    path = tmp_path / "a.tar.xz"
    path.write_bytes(lzma.compress(PLAIN))
    monkeypatch.setattr(content, "MOST_FOR_XZ", 1024)
    with pytest.raises(content.ArchiveError, match="[Mm]emory"):
        content.read(path, every_path)


@cases("pack", gzip.compress, lzma.compress)
def test_half_an_archive_is_an_error(tmp_path, pack):
    path = tmp_path / "a.tar.gz"
    data = pack(PLAIN * 20)
    path.write_bytes(data[: len(data) // 2])
    with pytest.raises(content.ArchiveError, match="cannot be read"):
        content.read(path, every_path)


@cases("size", tarfile.BLOCKSIZE * 2, tarfile.BLOCKSIZE * 2 + 100)
def test_a_plain_tar_file_that_ends_early_is_an_error(tmp_path, size):
    path = tmp_path / "a.tar"
    path.write_bytes(PLAIN[:size])
    with pytest.raises(content.ArchiveError, match="its end is missing"):
        content.read(path, every_path)


def test_global_headers_are_not_kept(tmp_path):
    """Each header has another key, so tarfile would keep the values of all."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for number in range(20):
            header = tarfile.TarInfo.create_pax_global_header({f"k{number}": "x" * 900_000})
            tar.fileobj.write(header)
            tar.addfile(tarfile.TarInfo(f"etc/{number}"))
    path = tmp_path / "a.tar.gz"
    path.write_bytes(gzip.compress(stream.getvalue()))
    tracemalloc.start()
    content.read(path, every_path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 10 * 1024 * 1024


def test_what_is_no_archive_is_an_error(tmp_path):
    path = tmp_path / "a.tar"
    path.write_text("This is a text.\n" * 100)
    with pytest.raises(content.ArchiveError, match="cannot be read"):
        content.read(path, every_path)


def test_newer_insights_archives_have_a_directory_data(tmp_path):
    inside = tmp_path / "insights-db1/data"
    (inside / "insights_commands").mkdir(parents=True)
    (inside / "insights_commands/mount").write_text("x")
    (tmp_path / "insights-db1/meta_data").mkdir()
    assert set(content.read(tmp_path, every_path).texts) == {"insights_commands/mount"}


def test_deep_and_long_paths_cost_no_memory(tmp_path, monkeypatch):
    """Each directory above an entry counts, and a path of a MiB has 500,000 of them."""
    path = tmp_path / "a.tar"
    deep = "a/" * 400 + "b"
    long = member("top/etc/link", kind=tarfile.SYMTYPE, link="x/" * 100_000)
    path.write_bytes(
        tar_of((member("a/" * 200_000 + "b"), b"x"), (long, b""), (member(deep), b"x"))
    )
    archive = content.read(path, every_path)
    assert list(archive.texts.values()) == ["x"]
    assert archive.links == {}
    monkeypatch.setattr(content, "MOST_ENTRIES", 300)
    with pytest.raises(content.ArchiveError, match="more than 300 entries"):
        content.read(path, every_path)


def test_a_directory_that_is_too_deep_is_an_error_or_cut(tmp_path):
    inside = tmp_path / "top"
    inside.mkdir()
    handle = os.open(inside, os.O_RDONLY)
    for _level in range(1200):
        os.mkdir("a", dir_fd=handle)
        deeper = os.open("a", os.O_RDONLY, dir_fd=handle)
        os.close(handle)
        handle = deeper
    os.close(handle)
    try:
        archive = content.read(inside, every_path)
        assert archive.texts == {}
    except content.ArchiveError as problem:
        assert "cannot be read" in str(problem)
    finally:
        subprocess.run(["rm", "-rf", str(inside)], check=True)
