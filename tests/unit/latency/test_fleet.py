"""Twenty hosts tell what one cannot; unchanged ones take away what happened to all."""

import itertools
import math
import random

import pytest
from cases import cases
from hostproof_controller.latency import fleet
from hostproof_controller.latency.fleet import compare_fleet, signed_rank_interval
from hostproof_controller.latency.verdict import FASTER, INCONCLUSIVE, SLOWER, UNCHANGED


def ratios(hosts: int, change: float, seed: int, spread: float = 0.05) -> list[float]:
    chance = random.Random(seed)
    return [change * math.exp(chance.gauss(0, spread)) for _ in range(hosts)]


@cases("hosts", 1, 2, 5, 8)
def test_the_distribution_is_what_counting_gives(hosts: int) -> None:
    counted = [0] * (hosts * (hosts + 1) // 2 + 1)
    for signs in itertools.product((0, 1), repeat=hosts):
        counted[sum(rank for rank, sign in enumerate(signs, 1) if sign)] += 1
    assert fleet._signed_ranks(hosts) == counted


def test_five_hosts_bound_nothing_and_six_do() -> None:
    assert math.isinf(signed_rank_interval(ratios(5, 1.3, 1)).high)
    assert signed_rank_interval(ratios(6, 1.3, 1)).high < math.inf


@cases(
    "change spread expected",
    (1.08, 0.05, SLOWER),
    (1 / 1.08, 0.05, FASTER),
    (1.0, 0.02, UNCHANGED),
    (1.0, 0.3, INCONCLUSIVE),
)
def test_a_fleet_gets_the_verdict_of_its_hosts(change: float, spread: float, expected: str) -> None:
    comparison = compare_fleet(ratios(20, change, 2, spread), [], 0.05)
    assert comparison.verdict == expected
    assert (comparison.hosts, comparison.controls) == (20, 0)


def test_what_happened_to_all_is_not_the_changes_doing() -> None:
    evening = 1.15
    changed, unchanged = ratios(12, evening, 3, 0.02), ratios(12, evening, 4, 0.02)
    assert compare_fleet(changed, [], 0.05).verdict == SLOWER
    comparison = compare_fleet(changed, unchanged, 0.05)
    assert (comparison.verdict, comparison.controls) == (UNCHANGED, 12)


def test_too_few_unchanged_hosts_are_not_subtracted() -> None:
    comparison = compare_fleet(ratios(12, 1.1, 5, 0.02), ratios(3, 1.1, 6), 0.05)
    assert (comparison.verdict, comparison.controls) == (SLOWER, 0)


def test_no_host_is_no_verdict() -> None:
    with pytest.raises(ValueError, match="at least one ratio"):
        compare_fleet([], [], 0.05)


@cases("controls figures", (0, 1), (0, 2), (0, 8), (4, 1), (4, 8), (12, 8))
def test_the_fewest_hosts_bound_an_interval_and_one_less_does_not(controls, figures) -> None:
    hosts = fleet.fewest_hosts(controls, figures)
    unchanged = ratios(controls, 1.0, 7)
    bounded = [
        compare_fleet(ratios(number, 1.3, 8), unchanged, 0.05, figures).interval.high < math.inf
        for number in (hosts - 1, hosts)
    ]
    assert bounded == [False, True]


def test_figures_that_share_the_error_are_rarely_called_worse_by_chance() -> None:
    """Of 300 batches in which nothing happened at most one in twenty is held, and a bit."""
    held = 0
    for batch in range(300):
        words = [
            compare_fleet(ratios(8, 1.0, 1000 * batch + number), [], 0.05, 8).verdict
            for number in range(8)
        ]
        held += SLOWER in words
    assert held <= 15 + 3 * math.sqrt(15)
