"""Which form of the payload a task sends."""

import base64
import json
import sys
import zlib
from typing import Any

from cases import cases
from hostproof_controller.remote import payload
from hostproof_controller.remote.host_action import PayloadAction


class Asked(PayloadAction):
    """A task on the controller itself, whose "host" gives these answers one after the other."""

    runs_here = True
    task_name = "verify_controls"

    def __init__(self, *answers: dict[str, Any]) -> None:
        self.answers = list(answers)
        self.forms: list[str] = []

    def _send(self, interpreter, params, controls, form, compiled):
        self.forms.append(form)
        return self.answers.pop(0), "MARK"


def answer(**content: Any) -> dict[str, Any]:
    packed = base64.b64encode(zlib.compress(json.dumps(content).encode())).decode()
    return {"rc": 0, "stdout": f"MARK{packed}MARK", "stderr": ""}


UNUSABLE = {"rc": payload.UNUSABLE, "stdout": "", "stderr": ""}


@cases(
    "answers forms",
    ([answer(findings=[])], ["compiled"]),
    # Another Python, or a user who may not read the cache.
    ([UNUSABLE, answer(findings=[])], ["compiled", "lzma"]),
    ([UNUSABLE, UNUSABLE, answer(findings=[])], ["compiled", "lzma", "zlib"]),
)
def test_the_sources_follow_where_the_compiled_code_is_unusable(answers, forms):
    task = Asked(*answers)
    assert task._ask_payload(sys.executable, {}, ["io_pacing"]) == {"findings": []}
    assert task.forms == forms


def test_another_host_gets_the_sources_at_once():
    task = Asked(answer(findings=[]))
    task.runs_here = False
    task._ask_payload(sys.executable, {}, ["io_pacing"])
    assert task.forms == ["lzma"]


@cases(
    "python form",
    ("/usr/bin/another-python", "lzma"),
    ("/opt/python3.6", "lzma"),
    # Bytecode is the same in all releases of a version, such as 3.11.2 and 3.11.7.
    ("/opt/python{0}.{1}".format(*sys.version_info), "compiled"),
)
def test_another_python_of_the_controller_gets_what_it_can_use_at_once(python, form):
    """An audit is one execution."""
    task = Asked(answer(findings=[]))
    task._ask_payload(python, {}, ["io_pacing"])
    assert task.forms == [form]
