"""What a hostile host may answer: an "interpreter" that plays it, and the names of its answers.

As a program it is called as Ansible calls an interpreter, after the name of what it should play:
``python hostile_python.py NAME PROOF -sSE -c CODE``. It reads the payload and the request, and
answers. Without pipelining Ansible names a file of its own in the place of CODE, and the answer is
bare JSON. As an ssh it is called ``hostile_python.py NAME ...`` too.
"""

import json
import os
import re
import sys
import time
import zlib
from base64 import b64encode
from collections.abc import Callable
from typing import Any

FINDING = {
    "control": "hugepages",
    "check": "hugepages.pool_covers_sga",
    "title": "The pool covers the SGA",
    "status": "fail",
    "severity": "critical",
    "desired": "1",
    "persisted": "1",
    "running": "0",
    "in_use": None,
    "takes_effect": "now",
    "why": "It does not.",
    "fix": "raise it:",
    "reference": "docs/controls/hugepages.md",
    "evidence": [],
    "waiver": None,
    "values": None,
    "commands": [],
    "because_of": [],
    "problem": None,
    "failing_layer": None,
}
TEMPLATE = (
    "{{ lookup('ansible.builtin.pipe', 'touch PROOF') }}{% for a in [1] %}{{ 6 * 7 }}{% endfor %}"
)
WAIVER = {"owner": "me", "reason": "mine", "expires": "2999-01-01", "was": "fail"}


def finding(**changes: Any) -> dict[str, Any]:
    return {"findings": [{**FINDING, **changes}]}


def with_number(text: str) -> bytes:
    return json.dumps(finding(values={"pages": "NUMBER"})).replace('"NUMBER"', text).encode()


def without(name: str) -> dict[str, Any]:
    return {"findings": [{key: value for key, value in FINDING.items() if key != name}]}


