"""The benchmarks' own judgement: a busy machine is no pass, and a rate out of bounds is told."""

import functools
import importlib
from pathlib import Path
from types import ModuleType

import pytest
from cases import cases

ROOT = Path(__file__).resolve().parents[2]


def loaded(name: str, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A file of tests/bench as it sees itself when it is run."""
    monkeypatch.syspath_prepend(str(ROOT / "module_utils"))
    monkeypatch.syspath_prepend(str(ROOT / "tests/bench"))
    return importlib.import_module(name)


@pytest.fixture
def judging(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    return loaded("judging", monkeypatch)


def interval(judging: ModuleType, low: float, high: float):
    return judging.Interval((low + high) / 2, low, high)


@cases(
    "low high expected",
    (0.9, 1.04, "met"),
    (1.01, 1.06, "too noisy to tell"),
    (1.06, 1.2, "NOT MET"),
)
def test_the_whole_interval_must_keep_the_limit(judging, low, high, expected):
    assert judging.at_most(interval(judging, low, high), 1.05) == expected


@cases("low high expected", (2.1, 9, "met"), (1.5, 9, "too noisy to tell"), (1.0, 1.9, "NOT MET"))
def test_what_must_be_seen_must_be_seen_for_sure(judging, low, high, expected):
    assert judging.at_least(interval(judging, low, high), 2.0) == expected


@cases(
    "low high expected",
    (0.98, 1.02, "met"),
    (0.96, 1.02, "too noisy to tell"),
    (0.99, 1.04, "too noisy to tell"),
    (1.04, 1.3, "NOT MET"),
    (0.7, 0.96, "NOT MET"),
)
def test_neither_end_may_be_off(judging, low, high, expected):
    assert judging.within(interval(judging, low, high), 0.03) == expected


@cases(
    "stolen ratio expected",
    (0, 2.0, "NOT MET"),
    (1, 2.0, "NOT MET"),
    (4, 2.0, "NOT MET"),
    (4, 1.0, "met"),
)
def test_what_the_hypervisor_took_is_said_and_changes_no_word(
    judging, monkeypatch, capsys, stolen, ratio, expected
):
    looks = iter([[0] * 8, [50, 0, 0, 50 - stolen, 0, 0, 0, stolen]])
    monkeypatch.setattr(judging, "processor_times", lambda: next(looks))
    judge = functools.partial(judging.at_most, limit=1.05)
    assert judging.rounds(lambda: ratio, judge, 9, 60.0)[2] == expected
    assert ("The hypervisor took 4.0%" in capsys.readouterr().out) == (stolen > 1)


def test_times_of_this_machine(judging):
    times = judging.processor_times()
    assert len(times) == 8 and sum(times) > 0
    assert judging.share_stolen(times, times) == 0.0


def rounds_of(judging: ModuleType, ratios: list[float], monkeypatch: pytest.MonkeyPatch):
    """The rounds with these ratios, one a second, and ten seconds for all after the fewest."""
    left = iter(ratios)
    now = iter(range(1000))
    monkeypatch.setattr(judging.time, "monotonic", lambda: float(next(now)))
    return judging.rounds(lambda: next(left), lambda result: judging.at_most(result, 1.05), 9, 10.0)


def test_steady_rounds_decide_at_once(judging, monkeypatch):
    result, count, word = rounds_of(judging, [1.02, 1.01, 1.03] * 10, monkeypatch)
    assert (count, word) == (9, "met")
    assert result.ratio == pytest.approx(1.02, rel=1e-3)
    assert rounds_of(judging, [1.12, 1.11, 1.13] * 10, monkeypatch)[2] == "NOT MET"


def test_a_noisy_machine_is_no_pass(judging, monkeypatch):
    _, count, word = rounds_of(judging, [0.5, 1.9] * 20, monkeypatch)
    assert (count > 9, word) == (True, "too noisy to tell")


def test_what_is_not_met_is_the_exit_code_and_noise_is_a_skip(judging, capsys):
    score = judging.Score()
    score.expect("one", "met")
    score.together("two", ["met", "too noisy to tell"])
    assert score.exit_code() == 0
    assert "SKIPPED two: too noisy to tell here" in capsys.readouterr().out
    score.together("three", ["too noisy to tell", "NOT MET", "met"])
    assert score.exit_code() == 1
    assert "Expected: three: NOT MET" in capsys.readouterr().out


@pytest.fixture
def rates(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ModuleType:
    """The rates of few draws, and a page of the test's own."""
    module = loaded("latency_verdict", monkeypatch)
    for name in ("SIMULATIONS", "FLEETS", "UNCHANGED_FLEETS"):
        monkeypatch.setattr(module, name, 50)
    # So few draws are further from the true rates.
    for name, value in (("FEWEST", 1), ("MOST_FALSE", 0.2), ("LEAST_FOUND", 0.5)):
        monkeypatch.setattr(module, name, value)
    monkeypatch.setattr(module, "SPREADS", (0.02, 0.05))
    monkeypatch.setattr(module, "FLEETS_OF", ("spread 5%, neighbours 0.3",))
    monkeypatch.setattr(module, "PAGE", tmp_path / "page.md")
    monkeypatch.setattr(module, "ROOT", tmp_path)
    (tmp_path / "page.md").write_text("Head\n" + "old\n".join(module.MARKS) + "Foot\n")
    return module


def run(module: ModuleType, monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    monkeypatch.setattr("sys.argv", ["latency_verdict.py", *words])
    return int(module.main())


@pytest.mark.long
def test_the_page_has_the_rates(rates, monkeypatch, capsys):
    assert run(rates, monkeypatch) == 1
    assert "page.md has other rates" in capsys.readouterr().out
    assert run(rates, monkeypatch, "--page") == 0
    assert run(rates, monkeypatch) == 0
    page = rates.PAGE.read_text()
    assert page.startswith("Head\n")
    assert page.endswith("Foot\n")
    assert "old" not in page
    assert run(rates, monkeypatch, "--wrong") == 2


@pytest.mark.long
def test_a_verdict_that_calls_chance_a_change_is_told(rates, monkeypatch, capsys):
    run(rates, monkeypatch, "--page")
    real = rates.compare

    def hasty(before, after, margin, comparisons=1):
        comparison = real(before, after, margin, comparisons)
        slower = comparison.interval.ratio > 1
        return comparison._replace(verdict=rates.SLOWER if slower else rates.FASTER)

    monkeypatch.setattr(rates, "compare", hasty)
    assert run(rates, monkeypatch) == 1
    output = capsys.readouterr().out
    assert "OUT OF BOUNDS: simulated: 400 of 400 false" in output
    assert "OUT OF BOUNDS: recorded:" in output


@pytest.mark.long
def test_a_verdict_that_finds_nothing_is_told(rates, monkeypatch, capsys):
    run(rates, monkeypatch, "--page")
    real = rates.compare
    monkeypatch.setattr(
        rates, "compare", lambda *arguments: real(*arguments)._replace(verdict=rates.UNCHANGED)
    )
    assert run(rates, monkeypatch) == 1
    assert "+20% found 0.0%" in capsys.readouterr().out
