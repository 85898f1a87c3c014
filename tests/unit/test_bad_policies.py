"""Each bad policy of bad_policies.py through a play: one clear sentence, and nothing is judged but
what a bad entry of a list leaves."""

from typing import Any

import bad_policies
import policy_play
import pytest
from ansible.module_utils.hostproof.collect import evidence
from ansible.module_utils.hostproof.collect.host import RecordedHost
from ansible.module_utils.hostproof.errors import HostproofError
from ansible.module_utils.hostproof.evaluate import audit
from hostproof_controller import policies, variable_names

#: Values that Ansible itself evaluates, stores or rejects: its releases may do so differently.
#: Other cases vary only the policy, which our code judges.
OF_ANSIBLE = (
    *("undefined", "undefined_within", "template_fails", "template_syntax", "template_loop"),
    *("deep", "long", "huge_number", "digits", "infinite", "no_number", "bool_null"),
    *("version_bool", "file_lines", "sid_with_a_line", "capitals"),
)


@pytest.fixture(scope="module")
def lines(tmp_path_factory):
    return policy_play.run(tmp_path_factory.mktemp("policies"), OF_ANSIBLE)


def test_there_are_sixty():
    assert len(bad_policies.CASES) >= 60
    assert {case.control for case in bad_policies.CASES.values()} == {
        path.parents[1].name for path in policy_play.ROOT.glob("roles/*/meta/argument_specs.yml")
    }


def test_a_sound_one_is_judged_beside_them(lines):
    assert lines["sound"][0]["outcome"] == "judged"
    assert {finding["control"] for finding in lines["sound"][0]["findings"]} == {"hugepages"}


def test_each_core_gets_every_value_of_ansible():
    assert bad_policies.CASES.keys() >= set(OF_ANSIBLE)


@pytest.mark.parametrize("name", OF_ANSIBLE)
def test_one_clear_sentence_of_a_play(lines, name):
    (line,) = lines[name]
    assert policy_play.problem_of(bad_policies.CASES[name], line) == ""


def judged_here(case: bad_policies.Bad) -> dict[str, Any]:
    """The line of the report without a play: by the functions that the action and the module
    call."""
    try:
        variable_names.check(case.variables, [case.control], _no_template)
        chosen = policies.policies_of([case.control], case.variables, _no_template)
        host = RecordedHost(*evidence.open_pack(str(policy_play.PACK)))
        findings = audit.judge_host(host, chosen.shown, chosen.secret)
    except (policies.BadPolicy, HostproofError) as problem:
        return {"outcome": "failed", "message": str(problem), "findings": [], "evidence": None}
    return {"outcome": "judged", "findings": [finding.as_dict() for finding in findings]}


def _no_template(value: Any, _variables: Any) -> Any:
    raise AssertionError(f"only a play evaluates the template {value!r}")


@pytest.mark.one_core
@pytest.mark.parametrize("name", [name for name in bad_policies.CASES if name not in OF_ANSIBLE])
def test_one_clear_sentence(name):
    """tests/attack gives each of them to a play."""
    case = bad_policies.CASES[name]
    assert policy_play.problem_of(case, judged_here(case)) == ""


def test_an_alias_bomb_is_a_sentence(lines):
    (line,) = lines["bomb"]
    assert line["outcome"] == "failed"
    assert "hugepages_users is nested deeper than 20 levels or holds more than" in line["message"]


def test_a_fact_of_the_host_is_no_policy(lines):
    assert lines["sound"][1]["outcome"] == "failed"
    assert "hugepages_users is a fact of this host" in lines["sound"][1]["message"]
