"""Windows of NFS mounts, from two readings of a real kernel's counters."""

import pytest
from ansible.module_utils.hostproof.controls.latency.measurement import nfs_latency
from ansible.module_utils.hostproof.parsers.nfs import mountstats
from ansible.module_utils.hostproof.probes.nfs import nfs_traffic
from latency_packs import mount
from packs import FIXTURES


def interval(name: str, seconds: float) -> nfs_latency.Interval:
    first, second = [
        mountstats.parse((FIXTURES / f"mountstats/linux-6.1-{name}-{number}.txt").read_text())
        for number in (1, 2)
    ]
    return nfs_latency.Interval(seconds, nfs_traffic.between(first, second, seconds, {}))


def test_the_figures_are_those_of_the_counters():
    reading = interval("slow", 8.5)
    windows, remarks = nfs_latency.windows(["/u01/oradata"], [reading], 7.0)
    assert remarks == []
    rates = reading.mounts["/u01/oradata"].ops["WRITE"]
    by_layer = {w.layer: w for w in windows if w.subject == "/u01/oradata WRITE"}
    assert rates.ops >= 30 and rates.rtt_ms is not None and rates.execute_ms is not None
    assert by_layer["server"].p50 == pytest.approx(rates.rtt_ms * 1000)
    assert by_layer["user"].p50 == pytest.approx(rates.execute_ms * 1000)
    assert by_layer["host"].p50 == pytest.approx((rates.execute_ms - rates.rtt_ms) * 1000)
    assert {window.n for window in by_layer.values()} == {rates.ops}
    assert by_layer["server"].conditions["mode"] == "passive"
    path = {
        name: by_layer["server"].conditions[name] for name in ("source", "proto", "connections")
    }
    mounted = reading.mounts["/u01/oradata"]
    assert path == {
        "source": mounted.source,
        "proto": mounted.protos[0],
        "connections": len(mounted.transports),
    }
    assert (by_layer["server"].started, by_layer["server"].seconds) == (7.0, 8.5)


def test_the_median_of_intervals_and_the_mean_of_all():
    server = mount("/u02", (100, 1.0, 1.5), (300, 2.0, 2.5), (100, 9.0, 9.5))[0]
    assert server.layer == "server"
    assert (server.minimum, server.p50, server.maximum) == (1000.0, 2000.0, 9000.0)
    assert server.mean == pytest.approx((100 * 1 + 300 * 2 + 100 * 9) / 500 * 1000)
    assert server.conditions["intervals_told"] == 3


def test_an_interval_with_too_few_does_not_count():
    server = mount("/u02", (29, 90.0, 90.0), (30, 2.0, 2.5))[0]
    assert (server.n, server.p50, server.conditions["intervals_told"]) == (59, 2000.0, 1)
    assert server.mean == pytest.approx(2000.0)


def test_nothing_happened():
    server = mount("/u02", (0, 0.0, 0.0))[0]
    assert (server.n, server.p50, server.mean, server.minimum) == (0, None, None, None)


def test_a_mount_that_is_not_there_or_was_made_anew():
    reading = interval("load", 9.8)
    again = reading._replace(
        mounts={
            path: mount._replace(remounted=True, ops={}) for path, mount in reading.mounts.items()
        }
    )
    for intervals, path in (([reading], "/nowhere"), ([again], "/u01/oradata")):
        windows, remarks = nfs_latency.windows([path], intervals, None)
        assert windows == []
        assert remarks == [f"{path}: is not mounted, or was mounted again meanwhile"]
