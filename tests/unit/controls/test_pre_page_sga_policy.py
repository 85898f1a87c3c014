"""The variables of pre_page_sga: what they take, and how they say that they do not."""

import oracle_packs
import pytest
from ansible.module_utils.hostproof.controls.pre_page_sga.control import policy_from
from ansible.module_utils.hostproof.controls.pre_page_sga.policy import WantedInstance
from ansible.module_utils.hostproof.errors import PolicyError
from cases import cases


def policy(**changes):
    return policy_from(oracle_packs.policy(**changes))


def test_the_defaults_leave_it_to_release_and_pages():
    defaults = policy()
    assert (defaults.instances, defaults.value, defaults.use_large_pages) == (None, "auto", "auto")
    assert (defaults.lock_sga, defaults.memory_target) == ("auto", "zero")
    assert defaults.query_instances and not defaults.allow_small_pages_at_next_start


@cases("value meant", (True, "TRUE"), ("false", "FALSE"), ("TRUE", "TRUE"), ("Auto", "auto"))
def test_truth_values_as_yaml_and_as_oracle_write_them(value, meant):
    assert policy(value=value).value == meant and policy(lock_sga=value).lock_sga == meant


@cases(
    "version meant",
    ("11.2.0.4", (11, 2, 0, 4)),
    (19, (19,)),
    (12.1, (12, 1)),
    ("23ai", (23,)),
    ("19c", (19,)),
)
def test_releases_as_people_write_them(version, meant):
    (instance,) = policy(instances=[{"sid": "ORCL", "version": version}]).instances
    assert instance == WantedInstance("ORCL", None, meant, None)


def test_paths_of_an_instance():
    (instance,) = policy(
        instances=[{"sid": "ORCL", "home": "/u01/db/", "alert_log": "/u01/alert_ORCL.log"}]
    ).instances
    assert (instance.home, instance.alert_log) == ("/u01/db", "/u01/alert_ORCL.log")


@cases(
    "changes problem",
    ({"value": "yes"}, "pre_page_sga_value must be one of auto, TRUE, FALSE, unmanaged"),
    ({"use_large_pages": "FALSE"}, "pre_page_sga_use_large_pages must be one of auto, ONLY"),
    ({"lock_sga": 1}, "pre_page_sga_lock_sga must be one of"),
    ({"memory_target": "8G"}, "pre_page_sga_memory_target must be one of zero, unmanaged"),
    ({"query_instances": "yes"}, "pre_page_sga_query_instances must be true or false"),
    ({"sqlplus_timeout": 0}, "pre_page_sga_sqlplus_timeout must be 1 to 600"),
    ({"instances": "ORCL"}, "pre_page_sga_instances must be auto or a list"),
    ({"instances": [{"home": "/x"}]}, "needs a sid"),
    ({"instances": [{"sid": "A;B"}]}, "is not a SID"),
    ({"instances": [{"sid": "A"}, {"sid": "A"}]}, "lists a sid twice: A"),
    ({"instances": [{"sid": "A", "sga": "8G"}]}, "A has unknown sga"),
    ({"instances": [{"sid": "A", "home": "u01"}]}, "home 'u01' must be an absolute path"),
    ({"instances": [{"sid": "A", "version": "new"}]}, "must be a release such as 19"),
    ({"instances": [{"sid": "A", "version": "11.2.x"}]}, "must be a release such as 19"),
)
def test_what_no_variable_takes(changes, problem):
    with pytest.raises(PolicyError, match=problem):
        policy(**changes)


def test_names_must_be_all_there_and_no_other():
    values = oracle_packs.policy()
    with pytest.raises(PolicyError, match="unknown vlaue"):
        policy_from(values | {"vlaue": "auto"})
    values.pop("value")
    with pytest.raises(PolicyError, match="missing value"):
        policy_from(values)
