"""What few samples show of a tail for certain."""

import math
import random
from fractions import Fraction

import pytest
from ansible.module_utils.hostproof.controls.latency.figures import certain_share, least_share
from cases import cases
from latency_packs import event, mean_only, samples


@cases(
    "above count share",
    # Clopper and Pearson in closed form: none, and all of them.
    (0, 100, 0.0),
    (10, 10, 0.025 ** (1 / 10)),
    (1, 100, 1 - 0.975 ** (1 / 100)),
)
def test_the_lower_end_of_an_exact_interval(above: int, count: int, share: float) -> None:
    assert least_share(above, count) == pytest.approx(share, abs=1e-6)


@cases("above count", (2, 300), (16, 999), (60, 960), (390, 400))
def test_the_tail_is_exact(above: int, count: int) -> None:
    """Summed in whole numbers, from the other end than the probe does."""
    share = Fraction(least_share(above, count))
    below = sum(
        math.comb(count, one) * share**one * (1 - share) ** (count - one) for one in range(above)
    )
    assert float(1 - below) == pytest.approx(0.025, rel=1e-6)


def test_a_tail_that_is_within_the_limit_is_seldom_said_to_be_beyond() -> None:
    """1 % of all are slow, which is a p99 at the limit: at most 2.5 of 100 windows may say more."""
    chance = random.Random(6)
    wrong = 0
    for _ in range(600):
        slow = sum(chance.random() < 0.01 for _ in range(400))
        wrong += least_share(slow, 400) > 0.01
    assert wrong <= 0.04 * 600


def test_windows_without_single_samples_show_nothing() -> None:
    assert certain_share(samples("user", *[60.0] * 20), 50_000) > 0.8
    assert certain_share(samples("user", *[60.0] * 5), 50_000) == 0.0
    assert certain_share(mean_only("device", 60.0), 50_000) == 0.0
    assert certain_share(event("log file sync", 10, 60.0, 0.1), 50_000) == 0.0
