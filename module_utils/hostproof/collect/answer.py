# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A fact that may be unknown.

A control reads everything first and judges later, so a read that failed must be kept where
its value would stand. ``attempt`` keeps it, ``known`` brings it up again at the moment that a
judgement needs the value; what needs an unknown is then itself unknown.
"""

from typing import Any, Callable, TypeVar, Union

from ..errors import Absent, HostproofError

T = TypeVar("T")

#: A value, or the error that stands in its place.
Answer = Union[T, HostproofError]


def attempt(read: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    """The value that ``read`` gives, or the HostproofError that it raised."""
    try:
        return read(*arguments, **options)
    except HostproofError as problem:
        return problem


def known(answer: Any) -> Any:
    """The value, or raise the error that stands in its place."""
    if isinstance(answer, HostproofError):
        raise answer
    return answer


def unless_absent(answer: Any, otherwise: Any) -> Any:
    """The value; ``otherwise`` where the host said that there is none; raise what is unknown."""
    return otherwise if isinstance(answer, Absent) else known(answer)


def if_known(answer: Any, otherwise: Any) -> Any:
    """The value, or ``otherwise``: only where the unknown is judged elsewhere."""
    return otherwise if isinstance(answer, HostproofError) else answer
