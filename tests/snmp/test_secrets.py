"""No secret is seen: not while it runs (ps, environments, files), and not in what it leaves."""

import base64
import contextlib
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import agents
import pytest
from conftest import ROOT

COMMUNITY = "Zq7-community-7qZ"
#: Of a user of its own: snmpsim has the shared ones on its command line.
AUTH, PRIV = "Zq7-authenticate-7qZ", "Zq7-privacy-7qZ"
AGENT = f"""\
rocommunity {COMMUNITY}
createUser hidden SHA-512 "{AUTH}" AES "{PRIV}"
rouser hidden priv
"""
WORDS = (COMMUNITY, AUTH, PRIV)
SEALED = {
    "version": "3",
    "user": "hidden",
    "auth_protocol": "SHA-512",
    "auth_passphrase": AUTH,
    "priv_protocol": "AES",
    "priv_passphrase": PRIV,
}
WRONG = {**SEALED, "auth_passphrase": AUTH + "-not", "priv_passphrase": PRIV + "-not"}
CASES = {
    "community": {"version": "2c", "community": COMMUNITY},
    "version 3": SEALED,
    "refused": WRONG,
}


def needles() -> list[bytes]:
    """Each secret as it is, and inside base64 at each of its three places."""
    patterns = []
    for word in WORDS:
        patterns.append(word.encode())
        for shift in range(3):
            coded = base64.b64encode(b"\0" * shift + word.encode())
            patterns.append(coded[4 : -4 - len(coded) % 4])
    return patterns


NEEDLES = needles()


def secrets_in(data: bytes) -> list[bytes]:
    return [needle for needle in NEEDLES if needle in data]


class Watch:
    """Looks at every process and at some folders, again and again, until it is stopped."""

    def __init__(self, *folders: Path) -> None:
        self.seen: set[str] = set()
        self.tools = 0
        self.looks = 0
        self._folders = folders
        self._ends = threading.Event()
        self._thread = threading.Thread(target=self._look)
        self._thread.start()

    def stop(self) -> None:
        self._ends.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._ends.is_set():
            self.looks += 1
            for folder in Path("/proc").glob("[0-9]*"):
                for name in ("cmdline", "environ"):
                    self._check(folder / name)
            for root in self._folders:
                # Unlike Path.rglob, os.walk passes over folders that go meanwhile.
                for above, _folders, files in os.walk(root):
                    for name in files:
                        self._check(Path(above, name))
            time.sleep(0.01)

    def _check(self, path: Path) -> None:
        with contextlib.suppress(OSError):
            # A link to an open file leads nowhere for anybody but the tool.
            if path.is_symlink() or path.is_dir():
                return
            data = path.read_bytes()
            self.tools += data.startswith((b"snmpget\0", b"snmpgetnext\0"))
            if secrets_in(data):
                self.seen.add(str(path))


@pytest.fixture(scope="module")
def slow_agent(tmp_path_factory) -> Iterator[int]:
    """An agent that takes its time, so that there is something to look at."""
    with (
        agents.snmpd(tmp_path_factory.mktemp("agent"), AGENT) as port,
        agents.relay(port, delay=0.25) as slow,
    ):
        yield slow.port


def play(folder: Path, playbook: str, variables: dict[str, Any]) -> tuple[bytes, Watch]:
    """Run a playbook with -vvv; its output, and what was seen meanwhile."""
    (folder / "vars").mkdir(exist_ok=True)
    vars_file = folder / "vars/told.json"
    vars_file.write_text(json.dumps(variables))
    seen = folder / "seen"
    for name in ("temporary", "reports", "ansible", "remote"):
        (seen / name).mkdir(parents=True, exist_ok=True)
    environment = {
        **os.environ,
        "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"),
        "ANSIBLE_HOME": str(seen / "ansible"),
        "ANSIBLE_REMOTE_TEMP": str(seen / "remote"),
        "ANSIBLE_LOG_PATH": str(seen / "ansible.log"),
        "HOSTPROOF_REPORTS": str(seen / "reports"),
        "TMPDIR": str(seen / "temporary"),
    }
    watch = Watch(seen)
    try:
        done = subprocess.run(
            [
                Path(sys.executable).with_name("ansible-playbook"),
                *("-vvv", "-i", ROOT / "inventories/local", "-e", f"@{vars_file}"),
                *("-e", f"ansible_python_interpreter={sys.executable}"),
                ROOT / "playbooks" / playbook,
                *(("--tags", "storage_type") if playbook != "detect_storage.yml" else ()),
            ],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
    finally:
        watch.stop()
    return done.stdout, watch


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("playbook", ["detect_storage.yml", "audit.yml", "verify.yml"])
def test_no_secret_is_seen(slow_agent, tmp_path, playbook, case):
    variables = {
        "storage_type_addresses": [f"127.0.0.1:{slow_agent}"],
        "storage_type_snmp_credentials": {"default": CASES[case]},
        "storage_type_snmp_timeout": 1,
        "storage_type_snmp_retries": 0,
        "hostproof_window_seconds": 0,
    }
    if playbook != "detect_storage.yml":
        entry = {"address": "127.0.0.1", "port": slow_agent}
        variables["storage_type_addresses"] = [entry]
    output, watch = play(tmp_path, playbook, variables)
    assert watch.tools and watch.looks > 20, output.decode(errors="replace")[-2000:]
    assert not watch.seen
    assert not secrets_in(output)
    kept = [path for path in (tmp_path / "seen").rglob("*") if path.is_file()]
    # The agent was really asked: what is told of it stands in the output, or in the report.
    assert any(b"127.0.0.1" in text for text in [output, *(path.read_bytes() for path in kept)])
    assert [path for path in kept if secrets_in(path.read_bytes())] == []
    assert list((tmp_path / "seen/temporary").iterdir()) == []


def test_the_watch_sees_what_is_there(tmp_path):
    """Otherwise the test above would prove nothing."""
    watch = Watch(tmp_path)
    try:
        (tmp_path / "file").write_text(f"community: {COMMUNITY}")
        command = ["sleep", "0.3"]
        with (
            subprocess.Popen(["sh", "-c", "sleep 0.3", COMMUNITY]),
            subprocess.Popen(command, env={"SECRET": AUTH}),
        ):
            pass
    finally:
        watch.stop()
    names = {Path(path).name for path in watch.seen}
    assert names == {"file", "cmdline", "environ"}
    packed = base64.b64encode(json.dumps({"auth_passphrase": AUTH}).encode())
    assert secrets_in(packed)


def test_a_short_community_does_not_blank_the_answer(slow_agent, tmp_path):
    """Ansible takes a secret out of every word of a result, also where it is two letters."""
    with agents.snmpd(tmp_path / "agent", "rocommunity ro\n") as port:
        variables = {
            "storage_type_addresses": [f"127.0.0.1:{port}"],
            "storage_type_snmp_credentials": {"default": {"version": "2c", "community": "ro"}},
        }
        output, _watch = play(tmp_path, "detect_storage.yml", variables)
    assert b"server  Linux" in output
    lines = [line for line in output.splitlines() if not line.startswith((b"PLAY", b"TASK"))]
    assert b"****" not in b"\n".join(lines)
    # What the module was asked is no part of its answer, so -vvv does not show it either.
    assert b'"credentials"' not in output
