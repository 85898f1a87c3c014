"""No password of a file leaves the host."""

import re
from types import SimpleNamespace

from ansible.module_utils.hostproof.apply.difference import as_diff
from ansible.module_utils.hostproof.collect import evidence
from ansible.module_utils.hostproof.collect.host import RecordedHost
from ansible.module_utils.hostproof.collect.masking import masked, masked_value
from ansible.module_utils.hostproof.collect.masking_rules import NAME, NAMED, RULES, VALUES
from ansible.module_utils.hostproof.evaluate import audit
from ansible.module_utils.hostproof.evaluate.finding import Check, make_finding
from ansible.module_utils.hostproof.parsers.oracle import oracle_net
from cases import cases
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
    names = [parameter.name for parameter in oracle_net.parse(text, what=PATH).parameters]
    assert names == [parameter.name for parameter in oracle_net.parse(TEXT, what=PATH).parameters]
    assert "INBOUND_CONNECT_TIMEOUT_LISTENER = 60" in text


def test_rules_of_named_secrets_match_only_where_the_text_names_one():
    """Such a text is masked without compiling them."""
    texts = [*SCRIPTS, *SETTINGS, *KEPT, *(text for _path, text in OTHERS)]
    texts = [text for text in texts if NAME.search(text) is None]
    assert len(texts) > 100
    for number in NAMED:
        _words, _first, pattern, flags = RULES[number]
        assert [text for text in texts if re.search(pattern, text, flags)] == []


def test_the_first_part_of_a_rule_is_in_each_text_that_the_rule_masks():
    """In other texts the rule is not compiled."""
    texts = ["\n".join([*SCRIPTS, *SETTINGS, *KEPT, *(text for _path, text in OTHERS)])]
    texts += ["INSERT INTO u (name, password)\n VALUES ('a', 'b')", "(pw)values(x)"]
    found = 0
    for _words, first, pattern, flags in VALUES:
        masked_by = [text for text in texts if re.search(pattern, text, flags)]
        assert all(re.search(first, text, flags) for text in masked_by)
        found += len(masked_by)
    assert found > 50


@cases(
    "text",
    "getent passwd oracle",
    "sed s/community[[:blank:]]*:.*/community:***/ /etc/oranfstab",
    "Accounts log in on all nodes with ssh and without a password",
    "pass",
    "pswpin 5",
)
def test_a_text_of_every_audit_names_no_secret(text):
    assert NAME.search(text) is None
    assert masked("", text) == text


# One test looks at all texts of a kind and lists those that leak: a test for each text costs every
# worker of pytest more than what it shows.
@cases("head", "", HEAD)
def test_no_way_to_write_a_password_leaks_it(head):
    assert NET
    results = {text: masked(PATH, head + text) for text in NET}
    assert [text for text in NET if "tiger" in results[text].lower()] == []
    assert [text for text in NET if not (results[text].startswith(head) or "\0" in text)] == []


def test_no_other_file_leaks_one():
    assert OTHERS
    assert [(path, text) for path, text in OTHERS if "tiger" in masked(path, text)] == []


def test_no_script_and_no_setting_leaks_one():
    assert SCRIPTS
    results = {text: masked("/etc/rc.local", text) for text in SCRIPTS}
    assert [text for text in SCRIPTS if "tiger" in results[text].lower()] == []
    assert [
        text for text in SCRIPTS if masked("/etc/rc.local", results[text]) != results[text]
    ] == []


def test_no_setting_of_oracle_net_leaks_one():
    assert SETTINGS
    path = "/u01/home/network/admin/sqlnet.ora"
    assert [text for text in SETTINGS if "tiger" in masked(path, text).lower()] == []


def test_what_only_sounds_like_a_secret_stays_as_it_is():
    assert KEPT
    assert [text for text in KEPT if masked("/etc/rc.local", text) != text] == []


@cases(
    "path text",
    ("/etc/fstab", "f:/v /u01 nfs rw,hard,credentials=/root/secret 0 0\n"),
    ("/etc/fstab", "[2001:db8::1]:/vol@1 /u01 nfs4 rw 0 0\n"),
    ("/etc/passwd", "oracle:x:54321:54321::/home/oracle:/bin/bash\n"),
    ("/proc/cmdline", "ro iommu.passthrough=1 bypass=2\n"),
    ("/u01/home/dbs/initORCL.ora", "# no password here\n*.remote_login_passwordfile=x\n"),
    (PATH, HEAD + "WALLET_LOCATION=(SOURCE=(METHOD_DATA=(DIRECTORY=/u01/passwords)))\n"),
    (PATH, HEAD + "BROKEN = (\n"),
)
def test_what_is_no_secret_stays_as_it_is(path, text):
    assert masked(path, text) == text


@cases("name", "stdout", "stderr", "text")
def test_evidence_holds_none(name):
    packed = evidence.encode({f"command:cat {PATH}": {"kind": "command", name: TEXT}})
    assert "tiger" not in str(evidence.decode(packed))


