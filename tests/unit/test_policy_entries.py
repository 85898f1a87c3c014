"""One entry of a policy that cannot be used costs that entry: everything else is judged."""

import copy
from pathlib import Path
from typing import Any

import example_packs
import pytest
from ansible.module_utils.hostproof.collect import evidence
from ansible.module_utils.hostproof.collect.host import RecordedHost
from ansible.module_utils.hostproof.controls.registry import CONTROLS
from ansible.module_utils.hostproof.errors import BadEntry, PolicyError
from ansible.module_utils.hostproof.evaluate import audit
from ansible.module_utils.hostproof.evaluate.finding import ERROR, PASS
from cases import cases

PACK = Path(example_packs.FOLDER) / "db05.example.com.json"
READINGS = evidence.open_pack(str(PACK))[0]

INSTANCE = {"sid": "GOOD", "sga": "1G"}
SGA = {"sid": "GOOD", "version": "19"}
MOUNT = {"path": "/u02/oradata", "source": "filer1:/vol/oradata", "class": "datafiles"}
SWITCH = {"address": "192.0.2.1"}
WILDFLY = {"name": "shop", "home": "/opt/wildfly", "user": "wildfly"}
PUBLIC = {"version": "2c", "community": "public"}

#: Control, field, a good entry (or dictionary of them), a bad one, and what is said of it.
LISTS: list[tuple[str, str, Any, Any, str]] = [
    ("hugepages", "instances", INSTANCE, {"sid": "BAD"}, "needs sid and sga"),
    ("hugepages", "instances", INSTANCE, None, "needs sid and sga"),
    ("hugepages", "instances", INSTANCE, {**INSTANCE, "sid": "B", "sgaa": 1}, "B has unknown sgaa"),
    ("hugepages", "instances", INSTANCE, dict(INSTANCE), "lists a sid twice: GOOD"),
    ("pre_page_sga", "instances", SGA, {"sid": "B", "version": "19.x"}, "must be a release"),
    ("pre_page_sga", "instances", SGA, "ORCL", "needs a sid"),
    ("pre_page_sga", "instances", SGA, dict(SGA), "lists a sid twice: GOOD"),
    ("nfs_mounts", "mounts", MOUNT, {**MOUNT, "path": "u09"}, "must be absolute"),
    ("nfs_mounts", "mounts", MOUNT, {**MOUNT, "path": "/u02/oradata/"}, "lists a path twice"),
    ("nfs_mounts", "mounts", MOUNT, ["x"], "needs path, source and class"),
    ("nfs_mounts", "oracle_homes", "/u01/home", "home", "must hold absolute paths"),
    ("nfs_mounts", "oracle_homes", "/u01/home", 7, "must hold absolute paths"),
    ("flow_control", "switches", SWITCH, {"adress": "192.0.2.2"}, "has unknown adress"),
    ("flow_control", "switches", SWITCH, "192.0.2.2", "must be a list of dictionaries"),
    ("flow_control", "switches", SWITCH, dict(SWITCH), "lists 192.0.2.1 twice"),
    (
        "flow_control",
        "switches",
        SWITCH,
        {"address": "b", "credentials": "c"},
        "does not have its name",
    ),
    ("flow_control", "filers", SWITCH, {"address": "192.0.2.2", "ports": [{}]}, "need a name each"),
    ("flow_control", "filers", SWITCH, dict(SWITCH), "lists 192.0.2.1 twice"),
    (
        "listener_rate_limit",
        "listeners",
        {"name": "GOOD"},
        {"name": "B", "rate": "x"},
        "B: rate must",
    ),
    ("listener_rate_limit", "listeners", {"name": "GOOD"}, {"name": "good"}, "lists GOOD twice"),
    ("listener_rate_limit", "oracle_homes", "/u01/home", "home", "must hold absolute paths"),
    ("latency", "probes", {"probe": "disk"}, {"probe": "disc"}, "latency_probes, item 2"),
    ("latency", "probes", {"probe": "disk"}, {"probe": "disk"}, "item 2: disk is listed twice"),
    ("pool_validation", "servers", WILDFLY, {**WILDFLY, "home": "x"}, "must hold absolute paths"),
    ("pool_validation", "servers", WILDFLY, dict(WILDFLY), "lists a name twice: shop"),
    ("storage_type", "addresses", "192.0.2.1", "192.0.2.1", "lists 192.0.2.1 twice"),
    ("storage_type", "addresses", "192.0.2.1", "not one", "not one"),
    ("storage_type", "addresses", "192.0.2.1", {"adress": "192.0.2.2"}, "adress"),
    ("storage_type", "addresses", "192.0.2.1", {"address": "b", "port": 0}, "port must be 1"),
    (
        "storage_type",
        "addresses",
        "192.0.2.1",
        {"address": "b", "credentials": "c"},
        "the named credentials do not exist",
    ),
]
NAMED: list[tuple[str, str, dict[str, Any], str]] = [
    ("storage_type", "snmp_credentials", {"default": PUBLIC, "b": {"version": "4"}}, "b: "),
    (
        "storage_type",
        "snmp_credentials",
        {"default": PUBLIC, "b": "public"},
        "b: must be a dictionary",
    ),
    ("storage_type", "media", {"192.0.2.1": "ssd", "192.0.2.2": "tape"}, "tape"),
    ("flow_control", "snmp_credentials", {"default": PUBLIC, "b": {"version": "4"}}, "b: "),
]


