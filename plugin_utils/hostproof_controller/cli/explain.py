# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""``./hostproof explain``: what the documents state of a check.

The rule of a check is in one place, docs/controls/CONTROL.md; its title, severity and when it
takes effect in the control itself, and tests hold the two together.
"""

from __future__ import annotations

import json
import os
import re
import sys
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import click
from ansible.module_utils.hostproof.controls.registry import CONTROLS, NAMES
from ansible.module_utils.hostproof.errors import HostproofError
from ansible.module_utils.hostproof.evaluate.finding import Check

from .. import custom_checks
from ..custom_checks import Loaded
from ..remote.response_validation import not_applied, with_all_controls
from ..report import waivers
from ..report.renamed import current
from ..report.store import run_findings
from . import options, terminal
from .environment import default_inventories
from .errors import Refused
from .names import CheckId
from .releases import since
from .suggestions import did_you_mean, quoted

ROOT = Path(__file__).resolve().parents[3]
_VARIABLE = re.compile(r"\b[a-z][a-z0-9]*(?:_[a-z0-9]+)+\b")
_RELATIVE = re.compile(r"\]\((?!#|[a-z]+:)([^()\s]+)\)")

#: Checks that no control has: of the run, of hosts as a whole and of waivers.
_OTHERS = tuple(
    value
    for module in (run_findings, waivers)
    for value in vars(module).values()
    if isinstance(value, Check)
)


#: The control of a site's own checks.
OWN = "custom"


class Explained(NamedTuple):
    check: Check
    text: str
    page: str
    variables: list[dict[str, Any]]


def all_checks() -> Iterator[Check]:
    """Every check of a control, in the order of its page."""
    for name in NAMES:
        yield from CONTROLS[name].checks


@options.command("explain")
@options.format_option("text", "json")
@options.own_checks_option
@click.argument("check", metavar="CHECK", type=CheckId(), help="check id")
def command(check: str, output_format: str, inventories: tuple[str, ...]) -> int:
    """Shows the documentation of a check and its variables with defaults.

    The second part of the id is sufficient if it is unique.
    """
    explanation = explained(check, inventories)
    if output_format == "json":
        record = {
            **explanation.check._asdict(),
            "control": explanation.check.control,
            "since": None if explanation.check.control == OWN else since(explanation.check.id),
            "rests_on_it": resting_on(explanation.check),
            "text": explanation.text,
            "page": explanation.page,
            "variables": explanation.variables,
        }
        print(json.dumps(record, indent=1))
        return 0
    text = as_text(explanation)
    if sys.stdout.isatty():
        from rich.markdown import Markdown

        terminal.console().print(Markdown(text))
    else:
        terminal.say(text)
    return 0


#: Checks that a hint names.
_MOST_HINTS = 8


def _with_word(word: str, known: Iterable[str]) -> str:
    """The checks and controls that a word could mean, as the end of a sentence; "" for none."""
    with_word = [name for name in (*NAMES, *known) if word.lower() in re.split(r"[._]", name)]
    if len(with_word) < 2:
        return ""
    more = len(with_word) - _MOST_HINTS
    rest = f" and {more} more" if more > 0 else ""
    return f"; did you mean one of {', '.join(with_word[:_MOST_HINTS])}{rest}?"


def own_checks(inventories: Sequence[str]) -> list[Loaded]:
    """The checks in the checks.d of some inventories, or of the default inventory."""
    try:
        return custom_checks.load(inventories or default_inventories(os.environ))
    except HostproofError as problem:
        raise Refused(str(problem)) from None


def explained(name: str, inventories: Sequence[str] = ()) -> Explained:
    """The documentation of a check; Refused for one that does not exist."""
    own = {own_check.check.id: own_check for own_check in own_checks(inventories)}
    if name in own:
        return _of_own(own[name])
    known = {
        known_check.id: known_check
        for known_check in (
            *all_checks(),
            *_OTHERS,
            *(own_check.check for own_check in own.values()),
        )
    }
    check = _check_named(name, known)
    if check is None and name in NAMES:
        raise Refused(f"{name} is a control; ./hostproof checks --control {name} lists its checks")
    check = check or _of_answers(name)
    if check is None:
        raise Refused(f"there is no check {quoted(name)}{_hint_for(name, known)}")
    if check.control not in NAMES or check.id.endswith((".audited", ".applied")):
        return Explained(check, _of_itself(check), check.reference, [])
    page = f"docs/controls/{check.control}.md"
    text = section((ROOT / page).read_text(encoding="utf-8"), check.id)
    whole = "\n".join([_with_paths(text), *_not_on_page(check, text)])
    return Explained(check, whole, page, variables_in(text, check.control))


def _check_named(name: str, known: dict[str, Check]) -> Check | None:
    check = known.get(name) or known.get(current(name))
    if check is not None:
        return check
    # The second part only is what a reader remembers.
    same = [check_id for check_id in known if check_id.partition(".")[2] == name]
    return known[same[0]] if len(same) == 1 else None


def _hint_for(name: str, known: dict[str, Check]) -> str:
    near = _with_word(name, known) or did_you_mean(name, [*NAMES, *known], -1)
    return near or "; ./hostproof checks lists them"


def _not_on_page(check: Check, text: str) -> Iterator[str]:
    """Texts of the check itself that the page of the control does not contain."""
    for name, words in (
        ("Why", check.why),
        ("Fix", "see the finding and its commands"),
        ("Reference", check.reference),
    ):
        if f"**{name}**" not in text:
            yield f"- **{name}**: {words.rstrip('.')}."


def _of_answers(name: str) -> Check | None:
    """The check that a report contains for a control without findings or without changes."""
    control, _, what = name.partition(".")
    if control not in NAMES or what not in ("audited", "applied"):
        return None
    finding = with_all_controls([], [control])[0]
    if what == "applied":
        finding = not_applied(
            control, "The change was rejected, or had no effect: the finding shows the reason."
        )
    return Check(
        name, finding["title"], finding["severity"], "now", finding["why"], finding["reference"]
    )


def section(page: str, check: str) -> str:
    """What a control's page states below the heading of a check."""
    _, heading, rest = page.partition(f"\n### {check}\n")
    if not heading:
        raise Refused(f"docs/controls/{check.partition('.')[0]}.md has no section on {check}")
    return re.split(r"^#{1,3} ", rest, maxsplit=1, flags=re.MULTILINE)[0].strip()


