"""What the server is like after apply: the pool of the policy validates in the foreground."""

import json

import pytest

MODEL = "/opt/wildfly/standin/model.json"


@pytest.fixture
def model(host):
    """What the stand-in of the server holds."""
    return json.loads(host.file(MODEL).content_string)


def values(model, name):
    (settings,) = [source["values"] for source in model["sources"] if source["name"] == name]
    return settings


def test_the_pool_validates_each_connection_that_it_hands_out(model):
    pool = values(model, "FG")
    assert pool["validate-on-match"] is True
    assert pool["background-validation"] is False


def test_what_the_policy_does_not_name_stays(model):
    assert values(model, "FG")["background-validation-millis"] == 15000
    assert values(model, "BG")["background-validation"] is True


def test_the_server_was_reloaded_and_runs(model):
    assert model["state"] == "running"


def test_the_servers_files_are_its_own(host):
    assert host.file(MODEL).user == "wildfly"
    assert host.file("/opt/wildfly/standalone/configuration/standalone.xml").user == "wildfly"
