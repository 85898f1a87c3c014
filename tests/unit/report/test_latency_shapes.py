"""Where the distributions before and after a change are drawn, from bins of any width."""

from typing import Any

import pytest
from ansible.module_utils.hostproof.collect.measured import window_from_samples
from ansible.module_utils.hostproof.controls.latency.measurement.report import octaves, window
from hostproof_controller.report.latency_series import Series
from hostproof_controller.report.latency_svg import _shapes

Shape = list[tuple[float, float, float]]


def series(*bins: Any) -> Series:
    made = [
        window("database", "log file sync", "database", 100, None, {}, bins=counts)
        for counts in bins
    ]
    return Series("database", "log file sync", "database", None, tuple(made))


def shape(*bins: Any) -> Shape:
    (drawn, same) = _shapes(series(*bins), series(*bins))
    assert drawn == same
    return drawn


def test_a_bin_of_several_octaves_is_drawn_over_all_of_them() -> None:
    """AWR of 11g: all from 32 ms to 1 s is one column."""
    drawn = shape(octaves({15: 10, 20: 90}, {20: 16}))
    assert drawn[0] == (16384.0, 32768.0, 0.1)
    assert [low for low, _, _ in drawn[1:]] == [2.0**k for k in range(15, 20)]
    assert [high for _, high, _ in drawn] == [2.0**k for k in range(15, 21)]
    assert [share for _, _, share in drawn[1:]] == pytest.approx([0.18] * 5)


def test_a_bin_of_all_below_is_drawn_from_the_first_octave_on() -> None:
    drawn = shape(octaves({3: 90, 4: 10}, {3: 0}))
    assert [(low, high) for low, high, _ in drawn] == [
        (0.5, 1.0),
        (1.0, 2.0),
        (2.0, 4.0),
        (4.0, 8.0),
        (8.0, 16.0),
    ]
    assert [share for _, _, share in drawn] == pytest.approx([0.225] * 4 + [0.1])


def test_reports_that_divide_the_octaves_differently_add_up() -> None:
    fine = {17: 10, 18: 20, 19: 30, 20: 40}
    drawn = shape(octaves({15: 10, 20: 90}, {20: 16}), octaves(fine))
    assert [round(200 * share) for _, _, share in drawn] == [10, 18, 28, 38, 48, 58]
    assert all(previous[1] == other[0] for previous, other in zip(drawn, drawn[1:], strict=False))
    assert sum(share for _, _, share in drawn) == pytest.approx(1.0)


def test_fine_bins_are_drawn_where_they_are() -> None:
    made = window_from_samples("tcp", "x", "net", None, 1.0, 1.0, [400000] * 900 + [100] * 100, {})
    item = Series("tcp", "x", "net", None, (made,))
    drawn, _ = _shapes(item, item)
    assert drawn == [(0.125, 0.25, 0.1), (384.0, 448.0, 0.9)]
