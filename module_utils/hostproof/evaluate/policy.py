# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks the values of a policy. Every error names the role's variable and says what it takes."""

import re
from contextlib import contextmanager
from typing import (
    Any,
    Callable,
    Dict,
    Hashable,
    Iterator,
    List,
    Optional,
    Sequence,
    Tuple,
    TypeVar,
    Union,
)

from ..errors import BadEntry, PolicyError
from ..parsers.size import parse_size
from .profiles import PROFILES, Profile

T = TypeVar("T")

#: The field of every control that needs rates, and the variable that all of them take it from.
WINDOW_FIELD = "window_seconds"
WINDOW_VARIABLE = "hostproof_window_seconds"
#: The purpose of the host: a field of every control whose policy depends on a profile.
PROFILE_FIELD = "profile"
PROFILE_VARIABLE = "hostproof_profile"
#: An audit must stay short, and what takes less than a second is not a rate.
WINDOW_LEAST, WINDOW_MOST = 1, 600

#: Former names of variables. The table also has variables that several controls share now.
OLD_VARIABLES = {
    "async_io_ask_instances": "async_io_query_instances",
    "async_io_cache_limit": "async_io_cache_limit_percent",
    "async_io_growth": "async_io_growth_factor",
    "async_io_set_parameters": "async_io_set_filesystemio_options",
    "async_io_sqlplus_seconds": "async_io_sqlplus_timeout",
    "async_io_used_limit": "async_io_used_limit_percent",
    "block_devices_paths": "block_devices_min_paths",
    "detect_storage_at_once": "detect_storage_concurrency",
    "flow_control_agent_seconds": "flow_control_snmp_agent_timeout",
    "flow_control_agents_seconds": "flow_control_snmp_total_timeout",
    "flow_control_credentials": "flow_control_snmp_credentials",
    "flow_control_link_bounce_ok": "flow_control_allow_link_down",
    "flow_control_port": "flow_control_snmp_port",
    "flow_control_retries": "flow_control_snmp_retries",
    "flow_control_sample_seconds": WINDOW_VARIABLE,
    "flow_control_timeout": "flow_control_snmp_timeout",
    "flow_control_wanted": "flow_control_rules",
    "hostproof_answer_seconds": "hostproof_host_timeout",
    "hugepages_allow_ram_share_over_limit": "hugepages_allow_over_memory_limit",
    "hugepages_ask_instances": "hugepages_query_instances",
    "hugepages_ram_share_limit": "hugepages_memory_limit_percent",
    "hugepages_reboot_ok": "hugepages_allow_reboot",
    "interconnect_losses_limit": "interconnect_max_losses_per_second",
    "io_pacing_deadman_risk_ok": "io_pacing_allow_deadman_risk",
    "kernel_parameters_sga": "kernel_parameters_total_sga",
    "latency_ask_instances": "latency_query_instances",
    "latency_gate_controls": "latency_gate_unchanged_hosts",
    "latency_gate_pause": "latency_gate_pause_seconds",
    "latency_gate_release": "latency_gate_accept",
    "latency_gate_settle": "latency_gate_settle_seconds",
    "latency_more_thresholds": "latency_extra_thresholds",
    "latency_seconds": WINDOW_VARIABLE,
    "listener_rate_limit_reload_ok": "listener_rate_limit_allow_reload",
    "listener_rate_limit_restart_ok": "listener_rate_limit_allow_restart",
    "listener_rate_limit_sample_seconds": WINDOW_VARIABLE,
    "listener_rate_limit_wanted": "listener_rate_limit_listeners",
    "memory_pressure_ask_instances": "memory_pressure_query_instances",
    "memory_pressure_unmanaged": "memory_pressure_skip_checks",
    "name_resolution_cluster": "name_resolution_cluster_names",
    "name_resolution_longest_wait": "name_resolution_max_wait_seconds",
    "name_resolution_scan": "name_resolution_scan_names",
    "name_resolution_scan_addresses": "name_resolution_scan_address_count",
    "name_resolution_unmanaged": "name_resolution_skip_checks",
    "nfs_mounts_remount_ok": "nfs_mounts_allow_remount",
    "nfs_mounts_sample_seconds": WINDOW_VARIABLE,
    "nfs_mounts_use": "nfs_mounts_sharing",
    "nfs_mounts_wanted": "nfs_mounts_mounts",
    "pool_validation_reload_ok": "pool_validation_allow_reload",
    "pool_validation_stale_ok": "pool_validation_allow_stale_connections",
    "pool_validation_wanted": "pool_validation_pools",
    "pre_page_sga_ask_instances": "pre_page_sga_query_instances",
    "pre_page_sga_sqlplus_seconds": "pre_page_sga_sqlplus_timeout",
    "pre_page_sga_wanted": "pre_page_sga_value",
    "storage_type_agent_seconds": "storage_type_snmp_agent_timeout",
    "storage_type_agents_seconds": "storage_type_snmp_total_timeout",
    "storage_type_credentials": "storage_type_snmp_credentials",
    "storage_type_nfs_servers": "storage_type_query_nfs_servers",
    "storage_type_port": "storage_type_snmp_port",
    "storage_type_retries": "storage_type_snmp_retries",
    "storage_type_sample_seconds": WINDOW_VARIABLE,
    "storage_type_space_critical": "storage_type_space_fail_percent",
    "storage_type_space_warn": "storage_type_space_warn_percent",
    "storage_type_timeout": "storage_type_snmp_timeout",
    "storage_type_trace_folder": "storage_type_trace_dir",
    "time_sync_offset_ms": "time_sync_max_offset_ms",
    "time_sync_sources": "time_sync_min_sources",
    "time_sync_step_updates": "time_sync_max_step_updates",
}