def test_a_sample_holds_none():
    texts = {f"file:{PATH}": TEXT}
    packed = evidence.encode({"sample:x": {"kind": "sample", "first": texts, "second": texts}})
    assert "tiger" not in str(evidence.decode(packed))


def test_a_difference_shows_none():
    assert "tiger" not in str(as_diff(PATH, TEXT, TEXT + "# more\n"))


#: Readings of every kind, each with a secret in another place.
READINGS = {
    "command:curl -u scott:tiger https://nas/": {"kind": "command", "stdout": "ok"},
    "file:/etc/x": {"kind": "file", "error": "unanswered", "message": "password=tiger is odd"},
    "lines:rc": {
        "kind": "lines",
        "lines": {
            "/etc/rc.local": [[3, "export DB_PASSWORD=tiger"], [4, "mysql -ptiger x"]],
            "/etc/x.yml": [[1, "password: |"], [2, "  tiger lily"]],
            "/etc/cron.d/password=tiger": [],
        },
        "callers": {"/opt/sqlplus scott/tiger": "/etc/rc.local"},
        "unread": ["/mnt/password=tiger"],
    },
    "command:a": {"kind": "command", "argv": ["sqlplus", "-s", "scott/tiger@db"]},
    "command:b": {"kind": "command", "argv": ["mysql", "-u", "root", "-p", "tiger", "db"]},
    "command:c": {"kind": "command", "argv": ["wget", "--password", "tiger", "h"]},
    "environment:1": {
        "kind": "environment",
        "names": ["DB_PASSWORD", "JAVA_OPTS"],
        "values": {"DB_PASSWORD": "tiger", "JAVA_OPTS": "-Ddb.password=tiger -Xmx1g"},
    },
    "windows:x": {"kind": "windows", "windows": [], "remarks": ["psql said: password=tiger"]},
    "windows:y": {"kind": "windows", "figures": {"password=tiger": 1, "pw": ["tiger", 1]}},
    "process:.": {"kind": "processes", "processes": [{"pid": 1, "argv0": "x --pass=tiger"}]},
    "link:/x": {"kind": "link", "target": "/x?token=tiger"},
    "dir:/x": {"kind": "dir", "names": ["a", "password=tiger", "b"]},
    "sample:z": {"kind": "sample", "errors": {"command:x -u a:tiger": "-----"}},
    "report:j": {"kind": "j", "figures": {"env": [{"name": "DB_PASSWORD", "value": "tiger"}]}},
    "report:d": {"kind": "j", "figures": {"credentials": {"a": [{"b": "tiger"}]}}},
}


def test_every_string_of_a_reading_is_masked_keys_included():
    decoded = evidence.decode(evidence.encode(READINGS))
    assert "tiger" not in str(decoded)
    assert len(decoded) == len(READINGS)


def test_masking_keeps_the_shape_and_what_is_no_secret():
    result = evidence.without_secrets(READINGS)
    lines = result["lines:rc"]["lines"]
    assert lines["/etc/rc.local"] == [[3, "export DB_PASSWORD=***"], [4, "mysql -p*** x"]]
    assert result["command:b"]["argv"] == ["mysql", "-u", "root", "-p", "***", "db"]
    assert result["environment:1"]["names"] == ["DB_PASSWORD", "JAVA_OPTS"]
    assert result["dir:/x"]["names"] == ["a", "password=***", "b"]
    assert evidence.without_secrets(result) == result


def test_masking_ends_in_a_value_that_is_too_deep():
    value = "password=tiger"
    for _ in range(500):
        value = [value]
    assert "tiger" not in str(masked_value("", value))
    value = "tiger"
    for number in range(2_000):
        value = [value] if number % 2 else {"x": value}
    assert "tiger" not in str(masked_value("", {"password": value}))


def test_a_finding_is_masked_before_it_leaves_the_host(monkeypatch):
    check = Check("c.x", "Title", "high", "now", "Why.", "Reference")
    text = "mysql -p tiger"
    keys = list(READINGS)
    finding = make_finding(
        check,
        "fail",
        why=f"It ran: {text}",
        fix="run curl -u scott:tiger x",
        evidence=keys,
        title="sqlplus scott/tiger: Title",
        commands=["sqlplus scott/tiger@db", "ls"],
        values={"password": "tiger", "list": ["--password", "tiger"]},
        running="db_password=tiger",
        desired=text,
        persisted=text,
        in_use=text,
    )
    monkeypatch.setattr(audit, "CONTROLS", {"c": SimpleNamespace(checks=[check])})
    monkeypatch.setattr(audit, "policies_from", lambda *_: {"c": None})
    monkeypatch.setattr(audit, "read_all", lambda *_: {"c": finding})
    (result,) = audit.judge_host(RecordedHost({}), {"c": {}})
    assert "tiger" not in str(result)
    assert result.commands[1] == "ls" and len(result.commands) == 2
    assert list(result.evidence) == list(evidence.without_secrets(READINGS))
    assert evidence.cited(READINGS, [result]) == READINGS
