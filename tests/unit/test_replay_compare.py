"""The comparison of two states of the code: what differs is told, what is the same is not."""

import json
from pathlib import Path

from programs import imported_program

PROGRAM = Path(__file__).resolve().parents[1] / "replay_compare"
replay_compare = imported_program("replay_compare")

ONE = {"status": "pass", "desired": "1", "persisted": None, "running": "1", "in_use": None}


def test_only_what_differs_is_told():
    old = {("a", "x.y", "X"): ONE, ("a", "x.z", "Z"): ONE, ("b", "x.y", "X"): ONE}
    new = {("a", "x.y", "X"): {**ONE, "status": "fail", "running": "2"}, ("b", "x.y", "X"): ONE}
    assert replay_compare.differences(old, old) == []
    assert replay_compare.differences(old, new) == [
        "a x.y [X] status: 'pass' -> 'fail'",
        "a x.y [X] running: '1' -> '2'",
        "a x.z [Z]: gone, pass",
    ]
    assert replay_compare.differences({}, {("b", "x.y", "X"): ONE}) == ["b x.y [X]: new, pass"]


def test_packs_are_collected_under_names_of_hosts(tmp_path):
    for name, text in (
        ("db 01", '{"readings": {}}'),
        ("not", "{}"),
        ("list", "[]"),
        ("broken", "{"),
    ):
        (tmp_path / f"{name}.json").write_text(text)
    (tmp_path / "into").mkdir()
    assert replay_compare.collect([tmp_path], tmp_path / "into") == 1
    (pack,) = (tmp_path / "into").iterdir()
    assert json.loads(pack.read_text()) == {"readings": {}}
    assert " " not in pack.name
