"""hostproof.yml: the settings of the working directory, and which of several values counts."""

import json
import os

import pytest
from cases import cases
from hostproof_controller import policies
from hostproof_controller.cli import project_file
from hostproof_controller.cli.command import main
from hostproof_controller.cli.errors import Refused

#: The rules under test are ours; other files show how each ansible-core runs them.
pytestmark = pytest.mark.one_core

TEXT = """\
inventory: [inventory, "db01,db02"]
profile: oracle_19c_single
waivers: waivers.yml
checks: [hugepages, time_sync]
strict: true
"""


@pytest.fixture
def write(tmp_path, monkeypatch):
    for key in project_file.KEYS.values():
        monkeypatch.delenv(key.variable, raising=False)
    monkeypatch.delenv(project_file.VARIABLE, raising=False)
    tmp_path.chmod(0o755)
    monkeypatch.chdir(tmp_path)

    def write_file(text, mode=0o644):
        path = tmp_path / project_file.NAME
        path.write_text(text)
        path.chmod(mode)
        return path

    return write_file


def test_paths_are_relative_to_the_file(write, tmp_path, monkeypatch):
    path = write(TEXT)
    monkeypatch.chdir("/")
    assert project_file.read(path) == {
        "inventory": f"{tmp_path}/inventory,db01,db02",
        "profile": "oracle_19c_single",
        "waivers": f"{tmp_path}/waivers.yml",
        "checks": "hugepages,time_sync",
        "strict": "true",
    }


def test_the_environment_overrides_the_file(write):
    path = write(TEXT)
    variables = {"HOSTPROOF_CHECKS": "latency"}
    settings = project_file.effective(variables)
    assert settings["checks"] == ("latency", "environment HOSTPROOF_CHECKS")
    assert settings["strict"] == ("true", str(path))
    assert settings["reports"] == ("reports", "default")
    project_file.apply(variables)
    assert variables["HOSTPROOF_CHECKS"] == "latency"
    assert variables["HOSTPROOF_PROFILE"] == "oracle_19c_single"


def test_without_a_file(write):
    variables = {}
    project_file.apply(variables)
    assert variables == {}
    assert {setting.origin for setting in project_file.effective({}).values()} == {"default"}


@cases(
    "text words",
    ("waiver: x\n", "there is no key 'waiver'; did you mean waivers?"),
    ("strict: maybe\n", "strict must be a true or false, not 'maybe'"),
    ("checks: {a: 1}\n", "checks must be a list of words"),
    ("profile: [a]\n", "profile must be a text"),
    ("- a\n", "must be a dictionary of inventory, profile"),
    ("inventory: [\n", "hostproof.yml: "),
)
def test_what_cannot_be_used(write, text, words, capsys):
    write(text)
    assert main(["config"]) == 1
    error = capsys.readouterr().err
    assert words in error
    assert error.count("\n") == 1
    assert main(["--help"]) == 0


def test_a_file_that_others_can_change_is_not_used(write, tmp_path):
    path = write(TEXT, mode=0o646)
    with pytest.raises(Refused, match=r"other accounts can change .*chmod go-w"):
        project_file.read(path)
    path.chmod(0o644)
    tmp_path.chmod(0o777)
    with pytest.raises(Refused, match="move the file"):
        project_file.read(path)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_a_file_of_another_account_is_not_used(write):
    path = write(TEXT)
    os.chown(path, 1234, -1)
    with pytest.raises(Refused, match="belongs to another account"):
        project_file.read(path)


def test_a_file_that_is_named_must_exist(write):
    with pytest.raises(Refused, match="HOSTPROOF_CONFIG: there is no file /no/such"):
        project_file.path_of({project_file.VARIABLE: "/no/such"})


def test_config_prints_value_and_origin(write, capsys, monkeypatch):
    path = write(TEXT)
    monkeypatch.setenv("HOSTPROOF_SET", "preinstall")
    monkeypatch.setattr(os, "environ", dict(os.environ))
    assert main(["config", "--format", "json"]) == 0
    settings = json.loads(capsys.readouterr().out)
    assert settings["checks"] == {"value": "hugepages,time_sync", "origin": str(path)}
    assert settings["set"]["origin"] == "environment HOSTPROOF_SET"


def test_the_inventory_overrides_the_profile_of_the_file(monkeypatch):
    monkeypatch.setenv("HOSTPROOF_PROFILE", "rac_asm")

    def profile(**variables):
        result = policies.policies_of(["platform"], variables, lambda value, _all: value)
        return result.shown["platform"]["profile"]

    assert profile() == "rac_asm"
    assert profile(hostproof_profile="none") == "none"


@cases("what", "grandparent", "target", "middle")
def test_who_can_change_a_directory_above_or_a_target_is_seen(tmp_path, what):
    open_folder = tmp_path / "open"
    inner = open_folder / "inner"
    inner.mkdir(parents=True)
    (inner / "hostproof.yml").write_text("strict: true\n")
    path = inner / "hostproof.yml"
    if what == "target":
        path = tmp_path / "hostproof.yml"
        path.symlink_to(inner / "hostproof.yml")
    if what == "middle":
        (tmp_path / "real.yml").write_text("strict: true\n")
        (inner / "link").symlink_to(tmp_path / "real.yml")
        path = tmp_path / "hostproof.yml"
        path.symlink_to(inner / "link")
    assert project_file.read(path) == {"strict": "true"}
    open_folder.chmod(0o777)
    with pytest.raises(Refused, match="other accounts can change"):
        project_file.read(path)
