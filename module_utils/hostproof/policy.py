# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks the values of a policy. Every error names the role's variable and says what it takes."""

import re
from typing import Any, Dict, Sequence, Tuple

from .errors import PolicyError
from .parsers.size import parse_size


class PolicyValues:
    """The values of one control's policy, as they came from its role's variables."""

    def __init__(self, control, values, names):
        # type: (str, Dict[str, Any], Sequence[str]) -> None
        """``names`` are all the values that the policy must have, and the only ones it may."""
        self._control = control
        self._values = values
        missing = [name for name in names if name not in values]
        unknown = sorted(set(values) - set(names))
        if missing or unknown:
            raise PolicyError(
                "{0} policy: {1} {2}; take the names from roles/{0}/README.md".format(
                    control,
                    "missing" if missing else "unknown",
                    ", ".join(missing or unknown),
                )
            )

    def __getitem__(self, name):
        # type: (str) -> Any
        return self._values[name]

    def error(self, name, problem):
        # type: (str, str) -> PolicyError
        """ "hugepages_memlock must be ...": an error to raise."""
        return PolicyError("{0}_{1} {2}".format(self._control, name, problem))

    def whole_number(self, name, low=0, high=None):
        # type: (str, int, Any) -> int
        value = self[name]
        if isinstance(value, bool) or not str(value).isdecimal():
            raise self.error(name, "must be a whole number, not {0!r}".format(value))
        number = int(value)
        if number < low or (high is not None and number > high):
            limits = "{0} or more".format(low) if high is None else "{0} to {1}".format(low, high)
            raise self.error(name, "must be {0}, not {1}".format(limits, number))
        return number

    def decimal(self, name, low=0, high=None):
        # type: (str, float, Any) -> float
        """A number that may have a fraction, such as 0.5; both limits are allowed."""
        value = self[name]
        if isinstance(value, bool) or not re.match(r"^[0-9]+(\.[0-9]+)?$", str(value)):
            raise self.error(name, "must be a number such as 0.5, not {0!r}".format(value))
        number = float(value)
        if number < low or (high is not None and number > high):
            limits = "{0:g} or more".format(low)
            if high is not None:
                limits = "{0:g} to {1:g}".format(low, high)
            raise self.error(name, "must be {0}, not {1}".format(limits, value))
        return number

    def one_of(self, name, choices):
        # type: (str, Sequence[str]) -> str
        if self[name] not in choices:
            raise self.error(
                name, "must be one of {0}, not {1!r}".format(", ".join(choices), self[name])
            )
        return str(self[name])

    def flag(self, name):
        # type: (str) -> bool
        if not isinstance(self[name], bool):
            raise self.error(name, "must be true or false, not {0!r}".format(self[name]))
        return bool(self[name])

    def drop_in(self, name, folder):
        # type: (str, str) -> str
        """The path of a file that the readers of a drop-in folder take."""
        value = str(self[name])
        above, _, own = value.rpartition("/")
        if above != folder or own.startswith(".") or not own.endswith(".conf"):
            raise self.error(name, "must be {0}/NAME.conf, not {1!r}".format(folder, value))
        return value

    def names(self, name):
        # type: (str) -> Tuple[str, ...]
        """A list of names, which may be empty."""
        value = self[name]
        if not isinstance(value, (list, tuple)) or not all(value):
            raise self.error(name, "must be a list of names, not {0!r}".format(value))
        return tuple(str(one) for one in value)

    def size(self, name):
        # type: (str) -> int
        """Bytes, from a number or a text such as "60G"."""
        return self.size_of(name, self[name])

    def size_of(self, name, value):
        # type: (str, Any) -> int
        try:
            size = int(parse_size(value))
        except ValueError as problem:
            raise self.error(name, "is no size: {0}".format(problem)) from problem
        if size <= 0:
            raise self.error(name, "must be more than nothing")
        return size
