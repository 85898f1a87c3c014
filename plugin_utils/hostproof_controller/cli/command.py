# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""From the command line to a verb's function, by the table of verbs."""

from __future__ import annotations

import importlib
import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ansible.module_utils.hostproof import VERSION
from ansible.module_utils.hostproof.errors import HostproofError

from .errors import EXIT_INTERRUPTED, EXIT_USAGE, Refused, complain
from .suggestions import did_you_mean, quoted
from .verbs import VERBS, Argument, Option, Verb, by_name

HELP = Path(__file__).with_name("help.txt")


class Given:
    """What was typed after a verb: ``given["out"]`` is None or what is wrong to leave out.

    ``typed`` are the words as they were.
    """

    def __init__(
        self,
        verb: Verb,
        values: dict[str, Any],
        typed: Sequence[str],
        extra: Sequence[str] = (),
    ) -> None:
        self.verb = verb
        self.typed = list(typed)
        self.extra = list(extra)
        self._values = values

    def __getitem__(self, key: str) -> Any:
        return self._values[key]

    def refuse_extra(self) -> None:
        """Refused where there are words that the verb does not take."""
        if self.extra:
            raise Refused(
                f"{self.verb.name} does not take {quoted(self.extra[0])}; ./hostproof "
                f"{self.verb.name} --help says what it takes"
            )

    def last(self, key: str) -> str | None:
        """The value of an option that counts once: the last one typed."""
        values = self._values[key]
        return str(values[-1]) if values else None


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what was typed; returns the exit code."""
    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot show a character must not end a run.
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    typed = list(sys.argv[1:] if arguments is None else arguments)
    try:
        return _main(typed)
    except HostproofError as problem:
        complain(problem)
        return EXIT_USAGE
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        # The reader (head, less) has seen enough.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _main(typed: list[str]) -> int:
    name, *rest = typed or ["help"]
    if name in ("help", "-h", "--help"):
        if rest and rest[0] != name:
            return _main([rest[0], "--help"])
        print(HELP.read_text(encoding="utf-8"), end="", flush=True)
        return 0
    if name in ("--version", "-V"):
        return _version()
    verb = by_name(name)
    if verb is None:
        hint = did_you_mean(name, [one.name for one in VERBS])
        raise Refused(
            f"there is no {quoted(name)}{hint or '; ./hostproof --help lists what there is'}"
        )
    given = Given(verb, {}, rest) if verb.raw else parse(verb, rest)
    if given is None:
        return 0
    module, _, function = verb.run.partition(":")
    run = getattr(importlib.import_module(f"{__package__}.{module}"), function)
    return int(run(given))


def _version() -> int:
    from importlib.metadata import version

    python = ".".join(str(number) for number in sys.version_info[:3])
    print(f"hostproof {VERSION} (ansible-core {version('ansible-core')}, Python {python})")
    return 0


def parse(verb: Verb, typed: Sequence[str]) -> Given | None:
    """What was typed, by the table; None where help was all that was wanted."""
    # Read by nobody who only wants the table.
    import click

    command = click.Command(
        verb.name,
        params=[*map(_click_option, verb.options), *map(_click_argument, verb.arguments)],
        help=(verb.about or f"{verb.summary[0].upper()}{verb.summary[1:]}."),
        # Its mark for lines that stay as they are goes before each paragraph.
        epilog="\n\n".join("\b\n" + "\n".join(lines) for lines in _epilog(verb)),
        # Refused here, by name, and where a verb has something better to say after that.
        context_settings={"help_option_names": ["-h", "--help"], "allow_extra_args": True},
    )
    width = shutil.get_terminal_size((100, 24)).columns
    try:
        with command.make_context(
            f"hostproof {verb.name}", list(typed), max_content_width=max(40, min(width, 100))
        ) as context:
            given = Given(verb, dict(context.params), typed, context.args)
    except click.exceptions.Exit:
        return None
    except click.BadOptionUsage as problem:
        if "requires" in problem.message:
            raise Refused(f"{problem.option_name} needs a value") from None
        raise Refused(f"{verb.name}: {problem.format_message()}") from None
    except click.NoSuchOption as problem:
        known = [name for one in verb.options for name in one.names if name.startswith("--")]
        hint = did_you_mean(problem.option_name, known)
        raise Refused(
            f"{verb.name} has no option {quoted(problem.option_name)}"
            f"{hint or f'; ./hostproof {verb.name} --help lists them'}"
        ) from None
    except click.MissingParameter as problem:
        name = problem.param.human_readable_name if problem.param else "a word"
        raise Refused(
            f"{verb.name} needs {name}; ./hostproof {verb.name} --help says what that is"
        ) from None
    except click.UsageError as problem:
        raise Refused(f"{verb.name}: {problem.format_message()}") from None
    for option in verb.options:
        if option.only and verb.name not in option.only and given[option.key]:
            raise Refused(f"{option.names[-1]} goes with {' and '.join(option.only)}")
    for argument in verb.arguments:
        words = given[argument.name.lower()]
        if argument.most is not None and len(words) > argument.most:
            given.extra = list(words[argument.most :])
    _refuse_other_choices(given)
    if not any(option.passed for option in verb.options):
        given.refuse_extra()
    return given


def _refuse_other_choices(given: Given) -> None:
    """Refused where a value is none of those that its option or argument has."""
    verb = given.verb
    places = [(one.names[-1], one.key, one.choices) for one in verb.options]
    places += [(verb.name, one.name.lower(), one.choices) for one in verb.arguments]
    for where, key, choices in places:
        for word in given[key] if choices else ():
            if word not in choices:
                hint = did_you_mean(word, choices) or f"; there are {', '.join(choices)}"
                raise Refused(f"{where}: there is no {quoted(word)}{hint}")


def _click_option(option: Option) -> Any:
    import click

    more: dict[str, Any] = {"help": option.help, "hidden": option.hidden}
    if option.value is None:
        more["count"] = True
    else:
        shown = "|".join(option.choices) or option.value
        more.update(multiple=True, metavar=shown)
    return click.Option([*option.names, option.key], **more)


def _click_argument(argument: Argument) -> Any:
    import click

    return click.Argument(
        [argument.name.lower()],
        nargs=-1,
        required=bool(argument.least),
        metavar=argument.name,
    )


def _epilog(verb: Verb) -> Iterator[list[str]]:
    """Paragraphs below the options."""
    if verb.arguments:
        yield ["Arguments:", *(f"  {one.name}  {one.help}" for one in verb.arguments)]
    if any(option.passed for option in verb.options):
        yield ["Every other option of ansible-playbook is passed on to it."]
    yield ["Exit codes:", *(f"  {code:<4} {meaning}" for code, meaning in verb.exits)]