def moved(variable: str) -> Optional[str]:
    """Return an error message with the new name of a renamed variable, otherwise None.

    "hugepages_reboot_ok is now hugepages_allow_reboot; set that instead".
    """
    new = OLD_VARIABLES.get(variable)
    if new is None:
        return None
    reason = (
        "one window of this number of seconds is used by every control with rates, and 0 "
        "disables it; "
        if new == WINDOW_VARIABLE
        else ""
    )
    return f"{variable} is now {new}; {reason}set that instead"


#: Stands where an audit has left out an entry that cannot be used (audit.py).
LEFT_OUT = object()

#: Digits of a number that something can be; beyond thousands of them Python itself rejects.
_MOST_DIGITS = 18

#: First numbers of Oracle Database: 8 came in 1997, and 23 is followed by 26.
_RELEASES = range(7, 41)

#: A file name that every reader of drop-in directories takes.
_CONF = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*\.conf\Z")


def is_whole(value: object) -> bool:
    """Whether it is a whole number since 0, or a text of one, and of a size that int() takes."""
    text = str(value)
    return not isinstance(value, bool) and text.isdecimal() and len(text) <= _MOST_DIGITS


def oracle_release(value: object) -> Optional[Tuple[int, ...]]:
    """(11, 2, 0, 4) of "11.2.0.4", (23,) of "23ai"; None of what is no release, such as 99."""
    match = re.match(r"(\d{1,2}(?:\.\d{1,6}){0,5})(?:c|g|i|ai)?(?:R\d)?\Z", str(value))
    if isinstance(value, bool) or match is None:
        return None
    numbers = tuple(int(number) for number in match.group(1).split("."))
    return numbers if numbers[0] in _RELEASES else None


