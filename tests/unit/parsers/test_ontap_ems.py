"""Messages of a filer on how its files lie."""

from ansible.module_utils.hostproof.parsers.net import ontap_ems
from ansible.module_utils.hostproof.parsers.net.ontap_ems import Layout
from packs import FIXTURES

TEXT = (FIXTURES / "ontap_ems/made-up.log").read_text()


def test_the_last_message_of_each_path():
    expected = [Layout("/vol/fc_fill_aggr_sm/lun", 3, None), Layout("/vol/vmw_alg_09", 6, 4)]
    assert ontap_ems.parse(TEXT) == expected
    assert ontap_ems.parse(ontap_ems.kept(TEXT)) == expected


def test_nothing_else_is_kept():
    assert "kern.uptime" in TEXT and "kern.uptime" not in ontap_ems.kept(TEXT)


def test_other_messages_tell_nothing():
    near = (
        "[X: wafl.reallocate.check.value:info]: Allocation measurement check on '/vol/a' is many."
    )
    assert ontap_ems.parse(near) == ontap_ems.parse("") == []


def test_no_more_paths_than_a_bound():
    event = "[X: wafl.reallocate.check.value:info]: Allocation measurement check on"
    line = event + " '/vol/{}' is 5."
    many = "\n".join(line.format(number) for number in range(ontap_ems.MOST + 5))
    assert len(ontap_ems.parse(many)) == ontap_ems.MOST
