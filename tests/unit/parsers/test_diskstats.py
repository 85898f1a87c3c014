"""What block devices counted, and the difference of two readings."""

from pathlib import Path

import pytest
from ansible.module_utils.hostproof.controls.latency.parsers import diskstats
from ansible.module_utils.hostproof.controls.latency.parsers.diskstats import Counters
from ansible.module_utils.hostproof.errors import ParseError
from cases import cases

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures/diskstats"
ROW = "   8       0 sda 1 2 3 4 5 6 7 8 9 10 11\n"


def read(number: int) -> dict[str, Counters]:
    return diskstats.parse((FIXTURES / f"linux-6.18-reads-{number}.txt").read_text())


def test_a_real_reading() -> None:
    vda = read(1)["vda"]
    assert (vda.major, vda.minor, vda.reads, vda.sectors_read) == (254, 0, 2722478, 76913890)
    assert (vda.read_ms, vda.writes, vda.write_ms, vda.in_flight) == (1705749, 1416769, 685406, 0)
    assert (vda.busy_ms, vda.weighted_ms) == (362736, 2533666)
    assert read(1)["loop0"].reads == 0


def test_what_happened_between_two_real_readings() -> None:
    moved = diskstats.difference(read(1)["vda"], read(2)["vda"])
    assert moved is not None
    assert (moved.reads, moved.reads_merged, moved.sectors_read) == (1924, 1, 104520)
    assert (moved.read_ms, moved.writes, moved.busy_ms, moved.weighted_ms) == (2044, 0, 80, 2044)


@cases("more", "", " 12 13 14 15", " 12 13 14 15 16 17")
def test_kernels_that_count_discards_and_flushes_or_not(more: str) -> None:
    assert diskstats.parse(ROW[:-1] + more + "\n")["sda"] == Counters(
        8, 0, "sda", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
    )


@cases(
    "text line",
    ("", 0),
    ("\n\n", 0),
    (ROW + "   8       1 sda1 1 2 3 4\n", 2),
    (ROW.replace(" 3 ", " x "), 1),
    (ROW.replace(" 3 ", " -3 "), 1),
    (ROW + ROW, 2),
    ("MemTotal:       16303428 kB\n", 1),
)
def test_what_is_none(text: str, line: int) -> None:
    with pytest.raises(ParseError) as problem:
        diskstats.parse(text)
    assert problem.value.line == line


def counters(**changed: int) -> Counters:
    return diskstats.parse(ROW)["sda"]._replace(**changed)


@cases("name", "read_ms", "write_ms", "weighted_ms", "reads", "sectors_read")
def test_a_counter_that_wrapped(name: str) -> None:
    moved = diskstats.difference(counters(**{name: 2**32 - 100}), counters(**{name: 23}))
    assert moved is not None
    assert getattr(moved, name) == 123


@cases(
    "before after",
    (5000, 3),
    (2**31 - 1, 0),
    (2**32 - 100, 2**32 - 200),
    (2**40, 7),
    (2**31, 2**31 - 1),
)
def test_a_device_that_was_made_anew_has_no_difference(before: int, after: int) -> None:
    assert diskstats.difference(counters(reads=before), counters(reads=after)) is None


def test_another_device_of_the_same_name_has_no_difference() -> None:
    assert diskstats.difference(counters(), counters(minor=16)) is None


def test_what_is_under_way_is_no_counter() -> None:
    assert diskstats.difference(counters(in_flight=9), counters(in_flight=0)) is not None
