"""playbooks/detect_storage.yml as its users run it, against real agents."""

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

FILERS = {
    "version": "3",
    "user": "sealed",
    "auth_protocol": "SHA-512",
    "auth_passphrase": AUTH,
    "priv_protocol": "AES",
    "priv_passphrase": PRIV,
}
NOBODY = "no agent was queried: no address is given, and no NFS is mounted here"


def detect(inventory: Path, *options: str, **variables: Any) -> tuple[list[str], str]:
    """The lines that the playbook shows, and all that it printed."""
    variables["ansible_python_interpreter"] = sys.executable
    done = subprocess.run(
        [
            Path(sys.executable).with_name("ansible-playbook"),
            *("-i", inventory, ROOT / "playbooks/detect_storage.yml"),
            *("-e", json.dumps(variables), *options),
        ],
        env={**os.environ, "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg")},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    return [line.strip() for line in done.stdout.splitlines()], done.stdout


def hosts(folder: Path, **inventory: dict[str, Any]) -> Path:
    """Hosts that are this machine, each with its variables."""
    for variables in inventory.values():
        variables.update(ansible_connection="local")
    path = folder / "hosts.yml"
    path.write_text(yaml.safe_dump({"all": {"children": {"databases": {"hosts": inventory}}}}))
    return path


def found(path: Path) -> dict[str, list[tuple[str, str]]]:
    """Who asked, and each address and what it is."""
    kept = json.loads(path.read_text())
    return {
        host: [(device["address"], device["product"] or device["reason"]) for device in devices]
        for host, devices in kept.items()
    }


@pytest.fixture
def policy(records, snmpd) -> dict[str, Any]:
    """Written as that of the example inventory."""
    return {
        "storage_type_addresses": [
            f"localhost:{records}",
            {"address": "127.0.0.1", "port": snmpd, "credentials": "filers"},
        ],
        "storage_type_snmp_credentials": {
            "default": {"version": "2c", "community": "public"},
            "filers": FILERS,
            "database": {"version": "1", "community": "zfs-7420"},
        },
    }


def test_the_example_inventory_is_taken_as_it_is(tmp_path):
    """Nobody answers for it; but both of its addresses are asked, each once, from here."""
    kept = tmp_path / "found.json"
    lines, _output = detect(
        ROOT / "inventories/example",
        storage_type_snmp_timeout=0.2,
        storage_type_snmp_retries=0,
        detect_storage_output=str(kept),
    )
    assert sum("array1-mgmt.example.com  unknown  no answer: unknown host" in e for e in lines) == 1
    (devices,) = found(kept).values()
    assert [address for address, _product in devices] == ["array1-mgmt.example.com", "10.0.0.5"]


def test_from_here_every_policy_of_the_inventory_is_asked_once(tmp_path, policy, records):
    other = {"storage_type_addresses": [f"127.0.0.1:{records}"]}
    inventory = hosts(tmp_path, db1=dict(policy), db2=dict(policy), db3=other, db4={})
    kept = tmp_path / "found.json"
    _lines, output = detect(inventory, "-vvv", detect_storage_output=str(kept))
    appliance = "ZFS Storage Appliance"
    (devices,) = found(kept).values()
    assert [product for _address, product in devices] == [appliance, "Linux", appliance]
    assert not [word for word in (AUTH, PRIV) if word in output + kept.read_text()]


def test_what_several_hosts_found_is_kept_for_each(tmp_path, policy, snmpd):
    other = {"storage_type_addresses": [f"127.0.0.1:{snmpd}"]}
    inventory = hosts(tmp_path, db1=dict(policy), db2=other, db3={"storage_type_addresses": []})
    kept = tmp_path / "found.json"
    lines, _output = detect(
        inventory, detect_storage_from="databases", detect_storage_output=str(kept)
    )
    by_host = found(kept)
    assert {
        host: [product for _address, product in devices] for host, devices in by_host.items()
    } == {"db1": ["ZFS Storage Appliance", "Linux"], "db2": ["Linux"], "db3": []}
    assert sum(NOBODY in line for line in lines) == 1
    assert kept.stat().st_mode & 0o777 == 0o600


def test_addresses_on_the_command_line_take_the_place_of_the_inventory_s(tmp_path, policy, snmpd):
    inventory = hosts(tmp_path, db1=dict(policy), db2=dict(policy))
    kept = tmp_path / "found.json"
    detect(
        inventory, storage_type_addresses=[f"127.0.0.1:{snmpd}"], detect_storage_output=str(kept)
    )
    assert list(found(kept).values()) == [[(f"127.0.0.1:{snmpd}", "Linux")]]


def test_many_are_asked_so_many_at_a_time(tmp_path, snmpd):
    """The relay answers late, and counts how many questions wait at once."""
    with agents.relay(snmpd, delay=0.3) as slow:
        address = f"127.0.0.1:{slow.port}"
        inventory = hosts(tmp_path, db1={"storage_type_addresses": [address] * 12})
        detect(inventory, detect_storage_concurrency=3)
        assert 1 < slow.most <= 3


def test_a_file_of_definitions_makes_a_device_known(snmpd, tmp_path):
    """The user's own, as docs/controls/storage_type.md shows it."""
    mine = {
        "vendor": "ACME",
        "product": "Frobnicator",
        "role": "san",
        "known_by": [{"object_id": "e.99999.1"}, {"description": r"^Linux - 6\.1\.0 #1 SMP"}],
        "version": [{"at": "sysDescr", "pattern": r"(6[.]\d+)"}],
        "source": "ACME-STORAGE-MIB",
    }
    path = tmp_path / "acme.yml"
    path.write_text(yaml.safe_dump({"storage_type_definitions": [mine]}))
    inventory = hosts(tmp_path, db01={"storage_type_addresses": [f"127.0.0.1:{snmpd}"]})
    kept = tmp_path / "found.json"
    detect(inventory, "-e", f"@{path}", detect_storage_output=str(kept))
    (device,) = json.loads(kept.read_text())["localhost"]
    identity = (device["outcome"], device["vendor"], device["product"], device["version"])
    assert identity == ("recognised", "ACME", "Frobnicator", "6.1")
