# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads with more than one under way, by fio: Python itself can only wait for one.

fio is told by its own option to refuse any job that writes, and neither makes nor extends a file.
"""

import itertools
from typing import Callable, Iterator, List, Tuple

from ..errors import HostproofError, ParseError
from ..parsers import fio as fio_json
from .direct_file import DirectFile

#: Runs a command: exit code, standard output, standard error.
Run = Callable[[List[str]], Tuple[int, str, str]]


class FioFailed(HostproofError):
    """fio did not run, or not as it was told."""


def command(file, size, depth, count, seconds, seed):
    # type: (DirectFile, int, int, int, int, int) -> List[str]
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
        "--bs={0}".format(size),
        "--ioengine=libaio",
        "--iodepth={0}".format(depth),
        "--io_size={0}".format(size * count),
        "--runtime={0}".format(seconds),
        "--randseed={0}".format(seed),
        "--allrandrepeat=1",
        "--thread",
        "--output-format=json+",
        "--percentile_list=50:90:99",
    ]


def read(run, file, size, depth, count, seconds, seed):
    # type: (Run, DirectFile, int, int, int, int, int) -> fio_json.Reads
    """Run it. A file with holes is refused: fio would read those too, and no disk answers them."""
    if file.sparse:
        raise FioFailed(
            "{0} has holes, which no disk answers; for a queue deeper than 1 name a file "
            "without, or the device".format(file.path)
        )
    rc, out, err = run(command(file, size, depth, count, seconds, seed))
    if rc:
        said = (err.strip() or out.strip() or "nothing").splitlines()[-1]
        raise FioFailed("fio ended with {0}: {1}".format(rc, said[:300]))
    try:
        (job,) = fio_json.parse(out)
    except (ParseError, ValueError) as problem:
        raise FioFailed("fio's answer cannot be read: {0}".format(problem)) from problem
    if job.errors or not job.reads:
        raise FioFailed("fio made {0} reads, with {1} errors".format(job.reads, job.errors))
    if not job.bins:
        raise FioFailed(
            "{0} gives no histogram (json+); fio 2.13 or later does".format(job.version)
        )
    return job


def samples(job):
    # type: (fio_json.Reads) -> Iterator[int]
    """The duration of each read in nanoseconds, as exact as fio's bins are (under 1 %)."""
    return itertools.chain.from_iterable(
        itertools.repeat(duration, count) for duration, count in job.bins
    )
