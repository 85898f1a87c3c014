# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""``sign`` and ``verify-report``: a report directory sealed with ``ssh-keygen -Y``.

The seal is a manifest with a hash of every file (seal.json), and OpenSSH's signature of it
(seal.json.sig). One changed byte, an added or a missing file, another signer: it does not verify.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import html
import json
import os
import re
import stat
import subprocess
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ansible.module_utils.hostproof import VERSION
from ansible.module_utils.hostproof.collect.bounded import open_regular

from ..report.html import SEAL_PLACE
from ..report.render import write_private
from ..report.store import FINDINGS_FILE
from ..report.templating import moment
from ..report.text import one_line, printable
from . import terminal
from .errors import Refused, complain

ROOT = Path(__file__).resolve().parents[3]
MANIFEST, SIGNATURE = "seal.json", "seal.json.sig"
#: How ssh-keygen writes a signature (OpenSSH, PROTOCOL.sshsig): between two lines, in lines of 70.
_BEGIN, _END, _WIDTH = b"-----BEGIN SSH SIGNATURE-----", b"-----END SSH SIGNATURE-----", 70
#: The page that states who sealed a report: of many hosts the index.
PAGES = ("index.html", "report.html")
#: Of OpenSSH: a signature for another purpose is none for this.
NAMESPACE = "hostproof-report"
SCHEMA = 1
EXIT_BROKEN = 2
_TOO_DEEP = "its directories have too many levels: a report has few"
SECONDS = 120

#: What decides what a report states. Tests and documents do not.
CODE = (
    "hostproof",
    "ansible.cfg",
    "action_plugins",
    "callback_plugins",
    "filter_plugins",
    "inventories/evidence.py",
    "library",
    "module_utils",
    "playbooks",
    "plugin_utils",
    "roles",
)
_NOT_CODE = ("__pycache__", ".pyc")
#: Bytes of the line of a public key.
_LONGEST_KEY = 1 << 16
#: A larger manifest was never written for a report.
_MOST = 64 * 1024 * 1024
_WHO = re.compile(r"[A-Za-z0-9._+@-]{1,200}")


def sign(directory: str, key: str, who: str, policy: Iterable[str]) -> int:
    """Write the manifest of a report and its signature, or raise Refused; returns 0."""
    if not _WHO.fullmatch(who):
        raise Refused(f"--signer: {one_line(who)} is not a name of letters, digits and . _ + @ -")
    for name in (MANIFEST, SIGNATURE):
        if os.path.lexists(os.path.join(directory, name)):
            raise Refused(f"{directory} is already signed: remove {MANIFEST} and {SIGNATURE} first")
    inventories = list(policy)
    manifest = manifest_of(directory, inventories, who)
    with _shown_on_page(directory, manifest):
        text = json.dumps(manifest, indent=1, sort_keys=True) + "\n"
        done = _ssh_keygen("sign", "-f", key, "-n", NAMESPACE, content=text.encode("ascii"))
        if done.returncode:
            raise Refused(f"{key} cannot sign: {_printed_by(done)}")
    write_private(os.path.join(directory, MANIFEST), text)
    write_private(os.path.join(directory, SIGNATURE), done.stdout.decode("ascii"))
    terminal.say(f"Signed: {directory}, {len(manifest['files'])} files, by {who}")
    if not inventories:
        terminal.say("No policy is part of the seal; --policy INVENTORY adds its files.")
    public = _public_key(key)
    if public:
        terminal.say(
            "To verify it, add this line to a file of signers:\n"
            f'  {who} namespaces="{NAMESPACE}" {public}'
        )
    return 0


def verify(directory: str, signers: str, who: str | None) -> int:
    """Compare a report with its signed manifest; returns 0, or EXIT_BROKEN."""
    if not os.path.isdir(directory):
        raise Refused(f"there is no directory {directory}")
    try:
        problems, manifest = check(directory, signers, who)
    except OSError as problem:
        raise Refused(f"{directory}: {problem.strerror or problem}") from problem
    except RecursionError:
        raise Refused(f"{directory}: {_TOO_DEEP}") from None
    for sentence in problems:
        complain(f"{directory}: {sentence}")
    if problems:
        return EXIT_BROKEN
    for text in described(manifest):
        terminal.say(text)
    return 0


@contextmanager
def _shown_on_page(directory: str, manifest: dict[str, Any]) -> Iterator[None]:
    """Let the page state by whom it is sealed, unless the signature fails; its hash counts then.

    A page that another release rendered has no place for it, and stays as it is.
    """
    pages = [(name, _text_of_page(directory, name)) for name in PAGES if name in manifest["files"]]
    name, before = next((page for page in pages if SEAL_PLACE in page[1]), ("", ""))
    if not name:
        yield
        return
    path = os.path.join(directory, name)
    # The first: what hosts stated comes after it, and escaped.
    write_private(path, before.replace(SEAL_PLACE, seal_of(manifest), 1))
    manifest["files"][name] = _hash(path)
    try:
        yield
    except BaseException:
        write_private(path, before)
        raise


