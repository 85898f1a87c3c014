"""Files that the controller opens by somebody's name: a FIFO or a device is refused at once."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from ansible.module_utils.hostproof.collect import bounded, evidence
from ansible.module_utils.hostproof.errors import HostproofError
from cases import cases
from hostproof_controller import runs
from hostproof_controller.cli import signing
from hostproof_controller.latency import baseline
from hostproof_controller.report.store import read_entries
from hostproof_controller.report.waiver_file import load_waivers
from hostproof_controller.slices.nodes import read_nodes

#: The rules under test are ours; other files show how each ansible-core runs them.
pytestmark = pytest.mark.one_core

ROOT = Path(__file__).resolve().parents[2]
#: ./hostproof without its virtualenv.
_MAIN = (
    "import sys; sys.path.insert(0, sys.argv.pop(1));"
    "from hostproof_controller.cli import command; sys.exit(command.main(sys.argv[1:]))"
)


@pytest.fixture(params=["fifo", "link to a fifo", "/dev/zero", "folder"])
def odd(request, tmp_path) -> Path:
    path = tmp_path / "odd"
    if request.param == "fifo":
        os.mkfifo(path)
    elif request.param == "link to a fifo":
        os.mkfifo(tmp_path / "fifo")
        path.symlink_to(tmp_path / "fifo")
    elif request.param == "folder":
        path.mkdir()
    else:
        path.symlink_to("/dev/zero")
    return path


def test_nothing_but_a_regular_file_is_opened(odd):
    with pytest.raises(OSError, match="not a regular file"):
        bounded.open_regular(str(odd))


@cases(
    "read",
    evidence.open_pack,
    lambda path: read_entries([path]) if not os.path.isdir(path) else load_waivers(path),
    load_waivers,
    lambda path: read_nodes(Path(path)),
    lambda path: baseline.read_json(path, "baseline"),
    ids=["pack", "results", "waivers", "nodes", "baseline"],
)
def test_a_reader_says_so_in_one_sentence(odd, read):
    with pytest.raises(HostproofError, match="regular file") as caught:
        read(str(odd))
    assert str(odd) in str(caught.value)


def test_the_date_of_a_pack_and_a_key_are_unknown(odd):
    assert runs.recorded_at(odd) is None
    assert signing._public_key(f"{odd}.pub") is None


def test_a_pack_holds_no_more_values_than_can_be_held(tmp_path):
    pack = tmp_path / "pack.json"
    pack.write_bytes(b'{"schema": 1, "readings": {"a": {"b": [' + b"[]," * 1_000_001 + b"[]]}}}")
    with pytest.raises(HostproofError, match="holds more than 1000000 values"):
        evidence.open_pack(str(pack))[0]
    pack.write_bytes(b'{"schema": 1, "readings": ' + b"[" * 100_000 + b"]" * 100_000 + b"}")
    with pytest.raises(HostproofError, match="nested too deep"):
        evidence.open_pack(str(pack))[0]
    pack.write_text(json.dumps({"schema": 1, "readings": {"a": {"text": "ä"}}}, ensure_ascii=False))
    assert evidence.open_pack(str(pack))[0] == {"a": {"text": "ä"}}


@cases(
    "verb said",
    (["report"], "not a regular file"),
    (["history"], "has no run with an audited host"),
    (["init", "--out", "new", "--evidence"], "not a regular file"),
)
def test_a_command_ends_with_a_sentence(tmp_path, verb, said):
    folder = tmp_path / "run"
    folder.mkdir()
    os.mkfifo(folder / "findings.jsonl")
    os.mkfifo(folder / "db01.json")
    place = tmp_path if verb == ["history"] else folder
    done = subprocess.run(
        [sys.executable, "-c", _MAIN, str(ROOT / "plugin_utils"), *verb, str(place)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode != 0
    assert said in done.stderr + done.stdout
    assert "Traceback" not in done.stderr
