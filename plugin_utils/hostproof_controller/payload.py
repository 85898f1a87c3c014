# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The code that travels to a host: built once per version of the sources, and kept by content.

What goes down the connection is ``command`` (one line for a shell) and, on its standard input, the
payload and the request. The payload is the same for all hosts of a task; the request is one host's.
"""

from __future__ import annotations

import atexit
import binascii
import contextlib
import fcntl
import functools
import hashlib
import json
import lzma
import os
import re
import secrets
import shlex
import shutil
import stat
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from ansible.module_utils.hostproof import bounded

from . import sources as travelling
from .layout import IS_COLLECTION, LIBRARY, ROOT
from .sources import MODULES, PACKAGE, Source

#: Smaller by a fifth, but a Python can be built without it: then the second one is sent.
COMPRESSIONS = ("lzma", "zlib")
NO_COMPRESSION = 76

#: Where a module's answer begins.
_OBJECT = re.compile(r"^[ \t]*\{", re.MULTILINE)

TOO_OLD = "Hostproof needs Python 3.6 or newer: set ansible_python_interpreter; this is "

#: What a host may answer, in bytes: as it comes, and when it is inflated.
ANSWER_LIMIT = 48 * 1024 * 1024
INFLATED_LIMIT = 96 * 1024 * 1024


class NoAnswer(Exception):
    """What came back holds no answer; the message says why, in a sentence."""


class Answer(dict[str, Any]):
    """What a host answered. ``plain``: every text of it is printable as it came."""

    plain = False


#: A character that JSON wrote out.
_WRITTEN_OUT = re.compile(r"\\u([0-9a-fA-F]{4})")


def is_plain(text: str) -> bool:
    """Whether every text in this ASCII JSON is printable: known at once, without going through it.

    False where that cannot be seen so easily.
    """
    # A pair first: what follows it is no escape.
    for harmless in ("\\\\", '\\"', "\\/", "\\n", "\\t"):
        text = text.replace(harmless, "")
    codes = _WRITTEN_OUT.findall(text)
    if "\x7f" in text or text.count("\\") != len(codes):
        return False
    return all(chr(int(code, 16)).isprintable() for code in codes)


def command(interpreter: str, payload: bytes, compression: str) -> str:
    """What starts the payload: it reads as many bytes as it is long, and the request after it.

    A Python without that compression takes everything and exits with NO_COMPRESSION.
    """
    lines = [
        "import sys",
        "INPUT=getattr(sys.stdin,'buffer',sys.stdin)",
        f"if sys.version_info<(3,6): INPUT.read();sys.exit({TOO_OLD!r}+sys.version.split()[0])",
        # With -c the working folder comes first, and whoever may write there would be imported.
        "sys.path[:]=[p for p in sys.path if p]",
        f"d=INPUT.read({len(payload)})",
        f"try: import {compression}",
        f"except ImportError: INPUT.read();sys.exit({NO_COMPRESSION})",
        f'c,TEXT={compression}.decompress(d).decode().split("\\0",1)',
        "exec(c)",
    ]
    return f"{interpreter} -sSE -c {shlex.quote(chr(10).join(lines))}"


def request(
    module: str, params: dict[str, Any], *, check_mode: bool, diff: bool
) -> tuple[bytes, str]:
    """What follows the payload, and the random mark that stands on both sides of the answer."""
    mark = secrets.token_hex(16)
    asked = {"module": module, "params": params, "check_mode": check_mode, "diff": diff}
    return json.dumps([mark, asked]).encode("ascii"), mark


def answer_in(output: str, mark: str) -> Answer:
    """The answer between the marks in what a host printed; NoAnswer where there is none."""
    begin = output.find(mark)
    end = output.find(mark, begin + len(mark))
    if begin < 0 or end < 0:
        raise NoAnswer("the host gave no answer")
    packed = output[begin + len(mark) : end]
    return unpack(packed)


def answer_of_module(output: str) -> dict[str, Any]:
    """The JSON object that a module prints, on a line of its own among what else a host prints."""
    begin = _OBJECT.search(output)
    if begin is None:
        raise NoAnswer("the host gave no answer")
    line = output[begin.start() :].partition("\n")[0]
    if len(line) > INFLATED_LIMIT:
        raise NoAnswer(f"the answer is longer than {INFLATED_LIMIT >> 20} MiB")
    try:
        found: dict[str, Any] = bounded.loads(line.encode("ascii"))
    except ValueError as problem:
        raise NoAnswer(f"the answer cannot be read: {problem}") from None
    return found


def unpack(packed: str) -> Answer:
    """A JSON object from base64 of zlib of its text, neither longer nor fuller than it may be."""
    if len(packed) > ANSWER_LIMIT:
        raise NoAnswer(f"the answer is longer than {ANSWER_LIMIT >> 20} MiB")
    try:
        # A number of 10,000 digits is a ValueError too.
        text = bounded.inflate(binascii.a2b_base64(packed), INFLATED_LIMIT)
        found = bounded.loads(text)
    except ValueError as problem:
        raise NoAnswer(f"the answer cannot be read: {problem}") from None
    if not isinstance(found, dict):
        raise NoAnswer("the answer is no JSON object")
    answer = Answer(found)
    answer.plain = is_plain(text.decode("ascii"))
    return answer


def payload_for(module: str, controls: Iterable[str], compression: str = COMPRESSIONS[0]) -> bytes:
    """The payload of a module with what the controls need."""
    return _payload(module, tuple(sorted(controls)), compression)


@functools.cache
def _payload(module: str, controls: tuple[str, ...], compression: str) -> bytes:
    name = f"{module}-{hashlib.sha256(','.join(controls).encode()).hexdigest()[:16]}"
    kept = f"{name}.{compression}"
    content = _whole(_folder() / kept)
    if content is not None:
        # Each worker comes here, and reading all sources costs more than all else that it does.
        return content
    # Before the lock that keeping takes: this is kept too.
    sources = all_sources()
    return _kept(kept, lambda: _build(sources, module, controls, compression))


def _build(
    sources: dict[str, Source], module: str, controls: tuple[str, ...], compression: str
) -> bytes:
    bootstrap = travelling.strip((Path(__file__).parent / "bootstrap.py").read_text())
    found = [sources[name] for name in what_travels(sources, module, controls)]
    # No source holds a NUL. From the path the name of the module follows.
    parts = [bootstrap, *(f"{one.path}\n{one.text}" for one in found)]
    return _compress("\0".join(parts).encode(), compression)


def what_travels(sources: dict[str, Source], module: str, controls: Iterable[str]) -> list[str]:
    """What a module needs for these controls: how to change a host only if it does."""
    roots = [f"{MODULES}.{module}"]
    asked = [f"{PACKAGE}.controls.{name}" for name in controls]
    if f"{PACKAGE}.apply" in travelling.closure(sources, roots):
        # A control of one file holds its plan.
        asked += [f"{name}.plan" for name in asked]
    return travelling.closure(sources, roots + asked)


def _compress(text: bytes, compression: str) -> bytes:
    if compression == "zlib":
        return zlib.compress(text, 9)
    # A window of 2 MiB holds all of it, and the host needs no more memory than that.
    filters = [
        {
            "id": lzma.FILTER_LZMA2,
            "preset": 9 | lzma.PRESET_EXTREME,
            "dict_size": 1 << 21,
            # Text has no words of four bytes.
            "pb": 0,
        }
    ]
    return lzma.compress(text, format=lzma.FORMAT_XZ, filters=filters)


@functools.cache
def all_sources() -> dict[str, Source]:
    """Everything that may travel, prepared. Costs seconds where nothing is kept of this version."""
    kept = json.loads(_kept("sources.json", _prepare_all))
    return {name: Source(one[0], one[1], tuple(one[2])) for name, one in kept.items()}


def _prepare_all() -> bytes:
    prepared = {
        name: travelling.prepare(name, path, content) for name, (path, content) in _read().items()
    }
    return json.dumps(prepared).encode()


@functools.cache
def _read() -> dict[str, tuple[Path, bytes]]:
    return travelling.read_sources(ROOT, LIBRARY)


@functools.cache
def version() -> str:
    """A name for the state of all that travels, and of what packs it."""
    state = hashlib.sha256(sys.version.encode())
    own = [Path(__file__), Path(travelling.__file__), Path(__file__).parent / "bootstrap.py"]
    for path in own:
        state.update(path.read_bytes())
    for name, (path, content) in _read().items():
        state.update(f"{name}\0{path}\0{len(content)}\0".encode())
        state.update(content)
    return state.hexdigest()[:32]


def prime() -> None:
    """Prepare what all workers share, before they are forked."""
    if not (_folder() / "sources.json").exists():
        all_sources()


def _kept(name: str, make: Callable[[], bytes]) -> bytes:
    """The content of a file of this version, made and kept where it is not there yet."""
    path = _folder() / name
    content = _whole(path)
    if content is not None:
        return content
    with _alone(_folder()):
        # Whoever had the lock before may have made it.
        content = _whole(path)
        if content is None:
            content = make()
            with contextlib.suppress(OSError):
                _keep(path, content)
    return content


def _whole(path: Path) -> bytes | None:
    """What was kept, if it is all there and ours: a full disk or a crash may have cut it."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    except OSError:
        return None
    with os.fdopen(handle, "rb") as stream:
        if not _is_ours(os.fstat(handle), stat.S_ISREG):
            return None
        digest, content = stream.read(32), stream.read()
    return content if hashlib.sha256(content).digest() == digest else None


