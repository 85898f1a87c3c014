"""An error of a parser says where and what kind of token, never the text of the file."""

import re
from collections.abc import Iterator

import pytest
from ansible.module_utils.hostproof.collect.masking import masked
from ansible.module_utils.hostproof.errors import HostproofError, ParseError, kind_of, name_or_kind
from cases import cases
from fuzz.parsing import targets

CANARY = "Zq7tiger9xW"
#: Texts in the place of a token: the secret alone, and in the contexts in which one stands.
SECRETS = (CANARY, f"password={CANARY}", f'"{CANARY}', f"({CANARY}", f"{CANARY}: x")
TOKEN = re.compile(r"[^\s=:,;()\[\]{}\"'<>]+|[=:,;()\[\]{}\"'<>]")
#: Tokens of one text that are replaced; more are taken at equal distances.
MOST = 25

#: All but sizes, which a person writes into a variable and has to see in the answer.
TARGETS = [target for target in targets() if target.name != "_size"]


def replaced(text: str, secret: str) -> Iterator[str]:
    """The text with the secret in the place of one token after the other, and at its ends.

    Each time also cut off right behind the secret.
    """
    places = list(TOKEN.finditer(text[:20000]))
    for place in places[:: max(1, len(places) // MOST)]:
        yield text[: place.start()] + secret + text[place.end() :]
        yield text[: place.start()] + secret
    yield secret + text
    yield text + secret
    yield secret


@pytest.mark.parametrize("target", TARGETS, ids=[target.name for target in TARGETS])
def test_no_error_of_a_parser_quotes_a_secret(target):
    for secret in SECRETS:
        for text in replaced(target.good, secret):
            try:
                target.parse(text)
            except ParseError as problem:
                assert CANARY not in str(problem), text[:200]
            except HostproofError as problem:
                assert CANARY not in masked("", str(problem)), text[:200]


@cases(
    "text said",
    ("", "an empty text"),
    (")", '")"'),
    ("\x1b", "a word of 1 character"),
    ("123", "a number of 3 digits"),
    ("tiger", "a word of 5 characters"),
    ("a b", "a text of 3 characters"),
)
def test_kind_of_a_text(text, said):
    assert kind_of(text) == said


@cases(
    "text said",
    ("intrr", "'intrr'"),
    ("no-such-option", "'no-such-option'"),
    (CANARY, "a word of 11 characters"),
    ("pass=x", "a word of 6 characters"),
    ("a" * 25, "a word of 25 characters"),
)
def test_a_name_is_shown_and_nothing_else(text, said):
    assert name_or_kind(text) == said
