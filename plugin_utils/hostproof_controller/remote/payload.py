# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The code that travels to a host: built once per version of the sources, and kept by content.

The connection transfers ``command`` (one line for a shell) and, on its standard input, the payload
and the request. The payload is the same for all hosts of a task; the request is per host.
"""

from __future__ import annotations

import binascii
import functools
import hashlib
import importlib.util
import json
import lzma
import marshal
import os
import re
import secrets
import shlex
import sys
import time
import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from ansible.module_utils.hostproof.collect import bounded

from .. import cache, known_findings
from ..layout import LIBRARY, ROOT
from . import sources as travelling
from .sources import MODULES, PACKAGE, Source

#: Smaller by a fifth, but a Python can be built without it: then the second one is sent.
COMPRESSIONS = ("lzma", "zlib")
#: The paths without their sources, for the controller itself, which has them compiled.
COMPILED = "compiled"
#: Exit code of a host that cannot use the payload: the next one is sent.
UNUSABLE = 76

#: Files of each control, and directories that controls and the library have.
_ALIKE = ("__init__.py", "control.py", "policy.py", "subjects.py")
_DIRECTORIES = ("parsers", "probes", "snmp")

#: Where a module's answer begins.
_OBJECT = re.compile(r"^[ \t]*\{", re.MULTILINE)

#: A place in a traceback.
_PLACE = re.compile(r'File "([^"\n]+)", line ([1-9]\d{0,5})\b')

#: The Pythons of a host, in this order: a package, the one of Oracle Linux 8 and RHEL 8 themselves,
#: and any other.
PYTHONS = ("/usr/bin/python3", "/usr/libexec/platform-python", "python3")
NO_PYTHON = f"no Python 3 was found ({', '.join(PYTHONS[:2])}, and {PYTHONS[2]} in PATH)"

#: Variables of the environment may be in front of it, so it is one simple command.
_SEARCH = "/bin/sh -c {0} sh".format(
    shlex.quote(
        f'for p in {" ".join(PYTHONS)}; do if command -v $p >/dev/null; then exec $p "$@"; fi; '
        f"done; echo {shlex.quote(NO_PYTHON)} >&2; exit 127"
    )
)

TOO_OLD = "Hostproof needs Python 3.6 or newer: set ansible_python_interpreter; this is "

#: Maximum size of an answer in bytes: compressed, and decompressed.
ANSWER_LIMIT = 48 * 1024 * 1024
INFLATED_LIMIT = 96 * 1024 * 1024


class NoAnswer(Exception):
    """The output contains no answer; the message is the reason, in a sentence."""


class Answer(dict[str, Any]):
    """The answer of a host. ``plain``: all its texts are printable. ``texts``: the texts of its
    findings, if they can be known (known_findings.py)."""

    plain = False
    texts: Sequence[bytes] = ()


#: Harmless characters after a backslash in JSON, and maximum number of backslashes to check.
_HARMLESS = frozenset('"\\/nt')
_MOST_ESCAPES = 2000


def is_plain(text: str) -> bool:
    """Whether all texts in this ASCII JSON are printable, by a fast check without parsing.

    False if the fast check cannot decide.
    """
    if "\x7f" in text:
        return False
    place = text.find("\\")
    for _ in range(_MOST_ESCAPES):
        if place < 0:
            return True
        follows = text[place + 1]
        if follows == "u":
            if not chr(int(text[place + 2 : place + 6], 16)).isprintable():
                return False
        elif follows not in _HARMLESS:
            return False
        place = text.find("\\", place + 2)
    return False


def command(interpreter: str | None, payload: bytes, compression: str) -> str:
    """What starts the payload: it reads as many bytes as it is long, and the request after it.

    Without an interpreter the host starts the first of ``PYTHONS`` that it has. A Python without
    that compression takes everything and exits with UNUSABLE.
    """
    if compression == COMPILED:
        compression = "zlib"
    lines = [
        "import sys",
        "INPUT=getattr(sys.stdin,'buffer',sys.stdin)",
        f"if sys.version_info<(3,6): INPUT.read();sys.exit({TOO_OLD!r}+sys.version.split()[0])",
        # Python -c puts the working directory first: anyone with write access could add modules.
        "sys.path[:]=[p for p in sys.path if p]",
        f"d=INPUT.read({len(payload)})",
        f"try: import {compression}",
        f"except ImportError: INPUT.read();sys.exit({UNUSABLE})",
        f'c,TEXT={compression}.decompress(d).decode().split("\\0",1)',
        "exec(c)",
    ]
    return f"{interpreter or _SEARCH} -sSE -c {shlex.quote(chr(10).join(lines))}"


def request(
    module: str,
    params: dict[str, Any],
    *,
    check_mode: bool,
    diff: bool,
    compiled: tuple[str, str, str] | None = None,
) -> tuple[bytes, str]:
    """The request after the payload, and the random mark that encloses the answer.

    The request is a line of JSON with the seconds of measurement on the host, then the compressed
    parameters.
    """
    mark = secrets.token_hex(16)
    options = {
        "module": module,
        "check_mode": check_mode,
        "diff": diff,
        "compiled": compiled,
        "window_seconds": _window_of(params),
    }
    head = json.dumps([mark, options]).encode("ascii")
    values = json.dumps(params, separators=(",", ":"))
    return head + b"\n" + zlib.compress(values.encode("ascii"), 9), mark


def _window_of(params: dict[str, Any]) -> float:
    """Every control has a window by its own variable; a host opens one, as long as the longest."""
    chosen = params.get("controls")
    policies = chosen.values() if isinstance(chosen, dict) else ()
    windows = [policy.get("window_seconds", 0) for policy in policies if isinstance(policy, dict)]
    # What is no number the host rejects with a sentence.
    return max((window for window in windows if isinstance(window, int | float)), default=0)


def answer_in(output: str, mark: str) -> Answer:
    """The answer between the marks in what a host printed; NoAnswer where there is none."""
    begin = output.find(mark)
    end = output.find(mark, begin + len(mark))
    if begin < 0 or end < 0:
        raise NoAnswer("the host gave no answer")
    packed = output[begin + len(mark) : end]
    return unpack(packed)


def answer_of_module(output: str) -> dict[str, Any]:
    """The JSON object that a module prints, on a separate line among what else a host prints."""
    begin = _OBJECT.search(output)
    if begin is None:
        raise NoAnswer("the host gave no answer")
    line = output[begin.start() :].partition("\n")[0]
    if len(line) > INFLATED_LIMIT:
        raise NoAnswer(f"the answer is longer than {INFLATED_LIMIT >> 20} MiB")
    try:
        answer: dict[str, Any] = bounded.loads(line.encode("ascii"))
    except ValueError as problem:
        raise NoAnswer(f"the answer cannot be read: {problem}") from None
    return answer


def unpack(packed: str) -> Answer:
    """A JSON object from base64 of zlib of its text, neither longer nor fuller than it may be."""
    if len(packed) > ANSWER_LIMIT:
        raise NoAnswer(f"the answer is longer than {ANSWER_LIMIT >> 20} MiB")
    try:
        # A number of 10,000 digits is a ValueError too.
        text = bounded.inflate(binascii.a2b_base64(packed), INFLATED_LIMIT)
        content, texts = known_findings.loads(text)
    except ValueError as problem:
        raise NoAnswer(f"the answer cannot be read: {problem}") from None
    if not isinstance(content, dict):
        raise NoAnswer("the answer is not a JSON object")
    answer = Answer(content)
    answer.plain = is_plain(text.decode("ascii"))
    answer.texts = texts
    return answer


def payload_for(module: str, controls: Iterable[str], compression: str = COMPRESSIONS[0]) -> bytes:
    """The payload of a module with what the controls need."""
    return _payload(module, tuple(sorted(controls)), compression)


#: Tells a Python's bytecode from others'.
_MAGIC = importlib.util.MAGIC_NUMBER.hex()


def compiled_for(module: str, controls: Iterable[str]) -> tuple[str, str, str] | None:
    """The compiled payload for the same Python on this machine: path, magic number of the bytecode,
    and SHA-256 of the content. None if it is not cached.

    On a host, the compilation takes longer than the whole audit.
    """
    chosen = tuple(sorted(controls))
    payload = _compiled(module, chosen)
    if payload is None:
        sources = all_sources()
        path = _folder() / f"{_name(module, chosen)}.{_MAGIC}"
        cache.get_or_create(path, lambda: _compile(sources, module, chosen))
        _compiled.cache_clear()
        payload = _compiled(module, chosen)
    return payload


@functools.cache
def _compiled(module: str, chosen: tuple[str, ...]) -> tuple[str, str, str] | None:
    """The compiled payload from the cache."""
    path = _folder() / f"{_name(module, chosen)}.{_MAGIC}"
    digest = cache.digest(path)
    return None if digest is None else (str(path), _MAGIC, digest.hex())


def _compile(sources: dict[str, Source], module: str, controls: tuple[str, ...]) -> bytes:
    codes = {
        path: compile(travelling.without_empty_lines(text), path, "exec", dont_inherit=True)
        for path, text, _ in _used(sources, module, controls)
    }
    # Each by itself: a host imports some of them.
    return marshal.dumps({path: marshal.dumps(code) for path, code in codes.items()})


def _name(module: str, controls: tuple[str, ...]) -> str:
    return f"{module}-{hashlib.sha256(','.join(controls).encode()).hexdigest()[:16]}"


@functools.cache
def _payload(module: str, controls: tuple[str, ...], compression: str) -> bytes:
    name = f"{_name(module, controls)}.{compression}"
    content = cache.read_verified(_folder() / name)
    if content is not None:
        # Each worker comes here, and reading all sources costs more than all else that it does.
        return content
    # Before the lock that keeping takes: this is kept too.
    sources = all_sources()
    return cache.get_or_create(
        _folder() / name, lambda: _build(sources, module, controls, compression)
    )


def _build(
    sources: dict[str, Source], module: str, controls: tuple[str, ...], compression: str
) -> bytes:
    used = _used(sources, module, controls)
    # Sources of one kind are alike: next to each other they take less.
    used.sort(key=lambda source: (_kind(source.path), source.path))
    # No source holds a NUL. From the path the name of the module follows.
    parts = [
        f"{path}\n{'' if compression == COMPILED else travelling.without_empty_lines(text)}"
        for path, text, _ in used
    ]
    return _compress("\0".join([_bootstrap(), *parts]).encode(), compression)


def _used(sources: dict[str, Source], module: str, controls: Iterable[str]) -> list[Source]:
    """The sources that a module needs for these controls, without unused definitions."""
    chosen = [sources[name] for name in what_travels(sources, module, controls)]
    return travelling.without_unused(chosen, _bootstrap())


@functools.cache
def _bootstrap() -> str:
    text = travelling.strip((Path(__file__).parent / "bootstrap.py").read_text())
    return travelling.without_empty_lines(text)


def with_lines_of_source(trace: str, module: str, controls: Iterable[str]) -> str:
    """A traceback of a host, with the lines of the sources for those of the payload."""
    texts = {source.path: source.text for source in _used(all_sources(), module, controls)}

    def place(match: re.Match[str]) -> str:
        lines = travelling.kept_lines(texts.get(match[1], ""))
        number = int(match[2])
        return f'File "{match[1]}", line {lines[number - 1] if number <= len(lines) else number}'

    return _PLACE.sub(place, trace)


def _kind(path: str) -> str:
    """The group of alike sources: a directory, or one file of each control."""
    *parents, directory, name = path.split("/")
    if parents[-1:] == ["controls"]:
        return f"~{name}" if name in _ALIKE else "~~"
    return next((kind for kind in _DIRECTORIES if kind in (*parents, directory)), directory)


def what_travels(sources: dict[str, Source], module: str, controls: Iterable[str]) -> list[str]:
    """What a module needs for these controls."""
    controlled = (f"{PACKAGE}.controls.{name}.control" for name in controls)
    return travelling.closure(sources, [f"{MODULES}.{module}", *controlled])


def _compress(text: bytes, compression: str) -> bytes:
    if compression != "lzma":
        return zlib.compress(text, 9)
    # A window of 4 MiB holds all of it, and the host needs no more memory than that.
    filters = [
        {
            "id": lzma.FILTER_LZMA1,
            "preset": 9 | lzma.PRESET_EXTREME,
            "dict_size": 1 << 22,
            # Text has no words of four bytes.
            "pb": 0,
            "lc": 4,
        }
    ]
    # Without the checksum and the blocks of the newer format.
    return lzma.compress(text, format=lzma.FORMAT_ALONE, filters=filters)


@functools.cache
def all_sources() -> dict[str, Source]:
    """Everything that may travel, prepared. Costs seconds where nothing is kept of this version."""
    prepared = json.loads(cache.get_or_create(_folder() / "sources.json", _prepare_all))
    return {
        name: Source(path, text, tuple(imports)) for name, (path, text, imports) in prepared.items()
    }


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
    """A name for the state of all that travels, and of what packs it.

    To read all of it takes as long as to import what an audit needs, so it is read once for each
    state of the files (size, and times of the change).
    """
    paths = [*map(str, _PACKERS), *travelling.files_of_sources(ROOT, LIBRARY)]
    looks = [os.stat(path) for path in paths]
    if max(look.st_ctime for look in looks) > time.time() - _RECENT:
        return _version()
    states = [
        (path, look.st_ino, look.st_size, look.st_mtime_ns, look.st_ctime_ns)
        for path, look in zip(paths, looks, strict=True)
    ]
    state = hashlib.sha256(repr((sys.version, states)).encode())
    known = cache.folder_of("state", state.hexdigest()[:32]) / "version"
    return cache.get_or_create(known, lambda: _version().encode()).decode()


#: Seconds in which a second change of a file may have the same time.
_RECENT = 2.0
_PACKERS = [Path(__file__).parent / f"{name}.py" for name in ("payload", "sources", "bootstrap")]


def _version() -> str:
    state = hashlib.sha256(sys.version.encode())
    for path in _PACKERS:
        state.update(path.read_bytes())
    for name, (path, content) in _read().items():
        state.update(f"{name}\0{path}\0{len(content)}\0".encode())
        state.update(content)
    return state.hexdigest()[:32]


@functools.cache
def references() -> dict[str, str]:
    """Check to its reference, which hosts do not have."""
    content = cache.get_or_create(_folder() / "references.json", _collect_references)
    collected: dict[str, str] = json.loads(content)
    return collected


def _collect_references() -> bytes:
    # This imports all rules, once for a version of the code.
    from ansible.module_utils.hostproof.controls.registry import CONTROLS

    checks = [check for control in CONTROLS.values() for check in control.checks]
    return json.dumps({check.id: check.reference for check in checks}).encode()


def with_references(findings: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The findings of a host, with the references that the payload leaves out."""
    for finding in findings:
        if finding["reference"].startswith(travelling.REFERENCE):
            known = references().get(finding["check"])
            if known is not None:
                finding["reference"] = known + finding["reference"][len(travelling.REFERENCE) :]
    return findings


def _folder() -> Path:
    return cache.folder_of("payload", version())


def prime(module: str = "", controls: Iterable[str] = ()) -> None:
    """Prepare what all workers share, before they are forked; a payload if it is there already."""
    if not (_folder() / "sources.json").exists():
        all_sources()
    chosen = tuple(sorted(controls))
    references()
    if (_folder() / f"{_name(module, chosen)}.{COMPRESSIONS[0]}").exists():
        _payload(module, chosen, COMPRESSIONS[0])
        _compiled(module, chosen)
