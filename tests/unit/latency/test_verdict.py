"""The four verdicts: exact where they can be checked by counting, and rarely wrong by chance."""

import itertools
import math
import random

import pytest
from cases import cases
from hostproof_controller.latency import verdict
from hostproof_controller.latency.verdict import (
    FASTER,
    INCONCLUSIVE,
    SLOWER,
    UNCHANGED,
    compare,
    is_stable,
    ratio_interval,
    sentence,
)


def windows(number: int, spread: float, seed: int, level: float = 400.0) -> list[float]:
    chance = random.Random(seed)
    return [level * math.exp(chance.gauss(0, spread)) for _ in range(number)]


@cases("first second", (1, 1), (2, 3), (4, 4), (3, 6), (5, 5))
def test_the_distribution_is_what_counting_gives(first: int, second: int) -> None:
    counted = [0] * (first * second + 1)
    for chosen in itertools.combinations(range(first + second), first):
        others = set(range(first + second)) - set(chosen)
        counted[sum(rank > other for rank in chosen for other in others)] += 1
    assert verdict._mann_whitney(first, second) == counted


@cases("number rank", (3, 0), (4, 1), (5, 3), (6, 6), (8, 14), (10, 24), (15, 65), (20, 128))
def test_the_rank_is_the_published_one(number: int, rank: int) -> None:
    assert verdict._rank(number, number, 0.05) == rank


def test_three_windows_can_never_tell() -> None:
    comparison = compare([100.0, 101.0, 99.0], [900.0, 910.0, 905.0], 0.05)
    assert comparison.verdict == INCONCLUSIVE
    assert comparison.needed == 4
    assert math.isinf(comparison.interval.high)


@cases("factor expected", (1.0, UNCHANGED), (1.2, SLOWER), (1 / 1.2, FASTER), (1.05, INCONCLUSIVE))
def test_steady_windows_get_the_verdict_of_their_ratio(factor: float, expected: str) -> None:
    before, after = windows(10, 0.01, 1), [w * factor for w in windows(10, 0.01, 2)]
    comparison = compare(before, after, 0.05)
    assert comparison.verdict == expected
    assert comparison.interval.low < comparison.interval.ratio < comparison.interval.high
    assert comparison.interval.ratio == pytest.approx(factor, rel=0.02)


def test_worse_and_better_are_mirror_images() -> None:
    before, after = windows(10, 0.05, 3), windows(10, 0.05, 4, 520.0)
    there, back = compare(before, after, 0.05), compare(after, before, 0.05)
    assert (there.verdict, back.verdict) == (SLOWER, FASTER)
    assert there.interval.ratio == pytest.approx(1 / back.interval.ratio)
    assert there.interval.low == pytest.approx(1 / back.interval.high, rel=0.05)


def test_inconclusive_says_how_many_windows_would_tell() -> None:
    comparison = compare(windows(10, 0.08, 5), windows(10, 0.08, 6, 440.0), 0.05)
    assert comparison.verdict == INCONCLUSIVE
    assert comparison.needed is not None
    assert 10 < comparison.needed <= 500


def test_a_baseline_that_moves_by_itself_allows_no_verdict() -> None:
    moving = windows(5, 0.01, 7, 400.0) + windows(5, 0.01, 8, 520.0)
    comparison = compare(moving, windows(10, 0.01, 9, 900.0), 0.05)
    assert comparison.stable is False
    assert comparison.verdict == INCONCLUSIVE
    assert "baseline itself was not stable" in sentence(comparison)
    assert is_stable(windows(10, 0.01, 10), 0.05) is True
    assert is_stable([400.0] * 5, 0.05) is None


def test_neighbours_that_are_alike_widen_the_interval() -> None:
    chance = random.Random(11)
    walk = [400.0]
    for _ in range(19):
        walk.append(walk[-1] * math.exp(chance.gauss(0, 0.03)))
    shuffled = random.Random(12).sample(walk, len(walk))
    other = windows(20, 0.02, 13)
    ordered, mixed = (ratio_interval(before, other, 0.05) for before in (walk, shuffled))
    assert ordered.ratio == mixed.ratio
    assert ordered.high / ordered.low > mixed.high / mixed.low


@cases("seen corrected", (-0.3, 0.0), (0.0, 0.1), (0.4, 0.66), (0.8, 0.9))
def test_short_series_show_their_neighbours_too_different(monkeypatch, seen, corrected) -> None:
    monkeypatch.setattr(verdict, "_correlation", lambda _: seen)
    expected = math.sqrt((1 + corrected) / (1 - corrected))
    assert verdict._widening([1.0] * 10, [1.0] * 10) == pytest.approx(expected)


def test_windows_that_follow_each_other_are_rarely_called_a_change() -> None:
    """400 pairs whose neighbours correlate by 0.6: with too little widening 5 % were called."""
    called = 0
    for seed in range(400):
        chance = random.Random(seed)
        value = chance.gauss(0, 0.1)
        drawn = []
        for _ in range(20):
            drawn.append(400 * math.exp(value))
            value = 0.6 * value + chance.gauss(0, 0.08)
        called += compare(drawn[:10], drawn[10:], 0.05).verdict in (SLOWER, FASTER)
    assert called <= 15


def test_many_verdicts_at_once_are_each_more_careful() -> None:
    before, after = windows(10, 0.03, 14), windows(10, 0.03, 15, 436.0)
    alone, among = compare(before, after, 0.05), compare(before, after, 0.05, comparisons=300)
    assert among.interval.low < alone.interval.low
    assert among.interval.high > alone.interval.high


@cases("wrong", [], [0.0, 1.0], [-1.0])
def test_figures_that_cannot_be_are_refused(wrong: list[float]) -> None:
    with pytest.raises(ValueError, match="above 0"):
        compare(wrong, [1.0] * 5, 0.05)
    with pytest.raises(ValueError, match="above 0"):
        compare([1.0] * 5, wrong, 0.05)


@cases(
    "interval suspect",
    (verdict.Interval(1.05, 1.01, 1.2), True),
    (verdict.Interval(1.04, 1.01, 1.2), False),
    (verdict.Interval(1.05, 1.0, 1.2), False),
    (verdict.Interval(0.95, 0.9, 0.99), True),
    (verdict.Interval(0.96, 0.9, 0.99), False),
    (verdict.Interval(0.95, 0.9, 1.0), False),
)
def test_suspect_excludes_no_change_and_reaches_the_margin(
    interval: verdict.Interval, suspect: bool
) -> None:
    assert verdict._excludes_same(interval, 0.05) is suspect


def test_equal_windows_are_no_different() -> None:
    comparison = compare([400.0] * 10, [400.0] * 10, 0.05)
    assert (comparison.verdict, comparison.suspect, comparison.needed) == (UNCHANGED, False, None)


def test_the_sentence_has_the_numbers_and_the_verdict() -> None:
    comparison = compare(windows(10, 0.02, 16), windows(10, 0.02, 17, 520.0), 0.05)
    text = sentence(comparison)
    assert " -> " in text
    assert "95% interval +" in text
    assert text.endswith("margin 5%: slower")
    assert "too few windows" in sentence(compare([1.0], [2.0], 0.05))


def test_chance_alone_is_rarely_called_a_change() -> None:
    """400 pairs of ten windows from one distribution: no more than 1 % beyond the margin."""
    called = [
        compare(windows(10, 0.05, seed), windows(10, 0.05, seed + 10_000), 0.05).verdict
        for seed in range(400)
    ]
    assert sum(outcome in (SLOWER, FASTER) for outcome in called) <= 4
