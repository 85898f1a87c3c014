"""fio's own words about a job that reads."""

import json
from pathlib import Path
from typing import Any

import pytest
from ansible.module_utils.hostproof.controls.latency.parsers import fio
from ansible.module_utils.hostproof.errors import ParseError
from cases import cases

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures/fio"
REAL = (FIXTURES / "fio-3.33-libaio-8k-depth-8.json").read_text()


def test_a_real_job() -> None:
    (job,) = fio.parse(REAL)
    assert (job.version, job.job, job.reads, job.bytes) == ("fio-3.33", "hostproof", 1000, 8192000)
    assert (job.runtime_ms, job.errors) == (20, 0)
    assert (job.lowest, job.highest) == (82814, 332531)
    assert job.mean == pytest.approx(152275.135)
    assert job.percentiles == {50.0: 146432, 90.0: 152576, 99.0: 199680}
    assert sum(count for _, count in job.bins) == 1000
    assert job.bins[0] == (79360, 1)
    assert list(job.bins) == sorted(job.bins)


def test_fio_2_tells_microseconds_and_kibibytes() -> None:
    (job,) = fio.parse((FIXTURES / "fio-2-layout.json").read_text())
    assert (job.version, job.bytes, job.percentiles[50.0]) == ("fio-2.16", 8192000, 146000)
    assert (job.lowest, job.bins) == (82000, ())


def test_notes_before_the_object_are_passed_over() -> None:
    assert fio.parse("note: both iodepth >= 1 and synchronous\n" + REAL) == fio.parse(REAL)


def test_a_job_that_wrote_is_refused() -> None:
    with pytest.raises(ParseError, match="a job did not only read"):
        fio.parse((FIXTURES / "fio-3.33-read-and-write.json").read_text())


def without(*path: str) -> str:
    tree: Any = json.loads(REAL)
    inner = tree if path[0] in tree else tree["jobs"][0]
    for name in path[:-1]:
        inner = inner[name]
    del inner[path[-1]]
    return json.dumps(tree)


@cases(
    "text words",
    ("", "there is no object"),
    ("fio: pid=0, err=2/file:filesetup.c", "there is no object: fio failed with error 2"),
    (REAL[: len(REAL) // 2], "it is not JSON, or has"),
    ('{"fio version": "fio-3.33", "jobs": []}', "there is no job"),
    ('{"jobs": 5}', "lacks or mistakes"),
    (without("read"), "lacks or mistakes 'read'"),
    (without("read", "lat_ns"), "has no latencies"),
    (without("read", "total_ios"), "lacks or mistakes 'total_ios'"),
    (without("write", "total_ios"), "lacks or mistakes"),
)
def test_what_cannot_be_used(text: str, words: str) -> None:
    with pytest.raises(ParseError, match=words):
        fio.parse(text)
