"""Each bad policy of bad_policies.py through a play: one clear sentence, and nothing is judged but
what a bad entry of a list leaves."""

import bad_policies
import policy_play
import pytest


@pytest.fixture(scope="module")
def lines(tmp_path_factory):
    return policy_play.run(tmp_path_factory.mktemp("policies"))


def test_there_are_sixty():
    assert len(bad_policies.CASES) >= 60
    assert {one.control for one in bad_policies.CASES.values()} == {
        path.parents[1].name for path in policy_play.ROOT.glob("roles/*/meta/argument_specs.yml")
    }


def test_a_sound_one_is_judged_beside_them(lines):
    assert lines["sound"][0]["outcome"] == "judged"
    assert {one["control"] for one in lines["sound"][0]["findings"]} == {"hugepages"}


@pytest.mark.parametrize("name", bad_policies.CASES)
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
