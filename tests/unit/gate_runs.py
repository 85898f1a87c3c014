"""Runs of the gate's playbooks on hosts that are this machine under other names.

The modules of the gate are the real ones. In the place of the roles stands a task list that writes
a file; the journals are in temporary folders. Nothing else on this machine is changed.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import yaml
from ansible.module_utils.hostproof.apply import change, journal, writer
from ansible.module_utils.hostproof.apply import transaction as apply

ROOT = Path(__file__).resolve().parents[2]
STANDINS = ROOT / "tests/standins/gate"

#: In the place of playbooks/tasks/controls.yml.
CONTROLS = """---
- name: Change
  slow_down:
    path: "{{ delay_file }}"
    content: "{{ new_delay }}"
    journal: "{{ journal }}"
    gone: "{{ gone_file }}"
    then: "{{ then }}"
  when: hostproof_entry_point == 'main'

- name: Go on after the change
  ansible.builtin.ping:
  when: hostproof_entry_point == 'main'
"""

#: In the place of judging every control.
VERIFIED = {"ansible.builtin.debug": {"msg": "verified {{ inventory_hostname }}"}}

#: What runs on the controller alone is the real thing; what goes to hosts is a module here.
ON_THE_CONTROLLER = ("compare_latency", "latency_baseline", "latency_gate", "render_report")


class Fleet:
    """Hosts named db01, db02, ...; ``delays`` are their latencies in milliseconds now."""

    def __init__(self, root: Path, hosts: int, controls: int = 0) -> None:
        self.root = root
        self.names = [f"db{number:02}" for number in range(1, hosts + 1)]
        self.controls = [f"ctl{number:02}" for number in range(1, controls + 1)]
        # Without the links to what a user gets: beside a playbook they would come first.
        links = [entry.name for entry in (ROOT / "playbooks").iterdir() if entry.is_symlink()]
        shutil.copytree(ROOT / "playbooks", root / "playbooks", ignore=lambda *_: links)
        (root / "playbooks/tasks/controls.yml").write_text(CONTROLS)
        for name in ("gate", "revert_gate"):
            path = root / f"playbooks/{name}.yml"
            plays = yaml.safe_load(path.read_text())
            for play in plays:
                play["environment"] = {"GATE_JOURNAL": "{{ journal }}"}
                say_verified(play["tasks"])
            path.write_text(yaml.safe_dump(plays, sort_keys=False))
        (root / "library").mkdir()
        (root / "action_plugins").mkdir()
        for name in ON_THE_CONTROLLER:
            plugin = ROOT / f"action_plugins/{name}.py"
            (root / f"action_plugins/{name}.py").symlink_to(plugin)
        self._real_modules_with_another_journal()
        for name in ("delays", "reports", "baselines"):
            (root / name).mkdir()
        self.variables: dict[str, dict[str, Any]] = {}
        for number, name in enumerate(self.names + self.controls):
            self._add(name, 7001 + number)

    def _real_modules_with_another_journal(self) -> None:
        for name in ("change_journal", "revert_control"):
            text = (ROOT / f"library/{name}.py").read_text()
            changed = text.replace("Journal(writer)", 'Journal(writer, os.environ["GATE_JOURNAL"])')
            changed = changed.replace(
                "Journal(Writer())", 'Journal(Writer(), os.environ["GATE_JOURNAL"])'
            )
            assert changed != text
            changed = changed.replace("\nfrom ansible", "\nimport os\n\nfrom ansible", 1)
            (self.root / f"library/{name}.py").write_text(changed)

    def _add(self, name: str, port: int) -> None:
        (self.root / "delays" / str(port)).write_text("0")
        journal = str(self.root / f"journal-{name}")
        gone = str(self.root / f"gone-{name}")
        self.variables[name] = {
            "ansible_connection": f"{{{{ 'ssh' if '{gone}' is exists else 'local' }}}}",
            "ansible_host": "127.0.0.1",
            "ansible_port": 1,
            "ansible_ssh_common_args": "-o ControlMaster=no",
            "ansible_python_interpreter": "{{ ansible_playbook_python }}",
            "latency_probes": [
                {"probe": "tcp", "host": "198.51.100.1", "port": port, "mode": "request_response"}
            ],
            "delay_file": str(self.root / "delays" / str(port)),
            "new_delay": "0",
            "journal": journal,
            "gone_file": gone,
            "then": "end",
        }

    def set(self, name: str, **variables: Any) -> None:
        self.variables[name].update(variables)

    def applied_before(self, name: str, delay: str) -> None:
        """An apply that is none of a gate's business."""
        path, own = self.variables[name]["delay_file"], writer.Writer()
        plan = change.Plan([change.FileChange(path, delay, self.delay(name))], [], [], [])
        kept = journal.Journal(own, self.variables[name]["journal"])
        apply.apply_plan(plan, "standin", kept, own)

    def delay(self, name: str) -> str:
        return Path(self.variables[name]["delay_file"]).read_text()

    def open_applies(self, name: str) -> list[str]:
        folder = Path(self.variables[name]["journal"]) / "journal"
        return sorted(os.listdir(folder)) if folder.exists() else []

    def inventory(self) -> Path:
        path = self.root / "hosts.yml"
        groups = {
            "databases": {"hosts": {name: self.variables[name] for name in self.names}},
            "controls": {"hosts": {name: self.variables[name] for name in self.controls}},
        }
        path.write_text(yaml.safe_dump({"all": {"children": groups}}))
        return path

    def command(self, playbook: str, *options: str) -> list[str]:
        program = Path(sys.executable).with_name("ansible-playbook")
        quick = {
            "hostproof_become": False,
            "latency_gate_settle_seconds": 0,
            "latency_gate_pause_seconds": 0,
        }
        path = str(self.root / "playbooks" / f"{playbook}.yml")
        inventory = ["-i", str(self.inventory())]
        return [str(program), *inventory, path, "-e", json.dumps(quick), *options]

    def environment(self, run: str) -> dict[str, str]:
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("ANSIBLE_", "HOSTPROOF_"))
        }
        library = [self.root / "library", STANDINS, ROOT / "library"]
        return {
            **kept,
            "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"),
            "ANSIBLE_ACTION_PLUGINS": str(self.root / "action_plugins"),
            "ANSIBLE_LIBRARY": ":".join(str(path) for path in library),
            "ANSIBLE_NOCOLOR": "1",
            "GATE_DELAYS": str(self.root / "delays"),
            "HOSTPROOF_REPORT": str(self.root / "reports" / run),
            "HOSTPROOF_BASELINE": str(self.root / "baselines" / run),
        }

    def play(self, run: str, playbook: str, *options: str) -> "Played":
        done = subprocess.run(
            self.command(playbook, *options),
            env=self.environment(run),
            cwd=self.root,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=300,
        )
        return self.played(run, done.returncode, done.stdout + done.stderr)

    def played(self, run: str, code: int, output: str) -> "Played":
        return Played(code, output, self.root / "reports" / run, self.root / "baselines" / run)


