"""No pattern that looks at what a host holds takes the square of its length: an account that writes
a long file would hold up the audit. Judged by how the time grows, never by how long it is."""

import importlib
import pkgutil
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import ansible.module_utils.hostproof as code
import pytest
from ansible.module_utils.hostproof.collect import guarded
from ansible.module_utils.hostproof.controls.block_devices.parsers import dm_multipath
from ansible.module_utils.hostproof.parsers.shell import started_commands
from ansible.module_utils.hostproof.parsers.systemd import tuned
from ansible.module_utils.hostproof.probes.nfs import automounts
from ansible.module_utils.hostproof.probes.systemd import boot_scripts
from cases import cases

try:
    from re import _parser as parser  # type: ignore[attr-defined]
except ImportError:
    import sre_parse as parser

#: Characters of the short text; the long one has so many times as many.
SHORT, TIMES = 1000, 8
#: What is quadratic grows by TIMES * TIMES; the rest is room for noise.
MOST_GROWTH = TIMES * TIMES // 2
#: Seconds of processor time that can be told from noise.
MEASURABLE = 0.004

PIECES = ("\n", " ", " \n", "a", "1", '"')

#: Tried once where a word begins; at most 4,000 characters a place.
BOUNDED = {
    "parsers.shell.shell_words._NUMBERED",
    "controls.time_sync.parsers.unit_properties._ARGV",
}


def patterns() -> Iterator[tuple[str, re.Pattern[Any], bool]]:
    """Every compiled pattern of the code that travels: its name, and whether it is only tried at
    the beginning of a text (match)."""
    seen = set()
    for info in pkgutil.walk_packages(code.__path__, code.__name__ + "."):
        module = importlib.import_module(info.name)
        source = Path(module.__file__ or "").read_text()
        for name, value in vars(module).items():
            label = f"{info.name[len(code.__name__) + 1 :]}.{name}"
            matched = re.search(rf"\b{name}\.(?:full)?match\b", source) is not None
            searched = re.search(rf"\b{name}\.(?:search|sub|split|find)", source) is not None
            for item in flattened(value):
                if isinstance(item, re.Pattern) and item not in seen and label not in BOUNDED:
                    seen.add(item)
                    yield label, item, matched and not searched


def flattened(value: Any) -> Iterator[Any]:
    if isinstance(value, (tuple, list)):
        for item in value:
            yield from flattened(item)
    elif isinstance(value, dict):
        yield from flattened(list(value.values()))
    else:
        yield value


def first_text(pattern: re.Pattern[Any]) -> str:
    """What every match begins with."""
    prefix = ""
    for kind, value in parser.parse(pattern.pattern, pattern.flags):
        if str(kind) == "LITERAL":
            prefix += chr(value)
        elif str(kind) != "AT":
            break
    return prefix


def is_linear(look: Callable[[str], Any], piece: str) -> bool:
    def seconds(length: int, tries: int = 1) -> float:
        text = piece * (length // len(piece))
        took = []
        for _ in range(tries):
            began = time.process_time()
            look(text)
            took.append(time.process_time() - began)
        return min(took)

    if seconds(SHORT * TIMES) < MEASURABLE:
        return True
    # Beside other work one measurement can be off: what is quadratic is so each time.
    return any(
        seconds(SHORT * TIMES, 2) <= MOST_GROWTH * max(seconds(SHORT, 3), 1e-5) for _ in range(3)
    )


@pytest.mark.long
def test_every_pattern():
    tried = 0
    slow = []
    for name, pattern, at_start in patterns():
        first = first_text(pattern)
        pieces = [*PIECES, *((first, first + " ", first + "\n", first + "a") if first else ())]
        method = pattern.match if at_start else pattern.search
        is_bytes = isinstance(pattern.pattern, bytes)
        for piece in pieces:
            tried += 1
            if not is_linear(
                lambda text, use=method, raw=is_bytes: use(text.encode() if raw else text), piece
            ):
                slow.append(f"{name} of {piece!r}")
    assert slow == []
    assert tried > 2000


@cases(
    "look piece",
    (dm_multipath.polling_interval, "\n"),
    (dm_multipath.polling_interval, "polling_interval \n"),
    (lambda text: automounts._setting([text], "map_object_class"), "\n"),
    (lambda text: automounts._setting([text], "map_object_class"), "map_object_class \n"),
    (boot_scripts._UNSURE.search, "\n"),
    (boot_scripts._UNSURE.search, "Before\n"),
    (guarded._INST_GROUP.search, "\n"),
    (guarded._INST_GROUP.search, "inst_group = \n"),
    (started_commands.of_udev, "SYSCTL{"),
    (started_commands.of_udev, "RUN "),
    (started_commands.of_udev, 'RUN+="'),
    (lambda text: tuned.parse_profile(f"[main]\ninclude=a{text}b\n", "x"), " "),
)
def test_what_was_quadratic(look, piece):
    assert is_linear(look, piece)


def test_a_quadratic_pattern_is_found():
    assert not is_linear(re.compile(r"^\s*never", re.MULTILINE).search, "\n")
