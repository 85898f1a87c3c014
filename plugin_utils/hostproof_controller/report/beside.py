# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The files beside report.html: what a page of many hosts loads when somebody comes to it.

A page from disk may fetch nothing, but run a script. So each file is one call with two texts, of
letters that mean nothing to any parser: its own name, and base64. The name is a hash of what the
file holds, so that a page never meets the file of another run: the old ones stay as long as the old
page does, and go when the new page stands.
"""

import os
import re
import shutil
import tempfile
from contextlib import suppress
from hashlib import blake2b
from types import TracebackType

from ansible.module_utils.hostproof.errors import HostproofError

#: Beside the page; the script knows it too.
FOLDER = "report.d"

_OURS = re.compile(r"[0-9a-f]{20}\.js\Z")


class Beside:
    """The files of one page: drafts, until ``replace`` puts them in place; readable by their
    owner only."""

    def __init__(self, folder: str) -> None:
        self._above = folder
        self._folder = os.path.join(folder, FOLDER)

    def __enter__(self) -> "Beside":
        try:
            # mkdtemp makes the folder with mode 0700.
            self._drafts = tempfile.mkdtemp(prefix=f".{FOLDER}.", dir=self._above or ".")
        except OSError as problem:
            raise self._failed(problem) from problem
        return self

    def add(self, packed: str) -> str:
        """The name under which the page can ask for ``packed``, which is base64."""
        name = blake2b(packed.encode("ascii"), digest_size=10).hexdigest()
        try:
            path = os.path.join(self._drafts, f"{name}.js")
            with open(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), "w", encoding="ascii") as one:
                one.write(f'hostproof("{name}","{packed}")\n')
                one.flush()
                os.fsync(one.fileno())
        except OSError as problem:
            raise self._failed(problem) from problem
        return name

    def replace(self) -> None:
        """Put the files where the page looks for them; those of the page before stay."""
        self._names = set(os.listdir(self._drafts))
        try:
            if self._names:
                with suppress(FileExistsError):
                    os.mkdir(self._folder, 0o700)
            for name in self._names:
                os.replace(os.path.join(self._drafts, name), os.path.join(self._folder, name))
        except OSError as problem:
            raise self._failed(problem) from problem

    def forget_others(self) -> None:
        """Remove the files of pages before, now that the new page stands, and an empty folder."""
        with suppress(OSError):
            for name in os.listdir(self._folder):
                if _OURS.match(name) and name not in self._names:
                    os.unlink(os.path.join(self._folder, name))
            os.rmdir(self._folder)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        shutil.rmtree(self._drafts, ignore_errors=True)

    def _failed(self, problem: OSError) -> HostproofError:
        return HostproofError(f"{self._folder}: {problem.strerror or problem}")
