"""Hosts whose only Python is 3.6 or 3.7 in another place, as Oracle Linux 8 without ``python3``.

The ansible-core of these tests, which sends no modules to these Pythons. The host is a mount
namespace of this machine, where /usr/bin has no Python at all.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from cases import cases
from hostproof_controller.remote import payload, transport
from matrix.controllers import Missing, find_python

ROOT = Path(__file__).resolve().parents[2]

#: $1 is a writable directory, $2 the Python, $3 its path. /usr/bin, /usr/libexec and /etc/security
#: are those of this machine, without any Python.
WITHOUT_PYTHON = """\
set -e
mkdir -p "$1/real/bin" "$1/real/libexec" "$1/bin" "$1/libexec" "$1/limits.d" "$1/hostproof"
mount --bind /usr/bin "$1/real/bin"
for path in "$1"/real/bin/*; do
  case $path in */python*) ;; *) ln -s "$path" "$1/bin/" ;; esac
done
if [ -d /usr/libexec ]; then
  mount --bind /usr/libexec "$1/real/libexec"
  ln -s "$1"/real/libexec/* "$1/libexec/"
  mount --bind "$1/libexec" /usr/libexec
fi
mount --bind "$1/bin" /usr/bin
mount --bind "$1/limits.d" /etc/security/limits.d
mount -t tmpfs -o mode=755 none /var/lib
[ -z "$2" ] || ln -s "$2" "$3"
shift 3
"""


class Place:
    """Runs commands of Hostproof on a host that has ``python`` at ``path`` only."""

    def __init__(self, folder: Path, python: str, path: str) -> None:
        self.folder, self.python, self.path = folder, python, path
        (folder / "hosts").mkdir()
        host = {"ansible_connection": "local", "hostproof_window_seconds": 0}
        host["process_limits_accounts"] = ["nobody"]
        inventory = {"all": {"hosts": {"old": host}}}
        (folder / "hosts/hosts.yml").write_text(yaml.safe_dump(inventory))

    def run(self, *commands: str) -> subprocess.CompletedProcess[str]:
        """The commands of Hostproof, one after the other."""
        lines = [WITHOUT_PYTHON]
        for command in commands:
            verb, _, rest = command.partition(" ")
            lines.append(
                f"{sys.executable} -P -m hostproof_controller {verb} -i {self.folder}/hosts "
                f"{rest} || case $? in 2 | 3) ;; *) exit 1 ;; esac"
                if not command.startswith("!")
                else command[1:]
            )
        words = ["unshare", "--mount", "--propagation", "private", "/bin/sh", "-c"]
        words += ["\n".join(lines), "sh", str(self.folder), self.python, self.path]
        path = os.pathsep.join([f"{self.folder}/own", "/usr/sbin", "/usr/bin", "/sbin", "/bin"])
        settings = {"PATH": path, "HOME": str(self.folder), "HOSTPROOF_ENVIRONMENT": sys.prefix}
        settings["HOSTPROOF_RECORDS"] = str(self.folder / "packs")
        settings["HOSTPROOF_REPORTS"] = str(self.folder / "reports")
        settings["PYTHONPATH"] = str(ROOT / "plugin_utils")
        return subprocess.run(words, env=settings, cwd=self.folder, capture_output=True, text=True)


def place(folder: Path, version: str, path: str) -> Place:
    (folder / "own").mkdir()
    if os.geteuid() != 0:
        pytest.skip("a mount namespace requires root")
    if not version:
        return Place(folder, "", "")
    try:
        return Place(folder, find_python(version), path.format(folder))
    except Missing as missing:
        pytest.skip(str(missing))


def judged(folder: Path) -> list[dict]:
    (kept,) = folder.glob("reports/*/findings.jsonl")
    (line,) = map(json.loads, kept.read_text().splitlines())
    assert line["outcome"] == "judged", line["message"]
    return line["findings"]


@cases(
    "version path",
    ("3.6", "/usr/libexec/platform-python"),
    ("3.7", "{}/own/python3"),
    ("3.7", "/usr/bin/python3"),
)
def test_the_python_that_a_host_has_is_found(tmp_path, version, path):
    done = place(tmp_path, version, path).run("audit --tags io_pacing,process_limits")
    assert done.returncode == 0, done.stdout + done.stderr
    assert {finding["control"] for finding in judged(tmp_path)} == {"io_pacing", "process_limits"}


def test_a_host_without_python_says_where_it_was_searched(tmp_path):
    done = place(tmp_path, "", "").run("audit --tags io_pacing")
    (kept,) = tmp_path.glob("reports/*/findings.jsonl")
    assert payload.NO_PYTHON in kept.read_text(), done.stdout + done.stderr


@pytest.mark.long
def test_such_a_host_is_recorded_changed_and_reverted(tmp_path):
    written = "/etc/security/limits.d/zz-hostproof-process_limits.conf"
    done = place(tmp_path, "3.6", "/usr/libexec/platform-python").run(
        "record --tags process_limits",
        "apply --tags process_limits -e hostproof_become=false",
        f"!cat {written}",
        "revert --tags process_limits -e hostproof_become=false",
        f"! if test -e {written}; then echo it is still there; exit 9; fi",
    )
    output = done.stdout + done.stderr
    assert done.returncode == 0, output
    assert "root" in output
    assert list(tmp_path.glob("packs/**/old.json"))


PLAY = """\
- hosts: all
  gather_facts: false
  tasks:
    - name: Read a parameter file
      oracle_parameter: {pfile: "~/init.ora", sid: ORCL, names: [sga_target]}
      register: parameters
    - name: Measure a disk
      latency_disk: {mode: active, path: "$HOME/data", sizes: [4096], reads: 5}
      register: disk
    - name: An argument that is missing
      latency_disk: {mode: active}
      register: missing
      ignore_errors: true
    - name: Sent as a module
      oracle_parameter: {pfile: "~/init.ora", sid: ORCL}
      vars:
        ansible_pipelining: false
        ansible_python_interpreter: /usr/libexec/platform-python
      register: sent
      ignore_errors: true
    - name: What they answered
      ansible.builtin.debug:
        msg: "{{ parameters.parameters.sga_target.next }}, {{ disk.table | length > 0 }},
          {{ missing.msg }}, {{ sent.msg | default('sent and run') }}"
"""


def test_separate_modules_work_there_too(tmp_path):
    host = place(tmp_path, "3.6", "/usr/libexec/platform-python")
    (tmp_path / "play.yml").write_text(PLAY)
    (tmp_path / "init.ora").write_text("*.sga_target=1G\n")
    (tmp_path / "data").write_bytes(bytes(range(256)) * 256)
    program = Path(sys.executable).with_name("ansible-playbook")
    config = f"ANSIBLE_CONFIG={ROOT / 'ansible.cfg'} ANSIBLE_STDOUT_CALLBACK=default"
    done = host.run(f"!{config} {program} -i {tmp_path}/hosts {tmp_path}/play.yml")
    output = " ".join((done.stdout + done.stderr).split())
    assert "1G, True, latency_disk: mode is active but all of the following" in output, output
    # Modules of ansible-core 2.16 run on Python 3.6 also without pipelining.
    sent = "set pipelining = True" if transport.TRUST_IS_EXPLICIT else "sent and run"
    assert sent in output, output
