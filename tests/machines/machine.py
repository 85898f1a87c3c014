"""A machine as the tests of a scenario see it: what it looks like, and Hostproof run against it."""

import io
import json
import os
import re
import shlex
import subprocess
import sys
import tarfile
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from . import direct
from .direct import TOOLS
from .needs import ROOT

Finding = dict[str, Any]

#: Seconds for one module.
MODULE_SECONDS = 300

#: Everything that persists a setting, with owner and mode, and then content. Times do not count.
ATTRIBUTES = "cd / && find etc -xdev -printf '%p\\t%y %#m %U:%G %l\\n'"
CONTENTS = "cd / && find etc -xdev -type f -exec sha256sum {} +"

VALUES = {
    "pool": "/proc/sys/vm/nr_hugepages",
    "group": "/proc/sys/vm/hugetlb_shm_group",
    "transparent": "/sys/kernel/mm/transparent_hugepage/enabled",
}


class Run(NamedTuple):
    """What one ansible-playbook did. ``findings`` is what it judged, empty if it judged nothing."""

    rc: int
    output: str
    findings: list[Finding]

    @property
    def changed(self) -> int:
        """How many tasks changed something, as Ansible's recap counts."""
        return sum(map(int, re.findall(r"\bchanged=(\d+)", self.output)))

    def statuses(self) -> dict[str, str]:
        """Finding to status. A finding of one of several instances begins with its SID."""
        return {name_of(finding): finding["status"] for finding in self.findings}

    def finding(self, name: str) -> Finding:
        """The finding of that name, as ``statuses`` names it."""
        return next(finding for finding in self.findings if name_of(finding) == name)

    def worse_than_pass(self) -> dict[str, str]:
        """What an operator would have to look at."""
        return {
            name: status
            for name, status in self.statuses().items()
            if status not in ("pass", "skip")
        }


def name_of(finding: Finding) -> str:
    """The check, after the SID or account where there is one finding for each."""
    who, colon, _title = finding["title"].partition(": ")
    return f"{who} {finding['check']}" if colon else str(finding["check"])


def play(inventories: list[Path], playbook: str, *options: str, **variables: Any) -> Run:
    """Run ``playbooks/<playbook>.yml``; ``variables`` are extra variables."""
    command = [str(Path(sys.executable).with_name("ansible-playbook"))]
    command += [word for path in inventories for word in ("-i", str(path))]
    command += [str(ROOT / "playbooks" / f"{playbook}.yml"), *options, "-e", json.dumps(variables)]
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "report")
        environment = {
            **{name: value for name, value in os.environ.items() if "ANSIBLE_" not in name},
            # The product's own settings, not those that molecule wrote for its scenario.
            "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"),
            "ANSIBLE_NOCOLOR": "1",
            "HOSTPROOF_REPORT": str(report),
        }
        done = subprocess.run(
            command,
            cwd=ROOT,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=900,
        )
        lines = report / "findings.jsonl"
        text = lines.read_text() if lines.exists() else ""
    print(done.stdout)
    results = [json.loads(line) for line in text.splitlines()]
    return Run(done.returncode, done.stdout, [f for result in results for f in result["findings"]])


