"""The module storage_type, alone in a playbook, against real agents."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import agents
import pytest
import yaml
from agents import AUTH, PRIV
from conftest import ROOT


def run(folder: Path, **options: Any) -> dict[str, Any]:
    """What the module answers."""
    play = {
        "hosts": "localhost",
        "gather_facts": False,
        "connection": "local",
        "vars": {"ansible_python_interpreter": sys.executable},
        "tasks": [
            {"storage_type": options, "register": "answer", "ignore_errors": True},
            {"ansible.builtin.copy": {"content": "{{ answer | to_json }}", "dest": f"{folder}/a"}},
        ],
    }
    (folder / "play.yml").write_text(yaml.safe_dump([play]))
    done = subprocess.run(
        [
            Path(sys.executable).with_name("ansible-playbook"),
            "-i",
            "localhost,",
            folder / "play.yml",
        ],
        env={**os.environ, "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg")},
        capture_output=True,
        text=True,
    )
    assert (folder / "a").exists(), done.stdout + done.stderr
    return json.loads((folder / "a").read_text())


def test_the_three_outcomes_side_by_side(records, snmpd, tmp_path):
    closed = agents.free_port()
    addresses = [f"127.0.0.1:{port}" for port in (records, snmpd, closed)]
    answer = run(tmp_path, addresses=addresses, timeout=5, retries=0)
    rows = [(device["address"], device["outcome"], device["role"]) for device in answer["storage"]]
    assert rows == [
        (addresses[0], "recognised", "nas"),
        (addresses[1], "other", "server"),
        (addresses[2], "no_answer", "unknown"),
    ]
    appliance, _server, silent = answer["storage"]
    assert (appliance["vendor"], appliance["model"]) == ("Oracle", "7420")
    assert appliance["features"]["hcc"] == "eligible"
    assert (silent["reason"], silent["features"]["hcc"]) == ("port_closed", "unknown")
    assert answer["lines"][0].endswith("HCC eligible")
    assert not answer["changed"]


def test_version_3(snmpd, tmp_path):
    answer = run(
        tmp_path,
        addresses=["127.0.0.1"],
        port=snmpd,
        version="3",
        user="sealed",
        level="authPriv",
        auth_protocol="SHA-512",
        auth_passphrase=AUTH,
        priv_protocol="AES",
        priv_passphrase=PRIV,
    )
    assert [device["product"] for device in answer["storage"]] == ["Linux"]
    assert AUTH not in json.dumps(answer)


def test_one_that_does_not_answer_delays_only_itself(snmpd, tmp_path):
    with agents.relay(change=lambda _reply: None) as dead:
        addresses = [f"127.0.0.1:{port}" for port in (dead.port, *(snmpd for _ in range(8)))]
        answer = run(tmp_path, addresses=addresses, timeout=5, retries=0, concurrency=2)
    dead_one, *others = answer["storage"]
    assert dead_one["outcome"] == "no_answer"
    assert dead_one["seconds"] >= 5
    assert all(device["outcome"] == "other" and device["seconds"] < 5 for device in others)


def test_ten_silent_ones_wait_side_by_side(snmpd, tmp_path):
    with agents.relay(change=lambda _reply: None, delay=4) as dead:
        silent = [f"127.0.0.1:{dead.port}"] * 10
        addresses = [*(f"127.0.0.1:{snmpd}" for _ in range(8)), *silent]
        answer = run(tmp_path, addresses=addresses, timeout=4, retries=0)
        # No fewer: none of them stood behind another.
        assert dead.most >= len(silent)
    outcomes = [device["outcome"] for device in answer["storage"]]
    assert outcomes == ["other"] * 8 + ["no_answer"] * 10


class TestDefinitions:
    """A device of the user's own, known by a file of his."""

    FILE = {
        "vendor": "ACME",
        "product": "Frobnicator",
        "role": "san",
        "known_by": [{"description": "^Linux - 6\\.1\\.0 #1 SMP"}],
        "version": [{"at": "sysDescr", "pattern": "(6[.][0-9]+)"}],
        "source": "ACME-STORAGE-MIB",
    }

    def test_of_a_user_is_known(self, snmpd, tmp_path):
        answer = run(tmp_path, addresses=[f"127.0.0.1:{snmpd}"], definitions=[self.FILE])
        (device,) = answer["storage"]
        assert (device["vendor"], device["product"], device["role"]) == (
            "ACME",
            "Frobnicator",
            "san",
        )
        assert device["version"] == "6.1"

    def test_of_a_user_that_is_wrong_is_one_sentence_and_nobody_is_asked(self, tmp_path):
        wrong = dict(self.FILE, role="disk")
        answer = run(tmp_path, addresses=["127.0.0.1"], definitions=[wrong])
        assert answer["failed"]
        assert answer["msg"].startswith("definitions definition 1 (Frobnicator): role must be one")