def policies(**changes: dict[str, Any]) -> dict[str, Any]:
    every = copy.deepcopy(example_packs.policies())
    for control, values in changes.items():
        every[control].update(values)
    return every


def judged(controls: dict[str, Any]) -> list[Any]:
    return audit.judge_host(RecordedHost(dict(READINGS)), controls)


def of_entries(findings: list[Any]) -> list[Any]:
    return [finding for finding in findings if finding.check.endswith(".policy_entry")]


@pytest.mark.parametrize(("control", "field", "good", "bad", "says"), LISTS)
def test_a_bad_entry_of_a_list_is_an_error_of_its_own(control, field, good, bad, says):
    findings = judged(policies(**{control: {field: [good, bad]}}))
    (entry_error,) = of_entries(findings)
    assert (entry_error.control, entry_error.status, entry_error.check) == (
        control,
        ERROR,
        f"{control}.policy_entry",
    )
    assert says in entry_error.why
    assert f"entry 2 of {control}_{field} was skipped" in entry_error.why
    # Whatever does not rest on all entries is as it is without the bad one.
    needs = CONTROLS[control].needs_all.get(field, ())
    expected = judged(policies(**{control: {field: [good]}}))
    assert [
        finding for finding in findings if finding != entry_error and finding.check not in needs
    ] == [finding for finding in expected if finding.check not in needs]
    assert {finding.status for finding in findings if finding.check in needs} <= {ERROR}
    assert {finding.control for finding in findings} == set(example_packs.policies())


@pytest.mark.parametrize(("control", "field", "value", "says"), NAMED)
def test_a_bad_entry_of_a_dictionary_is_an_error_of_its_own(control, field, value, says):
    findings = judged(policies(**{control: {field: value}}))
    (entry_error,) = of_entries(findings)
    assert (entry_error.control, entry_error.status) == (control, ERROR)
    assert says in entry_error.why
    assert f"of {control}_{field} was skipped" in entry_error.why


@pytest.mark.parametrize("one", LISTS, ids=lambda case: f"{case[0]}-{case[1]}")
def test_apply_refuses_any_bad_entry(one):
    control, field, good, bad, says = one
    values = policies(**{control: {field: [good, bad]}})[control]
    with pytest.raises(PolicyError) as problem:
        audit.policies_from({control: values})
    assert f"{control}_{field}" in str(problem.value)
    assert says in str(problem.value)


def test_two_that_contradict_each_other_are_both_left_out():
    two = [{"sid": "A", "version": "19"}, {"sid": "B"}, {"sid": "A", "version": "12.2"}]
    bad: list[audit.LeftOut] = []
    controls = policies(pre_page_sga={"instances": two})
    policy = audit.policies_from(controls, None, bad)["pre_page_sga"]
    assert [instance.sid for instance in policy.instances] == ["B"]
    assert [problem.entry for problem in bad] == ["entries 1 and 3 of pre_page_sga_instances"]


def test_a_listener_of_one_home_and_of_all_is_not_known():
    listeners = [
        {"name": "A", "home": "/u01/a", "rate": 5},
        {"name": "a", "rate": 7},
        {"name": "B"},
    ]
    bad: list[audit.LeftOut] = []
    controls = policies(listener_rate_limit={"listeners": listeners})
    policy = audit.policies_from(controls, None, bad)["listener_rate_limit"]
    assert [listener.name for listener in policy.listeners] == ["B"]
    assert "give each of them its home" in bad[0].text


