"""The latency probes on a way and on disks of known delay (molecule/lab/latency_paths.py).

Each figure is compared with one that was taken right before or after it, in rounds, and the rounds
are judged by their interval as the benchmarks' are: wholly within the limit passes, wholly beyond
it fails, and else this machine is too noisy to tell, which is a visible skip with the numbers.
"""

import functools
import math
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
from latency_lab import LatencyLab
from machines.needs import ROOT

sys.path[:0] = [str(ROOT / "module_utils"), str(ROOT / "tests/bench")]

from hostproof.latency.fleet import signed_rank_interval  # noqa: E402
from hostproof.latency.verdict import Interval  # noqa: E402
from judging import MET, NOISY, at_least, at_most, shown, within  # noqa: E402

#: Fewer have no interval.
ROUNDS = 6

Rounds = list[dict[str, Any]]


@pytest.fixture(scope="module")
def lab(tools: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LatencyLab]:
    machine = LatencyLab(tmp_path_factory.mktemp("latency"))
    machine.tool("start")
    yield machine
    machine.tool("stop")


@pytest.fixture(scope="module")
def network(lab: LatencyLab) -> dict[str, Rounds]:
    found: dict[str, Rounds] = lab.measured("network", ROUNDS)
    return found


@pytest.fixture(scope="module")
def burden(lab: LatencyLab) -> dict[str, Rounds]:
    found: dict[str, Rounds] = lab.measured("burden", ROUNDS)
    return found


@pytest.fixture(scope="module")
def disks(lab: LatencyLab) -> dict[str, dict[str, Rounds]]:
    found: dict[str, dict[str, Rounds]] = lab.measured("disks", ROUNDS)
    return found


def expect(what: str, ratios: Sequence[float], judge: Callable[[Interval], str]) -> None:
    if min(ratios) <= 0:
        pytest.skip(f"{what}: this machine is too noisy to tell ({[round(r, 3) for r in ratios]})")
    interval = signed_rank_interval(ratios)
    print(f"{what}: {shown(interval)}")
    assert not math.isinf(interval.high)
    word = judge(interval)
    if word == NOISY:
        pytest.skip(f"{what}: this machine is too noisy to tell, {shown(interval)}")
    assert word == MET, f"{what}: {shown(interval)}"


def extra(rounds: dict[str, Rounds], words: str, layer: str) -> list[float]:
    """How much longer the way is than without netem, round by round; microseconds."""
    pairs = zip(rounds["0"], rounds[words], strict=True)
    return [long[layer]["p50"] - short[layer]["p50"] for short, long in pairs]


@pytest.mark.parametrize("words", ["0", "1ms", "6ms"])
def test_a_user_waits_as_long_as_the_probe_says(network, words):
    ratios = [one["user"]["p50"] / one["hand"]["p50"] for one in network[words]]
    judge = functools.partial(within, share={"0": 0.30, "1ms": 0.10, "6ms": 0.05}[words])
    expect(f"user p50 beside a client by hand, {words}", ratios, judge)


@pytest.mark.parametrize("layer", ["kernel", "user"])
def test_6_ms_of_netem_are_found_within_2_percent(network, layer):
    ratios = [found / 6000 for found in extra(network, "6ms", layer)]
    expect(f"{layer} finds 6 ms", ratios, functools.partial(within, share=0.02))


def test_1_ms_of_netem_is_found_within_10_percent(network):
    ratios = [found / 1000 for found in extra(network, "1ms", "kernel")]
    expect("kernel finds 1 ms", ratios, functools.partial(within, share=0.10))


def test_jitter_is_seen_as_spread_and_not_as_a_longer_way(network):
    [one] = network["6ms 1ms"]
    steady = sorted(found["kernel"]["p50"] for found in network["6ms"])
    # netem spreads the delay evenly from 5 to 7 ms.
    assert 5000 <= one["kernel"]["p10"] < steady[-1]
    assert one["kernel"]["p90"] - one["kernel"]["p10"] > 1000


def test_a_lost_answer_is_in_the_tail_and_not_in_the_middle(network):
    [one] = network["6ms loss 8%"]
    # TCP sends it again after 200 ms at the earliest (TCP_RTO_MIN).
    assert one["kernel"]["longest"] > 200_000
    assert one["user"]["longest"] > 200_000
    assert 6000 <= one["kernel"]["p50"] < 0.5 * 200_000


def test_work_in_the_client_is_the_hosts_and_not_the_networks(burden):
    pairs = list(zip(burden["quiet"], burden["busy"], strict=True))
    kernel = [busy["kernel"]["p50"] / quiet["kernel"]["p50"] for quiet, busy in pairs]
    host = [busy["host"]["p50"] / quiet["host"]["p50"] for quiet, busy in pairs]
    expect("host sees 200 us of work", host, functools.partial(at_least, limit=1.0))
    expect("the kernel does not", kernel, functools.partial(within, share=0.03))


def test_hogs_are_in_the_hosts_p99_and_not_in_the_kernels(burden):
    pairs = list(zip(burden["quiet"], burden["hogs"], strict=True))
    host = [hogs["host"]["p99"] / quiet["host"]["p99"] for quiet, hogs in pairs]
    user = [hogs["user"]["p99"] / quiet["user"]["p99"] for quiet, hogs in pairs]
    kernel = [hogs["kernel"]["p99"] / quiet["kernel"]["p99"] for quiet, hogs in pairs]
    expect("host p99 beside hogs", host, functools.partial(at_least, limit=2.0))
    expect("user p99 beside hogs", user, functools.partial(at_least, limit=1.0))
    expect("kernel p99 beside hogs", kernel, functools.partial(at_most, limit=2.0))


@pytest.mark.parametrize("disk", ["dm-delay", "scsi_debug"])
def test_both_disk_probes_tell_what_a_reader_waits_for(disks, disk):
    rounds = disks[disk]["5"]
    # A disk that answers sooner has not the delay that it was told.
    assert min(one["reference"]["least"] for one in rounds) >= 5000
    active = [one["user"] / one["reference"]["p50"] for one in rounds]
    passive = [one["passive"] / one["reference"]["mean"] for one in rounds]
    expect(f"active, {disk}", active, functools.partial(within, share=0.05))
    expect(f"passive, {disk}", passive, functools.partial(within, share=0.05))


@pytest.mark.parametrize("probe", ["user", "passive"])
def test_5_ms_of_a_disk_are_found_within_5_percent(disks, probe):
    pairs = zip(disks["scsi_debug"]["0"], disks["scsi_debug"]["5"], strict=True)
    ratios = [(slow[probe] - fast[probe]) / 5000 for fast, slow in pairs]
    expect(f"{probe} finds 5 ms", ratios, functools.partial(within, share=0.05))
