"""The policy of the control latency: what it takes, and what each mistake says."""

from typing import Any

import pytest
from ansible.module_utils.hostproof.controls.latency.control import CONTROL as latency
from ansible.module_utils.hostproof.controls.latency.policy import Budget, Rate
from ansible.module_utils.hostproof.errors import PolicyError
from ansible.module_utils.hostproof.latency import probe_list
from ansible.module_utils.hostproof.latency.probe_list import check_probes
from cases import cases
from default_policies import default_policy
from latency_packs import latency_policy

LIMIT = {"probe": "disk", "figure": "p50", "warn_ms": 5}
TCP = {"probe": "tcp", "host": "db02", "port": 1521}
RESPONDER = {**TCP, "mode": "request_response"}
READ = {"probe": "disk_read", "path": "/x"}
LARGE = {"request_size": 65536, "reply_size": 65536}


RATE = {"round_trips": 1, "measured_per_second": 854, "measured_round_trip_ms": 0.685}


def test_the_defaults_only_look():
    policy = latency.policy_from(latency_policy())
    assert [probe.kind for probe in policy.probes] == ["disk", "nfs"]
    assert {probe.kind for probe in policy.probes} <= set(probe_list.PASSIVE)
    assert policy.window_seconds == 10
    assert (policy.budget, policy.release, policy.multitenant) == (None, None, None)


def test_as_many_round_trips_as_fit_into_the_seconds():
    probes = [{**TCP, "samples": 100}, {**RESPONDER, "samples": 20000}, {**RESPONDER, **LARGE}]
    policy = latency.policy_from(latency_policy(probes=probes[:2], window_seconds=20))
    assert [probe.options["samples"] for probe in policy.probes] == [100, 20000]
    latency.policy_from(latency_policy(probes=probes[2:]))
    # 0.3 has no exact float, nor has 0.1: 23 connections need 2.3 seconds.
    latency.policy_from(latency_policy(probes=[{**TCP, "samples": 23}], window_seconds=2.3))
    # Nothing is measured, so that nothing can be too much.
    latency.policy_from(latency_policy(probes=[{**TCP, "samples": 101}], window_seconds=0))


def test_every_limit_of_the_table_names_its_source():
    assert all(limit.get("source") for limit in default_policy("latency")["thresholds"])


def test_no_two_limits_of_the_table_are_for_the_same_figure():
    keys = [
        tuple(limit.get(name) for name in ("probe", "storage", "layer", "size", "event", "figure"))
        for limit in default_policy("latency")["thresholds"]
    ]
    assert len(set(keys)) == len(keys)


def test_own_limits_come_last():
    policy = latency.policy_from(latency_policy(extra_thresholds=[LIMIT]))
    assert policy.thresholds[-1].warn_ms == 5 and policy.thresholds[-1].source == "policy"