def _text_of_page(directory: str, name: str) -> str:
    with open_regular(os.path.join(directory, name)) as stream:
        text: bytes = stream.read()
    return text.decode("utf-8", "surrogateescape")


def seal_of(manifest: dict[str, Any]) -> str:
    """What the page states of its seal: who, when, and what of it stays comparable by eye."""
    made = manifest["code"]
    lines = [
        f"Signed by {manifest['who']}, {moment(manifest['signed'])}",
        f"findings sha256 {manifest['files'][FINDINGS_FILE]}",
        f"code {made['version']}, sha256 {made['sha256']}",
        *(f"policy {policy['path']}, sha256 {policy['sha256']}" for policy in manifest["policy"]),
        "./hostproof verify-report checks it",
    ]
    return "<p id=seal>" + "<br>".join(html.escape(one_line(text)) for text in lines) + "</p>"


def manifest_of(directory: str, policy: Iterable[str], who: str) -> dict[str, Any]:
    """Files of a report, with the code that created them and the person who signs."""
    if not os.path.isfile(os.path.join(directory, FINDINGS_FILE)):
        raise Refused(f"{directory} is not a report directory (it has no {FINDINGS_FILE})")
    try:
        files, others = hashes(directory)
        if others:
            raise Refused(
                f"{directory}: {one_line(others[0])} is not a regular file and cannot be signed"
            )
        return {
            "schema": SCHEMA,
            "report": os.path.basename(os.path.realpath(directory)),
            "files": files,
            "empty_directories": _empty_below(directory, ""),
            "policy": [_policy(path) for path in policy],
            "code": code(),
            "who": who,
            "signed": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        }
    except OSError as problem:
        raise Refused(f"{problem.filename}: {problem.strerror}") from problem
    except RecursionError:
        raise Refused(f"{directory}: {_TOO_DEEP}") from None


def hashes(directory: str) -> tuple[dict[str, str], list[str]]:
    """SHA-256 by path of every file below a directory, and what is neither file nor directory."""
    files: dict[str, str] = {}
    others = []
    for path in _below(directory, ""):
        whole = os.path.join(directory, path)
        if stat.S_ISREG(os.lstat(whole).st_mode):
            files[path] = _hash(whole)
        else:
            others.append(path)
    return files, others


def _below(directory: str, inside: str) -> Iterator[str]:
    """Paths of what is below a directory; a link is itself, wherever it leads."""
    for entry in sorted(os.scandir(os.path.join(directory, inside)), key=lambda item: item.name):
        path = os.path.join(inside, entry.name)
        if entry.is_dir(follow_symlinks=False):
            yield from _below(directory, path)
        elif path not in (MANIFEST, SIGNATURE):
            yield path


def _empty_below(directory: str, inside: str) -> list[str]:
    """Paths of the directories that hold nothing."""
    with os.scandir(os.path.join(directory, inside)) as entries:
        names = sorted(entry.name for entry in entries if entry.is_dir(follow_symlinks=False))
    found = []
    for name in names:
        path = os.path.join(inside, name)
        is_empty = not os.listdir(os.path.join(directory, path))
        found += [path] if is_empty else _empty_below(directory, path)
    return found


def _hash(path: str) -> str:
    with open_regular(path) as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _policy(path: str) -> dict[str, Any]:
    if not os.path.exists(path):
        raise Refused(f"--policy: there is no {path}")
    if os.path.isdir(path):
        files, others = hashes(path)
        files |= {
            other: f"link to {os.readlink(os.path.join(path, other))}"
            for other in others
            if os.path.islink(os.path.join(path, other))
        }
    else:
        files = {os.path.basename(path): _hash(path)}
    return {"path": path, "sha256": _digest(files)}


def _digest(files: dict[str, str]) -> str:
    """One hash over the hashes of all files; the same files always give the same hash."""
    return hashlib.sha256(json.dumps(files, sort_keys=True).encode("ascii")).hexdigest()


def code() -> dict[str, Any]:
    """What this checkout is: release, commit where it is one, and a hash of all that checks."""
    files = {}
    for name in CODE:
        path = ROOT / name
        for source in sorted(path.rglob("*")) if path.is_dir() else [path]:
            inside = str(source.relative_to(ROOT))
            if source.is_file() and not any(mark in inside for mark in _NOT_CODE):
                files[inside] = _hash(str(source))
    return {"version": VERSION, "revision": _revision(), "sha256": _digest(files)}


