"""No finding, evidence or report shows a secret that a check of a site captures."""

import json
import os
from itertools import product
from typing import Any

import packs
import pytest
from ansible.module_utils.hostproof.collect.host import LiveHost, RecordedHost
from ansible.module_utils.hostproof.controls.custom import patterns
from ansible.module_utils.hostproof.evaluate import audit
from cases import cases
from hostproof_controller.cli import command
from masking_formats import COMMANDS, FILES, TEXTS
from test_custom import entry
from test_diffing import line, report

# The captured values do not depend on the ansible-core.
pytestmark = pytest.mark.one_core

SECRET = "Ztiger0tiger9q"
FORMATS = {**COMMANDS, **TEXTS}
#: The secret alone, what is behind a blank or an equals sign, and the whole line.
PATTERNS = (r"(Z[\w]+q)", r"[=\s](\S*)$", "(.*)")

#: Lines of files that no program of the list writes, and what every report of issue 65 named.
LINES = (
    "rocommunity {0}",
    "rocommunity {0} 192.0.2.0/24",
    "password = {0}",
    'key = "{0}"',
    "key: '{0}'",
    '  "key" : "{0}",',
    'secret "{0}";',
    "token={0}",
    "requirepass {0}",
    "bindpw {0}",
    "DB_PASSWORD={0}",
    "https://user:{0}@db.example.com/",
)


def judged(machine: Any, **keys: Any) -> list[Any]:
    return audit.judge_host(machine, {"custom": {"checks": [entry(**keys)], "own_commands": True}})


def machine_of(text: str) -> Any:
    return packs.linux().file("/etc/app.conf", text).command("print-it (as nobody)", text)


SOURCES: tuple[dict[str, Any], ...] = ({"file": "/etc/app.conf"}, {"command": ["print-it"]})


ROWS = tuple(f"{SECRET}{number:03}" + "A" * 47 for number in range(60))


@pytest.mark.parametrize("source", SOURCES, ids=["file", "command"])
@cases(
    "head end",
    ("-----BEGIN RSA PRIVATE KEY-----", "-----END RSA PRIVATE KEY-----"),
    ("key: '-----BEGIN OPENSSH PRIVATE KEY-----", "-----END OPENSSH PRIVATE KEY-----'"),
    ("-----BEGIN PGP PRIVATE KEY BLOCK-----", "-----END PGP PRIVATE KEY BLOCK-----"),
    ("---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----", "---- END SSH2 ENCRYPTED PRIVATE KEY ----"),
    ("-----BEGIN OpenVPN Static key V1-----", "-----END OpenVPN Static key V1-----"),
    ("$ANSIBLE_VAULT;1.1;AES256", ""),
    ("Private-Lines: 60", ""),
)
def test_no_line_of_a_long_key_is_a_value(source, head, end):
    """Its first line can be far above the line that matches."""
    text = "\n".join(["first = 1", head, *ROWS, end, "last = 2"])
    for row in ("000A", "030A", "A{40}$"):
        (found,) = judged(machine_of(text), **source, pattern=f"(.*{row})", at_least=0)
        assert found.status == "error", found
        assert SECRET not in repr(found)
    (found,) = judged(machine_of(text), **source, pattern="last = (.*)", at_least=0)
    assert found.status == "pass", found


@pytest.fixture
def in_this_process(monkeypatch):
    """The searches of many findings, without a process for each."""
    monkeypatch.setattr(patterns, "_limited", lambda work, _pattern: work())


@cases("family", *FORMATS, "lines")
def test_no_format_of_a_secret_is_in_a_finding(family, in_this_process):
    texts = FORMATS.get(family) or [text.format("§") for text in LINES]
    leaks = []
    for text in texts:
        machine = machine_of("mode=fast\n" + text.replace("§", SECRET) + "\nport=1\n")
        checks = [
            entry(id=f"c{number}", pattern=pattern, matches=".", if_absent="pass", **source)
            for number, (pattern, source) in enumerate(product(PATTERNS, SOURCES))
        ]
        found = audit.judge_host(machine, {"custom": {"checks": checks, "own_commands": True}})
        assert len(found) == len(checks)
        if "tiger" in json.dumps([finding.as_dict() for finding in found]):
            leaks.append(text)
    assert leaks == []


