"""Lines for a shell: whatever a host names, the shell takes it for that text and runs nothing."""

import subprocess

import pytest
from ansible.module_utils.hostproof.collect import shell
from cases import cases

HOSTILE = [
    *("/u03/$(touch pwned)", "/u03/`touch pwned`", "a b;touch pwned", "--limit=x y", "it's", '"'),
    *("*", "~root", "$HOME", "a\nb; touch pwned", "a\x1b[31m\rb'\\", "ä€\u202e", "", "!x", "#x"),
    "a&touch pwned",
]


@pytest.mark.parametrize("word", HOSTILE)
def test_a_shell_takes_every_word_for_just_its_text(word, tmp_path):
    line = shell.line("printf", "%s|", word, "end")
    assert "\n" not in line
    done = subprocess.run(["bash", "-c", line], cwd=tmp_path, capture_output=True, check=True)
    assert done.stdout.decode() == f"{word}|end|"
    assert not list(tmp_path.iterdir())


def test_bytes_that_are_no_text_stay_the_same_bytes(tmp_path):
    word = b"/u\xff\xfe03".decode("utf-8", "surrogateescape")
    done = subprocess.run(["bash", "-c", shell.line("printf", "%s", word)], capture_output=True)
    assert done.stdout == b"/u\xff\xfe03"


def test_plain_words_stay_readable():
    assert shell.line("umount", "/u02/oradata") == "umount /u02/oradata"


@cases("text", "vm.nr_hugepages = 10", "it's $(touch pwned)", "-n %s")
def test_a_line_is_written_into_a_file_as_it_is(text, tmp_path):
    path = tmp_path / "a b"
    for append in (False, True):
        subprocess.run(["bash", "-c", shell.written(text, path, append)], check=True)
    assert path.read_text() == f"{text}\n" * 2
    assert len(list(tmp_path.iterdir())) == 1
