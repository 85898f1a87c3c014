"""No format of a secret leaves the host, in whatever part of evidence or of a finding it stands."""

import json
import shlex

import pytest
from ansible.module_utils.hostproof.collect import evidence
from ansible.module_utils.hostproof.collect.masking import masked, masked_value
from ansible.module_utils.hostproof.evaluate import audit
from ansible.module_utils.hostproof.evaluate.finding import Check, make_finding
from masking_formats import COMMANDS, FILES, TEXTS

#: Each has "tiger" in every part, so that a half is found too.
SECRETS = ("tiger", "tigerX9-tiger.w_tiger", "Atiger0tiger9Ztiger")
BEFORE = "# first\nname=value\n\n"
AFTER = "\nother=value\nlast line\n"

FORMATS = {**COMMANDS, **TEXTS}
CASES = [(family, text) for family, texts in FORMATS.items() for text in texts]


def containers(text):
    """Every part of evidence and of a finding that can hold a text, with the text in it."""
    yield "file", {"kind": "file", "text": text + "\n"}
    yield "file, lines around it", {"kind": "file", "text": BEFORE + text + AFTER}
    yield "output", {"kind": "command", "stdout": text, "stderr": text}
    yield "message", {"kind": "file", "error": "unanswered", "message": text}
    lines = [[number, line] for number, line in enumerate(text.split("\n"), 1)]
    yield "lines", {"kind": "lines", "lines": {"/etc/rc.local": lines}}
    yield "environment", {"kind": "environment", "values": {"EXTRA": text}}
    yield "key", {"kind": "sample", "first": {text: "1"}}
    yield "remark", {"kind": "windows", "remarks": [text]}
    yield "nested", {"kind": "report", "figures": {"a": [{"b": [[text, 1]]}]}}
    yield "list", {"kind": "report", "figures": {"list": ["x", text, "y"]}}


def test_there_are_more_than_400_formats_and_none_twice():
    assert len(CASES) > 400
    assert len({text for _, text in CASES}) == len(CASES)


@pytest.mark.parametrize("family", FORMATS)
def test_no_format_leaks_in_any_container(family):
    leaks = []
    for text in FORMATS[family]:
        reading = dict(containers(text.replace("§", SECRETS[1])))
        results = masked_value("file:/etc/rc.local", reading)
        leaks += [f"{where}: {text}" for where in results if "tiger" in str(results[where])]
    assert leaks == []


@pytest.mark.parametrize("family", FORMATS)
def test_no_secret_of_other_letters_leaks(family):
    for text in FORMATS[family]:
        for secret in (SECRETS[0], SECRETS[2]):
            assert "tiger" not in masked("/etc/rc.local", text.replace("§", secret)), text


@pytest.mark.parametrize("family", COMMANDS)
def test_no_list_of_arguments_leaks(family):
    secret = SECRETS[1]
    leaks = []
    for text in COMMANDS[family]:
        words = shlex.split(text.replace("§", secret))
        for where, value in (
            ("argv", {"argv": words}),
            ("joined by NUL", {"text": "\0".join(words) + "\0"}),
        ):
            if "tiger" in str(masked_value("command:x", value)):
                leaks.append(f"{where}: {text}")
    assert leaks == []


@pytest.mark.parametrize("family", FORMATS)
def test_no_finding_and_no_evidence_key_leaks(family):
    check = Check("c.x", "Title", "high", "now", "Why.", "Reference")
    leaks = []
    for text in FORMATS[family]:
        filled = text.replace("§", SECRETS[1])
        finding = make_finding(
            check, "fail", why=filled, fix=filled, running=filled, title=filled, evidence=[filled],
            commands=[filled], values={"value": filled, filled: 1},
        )  # fmt: skip
        packed = evidence.without_secrets({filled: {"kind": "file", "text": ""}})
        result = audit._without_secrets(finding, frozenset())
        if "tiger" in json.dumps([result.as_dict(), packed]):
            leaks.append(text)
        assert set(result.evidence) == set(packed)
    assert leaks == []


@pytest.mark.parametrize(("path", "text"), FILES)
def test_no_line_of_a_file_of_secrets_leaves_the_host(path, text):
    for secret in SECRETS:
        filled = f"# comment\n\n{text.replace('§', secret)}"
        for key in (f"file:{path}", f"command:cat {path}"):
            result = masked(key, filled)
            assert "tiger" not in result
            assert result.startswith("# comment\n\n")


#: What ends where the text ends, or what a parser of Oracle Net takes from there on.
GO_ON = ("-----BEGIN PRIVATE KEY-----\n§", "wallet_password")


@pytest.mark.parametrize("family", FORMATS)
def test_the_lines_around_a_secret_stay(family):
    for text in FORMATS[family]:
        if text == GO_ON[0] or GO_ON[1] in text:
            continue
        result = masked("/etc/rc.local", BEFORE + text.replace("§", SECRETS[1]) + AFTER)
        assert result.startswith(BEFORE), text
        assert result.endswith("last line\n"), text


@pytest.mark.parametrize("family", FORMATS)
def test_what_is_masked_twice_holds_no_more_secrets_and_stays(family):
    for text in FORMATS[family]:
        once = masked("/etc/rc.local", text.replace("§", SECRETS[1]))
        twice = masked("/etc/rc.local", once)
        assert masked("/etc/rc.local", twice) == twice, text
