# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The check of Hostproof for a requirement of CVU or ORAchk, by name or number of the message.

requirements.tsv has a row for each requirement. Its column ``reference`` lists names of tasks
(CVU), numbers of messages (CVU) and names after the word ORAchk. A part in <> is any text.
"""

import csv
import functools
import re
from pathlib import Path

TABLE = Path(__file__).with_name("requirements.tsv")
_NUMBER = re.compile(r"PR[A-Z]{2}-\d+")
_ANY = re.compile(r"<[^>]*>")


@functools.cache
def _table() -> tuple[dict[str, str], dict[str, str], list[tuple[re.Pattern[str], str]]]:
    """Checks by number, name and pattern of a name. A number of several checks is left out."""
    numbers: dict[str, set[str]] = {}
    names: dict[str, str] = {}
    patterns = []
    with TABLE.open(encoding="utf-8") as stream:
        for row in csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE):
            check = row["checks"].partition(" ")[0]
            for reference in row["reference"].split("; ") if check else ():
                if _NUMBER.fullmatch(reference):
                    numbers.setdefault(_plain(reference), set()).add(check)
                    continue
                name = _plain(reference.removeprefix("ORAchk ")).removesuffix(" check")
                if _ANY.search(name):
                    parts = [re.escape(part) for part in _ANY.split(name)]
                    if not any(map(str.isalnum, "".join(parts))):
                        continue  # "'<path>'" is the name of tasks of several requirements
                    patterns.append((re.compile(".+".join(parts)), check))
                else:
                    names.setdefault(name, check)
    clear = {number: checks.pop() for number, checks in numbers.items() if len(checks) == 1}
    return clear, names, patterns


def _plain(text: str) -> str:
    """Without case, and numbers without leading zeros: PRVF-04123 is PRVF-4123."""
    return re.sub(r"(?<=-)0+(?=\d)", "", " ".join(text.lower().split()))


#: Only a hostile file has a longer name.
_LONGEST = 200


@functools.lru_cache(maxsize=4096)
def check_of(name: str, subject: str = "", numbers: tuple[str, ...] = ()) -> str:
    """The check; "" if there is none. The number of a message is more exact than a name."""
    by_number, by_name, patterns = _table()
    for number in numbers:
        if _plain(number) in by_number:
            return by_number[_plain(number)]
    name = _plain(name[:_LONGEST]).removesuffix(" check")
    # The name in CVU before 12.2 is "Kernel parameter check".
    name = f"os {name}" if name == "kernel parameter" else name
    for text in (f"{name}: {_plain(subject[:_LONGEST])}", name):
        if text in by_name:
            return by_name[text]
        for pattern, check in patterns:
            if pattern.fullmatch(text):
                return check
    return ""