CREDENTIALS = {
    "default": {"version": "2c", "community": "public"},
    "filers": {
        "version": "3",
        "user": "sealed",
        "auth_protocol": "SHA-512",
        "auth_passphrase": AUTH,
        "priv_protocol": "AES",
        "priv_passphrase": PRIV,
    },
}


def test_addresses_with_port_and_named_credentials(records, snmpd, tmp_path):
    answer = run(
        tmp_path,
        addresses=[
            {"address": "127.0.0.1", "port": snmpd, "credentials": "filers"},
            {"address": "localhost", "port": records},
            f"127.0.0.1:{snmpd}",
        ],
        credentials=CREDENTIALS,
    )
    rows = [(device["address"], device["product"]) for device in answer["storage"]]
    assert rows == [
        (f"127.0.0.1:{snmpd}", "Linux"),
        (f"localhost:{records}", "ZFS Storage Appliance"),
        (f"127.0.0.1:{snmpd}", "Linux"),
    ]
    assert not [word for word in (AUTH, PRIV, "sealed") if word in json.dumps(answer)]


def test_the_database_s_own_community_is_a_name_as_well(records, tmp_path):
    answer = run(
        tmp_path,
        addresses=[f"127.0.0.1:{records}"],
        credentials={
            "default": {"version": "2c", "community": "zfs-7420"},
            "database": {"version": "1", "community": "zfs-simulator"},
        },
    )
    assert answer["storage"][0]["features"]["hcc"] == "simulator"


def test_a_name_that_has_no_credentials_is_refused(tmp_path):
    answer = run(
        tmp_path, addresses=[{"address": "a", "credentials": "fliers"}], credentials=CREDENTIALS
    )
    assert answer["msg"] == "addresses a: the named credentials do not exist or cannot be used"


def test_wrong_named_credentials_are_told_without_them(tmp_path):
    wrong = {"default": {"version": "3", "user": "u", "auth_passphrase": "shorty"}}
    answer = run(tmp_path, addresses=["a"], credentials=wrong)
    assert "credentials default: auth_passphrase must have at least 8" in answer["msg"]
    assert "shorty" not in json.dumps(answer)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"addresses": ["-oX"]}, "'-oX' is not a hostname or IP address"),
        ({"addresses": ["a:b"]}, "'a:b' is not a hostname or IP address"),
        ({"addresses": ["a:99999"]}, "a:99999: port must be 1 to 65535"),
        ({"addresses": ["a"], "port": 0}, "port must be 1 to 65535"),
        ({"addresses": ["a"], "credentials": {}}, "credentials must have the name default"),
        (
            {"addresses": ["a"], "credentials": {}, "community": "x"},
            "credentials replaces community",
        ),
        ({"addresses": ["a"], "version": "3"}, "version 3 needs user"),
        ({"addresses": ["a"], "user": "monitor"}, "user needs version 3"),
        ({"addresses": ["a"], "timeout": 0}, "timeout must be 0.1 to 60"),
        ({"addresses": ["a"], "concurrency": 0}, "concurrency must be 1 to 64"),
        ({"addresses": ["a"], "version": "4"}, "value of version must be one of: 1, 2c, 3"),
    ],
)
def test_wrong_arguments_are_one_sentence(tmp_path, options, message):
    answer = run(tmp_path, **options)
    assert answer["failed"]
    assert message in answer["msg"]
    assert "Traceback" not in str(answer)


def test_without_addresses_it_asks_the_servers_of_the_mounts(tmp_path):
    mounted = list(Path("/proc/self/mountinfo").read_text().splitlines())
    answer = run(tmp_path, timeout=0.2, retries=0)
    assert bool(answer["storage"]) == any(" - nfs" in line for line in mounted)
