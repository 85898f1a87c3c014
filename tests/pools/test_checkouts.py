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
    found = measure(probe(shop, "FG"), probe(shop, "BG"))
    assert [(one.probe, one.layer, one.n) for one in found.windows] == [
        ("pool", "checkout", 20)
    ] * 2
    assert found.windows[0].subject == f"127.0.0.1:{shop.management} FG"
    assert all(one.p50 and one.conditions["trivial_p50_us"] > 0 for one in found.windows)
    # One validation for each checkout, those before the first that counts too; none in the other.
    asked = database.statements()[before:]
    assert asked.count("select 'check FG'") in (69, 70) and "select 'check BG'" not in asked
    assert "its statistics are off" in found.remarks[0]


def test_an_audit_measures_within_its_window(shop):
    given = default_policy("latency") | {
        "probes": [probe(shop, "FG", samples=None)],
        "window_seconds": 10,
    }
    findings = audit.judge_host(LiveHost(), {"latency": given})
    (one,) = [one for one in findings if one.check == "latency.checkout"]
    # No limit is built in.
    assert one.status == "skip" and " of 400, no limit" in str(one.why)
    assert "of it are the management's own" in str(one.why)


def sleeping(database: parts.Database) -> int:
    asked = "query like 'select pg_sleep%' and state = 'active'"
    return int(database.ask(f"select count(*) from pg_stat_activity where {asked}"))


def test_a_full_pool_is_left_alone(shop, database):
    shop.write("BG", statistics_enabled=True)
    shop.reload()
    try:
        found = measure(probe(shop, "BG"))
        assert (len(found.windows), found.remarks) == (1, [])
        with ThreadPoolExecutor(parts.POOL) as requests:
            for _number in range(parts.POOL):
                requests.submit(shop.checkouts, "java:/BG", 1, "select pg_sleep(20)")
            parts.wait_until(lambda: sleeping(database) == parts.POOL, "all connections are in use")
            found = measure(probe(shop, "BG"))
            database.kill_sessions()
        assert found.windows == []
        assert f"no place of the pool is free ({parts.POOL} are in use)" in found.remarks[0]
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
    found = measure(probe(shop, "FG", **changes))
    assert found.windows == []
    assert said in found.remarks[0] and len(found.remarks) == 1


def test_a_name_that_would_be_an_operation():
    with pytest.raises(PolicyError, match="data_source of pool must be the name of a pool"):
        check_probes(
            [{"probe": "pool", "home": "/a", "user": "b", "data_source": 'x":remove,:shutdown'}]
        )
