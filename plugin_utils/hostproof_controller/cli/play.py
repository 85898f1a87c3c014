# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The verbs that run a playbook: its options, its directories, and what its end means."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ansible.module_utils.hostproof.collect.bounded import open_regular

from ..layout import WORKPLACE
from ..report.terminal import TERMINAL, Terminal, has_colors
from ..report.verdict import EXIT_FAILED, EXIT_NOT_DATABASE_HOST, EXIT_UNREACHABLE
from ..runs import now
from ..slices import termination
from . import forks
from .ansible_options import LIST_ONLY, AnsibleOptions
from .environment import ROOT, child_environment, default_inventories, environment_folder
from .errors import EXIT_INTERRUPTED, EXIT_USAGE, Refused, complain
from .suggestions import did_you_mean, quoted

#: What checks: its report decides the exit code.
WITH_REPORT = ("audit", "verify", "apply", "compare")

#: Tags of tasks in playbooks/tasks/report.yml that a run of the command does not need: the task
#: that fails hosts by their verdict, and those for AWX and for other callbacks.
NOT_NEEDED = "verdicts_of_hosts,outside_command"

#: Tags that Ansible gives a meaning.
SPECIAL_TAGS = ("all", "always", "never", "tagged", "untagged")

_EXIT_CODE = re.compile(rb'^ *"exit_code": ([0-9]+),?$', re.MULTILINE)
#: The exit code is on one of the first lines of report.json.
_HEAD = 65536
#: The result of a command without a report, and the variable of its directory.
_RESULTS = {
    "record": ("Evidence", "HOSTPROOF_RECORD"),
    "baseline": ("Baseline", "HOSTPROOF_BASELINE"),
}


@dataclass(kw_only=True)
class _Options:
    """Hostproof's own options of a run; what a command does not have keeps its default.

    ``gate`` is True for apply, and the directory of a gate for revert.
    """

    checks: tuple[str, ...] = ()
    skip_checks: tuple[str, ...] = ()
    set: tuple[str, ...] = ()
    waivers: str | None = None
    strict: bool = False
    evidence: str | None = None
    baseline: str | None = None
    gate: bool | str | None = None
    slices: str | None = None
    slice_nodes: str | None = None
    severity: str | None = None
    fail_on: str | None = None
    target_release: str | None = None
    target_os: str | None = None
    profile: str | None = None