def nested(depth: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    return value


#: Name to the JSON of an answer; each is that host's error.
REFUSED: dict[str, Any] = {
    "list": [],
    "text": "findings",
    "null": None,
    "nothing": {},
    "findings_dict": {"findings": {"0": FINDING}},
    "findings_text": {"findings": "all fine"},
    "many": {"findings": [FINDING] * 20_001},
    "values_many": b'{"findings": [' + b"[]," * 1_500_000 + b"[]]}",
    "deep": b'{"findings": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "digits": with_number("9" * 10_000),
    "cut": b'{"findings": [',
    "bytes": b"\xff\xfe\x00",
    "crashed": {"failed": True, "crashed": "X: \x1b[2J" + TEMPLATE, "exception": TEMPLATE},
    "failed": {"failed": True, "msg": "no: \x1b[2J" + TEMPLATE},
}
#: Those of which one field is left out, and that field; "check" where the whole finding is unknown.
MENDED: dict[str, tuple[Any, str]] = {
    "findings_of_texts": ({"findings": ["pass"]}, "check"),
    "status": (finding(status="passed"), "status"),
    "status_list": (finding(status=["pass"]), "status"),
    "severity": (finding(severity="none"), "severity"),
    "why_number": (finding(why=7), "why"),
    "why_long": (finding(why="x" * 200_000), "why"),
    "check_of_another": (finding(check="latency.disk"), "check"),
    "check_path": (finding(check="hugepages.../../x"), "check"),
    "unknown_key": (finding(ansible_facts={}), "ansible_facts"),
    "missing_key": ({"findings": [{"control": "hugepages"}]}, "check"),
    "missing_status": (without("status"), "status"),
    "missing_commands": (without("commands"), "commands"),
    "evidence_of_finding": (finding(evidence=[7]), "evidence"),
    "commands": (finding(commands="rm -rf /"), "commands"),
    "commands_deep": (finding(commands=nested(40)), "commands"),
    "command_not_known": (finding(commands=["rm -rf /"]), "commands"),
    "command_for_the_controller": (
        finding(commands=["umount /u01", "./hostproof revert; touch PROOF"]),
        "commands",
    ),
    "command_by_substitution": (finding(commands=["./hostproof audit $(touch PROOF)"]), "commands"),
    "command_with_variable": (
        finding(commands=["./hostproof apply -e ansible_python_interpreter=/tmp/x"]),
        "commands",
    ),
    "fix_with_variable": (
        finding(fix="run ./hostproof apply --tags hugepages -e ansible_python_interpreter=/tmp/x"),
        "fix",
    ),
    "values_nested": (finding(values={"a": {"b": 1}}), "values"),
    "digits_400": (with_number("9" * 400), "values"),
    "infinite": (with_number("Infinity"), "values"),
    "no_number": (with_number("NaN"), "values"),
    "overflow": (with_number("1e999"), "values"),
    "waived": (finding(status="waived", waiver=WAIVER), "status, waiver"),
    "waiver_alone": (finding(waiver=WAIVER), "waiver"),
}
#: Those that are taken, and what of them has no effect.
TAKEN: dict[str, Any] = {
    "facts": {
        **finding(),
        "ansible_facts": {
            "hostproof_waivers": "/tmp/waivers.yml",
            "hostproof_strict": False,
            "ansible_python_interpreter": "/tmp/evil",
        },
        "_ansible_verbose_always": True,
        "_ansible_delegated_vars": {"ansible_host": "evil"},
        "warnings": ["evil warning"],
        "deprecations": [{"msg": "evil warning", "version": "9"}],
        "exception": "evil warning",
        "invocation": {"module_args": "evil warning"},
        "skipped": "yes",
        "failed": "yes",
        "unreachable": True,
        "add_host": {"host_name": "evil"},
    },
    "template": finding(why=TEMPLATE, title=TEMPLATE, fix=TEMPLATE, desired=TEMPLATE),
    "controls": finding(why="\x1b[31mred\x07\x9b2J‮", title="a\rb"),
    # The evidence beside the findings is left out, and the findings hold.
    "evidence_number": {"findings": [FINDING], "evidence": 7},
    "evidence_deep": {"findings": [FINDING], "evidence": nested(40)},
    "own_drop_in": finding(
        commands=["grep -n nr_hugepages /etc/sysctl.d/99-zz-hostproof-hugepages.conf"]
    ),
    "surrogate": json.dumps(finding(why="\ud800 and \udcff")).encode(),
}
ANSWERS = {**REFUSED, **TAKEN, **{name: answer for name, (answer, _) in MENDED.items()}}
#: What a recording may answer; no pack is written of any.
RECORDS: dict[str, Callable[[], Any]] = {
    "record_nothing": lambda: {},
    "record_number": lambda: {"evidence": 7},
    "record_no_base64": lambda: {"evidence": "????"},
    "record_list": lambda: recorded(b"[]"),
    "record_bomb": lambda: recorded(b'{"a": "' + b" " * (70 << 20) + b'"}'),
    "record_values": lambda: recorded(b'{"a": [' + b"[]," * 1_500_000 + b"[]]}"),
    "record_deep": lambda: recorded(b'{"a": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"),
    "record_digits": lambda: recorded(b'{"a": ' + b"9" * 10_000 + b"}"),
    "record_failed": lambda: {"failed": True, "msg": TEMPLATE},
}
#: Those that print something else; each is that host's error but the last two.
ODD = (
    *("silent", "exits", "one_mark", "no_base64", "bomb", "long", "closed", "sudo_says"),
    *("noise", "noise_after"),
)
#: Those that print without end, by any connection: to which stream, and what.
FLOODS = {
    "flood": (1, b"x" * (1 << 20)),
    "flood_lines": (1, b"\n" * (1 << 20)),
    "flood_errors": (2, b"x" * (1 << 20)),
}
#: Without pipelining: what is printed around an answer.
AROUND = {
    "junk_before": (b"\x1b[2J evil\n[1, 2]\n", b""),
    "junk_after": (b"", b'\x1b[2J evil\n\xff\xfe\n{"failed": true}\n'),
}
FINE_THOUGH_ODD = ("noise", "noise_after")
NOISE = 'Welcome!\n{"changed": true, "findings": [], "ansible_facts": {"a": 1}}\n\x1b[2J==\n'


def packed(answer: Any) -> bytes:
    text = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
    return b64encode(zlib.compress(text))


def recorded(readings: bytes) -> dict[str, Any]:
    return {"evidence": packed(readings).decode()}


def say(*parts: bytes) -> None:
    for part in parts:
        sys.stdout.buffer.write(part)
    sys.stdout.buffer.flush()


def flood(number: int, piece: bytes) -> None:
    sys.stdin.buffer.read()
    with open(number, "wb", buffering=0, closefd=False) as stream:
        while True:
            stream.write(piece)


def by_module(name: str) -> None:
    """The answer as a module prints it."""
    answer = ANSWERS.get(name, finding())
    text = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
    before, after = AROUND.get(name, (b"", b""))
    say(before, b"\n", text.replace(b"PROOF", sys.argv[2].encode()), b"\n", after)


def main() -> None:
    name, code = sys.argv[1], sys.argv[-1]
    if name in FLOODS:
        flood(*FLOODS[name])
    if name == "hangs_ssh":
        time.sleep(600)
    length = re.search(r"read\((\d+)\)", code)
    if name == "closed":
        return
    if length is None:
        by_module(name)
        return
    sys.stdin.buffer.read(int(length[1]))
    mark = json.loads(sys.stdin.buffer.readline())[0].encode()
    sys.stdin.buffer.read()
    good = packed(finding())
    if name == "exits":
        sys.exit(76)
    elif name == "one_mark":
        say(mark, good)
    elif name == "no_base64":
        say(mark, b"????", mark)
    elif name == "bomb":
        say(mark, b64encode(zlib.compress(b'{"a": "' + b" " * (120 << 20) + b'"}')), mark)
    elif name == "long":
        say(mark, b"A" * ((48 << 20) + 1), mark)
    elif name == "sudo_says":
        sys.exit("Lecture.\nsudo: a password is required")
    elif name == "noise":
        say(NOISE.encode(), mark, good, mark, b"\n")
    elif name == "noise_after":
        say(b"\xff\xfe\n", mark, good, mark, b"\nbye\n", NOISE.encode())
    elif name == "hangs":
        sys.stdout.flush()
        time.sleep(600)
    elif name in ANSWERS or name in RECORDS:
        answer = RECORDS[name]() if name in RECORDS else ANSWERS[name]
        proof = os.path.join(os.path.dirname(sys.argv[2]), "proof") if len(sys.argv) > 4 else "x"
        text = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        say(mark, packed(text.replace(b"PROOF", proof.encode())), mark)


if __name__ == "__main__":
    main()
