# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Duration of checkouts from a pool of WildFly or JBoss EAP, measured through its management.

One session of jboss-cli alternates between two operations and records the time of each response.
The first operation is test-connection-in-pool: it takes a connection like a request, with the same
validation, and returns it. The second one reads an attribute and shows the time of any operation.
The result was within 5% of an application's measurement (tests/bench/pool_validation.py).

Sources: WildFly model reference, subsystem datasources (test-connection-in-pool, statistics=pool).
"""

import os
import statistics
import subprocess
import time
from typing import Any, Dict, List, Tuple

from ....collect import command
from ....collect.measured import Window, window_from_samples
from ....errors import Unanswered, kind_of
from ....latency.probe_list import MOST_CHECKOUTS
from ....parsers.jboss import cli_answers
from ....probes.jboss import cli
from . import conditions

LAYER = "checkout"

#: Pairs before the first that counts: the session itself gets quicker.
WARM_UP = 50
#: Seconds that a session takes to begin, at most, on a machine that is not quick.
_BEGIN = 30.0
#: An answer ends in the first column, and nothing within one does.
_END = b"}"

#: Both are of the data source, which the session goes to first.
_TRIVIAL, _TESTED = ":read-attribute(name=enabled)", ":test-connection-in-pool"

Options = Dict[str, Any]


def samples_of(options: Options, seconds: float) -> int:
    """The number of checkouts a window has: what the list says, else what is usual in the time."""
    return int(options["samples"] or max(WARM_UP, min(MOST_CHECKOUTS, int(seconds * 40))))


def check_room(options: Options) -> List[str]:
    """Remarks; Unanswered where no place of the pool is free, for then requests wait already."""
    address = _address(options) + "/statistics=pool"
    select = "query(select=[statistics-enabled,AvailableCount,InUseCount])"
    printed = _asked(options, [f"{address}:{select}"], _BEGIN)[0]
    attributes = cli_answers.values(cli_answers.parse(printed, 1)[0])
    if attributes.get("statistics-enabled") != "true":
        return ["its statistics are off: it is unknown whether the pool had a free place"]
    free = attributes.get("AvailableCount") or ""
    if not free.isdigit():
        raise Unanswered(
            _key(options), f"the number of its free places is unknown ({kind_of(free)})"
        )
    if not int(free):
        used = attributes.get("InUseCount")
        raise Unanswered(_key(options), f"no place of the pool is free ({used} are in use)")
    return []


def window(options: Options, seconds: float) -> Window:
    """Checkouts, one after the other. The condition ``trivial_p50_us`` is the time of an operation
    that does not use the pool."""
    pairs = samples_of(options, seconds) + WARM_UP
    before, started = conditions.start(), time.time()
    printed, stamps = _asked(
        options, ["cd " + _address(options), *[_TRIVIAL, _TESTED] * pairs], 2 * seconds + _BEGIN
    )
    cli_answers.parse(printed, 2 * pairs)
    if len(stamps) != 2 * pairs:
        raise Unanswered(_key(options), f"{len(stamps)} answers of {2 * pairs} came")
    took = [end - begin for begin, end in zip(stamps, stamps[1:])][2 * WARM_UP :]
    context = conditions.since(before)
    context["mode"] = LAYER
    context["trivial_p50_us"] = round(statistics.median(took[1::2]) / 1000, 1)
    lasted = (stamps[-1] - stamps[0]) / 1e9
    return window_from_samples(
        "pool", subject(options), LAYER, None, started, lasted, took[0::2], context
    )


def subject(options: Options) -> str:
    return "{0} {1}".format(options["controller"], options["data_source"])


def _key(options: Options) -> str:
    return "windows:pool " + subject(options)


def _address(options: Options) -> str:
    kind = "xa-data-source" if options["xa"] else "data-source"
    return '/subsystem=datasources/{0}="{1}"'.format(kind, options["data_source"])


def _asked(options: Options, operations: List[str], seconds: float) -> Tuple[str, List[int]]:
    """The output of the server, and the end time of each response."""
    at = cli.Management(
        options["home"],
        options["user"],
        options["controller"],
        # No program is run through a link, which /usr/bin/java mostly is.
        os.path.realpath(options["java"]),
    )
    request = cli.command(at, "checkouts of a pool", operations, seconds)
    try:
        output, stamps = command.stamped(request, _END)
    except (OSError, ValueError, subprocess.SubprocessError) as problem:
        raise Unanswered(_key(options), f"jboss-cli: {problem}") from problem
    if output.rc:
        message = " ".join((output.stdout + output.stderr).split())[-400:]
        raise Unanswered(_key(options), f"jboss-cli ended with {output.rc}: {message}")
    return output.stdout, stamps
