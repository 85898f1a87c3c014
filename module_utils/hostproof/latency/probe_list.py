# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The list of latency probes of a host. Policies and modules share this format.

Each item is a dictionary with ``probe`` and the options of that probe:

- ``disk``: the kernel's counters. ``devices`` (names; default: all of ``layer``), ``layer``
  (devices or paths).
- ``nfs``: the counters of NFS mounts. ``mounts`` (paths; default: all mounts).
- ``disk_read``: direct reads that bypass the page cache. ``path``, ``sizes`` (bytes), ``reads``
  (of each size per window).
- ``tcp``: round trips. ``host``, ``port``, ``mode`` (handshake, tns_ping, request_response),
  ``samples`` (per window), ``request_size`` and ``reply_size`` (bytes), or ``payload`` (auto)
  for the sizes of live connections of ``payload_port``.
- ``sqlnet``: sizes of requests and responses of live connections of ``port``.
- ``pool``: checkouts of a connection pool of WildFly or JBoss EAP. ``home``, ``user`` (the account
  that runs it), ``data_source``, ``xa``, ``controller`` (address:port of the management interface),
  ``java``, ``samples`` (per window).
- ``report``: a file such as an AWR report. ``path``, ``events`` (prefixes of event names),
  ``cores`` (of the instance), ``before`` (the report from before a change), ``slob_conf`` and
  ``slob_conf_before`` (the settings of the runs).