def _keep(path: Path, content: bytes) -> None:
    handle, part = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(hashlib.sha256(content).digest() + content)
        # Whole under its name, or not there.
        os.replace(part, path)
    except OSError:
        os.unlink(part)
        raise


@contextlib.contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Of all workers and runs one makes a file; without a lock each does, which is only slower."""
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError):
            handle = os.open(folder / ".lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
            fcntl.flock(stack.enter_context(os.fdopen(handle, "rb")), fcntl.LOCK_EX)
        yield


@functools.cache
def _folder() -> Path:
    """Where this version's files are kept, and nobody but us can write; of this run alone if need
    be."""
    for parent in _parents():
        with contextlib.suppress(OSError):
            folder = parent / "payload" / version()
            parent.parent.mkdir(exist_ok=True)
            for one in (parent, folder.parent, folder):
                # Each by itself: the mode that mkdir is given is not that of parents it makes.
                one.mkdir(mode=0o700, exist_ok=True)
                if not _is_ours(one.lstat(), stat.S_ISDIR):
                    break
            else:
                _forget_others(folder)
                return folder
    folder = Path(tempfile.mkdtemp(prefix="hostproof-"))
    atexit.register(_remove, folder, os.getpid())
    return folder


def _parents() -> Iterator[Path]:
    if not IS_COLLECTION:
        yield ROOT / ".cache"
    # An account without a name, as in a container, has no home.
    with contextlib.suppress(RuntimeError):
        yield Path.home() / ".cache/hostproof"


def _is_ours(found: os.stat_result, is_kind: Callable[[int], bool]) -> bool:
    """What travels is run as root on hosts: no other account may have a say in it."""
    writable = found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return is_kind(found.st_mode) and found.st_uid == os.geteuid() and not writable


#: Versions that are kept: a checkout that is worked on has a new one with every edit.
_KEPT_VERSIONS = 5


def _forget_others(folder: Path) -> None:
    """Remove what was kept of old versions; a run that still uses one makes it again."""
    others = [one for one in folder.parent.iterdir() if one != folder]
    others.sort(key=lambda one: one.lstat().st_mtime, reverse=True)
    for one in others[_KEPT_VERSIONS - 1 :]:
        shutil.rmtree(one, ignore_errors=True)


def _remove(folder: Path, maker: int) -> None:
    if os.getpid() == maker:
        shutil.rmtree(folder, ignore_errors=True)