@cases(
    "changes said",
    ({"probes": {"probe": "disk"}}, "latency_probes must be a list"),
    ({"probes": ["disk"]}, "latency_probes, item 1: must be a dictionary"),
    ({"probes": [{"probe": "ping"}]}, "one of disk, nfs, disk_read, tcp, pool, report"),
    ({"probes": [{"probe": ["disk"]}]}, "item 1: must be a dictionary with probe"),
    ({"probes": [{"probe": "disk", "device": "sda"}]}, "disk has no device; it has devices"),
    ({"probes": [{"probe": "disk", "devices": "sda"}]}, "must be a list that is not empty"),
    ({"probes": [{"probe": "disk", "devices": []}]}, "must be a list that is not empty"),
    ({"probes": [{"probe": "disk", "devices": ["a", "a"]}]}, "must not contain duplicates"),
    ({"probes": [{"probe": "disk", "layer": "dm"}]}, "one of devices, paths"),
    ({"probes": [{"probe": "disk"}, {"probe": "disk"}]}, "item 2: disk is listed twice"),
    ({"probes": [{"probe": "nfs", "mounts": ["u02"]}]}, "must begin with /"),
    ({"probes": [{"probe": "disk_read"}]}, "disk_read needs path"),
    ({"probes": [{"probe": "disk_read", "path": "x"}]}, "must begin with /"),
    ({"probes": [{"probe": "disk_read", "path": "/x", "sizes": [512]}]}, "from 4096"),
    ({"probes": [{"probe": "disk_read", "path": "/x", "sizes": [5000]}]}, "multiples of 4096"),
    ({"probes": [{"probe": "disk_read", "path": "/x", "reads": 0}]}, "from 1 to 20000"),
    ({"probes": [{"probe": "tcp", "port": 1}]}, "tcp needs host"),
    ({"probes": [{"probe": "tcp", "host": "x"}]}, "tcp needs port"),
    ({"probes": [{"probe": "tcp", "host": "x", "port": 0}]}, "from 1 to 65535"),
    ({"probes": [{"probe": "tcp", "host": "x", "port": True}]}, "from 1 to 65535"),
    ({"probes": [{"probe": "tcp", "host": "x\n", "port": 1}]}, "a text in one line"),
    ({"probes": [{"probe": "tcp", "host": "x", "port": 1, "mode": "ping"}]}, "handshake"),
    ({"probes": [{**TCP, "mode": "tns_ping", "samples": 101}]}, "take at most 100 samples"),
    ({"probes": [{**TCP, "samples": 51}, RESPONDER]}, "a window has 5 s: take at most 50"),
    (
        {"probes": [TCP, READ, {**READ, "path": "/y"}], "window_seconds": 2},
        "latency_probes has 3 probes that send or read by themselves, one after the other: "
        "hostproof_window_seconds 2 leaves 0.67 s to each, and it must be 1 s; raise it, or",
    ),
    ({"probes": [{**TCP, "samples": 20000}]}, "20000 connections take 2000 s at 10 a second"),
    ({"probes": [TCP, {**RESPONDER, "request_size": 65537}]}, "from 1 to 65536, not 65537"),
    ({"probes": [{**RESPONDER, "reply_size": 1 << 20}]}, "from 1 to 65536, not 1048576"),
    (
        {"probes": [{**RESPONDER, **LARGE, "samples": 20000}]},
        "latency_probes, tcp db02:1521 request_response: 2622488576 bytes would be sent and",
    ),
    ({"probes": [{"probe": "report"}]}, "report needs path"),
    ({"probes": [{"probe": "sqlnet", "port": 0}]}, "from 1 to 65535"),
    ({"probes": [{**TCP, "payload": "auto"}]}, "payload: auto needs mode: request_response"),
    ({"probes": [{**RESPONDER, "payload": "some"}]}, "one of fixed, auto"),
    (
        {"probes": [{**RESPONDER, "payload": "auto", "reply_size": 4}]},
        "payload: auto takes no request_size and no reply_size",
    ),
    ({"window_seconds": -1}, "hostproof_window_seconds must be"),
    ({"window_seconds": 0.5}, "hostproof_window_seconds must be 0 or 1 to 600 seconds, not 0.5"),
    ({"window_seconds": 601}, "hostproof_window_seconds must be 0 or 1 to 600 seconds, not 601"),
    ({"thresholds": {}}, "latency_thresholds must be a list"),
    ({"thresholds": ["x"]}, "latency_thresholds, item 1: must be a dictionary"),
    ({"extra_thresholds": [{**LIMIT, "warn": 5}]}, "latency_extra_thresholds, item 1: has"),
    ({"thresholds": [{**LIMIT, "probe": "ping"}]}, "probe must be one of"),
    ({"thresholds": [{**LIMIT, "figure": "p95"}]}, "p50, p90, p99, mean, not 'p95'"),
    ({"thresholds": [{**LIMIT, "figure": None}]}, "figure must be one of"),
    ({"thresholds": [{**LIMIT, "storage": "san"}]}, "storage must be one of"),
    ({"thresholds": [{**LIMIT, "layer": "user"}]}, "layer of disk must be one of read, write"),
    ({"thresholds": [{**LIMIT, "size": "8K"}]}, "size must be a number of bytes"),
    ({"thresholds": [{**LIMIT, "event": "log file sync"}]}, "for the probe report alone"),
    ({"thresholds": [{**LIMIT, "warn_ms": None}]}, "needs warn_ms"),
    ({"thresholds": [{**LIMIT, "warn_ms": 0}]}, "warn_ms must be milliseconds above 0"),
    ({"thresholds": [{**LIMIT, "warn_ms": "nan"}]}, "warn_ms must be milliseconds above 0"),
    ({"thresholds": [{**LIMIT, "warn_ms": True}]}, "warn_ms must be milliseconds above 0"),
    ({"thresholds": [{**LIMIT, "fail_ms": 4}]}, "fail_ms 4 must not be below warn_ms 5"),
    ({"budget": [1]}, "latency_budget must be a dictionary"),
    ({"budget": {"trips": 1}}, "latency_budget must be a dictionary of round_trips"),
    ({"budget": {"round_trips": 1}}, "latency_budget needs think_time_ms"),
    ({"budget": {"round_trips": 0, "think_time_ms": 1}}, "round_trips must be a number above"),
    ({"budget": {"round_trips": 1, "think_time_ms": -1}}, "think_time_ms must be a number of"),
    ({"budget": {"round_trips": 1, "think_time_ms": 0, "per_second": 0}}, "per_second must be"),
    (
        {"budget": {"round_trips": 1, "think_time_ms": 1, "measured_per_second": 9}},
        "instead of it, measured_per_second: one of both",
    ),
    (
        {"budget": {"round_trips": 1, "think_time_ms": 1, "measured_round_trip_ms": 9}},
        "measured_round_trip_ms belongs to measured_per_second",
    ),
    (
        {"budget": {**RATE, "round_trips": 10}},
        "measured_per_second: one session cannot reach 854 per second with 10 round trips of "
        "0.685 ms",
    ),
    ({"budget": {**RATE, "measured_per_second": 0}}, "measured_per_second must be a number"),
    ({"budget": {**RATE, "measured_round_trip_ms": "x"}}, "measured_round_trip_ms must be"),
    ({"budget": {**RATE, "validation_round_trips": -1}}, "validation_round_trips must be"),
    ({"budget": {**RATE, "validation_ms": True}}, "validation_ms must be a number of 0 or"),
    ({"release": "19c"}, "latency_release must be auto or a release"),
    ({"multitenant": "maybe"}, "latency_multitenant must be auto, yes or no"),
)
def test_a_mistake_is_one_sentence_that_names_the_variable(changes: Any, said: str) -> None:
    with pytest.raises(PolicyError) as caught:
        latency.policy_from(latency_policy(**changes))
    assert said in str(caught.value)
    assert str(caught.value).startswith(("latency_", "hostproof_window_seconds "))
    assert "\n" not in str(caught.value)


