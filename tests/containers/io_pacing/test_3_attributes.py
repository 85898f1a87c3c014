"""The module aix_attributes on the AIX host of the story: any device, several at once."""

from functools import partial

import pytest


@pytest.fixture(scope="session")
def aix_attributes(module):
    return partial(module, "aix_attributes")


@pytest.fixture(scope="session")
def before(box):
    return box.layers()


def test_it_reads(aix_attributes, before):
    result = aix_attributes(device="hdisk1", names=["label", "queue_depth"])
    assert result["configured"] == {"label": "redo logs", "queue_depth": "20"}
    assert not result["changed"]


def test_check_mode_shows_and_changes_nothing(box, aix_attributes, before):
    box.forget_calls()
    attributes = {"maxpout": 8193, "minpout": 4096}
    planned = aix_attributes("--check", "--diff", device="sys0", attributes=attributes)
    assert planned["changed"]
    assert planned["prior"] == {"maxpout": "33", "minpout": "24"}
    assert box.changes() == []
    assert box.layers() == before


def test_several_are_one_change_and_prior_is_the_way_back(box, aix_attributes, before):
    box.forget_calls()
    attributes = {"maxpout": 8193, "minpout": 4096, "maxuproc": 4096}
    changed = aix_attributes(device="sys0", attributes=attributes)
    assert changed["changed"]
    assert len(box.changes()) == 1
    assert box.attributes("sys0", "running")["maxuproc"] == "4096"
    assert not aix_attributes(device="sys0", attributes=attributes)["changed"]
    back = aix_attributes(device="sys0", attributes=changed["prior"])
    assert back["changed"]
    assert box.layers() == before


def test_a_mark_that_only_the_database_has_takes_the_other_with_it(box, aix_attributes, before):
    box.run("chdev -l sys0 -a maxpout=8193 -P")
    changed = aix_attributes(device="sys0", attributes={"maxpout": 8193, "minpout": 4096})
    assert changed["configured"] == changed["running"] == {"maxpout": "8193", "minpout": "4096"}
    back = aix_attributes(device="sys0", attributes={"maxpout": 33, "minpout": 24})
    assert back["changed"]
    assert box.layers() == before


def test_a_device_in_use_is_changed_at_the_next_boot(box, aix_attributes, before):
    busy = aix_attributes(device="ent0", attributes={"flow_ctrl": "yes"})
    assert "0514-062" in busy["msg"]
    assert box.layers() == before
    result = aix_attributes(device="ent0", attributes={"flow_ctrl": "yes"}, when="next_boot")
    assert (result["changed"], result["prior"]) == (True, {"flow_ctrl": "no"})
    assert box.attributes("ent0", "odm")["flow_ctrl"] == "yes"
    assert box.attributes("ent0", "running")["flow_ctrl"] == "no"
    box.run("/opt/hostproof-tests/aix/odm.py boot")
    assert box.attributes("ent0", "running")["flow_ctrl"] == "yes"


def test_values_with_blanks_and_names_that_begin_alike(box, aix_attributes, before):
    attributes = {"label": "redo logs of SALES", "queue_depth": 32}
    result = aix_attributes(device="hdisk1", attributes=attributes, when="next_boot")
    assert result["prior"] == {"label": "redo logs", "queue_depth": "20"}
    now = box.attributes("hdisk1", "odm")
    assert (now["label"], now["queue_depth"]) == ("redo logs of SALES", "32")
    assert now["queue_depth_extra"] == "1"
    again = aix_attributes(device="hdisk1", attributes=attributes, when="next_boot")
    assert not again["changed"]


@pytest.mark.parametrize(
    ("device", "attributes", "said"),
    [
        ("hdisk1", {"queue_depth": 300}, "1 to 256"),
        ("hdisk1", {"algorithm": "round"}, "round_robin"),
        ("hdisk1", {"queue": 5}, "0514-528"),
        ("hdisk9", {"queue_depth": 5}, "0514-519"),
        ("sys0", {"modelname": "other"}, "cannot be changed"),
        ("sys0", {"minpout": 4096}, "would meet in the database"),
    ],
)
def test_what_the_device_would_not_take_fails_and_changes_nothing(
    box, aix_attributes, device, attributes, said
):
    kept = box.layers()
    assert said in aix_attributes(device=device, attributes=attributes)["msg"]
    assert box.layers() == kept


def test_a_flag_that_the_device_does_not_take_fails(box, aix_attributes):
    kept = box.layers()
    refused = aix_attributes(device="ent0", attributes={"jumbo_frames": "yes"}, when="now")
    assert "not supported" in refused["msg"]
    assert refused["msg"].endswith("the old state is restored")
    assert box.layers() == kept


def test_revert_brings_every_device_back(box, module, before):
    reverted = module("revert_control", control="aix_attributes")
    assert reverted["changed"]
    box.run("/opt/hostproof-tests/aix/odm.py boot")
    assert box.layers() == before
    assert not module("revert_control", control="aix_attributes")["changed"]