def test_every_bad_entry_is_told_and_none_of_the_rest():
    addresses = ["192.0.2.1", "not one", {"adress": 1}, "192.0.2.2", "192.0.2.1"]
    errors = of_entries(judged(policies(storage_type={"addresses": addresses})))
    assert [finding.title.rpartition(": ")[2] for finding in errors] == [
        f"entry {number} of storage_type_addresses" for number in (2, 3, 5)
    ]


def test_what_asks_with_bad_credentials_is_not_asked():
    changes = {
        "snmp_credentials": {"default": {"version": "4"}, "b": PUBLIC},
        "addresses": ["c", "d"],
    }
    changes["addresses"] = ["192.0.2.1", {"address": "192.0.2.2", "credentials": "b"}]
    bad: list[audit.LeftOut] = []
    policy = audit.policies_from(policies(storage_type=changes), None, bad)["storage_type"]
    assert [address.address for address in policy.addresses] == ["192.0.2.2"]
    assert [problem.entry for problem in bad] == [
        "entry 'default' of storage_type_snmp_credentials",
        "entry 1 of storage_type_addresses",
    ]
    # The servers of this host's mounts would be asked with them too.
    findings = judged(policies(storage_type=changes))
    assert [finding for finding in findings if finding.check == "storage_type.audited"] == []


def test_the_databases_own_credentials_decide_what_the_database_sees():
    changes = {"snmp_credentials": {"default": PUBLIC, "database": {**PUBLIC, "version": "3"}}}
    findings = judged(policies(storage_type=changes))
    assert {finding.status for finding in findings if finding.check == "storage_type.hcc"} == {
        ERROR
    }


def test_no_secret_is_told():
    changes = {"snmp_credentials": {"default": PUBLIC, "b": {"version": "2c", "comunity": "tiger"}}}
    (entry_error,) = of_entries(judged(policies(storage_type=changes)))
    assert "tiger" not in str(entry_error)


def test_the_sum_of_instances_is_not_known_without_one():
    listed = [INSTANCE, {"sid": "B", "sga": "much"}]
    findings = judged(policies(hugepages={"instances": listed}))
    covers = [finding for finding in findings if finding.check == "hugepages.pool_covers_sga"]
    assert [finding.status for finding in covers] == [ERROR]
    assert covers[0].because_of == ("hugepages.policy_entry",)
    assert covers[0].commands == ()
    assert any(finding.status == PASS for finding in findings if finding.control == "hugepages")


def test_a_list_without_a_good_entry_is_judged_as_far_as_it_goes():
    findings = judged(policies(hugepages={"instances": [{"sid": "B"}]}))
    assert [finding.check for finding in of_entries(findings)] == ["hugepages.policy_entry"]
    assert {finding.control for finding in findings} == set(example_packs.policies())


@cases(
    "control changes",
    ("hugepages", {"instances": []}),
    ("hugepages", {"instances": {}}),
    ("hugepages", {"spare_pages": -1, "instances": [{"sid": "B"}]}),
    ("flow_control", {"rules": [{"rx": "on"}]}),
    ("flow_control", {"switches": {}}),
    ("latency", {"thresholds": ["x"]}),
    ("latency", {"probes": {}}),
    ("storage_type", {"addresses": {"192.0.2.1": {}}}),
    ("storage_type", {"adresses": []}),
)
def test_what_is_no_entry_stops_the_host(control, changes):
    with pytest.raises(PolicyError) as problem:
        judged(policies(**{control: changes}))
    assert not isinstance(problem.value, BadEntry)


def test_a_policy_of_nothing_but_bad_entries_is_none():
    many = [str(number) + " " for number in range(audit.MOST_BAD_ENTRIES + 1)]
    with pytest.raises(PolicyError, match="storage_type_addresses"):
        judged(policies(storage_type={"addresses": many}))


def test_a_record_is_made_and_says_what_it_lacks():
    host = RecordedHost(dict(READINGS))
    remarks = audit.read_host(host, policies(storage_type={"addresses": ["not one"]}))
    assert len(remarks) == 1
    assert "entry 1 of storage_type_addresses was skipped" in remarks[0]