def _with_paths(text: str) -> str:
    """Links of the page as paths relative to the checkout, the reader's working directory."""

    def path(match: re.Match[str]) -> str:
        target, mark, anchor = match[1].partition("#")
        whole = (ROOT / "docs/controls" / target).resolve()
        return (
            f"]({whole.relative_to(ROOT) if whole.is_relative_to(ROOT) else target}{mark}{anchor})"
        )

    return _RELATIVE.sub(path, text)


def _of_itself(check: Check) -> str:
    return (
        f"{check.title}. Severity {check.severity}, takes effect "
        f"{(check.takes_effect or 'now').replace('_', ' ')}.\n\n- **Why**: {check.why}\n"
        f"- **Reference**: {check.reference}."
    )


def _of_own(loaded: Loaded) -> Explained:
    texts = {"title", "problem", "severity", "takes_effect", "why", "reference", "id"}
    rule = {key: value for key, value in loaded.values.items() if key not in texts}
    lines = (f"- **{key}**: {json.dumps(value)}" for key, value in rule.items())
    return Explained(loaded.check, "\n".join([_of_itself(loaded.check), *lines]), loaded.place, [])


def variables_in(text: str, control: str) -> list[dict[str, Any]]:
    """The variables that a text names, with default and meaning as the role documents them."""
    from ..policies import controls

    role = controls()[control]
    by_name = {role.variable(field): (field, option) for field, option in role.options.items()}
    variables = []
    for name in dict.fromkeys(_VARIABLE.findall(text)):
        if name in by_name:
            field, option = by_name[name]
            described = option["description"]
            words = described if isinstance(described, str) else " ".join(described)
            meaning = re.sub(r"\b[COV]\(([^()]*)\)", r"`\1`", words)
            variables.append(
                {"name": name, "default": role.defaults.get(field), "meaning": meaning}
            )
    return variables


def resting_on(check: Check) -> list[str]:
    """The checks that fail because this one does."""
    return [dependent.id for dependent in all_checks() if check.id in dependent.because_of]


def _causes(check: Check) -> list[str]:
    """Checks that may be a cause of this one, and checks that this one may cause."""
    groups = (
        ("Depends on", check.because_of),
        ("Required by", resting_on(check)),
    )
    lines = [
        textwrap.fill(f"{head}: {', '.join(f'`{check_id}`' for check_id in ids)}", 100)
        for head, ids in groups
        if ids
    ]
    return [*lines, ""] if lines else []


def as_text(explanation: Explained) -> str:
    """The same as Markdown."""
    lines = [f"# {explanation.check.id}", "", explanation.text, "", *_causes(explanation.check)]
    if explanation.variables:
        lines += ["## Variables", ""]
        for variable in explanation.variables:
            item = (
                f"- `{variable['name']}` (default `{json.dumps(variable['default'])}`): "
                f"{variable['meaning']}"
            )
            lines.append(textwrap.fill(item, 100, subsequent_indent="  ", break_long_words=False))
        lines.append("")
    elif explanation.check.control in NAMES and explanation.check.control != OWN:
        from ..policies import controls

        role = controls()[explanation.check.control]
        names = ", ".join(f"`{role.variable(field)}`" for field in role.options)
        lines += [textwrap.fill(f"Variables: {names}", 100), ""]
    if explanation.check.control == OWN:
        lines.append(f"Your own check: {explanation.page}")
    else:
        lines.append(f"Since {since(explanation.check.id)}. Documentation: {explanation.page}")
    return "\n".join(lines)
