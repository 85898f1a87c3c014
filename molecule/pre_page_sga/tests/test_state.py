"""What the container is like after apply: the spfile has the parameter for the next start."""

import json

import pytest

HOME = "/u01/app/oracle/product/19.0.0/dbhome_1"


@pytest.fixture
def instance(host):
    """What the stand-in of the instance holds."""
    return json.loads(host.file(f"{HOME}/standin/ORCL.json").content_string)


def test_the_next_start_pages_the_sga_in(instance):
    assert ["*", "pre_page_sga", "TRUE"] in instance["stored"]


def test_the_instance_runs_on_as_it_was(instance):
    assert instance["running"]["pre_page_sga"] == "FALSE"
    assert instance["status"] == "OPEN"


def test_the_spfile_is_its_owners(host):
    spfile = host.file(f"{HOME}/dbs/spfileORCL.ora")
    assert (spfile.user, spfile.group) == ("oracle", "oinstall")
