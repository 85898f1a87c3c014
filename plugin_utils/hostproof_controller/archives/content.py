# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The texts and links of an archive: a directory, or a tar file with gzip, bzip2 or xz.

An archive may be hostile. Nothing is extracted, sizes and numbers are bounded, no link is followed
out of the archive, and devices, FIFOs, sparse files and files that are not text are left out.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import posixpath
import stat
import tarfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

from ansible.module_utils.hostproof.collect import bounded
from ansible.module_utils.hostproof.errors import HostproofError

#: How the name of an archive in one file ends.
SUFFIXES = (
    *(".tar", ".tar.gz", ".tgz", ".tar.xz", ".txz"),
    *(".tar.bz2", ".tbz"),
)

MEBIBYTE = 1024 * 1024
#: Files, directories and links of an archive.
MOST_ENTRIES = 100_000
#: Characters of a path, or of the target of a link; a longer one is left out.
MOST_OF_A_PATH = 1024
#: Bytes of one file; a longer one is left out, as it is a log.
MOST_OF_A_FILE = 8 * MEBIBYTE
#: Bytes of all files that are kept.
MOST_KEPT = 96 * MEBIBYTE
#: Bytes of a tar file after decompression.
MOST_INFLATED = 8192 * MEBIBYTE
#: Bytes of the header of one entry: a long name.
MOST_OF_A_HEADER = MEBIBYTE
#: Bytes that xz may use to decompress; xz -9 needs 65 MiB.
MOST_FOR_XZ = 256 * MEBIBYTE
_MOST_LINKS = 16
_CHUNK = 256 * 1024

Selected = Callable[[str], bool]
_PROBLEMS = (
    *(OSError, EOFError, ValueError, RecursionError),
    *(tarfile.TarError, lzma.LZMAError, zlib.error),
)


class ArchiveError(HostproofError):
    """What is wrong with an archive: one sentence that begins with its path."""


class Content:
    """The files and links of an archive, by paths relative to its top directory.

    ``texts`` are the selected files, ``links`` lead to the target as it is written, and
    ``too_long`` are selected files that were left out for their size.
    """

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}
        self.links: dict[str, str] = {}
        self.folders: set[str] = set()
        self.too_long: set[str] = set()
        #: Selected files that are not text or not readable, and directories that are not readable.
        self.left_out: set[str] = set()
        self._kept = 0
        self._entries = 0

    def text(self, path: str) -> str | None:
        """The text of a file, through links within the archive."""
        real = self.real(path)
        return None if real is None else self.texts.get(real)

    def real(self, path: str) -> str | None:
        """The path of the file or directory that a path leads to; None if out of the archive."""
        done: list[str] = []
        left = path.split("/")
        followed = 0
        while left:
            part = left.pop(0)
            if part in ("", "."):
                continue
            if part == "..":
                if not done:
                    return None
                done.pop()
                continue
            target = self.links.get("/".join([*done, part]))
            if target is None:
                done.append(part)
                continue
            followed += 1
            if followed > _MOST_LINKS:
                return None
            if target.startswith("/"):
                done = []
            left = [*target.split("/"), *left]
        return "/".join(done)

    def count(self) -> None:
        self._entries += 1
        if self._entries > MOST_ENTRIES:
            raise ValueError(f"it has more than {MOST_ENTRIES} entries")

    def add_text(self, path: str, content: bytes) -> None:
        """Keep a text file: one without a NUL."""
        if b"\0" in content:
            self.left_out.add(path)
            return
        self._kept += len(content)
        if self._kept > MOST_KEPT:
            raise ValueError(f"its texts have more than {MOST_KEPT // MEBIBYTE} MiB")
        self.texts[path] = content.decode("utf-8", "surrogateescape")
        self.links.pop(path, None)

    def add_link(self, path: str, target: str) -> None:
        if len(target) > MOST_OF_A_PATH:
            return
        self.links[path] = target
        self.texts.pop(path, None)

    def add_folder(self, path: str) -> None:
        """A directory, and those above it."""
        while path and path not in self.folders:
            self.count()
            self.folders.add(path)
            path = posixpath.dirname(path)

    def below(self, top: str) -> Content:
        """The same with the paths below the directory ``top``."""
        if not top:
            return self
        content = Content()
        cut = len(top) + 1
        for path, text in self.texts.items():
            if path.startswith(top + "/"):
                content.texts[path[cut:]] = text
        for path, target in self.links.items():
            if path.startswith(top + "/"):
                inside = target.startswith(f"/{top}/")
                content.links[path[cut:]] = target[cut:] if inside else target
        content.folders = {path[cut:] for path in self.folders if path.startswith(top + "/")}
        content.too_long = {path[cut:] for path in self.too_long if path.startswith(top + "/")}
        content.left_out = {path[cut:] for path in self.left_out if path.startswith(top + "/")}
        return content