def _revision() -> str | None:
    """The commit of the checkout; None where there is none, or git will not tell."""
    try:
        done = subprocess.run(
            ["git", "-C", str(ROOT), "rev-parse", "--verify", "HEAD"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=SECONDS,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def check(directory: str, signers: str, who: str | None) -> tuple[list[str], dict[str, Any]]:
    """Problems of a seal, one sentence each, and its manifest."""
    contents = []
    for name in (MANIFEST, SIGNATURE):
        path = os.path.join(directory, name)
        if not os.path.isfile(path) or os.path.islink(path):
            return [f"{name} is missing: the report is not signed"], {}
        with open_regular(path) as stream:
            contents.append(stream.read(_MOST))
    text, armored = contents
    if not _is_as_written(armored):
        return [f"{SIGNATURE} was changed"], {}
    signature = os.path.join(directory, SIGNATURE)
    names = [who] if who else _signers_of(signature, signers)
    if not names:
        return ["not signed by an allowed signer"], {}
    message = ""
    for name in names:
        words = ("-f", signers, "-I", name, "-n", NAMESPACE, "-s", signature)
        done = _ssh_keygen("verify", *words, content=text)
        if done.returncode == 0:
            return _problems(directory, text, name)
        message = _printed_by(done)
    return [f"the signature does not verify: {message}"], {}


def _is_as_written(armored: bytes) -> bool:
    """Whether a signature has the form that ssh-keygen writes, to the byte.

    ssh-keygen reads more than that: other line breaks, another end of the last line, and in the
    last letter of the Base64 bits that nothing uses.
    """
    first, *lines, last, rest = armored.split(b"\n") if armored.count(b"\n") > 2 else (b"",) * 4
    if (first, last, rest) != (_BEGIN, _END, b""):
        return False
    try:
        whole = base64.b64encode(base64.b64decode(b"".join(lines), validate=True))
    except binascii.Error:
        return False
    return lines == [whole[at : at + _WIDTH] for at in range(0, len(whole), _WIDTH)]


def _problems(directory: str, text: bytes, signer: str) -> tuple[list[str], dict[str, Any]]:
    """Compare a manifest that has a valid signature with the files of the report."""
    try:
        manifest = json.loads(text.decode("ascii"))
        expected, who = manifest["files"], manifest["who"]
        empty = manifest.get("empty_directories", [])
        texts = [*expected.values(), *empty, who, manifest["report"], manifest["signed"]]
        if manifest["schema"] != SCHEMA or not all(isinstance(text, str) for text in texts):
            raise ValueError
        # All that is told of a valid signature.
        [*described(manifest)]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return [f"{MANIFEST} has a valid signature but an unknown format"], {}
    problems = [
        f"{one_line(path)} was added"
        for path in sorted(set(_empty_below(directory, "")).difference(empty))
    ]
    if who != signer:
        problems.append(f"{MANIFEST} names the signer {one_line(str(who))}, but {signer} signed it")
    files, others = hashes(directory)
    for path in sorted({*expected, *files, *others}):
        if path not in expected:
            problems.append(f"{one_line(path)} was added")
        elif path not in files:
            problems.append(f"{one_line(path)} is missing")
        elif files[path] != expected[path]:
            problems.append(f"{one_line(path)} was changed")
    return problems, manifest


def described(manifest: dict[str, Any]) -> Iterator[str]:
    """What a good seal states."""
    made = manifest["code"]
    yield f"Valid: {manifest['report']}, {len(manifest['files'])} files unchanged since signing"
    yield f"  signed by  {manifest['who']}, {manifest['signed']}"
    yield f"  findings   sha256 {manifest['files'][FINDINGS_FILE]}"
    yield f"  code       {made['version']}, commit {made['revision'] or 'unknown'}"
    yield f"             sha256 {made['sha256']}"
    for policy in manifest["policy"]:
        yield f"  policy     {policy['path']}, sha256 {policy['sha256']}"
    if not manifest["policy"]:
        yield "  policy     none was given"


def _signers_of(signature: str, signers: str) -> list[str]:
    done = _ssh_keygen("find-principals", "-s", signature, "-f", signers)
    return done.stdout.decode("utf-8", "replace").split("\n")[:-1] if not done.returncode else []


def _public_key(key: str) -> str | None:
    name = key if key.endswith(".pub") else f"{key}.pub"
    try:
        with open_regular(name) as stream:
            return " ".join(stream.readline(_LONGEST_KEY).decode("ascii").split()[:2])
    except (OSError, UnicodeDecodeError):
        return None


def _ssh_keygen(what: str, *words: str, content: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(
            ["ssh-keygen", "-Y", what, *words], input=content, capture_output=True, timeout=SECONDS
        )
    except FileNotFoundError:
        raise Refused("ssh-keygen is not installed; OpenSSH 8.1 or newer has it") from None
    except subprocess.TimeoutExpired:
        raise Refused(f"ssh-keygen did not end within {SECONDS} seconds") from None


def _printed_by(done: subprocess.CompletedProcess[bytes]) -> str:
    lines = printable(done.stderr.decode("utf-8", "replace")).strip().splitlines()
    return one_line(lines[-1]) if lines else f"ssh-keygen ended with {done.returncode}"
