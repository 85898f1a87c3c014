# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The templates of report.html. Jinja2 escapes every value, and first all that cannot be shown."""

import base64
import hashlib
import sys
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

from .. import cache
from .reference_links import with_links
from .text import printable

_HERE = Path(__file__).parent
_TEMPLATES = _HERE / "templates"
_STATIC = _HERE / "static"


def parts() -> Any:
    """The macros of parts.html.j2 as functions: each gives its markup."""
    return _macros("parts.html.j2")


def latency_parts() -> Any:
    """The macros of latency.html.j2 as functions."""
    return _macros("latency.html.j2")


@lru_cache(maxsize=4)
def _macros(name: str) -> Any:
    return _environment().get_template(name).module


@lru_cache(maxsize=1)
def _environment() -> Any:
    import jinja2
    from jinja2 import BytecodeCache, Environment, FileSystemLoader, StrictUndefined

    folder = cache.folder_of("templates", f"{jinja2.__version__}-{sys.implementation.cache_tag}")

    class Compiled(BytecodeCache):
        """Compiling them takes as long as a report of ten hosts."""

        def load_bytecode(self, bucket: Any) -> None:
            content = cache.read_verified(folder / bucket.key)
            if content is not None:
                bucket.bytecode_from_string(content)

        def dump_bytecode(self, bucket: Any) -> None:
            with suppress(OSError):
                cache.write(folder / bucket.key, bucket.bytecode_to_string())

    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        bytecode_cache=Compiled(),
        autoescape=True,
        finalize=_shown,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["moment"] = moment
    environment.filters["when"] = when
    environment.filters["with_links"] = with_links
    return environment


@lru_cache(maxsize=1)
def stylesheet() -> str:
    """The style of every page."""
    return _static("report.css")


@lru_cache(maxsize=4)
def script(name: str) -> str:
    """The script of a kind of page, with what several kinds share."""
    shared = "" if name == "links.js" else _static("common.js")
    return f"'use strict';\n(() => {{\n{shared}{_static(name)}}})();"


def _static(name: str) -> str:
    return (_STATIC / name).read_text(encoding="utf-8")


@lru_cache(maxsize=8)
def digest(content: str) -> str:
    """What the page's own policy lets in."""
    packed = base64.b64encode(hashlib.sha256(content.encode("utf-8")).digest())
    return "'sha256-{0}'".format(packed.decode("ascii"))


def _shown(value: Any) -> Any:
    if value is None:
        return ""
    # Markup is what another template gave, and is escaped.
    return printable(value) if type(value) is str else value


def moment(instant: str) -> str:
    return instant.replace("T", " ").replace("Z", " UTC")


def when(value: str) -> str:
    """The time at which a change takes effect, within a sentence."""
    if value in ("now", "login"):
        return {"now": "immediately", "login": "at the next login"}[value]
    return f"after {value.replace('_', ' ')}"
