"""Commands that a host sends for its reader: what no control prints must not arrive as a command,
and what arrives must be one command for a shell, with the words that it shows."""

import importlib
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests/unit")]

importlib.import_module("conftest")  # puts the code where Ansible puts it

import family  # noqa: E402
from ansible.module_utils.hostproof.controls.registry import NAMES  # noqa: E402
from hostile_python import FINDING  # noqa: E402
from hostproof_controller.remote import response_validation  # noqa: E402
from test_commands import HOSTILE, PRINTED, TWISTS  # noqa: E402

SHARE = 20

OPTIONS = (
    *(" -e ansible_python_interpreter=/tmp/x", " -i /tmp/x.py", " --limit all", " -vvv", " -K"),
    *(" --become-method=x", " -t all", " --tags all", " -M /tmp", " --ssh-executable=/tmp/x"),
)
MARKS = tuple("\n\r\t\0\x1b;|&<>$`'\"\\(){}[]*?~#!%=-/ \u00a0\u202e\u2010\uff0d\uff1b\u0430")
#: The lines that are more than words to a shell, as controls print them.
WITH_MARKS = ("dmesg | grep -i nfs", "grep -l huge /proc/[0-9]*/numa_maps")


def twisted(rng: Random) -> str:
    line = rng.choice(PRINTED + HOSTILE)
    for _ in range(rng.randrange(4)):
        place = rng.randrange(len(line) + 1)
        piece = rng.choice((*TWISTS, *OPTIONS, *MARKS, *MARKS))
        kind = rng.randrange(3)
        if kind == 0:
            line = line[:place] + piece + line[place:]
        elif kind == 1:
            line += piece
        else:
            line = line[:place] + piece + line[place + 1 :]
    return line


def is_one_command(line: str) -> bool:
    """Whether a shell takes it for one program with words, or for a line that controls print."""
    if line in WITH_MARKS:
        return True
    if not line.isprintable():
        return False
    if line.startswith("printf "):
        text, _, target = line.rpartition(" ")
        text = text.removesuffix(" >>").removesuffix(" >")
        if target not in ("/etc/fstab", "/etc/sysctl.d/90-dirty.conf"):
            return False
        line = text
    lexer = shlex.shlex(line, posix=False, punctuation_chars=True)
    lexer.whitespace_split = True
    lexer.commenters = ""
    try:
        words = list(lexer)
    except ValueError:
        return False
    if not words:
        return False
    if any(set(word) <= set("();<>|&") or ("$" in word and word[0] != "'") for word in words):
        return False
    if words[0] == "./hostproof":
        if len(words) != 4:
            return False
        verb, option, names = words[1:]
        return verb in ("apply", "audit") and option == "--tags" and {*names.split(",")} <= {*NAMES}
    return "hostproof " not in line and "`" not in line


def strike(rng: Random, line: str) -> str:
    """Whether the line arrives, as the command of a finding."""
    before = ["umount /u01"] if rng.random() < 0.3 else []
    answer = {"findings": [{**FINDING, "commands": [*before, line]}]}
    (finding,) = response_validation.checked("verify_controls", answer)["findings"]
    if not finding["commands"]:
        return family.REFUSED if "commands" in finding["why"] else family.WON
    return family.CONTAINED if is_one_command(line) else family.WON


def strike_prose(line: str) -> str:
    """Whether a call of ./hostproof with options arrives as advice."""
    advice = f"as root: ./hostproof {line}"
    answer = {"findings": [{**FINDING, "fix": advice}]}
    (finding,) = response_validation.checked("verify_controls", answer)["findings"]
    if finding["fix"] is None:
        return family.REFUSED
    shown = finding["fix"].partition("./hostproof ")[2]
    has_option = any(word.startswith("-") and word != "--tags" for word in shown.split())
    return family.WON if has_option or shown.split()[0] == "revert" else family.CONTAINED


def attempts(rng: Random, number: int) -> Iterator[family.Outcome]:
    while True:
        if rng.random() < 0.8:
            line = twisted(rng)
            yield family.Outcome("a command of a finding", strike(rng, line), line)
        else:
            line = rng.choice(("apply", "audit", "revert", "record", "test", "latency"))
            line += "".join(rng.sample(OPTIONS, rng.randrange(1, 3)))
            yield family.Outcome("a command in advice", strike_prose(line), line)


if __name__ == "__main__":
    family.main(attempts)
