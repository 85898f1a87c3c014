"""What bash, zsh and fish offer after ./hostproof: each real shell asks the command itself."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
import wrapper
from cases import cases
from cli_commands import commands, options_of
from hostproof_controller.cli import command

#: The rules under test are ours; other files show how each ansible-core runs them.
pytestmark = pytest.mark.one_core

ROOT = Path(__file__).resolve().parents[2]
BEFORE = json.loads(Path(__file__).with_name("cli_before.json").read_text())["verbs"]

#: Each prints what the shell offers for a command line, a line each.
DRIVERS = {
    "bash": """
source <("$1" completion bash)
COMP_WORDS=("${@:2}") COMP_CWORD=$(($# - 2))
compopt() { echo "($*)"; }
_hostproof_completion "$2"
printf '%s\\n' "${COMPREPLY[@]}"
""",
    "zsh": """
compdef() { : }
compadd() { while [[ $1 == -* ]]; do case $1 in -V) shift 2;; -a) shift;; *) shift;; esac; done
  print -rl -- ${(P)1} }
_describe() {
  local name=${@[(r)completions*]}
  for one in ${(P)name}; do print -r -- ${one%%:*}; done
}
_path_files() { print -r -- "(-o ${1/-\\//dirnames})" }
source <("$1" completion zsh)
words=("${@:2}") CURRENT=$(($# - 1))
_hostproof_completion
""",
    "fish": """
$argv[1] completion fish | source
complete --do-complete "$argv[2]" | string replace -r '\\t.*' ''
""",
}


class Shell:
    def __init__(self, name: str, environment: dict[str, str]) -> None:
        program = shutil.which(name)
        if program is None:
            pytest.skip(f"{name} is not installed")
        self.name = name
        self._program = program
        self._environment = environment

    def offers(self, *words: str, typed: str = "./hostproof", **more: str) -> list[str]:
        """For the last of the words, which may be half typed."""
        line = [" ".join([typed, *words])] if self.name == "fish" else [typed, *words]
        options = {"bash": ["--norc"], "zsh": ["-f"], "fish": ["--no-config"]}[self.name]
        script = ["-c", DRIVERS[self.name]] + ([] if self.name == "fish" else [self.name])
        done = subprocess.run(
            [self._program, *options, *script, wrapper.HOSTPROOF, *line],
            env={**self._environment, **more},
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=600,
        )
        assert done.stderr == ""
        return done.stdout.split()


@pytest.fixture(scope="module", params=["bash", "zsh", "fish"])
def shell(request, tmp_path_factory) -> Shell:
    return Shell(request.param, wrapper.environment(tmp_path_factory.mktemp("completion")))


@pytest.fixture(scope="module")
def bash(tmp_path_factory) -> Shell:
    return Shell("bash", wrapper.environment(tmp_path_factory.mktemp("completion")))


class TestEveryShell:
    def test_commands(self, shell):
        assert set(shell.offers("")) == set(command.COMMANDS) | {"help"}
        assert shell.offers("ver") == ["verify", "verify-report"]
        assert set(shell.offers("help", "")) == set(command.COMMANDS)
        assert shell.offers("latency", "") == ["baseline", "compare"]
        assert shell.offers("help", "latency", "c") == ["compare"]
        assert shell.offers("help", "audit", "") == []

    def test_options(self, shell):
        assert shell.offers("audit", "--lim") == ["--limit"]
        assert shell.offers("sign", "--si") == ["--signer"]

    def test_names_and_choices(self, shell):
        assert shell.offers("explain", "hugepages.pool_c") == ["hugepages.pool_covers_sga"]
        assert shell.offers("audit", "--tags", "huge") == ["hugepages"]
        assert shell.offers("checks", "--format", "m") == ["markdown"]
        assert shell.offers("audit", "--set", "pre") == ["preinstall", "prepatch"]
        assert shell.offers("verify", "--profile", "rac_") == ["rac_asm", "rac_nfs"]
        assert shell.offers("audit", "--checks", "space,hugepages.pool_c") == [
            "space,hugepages.pool_covers_sga"
        ]
        assert sorted(shell.offers("completion", "")) == ["bash", "fish", "zsh"]

    def test_files_and_directories(self, shell):
        directories, files = (
            shell.offers(*words)
            for words in (
                ("latency", "compare", "--baseline", "docs/ex"),
                ("audit", "--waivers", "README"),
            )
        )
        if shell.name == "fish":
            assert directories == ["docs/examples/"]
            assert files == ["README.md"]
        else:
            assert directories == ["(-o", "dirnames)"]
            assert files in (["(-o", "default)"], ["(-o", "-f)"])

    def test_nothing_for_what_does_not_exist(self, shell):
        assert shell.offers("adit", "--l") == []
        assert shell.offers("audit", "--zz") == []

    def test_of_a_command_below_home(self, shell):
        assert shell.offers("aud", typed="~/hostproof", HOME=str(ROOT)) == ["audit"]


def test_nothing_is_installed_while_somebody_types(tmp_path):
    """The first TAB would wait a minute for pip."""
    environment = tmp_path / "none"
    words = {"COMP_WORDS": "./hostproof\naud", "COMP_CWORD": "1"}
    variables = {"_HOSTPROOF_COMPLETE": "bash_complete", **words}
    done = subprocess.run(
        [wrapper.HOSTPROOF],
        env={**os.environ, **variables, "HOSTPROOF_VENV": os.path.relpath(environment, ROOT)},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert not environment.exists()


@pytest.mark.parametrize("name", BEFORE)
def test_every_option_of_before_is_offered(bash, name):
    offered = set(bash.offers(*name.split(), "--"))
    names = {word for option in BEFORE[name]["options"] for word in option["names"]}
    assert offered >= {word for word in names if word.startswith("--")}
    if name != "test":
        assert offered == {word for word in options_of(name) if word.startswith("--")}


def test_there_is_a_command_for_each_name():
    assert list(dict.fromkeys(words.split()[0] for words in commands())) == list(command.COMMANDS)
    for words, subcommand in commands().items():
        assert subcommand.name == words.split()[-1]
        assert callable(subcommand.callback)


@cases("shell_name", "bash", "zsh", "fish")
def test_the_script_asks_the_command_as_it_was_typed(capsys, shell_name):
    """click's own scripts ask one in PATH: a new click may have other words there."""
    assert command.main(["completion", shell_name]) == 0
    script = capsys.readouterr().out
    expected = {
        "bash": '_HOSTPROOF_COMPLETE=bash_complete "${1/#\\~/$HOME}")',
        "zsh": "_HOSTPROOF_COMPLETE=zsh_complete ${~words[1]})",
        "fish": "(string replace -r '^~' $HOME -- (commandline -opc)[1])",
    }
    assert expected[shell_name] in script
    assert "$+commands[hostproof]" not in script


@cases("shell_name", "bash", "zsh", "fish")
def test_the_printed_script_is_one_that_the_shell_takes(capsys, shell_name):
    program = shutil.which(shell_name)
    if program is None:
        pytest.skip(f"{shell_name} is not installed")
    assert command.main(["completion", shell_name]) == 0
    script = capsys.readouterr().out
    done = subprocess.run([program, "-n"], input=script, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_click_s_own_variable_prints_the_same(capsys, monkeypatch):
    assert command.main(["completion", "bash"]) == 0
    script = capsys.readouterr().out
    monkeypatch.setenv("_HOSTPROOF_COMPLETE", "bash_source")
    assert command.main([]) == 0
    assert capsys.readouterr().out == script
    monkeypatch.setenv("_HOSTPROOF_COMPLETE", "csh_source")
    assert command.main([]) == 1
    assert capsys.readouterr() == ("", "")


class TestManPages:
    def test_there_is_one_for_each_command(self, tmp_path):
        man_pages = pytest.importorskip("hostproof_controller.cli.man_pages")
        assert man_pages.main([str(tmp_path)]) == 0
        names = {path.name for path in tmp_path.iterdir()}
        of_commands = {words.replace(" ", "-") for words in (*command.COMMANDS, *commands())}
        assert names == {"hostproof.1"} | {f"hostproof-{name}.1" for name in of_commands}
        latency = (tmp_path / "hostproof-latency.1").read_text()
        assert "Measure latency again and compare it with a baseline." in latency
        group = (tmp_path / "hostproof.1").read_text()
        for name in command.COMMANDS:
            assert f"\\fB{name}\\fP" in group
        for name in command.VARIABLES:
            assert f"\\fB{name}\\fP" in group
        audit = (tmp_path / "hostproof-audit.1").read_text().replace("\\-", "-")
        text = "audit evidence packs or support archives instead of hosts: a directory or a file"
        assert f".TP\n\\fB--evidence\\fP PATH\n{text}\n" in audit
        assert ".TP\n\\fB130\\fP\ninterrupted\n" in audit

    def test_they_are_roff_that_warns_of_nothing(self, tmp_path):
        man_pages = pytest.importorskip("hostproof_controller.cli.man_pages")
        if shutil.which("groff") is None:
            pytest.skip("groff is not installed")
        man_pages.main([str(tmp_path)])
        for path in sorted(tmp_path.iterdir()):
            done = subprocess.run(
                ["groff", "-man", "-Tutf8", "-ww", str(path)], capture_output=True, text=True
            )
            assert (done.returncode, done.stderr) == (0, ""), path.name
