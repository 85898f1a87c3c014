"""Texts of hosts in CSV, SARIF and Markdown: a formula that a spreadsheet calculates, a link."""

import csv
import importlib
import io
import json
import re
import sys
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from random import Random

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests/unit")]

importlib.import_module("conftest")  # puts the code where Ansible puts it

import family  # noqa: E402
from attack_names import line_of  # noqa: E402
from hostproof_controller.report import formats  # noqa: E402
from hostproof_controller.report.store import merge  # noqa: E402

SHARE = 10

BEGINS = ("", " ", "\t", "\r", "\n", "\u00a0", "\u3000", '"', "'", ";", "; ", ';"', "x;", "\\")
FORMULAS = ("=1+1", "+1", "-1", "@SUM(1)", "\uff1d1", "\uff0b1", "\uff0d1", "\uff201", "\ufe66x")
LINKS = (
    *("[click](javascript:alert(1))", "![x](data:text/html,x)", "<javascript:alert(1)>", "[a][b]"),
    *("[a]: javascript:x", "](javascript:x)", "[x\\](javascript:x)", "{0}", "https://evil.example"),
)


def text_of(rng: Random) -> str:
    pieces = [rng.choice((*BEGINS, *FORMULAS, *LINKS, "word", "\u202e", "|")) for _ in range(4)]
    return "".join(pieces) or "x"


def is_calculated(text: str) -> bool:
    for separator in ",;\t":
        for row in csv.reader(io.StringIO(text), delimiter=separator):
            for cell in row:
                begin = unicodedata.normalize("NFKC", cell).strip(' "\t\r\n')
                if begin.startswith(("=", "+", "-", "@")):
                    return True
    return False


def has_link(text: str, *, may_have_angles: bool) -> bool:
    bare = r"(?<!\\)(?:\\\\)*"
    if re.search(r"\]\(", text) or re.search(bare + r"[\[\]]", text):
        return True
    return not may_have_angles and bool(re.search(bare + r"<[A-Za-z][A-Za-z0-9+.-]*:", text))


def strike(form: str, evil: str) -> bool:
    """Whether the text has its effect."""
    line = line_of("db01")
    for name in ("title", "why", "fix", "running"):
        line["findings"][0][name] = evil
    text = formats.text_of(merge([line]), form, strict=False)
    if form == "csv":
        return is_calculated(text) or "\u202e" in text
    if form == "sarif":
        (run,) = json.loads(text)["runs"]
        messages = [run["results"][0]["message"]["text"]]
        messages.append(run["tool"]["driver"]["rules"][0]["shortDescription"]["text"])
        return any(
            has_link(message, may_have_angles=False) or re.search(r"(?<!\{)\{\d+\}", message)
            for message in messages
        )
    cells = text.replace("| --- |", "").replace(" --- |", "")
    return has_link(cells, may_have_angles=False) or "https://evil" in cells


def attempts(rng: Random, number: int) -> Iterator[family.Outcome]:
    while True:
        form = rng.choice(("csv", "sarif", "markdown"))
        evil = text_of(rng)
        result = family.WON if strike(form, evil) else family.CONTAINED
        yield family.Outcome(f"a text of a host in {form}", result, evil)


if __name__ == "__main__":
    family.main(attempts)
