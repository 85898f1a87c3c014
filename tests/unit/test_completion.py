"""The man page and the completion of three shells: made from the table, taken by each shell."""

import shutil
import subprocess
from pathlib import Path

import pytest
from hostproof_controller.cli import command, completion, explain, manual, verbs

#: No ansible-core has a part in it.
pytestmark = pytest.mark.one_core

ROOT = Path(__file__).resolve().parents[2]
BASH = ROOT / "docs/completion/hostproof.bash"


def completed(*words: str, program: str = "./hostproof") -> list[str]:
    """What bash offers for the last of these words."""
    script = (
        f'source {BASH}; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _hostproof; '
        'printf "%s\\n" "${COMPREPLY[@]}"'
    )
    done = subprocess.run(
        ["bash", "-c", script, "bash", program, *words],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.stderr == ""
    return done.stdout.split()


class TestBash:
    def test_verbs(self):
        names = {verb.name for verb in verbs.VERBS}
        assert set(completed("")) == names | {"help", "--help", "--version"}
        assert completed("ver") == ["verify", "verify-report"]
        assert set(completed("help", "")) == names

    @pytest.mark.parametrize("verb", verbs.VERBS, ids=lambda verb: verb.name)
    def test_options_of_each_verb_and_no_others(self, verb):
        offered = set(completed(verb.name, "--"))
        own = [one for one in verb.options if not one.only or verb.name in one.only]
        assert offered == {n for one in own for n in one.names if n[:2] == "--"} | {"--help"}

    def test_controls_and_checks(self):
        from ansible.module_utils.hostproof.controls import NAMES

        assert set(completed("audit", "--tags", "")) == set(NAMES)
        assert set(completed("explain", "")) == {one.id for one in explain.all_checks()}
        assert completed("explain", "hugepages.pool_c") == ["hugepages.pool_covers_sga"]

    def test_choices(self):
        assert completed("checks", "--format", "m") == ["markdown"]
        assert completed("completion", "") == ["bash", "zsh", "fish"]

    def test_folders_and_files(self):
        assert "docs/examples" in completed("audit", "--evidence", "docs/ex")
        assert completed("audit", "--evidence", "README") == []
        assert completed("audit", "--waivers", "README") == ["README.md"]

    def test_of_a_name_that_is_no_program(self):
        assert completed("aud", program="/nonexistent/hostproof") == ["audit"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_shell_takes_it(shell):
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"{shell} is not installed")
    path, _ = completion.COMPLETION[shell]
    done = subprocess.run([program, "-n", str(ROOT / path)], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_has_every_verb_and_option(shell):
    path, _ = completion.COMPLETION[shell]
    text = (ROOT / path).read_text()
    for verb in verbs.VERBS:
        assert verb.name in text
        for option in verb.options:
            for name in option.names:
                assert (name if shell == "zsh" else name.lstrip("-")) in text


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_is_printed(capsys, shell):
    assert command.main(["completion", shell]) == 0
    path, make = completion.COMPLETION[shell]
    assert capsys.readouterr().out == (ROOT / path).read_text() == make()


def test_of_another_shell(capsys):
    assert command.main(["completion", "csh"]) == 1
    assert "there is no 'csh'; " in capsys.readouterr().err


class TestManPage:
    def test_names_every_verb_option_and_exit_code(self):
        text = manual.man().replace("\\-", "-").replace("\\&", "")
        for verb in verbs.VERBS:
            assert f"\n.SS {verb.name}" in text
            for option in verb.options:
                assert f"\\fB{option.names[0]}\\fR" in text or option.hidden
            for code, meaning in verb.exits:
                assert f"{code} {meaning}" in text

    def test_is_roff_that_warns_of_nothing(self):
        if shutil.which("groff") is None:
            pytest.skip("groff is not installed")
        done = subprocess.run(
            ["groff", "-man", "-Tutf8", "-ww", str(ROOT / "docs/hostproof.1")],
            capture_output=True,
            text=True,
        )
        assert (done.returncode, done.stderr) == (0, "")
