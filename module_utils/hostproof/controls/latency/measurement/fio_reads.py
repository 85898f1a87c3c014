# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads with more than one under way, by fio: Python itself can only wait for one.

fio is determined by its own option to reject any job that writes, and neither makes nor extends
a file.
"""

import itertools
from typing import Callable, Iterator, List, Tuple

from ....errors import HostproofError, ParseError
from ..parsers import fio as fio_json
from ..probes.direct_file import DirectFile

#: Runs a command: exit code, standard output, standard error.
Run = Callable[[List[str]], Tuple[int, str, str]]


class FioFailed(HostproofError):
    """fio did not run, or not as it was told."""


def command(
    file: DirectFile, size: int, depth: int, count: int, seconds: int, seed: int
) -> List[str]:
    """The command for ``count`` reads with ``depth`` under way, that ends after ``seconds``."""
    return [
        "fio",
        "--name=hostproof",
        # A colon would separate two files.
        "--filename=" + file.path.replace(":", "\\:"),
        "--readonly",
        "--allow_file_create=0",
        "--rw=randread",
        "--direct=1",
        f"--bs={size}",
        "--ioengine=libaio",
        f"--iodepth={depth}",
        f"--io_size={size * count}",
        f"--runtime={seconds}",
        f"--randseed={seed}",
        "--allrandrepeat=1",
        "--thread",
        "--output-format=json+",
        "--percentile_list=50:90:99",
    ]


def read(
    run: Run, file: DirectFile, size: int, depth: int, count: int, seconds: int, seed: int
) -> fio_json.Requests:
    """Run it. A file with holes is rejected: fio would read those too, and no disk answers
    them."""
    if file.sparse:
        raise FioFailed(
            f"{file.path} has holes, which no disk answers; for a queue deeper than 1 name a file "
            "without, or the device"
        )
    rc, out, err = run(command(file, size, depth, count, seconds, seed))
    if rc:
        message = (err.strip() or out.strip() or "nothing").splitlines()[-1]
        raise FioFailed(f"fio ended with {rc}: {message[:300]}")
    try:
        (job,) = fio_json.parse(out)
    except (ParseError, ValueError) as problem:
        raise FioFailed(f"fio's answer cannot be read: {problem}") from problem
    if job.errors or not job.reads:
        raise FioFailed(f"fio made {job.reads} reads, with {job.errors} errors")
    if not job.bins:
        raise FioFailed(f"{job.version} gives no histogram (json+); fio 2.13 or later does")
    return job


def samples(job: fio_json.Requests) -> Iterator[int]:
    """The duration of each read in nanoseconds, as exact as fio's bins are (under 1%)."""
    return itertools.chain.from_iterable(
        itertools.repeat(duration, count) for duration, count in job.bins
    )
