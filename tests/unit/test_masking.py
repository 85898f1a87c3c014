"""No password of a file leaves the host."""

import pytest
from ansible.module_utils.hostproof import evidence
from ansible.module_utils.hostproof.difference import as_diff
from ansible.module_utils.hostproof.masking import masked
from ansible.module_utils.hostproof.parsers.oracle import oracle_net
from masking_cases import HEAD, KEPT, NET, OTHERS, PATH, SCRIPTS, SETTINGS

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


@pytest.mark.parametrize("text", NET)
@pytest.mark.parametrize("head", ["", HEAD])
def test_no_way_to_write_a_password_leaks_it(head, text):
    assert "tiger" not in masked(PATH, head + text).lower()
    assert masked(PATH, head + text).startswith(head) or "\0" in text


@pytest.mark.parametrize(("path", "text"), OTHERS)
def test_no_other_file_leaks_one(path, text):
    assert "tiger" not in masked(path, text)


@pytest.mark.parametrize("text", SCRIPTS)
def test_no_script_and_no_setting_leaks_one(text):
    told = masked("/etc/rc.local", text)
    assert "tiger" not in told.lower()
    assert masked("/etc/rc.local", told) == told


@pytest.mark.parametrize("text", SETTINGS)
def test_no_setting_of_oracle_net_leaks_one(text):
    assert "tiger" not in masked("/u01/home/network/admin/sqlnet.ora", text).lower()


@pytest.mark.parametrize("text", KEPT)
def test_what_only_sounds_like_a_secret_stays_as_it_is(text):
    assert masked("/etc/rc.local", text) == text


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("/etc/fstab", "f:/v /u01 nfs rw,hard,credentials=/root/secret 0 0\n"),
        ("/etc/fstab", "[2001:db8::1]:/vol@1 /u01 nfs4 rw 0 0\n"),
        ("/etc/passwd", "oracle:x:54321:54321::/home/oracle:/bin/bash\n"),
        ("/proc/cmdline", "ro iommu.passthrough=1 bypass=2\n"),
        ("/u01/home/dbs/initORCL.ora", "# no password here\n*.remote_login_passwordfile=x\n"),
        (PATH, HEAD + "WALLET_LOCATION=(SOURCE=(METHOD_DATA=(DIRECTORY=/u01/passwords)))\n"),
        (PATH, HEAD + "BROKEN = (\n"),
    ],
)
def test_what_is_no_secret_stays_as_it_is(path, text):
    assert masked(path, text) == text


@pytest.mark.parametrize("name", ["stdout", "stderr", "text"])
def test_evidence_holds_none(name):
    packed = evidence.encode({f"command:cat {PATH}": {"kind": "command", name: TEXT}})
    assert "tiger" not in str(evidence.decode(packed))


def test_a_sample_holds_none():
    texts = {f"file:{PATH}": TEXT}
    packed = evidence.encode({"sample:x": {"kind": "sample", "first": texts, "second": texts}})
    assert "tiger" not in str(evidence.decode(packed))


def test_a_difference_shows_none():
    assert "tiger" not in str(as_diff(PATH, TEXT, TEXT + "# more\n"))
