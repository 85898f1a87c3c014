"""The article's transactions a second come out of round trips, and its pool's cost too.

Source: the article on oratcptest in the origin of the project: 2356, 1567 and 854 transactions a
second at 0.021, 0.161 and 0.685 ms; a datasource that validates each connection on a path of 6 ms:
17.867 ms a request, 9.927 ms without.
"""

import pytest
from ansible.module_utils.hostproof.latency.budget import budget, think_time, validation_cost
from cases import cases


@cases(
    "round_trip per_second elsewhere", (0.021, 2356, 0.40), (0.161, 1567, 0.48), (0.685, 854, 0.49)
)
def test_the_articles_rates(round_trip: float, per_second: int, elsewhere: float) -> None:
    # The article cuts after two digits.
    assert think_time(per_second, round_trip, 1) == pytest.approx(elsewhere, abs=0.01)
    result = budget(round_trip, 1, think_time(per_second, round_trip, 1))
    assert result.per_second == pytest.approx(per_second)
    assert result.network_share == pytest.approx(round_trip * per_second / 1000)


def test_the_far_rate_is_predicted_from_the_near_one() -> None:
    elsewhere = think_time(1567, 0.161, 1)
    assert budget(0.685, 1, elsewhere).per_second == pytest.approx(854, rel=0.02)


def test_validating_on_every_request_costs_a_round_trip_and_the_statement() -> None:
    assert validation_cost(6.0) == 6.0
    measured = 17.867 - 9.927
    assert validation_cost(6.0, statement=measured - 6.0) == pytest.approx(measured)
    assert validation_cost(6.0) / measured == pytest.approx(0.76, abs=0.01)


@cases("wrong", (0, 0, 0), (-1, 1, 5), (1, -1, 5), (1, 1, -5))
def test_a_transaction_without_time_is_refused(wrong: tuple[float, float, float]) -> None:
    with pytest.raises(ValueError, match="takes time"):
        budget(*wrong)


def test_a_rate_that_one_session_cannot_have_is_refused() -> None:
    with pytest.raises(ValueError, match="one session cannot reach"):
        think_time(854, 0.685, 10)
    with pytest.raises(ValueError, match="above 0"):
        think_time(0, 0.685, 1)
