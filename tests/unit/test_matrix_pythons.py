"""The interpreters that the matrix finds."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "matrix"))

import controllers  # noqa: E402


def test_the_newest_interpreter_of_a_release_is_taken(tmp_path, monkeypatch):
    for release in ("3.99.14", "3.99.7", "3.99.9"):
        programs = tmp_path / "versions" / release / "bin"
        programs.mkdir(parents=True)
        (programs / "python3.99").write_text("#!/bin/sh\necho 3.99\n")
        (programs / "python3.99").chmod(0o755)
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path))
    assert Path(controllers.find_python("3.99")).parents[1].name == "3.99.14"
