"""Checkouts of a real server's pools, timed through its management alone."""

import shutil
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import parts
import pytest
from ansible.module_utils.hostproof.collect.host import LiveHost
from ansible.module_utils.hostproof.controls.latency.measurement import measuring
from ansible.module_utils.hostproof.errors import PolicyError
from ansible.module_utils.hostproof.evaluate import audit
from ansible.module_utils.hostproof.latency.probe_list import check_probes
from default_policies import default_policy


def probe(server: parts.WildFly, source: str, **more: Any) -> dict[str, Any]:
    return {
        "probe": "pool",
        "home": str(server.home),
        "user": parts.ACCOUNT,
        "data_source": source,
        "controller": f"127.0.0.1:{server.management}",
        "java": shutil.which("java"),
        "samples": 20,
        **more,
    }


def measure(*probes: dict[str, Any]) -> measuring.Measured:
    return measuring.measure(LiveHost(), check_probes(list(probes)), 1, 5, 0)


def test_what_was_asked_is_what_the_pool_does(shop, database):
    before = len(database.statements())
    result = measure(probe(shop, "FG"), probe(shop, "BG"))
    assert [(window.probe, window.layer, window.n) for window in result.windows] == [
        ("pool", "checkout", 20)
    ] * 2
    assert result.windows[0].subject == f"127.0.0.1:{shop.management} FG"
    assert all(window.p50 and window.conditions["trivial_p50_us"] > 0 for window in result.windows)
    # One validation for each checkout, those before the first that counts too; none in the other.
    statements = database.statements()[before:]
    assert (
        statements.count("select 'check FG'") in (69, 70) and "select 'check BG'" not in statements
    )
    assert "its statistics are off" in result.remarks[0]


def test_an_audit_measures_within_its_window(shop):
    policy = default_policy("latency") | {
        "probes": [probe(shop, "FG", samples=None)],
        "window_seconds": 10,
    }
    findings = audit.judge_host(LiveHost(), {"latency": policy})
    (finding,) = [finding for finding in findings if finding.check == "latency.checkout"]
    # No limit is built in.
    assert finding.status == "skip" and " of 400, no limit" in str(finding.why)
    assert "of it are the management's own" in str(finding.why)


def sleeping(database: parts.Database) -> int:
    condition = "query like 'select pg_sleep%' and state = 'active'"
    return int(database.ask(f"select count(*) from pg_stat_activity where {condition}"))


def test_a_full_pool_is_left_alone(shop, database):
    shop.write("BG", statistics_enabled=True)
    shop.reload()
    try:
        result = measure(probe(shop, "BG"))
        assert (len(result.windows), result.remarks) == (1, [])
        with ThreadPoolExecutor(parts.POOL) as requests:
            for _number in range(parts.POOL):
                requests.submit(shop.checkouts, "java:/BG", 1, "select pg_sleep(20)")
            parts.wait_until(lambda: sleeping(database) == parts.POOL, "all connections are in use")
            result = measure(probe(shop, "BG"))
            database.kill_sessions()
        assert result.windows == []
        assert f"no place of the pool is free ({parts.POOL} are in use)" in result.remarks[0]
    finally:
        shop.write("BG", statistics_enabled=False)
        shop.reload()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"data_source": "gone"}, "gone"),
        ({"controller": "127.0.0.1:1"}, "jboss-cli ended with 1: Failed to connect"),
        ({"home": "/nowhere"}, "jboss-cli ended with 1: Error: Unable to access jarfile"),
        ({"user": "no-such-user"}, "there is no user no-such-user"),
        ({"xa": True}, "FG"),
    ],
)
def test_what_cannot_be_measured_says_why(shop, changes, said):
    result = measure(probe(shop, "FG", **changes))
    assert result.windows == []
    assert said in result.remarks[0] and len(result.remarks) == 1


def test_a_name_that_would_be_an_operation():
    with pytest.raises(PolicyError, match="data_source of pool must be the name of a pool"):
        check_probes(
            [{"probe": "pool", "home": "/a", "user": "b", "data_source": 'x":remove,:shutdown'}]
        )
