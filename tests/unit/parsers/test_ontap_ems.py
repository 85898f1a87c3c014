"""Messages of a filer on how its files lie."""

import pytest
from ansible.module_utils.hostproof.controls.storage_type.parsers import ontap_ems
from ansible.module_utils.hostproof.controls.storage_type.parsers.ontap_ems import Layout
from ansible.module_utils.hostproof.errors import ParseError
from cases import cases
from packs import FIXTURES

TEXT = (FIXTURES / "ontap_ems/made-up.log").read_text()


def test_the_last_message_of_each_path():
    expected = [
        Layout("/vol/fc_fill_aggr_sm/lun", 3, None, False),
        Layout("/vol/vmw_alg_09", 6, 4, True),
    ]
    assert ontap_ems.parse(TEXT) == expected
    assert ontap_ems.parse(ontap_ems.kept(TEXT)) == expected


def test_nothing_else_is_kept():
    assert "kern.uptime" in TEXT and "kern.uptime" not in ontap_ems.kept(TEXT)


@cases(
    "line",
    "[X: wafl.reallocate.check.value:info]: Allocation measurement check on '/vol/a' is many.",
    "[X: wafl.reallocate.check.failed:error]: Allocation check on '/vol/a' is 3.",
    "[X: wafl.reallocate.check.value:info]: Allocation measurement check on '/vol/a'",
)
def test_a_message_that_is_not_understood_may_be_the_one_that_matters(line):
    with pytest.raises(ParseError, match="line 5"):
        ontap_ems.parse(TEXT + line)


@cases("event", "high", "highAdvise")
def test_a_hot_spot_is_high_below_the_threshold(event):
    line = (
        f"[filer: wafl_scan_worker: wafl.reallocate.check.{event}:notice]: Allocation check on "
        "'/vol/vol0' is 2, hotspot 31 (threshold 3), so will reallocate."
    )
    assert ontap_ems.parse(line) == [Layout("/vol/vol0", 2, 3, True)]


def test_nothing_of_the_kind():
    assert ontap_ems.parse("") == ontap_ems.parse("[X: kern.uptime.filer:info]: up") == []


def test_no_more_messages_than_a_bound():
    event = "[X: wafl.reallocate.check.value:info]: Allocation measurement check on"
    many = "\n".join(f"{event} '/vol/{number}' is 5." for number in range(ontap_ems.MOST + 5))
    for text in (many, ontap_ems.kept(many)):
        with pytest.raises(ParseError, match=f"more than {ontap_ems.MOST}"):
            ontap_ems.parse(text)
