"""Shipped texts gain no hits of translated style; new commits have plain subjects."""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest
from programs import imported_program

ROOT = Path(__file__).resolve().parents[2]
language = imported_program("language")
#: Subjects after this commit follow the rule.
RULE_SINCE = "798708fb937c"
SUBJECT = re.compile(r"^[\w.,/ -]+: [A-Za-z]")


def test_no_area_exceeds_its_budget():
    hits = language.all_hits(language.shipped())
    budgets = json.loads(language.BUDGETS.read_text())
    counts = language.counts(hits)
    above = [
        f"{name}: {count} hits, budget {budgets.get(name, 0)}"
        for name, count in counts.items()
        if count > budgets.get(name, 0)
    ]
    assert not above, f"run tests/language and rewrite the new texts: {above}"


def test_hits_have_the_line_of_the_text_and_code_does_not_count():
    source = '"""First.\n\nIt is run anew."""\n# Nothing is\n# put back.\nanew = "anew"\n'
    hits = language.hits_of("a.py", source, language.patterns())
    assert [(hit.line, hit.label) for hit in hits] == [(3, "A-anew"), (4, "A-put-back")]
    page = "# Title\n\nRun it\nanew.\n\n```\nanew\n```\n"
    assert [hit.line for hit in language.hits_of("a.md", page, language.patterns())] == [3]
    text = 'a = f"{anew} is read"\nb = f"{one} is read anew"\n'
    assert [hit.line for hit in language.hits_of("a.py", text, language.patterns())] == [2]
    program = 'a = "for x in $((1 + 1)); do echo anew"\nb = "run it anew"\n'
    assert [hit.line for hit in language.hits_of("a.py", program, language.patterns())] == [2]
    template = "<b>{{ anew }}{% if anew %}\n<b>{{ one }} anew</b>\n<i>{# anew #}\n"
    assert [hit.line for hit in language.hits_of("a.j2", template, language.patterns())] == [2, 3]


@pytest.mark.skipif("CI" not in os.environ, reason="the history is checked in the CI only")
def test_new_commits_have_plain_subjects():
    listed = subprocess.run(
        ["git", "log", "--no-merges", "--format=%s", f"{RULE_SINCE}..HEAD"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    if listed.returncode:
        pytest.skip(f"the history does not reach commit {RULE_SINCE}")
    wrong = [
        subject
        for subject in listed.stdout.splitlines()
        if len(subject) > 72 or not SUBJECT.match(subject)
    ]
    assert not wrong, "a subject is 'area: imperative', at most 72 characters"
