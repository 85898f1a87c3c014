"""Tables of stories: a title, then its verdict, its host, its policy and the texts it must tell."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from packs import Machine


class Story(NamedTuple):
    """``says`` are texts that the findings of the check must hold, in whatever field."""

    name: str
    host: Callable[[], Machine]
    policy: dict[str, Any]
    check: str
    status: str
    says: tuple[str, ...]


def titled(parts: tuple[Any, ...]) -> Iterator[tuple[str, list[Any]]]:
    """Each title with the values that follow it, in tuples or alone."""
    at = [number for number, part in enumerate(parts) if isinstance(part, str)]
    for start, end in zip(at, [*at[1:], len(parts)], strict=True):
        values: list[Any] = []
        for part in parts[start + 1 : end]:
            values += part if isinstance(part, tuple) else [part]
        yield parts[start], values


def verdict(check: str, values: list[Any]) -> tuple[str, str, tuple[str, ...]]:
    """Check, status and texts. The first text is "STATUS" or, of another check, "STATUS CHECK"."""
    texts = [value for value in values if isinstance(value, str)]
    status, _, other = texts[0].partition(" ")
    return other or check, status, tuple(texts[1:])


def merged(values: list[Any]) -> dict[str, Any]:
    return {key: item for value in values if isinstance(value, dict) for key, item in value.items()}


def stories(check: str, *parts: Any, policy: dict[str, Any] | None = None) -> tuple[Story, ...]:
    """``policy`` is that of the stories without one."""
    rows = []
    for name, values in titled(parts):
        host = next(value for value in values if callable(value))
        own = next((value for value in values if isinstance(value, dict)), policy or {})
        rows.append(Story(name, host, own, *verdict(check, values)))
    return tuple(rows)