``disk``, ``nfs`` and ``sqlnet`` only read counters, and ``report`` only reads files. The other
probes generate I/O or network traffic.
"""

import re
from typing import Any, Callable, Dict, List, NamedTuple, Optional

from ..errors import PolicyError
from .hello import LONGEST

DISK, NFS, DISK_READ, TCP, POOL, REPORT = "disk", "nfs", "disk_read", "tcp", "pool", "report"
SQLNET = "sqlnet"

#: Probes that only read counters, and probes that generate I/O or network traffic.
PASSIVE = (DISK, NFS)
ACTIVE = (DISK_READ, TCP, POOL)

HANDSHAKE, TNS_PING, REQUEST_RESPONSE = "handshake", "tns_ping", "request_response"

#: Sizes of requests and responses: from the options, or from live connections.
FIXED, AUTO = "fixed", "auto"

#: Remarks for a host without NFS mounts or disks. The probe succeeded; there is nothing to check.
NO_NFS = "nfs: no NFS file system is mounted here"
NO_DISK = "disk: this host has no disk"
#: Text in a remark about too few requests.
TOO_FEW = "too few to tell"
#: Text in a remark about a device whose times the kernel counts only in timer ticks.
IN_TICKS = "in ticks of"
#: The condition ``counted_in`` of a window of such a device.
TICKS = "ticks"

#: Texts in remarks about lost responses. The conditions of the windows contain the same facts.
NOT_COUNTED = "connections do not count"
ENDED_AFTER = "the window ended after"
#: The only entry of ``failures`` that is a response.
ELSEWHERE = "answered elsewhere or on the second request"

MOST_READS = 20000
MOST_SAMPLES = 20000
MOST_CORES = 100000
#: All operations are one command-line argument. Linux limits an argument to 128 KiB.
MOST_CHECKOUTS = 2000
LARGEST_READ = 16 << 20
ALIGNMENT = 4096


class Probe(NamedTuple):
    """``options`` has every option of the probe, None if the item does not set it.

    ``name`` identifies the probe in remarks. Equal items have equal names.
    """

    kind: str
    name: str
    options: Dict[str, Any]


class _Option(NamedTuple):
    """``read`` converts and validates a value. Its ValueError states the accepted values."""

    read: Callable[[object], object]
    default: object
    required: bool


def check_probes(probes: Any, where: str = "probes") -> List[Probe]:
    """The probes of a list. PolicyError names ``where``, the item and the defect."""
    if not isinstance(probes, (list, tuple)):
        raise PolicyError(
            f"{where} must be a list of dictionaries such as {{probe: disk}}, not {probes!r}"
        )
    checked: List[Probe] = []
    for number, entry in enumerate(probes, 1):
        checked.append(check_probe(entry, number, checked, where))
    return checked


def check_probe(entry: Any, number: int, before: List[Probe], where: str) -> Probe:
    """The probe of an item. PolicyError if ``before`` already contains this probe."""
    try:
        probe = _check(entry)
    except ValueError as problem:
        raise PolicyError(f"{where}, item {number}: {problem}") from problem
    if any(probe.name == other.name for other in before):
        raise PolicyError(f"{where}, item {number}: {probe.name} is listed twice")
    return probe


def _check(entry: Any) -> Probe:
    kind = entry.get("probe") if isinstance(entry, dict) else None
    if not isinstance(kind, str) or kind not in _OPTIONS:
        raise ValueError(
            "must be a dictionary with probe, one of {0}, not {1!r}".format(
                ", ".join(_OPTIONS), entry
            )
        )
    known = _OPTIONS[kind]
    unknown = sorted(str(name) for name in entry if name not in known and name != "probe")
    if unknown:
        raise ValueError(
            "{0} has no {1}; it has {2}".format(kind, ", ".join(unknown), ", ".join(known))
        )
    options: Dict[str, Any] = {}
    for name, option in known.items():
        value = entry.get(name)
        if value is None:
            if option.required:
                raise ValueError(f"{kind} needs {name}")
            options[name] = option.default
            continue
        try:
            options[name] = option.read(value)
        except ValueError as problem:
            raise ValueError(f"{name} of {kind} {problem}") from problem
    if options.get("payload") == AUTO:
        _check_auto(options["mode"], entry)
    return Probe(kind, _name(kind, options), options)


def _check_auto(mode: str, entry: Dict[str, Any]) -> None:
    if mode != REQUEST_RESPONSE:
        raise ValueError(f"payload: {AUTO} needs mode: {REQUEST_RESPONSE}")
    if entry.get("request_size") is not None or entry.get("reply_size") is not None:
        raise ValueError(f"payload: {AUTO} takes no request_size and no reply_size")


def _name(kind: str, options: Dict[str, Any]) -> str:
    if kind == TCP:
        shown = "[{0}]" if ":" in options["host"] else "{0}"
        target = shown.format(options["host"])
        return "tcp {0}:{1} {2}".format(target, options["port"], options["mode"])
    if kind == POOL:
        return "pool {0} {1}".format(options["controller"], options["data_source"])
    if kind == SQLNET:
        return "sqlnet port {0}".format(options["port"])
    if kind in (DISK_READ, REPORT):
        return "{0} {1}".format(kind, options["path"])
    return kind


# -- values of the options ------------------------------------------------------------------------


def _number(low: int, high: int) -> Callable[[object], int]:
    def read(value: object) -> int:
        text = "" if isinstance(value, bool) else str(value)
        if not text.isdecimal() or not low <= int(text) <= high:
            raise ValueError(f"must be a whole number from {low} to {high}, not {value!r}")
        return int(text)

    return read


def _word(value: object) -> str:
    text = value if isinstance(value, str) else ""
    if not text.strip() or any(ord(character) < ord(" ") for character in text):
        raise ValueError(f"must be a text in one line, not {value!r}")
    return text


def _path(value: object) -> str:
    if not _word(value).startswith("/"):
        raise ValueError(f"must begin with /, not {value!r}")
    return str(value)


def _like(pattern: str, what: str) -> Callable[[object], str]:
    def read(value: object) -> str:
        if not isinstance(value, str) or not re.match(pattern + r"\Z", value):
            raise ValueError(f"must be {what}, not {value!r}")
        return value

    return read


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"must be true or false, not {value!r}")
    return value


def _one_of(*choices: str) -> Callable[[object], str]:
    def read(value: object) -> str:
        if value not in choices:
            raise ValueError("must be one of {0}, not {1!r}".format(", ".join(choices), value))
        return str(value)

    return read


def _list_of(read_one: Callable[[object], object]) -> Callable[[object], List[object]]:
    def read(value: object) -> List[object]:
        if not isinstance(value, (list, tuple)) or not value:
            raise ValueError(f"must be a list that is not empty, not {value!r}")
        values = [read_one(item) for item in value]
        if len(set(values)) < len(values):
            raise ValueError(f"must not contain duplicates: {value!r}")
        return values

    return read


def _read_size(value: object) -> int:
    size = _number(ALIGNMENT, LARGEST_READ)(value)
    if size % ALIGNMENT:
        raise ValueError(f"must be multiples of {ALIGNMENT}, not {size}")
    return size


def _may(read: Callable[[object], object], default: Optional[object] = None) -> _Option:
    return _Option(read, default, False)


def _must(read: Callable[[object], object]) -> _Option:
    return _Option(read, None, True)


_OPTIONS: Dict[str, Dict[str, _Option]] = {
    DISK: {
        "devices": _may(_list_of(_word)),
        "layer": _may(_one_of("devices", "paths"), "devices"),
    },
    NFS: {"mounts": _may(_list_of(_path))},
    DISK_READ: {
        "path": _must(_path),
        "sizes": _may(_list_of(_read_size), [8192, 1048576]),
        "reads": _may(_number(1, MOST_READS)),
    },
    TCP: {
        "host": _must(_word),
        "port": _must(_number(1, 65535)),
        "mode": _may(_one_of(HANDSHAKE, TNS_PING, REQUEST_RESPONSE), HANDSHAKE),
        "samples": _may(_number(1, MOST_SAMPLES)),
        "request_size": _may(_number(1, LONGEST), 12),
        "reply_size": _may(_number(1, LONGEST), 4),
        "payload": _may(_one_of(FIXED, AUTO), FIXED),
        "payload_port": _may(_number(1, 65535), 1521),
    },
    POOL: {
        "home": _must(_path),
        "user": _must(_like(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,62}", "the name of an account")),
        "data_source": _must(_like(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,62}", "the name of a pool")),
        "xa": _may(_flag, False),
        "controller": _may(
            _like(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+):[0-9]{1,5}", "an address and a port"),
            "127.0.0.1:9990",
        ),
        "java": _may(_path, "/usr/bin/java"),
        "samples": _may(_number(1, MOST_CHECKOUTS)),
    },
    REPORT: {
        "path": _must(_path),
        "events": _may(_list_of(_word)),
        "cores": _may(_number(1, MOST_CORES)),
        "before": _may(_path),
        "slob_conf": _may(_path),
        "slob_conf_before": _may(_path),
    },
    SQLNET: {"port": _may(_number(1, 65535), 1521)},
}