class Machine:
    """``command`` makes the argv that runs a shell command on the machine as root.

    ``play`` runs Hostproof as its users do. ``verify``, ``apply`` and ``revert`` run the modules of
    ``control`` alone, for a fraction of what a play costs (tests/machines/direct.py).
    """

    control: str
    #: The machine's Python.
    python = "python3"
    #: Whether modules run in forks of one process there (tests/machines/preloaded.py), which is for
    #: a machine that is emulated. Plays always start a Python of their own.
    preloads = False

    def __init__(self, command: Callable[[str], list[str]], inventory: Path) -> None:
        self._command = command
        self._inventory = inventory
        self._has_modules = False
        self._preloaded: subprocess.Popen[bytes] | None = None

    @property
    def inventories(self) -> list[Path]:
        """What a play is given with -i."""
        return [self._inventory]

    def run(self, command: str, *, timeout: float = 300) -> str:
        """What a command prints; the test fails if the command does."""
        done = subprocess.run(
            self._command(command),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=timeout,
        )
        assert done.returncode == 0, f"{command}: {done.returncode}\n{done.stdout}{done.stderr}"
        return done.stdout

    def play(self, playbook: str, *options: str, **variables: Any) -> Run:
        """Run one of Hostproof's playbooks against the machine."""
        return play(self.inventories, playbook, *options, **variables)

    def module(self, name: str, /, **arguments: Any) -> dict[str, Any]:
        """Run one of Hostproof's modules on the machine; what it answers."""
        if not self._has_modules:
            self.unpack(direct.archive())
            self._has_modules = True
        request = direct.request(**arguments)
        out, err = (self._forked if self.preloads else self._started)(name, request)
        print(name, out, err)
        answer: dict[str, Any] = json.loads(out)
        return answer

    def _started(self, name: str, request: bytes) -> tuple[str, str]:
        """Run a module by a Python of its own; what it printed."""
        code = f"{direct.RUN}({name!r})"
        command = self._command(f"{self.python} -c {shlex.quote(code)}")
        done = subprocess.run(command, input=request, capture_output=True, timeout=MODULE_SECONDS)
        return done.stdout.decode(), done.stderr.decode()

    def _forked(self, name: str, request: bytes) -> tuple[str, str]:
        """Run a module by a fork of the machine's preloaded Python; what it printed."""
        if self._preloaded is None or self._preloaded.poll() is not None:
            # None runs yet, or it ended with the machine's last boot.
            self.send(Path(direct.__file__).with_name("preloaded.py"))
            code = f"{direct.PATH}; import runpy; runpy.run_path({TOOLS + '/preloaded.py'!r}, "
            code += "run_name='__main__')"
            self._preloaded = subprocess.Popen(
                self._command(f"{self.python} -c {shlex.quote(code)}"),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
            )
        process = self._preloaded
        assert process.stdin and process.stdout
        too_late = threading.Timer(MODULE_SECONDS, process.kill)
        too_late.start()
        try:
            line = json.dumps({"module": name, "input": request.decode()})
            process.stdin.write(line.encode() + b"\n")
            process.stdin.flush()
            answer = process.stdout.readline()
        finally:
            too_late.cancel()
        assert answer, f"the preloaded Python ended while it ran {name}"
        reply = json.loads(answer)
        return reply["out"], reply["err"]

    def verify(self, **variables: Any) -> Run:
        """What the module judges with the control's policy, changed by these variables."""
        policy = direct.policy(self.control, self._inventory, **variables)
        answer = self.module("verify_controls", controls={self.control: policy})
        findings = answer["findings"]
        bad = any(finding["status"] in ("fail", "error") for finding in findings)
        return Run(2 if bad else 0, json.dumps(answer), findings)

    def apply(self, *, check: bool = False, **variables: Any) -> Run:
        """What the module changes or refuses, and its verify after that, unless it only checks."""
        policy = direct.policy(self.control, self._inventory, **variables)
        answer = self.module(
            "apply_control", control=self.control, policy=policy, _ansible_check_mode=check
        )
        if answer.get("failed"):
            return Run(2, said(answer), [])
        after = Run(0, "", []) if check else self.verify(**variables)
        return Run(after.rc, said(answer), after.findings)

    def revert(self, *, check: bool = False) -> Run:
        """What the module puts back."""
        answer = self.module("revert_control", control=self.control, _ansible_check_mode=check)
        return Run(2 if answer.get("failed") else 0, said(answer), [])

    def kill_at_each_step(self, action: str, *which: str, **variables: Any) -> str:
        """Run molecule/lab/kill_at_each_step.py on the machine; what it says."""
        self.send_killer(**variables)
        tool = f"{self.python} {TOOLS}/kill_at_each_step.py"
        return self.run(f"{tool} {action} {self.control} {' '.join(which)}", timeout=900)

    def send_killer(self, **variables: Any) -> None:
        """Put it on the machine, with the policy that it carries out."""
        self.send(ROOT / "molecule/lab/kill_at_each_step.py", ROOT / "module_utils/hostproof")
        policy = json.dumps(direct.policy(self.control, self._inventory, **variables))
        self.run(f"cat > {TOOLS}/policy.json <<'EOF'\n{policy}\nEOF")

    def values(self) -> dict[str, str]:
        """The kernel's values that the control hugepages sets."""
        lines = self.run(f"cat {' '.join(VALUES.values())}").splitlines()
        return dict(zip(VALUES, lines, strict=True))

    def files(self) -> dict[str, str]:
        """Path to attributes and hash of everything under /etc."""
        attributes, contents = self.run(f"{ATTRIBUTES}; echo ---; {CONTENTS}").split("---\n")
        seen = dict(line.split("\t", 1) for line in attributes.splitlines())
        for line in contents.splitlines():
            digest, _, path = line.partition("  ")
            seen[path] += digest
        return {f"/{path}": state for path, state in seen.items()}

    def send(self, *sources: Path) -> None:
        """Put files and folders into TOOLS, in one stream."""
        content = io.BytesIO()
        with tarfile.open(fileobj=content, mode="w:gz") as archive:
            for source in sources:
                archive.add(source, source.name, filter=without_caches)
        self.unpack(content.getvalue())

    def unpack(self, archive: bytes) -> None:
        """Put what a compressed tar holds into TOOLS."""
        unpack = f"mkdir -p {TOOLS} && tar -xzf - --no-same-owner -C {TOOLS}"
        subprocess.run(self._command(unpack), input=archive, check=True, timeout=300)

    def start_instance(self, sid: str, sga: str, pages: str, *, login: str) -> None:
        """Start a stand-in of an instance by a command that takes on oracle's identity."""
        self.start_stand_in(sid, f"--sga {sga} --pages {pages}", login=login)

    def start_stand_in(self, sid: str, arguments: str, *, login: str) -> None:
        """Start a stand-in of one of an instance's processes (tests/standins/instance.py)."""
        start = f"setsid -f {TOOLS}/instance.py --sid {sid} {arguments}"
        self.run(f"{login} '{start} >/tmp/{sid}.log 2>&1'")
        output = self.run(
            f"for i in $(seq 60); do grep -q . /tmp/{sid}.log && break; sleep 0.5; done; "
            f"cat /tmp/{sid}.log"
        )
        assert output.startswith("ready"), output

    def stop_instance(self, sid: str) -> None:
        """Stop a stand-in and wait until it is gone, with its segment and what it held."""
        name = f"^ora_[a-z0-9]+_{sid} "
        self.run(f"pkill -f '{name}'; while pgrep -f '{name}' >/dev/null; do sleep 0.2; done")


def said(answer: dict[str, Any]) -> str:
    """A module's answer, with what Ansible's recap would count."""
    return f"changed={int(answer.get('changed', False))} {json.dumps(answer, ensure_ascii=False)}"


def without_caches(member: tarfile.TarInfo) -> tarfile.TarInfo | None:
    return None if "__pycache__" in member.name else member