class Play:
    """A run of the playbook of a command. Everything is checked before anything runs.

    ``quiet``: do not print the summary, or the directory of the results.
    """

    def __init__(
        self, command: str, ansible: AnsibleOptions, *, quiet: bool = False, **values: Any
    ) -> None:
        self.command = command
        self.ansible = ansible = _with_variables(_with_selection(ansible, values), values)
        self.quiet = quiet
        self.options = options = _Options(**values)
        self.gate = options.gate not in (None, False)
        self.evidence = _passed_on("--evidence", options.evidence)
        self.waivers = _passed_on("--waivers", options.waivers)
        self.baseline = _passed_on("--baseline", options.baseline)
        self.lists_only = ansible.has(*LIST_ONLY)
        self.environment = child_environment()
        self._convert_archives()
        self.environment[TERMINAL] = json.dumps(self._terminal()._asdict())
        self.variables = self._variables()
        self._refuse_unknown_tags()
        self._validate_waivers()
        self._validate_inventories()
        forks.requested(ansible.last("forks"), self.environment)
        ansible.refuse_errors()
        self.slicing = None
        if options.slices is not None or options.slice_nodes is not None:
            # Only slices need what it imports.
            from .slicing import slicing_of

            self.slicing = slicing_of(
                options.slices,
                options.slice_nodes,
                ansible,
                self.environment,
                has_evidence=self.evidence is not None,
            )

    def _convert_archives(self) -> None:
        """Make evidence packs of support archives, and audit these."""
        if self.evidence is None:
            return
        from ..archives import packs
        from ..archives.content import ArchiveError

        if self.evidence.suffix == ".json" and self.evidence.is_file():
            return
        try:
            archives = packs.archives_in(self.evidence)
            if archives:
                self._name_folder("HOSTPROOF_RECORD", "evidence")
                self.evidence = self._folder("HOSTPROOF_RECORD")
                packs.write(archives, self.evidence)
        except (ArchiveError, OSError) as problem:
            raise Refused(f"--evidence: {problem}") from None
        if archives and not self.quiet:
            print(f"Evidence: {self.evidence}", flush=True)

    def _terminal(self) -> Terminal:
        return Terminal(
            width=shutil.get_terminal_size((100, 24)).columns,
            verbose=self.ansible.has("verbosity"),
            quiet=self.quiet,
            severity=self.options.severity or Terminal().severity,
            fail_on=self.options.fail_on or Terminal().fail_on,
            color=has_colors(),
        )

    def run(self) -> int:
        """Run it; returns the exit code of the command."""
        named = self.ansible.has("inventory") or self.environment.get("ANSIBLE_INVENTORY")
        if self.command == "apply" and not (named or self.ansible.has("check") or self.lists_only):
            ask_for_this_machine()
        self.environment["ANSIBLE_CONFIG"] = str(ROOT / "ansible.cfg")
        words = [str(self._program), str(ROOT / f"playbooks/{self._playbook}.yml")]
        words += [*self._of_evidence(), *self._words()]
        if self.lists_only:
            os.execve(words[0], words, self.environment)
        self._ask_many_at_once()
        self._name_folders()
        code, interrupted = self._sliced() or _wait_for(words, self.environment)
        return self._ended(EXIT_INTERRUPTED if interrupted else code)

    def _ask_many_at_once(self) -> None:
        """Raise the forks of an audit, which waits for its hosts.

        Slices set their own forks, and an audit of evidence packs does not wait for hosts.
        """
        waits = self.command == "audit" and not (self.slicing or self.evidence)
        # An empty one says nothing, as in slices.
        chosen = self.ansible.has("forks") or self.environment.get("ANSIBLE_FORKS")
        if waits and not chosen and forks.are_ours(ROOT / "ansible.cfg"):
            many = forks.in_this_memory()
            self.environment.update({"ANSIBLE_FORKS": str(many)} if many else {})

    def _sliced(self) -> tuple[int, bool] | None:
        """The same of an audit in slices; None where it is in one piece."""
        if self.slicing is None:
            return None
        jobs = self.slicing.jobs()
        started = now()
        with _private():
            self._folder("HOSTPROOF_REPORT").mkdir(parents=True)
        with _interruptions() as interrupted:
            self.slicing.run(jobs, self.ansible, self.environment, started, interrupted)
        return 0, bool(interrupted)

    @property
    def _program(self) -> Path:
        return environment_folder() / "bin/ansible-playbook"

    @property
    def _playbook(self) -> str:
        gated = {"apply": "gate", "revert": "revert_gate"}
        return gated[self.command] if self.gate else self.command

    def _refuse_unknown_tags(self) -> None:
        """Reject unknown tags: a tag that selects nothing would end in a run without problems."""
        from ansible.module_utils.hostproof.controls.registry import NAMES

        known = (*NAMES, *SPECIAL_TAGS)
        for option in ("tags", "skip_tags"):
            for tag in ",".join(self.ansible.all(option)).split(","):
                if tag.strip() and tag.strip() not in known:
                    hint = did_you_mean(tag.strip(), known)
                    raise Refused(
                        f"--{option.replace('_', '-')}: there is no control "
                        f"{quoted(tag.strip())}{hint or '; there are ' + ', '.join(NAMES)}"
                    )

    def _validate_inventories(self) -> None:
        for name in self.ansible.all("inventory"):
            if "," not in name and not os.path.exists(name):
                directory, _, last = name.rstrip("/").rpartition("/")
                siblings: list[str] = []
                with contextlib.suppress(OSError):
                    siblings = os.listdir(directory or ("/" if name.startswith("/") else "."))
                raise Refused(f"-i: there is no {name}{did_you_mean(last, siblings)}")
        from hostproof_controller import inventories

        try:
            inventories.check(self._words(), self.environment.get("ANSIBLE_INVENTORY", ""))
        except inventories.Unsafe as problem:
            raise Refused(str(problem)) from None
        self._validate_own_checks()

    def _validate_waivers(self) -> None:
        if self.waivers is None:
            return
        from ansible.module_utils.hostproof.errors import HostproofError

        from ..report.waiver_file import load_waivers

        try:
            load_waivers(str(self.waivers))
        except HostproofError as problem:
            raise Refused(f"--waivers: {problem}") from None

    def _validate_own_checks(self) -> None:
        from ansible.module_utils.hostproof.errors import HostproofError

        from .. import custom_checks

        try:
            custom_checks.load(self._inventories())
        except HostproofError as problem:
            raise Refused(str(problem)) from None

    def _inventories(self) -> list[str]:
        """The inventories of this run."""
        named = list(self.ansible.all("inventory"))
        return named or default_inventories(self.environment)

    def _of_evidence(self) -> list[str]:
        if self.evidence is None:
            return []
        self.environment["HOSTPROOF_EVIDENCE"] = str(self.evidence)
        return ["-i", str(ROOT / "inventories/evidence.py")]

    def _words(self) -> list[str]:
        """The options of ansible-playbook, with the variables that Hostproof adds."""
        variables = ({name: value} for name, value in self.variables.items())
        # The exit code comes from the report, so that no task must fail the hosts.
        not_needed = ["--skip-tags", NOT_NEEDED] if self.command in WITH_REPORT else []
        return [
            *self.ansible.words(),
            *not_needed,
            *(word for variable in variables for word in ("-e", json.dumps(variable))),
        ]

    def _variables(self) -> dict[str, str | bool]:
        variables: dict[str, str | bool] = {}
        if self.waivers:
            variables["hostproof_waivers"] = str(self.waivers)
        if self.baseline:
            variables["hostproof_baseline"] = str(self.baseline)
        if self.options.strict:
            variables["hostproof_strict"] = True
        if isinstance(self.options.gate, str):
            value = self.options.gate
            if not os.path.exists(os.path.join(value, "gate.json")):
                raise Refused(f"--gate: {value} is not a directory of a gate (it has no gate.json)")
            variables["hostproof_gate"] = str(_passed_on("--gate", value))
        if self.evidence:
            is_pack = self.evidence.is_file()
            folder = self.evidence.parent if is_pack else self.evidence
            variables["hostproof_evidence_folder"] = str(folder)
            variables["ansible_connection"] = "local"
            variables["ansible_become"] = False
            variables["ansible_python_interpreter"] = str(environment_folder() / "bin/python")
        return variables

    def _name_folders(self) -> None:
        """The directories of this run; one that cannot be written is said before anything runs."""
        if self.command in WITH_REPORT:
            self._name_folder("HOSTPROOF_REPORT", "reports")
        if self.command == "record":
            self._name_folder("HOSTPROOF_RECORD", "evidence", make=False)
        if self.command in ("baseline", "compare") or (self.command, self.gate) == ("apply", True):
            self._name_folder("HOSTPROOF_BASELINE", "baselines")

    def _name_folder(self, variable: str, default: str, *, make: bool = True) -> None:
        parent = Path(self.environment.get(f"{variable}S") or WORKPLACE / default)
        if make:
            with _private(), contextlib.suppress(OSError):
                parent.mkdir(parents=True, exist_ok=True)
            if not os.access(parent, os.W_OK):
                raise Refused(f"{parent} cannot be written; set another directory in {variable}S")
        self.environment[variable] = str(parent.absolute() / new_name())

    def _folder(self, variable: str) -> Path:
        return Path(self.environment[variable])

    def _ended(self, code: int) -> int:
        """Our exit code. A run that was cut short, or that found no host, gets its report here."""
        if code == 99:
            code = EXIT_INTERRUPTED
        if code == 1 and self.ansible.has("subset") and self._limit_leaves_no_host():
            return EXIT_USAGE
        if (self.command, code) == ("apply", EXIT_NOT_DATABASE_HOST) and not self.gate:
            return self._ended_idle()
        judges = self.command in ("audit", "verify") or self.gate
        if code not in (0, 2, 4, EXIT_INTERRUPTED) and not (code == 1 and judges):
            return EXIT_USAGE
        if self.command in ("revert", "detect_storage", "record", "baseline"):
            self._name_result()
            return code
        return self._ended_with_report(code)

    def _name_result(self) -> None:
        """Print the directory of a command that has no report."""
        what, variable = _RESULTS.get(self.command, ("", ""))
        if what and not self.quiet and self._folder(variable).is_dir():
            print(f"{what}: {self._folder(variable)}", flush=True)

    def _ended_with_report(self, code: int) -> int:
        report = self._folder("HOSTPROOF_REPORT")
        if self.command == "apply":
            if self.gate and not self._finish_gate(report):
                return EXIT_USAGE
            if not report.is_dir():
                return code
        if not (report / "report.json").exists():
            # Ansible ends with 2 or 4 also where it could not parse something, before any host
            # was queried.
            if code in (2, 4) and not (report / "findings.jsonl").exists():
                return EXIT_USAGE
            self._render(report)
        return EXIT_INTERRUPTED if code == EXIT_INTERRUPTED else _exit_code_of(report)

    def _ended_idle(self) -> int:
        """The exit code of an apply that had nothing to apply on any host."""
        complain(
            "nothing was applied: no selected control has anything to do on these hosts, see above"
        )
        found = _exit_code_of(self._folder("HOSTPROOF_REPORT"))
        is_worse = found in (EXIT_FAILED, EXIT_UNREACHABLE)
        return found if is_worse else EXIT_NOT_DATABASE_HOST

    def _render(self, report: Path) -> None:
        from ..report.__main__ import main as render

        with _private():
            report.mkdir(parents=True, exist_ok=True)
            (report / "findings.jsonl").touch()
        words = ["--waivers", str(self.waivers)] if self.waivers else []
        words += ["--strict"] if self.options.strict else []
        words += self._terminal().words()
        render([str(report), *words])

    def _finish_gate(self, report: Path) -> bool:
        """A gate that was cut short says itself what it left: its ledger knows the hosts."""
        ledger = self._folder("HOSTPROOF_BASELINE")
        if not (ledger / "gate.json").exists():
            return True
        print(f"Gate: {ledger}", flush=True)
        if (report / "report.json").exists():
            return True
        from ..gate.unjudged import main as judge

        return judge([str(ledger), str(report)]) == 0

    def _limit_leaves_no_host(self) -> bool:
        """Nothing was queried and there is nothing to report: what --limit may have meant is
        said."""
        from .hosts import why_no_host

        sources = self._inventories()
        if self.evidence:
            sources = [str(ROOT / "inventories/evidence.py")]
            os.environ["HOSTPROOF_EVIDENCE"] = str(self.evidence)
        messages = why_no_host(sources, self.ansible.last("subset") or "")
        for sentence in messages:
            complain(sentence)
        return bool(messages)


