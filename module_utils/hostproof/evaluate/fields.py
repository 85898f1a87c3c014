# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The fields of a policy, each declared once with its check.

A policy is a NamedTuple whose defaults are its checks, and ``reader`` makes its ``policy_from``::

    class Policy(NamedTuple):
        maximum: int = whole_number(0, 200)
        activation: str = one_of("now", "reboot")
        page_size: int = size().then(power_of_two)
        headroom: Optional[int] = whole_number(0, 100).none_for("auto")
        instances: Optional[Tuple[Instance, ...]] = entries(Instance).none_for("auto")

    policy_from = reader("swappiness", Policy)

The entries of a list are NamedTuples of the same kind; the first field is the name of an entry. A
field that an entry may leave out is ``.optional()``. Rules that involve several fields are checked
by ``reader(..., together=function)``, which gets the policy and the original values. A test
compares each ``argument_specs.yml`` of the roles with the declaration.
"""

import re
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple, Type, TypeVar

from ..errors import PolicyError
from .policy import PolicyValues
from .profiles import PROFILES, TARGET_SYSTEMS

P = TypeVar("P")

#: Takes the values and the name of one of them; gives what the policy holds, or raises.
Reading = Callable[[PolicyValues, str], Any]

_REQUIRED = object()


class Field:
    """How a variable is read. ``kinds`` are the types that the role's specification may give it,
    and ``choices`` the ones that it must name."""

    def __init__(
        self,
        read: Reading,
        *kinds: str,
        choices: Tuple[str, ...] = (),
        elements: str = "dict",
        is_shared: bool = False,
    ) -> None:
        self.read = read
        self.kinds = kinds
        self.choices = choices
        #: What a list holds.
        self.elements = elements
        #: Several controls take it from one variable, hostproof_NAME.
        self.is_shared = is_shared
        #: The name of the variable, where it cannot be that of the field ("class").
        self.name: Optional[str] = None
        self.missing: object = _REQUIRED

    @property
    def is_required(self) -> bool:
        return self.missing is _REQUIRED

    def then(self, step: Callable[[PolicyValues, str, Any], Any]) -> Any:
        """The same, with a check or a conversion after it: takes values, name and the value.

        None, as ``none_for`` makes it, stays.
        """

        def read(params: PolicyValues, name: str) -> Any:
            value = self.read(params, name)
            return None if value is None else step(params, name, value)

        return self._like(read)

    def none_for(self, word: Optional[str]) -> Any:
        """The same, and None for a word such as "auto" or "unmanaged", or for null."""
        other = self._like(
            lambda params, name: None if params[name] == word else self.read(params, name)
        )
        if word not in self.choices:
            other.kinds = ("raw",)
        return other

    def optional(self, otherwise: Any = None) -> Any:
        """Make a field of an entry optional: it may be missing or empty."""
        other = self._like(self.read)
        other.missing = otherwise
        return other

    def called(self, name: str) -> Any:
        """The same, under a name that no field of Python can have."""
        other = self._like(self.read)
        other.name = name
        return other

    def _like(self, read: Reading) -> "Field":
        other = Field(
            read,
            *self.kinds,
            choices=self.choices,
            elements=self.elements,
            is_shared=self.is_shared,
        )
        other.name, other.missing = self.name, self.missing
        return other


def checked_by(read: Reading, *kinds: str, elements: str = "dict") -> Any:
    """A field that only its control has."""
    return Field(read, *kinds, elements=elements)


def whole_number(low: int = 0, high: Optional[int] = None) -> Any:
    return Field(lambda params, name: params.whole_number(name, low, high), "int")


def decimal(low: float = 0, high: Optional[float] = None) -> Any:
    return Field(lambda params, name: params.decimal(name, low, high), "float")


def instance_name() -> Any:
    """The name of an instance."""

    def read(params: PolicyValues, name: str) -> str:
        text = str(params[name])
        if not re.match(r"^[A-Za-z0-9_$#+-]+\Z", text):
            raise params.error(name, f"{text!r} is not a SID")
        return text

    return Field(read, "str")


def absolute_path() -> Any:
    """A path, without a slash behind."""

    def read(params: PolicyValues, name: str) -> str:
        path = str(params[name])
        if not path.startswith("/"):
            raise params.error(name, f"{params[name]!r} must be an absolute path")
        return path.rstrip("/")

    return Field(read, "path")


def window() -> Any:
    """The seconds of the window that all controls share: the field is ``window_seconds``."""
    return Field(lambda params, _name: params.window(), "float", is_shared=True)


def of_profile() -> Any:
    """The purpose of the host, shared by all controls: the field is ``profile`` (profiles.py)."""
    return Field(
        lambda params, _name: params.profile(), "str", choices=tuple(PROFILES), is_shared=True
    )


def of_target_os() -> Any:
    """The distribution of the target, shared by all controls: the field is ``target_os``."""
    choices = ("none", *TARGET_SYSTEMS)
    return Field(
        lambda params, name: params.one_of(name, choices), "str", choices=choices, is_shared=True
    ).none_for("none")


def one_of(*choices: str) -> Any:
    return Field(lambda params, name: params.one_of(name, choices), "str", choices=choices)


def flag() -> Any:
    return Field(lambda params, name: params.flag(name), "bool")


def drop_in(folder: str) -> Any:
    return Field(lambda params, name: params.drop_in(name, folder), "path")


def names(is_right: Callable[[str], Any] = bool, what: str = "a name") -> Any:
    """A list of names. ``what`` tells what a name must be for which ``is_right`` is false."""

    def read(params: PolicyValues, name: str) -> Tuple[str, ...]:
        items = params.names(name)
        for item in items:
            if not is_right(item):
                raise params.error(name, f"{item[:80]!r} must be {what}")
        return items

    return Field(read, "list", elements="str")


def names_of(choices: Sequence[str]) -> Any:
    return names(choices.__contains__, f"one of {', '.join(choices)}")


def matching(pattern: "re.Pattern[str]", what: str) -> Any:
    """A text; ``what`` tells what a text must be that does not match."""

    def read(params: PolicyValues, name: str) -> str:
        text = str(params[name])
        if isinstance(params[name], bool) or not pattern.match(text):
            raise params.error(name, f"must be {what}, not {text[:80]!r}")
        return text

    return Field(read, "str")


def networks() -> Any:
    """Names of interfaces, or networks as 192.0.2.0/24."""
    return names().then(_networks)


def _networks(params: PolicyValues, name: str, items: Tuple[str, ...]) -> Tuple[str, ...]:
    # Few policies have one, and each import costs an audit time.
    import ipaddress

    result = []
    for item in items:
        if "/" in item:
            try:
                item = str(ipaddress.ip_network(item, strict=False))
            except ValueError as problem:
                raise params.error(name, str(problem)) from problem
        result.append(item)
    return tuple(result)


def size() -> Any:
    """Bytes, from a number or a text such as "60G"."""
    return Field(lambda params, name: params.size(name), "str", "raw")


# -- lists of entries -----------------------------------------------------------------------------


class _EntryValues(PolicyValues):
    """The values of one entry: an error names the variable, the entry and the field."""

    def __init__(
        self, above: PolicyValues, variable: str, values: Dict[str, Any], key: str
    ) -> None:
        self._above = above
        self._variable = variable
        self._values = values
        self._key = key

    def error(self, name: str, problem: str) -> PolicyError:
        if name == self._key:
            return self._above.error(self._variable, problem)
        return self._above.error(self._variable, f"{self._values[self._key]}: {name} {problem}")


class _List(Field):
    """A list of entries."""

    def __init__(
        self,
        entry: Any,
        together: Optional[Callable[[Any, PolicyValues], Any]],
        empty: bool,
        key: Optional[Callable[[Any], Any]],
        twice: Optional[str],
        word: Optional[str] = None,
    ) -> None:
        self._entry = entry
        self._together = together
        self._empty = empty
        self._key = key or (lambda pair: pair[0])
        self._twice = twice or f"lists a {next(iter(self.fields))} twice: {{0}}"
        self._word = word
        super().__init__(self._read, "list" if word is None else "raw")

    def none_for(self, word: Optional[str]) -> Any:
        return _List(self._entry, self._together, self._empty, self._key, self._twice, word)

    @property
    def fields(self) -> Dict[str, Tuple[str, Field]]:
        """By the names of the variables: the name of the field, and how it is read."""
        return {field.name or name: (name, field) for name, field in fields_of(self._entry).items()}

    def _read(self, params: PolicyValues, name: str) -> Optional[Tuple[Any, ...]]:
        value = params[name]
        if self._word is not None and value == self._word:
            return None
        instead = "" if self._word is None else f"{self._word} or "
        takes = f"{instead}a list of {{{', '.join(self.fields)}}}"
        if not isinstance(value, (list, tuple)) or not (value or self._empty):
            raise params.error(name, f"must be {takes}")
        return params.entries(
            name,
            lambda item: self._one(params, name, item),
            key=self._key,
            twice=self._twice,
        )

    def _one(self, params: PolicyValues, name: str, item: Any) -> Any:
        fields = self.fields
        key = next(iter(fields))
        needed = [variable for variable, (_name, field) in fields.items() if field.is_required]
        if not isinstance(item, dict) or any(
            item.get(variable) in (None, "") for variable in needed
        ):
            raise params.error(name, f"has {item!r}, which needs {_listed(needed)}")
        unknown = sorted(str(variable) for variable in set(item) - set(fields))
        if unknown:
            import difflib  # only a policy with a mistake needs it

            near = difflib.get_close_matches(unknown[0].lower(), list(fields), 1)
            hint = f"; did you mean {near[0]}?" if near else ""
            raise params.error(name, f"{item[key]} has unknown {', '.join(unknown)}{hint}")
        values = _EntryValues(params, name, item, key)
        entry = self._entry(
            **{
                field_name: field.missing
                if not field.is_required and item.get(variable) in (None, "")
                else field.read(values, variable)
                for variable, (field_name, field) in fields.items()
            }
        )
        return entry if self._together is None else self._together(entry, values)


def _listed(words: List[str]) -> str:
    """ "a sid"; "sid and sga"; "path, source and class"."""
    if len(words) == 1:
        return "a " + words[0]
    return f"{', '.join(words[:-1])} and {words[-1]}"


def entries(
    entry: Any,
    *,
    together: Optional[Callable[[Any, PolicyValues], Any]] = None,
    empty: bool = True,
    key: Optional[Callable[[Any], Any]] = None,
    twice: Optional[str] = None,
) -> Any:
    """A list of ``entry``, no two of one name; ``together`` is as ``reader`` has it, for each.

    ``key`` is what shows entries apart where it is not the name only; ``twice`` says so.

    An entry that cannot be used is a BadEntry, which costs an audit that entry and not the host.
    """
    return _List(entry, together, empty, key, twice)


# -- the policy -----------------------------------------------------------------------------------


def fields_of(policy: Any) -> Dict[str, Field]:
    """Each field of a policy, or of an entry, and how it is read."""
    declared = policy._field_defaults
    return {name: declared[name] for name in policy._fields}


def reader(
    control: str,
    policy: Type[P],
    together: Optional[Callable[[P, PolicyValues], P]] = None,
) -> Callable[[Dict[str, Any]], P]:
    """The ``policy_from`` of a control: a policy from the role's variables without their prefix.

    PolicyError names the variable.
    """

    def policy_from(values: Dict[str, Any]) -> P:
        declared = fields_of(policy)
        params = PolicyValues(control, values, list(declared))
        read = policy(**{name: field.read(params, name) for name, field in declared.items()})
        return read if together is None else together(read, params)

    return policy_from
