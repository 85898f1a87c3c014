"""No password of an Oracle Net file leaves the host."""

import pytest
from ansible.module_utils.hostproof import evidence
from ansible.module_utils.hostproof.change import as_diff
from ansible.module_utils.hostproof.masking import masked
from ansible.module_utils.hostproof.parsers import oracle_net

PATH = "/u01/home/network/admin/listener.ora"
TEXT = """\
LISTENER = (ADDRESS = (PROTOCOL = tcp)(HOST = db01)(PORT = 1521))
PASSWORDS_LISTENER = (tiger1,
  tiger2)
passwords_other=tiger3
INBOUND_CONNECT_TIMEOUT_LISTENER = 60
"""


def test_passwords_go_and_everything_else_stays():
    text = masked(PATH, TEXT)
    assert "tiger" not in text
    names = [one.name for one in oracle_net.parse(text, what=PATH).parameters]
    assert names == [one.name for one in oracle_net.parse(TEXT, what=PATH).parameters]
    assert "INBOUND_CONNECT_TIMEOUT_LISTENER = 60" in text


def test_other_files_stay_as_they_are():
    assert masked("/etc/fstab", TEXT) == TEXT


@pytest.mark.parametrize("name", ["stdout", "text"])
def test_evidence_holds_none(name):
    packed = evidence.encode({f"command:cat {PATH}": {"kind": "command", name: TEXT}})
    assert "tiger" not in str(evidence.decode(packed))


def test_a_difference_shows_none():
    assert "tiger" not in str(as_diff(PATH, TEXT, TEXT + "# more\n"))
