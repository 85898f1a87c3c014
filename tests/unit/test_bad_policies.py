"""Each bad policy of bad_policies.py through a play: one clear sentence, and nothing is judged but
what a bad entry of a list leaves."""

import bad_policies
import policy_play
import pytest

#: Values that Ansible itself evaluates, stores or rejects: its releases may do so differently.
#: Other cases vary only the policy, which our code judges.
OF_ANSIBLE = {
    *("undefined", "undefined_within", "template_fails", "template_syntax", "template_loop"),
    *(
        "deep",
        "long",
        "huge_number",
        "digits",
        "infinite",
        "no_number",
        "bool_null",
        "version_bool",
    ),
    *("file_lines", "sid_with_a_line", "capitals"),
}


@pytest.fixture(scope="module")
def lines(request, tmp_path_factory):
    """The play has a host only for each case that a selected test asks for."""
    items = [item for item in request.session.items if item.path == request.path]
    names = [item.callspec.params["name"] for item in items if hasattr(item, "callspec")]
    return policy_play.run(tmp_path_factory.mktemp("policies"), names)


def test_there_are_sixty():
    assert len(bad_policies.CASES) >= 60
    assert {case.control for case in bad_policies.CASES.values()} == {
        path.parents[1].name for path in policy_play.ROOT.glob("roles/*/meta/argument_specs.yml")
    }


def test_a_sound_one_is_judged_beside_them(lines):
    assert lines["sound"][0]["outcome"] == "judged"
    assert {finding["control"] for finding in lines["sound"][0]["findings"]} == {"hugepages"}


def test_each_core_gets_every_value_of_ansible():
    assert bad_policies.CASES.keys() >= OF_ANSIBLE


@pytest.mark.parametrize(
    "name",
    [
        name if name in OF_ANSIBLE else pytest.param(name, marks=pytest.mark.one_core)
        for name in bad_policies.CASES
    ],
)
def test_one_clear_sentence(lines, name):
    (line,) = lines[name]
    assert policy_play.problem_of(bad_policies.CASES[name], line) == ""


def test_an_alias_bomb_is_a_sentence(lines):
    (line,) = lines["bomb"]
    assert line["outcome"] == "failed"
    assert "hugepages_users is nested deeper than 20 levels or holds more than" in line["message"]


def test_a_fact_of_the_host_is_no_policy(lines):
    assert lines["sound"][1]["outcome"] == "failed"
    assert "hugepages_users is a fact of this host" in lines["sound"][1]["message"]
