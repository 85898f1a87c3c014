"""One rule for the names of hosts, and what follows from it wherever a name is written."""

import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from ansible.inventory.manager import InventoryManager
from ansible.parsing.dataloader import DataLoader
from cases import cases
from hostproof_controller.cli import command
from hostproof_controller.host_names import is_host_name, pattern_of
from hostproof_controller.report.store import merge, read_entries
from test_diffing import finding, line, report

#: The rules under test are ours; other files show how each ansible-core runs them.
pytestmark = pytest.mark.one_core

ROOT = Path(__file__).resolve().parents[2]
PACK = ROOT / "docs/examples/evidence/db01.example.com.json"

FINE = [
    "db01.example.com",
    "db_01",
    "10.0.0.1",
    "2001:db8::1",
    "::1",
    "fe80::1%eth0",
    "fe80::1%bond0.100",
    "localhost",
    "x" * 253,
]
HOSTILE = [
    "",
    "fe80::1%a\ntouch X #",
    "fe80::1%{{lookup('pipe','touch X')}}",
    "fe80::1%$(touch X)",
    "fe80::1%`touch X`",
    "fe80::1%a b",
    "fe80::1%",
    "fe80::1%" + "x" * 16,
    "fe80::1%eth0\n",
    "fe80::1%ä",
    "fe80::1%a%b",
    "fe80::\uff11",
    "db01\n",
    "db\u0661",
    "db\u200b01",
    "dｂ01",
    "db01\x1b[2J",
    "db\u202e01",
    "{{ 7*7 }}",
    "{% raw %}",
    "{# x #}",
    "[1:500000]",
    "db[01:99]",
    "db01:all",
    "db01:22",
    "all",
    "ungrouped",
    "db*",
    "db?",
    "~db",
    "!db01",
    "&db01",
    "db01,db02",
    "@file",
    "-e@x",
    ".hidden",
    "../evil",
    "a/b",
    "a\\b",
    "a;b",
    "$(touch X)",
    "x'y",
    'x"y',
    "x" * 254,
]


@pytest.mark.parametrize("name", FINE)
def test_what_a_host_may_be_called(name):
    assert is_host_name(name)


@pytest.mark.parametrize("name", HOSTILE, ids=ascii)
def test_what_no_host_is_called(name):
    assert not is_host_name(name)


@cases("name", None, 7, b"db01", ["db01"])
def test_only_a_text_is_a_name(name):
    assert not is_host_name(name)


def test_a_pattern_means_the_host_alone(tmp_path):
    others = ["fe80", "1%eth0", "db8", "1", "2001", "fe80::2%eth0", "fe80:x:1%eth0"]
    hosts = tmp_path / "hosts.json"
    hosts.write_text(
        "#!/bin/sh\ncat <<'END'\n" + json.dumps({"g": {"hosts": [*FINE, *others]}}) + "\nEND\n"
    )
    hosts.chmod(0o755)
    inventory = InventoryManager(loader=DataLoader(), sources=[str(hosts)])
    assert "fe80::1%eth0" in inventory.hosts
    for name in FINE:
        assert [host.name for host in inventory.get_hosts(pattern_of(name))] == [name]


@pytest.mark.parametrize("name", HOSTILE, ids=ascii)
def test_a_result_of_no_host_is_an_error_of_the_run(tmp_path, name):
    folder = report(tmp_path / "run", line(name, finding("hugepages.a", "pass")), line("db01"))
    notes: list[str] = []
    results = merge(read_entries([folder], notes), notes)
    assert [state.name for state in results.hosts] == ["db01"]
    (about,) = results.about
    assert "run.results_readable" in [finding["check"] for finding in about.findings]
    assert notes[0].isprintable()


def packed(folder: Path, name: str) -> bool:
    """Whether a pack of that name can be made in the folder."""
    if "/" in name:
        return False
    try:
        (folder / f"{name}.json").write_bytes(PACK.read_bytes())
    except OSError:
        return False
    return True


@pytest.mark.parametrize("name", HOSTILE[1:], ids=ascii)
def test_init_refuses_the_pack_of_no_host(tmp_path, capsys, name):
    packs = tmp_path / "packs"
    packs.mkdir()
    if not packed(packs, name):
        pytest.skip("no file can have this name")
    out = tmp_path / "mine"
    assert command.main(["init", "--evidence", str(packs), "--out", str(out)]) == 1
    streams = capsys.readouterr()
    assert "a host's name is letters, digits" in streams.err
    assert "\x1b" not in streams.err + streams.out
    assert not out.exists()


def test_init_writes_any_name_of_a_host_as_one_host(tmp_path):
    for number, name in enumerate(FINE):
        packs = tmp_path / f"packs{number}"
        packs.mkdir()
        if not packed(packs, name):
            continue
        out = tmp_path / f"mine{number}"
        assert command.main(["init", "--evidence", str(packs), "--out", str(out)]) == 0
        hosts = yaml.safe_load((out / "hosts.yml").read_text())
        assert list(hosts["all"]["children"]["databases"]["hosts"]) == [name]
        inventory = InventoryManager(loader=DataLoader(), sources=[str(out / "hosts.yml")])
        assert list(inventory.hosts) == [name]


def test_the_inventory_of_packs_has_the_same_rule(tmp_path):
    made = [name for name in (*FINE, *HOSTILE[1:]) if packed(tmp_path, name)]
    done = subprocess.run(
        [sys.executable, "-I", ROOT / "inventories/evidence.py"],
        env={"HOSTPROOF_EVIDENCE": str(tmp_path), "LC_ALL": "C.UTF-8"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert set(json.loads(done.stdout)["hostproof_evidence"]["hosts"]) == set(made) & set(FINE)
    assert "\x1b" not in done.stderr


def test_fixes_hold_a_name_as_a_quoted_word_and_a_scalar_alone(tmp_path, capsys):
    name = "fe80::1%eth0"
    failure = finding("hugepages.a", "fail", commands=["sysctl -w vm.nr_hugepages=1"])
    folder = report(tmp_path / "r", line(name, failure))
    assert command.main(["report", folder, "--fixes", str(tmp_path / "fixes")]) == 0
    script = (tmp_path / "fixes/fe80__1%eth0.sh").read_text()
    playbook = (tmp_path / "fixes/fe80__1%eth0.yml").read_text()
    assert [text for text in script.splitlines() if name in text] == [f"host={shlex.quote(name)}"]
    assert [text.strip() for text in playbook.splitlines() if name in text] == [
        f'fixes_host: !unsafe "{name}"'
    ]