def read(path: Path, selected: Selected) -> Content:
    """The selected texts of an archive; ArchiveError where it cannot be read."""
    try:
        content = Content()
        if path.is_dir():
            _read_folder(path, selected, content)
        else:
            _read_tar(path, selected, content)
    except _PROBLEMS as problem:
        raise ArchiveError(f"{path}: the archive cannot be read: {problem}") from problem
    return content.below(_top_of(content))


def _top_of(content: Content) -> str:
    """The only directory at the top of an archive, and within it data/ of a newer Insights one."""
    top = ""
    paths = [*content.folders, *content.texts, *content.links]
    for _level in range(2):
        names = {path[len(top) :].lstrip("/").split("/")[0] for path in paths if _is_in(path, top)}
        names.discard("")
        if len(names) == 1:
            only = posixpath.join(top, names.pop())
            if only not in content.folders:
                break
            top = only
    if posixpath.join(top, "data/insights_commands") in content.folders:
        return posixpath.join(top, "data")
    return top


def _is_in(path: str, top: str) -> bool:
    return not top or path.startswith(top + "/")


# -- a directory ----------------------------------------------------------------------------------


def _read_folder(root: Path, selected: Selected, content: Content) -> None:
    top = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for folder, folders, names, handle in os.fwalk(".", dir_fd=top, follow_symlinks=False):
            inside = posixpath.normpath(folder)
            for name in sorted([*folders, *names]):
                content.count()
                path = name if inside == "." else f"{inside}/{name}"
                if len(path) > MOST_OF_A_PATH:
                    continue
                _take(handle, name, path, selected, content)
    finally:
        os.close(top)


def _take(handle: int, name: str, path: str, selected: Selected, content: Content) -> None:
    status = os.stat(name, dir_fd=handle, follow_symlinks=False)
    if stat.S_ISLNK(status.st_mode):
        content.add_link(path, os.readlink(name, dir_fd=handle))
    elif stat.S_ISDIR(status.st_mode):
        content.add_folder(path)
        if not os.access(name, os.R_OK | os.X_OK, dir_fd=handle):
            content.left_out.add(path)
    elif stat.S_ISREG(status.st_mode) and selected(path):
        if status.st_size > MOST_OF_A_FILE:
            content.too_long.add(path)
            return
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        try:
            opened = os.open(name, flags, dir_fd=handle)
        except PermissionError:
            content.left_out.add(path)
            return
        with open(opened, "rb") as stream:
            if stat.S_ISREG(os.fstat(opened).st_mode):
                content.add_text(path, stream.read(MOST_OF_A_FILE))


# -- a tar file -----------------------------------------------------------------------------------


class _Entry(tarfile.TarInfo):
    """An entry with a header of a bounded size. A sparse file is none: its map has no bound."""

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> _Entry:
        if len(buf) != tarfile.BLOCKSIZE:
            raise ValueError("its end is missing")
        entry = super().frombuf(buf, encoding, errors)
        if entry.type == tarfile.GNUTYPE_SPARSE:
            raise ValueError("it holds a sparse file")
        extended = (tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK, tarfile.XHDTYPE)
        if entry.type in (*extended, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE):
            if not 0 <= entry.size <= MOST_OF_A_HEADER:
                raise ValueError("it has an entry with a name that is too long")
        elif entry.size < 0:
            raise ValueError("it has an entry of a negative size")
        return entry

    def _no_sparse_file(self, *_arguments: Any) -> None:
        raise ValueError("it holds a sparse file")

    _proc_gnusparse_00 = _proc_gnusparse_01 = _proc_gnusparse_10 = _no_sparse_file


