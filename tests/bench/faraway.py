"""Hosts that are far away: a program in place of their Python, which answers after 150 ms.

What is left of a run's time is then the controller's own work, as with hosts that do theirs
elsewhere. The answer to an audit is a real one, of this machine, taken once: as large as any, and
checked like any. Where an audit asks for a window of seconds, the program waits that long.
"""

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from hostproof_controller import policies
from hostproof_controller.remote import payload

SOURCE = Path(__file__).with_name("faraway.c")
SECONDS = 0.15


class Unavailable(Exception):
    """There is nothing to build the program with; the message says what is missing."""


class Sent(NamedTuple):
    """What an audit sends to a host: a line for its shell, and what follows on standard input."""

    command: str
    text: bytes
    mark: str


def sent_by_an_audit(interpreter: str, names: Sequence[str] = (), window: float | None = 0) -> Sent:
    """As the action plugin sends it for those controls (all) with their defaults.

    ``window``: seconds in which rates are measured; None: each control's own.
    """
    names = names or controls()
    variables = {} if window is None else {"hostproof_window_seconds": window}
    result = policies.policies_of(names, variables, _no_template)
    params = {
        "controls": result.shown,
        "secrets": result.secret,
        "evidence": "cited",
        "evidence_pack": None,
        "result": "counts",
        "fail_on": "never",
    }
    code = payload.payload_for("verify_controls", names)
    request, mark = payload.request("verify_controls", params, check_mode=False, diff=False)
    command = payload.command(interpreter, code, payload.COMPRESSIONS[0])
    return Sent(command, code + request, mark)


def controls() -> list[str]:
    return list(policies.controls())


def _no_template(value: Any, variables: Any) -> Any:
    raise ValueError(f"a default of a role is a template: {value!r}")


class FarAway:
    """The program and what lies beside it, in ``folder``."""

    def __init__(self, folder: Path, real_python: str) -> None:
        compiler = shutil.which("cc") or shutil.which("gcc")
        if compiler is None:
            raise Unavailable("no C compiler here; install gcc")
        folder.mkdir()
        self.folder = folder
        self.python = folder / "python"
        define = f"-DSECONDS={SECONDS}"
        subprocess.run(
            [compiler, "-std=gnu11", "-O2", "-Wall", "-Werror", define, "-o", self.python, SOURCE],
            check=True,
        )
        (folder / "answer").write_text(self._answer_of_this_machine(real_python))

    def _answer_of_this_machine(self, python: str) -> str:
        sent = sent_by_an_audit(python)
        output = subprocess.run(
            ["/bin/sh", "-c", sent.command], input=sent.text, stdout=subprocess.PIPE, check=True
        ).stdout.decode("ascii")
        answer = payload.answer_in(output, sent.mark)
        if not answer.get("findings"):
            raise SystemExit(f"this machine cannot be judged: {answer}")
        return output.split(sent.mark)[1]

    def host_variables(self) -> dict[str, object]:
        return {"ansible_connection": "local", "ansible_python_interpreter": str(self.python)}

    def start_counting(self) -> None:
        """From now on the program notes what it is sent."""
        (self.folder / "bytes").mkdir()

    def end_counting(self) -> list[int]:
        """How many bytes each of its runs got since."""
        folder = self.folder / "bytes"
        sizes = [int(path.read_text()) for path in folder.iterdir()]
        shutil.rmtree(folder)
        return sizes
