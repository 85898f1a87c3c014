# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A fact that may be unknown.

A control reads everything first and checks later, so a read that failed must be kept where
its value would stand. ``attempt`` keeps it, ``known`` brings it up again at the moment that a
evaluation needs the value; what needs an unknown is then itself unknown.
"""

from typing import Callable, Optional, TypeVar, Union

from ..errors import Absent, HostproofError, NotRecorded

T = TypeVar("T")
U = TypeVar("U")

#: A value, or the error that is in its place.
Answer = Union[T, HostproofError]


def attempt(read: Callable[..., T], *arguments: object, **options: object) -> Answer[T]:
    """The value that ``read`` gives, or the HostproofError that it raised."""
    try:
        return read(*arguments, **options)
    except HostproofError as problem:
        return problem


def known(answer: Answer[T]) -> T:
    """The value, or raise the error that is in its place."""
    if isinstance(answer, HostproofError):
        raise answer
    return answer


def existing(answer: Answer[Optional[T]]) -> T:
    """The value of a fact that the caller knows to exist, or raise its error."""
    value = known(answer)
    if value is None:
        raise ValueError("a value that must exist does not")
    return value


def unless_absent(answer: Answer[T], otherwise: U) -> Union[T, U]:
    """The value; ``otherwise`` where the host stated that there is none; raise what is unknown.

    A reading that is newer than the recording counts as absent."""
    return otherwise if isinstance(answer, Absent) else unless_newer(answer, otherwise)


def unless_newer(answer: Answer[T], otherwise: U) -> Union[T, U]:
    """The value; ``otherwise`` where the reading is newer than the recording; raise the rest."""
    if isinstance(answer, NotRecorded):
        answer.counts_as_absent = True
        return otherwise
    return known(answer)


def if_known(answer: Answer[T], otherwise: U) -> Union[T, U]:
    """The value, or ``otherwise``: only where the unknown is checked elsewhere."""
    return otherwise if isinstance(answer, HostproofError) else answer