def _read_tar(path: Path, selected: Selected, content: Content) -> None:
    with bounded.open_regular(str(path)) as packed:
        stream = io.BufferedReader(_Chunks(_inflated(packed)), _CHUNK)
        with tarfile.open(
            fileobj=stream, mode="r|", tarinfo=_Entry, encoding="utf-8", errors="surrogateescape"
        ) as tar:
            while (entry := tar.next()) is not None:
                content.count()
                # tarfile keeps every entry.
                tar.members = []  # type: ignore[attr-defined]
                # It keeps the values of all global headers as well.
                tar.pax_headers = {}
                name = _safe_name(entry.name)
                if name and len(name) <= MOST_OF_A_PATH:
                    _add_entry(tar, entry, name, selected, content)


def _add_entry(
    tar: tarfile.TarFile, entry: tarfile.TarInfo, name: str, selected: Selected, content: Content
) -> None:
    content.add_folder(posixpath.dirname(name))
    if entry.issym():
        content.add_link(name, entry.linkname)
    elif entry.islnk():
        content.add_link(name, "/" + _safe_name(entry.linkname))
    elif entry.isdir():
        content.add_folder(name)
    elif entry.isreg() and selected(name):
        if entry.size > MOST_OF_A_FILE:
            content.too_long.add(name)
            return
        stream = tar.extractfile(entry)
        if stream is not None:
            content.add_text(name, stream.read(MOST_OF_A_FILE))


def _safe_name(name: str) -> str:
    if name.startswith("/") or ".." in name.split("/"):
        raise ValueError(f"it has a path that leads out of it: {name[:200]!a}")
    return "" if posixpath.normpath(name) == "." else posixpath.normpath(name)


def _inflated(packed: IO[bytes]) -> Iterator[bytes]:
    """The tar file behind any compression, in pieces."""
    magic = packed.read(6)
    packed.seek(0)
    pieces: Iterator[bytes]
    if magic.startswith(b"\xfd7zXZ\0"):
        pieces = _unpacked_xz(packed)
    elif magic.startswith(b"\x1f\x8b"):
        pieces = _pieces(gzip.GzipFile(fileobj=packed))
    elif magic.startswith(b"BZh"):
        pieces = _pieces(bz2.BZ2File(packed))
    else:
        pieces = _pieces(packed)
    total = 0
    for piece in pieces:
        total += len(piece)
        if total > MOST_INFLATED:
            raise ValueError(f"it inflates to more than {MOST_INFLATED // MEBIBYTE} MiB")
        yield piece


def _pieces(stream: IO[bytes] | gzip.GzipFile) -> Iterator[bytes]:
    while piece := stream.read(_CHUNK):
        yield piece


def _unpacked_xz(packed: IO[bytes]) -> Iterator[bytes]:
    """LZMAFile has no bound for its memory."""
    decoder = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=MOST_FOR_XZ)
    data = b""
    while True:
        if decoder.eof:
            # xz may join streams, with NULs between them.
            data = (decoder.unused_data or packed.read(_CHUNK)).lstrip(b"\0")
            if not data:
                return
            decoder = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=MOST_FOR_XZ)
        elif decoder.needs_input:
            data = packed.read(_CHUNK)
            if not data:
                raise EOFError("its end is missing")
        piece = decoder.decompress(data, _CHUNK)
        data = b""
        if piece:
            yield piece


class _Chunks(io.RawIOBase):
    """Pieces as a file to read from."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self._left = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if not self._left:
            self._left = next(self._pieces, b"")
        count = min(len(buffer), len(self._left))
        buffer[:count] = self._left[:count]
        self._left = self._left[count:]
        return count