def test_what_is_masked_is_not_judged(tmp_path):
    """Neither ``pass`` nor ``fail`` says a thing about a secret; evidence gives the same answer."""
    file = tmp_path / "snmpd.conf"
    file.write_text(f"rocommunity {SECRET}\nport 161\n")
    for pattern in (r"^rocommunity\s+(\S+)", r"^rocommunity\s+(\w+)$"):
        for comparison in ({"equals": SECRET}, {"equals": "x"}, {"matches": "^Z"}):
            host = LiveHost()
            for source in ({"file": str(file)}, {"command": ["cat", str(file)], "as_root": True}):
                keys = {"pattern": pattern, "if_absent": "pass", **comparison, **source}
                (finding,) = judged(host, **keys)
                assert finding.status == "error" and "secret" in finding.why
                assert judged(RecordedHost(host.evidence), **keys) == [finding]
            if SECRET not in comparison.values():
                assert "tiger" not in json.dumps([host.evidence, finding.as_dict()])


def test_a_pattern_beside_the_secret_is_judged(tmp_path):
    file = tmp_path / "snmpd.conf"
    file.write_text(f"rocommunity {SECRET}\n")
    (finding,) = judged(LiveHost(), file=str(file), pattern="^rocommunity", equals="x")
    assert (finding.status, finding.persisted) == ("fail", "rocommunity")


def test_a_line_is_masked_by_the_lines_around_it(tmp_path):
    """A pattern takes a line without the lines that show what it is."""
    file = tmp_path / "app.yml"
    file.write_text(f"db:\n  password:\n    {SECRET}\n  port: 1\n")
    host = LiveHost()
    (finding,) = judged(host, file=str(file), pattern=r"^\s+(Z\w+)$", matches=".")
    assert finding.status == "error"
    assert "tiger" not in json.dumps([host.evidence, finding.as_dict()])


@pytest.mark.parametrize("family", range(len(FILES)))
def test_no_file_of_secrets_is_taken(family):
    path, text = FILES[family]
    machine = packs.linux().file(path, text.replace("§", SECRET))
    found = judged(machine, file=path, pattern="(.*)", matches=".")
    assert "tiger" not in json.dumps([finding.as_dict() for finding in found])


@cases(
    "fstab keys",
    (f"//f/s /mnt cifs rw,password={SECRET} 0 0\n", {"mount": "/mnt", "option": "password"}),
    (f"//f/s /mnt cifs rw,pass={SECRET} 0 0\n", {"mount": "/mnt", "option": "pass"}),
    (f"m /mnt ceph rw,secret={SECRET} 0 0\n", {"mount": "/mnt", "option": "secret"}),
)
def test_options_of_mounts(fstab, keys):
    mountinfo = f"36 25 0:40 / /mnt rw - cifs //f/s rw,{keys['option']}={SECRET}\n"
    machine = packs.linux().file("/etc/fstab", fstab).file("/proc/self/mountinfo", mountinfo)
    (finding,) = judged(machine, equals="x", **keys)
    assert finding.status == "error" and "tiger" not in json.dumps(finding.as_dict())


def test_kernel_parameters_that_hold_a_key():
    for name in ("net.ipv4.tcp_fastopen_key", "net/ipv6/conf/eth0.1/stable_secret"):
        (finding,) = judged(packs.linux(), sysctl=name, matches=".")
        assert finding.check == "custom.policy_entry" and "secrets" in finding.why


FORMS = (["--format", "csv"], ["--format", "sarif"], ["--format", "markdown"], ["--verbose"])


def test_no_report_shows_a_captured_secret(tmp_path, capsys, in_this_process):
    texts = [text for texts in FORMATS.values() for text in texts if "\n" not in text]
    texts += [text.format("§") for text in LINES]
    found = []
    for number, text in enumerate(texts[:: max(1, len(texts) // 40)] + texts[-len(LINES) :]):
        for kind, pattern in enumerate(PATTERNS[:2]):
            machine = machine_of(text.replace("§", SECRET) + "\n")
            found += judged(
                machine, id=f"c{number}_{kind}", file="/etc/app.conf", pattern=pattern, equals="no"
            )
    folder = report(tmp_path / "report", line("db1", *[one.as_dict() for one in found]))
    shown = ""
    for words in FORMS:
        command.main(["report", str(folder), *words])
        shown += capsys.readouterr().out
    for place, _folders, names in os.walk(folder):
        for name in names:
            with open(os.path.join(place, name), encoding="utf-8") as stream:
                shown += stream.read()
    assert "custom.c0_0" in shown and "tiger" not in shown