def test_a_budget():
    host_policy = latency.policy_from(
        latency_policy(budget={"round_trips": 2, "think_time_ms": 0.5})
    )
    assert host_policy.budget == Budget(2.0, 0.5, None, None, 1.0, 0.0)
    more = {"validation_round_trips": 0, "validation_ms": "1.94", "per_second": None}
    host_policy = latency.policy_from(latency_policy(budget={**RATE, **more}))
    assert host_policy.budget == Budget(1.0, None, Rate(854.0, 0.685), None, 0.0, 1.94)


@cases("value known", ("auto", None), ("yes", True), (True, True), ("no", False), (False, False))
def test_multitenant(value: Any, known: Any) -> None:
    assert latency.policy_from(latency_policy(multitenant=value)).multitenant is known


@cases("value known", ("auto", None), (19, "19"), ("12.2.0.1", "12.2.0.1"))
def test_release(value: Any, known: Any) -> None:
    assert latency.policy_from(latency_policy(release=value)).release == known


def test_a_probe_has_all_its_options_and_a_name_of_its_own():
    probes = check_probes(
        [
            {"probe": "tcp", "host": "fd00::5", "port": "1521", "mode": "tns_ping"},
            {"probe": "tcp", "host": "fd00::5", "port": 1521},
            {"probe": "disk_read", "path": "/u02/x"},
        ]
    )
    assert [probe.name for probe in probes] == [
        "tcp [fd00::5]:1521 tns_ping",
        "tcp [fd00::5]:1521 handshake",
        "disk_read /u02/x",
    ]
    assert probes[0].options["port"] == 1521
    assert probes[2].options == {"path": "/u02/x", "sizes": [8192, 1048576], "reads": None}