def _with_selection(ansible: AnsibleOptions, values: dict[str, Any]) -> AnsibleOptions:
    """The options with the selection as variables, which slices get as well."""
    from .. import selection
    from ..policies import BadPolicy

    variables = {
        f"hostproof_{name}": [word for value in values.get(name) or () for word in value.split(",")]
        for name in ("checks", "skip_checks", "set")
    }
    selectors = {name: words for name, words in variables.items() if words}
    if not selectors:
        return ansible
    try:
        # Sets of a site are known with the variables of its hosts.
        known = {n: words for n, words in selectors.items() if n != "hostproof_set"}
        selection.selection_of(known, lambda value: value)
    except BadPolicy as problem:
        variable, colon, text = str(problem).partition(":")
        option = variable.replace("hostproof_", "--").replace("_", "-")
        raise Refused(f"{option}{colon}{text}") from None
    return ansible.replaced(extra_vars=(*ansible.all("extra_vars"), json.dumps(selectors)))


def _with_variables(ansible: AnsibleOptions, values: dict[str, Any]) -> AnsibleOptions:
    """The options with profile and target as variables, which slices get as well."""
    from ..targets import PROFILE, variables_of

    variables = variables_of(values.get("target_release"), values.get("target_os"))
    if values.get("profile"):
        variables[PROFILE] = values["profile"]
    if not variables:
        return ansible
    return ansible.replaced(extra_vars=(*ansible.all("extra_vars"), json.dumps(variables)))


