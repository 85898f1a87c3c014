"""Inventories that stand for more than memory holds are refused before Ansible reads them."""

import os
import subprocess
from contextlib import nullcontext
from pathlib import Path

import pytest
import wrapper
from cases import cases
from hostproof_controller import inventories
from hostproof_controller.inventories import Unsafe

ROOT = Path(__file__).resolve().parents[2]
#: Nine lines: 10^9 values.
BOMB = "a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n" + "".join(
    f"a{number}: &a{number} [{', '.join([f'*a{number - 1}'] * 10)}]\n" for number in range(1, 9)
)
SOUND = "all:\n  vars: {x: &x [1, 2], y: *x}\n  hosts:\n    db01: {}\n"
MERGED = "a: &a {b: 1}\n" + "".join(f"c{number}: {{<<: *a, d: 2}}\n" for number in range(2000))
BAD = {
    "bomb": BOMB,
    "bomb_indented": "all:\n  vars:\n" + "".join(f"    {line}\n" for line in BOMB.splitlines()),
    "bomb_of_keys": BOMB.replace("[", "{k: [").replace("]", "]}"),
    "bomb_merged": "a0: &a0 {x: 1, y: 2}\n"
    + "".join(f"a{n}: &a{n} {{p: *a{n - 1}, q: *a{n - 1}}}\n" for n in range(1, 30)),
    "bomb_of_json": '{"a": &a [1,1], "b": &b [*a,*a], '
    + "".join(f'"c{n}": &{chr(99 + n)} [*{chr(98 + n)},*{chr(98 + n)}],' for n in range(20))
    + '"z": 1}',
    "itself": "a: &a [*a]\n",
    "deep_flow": "a: " + "[" * 500 + "]" * 500 + "\n",
    "deep_braces": "a: " + "{a: " * 200 + "1" + "}" * 200 + "\n",
    "deep_block": "".join(" " * number + "a:\n" for number in range(300)),
}


@pytest.mark.parametrize("name", BAD)
def test_a_file_that_stands_for_too_much_is_named(name, tmp_path):
    path = tmp_path / "hosts.yml"
    path.write_text(BAD[name])
    with pytest.raises(Unsafe, match=r"hosts\.yml (expands to more than|is nested deeper)"):
        inventories.check(["-i", str(path)])


def test_the_largest_depth(tmp_path):
    path = tmp_path / "hosts.yml"
    for lists, is_refused in ((inventories.MOST_DEPTH - 1, False), (inventories.MOST_DEPTH, True)):
        path.write_text("a: &a " + "[" * lists + "]" * lists + "\nb: *a\n")
        with pytest.raises(Unsafe) if is_refused else nullcontext():
            inventories.check(["-i", str(path)])


@cases(
    "text",
    SOUND,
    MERGED,
    "[dbs]\ndb01 x='& *'\n",
    "$ANSIBLE_VAULT;1.1;AES256\n62\n",
    "a: [&x 1, *x",
    "",
)
def test_what_others_write_passes(text, tmp_path):
    path = tmp_path / "hosts"
    path.write_text(text)
    inventories.check(["-i", str(path), "--limit", "db01"])


@cases(
    "place arguments",
    ("hosts.yml", ["-i", "hosts.yml"]),
    ("hosts.yml", ["-ihosts.yml"]),
    ("hosts.yml", ["--inventory", "hosts.yml"]),
    ("hosts.yml", ["--inventory=hosts.yml"]),
    ("hosts.yml", ["-i", "sound.yml", "--check", "-i", "hosts.yml"]),
    ("group_vars/all.yml", ["-i", "sound.yml"]),
    ("group_vars/all/a.yml", ["-i", "sound.yml"]),
    ("host_vars/db01", ["-i", "sound.yml"]),
    ("inventory/hosts", ["-i", "inventory"]),
    ("inventory/group_vars/dbs.yml", ["-i", "inventory"]),
    ("vars.yml", ["-i", "sound.yml", "-e", "@vars.yml"]),
    ("vars.yml", ["-i", "sound.yml", "--extra-vars=@vars.yml"]),
    ("vars.yml", ["-e@vars.yml"]),
)
def test_wherever_it_stands(place, arguments, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sound.yml").write_text(SOUND)
    path = tmp_path / place
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(BOMB)
    with pytest.raises(Unsafe, match=Path(place).name):
        inventories.check(arguments)


def test_variables_on_the_command_line():
    with pytest.raises(Unsafe, match="^-e expands to more"):
        inventories.check(["-e", BAD["bomb_of_json"]])


def test_the_inventory_of_the_environment(tmp_path):
    (tmp_path / "bomb.yml").write_text(BOMB)
    with pytest.raises(Unsafe, match=r"bomb\.yml"):
        inventories.check([], f"db01,{tmp_path}/bomb.yml")


def test_what_is_no_file_is_left_to_ansible(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "program").write_text("#!/bin/sh\n" + BOMB)
    (tmp_path / "program").chmod(0o755)
    for value in ("db01,db02", str(tmp_path / "fifo"), str(tmp_path / "program"), "/nonexistent"):
        inventories.check(["-i", value])


def test_the_command_says_it_before_ansible_begins(tmp_path):
    path = tmp_path / "hosts.yml"
    path.write_text(BOMB)
    done = subprocess.run(
        [wrapper.HOSTPROOF, "audit", "-i", str(path)],
        env={**wrapper.environment(tmp_path), "HOSTPROOF_REPORTS": str(tmp_path / "reports")},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 1, done.stdout
    assert f"hostproof: {path} expands to more than 1000000 values" in done.stderr