class PolicyValues:
    """The values of one control's policy, as they came from its role's variables."""

    def __init__(self, control: str, values: Dict[str, Any], names: Sequence[str]) -> None:
        """``names`` are all the values that the policy must have, and the only ones it may."""
        self._control = control
        self._values = values
        missing = [name for name in names if name not in values]
        unknown = sorted(set(values) - set(names))
        for name in unknown:
            old = moved(f"{control}_{name}")
            if old is not None:
                raise PolicyError(old)
        if missing or unknown:
            raise PolicyError(
                "{0} policy: {1} {2}; take the names from roles/{0}/README.md".format(
                    control,
                    "missing" if missing else "unknown",
                    ", ".join(missing or unknown),
                )
            )

    def __getitem__(self, name: str) -> Any:
        return self._values[name]

    def error(self, name: str, problem: str) -> PolicyError:
        """ "hugepages_memlock must be ...": an error to raise, however much the value holds."""
        if len(problem) > 500:
            problem = f"{problem[:300]} ... {problem[-150:]}"
        return PolicyError(f"{self._control}_{name} {problem}")

    def whole_number(self, name: str, low: int = 0, high: Any = None) -> int:
        value = self[name]
        if not is_whole(value):
            raise self.error(name, f"must be a whole number, not {value!r}")
        number = int(value)
        if number < low or (high is not None and number > high):
            limits = f"{low} or more" if high is None else f"{low} to {high}"
            raise self.error(name, f"must be {limits}, not {number}")
        return number

    def decimal(self, name: str, low: float = 0, high: Any = None) -> float:
        """A number that may have a fraction, such as 0.5; both limits are allowed."""
        value = self[name]
        if isinstance(value, bool) or not re.match(r"[0-9]{1,18}(\.[0-9]{1,18})?\Z", str(value)):
            raise self.error(name, f"must be a number such as 0.5, not {value!r}")
        number = float(value)
        if number < low or (high is not None and number > high):
            limits = f"{low:g} or more"
            if high is not None:
                limits = f"{low:g} to {high:g}"
            raise self.error(name, f"must be {limits}, not {value}")
        return number

    def window(self) -> float:
        """The seconds of the window that all controls share; 0 disables it."""
        value = self[WINDOW_FIELD]
        takes = f"0 or {WINDOW_LEAST} to {WINDOW_MOST} seconds"
        if isinstance(value, bool) or not re.match(r"[0-9]{1,18}(\.[0-9]{1,18})?\Z", str(value)):
            raise PolicyError(f"{WINDOW_VARIABLE} must be {takes}, not {value!r}")
        seconds = float(value)
        if seconds and not WINDOW_LEAST <= seconds <= WINDOW_MOST:
            raise PolicyError(f"{WINDOW_VARIABLE} must be {takes}, not {value}")
        return seconds

    def profile(self) -> Optional[Profile]:
        """The purpose of the host; None if hostproof_profile is not set."""
        value = self[PROFILE_FIELD]
        if not isinstance(value, str) or value not in PROFILES:
            raise PolicyError(
                "{0} must be one of {1}, not {2!r}".format(
                    PROFILE_VARIABLE, ", ".join(PROFILES), value
                )
            )
        return PROFILES[value]

    def one_of(self, name: str, choices: Sequence[str]) -> str:
        if not isinstance(self[name], str) or self[name] not in choices:
            raise self.error(
                name, "must be one of {0}, not {1!r}".format(", ".join(choices), self[name])
            )
        return str(self[name])

    def flag(self, name: str) -> bool:
        if not isinstance(self[name], bool):
            raise self.error(name, f"must be true or false, not {self[name]!r}")
        return bool(self[name])

    def drop_in(self, name: str, directory: str) -> str:
        """The path of a file in a drop-in directory, with a name that the readers accept."""
        value = str(self[name])
        above, _, own = value.rpartition("/")
        if above != directory or not _CONF.match(own):
            raise self.error(name, f"must be {directory}/NAME.conf, not {value!r}")
        return value

    def absolute(self, name: str, value: object) -> str:
        if not isinstance(value, str) or not value.startswith("/") or not value.isprintable():
            raise self.error(name, f"must hold absolute paths, not {value!r}")
        return value

    def names(self, name: str) -> Tuple[str, ...]:
        """A list of names, which may be empty."""
        value = self[name]
        if not isinstance(value, (list, tuple)) or not all(
            isinstance(item, str) and item and item.isprintable() for item in value
        ):
            raise self.error(name, f"must be a list of names, each a text, not {value!r}")
        return tuple(value)

    def places(self, name: str, takes: str = "a list") -> Iterator[Tuple[int, Any]]:
        """Number and value of each entry of a list of targets, without the entries that an audit
        has left out."""
        value = self[name]
        if not isinstance(value, (list, tuple)):
            raise self.error(name, f"must be {takes}, not {value!r}")
        for place, item in enumerate(value):
            if item is not LEFT_OUT:
                yield place, item

    def named(self, name: str, takes: str) -> Iterator[Tuple[str, Any]]:
        """The same of a dictionary, which may hold secrets."""
        value = self[name]
        if not isinstance(value, dict):
            raise self.error(name, f"must be {takes}")
        for key, item in value.items():
            if item is not LEFT_OUT:
                yield key, item

    @contextmanager
    def entry(self, name: str, place: Union[int, str]) -> Iterator[None]:
        """Turns an error in an entry into a BadEntry, which affects only that entry."""
        try:
            yield
        except PolicyError as problem:
            raise BadEntry(str(problem), name, [place]) from problem
        except ValueError as problem:
            raise BadEntry(str(self.error(name, str(problem))), name, [place]) from problem

    def entries(
        self,
        name: str,
        read: Callable[[Any], T],
        key: Optional[Callable[[T], Hashable]] = None,
        twice: str = "lists {0} twice",
        takes: str = "a list",
    ) -> Tuple[T, ...]:
        """What ``read`` makes of each entry of a list; no two may have the same ``key``."""
        entries: List[T] = []
        seen: Dict[Hashable, Tuple[int, T]] = {}
        for place, item in self.places(name, takes):
            with self.entry(name, place):
                entry = read(item)
            if key is not None:
                earlier, other = seen.setdefault(key(entry), (place, entry))
                if earlier != place:
                    # Which of two that differ is meant it is unknown; of two that do not, one
                    # stays.
                    which = [place] if entry == other else [earlier, place]
                    raise BadEntry(str(self.error(name, twice.format(key(entry)))), name, which)
            entries.append(entry)
        return tuple(entries)

    def size(self, name: str) -> int:
        """Bytes, from a number or a text such as "60G"."""
        return self.size_of(name, self[name])

    def size_of(self, name: str, value: Any) -> int:
        try:
            size = int(parse_size(value))
        except ValueError as problem:
            raise self.error(name, f"is not a size: {problem}") from problem
        if size <= 0:
            raise self.error(name, "must be more than nothing")
        return size
