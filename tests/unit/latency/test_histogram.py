"""Bins are fine enough for percentiles, add up without loss, and end where Oracle's bins end."""

import json
import random

import pytest
from ansible.module_utils.hostproof.collect.histogram import Histogram
from cases import cases


def filled(durations: list[int]) -> Histogram:
    made = Histogram()
    made.add_many(durations)
    return made


@cases("share", 0.0, 0.01, 0.5, 0.9, 0.99, 1.0)
@cases("scale", 1_000, 50_000, 400_000, 20_000_000)
def test_a_percentile_is_right_within_a_bin(share: float, scale: int) -> None:
    chance = random.Random(scale)
    durations = [int(chance.lognormvariate(0, 0.7) * scale) for _ in range(3000)]
    truth = sorted(durations)[max(0, -int(-share * len(durations) // 1) - 1)] / 1000
    # Half of a bin: 1/128 from 2 us up, 1/128 us below.
    assert filled(durations).quantile(share) == pytest.approx(truth, rel=1 / 128, abs=1 / 64)


@cases("limit count", (0, 6), (0.9, 5), (49_000, 3), (50_000, 2), (51_000, 1), (61_000, 0))
def test_what_is_above_a_limit_without_doubt(limit: float, count: int) -> None:
    """A bin that the limit cuts is not counted: what it holds may be below."""
    made = filled([500, 1000, 2000, 50_100_000, 50_900_000, 60_000_000])
    assert made.above(limit) == count


def test_the_ends_and_the_mean_are_exact() -> None:
    histogram = filled([78_203, 1, 999_999_999])
    assert (histogram.minimum, histogram.maximum) == (0.001, 999_999.999)
    assert histogram.mean == pytest.approx((78_203 + 1 + 999_999_999) / 3000)
    assert histogram.quantile(0) == pytest.approx(0.001, abs=1 / 64)
    assert histogram.quantile(1) <= 999_999.999


@cases(
    "nanoseconds exponent",
    (0, 0),
    (999, 0),
    (1000, 1),
    (1999, 1),
    (2000, 2),
    (3999, 2),
    (4000, 3),
    (1_024_000, 11),
)
def test_log2_bins_end_at_powers_of_two_of_a_microsecond(nanoseconds: int, exponent: int) -> None:
    assert filled([nanoseconds]).log2_bins() == {exponent: 1}


def test_merging_is_counting_all_at_once() -> None:
    chance = random.Random(7)
    first, second = ([chance.randrange(10**9) for _ in range(500)] for _ in range(2))
    merged = filled(first)
    merged.merge(filled(second))
    merged.merge(Histogram())
    assert merged.to_json() == filled(first + second).to_json()
    empty = Histogram()
    empty.merge(filled(first))
    assert empty.to_json() == filled(first).to_json()


def test_it_survives_json() -> None:
    histogram = filled([5, 70_000, 70_001, 10**10])
    again = Histogram.from_json(json.loads(json.dumps(histogram.to_json())))
    assert again.to_json() == histogram.to_json()
    assert [again.quantile(q) for q in (0.1, 0.5, 1)] == [
        histogram.quantile(q) for q in (0.1, 0.5, 1)
    ]


@cases("wrong",

        None,
        [],
        {},
        {"layout": "us/32"},
        {"layout": "us/64, 64 per octave", "counts": [[1, 0]]},
        {"layout": "us/64, 64 per octave", "counts": [[1, 2]], "lowest_ns": None,
         "highest_ns": 1, "sum_ns": 2},
        {"layout": "us/64, 64 per octave", "counts": [[-1, 2]], "lowest_ns": 1, "highest_ns": 1,
         "sum_ns": 2},
        {"layout": "us/64, 64 per octave", "counts": 3, "lowest_ns": 1, "highest_ns": 1,
         "sum_ns": 2},
    )  # fmt: skip
def test_what_is_no_histogram_is_refused(wrong: object) -> None:
    with pytest.raises(ValueError, match="histogram"):
        Histogram.from_json(wrong)  # type: ignore[arg-type]


def test_nothing_counted_is_nothing_known() -> None:
    empty = Histogram()
    assert [empty.minimum, empty.maximum, empty.mean, empty.quantile(0.5)] == [None] * 4
    assert empty.log2_bins() == {}


def test_a_negative_duration_is_refused() -> None:
    with pytest.raises(ValueError, match="-3 ns"):
        filled([4, -3])


@cases("per_octave", 1, 4, 8, 64)
def test_parts_of_octaves_hold_what_lies_between_their_ends(per_octave: int) -> None:
    chance = random.Random(per_octave)
    durations = [int(chance.lognormvariate(0, 2) * 50_000) for _ in range(2000)] + [0, 999, 1000]
    parts = filled(durations).parts(per_octave)
    assert sum(count for _, _, count in parts) == len(durations)
    assert all(high <= low for (_, high, _), (low, _, _) in zip(parts, parts[1:], strict=False))
    for low, high, count in parts:
        assert count == sum(low * 1000 <= duration < high * 1000 for duration in durations)
    octaves = {low.bit_length(): 0 for low in (int(low) for low, _, _ in parts)}
    for low, _, count in parts:
        octaves[int(low).bit_length()] += count
    assert octaves == filled(durations).log2_bins()


def test_a_bin_that_no_clock_gave_is_refused_before_it_fills_the_memory() -> None:
    values = filled([5]).to_json()
    values["counts"] = [[10**18, 1]]
    with pytest.raises(ValueError, match="cannot be"):
        Histogram.from_json(values)
