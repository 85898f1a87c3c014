"""Bins are fine enough for percentiles, add up without loss, and end where Oracle's bins end."""

import json
import random

import pytest
from ansible.module_utils.hostproof.latency.histogram import Histogram


def filled(durations: list[int]) -> Histogram:
    made = Histogram()
    made.add_many(durations)
    return made


@pytest.mark.parametrize("share", [0.0, 0.01, 0.5, 0.9, 0.99, 1.0])
@pytest.mark.parametrize("scale", [1_000, 50_000, 400_000, 20_000_000])
def test_a_percentile_is_right_within_a_bin(share: float, scale: int) -> None:
    chance = random.Random(scale)
    durations = [int(chance.lognormvariate(0, 0.7) * scale) for _ in range(3000)]
    truth = sorted(durations)[max(0, -int(-share * len(durations) // 1) - 1)] / 1000
    # Half of a bin: 1/128 from 2 us up, 1/128 us below.
    assert filled(durations).quantile(share) == pytest.approx(truth, rel=1 / 128, abs=1 / 64)


def test_the_ends_and_the_mean_are_exact() -> None:
    histogram = filled([78_203, 1, 999_999_999])
    assert (histogram.minimum, histogram.maximum) == (0.001, 999_999.999)
    assert histogram.mean == pytest.approx((78_203 + 1 + 999_999_999) / 3000)
    assert histogram.quantile(0) == pytest.approx(0.001, abs=1 / 64)
    assert histogram.quantile(1) <= 999_999.999


@pytest.mark.parametrize(
    ("nanoseconds", "exponent"),
    [(0, 0), (999, 0), (1000, 1), (1999, 1), (2000, 2), (3999, 2), (4000, 3), (1_024_000, 11)],
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


@pytest.mark.parametrize(
    "wrong",
    [
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
    ],
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