def say_verified(tasks: list[dict[str, Any]]) -> None:
    """Put what says so in the place of what judges, in blocks too."""
    for task in tasks:
        say_verified(task.get("block", []))
        if task.pop("verify_controls", None):
            task.update(VERIFIED)


class Played:
    """One run: its output, the folder of its report and that of its ledger."""

    def __init__(self, code: int, output: str, report: Path, folder: Path) -> None:
        self.code, self.output, self.report, self.folder = code, output, report, folder

    def states(self) -> list[str]:
        ledger = json.loads((self.folder / "gate.json").read_text())
        return [batch["state"] for batch in ledger["batches"]]

    def reasons(self) -> str:
        ledger = json.loads((self.folder / "gate.json").read_text())
        batches = [batch["reasons"] + batch.get("left", []) for batch in ledger["batches"]]
        return "; ".join(reason for reasons in batches for reason in reasons)

    def lines(self) -> list[dict[str, Any]]:
        text = (self.report / "findings.jsonl").read_text()
        return [json.loads(line) for line in text.splitlines()]

    def statuses(self, check: str) -> dict[str, str]:
        """Host to the status of a check, as the report has it in the end."""
        document = json.loads((self.report / "report.json").read_text())
        return {
            finding["host"]: finding["status"]
            for finding in document["findings"]
            if finding["check"] == check
        }

    @property
    def exit_code(self) -> int:
        return json.loads((self.report / "report.json").read_text())["exit_code"]