def _passed_on(option: str, value: str | None) -> Path | None:
    """An existing path for a variable; Ansible would take what is in braces for a template."""
    if value is None:
        return None
    path = os.path.realpath(value)
    if any(mark in path for mark in ("{{", "{%", "{#", '"', "\\")) or not path.isprintable():
        raise Refused(
            f"{option}: a path with a quote, a backslash or a template cannot be passed on: {path}"
        )
    return Path(path)


def _exit_code_of(report: Path) -> int:
    try:
        with open_regular(str(report / "report.json")) as stream:
            match = _EXIT_CODE.search(stream.read(_HEAD))
    except OSError:
        match = None
    return int(match[1]) if match else EXIT_USAGE


def _wait_for(command: list[str], environment: dict[str, str]) -> tuple[int, bool]:
    """The exit code in the shell's form, and whether the user interrupted the run.

    No process survives this one: ansible-playbook gets Ctrl-C from the terminal, and is interrupted
    if this process is terminated or killed.
    """
    try:
        with (
            _interruptions() as interrupted,
            subprocess.Popen(command, env=environment, preexec_fn=termination.bind) as child,
        ):
            code = termination.wait_for_playbook(child, interrupted)
    except OSError as problem:
        raise Refused(f"{command[0]}: {problem.strerror}") from problem
    return (code if code >= 0 else 128 - code), bool(interrupted)


