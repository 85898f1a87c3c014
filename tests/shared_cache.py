"""The folder of what is costly to make and the same for every checkout of this account.

It holds images, virtualenvs and downloads, each under a name that its content decides, so that a
new clone finds what an older one made. HOSTPROOF_CACHE names another folder; without it the folder
is ``hostproof-tests`` in XDG_CACHE_HOME, which is ~/.cache by default.
"""

import functools
import os
import stat
from pathlib import Path


class Refused(RuntimeError):
    """The folder is not safe to use. The message says why and what to do."""


@functools.cache
def folder() -> Path:
    """The folder, made where it is missing. Programs from it run as this account, so it must belong
    to this account and nobody else may write to it; Refused says so in one sentence."""
    named = os.environ.get("HOSTPROOF_CACHE")
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    path = Path(named) if named else home / "hostproof-tests"
    if not path.is_absolute():
        raise Refused(f"the cache {path} is not an absolute path; set HOSTPROOF_CACHE to one")
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        held = path.lstat() if not named else path.stat()
    except OSError as problem:
        raise Refused(
            f"the cache {path} cannot be made ({problem.strerror}); "
            "set HOSTPROOF_CACHE to a folder of yours"
        ) from problem
    if not stat.S_ISDIR(held.st_mode):
        raise Refused(f"the cache {path} is a link or a file; set HOSTPROOF_CACHE to a folder")
    if held.st_uid != os.geteuid():
        raise Refused(
            f"the cache {path} belongs to user {held.st_uid}, not to user {os.geteuid()}; "
            "set HOSTPROOF_CACHE to a folder of yours"
        )
    if held.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise Refused(f"other accounts may write to the cache {path}; run chmod go-w {path}")
    return path
