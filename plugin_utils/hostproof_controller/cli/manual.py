# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The man page, made from the table of verbs."""

from __future__ import annotations

from .verbs import ANSIBLE_OPTIONS, VERBS, Option, Verb

_VARIABLES = (
    ("HOSTPROOF_REPORTS", "where runs put their reports (reports/)"),
    ("HOSTPROOF_RECORDS", "where record puts evidence packs (evidence/)"),
    ("HOSTPROOF_BASELINES", "where baselines lie (baselines/)"),
    ("HOSTPROOF_PYTHON", "the Python, 3.11 or newer, that the virtualenv is made with"),
    ("HOSTPROOF_VENV, HOSTPROOF_REQUIREMENTS", "another virtualenv, and what is put into it"),
    ("ANSIBLE_INVENTORY", "your hosts, where -i is not given"),
    ("NO_COLOR", "no colours on a terminal"),
    ("COLUMNS", "how wide tables are"),
)


def man() -> str:
    """The page in roff."""
    lines = [
        '.TH HOSTPROOF 1 "" "Hostproof" "User Commands"',
        ".SH NAME",
        r"hostproof \- makes a host ready for an Oracle database, and proves it",
        ".SH SYNOPSIS",
        r".B ./hostproof",
        r".I VERB",
        r"[OPTIONS]",
        ".SH DESCRIPTION",
        *_text(
            "Hostproof judges hosts for Oracle databases by a policy, changes what the policy "
            "asks, verifies that, and puts it back. The first start makes a virtualenv in the "
            "checkout."
        ),
        ".SH VERBS",
    ]
    for verb in VERBS:
        lines += _verb(verb)
    lines += [".SH OPTIONS OF ANSIBLE-PLAYBOOK", *_text("Of every verb that asks hosts:")]
    for option in ANSIBLE_OPTIONS:
        lines += _option(option)
    lines.append(".SH ENVIRONMENT")
    for name, meaning in _VARIABLES:
        lines += [".TP", f".B {_roff(name)}", *_text(meaning)]
    lines += [
        ".SH SEE ALSO",
        r".BR ansible-playbook (1),",
        r".BR ssh-keygen (1)",
        ".PP",
        *_text(
            "docs/tour.md shows each verb with what it prints; docs/report.md tells of reports."
        ),
    ]
    return "\n".join(lines) + "\n"


def _verb(verb: Verb) -> list[str]:
    words = " ".join(f"[{one.name}]" if not one.least else one.name for one in verb.arguments)
    lines = [f".SS {_roff(f'{verb.name} {words}'.strip())}"]
    lines += _text(f"{verb.summary[0].upper()}{verb.summary[1:]}.")
    if verb.about:
        lines += [".PP", *_text(verb.about)]
    for argument in verb.arguments:
        lines += [".TP", f".I {_roff(argument.name)}", *_text(_with_choices(argument))]
    for option in verb.options:
        if not option.passed and not option.hidden:
            lines += _option(option)
    codes = "; ".join(f"{code} {meaning}" for code, meaning in verb.exits)
    return [*lines, ".PP", *_text(f"Exit codes: {codes}.")]


def _with_choices(one: object) -> str:
    choices = getattr(one, "choices", ())
    text = getattr(one, "help", "")
    return f"{text}: {', '.join(choices)}" if choices else text


def _option(option: Option) -> list[str]:
    names = ", ".join(
        rf"\fB{_roff(name)}\fR" + (rf" \fI{_roff(option.value)}\fR" if option.value else "")
        for name in option.names
    )
    return [".TP", names, *_text(_with_choices(option))]


def _text(text: str) -> list[str]:
    """Words of a paragraph. What begins a line with a dot would be a request of roff."""
    words = _roff(text)
    return [rf"\&{words}" if words.startswith((".", "'")) else words]


def _roff(text: str) -> str:
    return text.replace("\\", r"\e").replace("-", r"\-")