@contextlib.contextmanager
def _interruptions() -> Iterator[list[int]]:
    """Those that came meanwhile: they end what runs, and not us."""
    interrupted: list[int] = []
    # What is ignored (nohup) stays ignored; Ctrl-C ends background jobs as before.
    ignored = {n for n in termination.ENDING if signal.getsignal(n) == signal.SIG_IGN}
    taken = {*termination.ENDING} - (ignored - {signal.SIGINT})
    before = {
        number: signal.signal(number, lambda number, frame: interrupted.append(number))
        for number in taken
    }
    try:
        yield interrupted
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextlib.contextmanager
def _private() -> Iterator[None]:
    """Files that are created in this context are accessible only to their owner."""
    before = os.umask(0o077)
    try:
        yield
    finally:
        os.umask(before)


def new_name() -> str:
    return time.strftime("%Y%m%dT%H%M%SZ", time.gmtime()) + "-" + os.urandom(2).hex()


def ask_for_this_machine() -> None:
    """Ask for confirmation before changing the local machine (no -i given)."""
    if not sys.stdin.isatty():
        raise Refused(
            "apply without -i changes this machine and needs a terminal to confirm: use "
            "-i INVENTORY, or -i inventories/local for this machine"
        )
    print(
        f"No -i given: this changes the local machine ({os.uname().nodename}). Continue? [y/N] ",
        end="",
        file=sys.stderr,
        flush=True,
    )
    if sys.stdin.readline().strip() not in ("y", "Y", "yes"):
        raise Refused("cancelled, no changes made")
