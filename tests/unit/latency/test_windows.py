"""Windows of all probes are alike, and stand in rows of sizes."""

import json

import pytest
from ansible.module_utils.hostproof.collect.measured import Window, window_from_samples
from cases import cases


def window(samples: list[int], size: int | None = 8192) -> Window:
    return window_from_samples("disk", "sda", "device", size, 1.5, 3.0, samples, {"load": 0.5})


def test_a_window_tells_what_its_samples_were() -> None:
    made = window([100_000, 200_000, 300_000, 400_000])
    assert (made.n, made.minimum, made.mean, made.maximum) == (4, 100.0, 250.0, 400.0)
    assert made.p50 == pytest.approx(200, rel=0.01)
    assert made.p90 == pytest.approx(400, rel=0.01)
    assert Window.from_json(json.loads(json.dumps(made.to_json()))) == made


@cases("samples told", (999, False), (1000, True))
def test_p99_needs_a_thousand_samples(samples: int, told: bool) -> None:
    assert (window([1000] * samples).p99 is not None) is told


def test_no_samples_are_an_empty_window() -> None:
    made = window([])
    assert (made.n, made.p50, made.log2_bins()) == (0, None, {})


@cases("wrong", None, {}, {"probe": "tcp"}, {**window([1]).to_json(), "q": 1})
def test_what_is_no_window_is_refused(wrong: object) -> None:
    with pytest.raises(ValueError, match="not a window"):
        Window.from_json(wrong)  # type: ignore[arg-type]


def test_bins_that_came_as_powers_of_two_are_kept_as_they_are() -> None:
    made = window([1])._replace(bins={"log2": {"10": 4, "9": 1}})
    assert list(made.log2_bins().items()) == [(9, 1), (10, 4)]
