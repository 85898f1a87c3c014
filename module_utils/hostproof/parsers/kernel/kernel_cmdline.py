# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""/proc/cmdline: the parameters that the kernel was booted with.

Source: Linux, next_arg() in lib/cmdline.c, parse_args() in kernel/params.c, and the hugepages=
family in mm/hugetlb.c and Documentation/admin-guide/mm/hugetlbpage.rst.
"""

import re
from typing import Dict, List, Optional, Tuple

from ...errors import ParseError
from ..number import integer

_WHAT = "kernel command line"
_SPACE = " \t\n\r\v\f"
_SIZE = re.compile(r"(0[xX][0-9a-fA-F]+|\d+)([kKmMgGtTpPeE]?)")
_UNITS = "KMGTPE"
_NODE = re.compile(r"(\d+):(\d+)")


def parse(text: str) -> List[Tuple[str, Optional[str]]]:
    """Names and values in order; the value is None where there is no ``=``.

    Double quotes hold spaces and cannot be escaped. What follows ``--`` belongs to init and is
    left out. Raises ParseError if the text has no line at all (a bare newline is legal).
    """
    if not text:
        raise ParseError(_WHAT, "it is empty: not even a newline")
    params: List[Tuple[str, Optional[str]]] = []
    for word in _words(text):
        name, value = _split(word)
        if name == "--" and value is None:
            break
        params.append((name, value))
    return params


def last(params: List[Tuple[str, Optional[str]]], name: str) -> Optional[str]:
    """The value of the last parameter of that name, with ``-`` and ``_`` the same letter.

    "" where it was given without a value; None where it was not given.
    """
    key = name.replace("-", "_")
    values = [value or "" for param, value in params if param.replace("-", "_") == key]
    return values[-1] if values else None


def sysctls(params: List[Tuple[str, Optional[str]]], path: str) -> List[Tuple[str, str]]:
    """The parameters that set a sysctl, by its path below /proc/sys, and their values, in order.

    The name is exact, and every dot in it is a slash: ``sysctl.vm/swappiness`` is one of them. The
    kernel rejects one without a value. Source: process_sysctl_arg() in fs/proc/proc_sysctl.c.
    """
    return [
        (name, value)
        for name, value in params
        if value and name[:7] in ("sysctl.", "sysctl/") and name[7:].replace(".", "/") == path
    ]


def hugepages(params: List[Tuple[str, Optional[str]]], default_size: int) -> Dict[int, int]:
    """Huge pages requested at boot: page size in bytes to a number of pages.

    ``default_size`` is the architecture's own default in bytes (2 MiB on x86-64). A ``hugepages=``
    belongs to the ``hugepagesz=`` or ``default_hugepagesz=`` before it, and to the default size if
    it is the first of them. Counts by node (``0:512,1:512``) are summed. The rules are those of
    kernels since 5.8; which sizes a processor supports is not checked here."""
    requested = _BootPools(default_size)
    for name, value in params:
        name = name.replace("-", "_")
        if name == "hugepages":
            requested.pages(value or "")
        elif name == "hugepagesz":
            requested.size(value or "")
        elif name == "default_hugepagesz":
            requested.default(value or "")
    return requested.finish()


class _BootPools:
    """The state that mm/hugetlb.c keeps while it reads its parameters."""

    def __init__(self, default_size: int) -> None:
        self._default_size = default_size
        self._default_given = False
        self._pools: Dict[int, int] = {}
        self._sizes: List[int] = []
        self._implicit: Optional[int] = None
        self._valid = True
        self._last = 0  # the size whose count came last; -1 is the one not named yet

    def pages(self, value: str) -> None:
        if not self._valid:
            self._valid = True  # only the count right after a bad size is dropped
            return
        target = self._sizes[-1] if self._sizes else -1
        count = _page_count(value)
        if target == self._last or count is None:
            return
        self._last = target
        if target == -1:
            self._implicit = count
        else:
            self._pools[target] = count

    def size(self, value: str) -> None:
        size = _page_size(value)
        self._valid = size is not None
        if size is None:
            return
        if size not in self._sizes:
            self._sizes.append(size)
        elif not self._default_given or size != self._default_size or self._pools.get(size):
            self._valid = False  # a size may be named twice only to give the default its count
        else:
            self._name_again(size)

    def default(self, value: str) -> None:
        self._valid = False
        size = _page_size(value)
        if self._default_given or size is None:
            return
        self._valid = True
        self._default_given = True
        self._default_size = size
        if size not in self._sizes:
            self._sizes.append(size)
        if self._implicit:
            self._pools[size] = self._implicit
            self._implicit = None

    def finish(self) -> Dict[int, int]:
        if self._implicit is not None and not (
            self._implicit == 0 and self._default_size in self._pools
        ):
            self._pools[self._default_size] = self._implicit
        return self._pools

    def _name_again(self, size: int) -> None:
        self._sizes.remove(size)
        self._sizes.append(size)


def _words(text: str) -> List[str]:
    """The words of a command line, quotes still in them."""
    words, word, quoted = [], "", False
    for letter in text:
        if letter in _SPACE and not quoted:
            words.append(word)
            word = ""
            continue
        if letter == '"':
            quoted = not quoted
        word += letter
    return [word for word in words + [word] if word]


def _split(word: str) -> Tuple[str, Optional[str]]:
    if word.startswith('"'):
        word = word[1:-1] if word.endswith('"') and len(word) > 1 else word[1:]
    # The kernel takes a leading "=" for a part of the name.
    equals = word.find("=", 1)
    if equals < 0:
        return word, None
    name, value = word[:equals], word[equals + 1 :]
    if value.startswith('"'):
        value = value[1:-1] if value.endswith('"') and len(value) > 1 else value[1:]
    return name, value


def _page_size(value: str) -> Optional[int]:
    """Bytes, or None where no kernel takes it: not a power of two, or not above 4 KiB."""
    match = _SIZE.match(value)
    if match is None:
        return None
    unit = match.group(2).upper()
    size = integer(match.group(1), 0 if match.group(1)[:2] in ("0x", "0X") else 10)
    size <<= 10 * (_UNITS.index(unit) + 1) if unit else 0
    return size if size > 4096 and size & (size - 1) == 0 else None


def _page_count(value: str) -> Optional[int]:
    """One number, or the sum of node:number pairs; None where the kernel takes neither."""
    if ":" not in value:
        number = re.match(r"\d+", value)
        return integer(number.group()) if number else None
    pairs = [_NODE.match(pair) for pair in value.split(",")]
    if any(pair is None for pair in pairs):
        return None
    return sum(integer(pair.group(2)) for pair in pairs if pair is not None)
